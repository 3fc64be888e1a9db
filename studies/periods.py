"""Have ratings drifted: the papers' tables of three periods, and what moves say of the ratings of five.

python studies/periods.py REFERENCE PERIODS.pgn STORE LATER.pgn LATER_STORE [FIGURES]

REFERENCE is the folder of the reference set (2006-14 and 2018-19, depth 8); PERIODS.pgn has games of 1976-79, 1991-94
and more of 2006-09 (`studies/period_games.py`), analysed into STORE at the default depth; LATER.pgn games of 2023 to
2025 (`studies/pool_games.py`), valued into LATER_STORE (`studies/pool_values.py`).

First Regan's way: s and c at each mark of each period, by percentiles; c of 2006-09 is made a line in Elo and imposed
on all periods, and s fitted with it (RH11, section 6); below it what the paper prints of them. Then the choice
model of 2006-14 at depth 6: the rating that the moves of each century show, less the rating in the tags, with standard
errors clustered by game. What 2006-14 shows is its own scale, so that its offsets are near zero by the way it was made.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pool_values import counting
from two_models import two_models

from assay.curve import GRID
from assay.engine.choices import Choices, joined
from assay.engine.store import Store
from assay.engine.turns import turns
from assay.games import read
from assay.moves import reference
from assay.moves.calibrating import regan_sample
from assay.moves.calibration import load
from assay.moves.choice.calibrate import JUDGED, LEARNED, Rated
from assay.moves.fits import Fitting
from assay.moves.groups import mileposts
from assay.moves.regan import Fit, fit
from assay.moves.regan.ipr import straight_c
from assay.reports.plots import BLUE, GREY, new_figure, save

MARKS = range(1600, 2701, 100)
OLD = {"1976-1979": range(2400, 2601, 100), "1991-1994": range(2300, 2701, 100)}
BANDS = ((0, 1950), (1950, 2150), (2150, 2350), (2350, 2550), (2550, 3000))
LATER = ("2010-2014", "2018-2019", "2023-Feb 2024", "Mar 2024-2025", "2023-2025")
PRINTED = ("mm_predicted", "mm_actual", "ad_predicted", "ad_actual", "qfit")


@dataclass(frozen=True)
class Part:
    """Turns of one time: choices, and for each turn Elo of the mover, mark (0: none), game, and a number of days."""

    choices: Choices
    elo: NDArray[np.float64]
    mark: NDArray[np.int64]
    game: NDArray[np.int64]

    def only(self, chosen: NDArray[np.bool_]) -> Part:
        return Part(self.choices.only(chosen), self.elo[chosen], self.mark[chosen], self.game[chosen])

    def rated(self) -> Rated:
        return Rated(self.choices, self.elo, self.mark, np.zeros(len(self.elo), np.int64), self.game)


def stored(pgn: str, store: str, depth: int) -> tuple[Part, list[str]]:
    """The turns of the games that a store has valued whole, and the date of each."""
    games = read(pgn).all()
    with Store(Path(store)) as opened:
        found = turns(games, opened, depth=depth, limit=LEARNED)
        whole = counting(games, opened, depth)
    found = found.only(np.isfinite(found.rating) & whole[found.game])
    mark = mileposts(found, MARKS, 20).astype(np.int64)
    dates = [str(date or "") for date in found.games["date"].gather(found.game)]
    return Part(found.choices, found.rating.astype(np.float64), mark, found.game), dates


def both(one: Part, other: Part) -> Part:
    """The turns of two samples of one time."""
    after = replace(other.choices, unit=other.choices.unit + 2 * (one.choices.unit.max() // 2 + 1))
    return Part(
        joined([one.choices, after]),
        np.concatenate([one.elo, other.elo]),
        np.concatenate([one.mark, other.mark]),
        np.concatenate([one.game, other.game + one.game.max() + 1]),
    )


def fitted(part: Part, c: float | None = None) -> Fit:
    sample, _ = regan_sample(part.rated(), 8, Fitting())
    return fit(sample.deltas, sample.played, games=sample.game, elsewhere=sample.elsewhere, c=c)


def tables(parts: dict[str, Part]) -> None:
    """The papers' tables, a row per mark, rows in order of time; below each what is printed of it."""
    printed = {(mark["period"], mark["elo"]): mark for mark in load("rybka-3-d13").marks}
    free = {
        (period, mark): fitted(part.only(part.mark == mark))
        for period, part in parts.items()
        for mark in np.unique(part.mark[part.mark > 0]).tolist()
        if len(np.unique(part.game[part.mark == mark])) >= 5
    }
    points = [
        ((mark - 2000) / 100, found.c, found.c_error) for (period, mark), found in free.items() if period == "2006-2009"
    ]
    per, at = np.polyfit(*np.array(points).T[:2], 1, w=1 / np.array(points).T[2])
    print(f"c of 2006-2009: {at:.4f} at 2000, {per:+.4f} per 100 Elo, imposed on all (the paper: .4640, +.0070)")
    print("period     mark  turns games     s  +-       c  +-    c_fit s_fit  +-    mm_p  mm_a  ad_p  ad_a  Qfit  S/19")
    for (period, mark), found in free.items():
        part = parts[period]
        line = fitted(part.only(part.mark == mark), float(straight_c(float(mark), at, per)))
        numbers = (
            *(found.s, found.s_error, found.c, found.c_error, line.c, line.s, line.s_error),
            *(found.mm_predicted, found.mm_actual, found.ad_predicted, found.ad_actual, found.qfit),
        )
        said = " ".join(f"{number:.3f}" for number in numbers)
        print(f"{period}  {mark} {found.turns:6} {found.games:5} {said}  {1e4 * found.qfit_mean:.2f}e-4")
        if row := printed.get((period, mark)):
            beside = (
                row["s"],
                None,
                row["c"],
                None,
                row["c_fit"],
                row["s_fit"],
                None,
                *(row[name] for name in PRINTED),
            )
            said = " ".join("     " if number is None else f"{number:.3f}" for number in beside)
            print(f"  printed        {row['turns']:6}       {said}")


def offset(table: NDArray[np.float64], elo: NDArray[np.float64], game: NDArray[np.int64]) -> tuple[float, float]:
    """The top of the summed curves less the mean rating, and its standard error clustered by game."""
    total = table.sum(axis=0)
    fine = np.arange(GRID[0], GRID[-1] + 1, 5.0)
    at = float(fine[np.argmax(np.interp(fine, GRID, total))])
    near = np.abs(GRID - at) <= 250
    a, b, _ = np.polyfit(GRID[near] - at, total[near], 2)
    top = at - b / (2 * a)
    left, right = (np.array([np.interp(x, GRID, row) for row in _by_game(table, game)]) for x in (top - 50, top + 50))
    score = (right - left) / 100
    score -= score.mean()
    return top - float(elo.mean()), float(np.sqrt(np.sum(score**2)) / abs(2 * a))


def _by_game(table: NDArray[np.float64], game: NDArray[np.int64]) -> NDArray[np.float64]:
    _, code = np.unique(game, return_inverse=True)
    out = np.zeros((code.max() + 1, table.shape[1]))
    np.add.at(out, code.reshape(-1), table)
    return out


def drift(parts: dict[str, Part], figures: str | None) -> None:
    """Offsets by bands of ratings, by the choice model of 2006-14 at depth 6."""
    calibration = load(depth=6)
    curves: dict[str, tuple[Rated, NDArray[np.float64]]] = {}
    for period, whole in parts.items():
        rated = whole.rated().to_depth(6)
        rated = rated.only(np.abs(rated.best) <= JUDGED)
        table = two_models(calibration, rated.choices, rated.choices.unit).curve(rated.choices).table
        curves[period] = rated, table
    print("\nmoves less tags, Elo (+- standard error, turns); the scale is that of 2006-14")
    drawn = offsets(curves, BANDS)
    print()
    offsets(curves, ((0, 2300), (0, 2400)))
    print("\nby century")
    offsets({period: curves[period] for period in LATER}, tuple((low, low + 100) for low in range(1300, 2700, 100)))
    if figures:
        print(save(_picture([name for name in parts if name != "2023-2025"], drawn), Path(figures), "drift.png"))


def offsets(
    curves: dict[str, tuple[Rated, NDArray[np.float64]]], bands: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], list[tuple[str, float, float]]]:
    """The offset of each period in each band that has ten games, printed a row a period."""
    print("period           " + "".join(f"{f'{low or 1300}-{high - 1}':>22}" for low, high in bands))
    found: dict[tuple[int, int], list[tuple[str, float, float]]] = {}
    for period, (rated, table) in curves.items():
        cells = []
        for low, high in bands:
            here = (rated.elo >= low) & (rated.elo < high)
            if len(np.unique(rated.game[here])) < 10:
                cells.append(f"{'':>22}")
                continue
            value, error = offset(table[here], rated.elo[here], rated.game[here])
            found.setdefault((low, high), []).append((period, value, error))
            cells.append(f"{value:+7.0f} +- {error:3.0f} ({here.sum():5})")
        print(f"{period:17}" + "".join(f"{cell:>22}" for cell in cells))
    return found


def _picture(periods: list[str], drawn: dict[tuple[int, int], list[tuple[str, float, float]]]) -> Any:
    """The offsets in order of time, a panel for each band of ratings."""
    figure, panels = new_figure(ncols=len(BANDS), sharey=True, figsize=(11, 4.6))
    for axes, band in zip(panels, BANDS, strict=True):
        axes.axhline(0, color=GREY, linewidth=1)
        names, value, error = zip(*(one for one in drawn.get(band, []) if one[0] in periods), strict=True)
        at = [periods.index(name) for name in names]
        axes.errorbar(at, value, yerr=2 * np.array(error), fmt="o", capsize=3, markersize=5, color=BLUE)
        axes.set_xticks(range(len(periods)), periods, rotation=90)
        axes.set(xlim=(-0.6, len(periods) - 0.4), title=f"rated {band[0] or 1300} to {band[1] - 1}")
        axes.title.set_fontsize(10)
    panels[0].set_ylabel("moves show more (+) or less (−)\nthan the rating, Elo (±2 s.e.)")
    return figure


def main(folder: str, pgn: str, store: str, later: str, later_store: str, figures: str | None = None) -> None:
    found = reference.read(folder, 8)
    rows, mark = found.turns, found.turns["mark"].to_numpy().astype(np.int64)
    near = np.abs(rows["elo"].to_numpy() - mark) <= 20
    first = (rows["set"] == "2006-14").to_numpy()
    whole = Part(
        found.choices,
        rows["elo"].to_numpy().astype(np.float64),
        np.where(near & first, mark, 0),
        rows["game"].to_numpy().astype(np.int64),
    )
    year = rows["year"].to_numpy()
    old, dates = stored(pgn, store, 8)
    years = np.array([int(date[:4]) for date in dates])
    parts = {
        "1976-1979": old.only((years >= 1976) & (years <= 1979)),
        "1991-1994": old.only((years >= 1991) & (years <= 1994)),
        "2006-2009": both(whole.only(first & (year <= 2009)), old.only((years >= 2006) & (years <= 2009))),
        "2010-2014": whole.only(first & (year > 2009)),
    }
    tables(parts)
    new, days = stored(later, later_store, 6)
    slow = np.array([day >= "2023" for day in days]) & np.isin(new.game, over_the_board(later))
    after = np.array([day[:7] >= "2024.03" for day in days])
    parts |= {
        "2018-2019": whole.only(~first),
        "2023-Feb 2024": new.only(slow & ~after),
        "Mar 2024-2025": new.only(slow & after),
        "2023-2025": new.only(slow),
    }
    drift(parts, figures)


def over_the_board(pgn: str) -> NDArray[np.int64]:
    """The numbers of the games over the board."""
    games = read(pgn).all()
    return np.array([at for at, game in enumerate(games) if game.tags.get("Sample", "").startswith("otb-")])


if __name__ == "__main__":
    main(*sys.argv[1:])
