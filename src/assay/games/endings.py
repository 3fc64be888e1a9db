"""How games ended where no move ended them: on time, by a rule, by walking away; as servers write it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

ON_TIME, BY_RULE, ABANDONED, UNFINISHED = "lost on time", "ended by a rule", "abandoned", "not finished"
_ENDINGS = (
    (ON_TIME, re.compile(r"\btime\b|\bflag\b|zeit", re.IGNORECASE)),
    (BY_RULE, re.compile(r"rules? infraction|illegal|cheat|adjudicat", re.IGNORECASE)),
    (ABANDONED, re.compile(r"abandon|forfeit|disconnect|did not (?:show|appear)", re.IGNORECASE)),
    (UNFINISHED, re.compile(r"unterminated|unfinished", re.IGNORECASE)),
)


@lru_cache(maxsize=10_000)
def ending(termination: str | None) -> str | None:
    """What a Termination tag says, in words of its own; None for a usual end.

    >>> ending("Time forfeit"), ending("elm won on time"), ending("Normal"), ending("Abandoned")
    ('lost on time', 'lost on time', None, 'abandoned')
    """
    return next((name for name, words in _ENDINGS if words.search(termination or "")), None)


def endings(terminations: Iterable[str | None]) -> Counter[str]:
    """How many games ended each way that is not the usual one."""
    return Counter(name for name in map(ending, terminations) if name)


def told_endings(terminations: Iterable[str | None]) -> list[str]:
    """A remark on results that no move brought about, if there are any."""
    found = endings(terminations)
    each = ", ".join(f"{name} {count}" for name, count in found.most_common())
    return [f"Results that no move brought about: {each}."] if found else []
