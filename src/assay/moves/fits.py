"""The table of RH11: s and c for each group of turns, with c on a line through all, and projected beside actual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from assay.engine.turns import Turns
from assay.errors import InputError, ModelError
from assay.games.source import Games
from assay.games.stream import Paths
from assay.moves.asked import Reading, refuse_one_line, stored_turns
from assay.moves.groups import UNKNOWN, group, in_periods, mileposts
from assay.moves.regan.depth_weights import DepthWeights, fit_depth_weights, fit_weights
from assay.moves.regan.fitting import DEPTHS, GRID, Fit, depths_to, fit_grid, layered
from assay.moves.regan.fitting import Fitting as Fitting
from assay.moves.regan.fitting import fit as fit_turns
from assay.moves.regan.ipr import straight_c
from assay.moves.regan.spread import Floats, elsewhere_deltas, scaled_deltas
from assay.paths import File
from assay.records import dataclass
from assay.table import Answer, Table, columns_of

LEAST_RANGE = 200.0
MARKS = tuple(range(1000, 2901, 100))
FEW_TURNS = 30
COLUMNS = (
    "elo", "s", "c", "c_fit", "s_fit", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual", "qfit", "qfit_root",
    "qfit_mean", "turns", "games", "s_error", "c_error", "s_fit_error", "elsewhere", "note",
)  # fmt: skip
DEPTH_COLUMNS = ("weights", "gain", "gain_error")  # of the method `depths`
_OF_FIT = (
    "s", "c", "s_error", "c_error", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual", "qfit", "qfit_root",
    "qfit_mean", "elsewhere",
)  # fmt: skip


@dataclass(frozen=True)
class LineOfC:
    """c as a line in Elo, and what it is: through the groups, the c of all turns together, or one that was given."""

    at_2000: float
    per_100: float
    of: str = "given"

    def at(self, elo: float) -> float:
        """c at a rating; that of 2000 where none is known."""
        return float(straight_c(elo if np.isfinite(elo) else 2000.0, self.at_2000, self.per_100))

    def __str__(self) -> str:
        if self.of == POOLED:
            return (
                f"c_fit is the c of all turns together ({self.at_2000:.3f}): a line takes three groups of known rating "
                f"that are {LEAST_RANGE:.0f} points apart."
            )
        return (
            f"c_fit = {self.at_2000:.4f} at 2000, {self.per_100:+.4f} per 100 Elo, {self.of}; "
            f"--c-line {self.at_2000:.4f},{self.per_100:.4f} imposes it on other games."
        )


POOLED, DRAWN = "pooled", "the line through the groups"


@dataclass(frozen=True)
class FitRow:
    """One group: its free fit, its fit with c on the line through all groups, and who is in it.

    A group that cannot be fitted has neither, and a note that says why. `weighed` has its weights over `depths`, where
    the method asks for them.
    """

    label: str
    turns: int
    games: int
    elo: float
    elo_range: tuple[float, float]
    years: tuple[int, int] | None
    free: Fit | None
    on_line: Fit | None
    note: str = ""
    weighed: DepthWeights | None = None
    depths: tuple[int, ...] = ()
    keys: tuple[str, ...] = ()  # of what it is grouped by, where that is more than the label

    def shown(self, fix_c: bool) -> Fit | None:
        """The fit whose projections are shown."""
        return self.on_line if fix_c else self.free

    def values(self, fix_c: bool = False) -> dict[str, Any]:
        """The row of the table, by column."""
        found, line = self.shown(fix_c), self.on_line
        row: dict[str, Any] = {"elo": self.elo, "turns": self.turns, "games": self.games, "note": self.note}
        if found is not None:
            row |= {name: getattr(found, name) for name in _OF_FIT}
        if line is not None:
            row |= {"c_fit": line.c, "s_fit": line.s, "s_fit_error": line.s_error}
        if self.weighed is not None:
            each = zip(self.depths, self.weighed.weights.tolist(), strict=True)
            row["weights"] = ", ".join(f"{depth}: {weight:.2f}" for depth, weight in each)
            row |= {"gain": self.weighed.gain, "gain_error": self.weighed.gain_error}
        return row


@dataclass(frozen=True)
class Spread:
    """Deltas of some turns with what the fit needs beside them; at several `depths` they have a layer for each."""

    deltas: Floats
    played: NDArray[np.int64]
    elsewhere: Floats
    games: NDArray[np.int64]
    depths: tuple[int, ...] = ()

    def fit(
        self, how: Fitting, chosen: NDArray[np.bool_], c: float | None = None, weights: Floats | None = None
    ) -> Fit:
        """Fit the turns that a mask chooses; weights over depths that are not given are fitted first."""
        if self.depths and weights is None:
            weights, _, _ = fit_weights(self.deltas[chosen], self.played[chosen], model=how.model, curve=how.curve)
        if how.method == GRID:
            return fit_grid(
                self.deltas[chosen],
                self.played[chosen],
                model=how.model,
                curve=how.curve,
                c=c,
                games=self.games[chosen],
                elsewhere=self.elsewhere[chosen],
            )
        return fit_turns(
            self.deltas[chosen],
            self.played[chosen],
            method=how.criterion,
            model=how.model,
            curve=how.curve,
            c=c,
            games=self.games[chosen],
            weights=weights,
            elsewhere=self.elsewhere[chosen],
        )

    def weigh(self, how: Fitting, chosen: NDArray[np.bool_]) -> DepthWeights | None:
        """Weights over depths of the turns that a mask chooses, and what they gain; None where there is one depth."""
        if not self.depths:
            return None
        deltas, played, games = self.deltas[chosen], self.played[chosen], self.games[chosen]
        return fit_depth_weights(deltas, played, games=games, model=how.model, curve=how.curve)


def spread_of(turns: Turns, how: Fitting) -> Spread:
    """The deltas of turns."""
    refuse_one_line(turns)
    depths = depths_to(turns.depth) if how.method == DEPTHS else ()
    values = layered(turns.at_depths(depths), depths) if depths else turns.values
    deltas = scaled_deltas(values, k=how.k, cap=how.cap, tie=how.tie, scale=how.scale)
    elsewhere = elsewhere_deltas(turns.values, k=how.k, cap=how.cap, scale=how.scale)
    return Spread(deltas, turns.played, elsewhere, turns.game, depths)


def group_keys(turns: Turns, by: str, within: float, *, timed: bool) -> tuple[list[tuple[str, ...]], NDArray[np.intp]]:
    """What each group is of, and for each turn the number of its group (-1: in none); `timed` parts periods, too."""
    keys = ("period",) if timed and by != "period" else ()
    if by != "milepost":
        groups = group(turns, *keys, by)
        return list(groups.keys), groups.code
    mark = mileposts(turns, MARKS, within)
    if not (mark > 0).any():
        raise InputError(f"no game has both players within {within:g} points of the same century mark.")
    periods = [UNKNOWN] * len(turns) if not keys else [str(period) for period in turns.column("period")]
    every = [(period, int(m)) for period, m in zip(periods, mark, strict=True)]
    number = {key: at for at, key in enumerate(sorted({key for key in every if key[1]}))}
    code = np.array([number.get(key, -1) for key in every], dtype=np.intp)
    return [((period,) if keys else ()) + (str(m),) for period, m in number], code


def fit_table(
    turns: Turns,
    by: str,
    how: Fitting,
    *,
    within: float = 10.0,
    periods: Sequence[str] = (),
    c_line: tuple[float, float] | None = None,
) -> list[FitRow]:
    """Fit every group; then c is made a line in Elo and s fitted again with c on it (RH11, section 6).

    With fewer than three groups of known rating, or with ratings all much alike (phases, colours), there is no line to
    draw, and c_fit is that of all turns together. `c_line` (c at 2000, and per 100 Elo) is one from elsewhere. With
    `periods`, such as 1976-1979, there are groups of each, in order of time.
    """
    return _fitted(turns, by, how, within, periods, c_line)[0]


def _fitted(
    turns: Turns,
    by: str,
    how: Fitting,
    within: float,
    periods: Sequence[str],
    c_line: tuple[float, float] | None,
) -> tuple[list[FitRow], LineOfC]:
    """The rows of the table, and the line of c."""
    if not len(turns):
        raise InputError("no turns are left to fit.")
    turns = in_periods(turns, periods) if periods else turns
    keys, code = group_keys(turns, by, within, timed=bool(periods))
    spread = spread_of(turns, how)
    rows = [_row(turns, spread, how, key, code == number) for number, key in enumerate(keys)]
    line = LineOfC(*c_line) if c_line else _line_of_c(rows, spread, how, code >= 0)
    finished = []
    for number, row in enumerate(rows):
        if row.free is None:
            finished.append(row)
            continue
        weights = row.weighed.weights if row.weighed else None
        finished.append(replace(row, on_line=spread.fit(how, code == number, c=line.at(row.elo), weights=weights)))
    return finished, line


def _row(turns: Turns, spread: Spread, how: Fitting, keys: tuple[str, ...], chosen: NDArray[np.bool_]) -> FitRow:
    rating = turns.rating[chosen]
    known = rating[np.isfinite(rating)]
    games = np.unique(turns.game[chosen])
    years = turns.games["year"].gather(games.tolist()).drop_nulls()
    span = (int(years.min()), int(years.max())) if len(years) else None  # type: ignore[arg-type]
    elo, ends = (
        (float(known.mean()), (float(known.min()), float(known.max()))) if len(known) else (np.nan, (np.nan,) * 2)
    )
    common = (" / ".join(keys), int(chosen.sum()), len(games), elo, ends, span)
    few = f"{common[1]} turns are few for a fit: expect s and c to be far off" if common[1] < FEW_TURNS else ""
    try:
        weighed = spread.weigh(how, chosen)
        free = spread.fit(how, chosen, weights=weighed.weights if weighed else None)
        return FitRow(*common, free, None, few, weighed, spread.depths, keys)
    except ModelError as error:
        return FitRow(*common, None, None, note=str(error), keys=keys)


def _line_of_c(rows: Sequence[FitRow], spread: Spread, how: Fitting, used: NDArray[np.bool_]) -> LineOfC:
    """c as a line in Elo, by weighted least squares over the groups."""
    points = [
        ((row.elo - 2000) / 100, row.free.c, row.free.c_error)
        for row in rows
        if row.free is not None and np.isfinite(row.elo) and np.isfinite(row.free.c_error) and row.free.c_error > 0
    ]
    ratings = [100 * elo for elo, _, _ in points]
    if len(points) < 3 or max(ratings) - min(ratings) < LEAST_RANGE:
        fitted = [row.free for row in rows if row.free is not None]
        return LineOfC(fitted[0].c if len(fitted) == 1 else spread.fit(how, used).c if fitted else np.nan, 0.0, POOLED)
    elo, c, error = np.array(points).T
    slope, at_2000 = np.polyfit(elo, c, 1, w=1 / error)
    return LineOfC(float(at_2000), float(slope), DRAWN)


@dataclass(frozen=True, eq=False, kw_only=True)
class FitTable(Answer):
    """The table of fits; `fits` has the rows with everything that was fitted, `turns` what it was fitted to."""

    fits: Sequence[FitRow]
    turns: Turns
    line: LineOfC
    how: Fitting
    fix_c: bool = False

    def append_to(self, path: File, named: str, format: str = "assay") -> int:
        """Add the rows to a cumulative CSV, under the name of their games; how many they are.

        The columns are our own, or with "regan" those of the program that re-implements the papers.
        """
        from assay.moves.appending import append_rows

        return append_rows(Path(path), named, self.fits, self.fix_c, format=format)


_DECIMALS = {
    "elo": 0,
    **dict.fromkeys(("s", "c", "c_fit", "s_fit", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual"), 3),
    **dict.fromkeys(("s_error", "c_error", "s_fit_error", "qfit", "qfit_root", "gain", "gain_error"), 4),
    "qfit_mean": 6,
}
_WIDE = ("c_fit", "s_fit", "s_error", "c_error", "s_fit_error", "qfit", "qfit_root", "qfit_mean", "elsewhere")
PROJECTED = {"mm_predicted": "mm_exp", "mm_actual": "mm", "ad_predicted": "ad_exp", "ad_actual": "ad"}
_GRID = (
    "The printed grid has c from 1 to 5, and the printed tables have c from .43 to .55: it cannot be the one that was "
    "used. The c of this fit is not theirs; --method percentile searches c from 0.1 to 2."
)


def fit(
    what: Paths | Games,
    *,
    by: str = "all",
    method: str = "percentile",
    settings: Mapping[str, Any] | None = None,
    within: float = 10.0,
    fix_c: bool = False,
    periods: Sequence[str] = (),
    c_line: tuple[float, float] | None = None,
    **reading: Unpack[Reading],
) -> FitTable:
    """Fit the model of Regan and Haworth to games that are analysed already, as `assay fit` does: their table.

    A row per group of turns: s and c, c on a line through the groups and s with it, matches and errors, projected and
    actual. `periods`, such as "1976-1979", part the groups by time; `c_line` (c at 2000, and per 100 Elo) takes the
    line from elsewhere; `settings` are model, curve, k, cap, tie and scale. docs/model.md explains the rest.

    >>> import assay
    >>> assay.fit(assay.SAMPLE, store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    how = Fitting(method=method, **settings or {})  # type: ignore[arg-type]
    found = stored_turns(what, **reading)
    rows, line = _fitted(found.turns, by, how, within, periods, c_line)
    heads = ("period", by) if periods and by != "period" else (by,)
    values = [dict(zip(heads, row.keys, strict=True)) | row.values(fix_c) for row in rows]
    columns = [*heads, *(name for name in COLUMNS if name != "note" or any(row.note for row in rows))]
    columns += DEPTH_COLUMNS if any(row.weighed for row in rows) else ()
    remarks = [*found.remarks, *([str(line)] if any(row.on_line for row in rows) else [])]
    return FitTable(
        shown=Table(
            values,
            columns_of(
                columns, decimals=_DECIMALS, titles=PROJECTED, wide=(*_WIDE, "gain_error"), below=("note", "weights")
            ),
        ),
        fits=rows,
        turns=found.turns,
        line=line,
        how=how,
        fix_c=fix_c,
        problems=found.problems,
        remarks=[*remarks, *([_GRID] if how.method == GRID else [])],
    )
