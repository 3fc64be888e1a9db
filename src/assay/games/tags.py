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

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from assay.games.reader import decode, splits, unescape
from assay.games.split import Positions, Split, same, words_at
from assay.games.stream import Stream, find_files
from assay.progress import Progress

ENDLESS = "tag without end"
LATIN1 = "tag that is not UTF-8, read as Latin-1"

_REST = re.compile(rb'[ \t]+"([^\n]*)"[ \t]*\][ \t\r]*(?:\n|$)')


def tag_columns(part: Split, names: Sequence[str], problems: Counter[str]) -> dict[str, pa.DictionaryArray]:
    """One dictionary-encoded column of text per tag, a row per game, null where a game lacks the tag."""
    words = words_at(part.padded, part.tag_starts + 1)
    buffer = pa.py_buffer(part.data)
    columns = {}
    for name in names:
        begin, end, games = _values(part, words, name.encode("ascii"), problems)
        pieces = _cut(buffer, begin, end, games, len(part))
        columns[name] = _text_dictionary(pieces.dictionary_encode(), problems)
    return columns


def _values(
    part: Split, words: npt.NDArray[np.uint64], name: bytes, problems: Counter[str]
) -> tuple[Positions, Positions, Positions]:
    """Where the values of a tag begin and end, and of which games they are."""
    lines = _lines_with(part, words, name + b' "')
    if len(lines) != len(part):  # some games lack it, or write it in another way
        lines = _lines_with(part, words, name)
        after = part.padded[part.tag_starts[lines] + 1 + len(name)]
        lines = lines[(after == 32) | (after == 9)]
    begin, line_end = part.tag_starts[lines] + 1 + len(name), part.tag_ends[lines]
    last = words_at(part.padded, line_end - 3, 4) & np.uint32(0xFFFFFF)
    windows = last == int.from_bytes(b'"]\r', "little")
    usual = windows | ((last >> np.uint32(8)) == int.from_bytes(b'"]', "little"))
    usual &= (words_at(part.padded, begin, 2) == int.from_bytes(b' "', "little")) & (line_end - begin >= 4 + windows)
    begin, end = begin + 2, line_end - 2 - windows
    if not usual.all():
        good = usual.copy()
        for i in np.flatnonzero(~usual):
            begin[i], end[i], good[i] = _odd_value(part.data, int(begin[i]) - 2)
            problems[ENDLESS] += not good[i]
        lines, begin, end = lines[good], begin[good], end[good]
    return begin, end, part.tag_games[lines]


def _lines_with(part: Split, words: npt.NDArray[np.uint64], text: bytes) -> Positions:
    """The tag lines that begin with this text behind the bracket; `words` are the first eight bytes of each."""
    lines: Positions = np.flatnonzero(same(words, text[:8]))
    for done in range(8, len(text), 8):
        more = words_at(part.padded, part.tag_starts[lines] + 1 + done)
        lines = lines[same(more, text[done : done + 8])]
    return lines


def _odd_value(data: bytes, begin: int) -> tuple[int, int, bool]:
    """Where the value of a tag with unusual spaces lies; not good if the tag does not end on its line."""
    match = _REST.match(data, begin)
    return (match.start(1), match.end(1), True) if match else (begin, begin, False)


def _cut(buffer: pa.Buffer, begin: Positions, end: Positions, games: Positions, rows: int) -> pa.Array:
    """The pieces of the buffer as a binary array, one row per game.

    Arrow's offsets must follow one upon another, so the gaps between the pieces are elements too; taking every
    second one leaves them out.
    """
    if not len(begin):
        return pa.nulls(rows, pa.binary())
    which = np.full(rows, -1, np.int64)
    which[games] = np.arange(len(games))
    offsets = np.empty(2 * len(begin), np.int32)
    offsets[0::2], offsets[1::2] = begin, end
    pieces = pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), buffer])
    missing = which < 0
    return pieces.take(pa.array(2 * which, mask=missing) if missing.any() else pa.array(2 * which))


def _text_dictionary(column: pa.DictionaryArray, problems: Counter[str]) -> pa.DictionaryArray:
    """The values as text, without escapes; only the distinct ones are looked at."""
    values = column.dictionary
    try:
        text = values.cast(pa.string())
        if not pc.any(pc.match_substring(text, "\\")).as_py():
            return pa.DictionaryArray.from_arrays(column.indices, text)
    except pa.ArrowInvalid:
        problems[LATIN1] += sum(not _is_utf8(value) for value in values.to_pylist())
    plain = pa.array([unescape(decode(value)) for value in values.to_pylist()], pa.string())
    # Two spellings may now be one value, so encode again.
    return pa.DictionaryArray.from_arrays(column.indices, plain).dictionary_decode().dictionary_encode()


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


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
