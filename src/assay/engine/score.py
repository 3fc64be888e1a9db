"""Centipawns and mates as one int16 code: order, point of view and capping, said once.

A score is what an engine says of a move from the mover's side. Its code is

- the centipawns, from -29,999 to 29,999 (greater ones are clipped; engines print at most about 20,000),
- ``MATE - n`` for mate in n moves, ``-MATE + n`` for being mated in n,
- ``MISSING`` where the engine gave no exact value.

Codes compare as the scores do: a quicker mate beats a slower one, any mate beats any centipawns, a later loss beats
an earlier one.

>>> codes = [parse(score) for score in ("#-1", "#-7", -350, 0, 12, "#9", "#2")]
>>> codes == sorted(codes), [to_text(code) for code in codes]
(True, ['#-1', '#-7', -350, 0, 12, '#9', '#2'])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

MATE = 32_000
MISSING = -32_768
LIMIT = 29_999


def from_cp(cp: int) -> int:
    """The code of a value in centipawns.

    >>> from_cp(-35)
    -35
    """
    return max(-LIMIT, min(LIMIT, cp))


def from_mate(moves: int) -> int:
    """The code of mate in `moves` (negative: the mover is mated; 0 counts as mated at once, as in UCI).

    >>> from_mate(3), from_mate(-2)
    (31997, -31998)
    """
    return MATE - min(moves, 2000) if moves > 0 else -MATE + min(-moves, 2000)


def parse(score: int | str | None) -> int:
    """The code of a score as the exchange formats write it: centipawns, "#n", or None.

    >>> parse(35), parse("#3"), parse("#-2"), parse(None)
    (35, 31997, -31998, -32768)
    """
    if score is None:
        return MISSING
    if isinstance(score, bool) or not isinstance(score, int | str):
        raise ValueError(f"{score!r} is no score: expected centipawns, '#n' or null")
    if isinstance(score, int):
        return from_cp(score)
    if not score.startswith("#"):
        raise ValueError(f"{score!r} is no score: expected centipawns, '#n' or null")
    return from_mate(int(score[1:]))


def to_text(code: int) -> int | str | None:
    """The score of a code as the exchange formats write it; the inverse of :func:`parse`.

    >>> to_text(35), to_text(from_mate(3)), to_text(from_mate(-2))
    (35, '#3', '#-2')
    """
    if code == MISSING:
        return None
    if code > LIMIT:
        return f"#{MATE - code}"
    if code < -LIMIT:
        return f"#-{MATE + code}"
    return int(code)


def pawns(codes: ArrayLike) -> NDArray[np.float64]:
    """Values in pawns; mates are capped a little above every other value, their order kept; missing is nan.

    Mate in n is worth 320 - n/100 pawns: beyond all that centipawns can say, so no order is lost.

    >>> pawns([-150, 25, MATE - 3, MISSING]).tolist()
    [-1.5, 0.25, 319.97, nan]
    """
    array = np.asarray(codes, dtype=np.int16)
    return np.where(array == MISSING, np.nan, array / 100.0)
