"""The columns of an index: their names, types and the tags they come from.

A missing tag, an empty one and PGN's own signs for "unknown" (`?`, and `-` where it can only mean that) are null.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.games.lines import Positions, small_numbers
from assay.games.movetext import Movetext, have_command
from assay.games.split import Split, unescape
from assay.games.tags import LATIN1, TagLines, is_utf8
from assay.pools import LEAST_SECONDS, clock_of, time_control
from assay.printable import decode

TEXT = pa.dictionary(pa.int32(), pa.string())
MOVETEXT = "movetext"
_CLOCK = (pa.float64(), pa.float64(), pa.string())

TEXT_TAGS = {
    "event": "Event",
    "site": "Site",
    "date": "Date",
    "round": "Round",
    "white": "White",
    "black": "Black",
    "result": "Result",
    "white_title": "WhiteTitle",
    "black_title": "BlackTitle",
    "time_control": "TimeControl",
    "termination": "Termination",
    "eco": "ECO",
    "opening": "Opening",
    "variant": "Variant",
    "fen": "FEN",
    "variation": "Variation",
}
RATING_TAGS = {"white_elo": "WhiteElo", "black_elo": "BlackElo"}
DIFFERENCE_TAGS = {"white_rating_diff": "WhiteRatingDiff", "black_rating_diff": "BlackRatingDiff"}
_TAGS = tuple((TEXT_TAGS | RATING_TAGS | DIFFERENCE_TAGS).values())
_UNKNOWN = pa.array(["", "?", "????.??.??"])
# Here "-" says "none" too.
_NONE_SIGN = {"round", "white_title", "black_title", "eco", "opening", "variant", "variation"}
_NOT_KNOWN_NOR_NONE = pa.array([*_UNKNOWN.to_pylist(), "-"])

SCHEMA = pa.schema(
    [
        ("source", TEXT),
        ("start_offset", pa.int64()),
        ("end_offset", pa.int64()),
        ("event", TEXT),
        ("site", TEXT),
        ("date", TEXT),
        ("round", TEXT),
        ("white", TEXT),
        ("black", TEXT),
        ("result", TEXT),
        ("white_elo", pa.int32()),
        ("black_elo", pa.int32()),
        ("white_title", TEXT),
        ("black_title", TEXT),
        ("white_rating_diff", pa.int32()),
        ("black_rating_diff", pa.int32()),
        ("time_control", TEXT),
        ("base_seconds", pa.float64()),
        ("increment_seconds", pa.float64()),
        ("speed", TEXT),
        ("termination", TEXT),
        ("eco", TEXT),
        ("opening", TEXT),
        ("variant", TEXT),
        ("plies", pa.int32()),
        ("has_clock", pa.bool_()),
        ("has_eval", pa.bool_()),
        ("fen", TEXT),
        ("variation", TEXT),
    ]
)
WITH_MOVETEXT = SCHEMA.append(pa.field(MOVETEXT, pa.binary()))
COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)
# Columns that indexes of earlier versions lack.
LATER = ("fen", "variation")

BEYOND_RATINGS = 5000  # engines come to some 4,000; what says more is a slip of the keyboard
_RATING = re.compile(r"\s*(\d{1,5})(?:\.\d+)?\s*\??\s*")
_SIGNED = re.compile(r"\s*([+-]?\d{1,5})\s*")


@lru_cache(maxsize=100_000)
def rating(text: str) -> int | None:
    """A rating tag as a number; zero means "unrated", which is null, and so is what nobody can be rated.

    >>> rating("2788"), rating("1500?"), rating("0"), rating("-"), rating("22450")
    (2788, 1500, None, None, None)
    """
    match = _RATING.fullmatch(text)
    return number if match and 0 < (number := int(match.group(1))) < BEYOND_RATINGS else None


@lru_cache(maxsize=100_000)
def difference(text: str) -> int | None:
    """A rating difference as a number; zero is one.

    >>> difference("+5"), difference("-12"), difference("0"), difference("?")
    (5, -12, 0, None)
    """
    match = _SIGNED.fullmatch(text)
    return int(match.group(1)) if match else None


def with_gaps(buffer: pa.Buffer, begin: Positions, end: Positions, kind: pa.DataType) -> pa.Array:
    """The pieces from each begin to its end, which come in order, and the gaps between them; nothing is copied."""
    offsets = np.empty(2 * len(begin), np.int32)
    offsets[0::2], offsets[1::2] = begin, end
    # Arrow believes what it is told: offsets that go back would lead it anywhere in memory.
    assert (offsets[1:] >= offsets[:-1]).all(), "pieces must come in order"
    return pa.Array.from_buffers(kind, max(len(offsets) - 1, 0), [None, pa.py_buffer(offsets), buffer])


def cut(data: bytes, begin: Positions, end: Positions) -> pa.BinaryArray:
    """The pieces from each begin to its end, which come in order, one behind the other.

    >>> cut(b"[a][b] 1. e4", np.array([1, 4]), np.array([2, 5])).to_pylist()
    [b'a', b'b']
    """
    pieces = with_gaps(pa.py_buffer(data), begin, end, pa.binary())
    return pc.take(pieces, pa.array(np.arange(0, len(pieces), 2)), boundscheck=False)


class TagColumns:
    """Columns of tags, a row per game of a buffer, null where a game lacks the tag.

    What is wrong with a tag is counted in `problems`.
    """

    def __init__(self, part: Split, names: Sequence[str], problems: Counter[str]) -> None:
        self._part = part
        self._lines = TagLines(part, names)
        self._problems = problems
        self._buffer = pa.py_buffer(part.data)
        self._plain = part.ascii and b"\\" not in part.rare
        self._rows = np.arange(len(part))
        self._every = pa.array(2 * self._rows)

    def text(self, name: str) -> pa.DictionaryArray:
        """The values of this tag, dictionary-encoded."""
        values = self._lines.values(name, self._problems)
        rows = len(self._part)
        if not len(values.games):
            return pa.nulls(rows, TEXT)
        # Bytes of a buffer that is all ASCII need no check to be text.
        kind = pa.string() if self._plain else pa.binary()
        pieces = with_gaps(self._buffer, values.begin, values.end, kind)
        if np.array_equal(values.games, self._rows):
            which = self._every
        else:
            place = np.full(rows, -2, np.int64)
            place[values.games] = np.arange(0, len(pieces), 2)
            which = pa.array(place, mask=place < 0)
        column = pc.take(pieces, which, boundscheck=False).dictionary_encode()
        return column if self._plain else _text_dictionary(column, self._problems)

    def ratings(self, name: str, parse: Callable[[str], int | None]) -> pa.Int32Array:
        """The values of this tag as numbers; what is not of three or four digits goes through `parse`."""
        values = self._lines.values(name, self._problems)
        numbers, known = small_numbers(self._part.padded, values.begin, values.end)
        for i in np.flatnonzero(~known):
            text = self._part.data[values.begin[i] : values.end[i]].decode("latin-1")
            numbers[i] = parse(unescape(text)) or 0
        column = np.zeros(len(self._part), np.int32)
        column[values.games] = numbers
        return pa.array(column, mask=column == 0)


def _text_dictionary(column: pa.DictionaryArray, problems: Counter[str]) -> pa.DictionaryArray:
    """The values as text, without escapes; only the distinct ones are looked at."""
    values = column.dictionary
    try:
        text = values.cast(pa.string())
        if not pc.any(pc.match_substring(text, "\\")).as_py():
            return pa.DictionaryArray.from_arrays(column.indices, text)
    except pa.ArrowInvalid:
        pass  # some are not UTF-8
    spellings = values.to_pylist()
    not_utf8 = pa.array([not is_utf8(value) for value in spellings])
    if not_utf8.true_count:
        problems[LATIN1] += not_utf8.take(column.indices).true_count
    plain = pa.array([unescape(decode(value)) for value in spellings], pa.string())
    # Two spellings may now be one value, so encode again.
    return pa.DictionaryArray.from_arrays(column.indices, plain).dictionary_decode().dictionary_encode()


def rows(part: Split, source: str, problems: Counter[str], *, movetext: bool = False) -> pa.RecordBatch:
    """One row per game of a buffer."""
    schema = WITH_MOVETEXT if movetext else SCHEMA
    if not len(part):
        return pa.RecordBatch.from_pylist([], schema)
    tags = TagColumns(part, _TAGS, problems)
    columns = {
        "source": pa.DictionaryArray.from_arrays(np.zeros(len(part), np.int32), pa.array([source], pa.string())),
        "start_offset": pa.array(part.starts + part.base),
        "end_offset": pa.array(part.ends + part.base),
        "plies": pa.array(Movetext(part).count_plies()),
        "has_clock": pa.array(have_command(part, b"clk")),
        "has_eval": pa.array(have_command(part, b"eval")),
    }
    for name, tag in TEXT_TAGS.items():
        columns[name] = _known(tags.text(tag), _NOT_KNOWN_NOR_NONE if name in _NONE_SIGN else _UNKNOWN)
    for name, tag in RATING_TAGS.items():
        columns[name] = tags.ratings(tag, rating)
    for name, tag in DIFFERENCE_TAGS.items():
        texts = tags.text(tag)
        numbers = pa.array([difference(text) for text in texts.dictionary.to_pylist()], pa.int32())
        columns[name] = numbers.take(texts.indices)
    control = columns["time_control"]
    read = [time_control(text) for text in control.dictionary.to_pylist()]
    clock = [pa.array([one[k] for one in read], kind).take(control.indices) for k, kind in enumerate(_CLOCK)]
    columns |= zip(("base_seconds", "increment_seconds", "speed"), _closer(clock, columns), strict=True)
    if movetext:
        columns[MOVETEXT] = cut(part.data, part.starts, part.ends)
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _closer(clock: list[pa.Array], columns: Mapping[str, pa.DictionaryArray]) -> list[pa.Array]:
    """Base, increment and speed; where the tag alone does not tell, with what Site and Event tell besides."""
    unclear = pc.fill_null(pc.less(clock[0], LEAST_SECONDS), True).to_numpy(zero_copy_only=False)
    # Lichess writes seconds, gives every game a site of its own, and is not to be looked at game by game.
    plain = pc.match_substring_regex(columns["site"].dictionary, r"lichess\.org/\w{8,}$").take(columns["site"].indices)
    plain = pc.and_(pc.fill_null(plain, False), pc.is_valid(columns["time_control"].indices))
    rows = np.flatnonzero(unclear & ~plain.to_numpy(zero_copy_only=False))
    if not len(rows):
        return [*clock[:2], clock[2].dictionary_encode()]
    tags = [columns[name] for name in ("site", "event", "time_control")]
    texts = [["", *tag.dictionary.to_pylist()] for tag in tags]
    codes = [pc.fill_null(tag.indices, -1).to_numpy(zero_copy_only=False)[rows].astype(np.int64) + 1 for tag in tags]
    sizes = tuple(map(len, texts))
    coded = pa.array(np.ravel_multi_index(codes, sizes)).dictionary_encode()
    kinds = np.unravel_index(coded.dictionary.to_numpy(), sizes)
    found = [clock_of(*map(list.__getitem__, texts, kind)) for kind in zip(*(k.tolist() for k in kinds), strict=True)]
    mask = np.zeros(len(unclear), np.bool_)
    mask[rows] = True
    better = [
        pc.replace_with_mask(values, mask, pa.array([one[k] for one in found], values.type).take(coded.indices))
        for k, values in enumerate(clock)
    ]
    return [*better[:2], better[2].dictionary_encode()]


def _known(column: pa.DictionaryArray, unknown: pa.Array) -> pa.DictionaryArray:
    """The column with null in place of the signs for "unknown"."""
    if not len(column.dictionary):
        return column
    is_unknown = pc.is_in(column.dictionary, unknown)
    if not is_unknown.true_count:
        return column
    indices = pc.if_else(is_unknown.take(column.indices), None, column.indices)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)
