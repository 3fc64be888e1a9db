"""White, Black and Result of plain files at the speed of memory: what a list of ratings reads, and nothing else.

A file is plain if each game has the three tags in this order, one right after another apart from other tags, and no
comments, and no game is without tags. That is what programs write that keep results; for all others there is
:func:`assay.games.tags.read_tags`. Names are never cut out one by one: eight bytes at a time they are hashed where they
lie, and a table of the hashes known so far gives each its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.games.lines import HALF, MIX, Codes, Dictionary, Positions
from assay.games.stream import STDIN, Stream
from assay.records import dataclass

_BLOCK = 1 << 20  # its arrays stay in the second-level cache
_NEAR = 1 << 14
_NEWLINE, _RETURN, _BRACKET = ord("\n"), ord("\r"), ord("]")
_PAD = 80
_LONGEST_NAME = 64
_INDENTED = re.compile(rb"^[ \t]+(?=\[)", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"
_ENDED = b"\n[Termination "
# What tells a game from others besides its players and its result: its round, or its moves, which begin with a number.
_ROUND = re.compile(rb"\n[ \t]*\[Round ")
_MOVES = re.compile(rb"[ \t]*[0-9]+[ \t]*\.")

_ID = b'FideId "'  # who is who is not told by names alone

_LOW = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_QUOTES = np.uint64(0x2222222222222222)
_ONE, _SEVEN = np.uint64(1), np.uint64(7)
_TAGS = (b'White "', b'Black "', b'Result "')

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class PlainTags:
    """The three tags of all games in file order: codes into the lists of values; White and Black share theirs."""

    white: Codes
    black: Codes
    result: Codes
    players: list[bytes]
    results: list[bytes]


class NotPlainError(Exception):
    """This file needs the thorough reader."""


def read_plain(path: str | Path, *, bare: bool = False, ended: bool = False) -> PlainTags | None:
    """The tags of a plain file, or None if it is not plain (or damaged, or stdin, which cannot be read twice).

    With `bare`, a file in which games can be told apart by moves or rounds is none, and with `ended` one that tells how
    games ended.
    """
    if str(path) == STDIN:
        return None
    players, results = Dictionary(), Dictionary()
    columns: tuple[list[Codes], list[Codes], list[Codes]] = ([], [], [])
    with Stream(path) as stream:
        try:
            for data in _whole_games(stream):
                if (ended and _ENDED in data) or _ID in data or (bare and b"[Round " in data and _ROUND.search(data)):
                    return None
                for column, codes in zip(columns, _triples(data, players, results, bare), strict=True):
                    column.append(codes)
        except NotPlainError:
            return None
        if stream.problem:
            return None
    white, black, result = (np.concatenate(column or [np.empty(0, np.int32)]) for column in columns)
    return PlainTags(white, black, result, players.values, results.values)


def _whole_games(stream: Stream) -> Iterator[bytes]:
    """Blocks that end before a tag section begins, so that no section is cut."""
    carry = b""
    first = True
    for block in stream.blocks(_BLOCK):
        data = carry + block
        if first:
            data = data.removeprefix(_BOM)
            first = False
        cut = _last_section(data)
        if cut:
            yield data[:cut]
        elif len(data) > 16 * _BLOCK:
            raise NotPlainError
        carry = data[cut:]
    if carry:
        yield carry


def _last_section(data: bytes) -> int:
    """Where the last tag section begins, behind a line that does not end with a bracket; 0 if that cannot be told."""
    for near in (_NEAR, len(data)):
        end = len(data)
        while (cut := data.rfind(b"\n[", max(len(data) - near, 0), end)) > 0:
            if data[cut - 1] != _BRACKET and data[max(cut - 2, 0) : cut] != b"]\r":
                return cut + 1
            end = cut
    return 0


def _triples(data: bytes, players: Dictionary, results: Dictionary, bare: bool) -> tuple[Codes, Codes, Codes]:
    if b"{" in data or (b"\r" in data and data.count(b"\r") != data.count(b"\r\n")):
        raise NotPlainError
    # A line break before the first line, and room to read words behind the last.
    padded = b"\n\n\n" + data + bytes(_PAD)
    buffer = np.frombuffer(padded, np.uint8)
    begins = np.flatnonzero(buffer[:-1] == _NEWLINE) + 1
    starts = buffer[begins]
    if _has_untagged(buffer, begins, starts) or (bare and _has_moves(padded, buffer, begins, starts)):
        raise NotPlainError
    brackets = np.flatnonzero(buffer == ord("["))
    before = buffer[brackets - 1]
    at_start = before == _NEWLINE
    if not at_start.all():
        if ((before == 32) | (before == 9)).any() and (straight := _INDENTED.sub(b"", data)) != data:
            return _triples(straight, players, results, bare)
        brackets = brackets[at_start]
    words = np.ndarray((len(buffer) - 7,), "<u8", buffer, 0, (1,))
    first = words[brackets + 1]
    white, black, result = (np.flatnonzero(_begins(first, text)) for text in _TAGS)
    if not len(white) == len(black) == len(result):
        raise NotPlainError
    if not ((white < black) & (black < result)).all() or not (result[:-1] < white[1:]).all():
        raise NotPlainError
    # Inside a section the line before a tag ends with a bracket.
    last = buffer[brackets - 2]
    goes_on = (last == _BRACKET) | ((last == 13) & (buffer[brackets - 3] == _BRACKET))
    if ((result - white) == 2).all():
        whole = goes_on[black] & goes_on[result]
    else:
        section = np.cumsum(~goes_on)
        whole = section[white] == section[result]
    if not whole.all():
        raise NotPlainError
    return (
        _encode(players, buffer, words, brackets[white] + 8),
        _encode(players, buffer, words, brackets[black] + 8),
        _encode(results, buffer, words, brackets[result] + 9),
    )


def _has_untagged(buffer: Bytes, begins: Positions, starts: Bytes) -> bool:
    """Whether moves follow a blank line that no tags stand before: a game without tags, which must be counted."""
    blank = begins[(starts == _NEWLINE) | (starts == _RETURN)]
    behind = np.where(buffer[blank] == _RETURN, 2, 1)
    before = np.where(buffer[blank - 2] == _RETURN, 3, 2)
    follows = buffer[blank + behind]
    moves = (follows > ord(" ")) & (follows != ord("["))  # indented tags are set straight first
    return bool((moves & (buffer[blank - before] != _BRACKET)).any())


def _has_moves(data: bytes, buffer: Bytes, begins: Positions, starts: Bytes) -> bool:
    """Whether a line begins with the number of a move, which a digit with a dash or a stroke (1-0, 1/2-1/2) is not."""
    second = buffer[begins + 1]
    number = (starts >= ord("0")) & (starts <= ord("9")) & (second != ord("-")) & (second != ord("/"))
    maybe = begins[number | (starts == 32) | (starts == 9)]
    return any(_MOVES.match(data, at) for at in maybe.tolist())


def _begins(words: Words, text: bytes) -> npt.NDArray[np.bool_]:
    """Whether the words begin with this text of at most eight bytes."""
    mask = np.uint64((1 << 8 * len(text)) - 1)
    begins: npt.NDArray[np.bool_] = (words & mask) == np.uint64(int.from_bytes(text, "little"))
    return begins


def _encode(known: Dictionary, buffer: Bytes, words: Words, begin: Positions) -> Codes:
    """The numbers of the values that begin here and end with a quote and a bracket."""
    hashes, length = _hash(words, begin)
    if not (buffer[begin + length + 1] == _BRACKET).all():
        raise NotPlainError
    return known.numbers(hashes, lambda i: buffer[begin[i] : begin[i] + length[i]].tobytes())


def _hash(words: Words, begin: Positions) -> tuple[Words, Positions]:
    """Hash each value up to its quote, eight bytes at a time; and its length."""
    hashes = np.zeros(len(begin), np.uint64)
    length = np.zeros(len(begin), np.int64)
    rows: Positions | slice = slice(None)
    at = begin
    for _ in range(_LONGEST_NAME // 8 + 1):
        word = words[at]
        mark = word ^ _QUOTES
        mark = (mark - _LOW) & ~mark & _HIGH
        # The lowest bit set marks the first quote; all below its byte is text, and all of it where there is none.
        below = (mark - _ONE) & ~mark
        size = np.bitwise_count(below) >> 3
        word &= np.where(mark == 0, below, below >> _SEVEN)
        if isinstance(rows, slice):
            hashes = word * MIX
            length = size.astype(np.int64)
        else:
            hashes[rows] = (hashes[rows] ^ word) * MIX
            length[rows] += size
        more = mark == 0
        if not more.any():
            # The length tells "ab" from "ab" with zeros behind.
            hashes ^= length.astype(np.uint64)
            hashes *= MIX
            hashes ^= hashes >> HALF
            return hashes, length
        open_ = np.flatnonzero(more)
        rows = open_ if isinstance(rows, slice) else rows[open_]
        hashes[rows] ^= hashes[rows] >> HALF
        at = at[open_] + 8
    raise NotPlainError
