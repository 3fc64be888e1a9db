"""How far published ratings are off: by K, by games played lately, and for those who climb.

Two games of one player under one rating, against different opponents, have residuals (score less expectation) that are
correlated only if the rating is off: the sum of their products over the sum of the products of the slopes of the
expectation is the variance of the rating's error in Elo, whatever the opponents' errors are and however noisy games
are. K is told from the games, as there are no lists of these years: 10 for those who were rated 2400 or more before, 40
(then 30 or 25) for those who have played fewer than 30 games since they were first seen, 20 (then 15) for all others.

    python studies/rating_error.py otb-all-2006-09.pgn.zst otb-all-2010-14.pgn.zst

Each file is judged by itself; its first year is only looked at for who was there before.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from scipy.optimize import least_squares

import assay

RATED = (1000, 2900)
PERIOD = "1q"  # ratings changed every two or three months in these years
YEAR = 365
NEW_GAMES = 30
CLIMB = 100  # points in a year
BOOT = 200


def sides(path: str) -> pl.DataFrame:
    """A row for each side of each game between two rated players: who, when, ratings, score."""
    frame = assay.read(path).frame.filter(
        pl.col("result").is_in(["1-0", "0-1", "1/2-1/2"])
        & pl.col("white_elo").is_between(*RATED)
        & pl.col("black_elo").is_between(*RATED)
    )
    date = pl.col("date").cast(pl.String).str.replace_all(r"\.", "-").str.to_date("%Y-%m-%d", strict=False)
    score = pl.col("result").cast(pl.String).replace_strict({"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5})
    frame = frame.select(
        pl.col("white").cast(pl.String), pl.col("black").cast(pl.String), "white_elo", "black_elo",
        date.alias("date"), score.alias("score"),
    ).drop_nulls()  # fmt: skip
    white = frame.select(
        who="white",
        other="black",
        elo="white_elo",
        other_elo="black_elo",
        date="date",
        score="score",
        white=pl.lit(1.0),
    )
    black = frame.select(
        who="black", other="white", elo="black_elo", other_elo="white_elo", date="date",
        score=1.0 - pl.col("score"), white=pl.lit(-1.0),
    )  # fmt: skip
    return pl.concat([white, black]).sort("who", "date", maintain_order=True)


def with_residuals(rows: pl.DataFrame) -> pl.DataFrame:
    """What was scored less what was expected, and how the expectation rises with the rating, for each row."""
    apart = (rows["elo"].cast(pl.Float64) - rows["other_elo"].cast(pl.Float64)).to_numpy()
    white, score = rows["white"].to_numpy(), rows["score"].to_numpy()

    def hoped(scale: float, edge: float) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(-(apart + edge * white) / scale))

    fit = least_squares(lambda x: hoped(100 * x[0], 10 * x[1]) - score, [1.7, 3.5])
    scale, edge = 100 * fit.x[0], 10 * fit.x[1]
    expected = hoped(scale, edge)
    print(f"{len(rows) // 2:,} games; an advantage of {edge:.0f} for White, a scale of {scale * np.log(10):.0f}")
    return rows.with_columns(residual=pl.Series(score - expected), slope=pl.Series(expected * (1 - expected) / scale))


def with_history(rows: pl.DataFrame) -> pl.DataFrame:
    """What was known of each player before: the highest rating, games so far and in the last year, the climb."""
    first = rows["date"].min()
    rows = rows.with_columns(
        before=pl.int_range(pl.len()).over("who"),
        highest=pl.col("elo").cum_max().over("who"),
        seen=(pl.col("date") - pl.col("date").min().over("who")).dt.total_days(),
        begun=pl.col("date").min().over("who"),
        period=pl.col("date").dt.truncate(PERIOD),
    )
    year = rows.rolling("date", period=f"{YEAR}d", closed="left", group_by="who").agg(
        lately=pl.len(), lowest=pl.col("elo").min()
    )
    rows = pl.concat([rows, year.select("lately", "lowest")], how="horizontal")
    new = (pl.col("before") < NEW_GAMES) & (pl.col("begun") > pl.lit(first) + pl.duration(days=YEAR))
    k = pl.when(pl.col("highest") >= 2400).then(10).when(new & (pl.col("elo") < 2300)).then(40).otherwise(20)
    return rows.with_columns(k=k, climb=pl.col("elo") - pl.col("lowest")).filter(
        pl.col("date") > pl.lit(first) + pl.duration(days=YEAR)
    )


def measured(rows: pl.DataFrame, seed: int = 1) -> tuple[float, float, int, float]:
    """The error of the ratings in Elo, how uncertain that is, on how many players, and how much too low they are."""
    met = rows.group_by("who", "period", "elo", "other").agg(pl.col("residual").sum(), pl.col("slope").sum())
    groups = met.group_by("who", "period", "elo").agg(
        r=pl.col("residual").sum(), r2=(pl.col("residual") ** 2).sum(),
        g=pl.col("slope").sum(), g2=(pl.col("slope") ** 2).sum(),
    )  # fmt: skip
    each = groups.group_by("who").agg(
        above=(pl.col("r") ** 2 - pl.col("r2")).sum(), below=(pl.col("g") ** 2 - pl.col("g2")).sum(),
        r=pl.col("r").sum(), g=pl.col("g").sum(),
    )  # fmt: skip
    above, below = each["above"].to_numpy(), each["below"].to_numpy()
    rng = np.random.default_rng(seed)
    error = float(np.sqrt(max(above.sum() / below.sum(), 0.0)))
    draws = []
    for _ in range(BOOT):
        chosen = rng.integers(0, len(above), len(above))
        draws.append(np.sqrt(max(above[chosen].sum() / below[chosen].sum(), 0.0)))
    return error, float(np.std(draws)), len(each), float(each["r"].sum() / each["g"].sum())


def main(paths: list[str]) -> None:
    """Print a table for each file."""
    both: dict[str, list[tuple[float, float]]] = {}
    for path in paths:
        print(f"\n{path.rsplit('/', 1)[-1]}")
        rows = with_history(with_residuals(sides(path)))
        lately = pl.col("lately")
        classes = {
            "all": pl.lit(True),
            "K 10": pl.col("k") == 10,
            "K 20": pl.col("k") == 20,
            "K 40": pl.col("k") == 40,
            "K 10, no game in a year": (pl.col("k") == 10) & (lately == 0) & (pl.col("before") > 0),
            "K 20, no game in a year": (pl.col("k") == 20) & (lately == 0) & (pl.col("before") > 0),
            "K 10, under 10 games in a year": (pl.col("k") == 10) & (lately < 10),
            "K 10, 10 or more": (pl.col("k") == 10) & (lately >= 10),
            "K 20, under 10 games in a year": (pl.col("k") == 20) & (lately < 10),
            "K 20, 10 or more": (pl.col("k") == 20) & (lately >= 10),
            "K 20 or 40, climbed 100 in a year": (pl.col("k") != 10) & (pl.col("climb") >= CLIMB),
            "K 20, under 2000": (pl.col("k") == 20) & (pl.col("elo") < 2000),
            "K 20, 2000-2199": (pl.col("k") == 20) & pl.col("elo").is_between(2000, 2199),
            "K 20, 2200 and more": (pl.col("k") == 20) & (pl.col("elo") >= 2200),
            "K 40, under 2000": (pl.col("k") == 40) & (pl.col("elo") < 2000),
            "K 40, 2000 and more": (pl.col("k") == 40) & (pl.col("elo") >= 2000),
        }
        print(f"{'':36} {'sides':>9} {'players':>8} {'error':>6} {'+/-':>5} {'too low by':>10}")
        for name, which in classes.items():
            some = rows.filter(which)
            error, spread, players, low = measured(some)
            print(f"{name:36} {some.height:9,} {players:8,} {error:6.0f} {spread:5.0f} {low:10.0f}")
            both.setdefault(name, []).append((error, spread))
    print("\nboth: the mean, each file by how certain it is")
    for name, each in both.items():
        error, spread = np.array(each).T
        print(f"{name:36} {np.average(error, weights=spread**-2):6.0f} {np.sum(spread**-2) ** -0.5:5.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
