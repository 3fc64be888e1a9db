"""Tags of many games as columns, cut straight out of the bytes.

The lines that hold a tag are found with a few operations on words of eight bytes, and their values are numbered where
they lie (:mod:`assay.games.lines`). A missing tag is -1 in its row and moves nothing else; of a repeated tag the
last counts, as in python-chess.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.games.lines import Codes, Dictionary, Positions, hash_pieces, same, words_at
from assay.games.split import Split, splits, unescape
from assay.games.stream import Paths, Stream, find_files
from assay.printable import decode
from assay.progress import Progress
from assay.records import dataclass

if TYPE_CHECKING:
    from assay.games.movetext import Fingerprints

ENDLESS = "tag without end"
LATIN1 = "tag that is not UTF-8, read as Latin-1"

_HEAP_BITS = 12
_SPACE_QUOTE = int.from_bytes(b' "', "little")
_REST = re.compile(rb'[ \t]+"([^\n]*)"[ \t]*\][ \t\r]*(?:\n|$)')


@dataclass(frozen=True)
class TagValues:
    """Where the values of one tag begin and end in the buffer, and of which games they are, in file order."""

    begin: Positions
    end: Positions
    games: Positions


class TagLines:
    """The tag lines of a buffer in heaps by the first eight bytes of their names.

    So each name looks only at the lines that are its own, and a few more whose names begin alike or whose hash is the
    same.
    """

    def __init__(self, part: Split, names: Sequence[str]) -> None:
        self.part = part
        self._keys = {name: int.from_bytes(name.encode("ascii")[:8], "little") for name in names}
        known = np.array(sorted(set(self._keys.values())), np.uint64)
        table = np.zeros(1 << _HEAP_BITS, np.uint8)
        table[_hash(known)] = np.arange(1, len(known) + 1)
        words = part.tag_words
        if b"\t" in part.rare:
            words = words_at(np.frombuffer(part.data.replace(b"\t", b" "), np.uint8), part.tag_starts + 1)
        space = _lowest_space(words)
        self._names = words & (space - np.uint64(1))
        self._ends, self._usual = _value_ends(part)
        behind = space << np.uint64(8)
        self._usual &= words & behind * np.uint64(0xFF) == behind * np.uint64(ord('"'))
        self._all_usual = bool(self._usual.all())
        heap = table[_hash(self._names)]
        self._order = np.argsort(heap, kind="stable")
        self._bounds = np.searchsorted(heap[self._order], np.arange(len(known) + 2))
        self._heaps = dict(zip(self._keys, table[_hash(np.array(list(self._keys.values()), np.uint64))], strict=True))

    def values(self, name: str, problems: Counter[str]) -> TagValues:
        """The values of this tag; a tag that does not end on its line is counted in `problems` and left out."""
        lines = self._lines_of(name)
        begin = self.part.tag_starts[lines] + (len(name) + 3)
        quoted = np.ones(len(lines), np.bool_)
        if len(name) >= 7:  # what is behind the name is not among its first eight bytes
            behind = words_at(self.part.padded, begin - 2, 2)
            quoted = behind == _SPACE_QUOTE
            if not quoted.all():
                own = np.isin(behind & 0xFF, (ord(" "), ord("\t")))  # the others have a longer name
                lines, begin, quoted = lines[own], begin[own], quoted[own]
        end = self._ends[lines]
        games = self.part.tag_games[lines]
        usual = (end >= begin) & quoted
        if not self._all_usual:
            usual &= self._usual[lines]
        if not usual.all():
            good = usual.copy()
            for i in np.flatnonzero(~usual):
                begin[i], end[i], good[i] = _odd_value(self.part.data, int(begin[i]) - 2)
                problems[ENDLESS] += not good[i]
            begin, end, games = begin[good], end[good], games[good]
        return TagValues(begin, end, games)

    def codes(self, name: str, known: Dictionary, problems: Counter[str]) -> Codes:
        """The number of this tag's value in `known` for each game, -1 where it lacks the tag."""
        values = self.values(name, problems)
        data, begin, end = self.part.data, values.begin, values.end
        codes = np.full(len(self.part), -1, np.int32)
        hashes = hash_pieces(self.part.padded, begin, end)
        codes[values.games] = known.numbers(hashes, lambda i: data[begin[i] : end[i]])
        return codes

    def _lines_of(self, name: str) -> Positions:
        """The lines with this tag, in order; those of longer names that begin alike too, if it has eight letters."""
        heap = self._heaps[name]
        lines = self._order[self._bounds[heap] : self._bounds[heap + 1]]
        lines = _where(self._names[lines] == np.uint64(self._keys[name]), lines)
        for done in range(8, len(name), 8):
            words = words_at(self.part.padded, self.part.tag_starts[lines] + (1 + done))
            lines = _where(same(words, name[done : done + 8].encode("ascii")), lines)
        return lines


def _value_ends(part: Split) -> tuple[Positions, npt.NDArray[np.bool_]]:
    """Where the value of each tag line ends, and whether a quote and a bracket end the line, as usual."""
    usual = int.from_bytes(b'"]', "little")
    ends = part.tag_ends - 2
    found = words_at(part.padded, ends, 2) == usual
    if not found.all():
        ends -= part.padded[part.tag_ends - 1] == ord("\r")
        found = words_at(part.padded, ends, 2) == usual
    return ends, found


def _lowest_space(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The unit of the lowest byte of each word that is a space, 0 where none is.

    All bytes of a word are looked at together (H. S. Warren, Hacker's Delight, section 6-1).
    """
    other = words ^ np.uint64(0x2020202020202020)
    spaces = other - np.uint64(0x0101010101010101)
    spaces &= np.invert(other, out=other)
    spaces &= np.uint64(0x8080808080808080)
    spaces &= np.negative(spaces, out=other)
    spaces >>= np.uint64(7)
    return spaces


def _where(keep: npt.NDArray[np.bool_], lines: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return lines if keep.all() else lines[keep]


def _hash(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Knuth's multiplicative hash (The Art of Computer Programming 3, section 6.4)."""
    return ((words * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - _HEAP_BITS)).view(np.int64)


def _odd_value(data: bytes, begin: int) -> tuple[int, int, bool]:
    """Where the value of a tag with unusual spaces lies; not good if the tag does not end on its line."""
    match = _REST.match(data, begin)
    return (match.start(1), match.end(1), True) if match else (begin, begin, False)


def is_utf8(value: bytes) -> bool:
    """Whether the bytes are text as they stand."""
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True)
class Tags:
    """Some tags of many games, in file order.

    `codes[tag][game]` is an index into `values[tag]`, -1 where the game lacks the tag. `moves` tells the moves of each
    game as one number, if that was asked for; `starts` and `ends` where each lies in the uncompressed file.
    """

    games: int
    codes: Mapping[str, npt.NDArray[np.int32]]
    values: Mapping[str, Sequence[str]]
    problems: Counter[str]
    starts: Positions
    ends: Positions
    moves: Fingerprints | None = None

    def column(self, tag: str) -> list[str | None]:
        """The tag of each game, as text."""
        values = [*self.values[tag], None]
        return [values[code] for code in self.codes[tag].tolist()]


def read_tags(
    paths: Paths,
    tags: Sequence[str] = ("White", "Black", "Result"),
    *,
    where: str | None = None,
    names: Mapping[str, str] | None = None,
    shared: Sequence[str] = ("White", "Black"),
    moves: bool = False,
    quiet: bool = True,
) -> Tags:
    """Read exactly these tags of all games in these files that the filter lets through, in order.

    This is the fast way to results. The tags in `shared` use one list of values, so that a player has the same code
    with either colour. Damage is counted by reason in `problems`; nothing of it stops the reading. With `moves` the
    moves are looked at too, so that :func:`assay.games.duplicates.repeats` can tell which games occur twice; that
    takes about twice the time. `names` are those of files that are copies of others.
    """
    tags = (tags,) if isinstance(tags, str) else tags
    problems: Counter[str] = Counter()
    together = Dictionary()
    known = {tag: together if tag in shared else Dictionary() for tag in tags}
    columns: dict[str, list[Codes]] = {tag: [np.empty(0, np.int32)] for tag in tags}
    prints: list[tuple[Any, Any]] = [(np.empty(0, np.uint64), np.empty(0, np.int32))]
    games = 0
    bounds: tuple[list[Positions], list[Positions]] = ([np.empty(0, np.int64)], [np.empty(0, np.int64)])
    for part, chosen in _parts(find_files(paths), where, names or {}, problems, quiet=quiet):
        games += len(part.starts[chosen])
        for column, places in zip(bounds, (part.starts, part.ends), strict=True):
            column.append(part.base + places[chosen])
        lines = TagLines(part, tags)
        for tag in tags:
            columns[tag].append(lines.codes(tag, known[tag], problems)[chosen])
        if moves:
            from assay.games.movetext import fingerprints

            keys, plies = fingerprints(part)
            prints.append((keys[chosen], plies[chosen]))
    codes: dict[str, Codes] = {}
    values: dict[str, Sequence[str]] = {}
    for group in [[tag for tag in tags if tag in shared], *([tag] for tag in tags if tag not in shared)]:
        if group:
            numbered, listed = _numbered(known[group[0]], [np.concatenate(columns[tag]) for tag in group], problems)
            codes |= dict(zip(group, numbered, strict=True))
            values |= dict.fromkeys(group, listed)
    played = None
    if moves:
        from assay.games.movetext import Fingerprints

        played = Fingerprints(*(np.concatenate(column) for column in zip(*prints, strict=True)))
    starts, ends = map(np.concatenate, bounds)
    return Tags(games, codes, values, problems, starts, ends, played)


def _parts(
    files: Sequence[str], where: str | None, names: Mapping[str, str], problems: Counter[str], *, quiet: bool
) -> Iterator[tuple[Split, Any]]:
    """The games of files, buffer by buffer, and which of them the filter lets through."""
    total = sum(0 if file == "-" else Path(file).stat().st_size for file in files) or None
    with Progress("reading tags", total, unit="bytes", quiet=quiet) as progress:
        done = 0
        for file in files:
            choose = None
            if where is not None:
                from assay.games.where import chooser

                choose = chooser(where, names.get(file, file), Counter())
            with Stream(file) as stream:
                for part in splits(stream, problems):
                    yield part, slice(None) if choose is None else choose(part)
                    progress.update(done + stream.size)
                if stream.problem:
                    problems[f"{stream.problem} in {names.get(file, file)}"] += 1
                done += stream.size


def _numbered(known: Dictionary, columns: Sequence[Codes], problems: Counter[str]) -> tuple[list[Codes], list[str]]:
    """The columns that one dictionary tells, as codes of texts without escapes; two spellings may be one text."""
    odd = [at for at, value in enumerate(known.values) if not (value.isascii() or is_utf8(value))]
    for codes in columns if odd else ():
        problems[LATIN1] += int(np.bincount(codes[codes >= 0], minlength=len(known.values))[odd].sum())
    numbers: dict[str, int] = {}
    again = [numbers.setdefault(unescape(decode(value)), len(numbers)) for value in known.values]
    if len(numbers) < len(again):
        renumbered = np.array([*again, -1], np.int32)
        columns = [renumbered[codes] for codes in columns]
    return list(columns), list(numbers)
