"""Games from files: buffers that hold whole games, and one game after the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from assay.games.split import Split, split
from assay.games.stream import Stream

UNTAGGED = "game without tags"
OUTSIDE = "text before the first game"
TOO_LONG = "game longer than 64 MB, its end left out"

MAX_GAME = 64 << 20
BLOCK = 2 << 20  # its arrays stay in the caches

_TAG_LINE = re.compile(rb'^\[([A-Za-z0-9][A-Za-z0-9_+#=:-]*)[ \t]+"([^\n]*)"[ \t]*\][ \t\r]*$')
_ESCAPED = re.compile(r'\\([\\"])')


@dataclass(frozen=True)
class Game:
    """One game as it stands in the file: its bytes and where they are in the uncompressed stream."""

    source: str
    start_offset: int
    end_offset: int
    data: bytes

    @cached_property
    def text(self) -> str:
        """The game as text: UTF-8, or Latin-1 where it is not."""
        return decode(self.data)

    @cached_property
    def tags(self) -> dict[str, str]:
        """The tag pairs; of a repeated tag the last counts.

        >>> Game("-", 0, 25, b'[White "Anand"]\\n\\n1. e4 *').tags
        {'White': 'Anand'}
        """
        tags = {}
        for line in self.data.split(b"\n"):
            if match := _TAG_LINE.match(line):
                tags[match.group(1).decode("ascii")] = unescape(decode(match.group(2)))
            elif line.strip() and not line.startswith(b"["):
                break
        return tags


def decode(data: bytes) -> str:
    """Bytes as text: UTF-8, or Latin-1 where they are not.

    >>> decode(b"Gr\\xc3\\xbcnfeld"), decode(b"Gr\\xfcnfeld")
    ('Grünfeld', 'Grünfeld')
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def unescape(value: str) -> str:
    r"""A tag's value without the backslashes that protect quotes and backslashes (PGN standard, section 7).

    >>> unescape(r'Robert \"Bobby\" Fischer')
    'Robert "Bobby" Fischer'
    """
    return _ESCAPED.sub(r"\1", value) if "\\" in value else value


def splits(stream: Stream, problems: Counter[str] | None = None, *, block: int = BLOCK) -> Iterator[Split]:
    """The games of a stream, buffer by buffer; each game is whole in one of them.

    Memory stays bounded: a game longer than 64 MB is cut there, and counted.
    """
    count = Counter[str]() if problems is None else problems
    carry, base, at_start, in_game = b"", 0, True, False
    waiting: list[bytes] = []
    held = 0
    for data in stream.blocks(block):
        waiting.append(data)
        held += len(data)
        if held < len(carry) and len(carry) + held < MAX_GAME:
            continue  # a long game: look again only when there is twice as much of it
        carry = b"".join([carry, *waiting])
        waiting, held = [], 0
        found = replace(split(carry, at_start=at_start, last=False, in_game=in_game), base=base)
        if len(found) > 1:
            yield _counted(found.without_last(), count, at_start=at_start)
            keep = int(found.starts[-1])
            at_start = in_game = False
        elif len(carry) < MAX_GAME:
            continue
        else:
            # Closing here decides what is undecided: a comment without end ends.
            found = replace(split(carry, at_start=at_start, last=True, in_game=in_game), base=base)
            count[TOO_LONG] += 1
            yield _counted(found, count, at_start=at_start)
            keep = len(carry)
            at_start, in_game = False, True
        carry, base = carry[keep:], base + keep
    carry = b"".join([carry, *waiting])
    if carry:
        found = replace(split(carry, at_start=at_start, last=True, in_game=in_game), base=base)
        yield _counted(found, count, at_start=at_start)


def _counted(found: Split, count: Counter[str], *, at_start: bool) -> Split:
    if untagged := len(found) - found.tagged():
        count[UNTAGGED] += untagged
    if at_start and found.outside:
        count[OUTSIDE] += 1
    return found


def read_games(path: str | Path, problems: Counter[str] | None = None) -> Iterator[Game]:
    """Read the games of a file one after the other: `.pgn`, `.zst`, `.gz`, `.bz2`, or `-` for stdin.

    What is wrong with the file is counted by reason in `problems`, if given; nothing of it stops the reading.
    """
    with Stream(path) as stream:
        for part in splits(stream, problems):
            for start, end in zip(part.starts.tolist(), part.ends.tolist(), strict=True):
                yield Game(stream.name, part.base + start, part.base + end, part.data[start:end])
        if stream.problem and problems is not None:
            problems[stream.problem] += 1
