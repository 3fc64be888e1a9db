"""The lists that were added, by month, and who had which rating on the day of a game."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, OutputError
from assay.games.completing import alike
from assay.lists.fidelist import KINDS, NUMBERS, FideList, read_list
from assay.paths import File, atomic, data_folder
from assay.records import dataclass
from assay.table import Answer, Table, columns_of

if TYPE_CHECKING:
    import polars as pl

_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])")
# When lists came: every month since July 2012, every second since July 2009, every third before.
_MONTHLY, _SECOND = "2012-07", "2009-07"


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
