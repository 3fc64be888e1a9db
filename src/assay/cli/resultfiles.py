"""What `assay results` and `assay prep` read: games from PGN files and indexes, and small files of names."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.games.plain import read_plain
from assay.games.reader import OUTSIDE, UNTAGGED, decode, unescape
from assay.games.stream import find_files
from assay.results.rate import SELF_PLAY
from assay.results.table import DRAW, LOSS, WIN, PairTable, tabulate

OUTCOMES = {"1-0": WIN, "0-1": LOSS, "1/2-1/2": DRAW, "1/2": DRAW, "=-=": DRAW, "½-½": DRAW}
UNFINISHED = "*"
UNKNOWN_PLAYER = 'player "?" or without a name'
INDEX_SUFFIX = ".parquet"
TAGS = ("White", "Black", "Result")
OPENING_TAGS = ("FEN", "ECO", "Opening", "Variation")
# Outcomes that are none.
_UNFINISHED, _UNKNOWN, _OUT = -1, -2, -3

Codes = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Results:
    """Games as arrays, in the order of the files; players are numbered by first appearance, White before Black.

    `outcome` is twice White's score, negative where a game does not count; `skipped` says why by reason.
    """

    players: tuple[str, ...]
    white: Codes
    black: Codes
    outcome: npt.NDArray[np.int8]
    skipped: Counter[str]
    unfinished: int
    openings: npt.NDArray[np.int64] | None = None

    @property
    def counted(self) -> Bools:
        """Which games have a result."""
        return self.outcome >= 0

    def summed_up(self) -> Results:
        """The same without the columns of players, once they are in a table: they are the most of it."""
        nobody = np.empty(0, np.int32)
        return replace(self, white=nobody, black=nobody)

    def table(self) -> PairTable:
        """The encounters of these games."""
        use = self.counted
        if use.all():
            return tabulate(self.white, self.black, self.outcome, len(self.players))
        return tabulate(self.white[use], self.black[use], self.outcome[use], len(self.players))


@dataclass
class _Source:
    """Columns of codes and their values; -1 where a game lacks the tag."""

    codes: dict[str, Codes]
    values: dict[str, list[str]]
    problems: Counter[str] = field(default_factory=Counter)


def read_results(
    paths: Sequence[str],
    *,
    synonyms: Mapping[str, str] | None = None,
    openings: bool = False,
    strict: bool = False,
    quiet: bool = True,
) -> Results:
    """Read the results of all games; what cannot be read is counted by reason, and with `strict` an error."""
    wanted = (*TAGS, *OPENING_TAGS) if openings else TAGS
    source = _merge([*_sources(paths, wanted, quiet)], wanted)
    results = _results(source, synonyms or {}, openings)
    if strict and results.skipped:
        raise InputError(f"with --strict nothing may be left out: {describe(results.skipped)}.")
    return results


def describe(skipped: Mapping[str, int]) -> str:
    """Reasons with their counts, the most frequent first.

    >>> describe({"no Black tag": 1, 'unknown result "0-0"': 1200})
    '1,200 x unknown result "0-0", 1 x no Black tag'
    """
    ranked = sorted(skipped.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} x {reason}" for reason, count in ranked)


def _sources(paths: Sequence[str], wanted: Sequence[str], quiet: bool) -> Iterator[_Source]:
    """The columns of each file, in the order of the command line."""
    for path in paths:
        if str(path).endswith(INDEX_SUFFIX):
            yield _from_index(path, wanted)
            continue
        for file in find_files([path]):
            plain = read_plain(file) if wanted == TAGS else None
            if plain is None:
                yield _from_tags(file, wanted, quiet)
                continue
            players = [unescape(decode(value)) for value in plain.players]
            results = [decode(value) for value in plain.results]
            yield _Source(
                {"White": plain.white, "Black": plain.black, "Result": plain.result},
                {"White": players, "Black": players, "Result": results},
            )


def _from_tags(file: str, wanted: Sequence[str], quiet: bool) -> _Source:
    # Files that are not plain need the thorough reader, and that needs Arrow.
    from assay.games.tags import ENDLESS, LATIN1, read_tags

    tags = read_tags([file], wanted, quiet=quiet)
    # What leaves a tag missing is counted with the missing tags.
    harmless = (ENDLESS, LATIN1, OUTSIDE, UNTAGGED)
    problems = Counter({why: count for why, count in tags.problems.items() if why not in harmless})
    return _Source(dict(tags.codes), {tag: list(tags.values[tag]) for tag in wanted}, problems)


def _from_index(path: str, wanted: Sequence[str]) -> _Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from assay.games import stamp

    try:
        stamp.check(Path(path))
        names = set(pq.read_schema(path).names)
        columns = {tag: tag.lower() for tag in wanted if tag.lower() in names}
        if not {"White", "Black", "Result"} <= set(columns):
            raise InputError(f"{path} is not an index of games: it has no columns white, black and result.")
        table = pq.read_table(path, columns=list(columns.values()))
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"cannot read {path}: {error}.") from error
    source = _Source({}, {})
    for tag in wanted:
        source.codes[tag], source.values[tag] = np.full(table.num_rows, -1, np.int32), []
    for tag, column in columns.items():
        chunks = table.column(column).cast(pa.dictionary(pa.int32(), pa.string())).unify_dictionaries().chunks
        if chunks:
            indices = pa.concat_arrays([chunk.indices for chunk in chunks]).fill_null(-1)
            source.codes[tag] = indices.to_numpy(zero_copy_only=False).astype(np.int32)
            source.values[tag] = chunks[0].dictionary.to_pylist()
    return source


def _merge(sources: list[_Source], wanted: Sequence[str]) -> _Source:
    """One source out of many; White and Black share their values."""
    if len(sources) == 1:
        names = sources[0].values["White"]
        # Two spellings of a name, in UTF-8 and Latin-1, may now be one.
        if names == sources[0].values["Black"] and len(set(names)) == len(names):
            return sources[0]
    merged = _Source({}, {})
    index: dict[str, dict[str, int]] = {tag: {} for tag in wanted}
    index["Black"] = index["White"]
    parts: dict[str, list[Codes]] = {tag: [] for tag in wanted}
    for source in sources:
        merged.problems.update(source.problems)
        for tag in wanted:
            codes = [index[tag].setdefault(value, len(index[tag])) for value in source.values[tag]]
            parts[tag].append(np.array([*codes, -1], np.int32)[source.codes[tag]])
    for tag in wanted:
        merged.codes[tag] = np.concatenate(parts[tag])
        merged.values[tag] = list(index[tag])
    return merged


def _results(source: _Source, synonyms: Mapping[str, str], openings: bool) -> Results:
    names = source.values["White"]
    white, black, result = (source.codes[tag] for tag in TAGS)
    nobody = np.array([name.strip() in ("", "?") for name in names] + [True])
    outcome = np.array([*map(_outcome, source.values["Result"]), _OUT], np.int8)[result]
    skipped = Counter(source.problems)
    there = np.ones(len(white), np.bool_)
    for tag in TAGS:
        if missing := int(np.count_nonzero(there & (source.codes[tag] < 0))):
            skipped[f"no {tag} tag"] += missing
            there &= source.codes[tag] >= 0
    named = (white >= 0) & (black >= 0)
    if nobody[:-1].any():
        unknown = there & (nobody[white] | nobody[black])
        skipped[UNKNOWN_PLAYER] += int(np.count_nonzero(unknown))
        named &= ~(nobody[white] | nobody[black])
    if not named.all():
        outcome[~named] = _OUT
    for code in np.unique(result[named & (outcome == _UNKNOWN)]).tolist():
        text = source.values["Result"][code]
        skipped[f'unknown result "{text}"'] += int(np.count_nonzero(named & (result == code)))
    myself = named & (white == black) & (outcome >= 0)
    if count := int(np.count_nonzero(myself)):
        skipped[SELF_PLAY] += count
        outcome[myself] = _OUT
    players, number = _number(names, white, black, named, synonyms)
    white, black = number[white], number[black]
    unfinished = int(np.count_nonzero(outcome == _UNFINISHED))
    found = _openings(source, len(white)) if openings else None
    return Results(players, white, black, outcome, skipped, unfinished, found)


def _outcome(text: str) -> int:
    text = text.strip()
    return _UNFINISHED if text == UNFINISHED else OUTCOMES.get(text, _UNKNOWN)


def _number(
    names: Sequence[str], white: Codes, black: Codes, named: Bools, synonyms: Mapping[str, str]
) -> tuple[tuple[str, ...], Codes]:
    """Players by first appearance, and the number of each code (-1 for those who never play)."""
    main: dict[str, int] = {}
    whose = np.array([main.setdefault(synonyms.get(name, name), len(main)) for name in names], np.int64)
    never = np.iinfo(np.int64).max
    first = np.full(len(names) + 1, never)
    games = np.flatnonzero(named)[::-1]
    # Of repeated places the last assignment stands: backwards, that is the first appearance.
    first[black[games]] = 2 * games + 1
    black_first = first.copy()
    first[:] = never
    first[white[games]] = 2 * games
    first = np.minimum(first, black_first)[:-1]
    earliest = np.full(len(main), never)
    np.minimum.at(earliest, whose, first)
    order = np.argsort(earliest, kind="stable")
    order = order[earliest[order] < never]
    rank = np.full(len(main), -1, np.int32)
    rank[order] = np.arange(len(order))
    people = list(main)
    return tuple(people[player] for player in order.tolist()), np.append(rank[whose], np.int32(-1))


def _openings(source: _Source, games: int) -> npt.NDArray[np.int64]:
    """A number for each opening; games that do not tell theirs have numbers of their own."""
    columns = np.stack([source.codes[tag] for tag in OPENING_TAGS], axis=1).astype(np.int64)
    # A position says it all; the names of openings serve where there is none.
    columns[columns[:, 0] >= 0, 1:] = -1
    known = (columns >= 0).any(axis=1)
    if not known.any():
        raise InputError("--pairs needs to know the openings, but no game has a FEN, ECO, Opening or Variation tag.")
    numbers = -1 - np.arange(games, dtype=np.int64)
    numbers[known] = np.unique(columns[known], axis=0, return_inverse=True)[1].ravel()
    return numbers


def read_rows(path: str | Path, fewest: int) -> list[tuple[int, list[str]]]:
    """The rows of a small CSV file with the number of their line; blank lines are left out."""
    rows = []
    reader = csv.reader(_lines(path), skipinitialspace=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if len(cells) < fewest:
                raise InputError(f"{path}, line {reader.line_num}: {fewest} fields are needed, there are {len(cells)}.")
            rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from error
    return rows


def _lines(path: str | Path) -> list[str]:
    """The lines of a small text file, in UTF-8 or else in Latin-1."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    return decode(data).removeprefix("\ufeff").splitlines()


def number(path: str | Path, line: int, text: str) -> float:
    """A number of such a file."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f'{path}, line {line}: "{text}" is not a number.')
    return value


def read_synonyms(path: str | Path | None) -> dict[str, str]:
    """Main name of each synonym: rows of main, synonym, synonym, ..."""
    if path is None:
        return {}
    return {name: cells[0] for _, cells in read_rows(path, 1) for name in cells[1:] if name}


def read_start(path: str | Path | None) -> dict[str, float]:
    """Ratings of an earlier list: a CSV file with columns PLAYER and RATING, or rows of name, rating."""
    if path is None:
        return {}
    rows = read_rows(path, 2)
    name, rating = 0, 1
    if rows:
        head = [cell.lower() for cell in rows[0][1]]
        if "player" in head and "rating" in head:
            name, rating = head.index("player"), head.index("rating")
            rows = rows[1:]
    return {cells[name]: number(path, line, cells[rating]) for line, cells in rows if len(cells) > max(name, rating)}


def read_list(path: str | Path) -> list[str]:
    """The files named in a file, one in each line, in quotes or not."""
    return [line.strip().strip('"') for line in _lines(path) if line.strip()]
