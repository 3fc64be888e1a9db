"""White, Black and Result of many games as codes, from PGN files and indexes; and the one table of result texts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from assay.errors import AssayWarning, InputError
from assay.games.plain import read_plain
from assay.games.split import OUTSIDE, UNTAGGED, batched, pick, unescape
from assay.games.stream import STDIN, Paths, Stream, content_hash, find_files, is_index
from assay.paths import File
from assay.players import did_you_mean, nearest, read_aliases, read_rows
from assay.printable import decode
from assay.records import dataclass
from assay.table import described

# What White scored, by the texts of results; and the texts of the standard by twice the score.
SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5, "1/2": 0.5, "=-=": 0.5, "½-½": 0.5}
WRITTEN = ("0-1", "1/2-1/2", "1-0")
UNFINISHED = "*"
SELF_PLAY = "a player against himself"
UNKNOWN_PLAYER = 'player "?" or without a name'
INDEX_SUFFIX = ".parquet"
TAGS = ("White", "Black", "Result")
ID_TAGS = ("WhiteFideId", "BlackFideId")
# What, besides the moves, tells copies of a game.
COPY_TAGS = ("Date", "Round", "Event", "Site")
TERMINATION = "Termination"
# What `prep` keeps of games besides players and results: what pairs them, and how they ended.
KEPT_TAGS = ("FEN", "ECO", "Opening", "Variation", "TimeControl", TERMINATION)
GameKind = Literal["pool", "speed", "time-control"]
KINDS: tuple[GameKind, ...] = ("pool", "speed", "time-control")
# What tells of which kind a game is.
KIND_TAGS = ("Site", "Event", "TimeControl")
OPENING_TAGS = ("FEN", "ECO", "Opening", "Variation")
# Outcomes that are none.
_UNFINISHED, _UNKNOWN, _OUT = -1, -2, -3
_BATCH = 5_000

Codes = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


if TYPE_CHECKING:
    from assay.games.duplicates import Duplicates
    from assay.games.movetext import Fingerprints


@dataclass(frozen=True)
class Outcomes:
    """Games as arrays, in the order of the files; players are numbered by first appearance, White before Black.

    `outcome` is twice White's score, negative where a game does not count; `skipped` says why by reason. `aliases` are
    the main names of other names, `duplicates` the games that occur again and do not count. `tags` are more tags of the
    games, as far as they were asked for: codes (-1 where a game lacks the tag) and values.
    """

    players: tuple[str, ...]
    white: Codes
    black: Codes
    outcome: npt.NDArray[np.int8]
    skipped: Counter[str]
    unfinished: int
    openings: npt.NDArray[np.int64] | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    duplicates: Duplicates | None = None
    tags: Mapping[str, tuple[Codes, list[str]]] = field(default_factory=dict)

    @property
    def counted(self) -> Bools:
        """Which games have a result."""
        return self.outcome >= 0

    def summed_up(self) -> Outcomes:
        """The same without the columns of players and tags, once they are in a table: they are the most of it."""
        nobody = np.empty(0, np.int32)
        return replace(self, white=nobody, black=nobody, tags={})

    def finished(self) -> tuple[Codes, Codes, npt.NDArray[np.int8]]:
        """White, Black and outcome of the games that have a result."""
        use = self.counted
        if use.all():
            return self.white, self.black, self.outcome
        return self.white[use], self.black[use], self.outcome[use]

    def between(self, path: File, inside: bool, *, warn: bool = True) -> Outcomes:
        """Only games between the players named in a file, or only games between all others."""
        index = {name: i for i, name in enumerate(self.players)}
        named = np.zeros(len(self.players) + 1, np.bool_)
        for line, cells in read_rows(path, 1):
            name = self.aliases.get(cells[0], cells[0])
            if name in index:
                named[index[name]] = True
            elif warn:
                warnings.warn(f'{path}, line {line}: no games of "{cells[0]}".', AssayWarning, stacklevel=2)
        let_in = named if inside else ~named
        return self.leaving_out(~(let_in[self.white] & let_in[self.black]))

    def without_draws(self) -> Outcomes:
        """Only games that somebody won."""
        return self.leaving_out(self.outcome == 1)

    def endings(self) -> dict[str, int]:
        """How the games that count ended, by the texts of their Termination tags, the most frequent first."""
        codes, values = self.tags.get(TERMINATION, (np.empty(0, np.int32), []))
        some = codes[self.counted] if len(codes) else codes
        counts: Counter[str] = Counter()
        for value, count in zip(values, np.bincount(some[some >= 0], minlength=len(values)).tolist(), strict=True):
            counts[value.strip().lower()] += count
        return {ending: count for ending, count in counts.most_common() if count and ending}

    def without_endings(self, endings: Sequence[str], *, warn: bool = True) -> Outcomes:
        """Only games whose Termination tag is none of these (small and capital letters are the same)."""
        if not endings:
            return self
        known, leave = self.endings(), {ending.strip().lower() for ending in endings}
        for ending in sorted(leave - set(known)) if warn else ():
            there = ", ".join(f'"{name}"' for name in known) or "none is told"
            warnings.warn(f'no game ended by "{ending}"; the terminations are: {there}.', AssayWarning, stacklevel=2)
        codes, values = self.tags[TERMINATION]
        unwanted = np.array([*(value.strip().lower() in leave for value in values), False])
        return self.leaving_out(unwanted[codes] & self.counted)

    def kinds(self, by: GameKind) -> tuple[Codes, list[str]]:
        """What kind of game each one is, as codes and names: by pool, by speed or by time control.

        The tags `KIND_TAGS` have to be asked for when the games are read.
        """
        from assay.pools import clock_of, pool_of

        told = [self.tags[tag] for tag in KIND_TAGS]
        known = np.stack([codes for codes, _ in told], axis=1)
        each, which = np.unique(known, axis=0, return_inverse=True)
        values = [[*texts, ""] for _, texts in told]  # the last one where a game lacks the tag
        rows = [[texts[code] for texts, code in zip(values, row, strict=True)] for row in each.tolist()]
        make: dict[GameKind, Callable[[str, str, str], str]] = {
            "pool": pool_of,
            "speed": lambda *tags: clock_of(*tags)[2] or "unknown",
            "time-control": lambda site, event, control: control.strip() if control.strip(" ?") else "unknown",
        }
        names: dict[str, int] = {}
        codes = np.array([names.setdefault(make[by](*row), len(names)) for row in rows], np.int32)
        return codes[which.ravel()], list(names)

    def of_two(self, first: str, second: str) -> Outcomes:
        """Only the games of two players with each other."""
        numbers = [self.players.index(name) for name in (first, second)]
        there = np.isin(self.white, numbers) & np.isin(self.black, numbers) & (self.white != self.black)
        return self.leaving_out(~there)

    def written(self, games: Bools) -> Iterator[str]:
        """These games as PGN: White, Black, Result and the tags that were asked for, without moves."""
        names = [_quoted(name) for name in self.players]
        more = [(tag, codes, [_quoted(value) for value in values]) for tag, (codes, values) in self.tags.items()]
        for game in np.flatnonzero(games).tolist():
            result = WRITTEN[self.outcome[game]]
            tags = "".join(f'[{tag} "{values[codes[game]]}"]\n' for tag, codes, values in more if codes[game] >= 0)
            yield (
                f'[White "{names[self.white[game]]}"]\n[Black "{names[self.black[game]]}"]\n[Result "{result}"]\n'
                f"{tags}\n{result}\n\n"
            )

    def leaving_out(self, games: Bools) -> Outcomes:
        return replace(self, outcome=np.where(games, _OUT, self.outcome).astype(np.int8))


def the_two(found: Outcomes, names: Sequence[str] | None = None) -> tuple[str, str]:
    """The two players of a match: those named, or the only two; else an error that says who there is."""
    white, black, _ = found.finished()
    if names is not None:
        if len(names) != 2 or names[0] == names[1]:
            raise InputError("a match has two players: give two names.")
        for name in names:
            if name not in found.players:
                hint = did_you_mean(nearest(name, found.players))
                raise InputError(f"there are no games of {name!r}.{hint}")
        return names[0], names[1]
    if not len(white):
        raise InputError("there are no games with a result.")
    there = np.unique(np.concatenate((white, black)))
    if len(there) == 2:
        return found.players[there[0]], found.players[there[1]]
    many = len(found.players)
    keys, counts = np.unique(np.minimum(white, black) * np.int64(many) + np.maximum(white, black), return_counts=True)
    most = divmod(int(keys[np.argmax(counts)]), many)
    raise InputError(
        f"there are {len(there):,} players: name the two (--players). Most games, {counts.max():,}, were played by "
        f'"{found.players[most[0]]}" and "{found.players[most[1]]}".'
    )


def _quoted(text: str) -> str:
    """A text as it stands in a tag."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def columns_given(what: Any) -> Any:
    """Three columns (White, Black, result), as a tuple or by name, as a frame that can be read; else what was given.

    Results are texts such as "1-0", or White's scores.

    >>> columns_given((["Anna"], ["Ben"], ["1-0"])).columns
    ['white', 'black', 'result']
    """
    if isinstance(what, Mapping):
        columns = {str(name).lower(): values for name, values in what.items()}
    elif isinstance(what, tuple) and len(what) == 3 and not any(isinstance(part, str | PathLike) for part in what):
        columns = dict(zip(("white", "black", "result"), what, strict=True))
    else:
        return what
    import polars as pl

    lists = {name: np.asarray(values).tolist() for name, values in columns.items()}
    if len({len(values) for values in lists.values()}) != 1:
        told = ", ".join(f"{name} {len(values):,}" for name, values in lists.items())
        raise InputError(f"columns of games have one length, not {told}.")
    missing = {name: [None if value != value else value for value in values] for name, values in lists.items()}
    return pl.DataFrame(missing, strict=False)


def score_of(result: str | None) -> float | None:
    """What White scored by the text of a result, however a draw is written; None where it tells no score.

    >>> score_of("1-0"), score_of("1/2"), score_of("*"), score_of(None)
    (1.0, 0.5, None, None)
    """
    return SCORES.get((result or "").strip())


@dataclass
class _Source:
    """Columns of codes and their values; -1 where a game lacks the tag.

    `moves` are fingerprints of the moves, or what says that they are to be looked up by `look`, for these games. `read`
    reads the moves of these games and their number, where nothing is known of them yet. `files` are numbers of the
    files that the games come from, `lies` of their places there (0 where that is not known).
    """

    codes: dict[str, Codes]
    values: dict[str, list[str]]
    problems: Counter[str] = field(default_factory=Counter)
    moves: Numbers = field(default_factory=lambda: np.empty(0, np.uint64))
    plies: Codes = field(default_factory=lambda: np.empty(0, np.int32))
    look: Callable[[Places], Numbers | None] | None = None
    read: Callable[[Places], Fingerprints] | None = None
    files: Numbers = field(default_factory=lambda: np.empty(0, np.uint64))
    lies: Numbers = field(default_factory=lambda: np.empty(0, np.uint64))

    @property
    def games(self) -> int:
        return len(self.codes["White"])


def read_outcomes(
    paths: Paths,
    *,
    where: str | None = None,
    names: Mapping[str, str] | None = None,
    aliases: File | None = None,
    lenient: bool = False,
    openings: bool = False,
    tags: Sequence[str] = (),
    strict: bool = False,
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> Outcomes:
    """Read the results of all games that the filter lets through, from PGN files, folders and indexes.

    What cannot be read is counted by reason, and with `strict` an error. `names` are those of files that are copies.

    `aliases` is a file of rows main,other,...; `lenient` only warns of names in it that nobody bears. `tags` are more
    tags to keep, `openings` numbers the openings, where games tell them.
    """
    more = (*(OPENING_TAGS if openings else ()), *(() if keep_duplicates else COPY_TAGS), *tags)
    wanted = tuple(dict.fromkeys((*TAGS, *ID_TAGS, *more)))
    files = find_files(paths)
    # Only the thorough reader knows more than who won; that a file tells no terminations the quick one can tell.
    thorough = openings or where is not None or not set(tags) <= {TERMINATION}
    each = files if keep_duplicates else _each_once(files)
    sources = [*_sources(each, wanted, where, names or {}, quiet, thorough)]
    merged = _merge(sources, wanted)
    source = _by_person(merged)
    present = {*merged.values["White"], *source.values["White"]}
    names = read_aliases(aliases, present, lenient=lenient) if aliases else {}
    results = _results(source, names, openings, None if keep_duplicates else _first_of(source, sources, names))
    results = replace(results, tags={tag: (source.codes[tag], source.values[tag]) for tag in tags})
    if strict and results.skipped:
        raise InputError(f"with --strict nothing may be left out: {described(results.skipped)}.")
    return results


def _first_of(source: _Source, sources: Sequence[_Source], aliases: Mapping[str, str]) -> Places | None:
    """For each game the first of which it is a copy, itself if it is new; None if there are no copies."""
    if not any(part.read or part.plies.any() or part.values["Date"] or part.lies.any() for part in sources):
        return None
    from assay.games.duplicates import UNREAD, first_there, instead_of_moves, may_meet_again, repeats

    starts = np.concatenate(([0], np.cumsum([part.games for part in sources])))
    tags = _told_by(source, aliases)
    files, lies = (np.concatenate([getattr(part, name) for part in sources]) for name in ("files", "lies"))
    if any(part.read for part in sources):
        there = first_there(lies)
        new = np.flatnonzero(there == np.arange(len(there)))
        again = new[may_meet_again({tag: (codes[new], values) for tag, (codes, values) in tags.items()}, len(new))]
        if not len(again) and len(new) == len(there):
            return None
        for part, start, end in zip(sources, starts[:-1], starts[1:], strict=True):
            mine = again[(again >= start) & (again < end)] - start
            if part.read and len(mine):
                part.moves[mine], part.plies[mine] = part.read(mine)
    moves, plies = (np.concatenate([getattr(part, name) for part in sources]) for name in ("moves", "plies"))

    def look(places: Places) -> Numbers:
        found = np.zeros(len(places), np.uint64)
        for part, start, end in zip(sources, starts[:-1], starts[1:], strict=True):
            mine = (places >= start) & (places < end)
            if mine.any():
                looked = None if part.look is None else part.look(places[mine] - start)
                found[mine] = instead_of_moves(tags, plies, places[mine]) if looked is None else looked
        return found

    first = repeats(tags, moves, plies, look if (moves == UNREAD).any() else None, files, lies)
    return first if (first != np.arange(len(first))).any() else None


def _told_by(source: _Source, aliases: Mapping[str, str]) -> dict[str, tuple[Codes, list[str]]]:
    """What tells copies of a game: its tags, with the main names of the players."""
    mains = [aliases.get(name, name) for name in source.values["White"]]
    return {
        tag: (source.codes[tag], mains if tag in ("White", "Black") else source.values[tag])
        for tag in (*TAGS, *COPY_TAGS)
    }


def _each_once(files: Sequence[str]) -> list[str]:
    """The files without those that are the same again, under whatever name: bare results cannot be told apart."""
    kept: list[str] = []
    by_size: dict[int, list[str]] = {}
    for file in files:
        alike = by_size.setdefault(-1 if file == STDIN else Path(file).stat().st_size, [])
        twin = next((other for other in alike if other == file or _are_alike(file, other)), None)
        if twin is None:
            alike.append(file)
            kept.append(file)
            continue
        named = "is named twice" if twin == file else f"is the same as {twin}"
        warnings.warn(f"{file} {named} and is read once; --keep-duplicates reads both.", AssayWarning, stacklevel=2)
    return kept


def _are_alike(one: str, other: str) -> bool:
    import filecmp

    return filecmp.cmp(one, other, shallow=False)


def _sources(
    files: Sequence[str],
    wanted: Sequence[str],
    where: str | None,
    names: Mapping[str, str],
    quiet: bool,
    thorough: bool,
) -> Iterator[_Source]:
    """The columns of each file, in the order of the command line."""
    indexed = _indexed(files) if "Date" in wanted else {}
    for number, file in enumerate(files):
        if is_index(file):
            yield _filled(_from_index(file, wanted, where), wanted, number)
            continue
        # Copies are told by moves, rounds and places: files that need these need the thorough reader then.
        plain = None
        if not thorough and file not in indexed:
            plain = read_plain(file, bare="Date" in wanted, ended=TERMINATION in wanted)
        if plain is None:
            yield _filled(_from_tags(file, wanted, where, names, quiet, indexed.get(file)), wanted, number)
            continue
        players = [unescape(decode(value)) for value in plain.players]
        results = [decode(value) for value in plain.results]
        source = _Source(
            {"White": plain.white, "Black": plain.black, "Result": plain.result},
            {"White": players, "Black": players, "Result": results},
        )
        yield _filled(source, wanted, number)


def _indexed(files: Sequence[str]) -> dict[str, str]:
    """The hashes of those of the files that one of the indexes among them was made from."""
    if not any(map(is_index, files)) or all(map(is_index, files)):
        return {}
    from assay.games.catalog import open_index

    hashes: dict[int, set[str]] = {}
    for file in filter(is_index, files):
        with suppress(InputError):  # what is wrong with it is said when it is read
            for about in open_index(file).inputs.values():
                hashes.setdefault(about.get("bytes", -1), set()).add(about.get("xxh128", ""))
    found = {}
    for file in files:
        if not is_index(file) and file != STDIN and (known := hashes.get(Path(file).stat().st_size)):
            content = content_hash(file)
            if content in known:
                found[file] = content
    return found


def _filled(source: _Source, wanted: Sequence[str], number: int) -> _Source:
    """The source with empty columns for what it does not tell; `number` is its own."""
    games = source.games
    # An index tells of several files.
    source.files = np.full(games, number << 32, np.uint64) + (source.files if len(source.files) else np.uint64(0))
    if len(source.lies) != games:
        source.lies = np.zeros(games, np.uint64)
    for tag in wanted:
        if tag not in source.codes:
            source.codes[tag], source.values[tag] = np.full(games, -1, np.int32), []
    if len(source.moves) != games:
        source.moves, source.plies = np.zeros(games, np.uint64), np.zeros(games, np.int32)
    return source


def _from_tags(
    file: str, wanted: Sequence[str], where: str | None, names: Mapping[str, str], quiet: bool, content: str | None
) -> _Source:
    # Files that are not plain need the thorough reader, and that needs Arrow.
    from assay.games.tags import ENDLESS, LATIN1, read_tags

    copies = "Date" in wanted
    tags = read_tags(file, wanted, where=where, names=names, moves=copies and file == STDIN, quiet=quiet)
    # What leaves a tag missing is counted with the missing tags.
    harmless = (ENDLESS, LATIN1, OUTSIDE, UNTAGGED)
    problems = Counter({why: count for why, count in tags.problems.items() if why not in harmless})
    source = _Source(dict(tags.codes), {tag: list(tags.values[tag]) for tag in wanted}, problems)
    if tags.moves is not None:
        source.moves, source.plies = tags.moves
    elif copies:
        source.read = lambda places: _played(file, tags.starts[places], tags.ends[places])
    if content is not None:
        from assay.games.duplicates import places_in

        source.lies = places_in([content], np.zeros(tags.games, np.int32), tags.starts)
    return source


def _played(file: str, starts: Places, ends: Places) -> Fingerprints:
    """The moves of the games of a file that lie here, as numbers: of nearly all games nobody needs them."""
    from assay.games.movetext import Fingerprints, fingerprints_of

    with Stream(file) as stream:
        try:
            games = pick(stream, file, zip(starts.tolist(), ends.tolist(), strict=True))
            found = [fingerprints_of(some) for some in batched(games, _BATCH)]
        except InputError as error:
            raise InputError(f"{file} has changed while it was read; run the command again.") from error
    return Fingerprints(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _from_index(path: str, wanted: Sequence[str], where: str | None) -> _Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from assay.games.catalog import collect, contents_of, note_index, open_index, reading
    from assay.games.columns import TEXT_TAGS
    from assay.games.where import compile_where
    from assay.manifest import check_stamp

    file = Path(path)
    if file.suffix == INDEX_SUFFIX:
        try:
            check_stamp(file)
            names = set(pq.read_schema(path).names)
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"cannot read {path}: {error}.") from error
        if not {"white", "black", "result"} <= names:
            raise InputError(f"{path} is not an index of games: it has no columns white, black and result.")
    else:
        names = set(open_index(path).rows.collect_schema().names())
    columns = {tag: column for column, tag in TEXT_TAGS.items() if tag in wanted and column in names}
    # A table of others may have ids, which an index has not.
    columns |= {tag: tag.lower() for tag in wanted if tag not in columns and tag.lower() in names}
    copies = "Date" in wanted and {"plies", "source", "start_offset", "end_offset"} <= names
    read = [*columns.values(), *(["plies", "source", "start_offset"] if copies else [])]
    contents: dict[str, str] = {}
    rows: Places | None = None
    if where is None and file.suffix == INDEX_SUFFIX:
        with reading([file]):
            table = pq.read_table(path, columns=read)
        with suppress(InputError):  # a table that says nothing of what it is made from is as good here
            index = open_index(path)
            note_index(index)
            contents = contents_of(index)
    else:
        index = open_index(path)
        note_index(index)
        contents = contents_of(index)
        numbered = index.rows.with_row_index("row").filter(compile_where(where or "True"))
        chosen = collect(numbered.select("row", *read), [index])
        rows = chosen["row"].to_numpy().astype(np.int64)
        table = chosen.select(read).to_arrow()
    source = _Source({"White": np.full(table.num_rows, -1, np.int32)}, {"White": []})

    def coded(name: str) -> tuple[Codes, list[str]]:
        chunks = table.column(name).cast(pa.dictionary(pa.int32(), pa.string())).unify_dictionaries().chunks
        if not chunks:
            return np.empty(0, np.int32), []
        indices = pa.concat_arrays([chunk.indices for chunk in chunks]).fill_null(-1)
        return indices.to_numpy(zero_copy_only=False).astype(np.int32), chunks[0].dictionary.to_pylist()

    for tag, column in columns.items():
        source.codes[tag], source.values[tag] = coded(column)
    if copies:
        from assay.games.duplicates import UNREAD, places_in

        codes, names_of_files = coded("source")
        source.files = (codes + 1).astype(np.uint64)
        offsets = table.column("start_offset").fill_null(-1).to_numpy()
        source.lies = places_in([contents.get(name, "") for name in names_of_files], codes, offsets)
        source.plies = table.column("plies").fill_null(0).to_numpy().astype(np.int32)
        source.moves = np.where(source.plies > 0, UNREAD, np.uint64(0))
        source.look = lambda places: _moves_of(path, places if rows is None else rows[places])
    return source


def _moves_of(path: str, places: Places) -> Numbers | None:
    """The moves of these games of an index, as numbers; None, with a warning, where the games cannot be read."""
    from assay.games.catalog import collect, moves_of, open_index
    from assay.games.duplicates import warn_without_moves

    index = open_index(path)
    try:
        spans = collect(index.rows.select("source", "start_offset", "end_offset"), [index])[places]
        return moves_of(index, spans)
    except InputError as error:
        warn_without_moves(error)
        return None


def _merge(sources: list[_Source], wanted: Sequence[str]) -> _Source:
    """One source out of many; White and Black share their values, and spaces about a name are no part of it."""
    for source in sources:
        for tag in ("White", "Black"):
            source.values[tag] = [name.strip() for name in source.values[tag]]
    if len(sources) == 1:
        names = sources[0].values["White"]
        # Two spellings of a name, in UTF-8 and Latin-1 or with a space behind it, may now be one.
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


def _by_person(source: _Source) -> _Source:
    """One name for each person: several spellings of one FIDE id are one, several ids of one name are several."""
    if not any((source.codes[tag] >= 0).any() for tag in ID_TAGS):
        return source
    from assay.games.people import id_of, names_of

    names = source.values["White"]
    pairs: list[npt.NDArray[np.int64]] = []
    numbers: dict[int | None, int] = {None: 0}
    for side in ("White", "Black"):
        tag = f"{side}FideId"
        known = [numbers.setdefault(id_of(value), len(numbers)) for value in source.values[tag]]
        ids = np.array([*known, 0], np.int64)[source.codes[tag]]
        pairs.append(source.codes[side].astype(np.int64) * (1 << 31) + ids)
    kinds, where, counts = np.unique(np.concatenate(pairs), return_inverse=True, return_counts=True)
    listed = list(numbers)
    who = [(names[kind >> 31], listed[kind & ((1 << 31) - 1)]) if kind >= 0 else None for kind in kinds.tolist()]
    told = names_of({pair: int(count) for pair, count in zip(who, counts, strict=True) if pair is not None})
    shown: dict[str, int] = {}
    codes = np.array([-1 if pair is None else shown.setdefault(told[pair], len(shown)) for pair in who], np.int32)
    white, black = np.split(codes[where.ravel()], 2)
    values = source.values | {"White": list(shown), "Black": list(shown)}
    return replace(source, codes=source.codes | {"White": white, "Black": black}, values=values)


def _results(source: _Source, aliases: Mapping[str, str], openings: bool, first: Places | None) -> Outcomes:
    names = source.values["White"]
    white, black, result = (source.codes[tag] for tag in TAGS)
    nobody = np.array([name in ("", "?") for name in names] + [True])
    outcome = np.array([*map(_outcome, source.values["Result"]), _OUT], np.int8)[result]
    skipped = Counter(source.problems)
    there = np.ones(len(white), np.bool_)
    duplicates = None
    if first is not None:
        from assay.games.duplicates import duplicates_of

        duplicates = duplicates_of(first, _told_by(source, aliases))
        there = first == np.arange(len(first))
        # A copy may tell the result that the first lacks.
        for copy in np.flatnonzero(~there)[::-1].tolist():
            if outcome[first[copy]] == _UNFINISHED and outcome[copy] >= 0:
                outcome[first[copy]] = outcome[copy]
    for tag in TAGS:
        if missing := int(np.count_nonzero(there & (source.codes[tag] < 0))):
            skipped[f"no {tag} tag"] += missing
            there &= source.codes[tag] >= 0
    named = (white >= 0) & (black >= 0)
    if first is not None:
        named &= first == np.arange(len(first))
    if nobody[:-1].any():
        unknown = there & (nobody[white] | nobody[black])
        skipped[UNKNOWN_PLAYER] += int(np.count_nonzero(unknown))
        named &= ~(nobody[white] | nobody[black])
    if not named.all():
        outcome[~named] = _OUT
    unknown_results = result[named & (outcome == _UNKNOWN)]
    for code in np.flatnonzero(np.bincount(unknown_results)).tolist():
        text = source.values["Result"][code]
        skipped[f'unknown result "{text}"'] += int(np.count_nonzero(named & (result == code)))
    myself = named & (white == black) & (outcome >= 0)
    if count := int(np.count_nonzero(myself)):
        skipped[SELF_PLAY] += count
        outcome[myself] = _OUT
    players, number = _number(names, white, black, named, aliases)
    white, black = number[white], number[black]
    unfinished = int(np.count_nonzero(outcome == _UNFINISHED))
    found = _openings(source, len(white)) if openings else None
    return Outcomes(players, white, black, outcome, skipped, unfinished, found, aliases, duplicates)


def _outcome(text: str) -> int:
    score = score_of(text)
    if score is None:
        return _UNFINISHED if text.strip() == UNFINISHED else _UNKNOWN
    return round(2 * score)


def _number(
    names: Sequence[str], white: Codes, black: Codes, named: Bools, aliases: Mapping[str, str]
) -> tuple[tuple[str, ...], Codes]:
    """Players by first appearance, and the number of each code (-1 for those who never play)."""
    main: dict[str, int] = {}
    whose = np.array([main.setdefault(aliases.get(name, name), len(main)) for name in names], np.int64)
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


def _openings(source: _Source, games: int) -> npt.NDArray[np.int64] | None:
    """A number for each opening; games that do not tell theirs have numbers of their own. None if none is told."""
    columns = np.stack([source.codes[tag] for tag in OPENING_TAGS], axis=1).astype(np.int64)
    # A position says it all; the names of openings serve where there is none.
    columns[columns[:, 0] >= 0, 1:] = -1
    known = (columns >= 0).any(axis=1)
    if not known.any():
        return None
    numbers = -1 - np.arange(games, dtype=np.int64)
    numbers[known] = np.unique(columns[known], axis=0, return_inverse=True)[1].ravel()
    return numbers
