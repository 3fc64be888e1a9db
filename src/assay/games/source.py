"""The games of files, folders, indexes, stdin and services: the one way in, for every command and for the library.

What is asked decides how deep the files are read: rows of tags, results alone, the text of each game, or its moves. All
of it can be asked again. What can be read only once (stdin, pipes) is copied to a temporary file, which goes with the
games.
"""

from __future__ import annotations

import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.errors import AssayWarning, InputError, OutputError, WhereError
from assay.games.split import Game, Split, batched, splits
from assay.games.stream import STDIN, Paths, Stream, find_files, is_elsewhere, is_index, is_name
from assay.paths import shown
from assay.records import dataclass
from assay.table import reasons

if TYPE_CHECKING:
    import polars as pl

    from assay.games.catalog import Index
    from assay.games.duplicates import Duplicates
    from assay.games.outcomes import Outcomes
    from assay.games.parse import GameArrays
    from assay.games.trf import Tournament


@dataclass(frozen=True)
class Source:
    """A file that games were read from: its name, its size in bytes, its hash."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Counted:
    """Games in order, the places of those that count, and which occur again and do not."""

    games: list[Game]
    places: list[int]
    duplicates: Duplicates

    @property
    def once(self) -> list[Game]:
        """The games that count."""
        return [self.games[place] for place in self.places]


@dataclass(frozen=True)
class _File:
    """A file as it was named, in letters that can be printed, and where it can be read."""

    name: str
    place: str

    @property
    def is_index(self) -> bool:
        return is_index(self.place)


def read(*paths: Paths | Games, where: str | None = None) -> Games:
    """The games of these files, of which nothing is read until it is asked for.

    A path is a PGN file, plain or packed (.zst, .gz, .bz2, .xz, .zip), in UTF-8, UTF-16 or Latin-1; a folder of such
    files; an index made by `assay index`; a FIDE tournament report (.trf), which completes the games beside it; a table
    of results (.csv, .parquet, or a frame of polars or pandas) with white, black and result; "-" for stdin; or games
    elsewhere, such as "lichess:USER/rapid?max=50" or a link (docs/fetch.md). `where` is a filter over the columns of an
    index (docs/games.md), the same for all of them.

    >>> from assay.games.archives import write_samples
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     games = read(write_samples(folder)[:2], where="white_elo > 2300")
    ...     len(list(games)), games.frame["white"].n_unique()
    (6, 2)
    """
    if len(paths) == 1 and isinstance(paths[0], Games):
        given = paths[0]
        both = " and ".join(f"({each})" for each in (given.where, where) if each is not None)
        return given if where is None else Games(given.files, both, given, given._frames)
    frames: dict[str, Any] = {}
    files = find_files(paths, frames)  # type: ignore[arg-type]  # lists among them are looked into
    if not files:
        raise InputError("no file is named: give the path of a PGN file, a folder or an index, or '-' for stdin.")
    return Games(tuple(files), where, _frames=frames)


def named_games(what: Any) -> Iterable[Any]:
    """Games as they were given, or those of the files whose names were given in their place."""
    if is_name(what, alone=True):
        return read(what)
    if not isinstance(what, Iterable) or isinstance(what, str | bytes):
        raise InputError(f"{what!r:.80} is no list of games and names no file: see assay.read.")
    named = isinstance(what, Sequence) and len(what) and all(is_name(each, alone=False) for each in what)
    return read(what) if named else what


@dataclass(frozen=True, eq=False, repr=False)
class Games:
    """Games of files in the order of the files; made by :func:`read`, walked as often as you like.

    `files` are named as they were given, or found in folders.

    >>> from assay.paths import SAMPLE
    >>> games = read(SAMPLE, where='white == "Deep Blue"')
    >>> [game.tags["Round"] for game in games], games.frame["plies"].to_list()
    (['2', '4', '6'], [89, 111, 37])
    """

    files: tuple[str, ...]
    where: str | None = None
    _same: Games | None = None  # the same files with less of a filter
    _frames: Mapping[str, Any] = field(default_factory=dict)  # tables of results that were given themselves
    _found: dict[str, Counter[str]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.where, str | None):
            raise WhereError(f"{self.where!r:.80} is no filter: write it as text, such as 'white_elo > 2000'.")
        if self.where is not None:  # what is wrong with a filter is said before anything is read
            from assay.games.where import compile_where

            compile_where(self.where)

    def __repr__(self) -> str:
        where = "" if self.where is None else f", where={self.where!r}"
        return f"read({', '.join(map(repr, self.files))}{where})"

    @property
    def problems(self) -> Counter[str]:
        """What was wrong with the files by reason, as far as they have been walked."""
        return sum(self._found.values(), Counter())

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Name, size and hash of each file."""
        from assay.manifest import describe_inputs

        described = describe_inputs(file.place for file in self._files)
        names = [_called(file.name) for file in self._files]
        return tuple(Source(**one | {"name": name}) for name, one in zip(names, described, strict=True))

    @property
    def named(self) -> str:
        """What to call the files in a sentence."""
        return shown(self.files[0]) if len(self.files) == 1 else f"these {len(self.files)} files"

    def __iter__(self) -> Iterator[Game]:
        """Each game with its tags and text, file after file; nothing is held."""
        for file in self._files:
            problems = self._found[file.name] = Counter()
            if file.is_index:
                yield from self._from_index(file)
            else:
                for part, chosen in self._parts(file, problems):
                    yield from _cut(file.name, part, chosen)

    def all(self) -> list[Game]:
        """The games in a list, one name for each person who has a FIDE id; that there are none is an
        :class:`~assay.errors.InputError`."""
        from assay.games.people import joined

        games = joined(list(self))
        if not games:
            raise self.no_games()
        return games

    def no_games(self) -> InputError:
        """What to raise where there are none: a sentence that says why."""
        if self.where is not None:
            return InputError(f"no game of {self.named} fits --where {self.where!r}.")
        why = f" ({', '.join(self.problems)})" if self.problems else ""
        return InputError(f"there is no game in {self.named}{why}.")

    def counted(self, *, keep_duplicates: bool = False) -> Counted:
        """All games in a list, and which of them count: a game that occurs again does not, unless duplicates are kept.

        That there are none is an :class:`~assay.errors.InputError`.
        """
        from assay.games.duplicates import Seen

        games, seen = self.all(), Seen()
        return Counted(
            games, [at for at, game in enumerate(games) if keep_duplicates or seen.add(game)], seen.duplicates
        )

    def tagged(self, batch: int = 2_000) -> Iterator[tuple[list[Game], pl.DataFrame]]:
        """So many games at a time, with their rows: the columns of an index."""
        import polars as pl
        from polars import selectors

        from assay.games.catalog import PART, collect, games_of, open_indexes, rows_of
        from assay.games.columns import rows

        for file in self._files:
            problems = self._found[file.name] = Counter()
            if file.is_index:
                opened = open_indexes([file.place])
                frame = collect(rows_of(opened, self.where).sort("source", "start_offset", maintain_order=True), opened)
                for at, games in enumerate(batched(games_of(opened, frame), batch)):
                    yield games, frame[at * batch : at * batch + len(games)].drop(PART)
                continue
            for part, chosen in self._parts(file, problems):
                whole = isinstance(chosen, slice)
                frame = pl.DataFrame(pl.from_arrow(rows(part, file.name, problems if whole else Counter())))
                frame = frame if isinstance(chosen, slice) else frame.filter(pl.Series(chosen))
                some = _cut(file.name, part, chosen)
                for at, games in enumerate(batched(some, batch)):
                    tags = frame[at * batch : at * batch + len(games)]
                    yield games, tags.with_columns(selectors.categorical().cast(pl.String))

    def plies(self, batch: int = 2_000) -> Iterator[tuple[list[Game], GameArrays]]:
        """So many games at a time, with their moves as arrays."""
        from assay.games.parse import to_arrays

        for games in batched(iter(self), batch):
            yield games, to_arrays(games)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """A row per game: the columns of an index, typed, and `avg_elo`, the mean of both ratings."""
        import polars as pl

        from assay.games.catalog import PART, collect, rows_of
        from assay.games.where import AVERAGE

        mean = (pl.col("white_elo").cast(pl.Float64) + pl.col("black_elo")) / 2
        rows = rows_of(self.indexes, self.where).drop(PART).with_columns(mean.alias(AVERAGE))
        return collect(rows, self.indexes)

    def rows(self, *, keep_duplicates: bool = False) -> tuple[pl.LazyFrame, Duplicates]:
        """The rows of the games that count, still on disk (see `indexes`); and which occur again and do not."""
        from assay.games.catalog import once, rows_of
        from assay.games.duplicates import Duplicates

        rows = rows_of(self.indexes, self.where)
        return (rows, Duplicates()) if keep_duplicates else once(self.indexes, rows)

    @cached_property
    def indexes(self) -> list[Index]:
        """The files as indexes: those that are none are indexed for the time being."""
        from assay.games.catalog import open_indexes
        from assay.games.indexing import index

        if self._same is not None:
            return self._same.indexes
        opened: list[Index] = []
        for indexed, group in groupby(self._files, key=lambda file: file.is_index):
            files = list(group)
            if indexed:
                opened += open_indexes([file.place for file in files])
                continue
            path = self._folder / f"{len(opened)}.parquet"
            made = index([file.place for file in files], path, names={file.place: file.name for file in files})
            for source in made.sources:
                self._found[source.source] = source.problems + Counter([source.damage] if source.damage else [])
            opened += open_indexes([path], {file.name: Path(file.place) for file in files})
        return opened

    def outcomes(self, **how: Any) -> Outcomes:
        """White, Black and result of the games as codes; see :func:`assay.games.outcomes.read_outcomes`."""
        from assay.games.outcomes import read_outcomes

        names = {file.place: file.name for file in self._files}
        return read_outcomes([file.place for file in self._files], where=self.where, names=names, **how)

    @cached_property
    def _files(self) -> tuple[_File, ...]:
        """Where the files can be read, again and again."""
        if self._same is not None:
            return self._same._files
        places: dict[str, str] = {}
        for name in self.files:
            if name not in places:
                if name in self._frames:
                    places[name] = _tabled(self._frames[name], self._folder / f"frame-{len(places)}.pgn")
                elif name != STDIN and Path(name).is_file():
                    places[name] = name
                    if is_index(name) and (table := _table(name)) is not None:
                        places[name] = _tabled(table, self._folder / f"table-{len(places)}.pgn")
                elif is_elsewhere(name):
                    places[name] = fetched(name, self._folder / f"fetched-{len(places)}.pgn")
                else:
                    places[name] = _copied(name, self._folder / f"piped-{len(places)}")
        files = [_File(shown(name), places[name]) for name in self.files]
        return tuple(self._completed(files) if any(_is_report(file.name) for file in files) else files)

    def everything(self) -> Iterator[Game]:
        """All games, whatever the filter."""
        return iter(Games(self.files, None, self) if self.where is not None else self)

    def rewritten(self, change: Callable[[Game], bytes]) -> Games:
        """The same games with other texts, what `change` makes of each; the filter looks at these."""
        by_file: dict[str, list[bytes]] = {file.name: [] for file in self._files}
        for game in self.everything():
            by_file.setdefault(game.source, []).append(change(game).strip() + b"\n")
        made = Games(self.files, self.where)
        files = []
        for number, (name, texts) in enumerate(by_file.items()):
            place = made._folder / f"rewritten-{number}.pgn"
            if _write(texts, place):
                files.append(_File(name, str(place)))
        made.__dict__["_files"] = tuple(files) or self._files  # what is cached there
        made._found.update(self._found)
        return made

    @cached_property
    def tournaments(self) -> tuple[Tournament, ...]:
        """What the tournament reports among the files say."""
        if self._same is not None:
            return self._same.tournaments
        reports = [name for name in self.files if _is_report(name)]
        if not reports:
            return ()
        from assay.games.trf import read_trf

        return tuple(read_trf(name, name=shown(name)) for name in reports)

    def _completed(self, files: list[_File]) -> list[_File]:
        """The files with the tournament reports among them as games, and the games beside them completed."""
        from assay.games.completing import Completer, Remarks, completed

        completers, remarks = [Completer(each) for each in self.tournaments], Remarks()
        made: list[_File] = []
        for number, file in enumerate(file for file in files if not _is_report(file.name)):
            if file.is_index:
                raise InputError(f"{file.name} is an index; give the games themselves beside a tournament report.")
            place = self._folder / f"completed-{number}.pgn"
            _write(completed(Games((file.place,)), completers, remarks), place)
            made.append(_File(file.name, str(place)))
        for number, each in enumerate(completers):
            place = self._folder / f"report-{number}.pgn"
            if _write(list(each.rest()), place):
                made.append(_File(each.tournament.source, str(place)))
            self._found[each.tournament.source] = each.tournament.problems
            if each.tournament.named:
                remarks.add(f"Broken in {each.tournament.source}", "; ".join(each.tournament.named[:3]))
        if not made:
            why = reasons(sum((each.unplayed + each.problems for each in self.tournaments), Counter()))
            raise InputError(f"there is no game in {self.named}{f' ({why})' if why else ''}.")
        for remark in remarks:
            warnings.warn(remark, AssayWarning, stacklevel=2)
        return made

    @cached_property
    def _folder(self) -> Path:
        """A folder for what is kept as long as these games are."""
        import shutil
        import tempfile

        folder = tempfile.mkdtemp(prefix="assay-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def _parts(self, file: _File, problems: Counter[str]) -> Iterator[tuple[Split, npt.NDArray[np.bool_] | slice]]:
        """The games of a PGN file, buffer by buffer, and which of them the filter lets through."""
        choose: Callable[[Split], npt.NDArray[np.bool_]] | None = None
        if self.where is not None:
            from assay.games.where import chooser

            choose = chooser(self.where, file.name, problems)
        with Stream(file.place, name=file.name) as stream:
            for part in splits(stream, problems):
                yield part, slice(None) if choose is None else choose(part)
            if stream.problem:
                problems[stream.problem] += 1

    def _from_index(self, file: _File) -> Iterator[Game]:
        from assay.games.catalog import SPAN, collect, games_of, open_indexes, rows_of

        opened = open_indexes([file.place])
        yield from games_of(opened, collect(rows_of(opened, self.where).select(SPAN), opened))


def _cut(source: str, part: Split, chosen: npt.NDArray[np.bool_] | slice) -> Iterator[Game]:
    """The games of a buffer that were chosen."""
    for start, end in zip(part.starts[chosen].tolist(), part.ends[chosen].tolist(), strict=True):
        yield Game(source, part.base + start, part.base + end, part.data[start:end])


def _table(name: str) -> Any:
    """A table of results as a frame; None if the file is an index."""
    from assay.games.tabled import is_table, read_table

    return read_table(name) if is_table(name) else None


def _is_report(name: str) -> bool:
    """Whether a file is a tournament report."""
    if name.lower().endswith(".pgn"):
        return False
    from assay.games.trf import is_trf

    return is_trf(name)


def _write(texts: Iterable[bytes], place: Path) -> int:
    from assay.fetch.shelf import write

    return write(texts, place)


def _tabled(frame: Any, place: Path) -> str:
    """Write a table of results as games without moves."""
    from assay.games.tabled import games_of

    _write(games_of(frame), place)
    return str(place)


def _called(name: str) -> str:
    """What a file is called where its folder does not matter."""
    return "standard input" if name == STDIN else name if is_elsewhere(name) else Path(name).name


def fetched(name: str, place: Path) -> str:
    """Fetch games from elsewhere; what is kept of them from earlier is not asked for again."""
    from assay.fetch.fetching import fetch, needed

    told = partial(warnings.warn, category=AssayWarning, stacklevel=2)
    _write(needed(fetch(name, quiet=False, told=told)).texts, place)
    return str(place)


def _copied(name: str, place: Path) -> str:
    """Copy what can be read only once."""
    try:
        with Stream(name) as stream, place.open("wb") as file:
            for data in stream.raw():
                file.write(data)
    except OSError as error:
        raise OutputError(f"cannot keep a copy of {name} in {place.parent}: {error.strerror or error}.") from error
    return str(place)
