"""Choose the games that lines of pools are fitted on: python studies/pool_games.py DATA OUT.pgn [SEED].

DATA is a folder with rated games of Lichess (`lichess-2018-speeds`, `-2013-17`, `-leagues`, `-45-45`, `-rapid-2022`,
`-2022-26-mixed`) and of slow play over the board since 2023 (`otb-2024-25`, `otb-2024-26-clocks`), and two samples of a
month of Lichess that serve for a last check alone (`lichess-2025-05`, `lichess-2026-06`).

Of each pool 320 games, drawn evenly over bands of a hundred points and few of one player; provisional ratings are left
out where the tags betray them. Of the months for checking at most 80 games of a speed, none with a player of
`lichess-rapid-2022`. The order is that in which they are to be analysed: half of every pool, the checks, the other
half, one game of each in turn, so that a run that is cut short is even. Each has a tag `Sample`.

Last come games of Lichess since 2020 for the lines of these years, from histories of single users: each opponent once
(twice, where a band is short of people), none who plays in the months for checking. The user's side has a tag `User`
and does not count.

    python studies/pool_values.py OUT.pgn STORE
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl
import zstandard

from assay.games.indexing import index
from assay.pools import pool_of

A_POOL, A_SPEED = 320, 400  # of a month there are fewer
BAND = 100
PLIES = 30
APART = 200  # of the two ratings, at most: the weaker of an unlike pair often plays for tricks
SETTLED = 30  # a rating that moves by more in one game is provisional
TEXTS = ("event", "site", "date", "white", "black", "result", "time_control", "termination", "variant")
SPEEDS = ("bullet", "blitz", "rapid", "classical")
CHECKS = ("lichess-2025-05", "lichess-2026-06")
# Which files serve for which pool, and what share of its games each gives.
FILES = {
    "lichess-bullet": {"lichess-2018-speeds": 0.6, "lichess-2013-17": 0.4},
    "lichess-blitz": {"lichess-2018-speeds": 0.6, "lichess-2013-17": 0.4},
    "lichess-rapid": {"lichess-2018-speeds": 0.25, "lichess-rapid-2022": 0.6, "lichess-leagues": 0.15},
    "lichess-classical": {"lichess-2018-speeds": 0.3, "lichess-leagues": 0.45, "lichess-45-45": 0.25},
    "otb-slow-2024": {"otb-2024-25": 0.75, "otb-2024-26-clocks": 0.25},
    "otb-slow-2023": {"otb-2024-25": 1.0},
}
# Quicker and slower games of one pool, to tell what time is worth there: so many of each group of time controls.
TEMPI = {
    "lichess-bullet": (("60+0",), ("120+0",), ("0+1", "30+0"), ("60+1", "60+2", "120+1")),
    "lichess-blitz": (("180+0",), ("300+0",), ("180+2", "180+3", "240+0"), ("300+2", "300+3", "300+4", "420+0")),
}
A_TEMPO = 45
# Games of today: the file, and how many of a speed; of `lichess-rapid-2022` rapid has games above already.
HISTORIES, A_HISTORY = "lichess-2022-26-mixed", {"bullet": 420, "blitz": 420, "rapid": 300}
A_USER = 20  # games in a file of histories: whoever has more is one of those whose histories these are
A_YEAR_BEFORE = 100  # games of 2023, to see whether the ratings of March 2024 are another scale
_SIDES = ("white", "black")
Row = dict[str, Any]


def table(data: Path, folder: Path, name: str) -> pl.DataFrame:
    """The tags of an archive, with the pool and the year of each game."""
    index([str(data / f"{name}.pgn.zst")], folder / f"{name}.parquet", quiet=True)
    frame = pl.read_parquet(folder / f"{name}.parquet").with_columns(pl.col(text).cast(pl.String) for text in TEXTS)
    tags = frame.select("site", "event", "time_control").iter_rows()
    pools = [pool_of(*(text or "" for text in row)) for row in tags]
    return frame.with_columns(
        pool=pl.Series(pools, dtype=pl.String), file=pl.lit(name), year=pl.col("date").str.slice(0, 4)
    )


def fair(frame: pl.DataFrame) -> pl.DataFrame:
    """Rated games of some length between players of settled ratings."""
    settled = [pl.col(f"{side}_rating_diff").fill_null(0).abs() <= SETTLED for side in ("white", "black")]
    return frame.filter(
        pl.col("plies") >= PLIES,
        pl.col("white_elo").is_not_null() & pl.col("black_elo").is_not_null(),
        pl.col("variant").fill_null("Standard").str.to_lowercase().is_in(["standard", "chess"]),
        ~pl.col("event").fill_null("").str.starts_with("Casual"),
        *settled,
    )


def shuffled(frame: pl.DataFrame, rng: random.Random) -> list[Row]:
    """The rows in an order by chance, without those of programs; the order is that of all rows, as it was analysed."""
    rows = list(frame.iter_rows(named=True))
    rng.shuffle(rows)
    return [row for row in rows if all(str(row[f"{side}_title"]) != "BOT" for side in _SIDES)]


def serving(pool: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The games of a file that serve for a pool."""
    if pool.startswith("otb"):
        since = (pl.col("date") >= "2024.03") if pool.endswith("2024") else (pl.col("year") == "2023")
        return frame.filter(pl.col("pool") == "otb-slow", since)
    near = (pl.col("white_elo") - pl.col("black_elo")).abs() <= APART
    return frame.filter(pl.col("pool") == pool, near)


def drawn(pool: Iterable[Row], count: int, players: Counter[str], caps: Sequence[int] = (1, 2, 4, 99)) -> list[Row]:
    """So many games, one band after the other, few of one player as long as it can be."""
    bands: dict[int, list[Row]] = {}
    for row in pool:
        # The weaker side: over the board many games of today are of one strong player, and the weaker are scarce.
        bands.setdefault(min(row["white_elo"], row["black_elo"]) // BAND, []).append(row)
    taken: list[Row] = []
    for cap in caps:
        for turn in zip_longest(*bands.values()):
            for row in turn:
                if row is None or row in taken or len(taken) >= count:
                    continue
                names = [row[side] for side in ("white", "black") if row[side] not in (None, "?")]
                if all(players[name] < cap for name in names):
                    taken.append(row)
                    players.update(names)
    return taken


def tempi(frame: pl.DataFrame, taken: set[int], rng: random.Random) -> list[list[Row]]:
    """Further games of each group of time controls, none of those that are there already."""
    chosen = []
    for pool, groups in TEMPI.items():
        for controls in groups:
            own = serving(pool, fair(frame)).filter(pl.col("time_control").is_in(controls))
            rows = [row for row in own.iter_rows(named=True) if row["start_offset"] not in taken]
            rng.shuffle(rows)
            chosen.append(drawn(rows, A_TEMPO, Counter()))
    return chosen


def of_today(frame: pl.DataFrame, checked: set[str], rng: random.Random) -> list[list[Row]]:
    """Games of histories by speed, band by band of the opponents, who count once, or twice where a band is short."""
    games = Counter(frame["white"].to_list() + frame["black"].to_list())
    users = {name for name, count in games.items() if count > A_USER}
    chosen = []
    for speed, count in A_HISTORY.items():
        rows = list(serving(f"lichess-{speed}", fair(frame)).iter_rows(named=True))
        rows = [row for row in rows if not {row["white"], row["black"]} & checked]
        rng.shuffle(rows)
        # To `drawn` a user is nobody: only the opponents are bounded.
        hidden = [row | {"user": side.title(), side: None} for row in rows for side in _SIDES if row[side] in users]
        once = [row for row in hidden if not {row["white"], row["black"]} & users]
        chosen.append(drawn(once, count, Counter(), caps=(1, 2)))
    return chosen


def in_turn(groups: Iterable[list[Row]]) -> list[Row]:
    return [row for turn in zip_longest(*groups) for row in turn if row is not None]


def main(data_folder: str, out: str, seed: int = 2018) -> None:
    data, rng = Path(data_folder), random.Random(seed)
    names = sorted({name for files in FILES.values() for name in files} | {*CHECKS, HISTORIES})
    with tempfile.TemporaryDirectory() as folder:
        tables = {name: table(data, Path(folder), name) for name in names}
    known = set(tables["lichess-rapid-2022"]["white"]) | set(tables["lichess-rapid-2022"]["black"])
    chosen: dict[str, list[Row]] = {}
    for pool, files in FILES.items():
        players: Counter[str] = Counter()
        some: list[Row] = []
        count = A_YEAR_BEFORE if pool.endswith("2023") else A_POOL
        for name, share in files.items():
            rows = shuffled(serving(pool, fair(tables[name])), rng)
            some += drawn(rows, round(share * count), players)
        rng.shuffle(some)
        chosen[pool] = some
    checks = []
    for name in CHECKS:
        new = ~pl.col("white").is_in(list(known)) & ~pl.col("black").is_in(list(known))
        for speed in SPEEDS:
            rows = shuffled(fair(tables[name]).filter(new, pl.col("pool") == f"lichess-{speed}"), rng)
            checks.append(drawn(rows, A_SPEED, Counter()))
    halves = [(some[: len(some) // 2], some[len(some) // 2 :]) for some in chosen.values()]
    order = in_turn(first for first, _ in halves) + in_turn(checks) + in_turn(second for _, second in halves)
    order += in_turn(tempi(tables["lichess-2013-17"], {row["start_offset"] for row in order}, random.Random(seed)))
    checked = {name for check in CHECKS for side in ("white", "black") for name in tables[check][side]}
    order += in_turn(of_today(tables[HISTORIES], checked, random.Random(seed)))
    texts = {name: unpacked(data / f"{name}.pgn.zst") for name in names}
    Path(out).write_text("\n".join(tagged(texts[row["file"]], row) for row in order), encoding="utf-8")
    for (pool, file, year), count in sorted(Counter((r["pool"], r["file"], r["year"] or "?") for r in order).items()):
        print(f"{pool:18} {file:20} {year} {count:5}")
    print(len(order), "games")


def unpacked(path: Path) -> bytes:
    with zstandard.open(path, "rb") as file:
        return bytes(file.read())


def tagged(data: bytes, row: Row) -> str:
    text = data[row["start_offset"] : row["end_offset"]].decode("utf-8", "replace").strip()
    user = f'[User "{row["user"]}"]\n' if row.get("user") else ""
    return f'[Sample "{row["file"]}"]\n{user}{text}\n'


if __name__ == "__main__":
    main(*sys.argv[1:3], *(int(arg) for arg in sys.argv[3:]))
