"""The lists that were added, by month; who had which rating on the day of a game; and games with these ratings: missing
tags filled, tags that differ named.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, OutputError
from assay.games import Game, Games
from assay.games.completing import UNKNOWN, Remarks, alike, with_tags
from assay.games.people import id_of
from assay.lists.fidelist import KINDS, NUMBERS, FideList, read_list
from assay.paths import File, atomic, data_folder
from assay.pools import is_online, pool_of
from assay.records import dataclass
from assay.table import Answer, Table, columns_of, counted

if TYPE_CHECKING:
    import polars as pl


_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])")
# When lists came: every month since July 2012, every second since July 2009, every third before.
_MONTHLY, _SECOND = "2012-07", "2009-07"
SIDES = ("White", "Black")
_DIFFER = "Ratings in the tags that differ from the list"


@dataclass(frozen=True)
class Added:
    """A list that was taken in."""

    path: Path
    month: str
    kinds: tuple[str, ...]
    players: int
    bytes: int
    problems: Counter[str]


@dataclass(frozen=True)
class ListEntry:
    """Somebody on a list, with the rating of one speed."""

    fide_id: int
    name: str
    federation: str | None
    title: str | None
    birth: int | None
    rating: int
    games: int | None
    k: int | None
    month: str


def folder() -> Path:
    """Where the lists are."""
    return data_folder() / "ratings"


def add(path: str | Path, *, month: str | None = None, kind: str | None = None) -> Added:
    """Take a downloaded list in; ratings of other kinds that are known of the month already stay."""
    import polars as pl

    found = read_list(path, kind=kind)
    month = month or found.month
    if month is None:
        raise InputError(f"neither {path} nor its name says of which month the list is: add --month, such as 2024-01.")
    if not _MONTH.fullmatch(month):
        raise InputError(f"{month!r:.40} is no month: write it like 2024-01.")
    target = folder() / f"{month}.parquet"
    players = found.players
    if target.exists():
        players = _merged(_read(target), found)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {target.parent}: {error.strerror or error}.") from error
    with atomic(target) as part:
        packed = players.with_columns(pl.col("federation", "title").cast(pl.Categorical))
        packed.write_parquet(part, compression="zstd", compression_level=6, statistics=False)
    _load.cache_clear()
    kinds = tuple(each for each in KINDS if players[each].is_not_null().any())
    return Added(target, month, kinds, players.height, target.stat().st_size, found.problems)


def _merged(old: pl.DataFrame, new: FideList) -> pl.DataFrame:
    """Both lists of a month in one: what the new one has takes the place of what was there."""
    import polars as pl

    fresh = [f"{kind}{part}" for kind in new.kinds for part in ("", "_games", "_k")]
    kept = [name for name in NUMBERS if name not in fresh]
    about = ("name", "federation", "title", "birth", "inactive")
    both = old.select("fide_id", *about, *kept).join(
        new.players.select("fide_id", *about, *fresh), on="fide_id", how="full", coalesce=True, suffix="_new"
    )
    both = both.with_columns(pl.coalesce(f"{name}_new", name).alias(name) for name in about)
    return both.select("fide_id", *about, *NUMBERS).sort("fide_id")


def _read(path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(path).with_columns(pl.col("federation", "title").cast(pl.String))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path} is damaged: add the list of that month again ({str(error).splitlines()[0]})."
        ) from error


def months() -> list[str]:
    """The months whose lists are here."""
    return sorted(file.stem for file in folder().glob("*.parquet") if _MONTH.fullmatch(file.stem))


def published(date: str) -> str | None:
    """The month of the list that was in force on a day, as PGN or ISO writes it; None if the day is not known.

    >>> published("2024.03.09"), published("2011-12-31"), published("2007.02.11"), published("2024.??.??")
    ('2024-03', '2011-11', '2007-01', None)
    """
    found = re.match(r"(\d{4})[.-](\d{2})", date)
    if found is None or not 1 <= int(found[2]) <= 12:
        return None
    year, month = int(found[1]), int(found[2])
    plain = f"{year}-{month:02}"
    if plain >= _MONTHLY:
        return plain
    every = 2 if plain >= _SECOND else 3
    return f"{year}-{(month - 1) // every * every + 1:02}"


@lru_cache(maxsize=2)
def _load(path: Path) -> pl.DataFrame:
    return _read(path)


class InForce:
    """The ratings of a month, for people who are asked for."""

    def __init__(self, month: str, ids: Collection[int], names: Iterable[str]) -> None:
        import polars as pl

        self.month = month
        frame = _load(folder() / f"{month}.parquet")
        wanted = {alike(name) for name in names}
        by_name = frame.clear().with_columns(alike=pl.lit("", pl.String))
        if wanted:
            plain = pl.col("name").str.to_lowercase().str.replace_all(r"[^\p{L}\d]+", " ").str.strip_chars()
            sorted_ = plain.str.split(" ").list.sort().list.join(" ")
            by_name = frame.with_columns(alike=sorted_).filter(pl.col("alike").is_in(list(wanted)))
        self.ids = {row["fide_id"]: row for row in frame.filter(pl.col("fide_id").is_in(list(ids))).to_dicts()}
        self.names: dict[str, list[dict[str, Any]]] = {}
        for row in by_name.to_dicts():
            self.names.setdefault(row["alike"], []).append(row)

    def find(self, fide_id: int | None, name: str, federation: str | None, kind: str) -> ListEntry | None:
        """The entry of somebody with a rating of this kind: by id, else by a name that only one has there.

        The federation decides between people of one name.
        """
        row = self.ids.get(fide_id) if fide_id is not None else None
        if row is None and fide_id is None:
            same = self.names.get(alike(name), [])
            own = [each for each in same if federation and each["federation"] == federation.upper()]
            chosen = own if len(own) == 1 else same if len(same) == 1 and (own or not federation) else []
            row = chosen[0] if chosen else None
        if row is None or row[kind] is None:
            return None
        about = {each: row[each] for each in ("fide_id", "name", "federation", "title", "birth")}
        return ListEntry(**about, rating=row[kind], games=row[f"{kind}_games"], k=row[f"{kind}_k"], month=self.month)


def add_ratings(files: File | Sequence[File], *, month: str | None = None, kind: str | None = None) -> Answer:
    """Take in FIDE's rating lists, as `assay ratings add` does: a row for each file.

    >>> import assay
    >>> assay.add_ratings("no-such-list.txt")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    rows, problems, remarks = [], Counter[str](), list[str]()
    for file in [files] if isinstance(files, str | PathLike) else files:
        made = add(Path(file), month=month, kind=kind)
        rows.append(
            {
                "file": str(file),
                "month": made.month,
                "ratings": ", ".join(made.kinds),
                "players": made.players,
                "bytes": made.bytes,
            }
        )
        problems += made.problems
        remarks += [f"assay: {file}: {count:,} x {reason}" for reason, count in made.problems.most_common()]
    shown = Table(rows, columns_of(("file", "month", "ratings", "players", "bytes")))
    return Answer(shown=shown, problems=problems, remarks=remarks)


def rating_lists() -> Answer:
    """The months whose rating lists of FIDE are here, as `assay ratings list` prints them.

    >>> import assay
    >>> assay.rating_lists().table.columns
    ['month', 'bytes']
    """
    rows = [{"month": month, "bytes": (folder() / f"{month}.parquet").stat().st_size} for month in months()]
    return Answer(shown=Table(rows, columns_of(("month", "bytes"))))


@dataclass(frozen=True)
class Filled:
    """Games with the ratings of lists, who was found there (the newest entry of each name), and what is to be said."""

    games: Games
    people: Mapping[str, ListEntry] = field(default_factory=dict)
    errors: Mapping[str, float] = field(default_factory=dict)  # of the ratings of each, the mean over the games
    remarks: tuple[str, ...] = ()


def error_of(entry: ListEntry) -> float:
    """The error of a rating on a list."""
    age = int(entry.month[:4]) - entry.birth if entry.birth is not None else None
    return rating_error(entry.rating, k=entry.k, age=age)


def kind_of(tags: Mapping[str, str]) -> str | None:
    """Which rating counts for a game: standard, rapid or blitz; None if it was played elsewhere than over a board."""
    pool = pool_of(tags.get("Site", ""), tags.get("Event", ""), tags.get("TimeControl", ""))
    if is_online(pool):
        return None
    return {"otb-rapid": "rapid", "otb-blitz": "blitz"}.get(pool, "standard")


def filled(games: Games) -> Filled:
    """The games with the ratings of FIDE's lists, by id, else by name and federation."""
    if not months():
        raise InputError("no list of FIDE is here: download one and take it in with 'assay ratings add FILE'.")
    needs: dict[str, tuple[set[int], set[str]]] = defaultdict(lambda: (set(), set()))
    remarks, lacking, undated, elsewhere = Remarks(), Counter[str](), 0, 0
    there = set(months())
    every = games.everything()
    for game in every:
        tags, month = game.tags, published(game.tags.get("Date", ""))
        if kind_of(tags) is None:
            elsewhere += 1
        elif month is None:
            undated += 1
        elif month not in there:
            lacking[month] += 1
        else:
            for side in SIDES:
                ids, names = needs[month]
                fide_id = id_of(tags.get(f"{side}FideId"))
                ids.add(fide_id) if fide_id is not None else names.add(tags.get(side, ""))
    lists = {month: InForce(month, *need) for month, need in needs.items()}
    people: dict[str, ListEntry] = {}
    errors: dict[str, list[float]] = defaultdict(list)
    counts: Counter[str] = Counter()

    def change(game: Game) -> bytes:
        tags = game.tags
        kind, month = kind_of(tags), published(tags.get("Date", ""))
        if kind is None or month not in lists:
            return game.data
        new: dict[str, str] = {}
        for side in SIDES:
            name = tags.get(side, "")
            entry = lists[month].find(id_of(tags.get(f"{side}FideId")), name, tags.get(f"{side}Fed"), kind)
            if entry is None:
                remarks.add(f"Not on the list of {month}, or without a {kind} rating", name)
                continue
            if name not in people or people[name].month <= entry.month:
                people[name] = entry
            errors[name].append(error_of(entry))
            new |= _tags(tags, side, entry, counts, remarks)
        return with_tags(game, new) if new else game.data

    made = games.rewritten(change)
    mean = {name: sum(each) / len(each) for name, each in errors.items()}
    return Filled(made, people, mean, tuple(_told(counts, lacking, undated, elsewhere, remarks)))


def _tags(
    tags: Mapping[str, str], side: str, entry: ListEntry, counts: Counter[str], remarks: Remarks
) -> dict[str, str]:
    """What the list says of a side, where the tags lack it; the rating in any case."""
    old = tags.get(f"{side}Elo", "").strip()
    said = {"FideId": entry.fide_id, "Title": entry.title, "Fed": entry.federation, "BirthYear": entry.birth}
    new = {
        f"{side}{name}": str(value)
        for name, value in said.items()
        if value is not None and tags.get(f"{side}{name}", "").strip() in UNKNOWN
    }
    if old in UNKNOWN:
        counts["filled"] += 1
    elif old == str(entry.rating):
        counts["same"] += 1
        return new
    else:
        counts["changed"] += 1
        what = f"{tags.get(side, '?')} {old}, on the list {entry.rating}"
        if what not in remarks.found[_DIFFER]:
            remarks.add(_DIFFER, what)
    return new | {f"{side}Elo": str(entry.rating)}


def _told(counts: Counter[str], lacking: Counter[str], undated: int, elsewhere: int, remarks: Remarks) -> list[str]:
    told = [
        f"Ratings of FIDE's lists: {counts['same']:,} as in the tags, {counts['filled']:,} filled in, "
        f"{counts['changed']:,} in the place of others."
    ]
    told += [f"No list of {month} is here: {counted(count, 'game')} as they are." for month, count in lacking.items()]
    told += [f"Without a date: {counted(undated, 'game')} as they are."] if undated else []
    told += [f"Not over the board: {counted(elsewhere, 'game')} as they are."] if elsewhere else []
    for about, names in list(remarks.found.items()):
        remarks.found[about] = list(dict.fromkeys(names))
    return [*told, *remarks]


# How far a published rating is off, as a standard deviation in Elo: measured on two sets of games by
# studies/rating_error.py, which tells how, and prints this table at its end. Of K, games and age it is K that counts:
# it is 40 for the young and for those with fewer than 30 games. How many games somebody has played in the last year
# makes no difference that can be seen; age serves where a list tells no K.
# K: (rated below, error), ...; the last one has no bound.
ERRORS: dict[int, tuple[tuple[float, float], ...]] = {
    10: ((float("inf"), 33.0),),
    20: ((2000.0, 76.0), (2200.0, 59.0), (float("inf"), 49.0)),
    40: ((2000.0, 108.0), (float("inf"), 76.0)),
}
_ADULT = 18


def k_of(rating: float, *, k: int | None, age: int | None = None) -> int:
    """K as it is today: that of the list (30, 25 and 15 were 40 and 20 once), else what age and rating tell.

    >>> k_of(2450, k=None), k_of(1800, k=None, age=14), k_of(1800, k=15), k_of(1800, k=30)
    (10, 40, 20, 40)
    """
    if k is not None and k > 0:
        return 10 if k <= 10 else 20 if k <= 20 else 40
    if rating >= 2400:
        return 10
    return 40 if age is not None and age <= _ADULT and rating < 2300 else 20


def rating_error(rating: float, *, k: int | None, age: int | None = None) -> float:
    """The error of a rating.

    >>> rating_error(1700, k=40), rating_error(1700, k=20), rating_error(2500, k=10)
    (108.0, 76.0, 33.0)
    """
    return next(error for below, error in ERRORS[k_of(rating, k=k, age=age)] if rating < below)
