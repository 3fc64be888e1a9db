"""How many plies a game has and whether it has clocks and evaluations, told from the bytes of many games at once.

A ply is a word of the main line that starts like a move in SAN: `e4`, `exd5`, `Nf3`, `R1e2`, `O-O`, `0-0`. Comments,
variations, move numbers, NAGs and the result are none. No board is set up; a game with an illegal move counts the
moves that are written.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.games.bits import Counts, Words, inside, pack
from assay.games.split import PADDING, Positions, Split, positions_of, words_at

Flags = npt.NDArray[np.bool_]

# What a byte may be. In a move: 1 stands before it, 2 begins it, 4 follows the first letter. And 8 opens a comment,
# 16 closes it.
_BEFORE, _FIRST, _SECOND = b" \t\r\n.)}", b"abcdefghKQRBNO0", b"abcdefghx12345678-"
_ROLE = bytes(
    (b in _BEFORE) | (b in _FIRST) << 1 | (b in _SECOND) << 2 | (b == ord("{")) << 3 | (b == ord("}")) << 4
    for b in range(256)
)
_SCAN = 128 << 10  # this much stays in the second-level cache while it is looked at

_ASIDE = re.compile(rb"\{[^}]*(?:\}|$)|;[^\n]*|^%[^\n]*", re.M)
_PARENTHESIS = re.compile(rb"[()]")
_WORD = re.compile(rb"(?:^|(?<=[ \t\r\n.)}]))(?:[a-hKQRBNO][a-hx1-8-]|0-0)")


def count_plies(part: Split) -> npt.NDArray[np.int32]:
    """The number of plies of each game."""
    starts, ends = movetext_starts(part), part.ends
    odd = np.zeros(len(part), np.bool_)
    words, opening, closing = _scan(part)
    comment = None
    if opening is not None and closing is not None:
        comment = _comments(part, starts, opening, closing, odd)
        words &= ~comment
    counts = Counts(words)
    plies = counts.between(starts, ends)
    plies -= _lost(part, counts)
    if b"(" in part.data:
        plies -= _in_variations(part, starts, counts, comment, odd)
    _mark_asides(part, starts, odd)
    for g in np.flatnonzero(odd):
        plies[g] = count_slowly(part.data[starts[g] : ends[g]])
    return plies.astype(np.int32)


def have_commands(part: Split, *names: bytes) -> list[Flags]:
    """Whether each game has these comment commands, such as `clk` in `[%clk 0:05:00]`.

    A sign and three letters are one word of four bytes, so four comparisons, one for each remainder of the position,
    find them all.
    """
    if b"%" not in part.data:
        return [np.zeros(len(part), np.bool_) for _ in names]
    found = [np.zeros(len(part), np.bool_) for _ in names]
    for rest in range(4):
        hits: list[list[npt.NDArray[Any]]] = [[] for _ in names]
        for begin in range(rest, len(part.data) - len(PADDING), _SCAN):
            size = min(_SCAN, (len(part.data) - begin) // 4 * 4)
            words = np.frombuffer(part.data[begin : begin + size], "<u4")
            for at, name in zip(hits, names, strict=True):
                at.append(words == int.from_bytes(b"%" + name[:3], "little"))
        for i, at in enumerate(hits):
            counts = Counts(pack(at))
            first, last = (-((rest - place) // 4) for place in (part.starts, part.ends))
            found[i] |= counts.between(np.maximum(first, 0), np.maximum(last, 0)) > 0
    return found


def movetext_starts(part: Split) -> Positions:
    """Where the movetext of each game begins: behind its last tag."""
    starts = part.starts.copy()
    last_of_game = np.flatnonzero(np.diff(part.tag_games, append=-1))
    starts[part.tag_games[last_of_game]] = part.tag_ends[last_of_game]
    return starts


def count_slowly(movetext: bytes) -> int:
    """The plies of one game, where the fast way does not see through: unbalanced marks, comments to the line's end.

    >>> count_slowly(b"1. e4 {best (b)y test} e5 (1... c5 (1... e6) 2. Nf3) 2. Nf3 ; Nc3\\n2... Nc6 0-1")
    4
    """
    plain = _ASIDE.sub(b" ", movetext)
    depth, begin, main = 0, 0, []
    for mark in _PARENTHESIS.finditer(plain):
        if depth == 0:
            main.append(plain[begin : mark.start()])
        depth = depth + 1 if mark.group() == b"(" else max(0, depth - 1)
        begin = mark.end()
    if depth == 0:
        main.append(plain[begin:])
    return len(_WORD.findall(b" ".join(main)))


def _scan(part: Split) -> tuple[Words, Words | None, Words | None]:
    """Where words begin that look like moves (in tags and comments too), and where braces open and close, if any do."""
    words, opening, closing = [], [], []
    commented = b"{" in part.data
    for begin in range(0, len(part.data), _SCAN):
        # A byte more on both sides, so that nothing is lost between two scans.
        text = part.data[begin - 1 : begin + _SCAN + 1] if begin else b"\n" + part.data[: _SCAN + 1]
        role = np.frombuffer(text.translate(_ROLE), np.uint8)
        here = role[1:-1]
        words.append(role[:-2] & (here >> 1) & (role[2:] >> 2) & 1)
        if commented:
            opening.append(here & 8)
            closing.append(here & 16)
    return (pack(words), pack(opening), pack(closing)) if commented else (pack(words), None, None)


def _lost(part: Split, counts: Counts) -> npt.NDArray[np.int64]:
    """1 for each game that ends with the result 0-1, which looks like castling with zeros, and 0 for the others."""
    last = np.maximum(part.ends - 3, 0)
    same_text = words_at(part.padded, last, 4) & 0xFFFFFF == int.from_bytes(b"0-1", "little")
    return np.where(same_text, counts.between(last, part.ends), 0)


def _comments(part: Split, starts: Positions, opening: Words, closing: Words, odd: Flags) -> Words:
    """The bits inside comments; games whose braces do not alternate are marked in `odd`.

    A comment without end is closed at the end of its game, and braces in tags are none of ours: an odd number of
    them is made even by one more mark.
    """
    marks = opening | closing
    counts = Counts(marks.copy())
    for begins, ends in ((part.starts, starts), (starts, part.ends)):
        at = ends[counts.between(begins, ends) % 2 == 1]
        np.bitwise_xor.at(marks, at >> 6, np.uint64(1) << (at & 63).astype(np.uint64))
    comment = inside(marks)
    wrong = (opening & ~comment) | (closing & comment)
    if wrong.any():
        odd |= Counts(wrong).between(starts, part.ends) > 0
    return comment


def _in_variations(part: Split, starts: Positions, counts: Counts, comment: Words | None, odd: Flags) -> Positions:
    """How many words outside comments stand in variations; games that do not balance are marked in `odd`."""
    marks = positions_of(part.padded, ord("("), ord(")"))
    game = np.searchsorted(starts, marks, side="right") - 1
    ours = (game >= 0) & (marks < part.ends[game])
    if comment is not None:
        ours &= (comment[marks >> 6] >> (marks & 63).astype(np.uint64)) & np.uint64(1) == 0
    marks, game = marks[ours], game[ours]
    depth = np.concatenate([[0], np.cumsum(np.where(part.padded[marks] == ord("("), 1, -1))])
    base = depth[np.searchsorted(marks, starts)]  # not 0 behind a game whose marks do not balance
    odd |= depth[np.searchsorted(marks, part.ends)] != base
    before, after = depth[:-1] - base[game], depth[1:] - base[game]
    odd[game[after < 0]] = True
    outermost = ((before == 1) & (after == 0)).astype(np.int64) - ((before == 0) & (after == 1))
    return np.bincount(game, outermost * counts.before(marks), minlength=len(part)).astype(np.int64)


def _mark_asides(part: Split, starts: Positions, odd: Flags) -> None:
    """Mark games with a semicolon, which may begin a comment to the line's end, or with a `%` line."""
    if b";" in part.data:
        _mark(positions_of(part.padded, ord(";")), starts, part.ends, odd)
    if b"%" in part.data:
        lines = part.line_starts
        _mark(lines[part.padded[lines] == ord("%")], starts, part.ends, odd)


def _mark(at: Positions, starts: Positions, ends: Positions, odd: Flags) -> None:
    """Mark the games that hold any of these positions in their movetext."""
    game = np.searchsorted(starts, at, side="right") - 1
    odd[game[(game >= 0) & (at < ends[game])]] = True
