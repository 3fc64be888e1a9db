"""Tags of many games as columns, cut straight out of the bytes.

A column is an Arrow array over the very buffer that was read: the lines that hold the tag are found with a few
comparisons of eight-byte words, and Arrow copies their values in one go. A missing tag is null in its row and moves
nothing else; of a repeated tag the last counts, as in python-chess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from assay.games.reader import splits, unescape
from assay.games.split import Positions, Split, same, words_at
from assay.games.stream import Stream, find_files
from assay.progress import Progress

ENDLESS = "tag without end"
LATIN1 = "tag that is not UTF-8, read as Latin-1"

_TEXT = pa.dictionary(pa.int32(), pa.string())
_HEAP_BITS = 12
_REST = re.compile(rb'[ \t]+"([^\n]*)"[ \t]*\][ \t\r]*(?:\n|$)')


def tag_columns(part: Split, names: Sequence[str], problems: Counter[str]) -> dict[str, pa.DictionaryArray]:
    """One dictionary-encoded column of text per tag, a row per game, null where a game lacks the tag."""
    lines = _TagLines(part, [name.encode("ascii") for name in names])
    pieces = _Pieces(part)
    columns = {}
    for name in names:
        begin, end, games = lines.values(name.encode("ascii"), problems)
        columns[name] = pieces.column(begin, end, games, problems) if len(begin) else pieces.nothing
    return columns


class _TagLines:
    """The tag lines of a buffer in heaps by the first four bytes of their names, each heap in the order of the file.

    So each name looks only at the few lines that may be its own, and these lie together in memory.
    """

    def __init__(self, part: Split, names: Sequence[bytes]) -> None:
        self.part = part
        at = part.tag_starts + 1
        first = part.tag_words
        heads = np.unique(np.array([_head(name) for name in names], np.uint64))
        self._table = np.zeros(1 << _HEAP_BITS, np.uint8)
        self._table[_hash(heads)] = np.arange(1, len(heads) + 1)
        heap = self._table[_hash(first & np.uint64(0xFFFFFFFF))]
        order = np.argsort(heap, kind="stable")
        self._bounds = np.cumsum(np.bincount(heap, minlength=len(heads) + 1))
        self.at, self.ends, self.games = at[order], part.tag_ends[order], part.tag_games[order]
        self.first = first[order]
        self.last = words_at(part.padded, part.tag_ends - 3, 4)[order] & np.uint32(0xFFFFFF)

    def values(self, name: bytes, problems: Counter[str]) -> tuple[Positions, Positions, Positions]:
        """Where the values of this tag begin and end, and of which games they are."""
        at, ends, games, last, after = self._lines_of(name)
        if not len(at):
            return at, ends, games
        windows = last == int.from_bytes(b'"]\r', "little")
        usual = windows | (last >> np.uint32(8) == int.from_bytes(b'"]', "little"))
        begin, end = at + (len(name) + 2), ends - 2 - windows
        usual &= (after == int.from_bytes(b' "', "little")) & (end >= begin)
        if not usual.all():
            good = usual.copy()
            for i in np.flatnonzero(~usual):
                begin[i], end[i], good[i] = _odd_value(self.part.data, int(begin[i]) - 2)
                problems[ENDLESS] += not good[i]
            begin, end, games = begin[good], end[good], games[good]
        return begin, end, games

    def _lines_of(self, name: bytes) -> tuple[npt.NDArray[Any], ...]:
        """Begin, end, game, last bytes and the two bytes behind the name, of each line with this tag."""
        which = int(self._table[_hash(np.array([_head(name)], np.uint64))[0]])
        heap = slice(self._bounds[which - 1], self._bounds[which]) if len(name) >= 4 else slice(None)
        rows: tuple[npt.NDArray[Any], ...]
        rows = self.at[heap], self.ends[heap], self.games[heap], self.last[heap], self.first[heap]
        rows = _where(same(rows[-1], name[:8]), rows)
        for done in range(8, len(name), 8):
            rows = _where(same(words_at(self.part.padded, rows[0] + done), name[done : done + 8]), rows)
        *rows_, first = rows
        if len(name) <= 6:
            after = (first >> np.uint64(8 * len(name))) & np.uint64(0xFFFF)
        else:
            after = words_at(self.part.padded, rows[0] + len(name), 2)
        space = after & after.dtype.type(0xFF)
        return _where((space == 32) | (space == 9), (*rows_, after))


def _where(keep: npt.NDArray[np.bool_], rows: tuple[npt.NDArray[Any], ...]) -> tuple[npt.NDArray[Any], ...]:
    return rows if keep.all() else tuple(column[keep] for column in rows)


def _head(name: bytes) -> int:
    return int.from_bytes(name[:4], "little")


def _hash(heads: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Knuth's multiplicative hash (The Art of Computer Programming 3, section 6.4)."""
    return (heads * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - _HEAP_BITS)


def _odd_value(data: bytes, begin: int) -> tuple[int, int, bool]:
    """Where the value of a tag with unusual spaces lies; not good if the tag does not end on its line."""
    match = _REST.match(data, begin)
    return (match.start(1), match.end(1), True) if match else (begin, begin, False)


class _Pieces:
    """Columns of pieces of a buffer, copied by Arrow.

    Arrow's offsets must follow one upon another, so the gaps between the pieces are elements too; taking every
    second one leaves them out.
    """

    def __init__(self, part: Split) -> None:
        self.rows = len(part)
        self.nothing = pa.nulls(self.rows, _TEXT)
        self._buffer = pa.py_buffer(part.data)
        self._plain = part.data.isascii() and b"\\" not in part.data
        self._every = pa.array(np.arange(0, 2 * self.rows, 2))

    def column(self, begin: Positions, end: Positions, games: Positions, problems: Counter[str]) -> pa.DictionaryArray:
        """The pieces from begin to end, each in the row of its game."""
        offsets = np.empty(2 * len(begin), np.int32)
        offsets[0::2], offsets[1::2] = begin, end
        # Bytes of a buffer that is all ASCII need no check to be text.
        kind = pa.string() if self._plain else pa.binary()
        pieces = pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(offsets), self._buffer])
        if len(games) == self.rows and bool((np.diff(games) == 1).all()):
            which = self._every
        else:
            place = np.full(self.rows, -2, np.int64)
            place[games] = np.arange(0, len(offsets), 2)
            which = pa.array(place, mask=place < 0)
        column = pc.take(pieces, which, boundscheck=False).dictionary_encode()
        return column if self._plain else _text_dictionary(column, problems)


def _text_dictionary(column: pa.DictionaryArray, problems: Counter[str]) -> pa.DictionaryArray:
    """The values as text, without escapes; only the distinct ones are looked at."""
    values = column.dictionary
    try:
        text = values.cast(pa.string())
        if not pc.any(pc.match_substring(text, "\\")).as_py():
            return pa.DictionaryArray.from_arrays(column.indices, text)
    except pa.ArrowInvalid:
        pass  # some are not UTF-8
    plain = pa.array([_text(value, problems) for value in values.to_pylist()], pa.string())
    # Two spellings may now be one value, so encode again.
    return pa.DictionaryArray.from_arrays(column.indices, plain).dictionary_decode().dictionary_encode()


def _text(value: bytes, problems: Counter[str]) -> str:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        text = value.decode("latin-1")
        problems[LATIN1] += 1
    return unescape(text)


@dataclass(frozen=True)
class Tags:
    """Some tags of many games, in file order.

    `codes[tag][game]` is an index into `values[tag]`, -1 where the game lacks the tag.
    """

    games: int
    codes: Mapping[str, npt.NDArray[np.int32]]
    values: Mapping[str, Sequence[str]]
    problems: Counter[str]

    def column(self, tag: str) -> list[str | None]:
        """The tag of each game, as text."""
        values = [*self.values[tag], None]
        return [values[code] for code in self.codes[tag].tolist()]


def read_tags(
    paths: Iterable[str | Path],
    tags: Sequence[str] = ("White", "Black", "Result"),
    *,
    shared: Sequence[str] = ("White", "Black"),
    quiet: bool = True,
) -> Tags:
    """Read exactly these tags of all games in these files, in order; the fast way to results.

    The tags in `shared` use one list of values, so that a player has the same code with either colour. Damage is
    counted by reason in `problems`; nothing of it stops the reading.
    """
    problems: Counter[str] = Counter()
    columns: dict[str, list[pa.DictionaryArray]] = {tag: [] for tag in tags}
    games = 0
    for part in _parts(find_files(list(paths)), problems, quiet=quiet):
        games += len(part)
        for tag, column in tag_columns(part, tags, problems).items():
            columns[tag].append(column)
    together = [tag for tag in tags if tag in shared]
    codes: dict[str, npt.NDArray[np.int32]] = {}
    values: dict[str, Sequence[str]] = {}
    for group in [together, *([tag] for tag in tags if tag not in shared)]:
        unified = _unify([chunk for tag in group for chunk in columns[tag]])
        flat = np.concatenate([_codes(chunk) for chunk in unified] or [np.empty(0, np.int32)])
        names = unified[0].dictionary.to_pylist() if unified else []
        for i, tag in enumerate(group):
            codes[tag], values[tag] = flat[i * games : (i + 1) * games], names
    return Tags(games=games, codes=codes, values=values, problems=problems)


def _parts(files: Sequence[str], problems: Counter[str], *, quiet: bool) -> Iterator[Split]:
    total = sum(0 if file == "-" else Path(file).stat().st_size for file in files) or None
    with Progress("reading tags", total, unit="bytes", quiet=quiet) as progress:
        done = 0
        for file in files:
            with Stream(file) as stream:
                for part in splits(stream, problems):
                    yield part
                    progress.update(done + stream.size)
                if stream.problem:
                    problems[f"{stream.problem} in {file}"] += 1
                done += stream.size


def _unify(chunks: list[pa.DictionaryArray]) -> list[pa.DictionaryArray]:
    if not chunks:
        return []
    return list(pa.chunked_array(chunks).unify_dictionaries().chunks)


def _codes(chunk: pa.DictionaryArray) -> npt.NDArray[np.int32]:
    codes: npt.NDArray[np.int32] = pc.fill_null(chunk.indices, -1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int32, copy=False)
