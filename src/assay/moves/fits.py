"""The table of RH11 (s and c for each group of turns, projected beside actual), and that of average differences.

The average difference is how much worse the moves played were than the engine's own (Guid & Bratko, ICGA 2006). It
needs no more than one line per position, since the played move is worth what the next position says; so hundreds of
thousands of games can be surveyed cheaply. Raw in pawns, and scaled as in RH11.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.engine.turns import Turns
from assay.errors import InputError, ModelError
from assay.moves.groups import group, mileposts
from assay.moves.regan.depth_weights import DepthWeights, fit_depth_weights, fit_weights
from assay.moves.regan.fitting import Fit, fit
from assay.moves.regan.settings import DEPTHS, depths_to, layered
from assay.moves.regan.settings import Fitting as Fitting
from assay.moves.regan.spread import CAP, Floats, elsewhere_deltas, scaled, scaled_deltas
from assay.paths import atomic
from assay.printable import spreadsheet

LEAST_RANGE = 200.0
MARKS = tuple(range(1000, 2901, 100))
COLUMNS = (
    "elo", "s", "c", "c_fit", "s_fit", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual", "qfit", "turns",
    "games", "s_error", "c_error", "s_fit_error", "elsewhere", "note",
)  # fmt: skip
DEPTH_COLUMNS = ("weights", "gain", "gain_error")  # of the method `depths`
APPENDED = (
    "file", "group", "games", "turns", "elo_mean", "elo_least", "elo_greatest", "s", "c", "ad_predicted", "ad_actual",
    "mm_predicted", "mm_actual", "qfit", "first_year", "last_year",
)  # fmt: skip


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

    def shown(self, fix_c: bool) -> Fit | None:
        """The fit whose projections are shown."""
        return self.on_line if fix_c else self.free

    def values(self, fix_c: bool = False) -> dict[str, Any]:
        """The row of the table, by column."""
        found, line = self.shown(fix_c), self.on_line
        row: dict[str, Any] = {"elo": self.elo, "turns": self.turns, "games": self.games, "note": self.note}
        if found is not None:
            names = (*COLUMNS[5:10], "s", "c", "s_error", "c_error", "elsewhere")
            row |= {name: getattr(found, name) for name in names}
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
        return fit(
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


def refuse_one_line(turns: Turns) -> None:
    """A spread needs more than one move."""
    if any(identity.lines == 1 for identity in turns.identities):
        raise InputError(
            "these analyses hold one line per position, and the model needs the other moves too: analyse again without "
            "'--lines 1' (the average difference, 'assay difference', needs no more)."
        )


def group_codes(turns: Turns, by: str, within: float) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Labels of the groups, and for each turn the number of its group (-1: in none)."""
    if by != "milepost":
        groups = group(turns, by)
        return groups.labels, groups.code
    mark = mileposts(turns, MARKS, within)
    present = [m for m in MARKS if (mark == m).any()]
    if not present:
        raise InputError(f"no game has both players within {within:g} points of the same century mark.")
    code = np.full(len(turns), -1, dtype=np.intp)
    for number, m in enumerate(present):
        code[mark == m] = number
    return tuple(str(m) for m in present), code


def fit_table(turns: Turns, by: str, how: Fitting, *, within: float = 10.0) -> list[FitRow]:
    """Fit every group; then c is made a line in Elo and s fitted again with c on it (RH11, section 6).

    With fewer than three groups of known rating, or with ratings all much alike (phases, colours), there is no line to
    draw, and c_fit is that of all turns together.
    """
    if not len(turns):
        raise InputError("no turns are left to fit.")
    labels, code = group_codes(turns, by, within)
    spread = spread_of(turns, how)
    rows = [_row(turns, spread, how, label, code == number) for number, label in enumerate(labels)]
    line = _line_of_c(rows, spread, how, code >= 0)
    finished = []
    for number, row in enumerate(rows):
        if row.free is None:
            finished.append(row)
            continue
        c = line[0] + line[1] * (row.elo - 2000) if np.isfinite(row.elo) else line[0]
        weights = row.weighed.weights if row.weighed else None
        again = spread.fit(how, code == number, c=float(np.clip(c, 0.1, 2.0)), weights=weights)
        finished.append(FitRow(**{**vars(row), "on_line": again}))
    return finished


def _row(turns: Turns, spread: Spread, how: Fitting, label: str, chosen: NDArray[np.bool_]) -> FitRow:
    rating = turns.rating[chosen]
    known = rating[np.isfinite(rating)]
    games = np.unique(turns.game[chosen])
    years = turns.games["year"].gather(games.tolist()).drop_nulls()
    span = (int(years.min()), int(years.max())) if len(years) else None  # type: ignore[arg-type]
    elo, ends = (
        (float(known.mean()), (float(known.min()), float(known.max()))) if len(known) else (np.nan, (np.nan,) * 2)
    )
    common = (label, int(chosen.sum()), len(games), elo, ends, span)
    try:
        weighed = spread.weigh(how, chosen)
        free = spread.fit(how, chosen, weights=weighed.weights if weighed else None)
        return FitRow(*common, free, None, weighed=weighed, depths=spread.depths)
    except ModelError as error:
        return FitRow(*common, None, None, note=str(error))


def _line_of_c(rows: Sequence[FitRow], spread: Spread, how: Fitting, used: NDArray[np.bool_]) -> tuple[float, float]:
    """c at 2000 and its slope per point, by weighted least squares over the groups."""
    points = [
        (row.elo - 2000, row.free.c, row.free.c_error)
        for row in rows
        if row.free is not None and np.isfinite(row.elo) and np.isfinite(row.free.c_error) and row.free.c_error > 0
    ]
    ratings = [elo for elo, _, _ in points]
    if len(points) < 3 or max(ratings) - min(ratings) < LEAST_RANGE:
        fitted = [row.free for row in rows if row.free is not None]
        return (fitted[0].c if len(fitted) == 1 else spread.fit(how, used).c if fitted else np.nan), 0.0
    elo, c, error = np.array(points).T
    slope, at_2000 = np.polyfit(elo, c, 1, w=1 / error)
    return float(at_2000), float(slope)


def append_rows(path: Path, file: str, rows: Iterable[FitRow], fix_c: bool = False) -> int:
    """Add the rows to a cumulative CSV, made if it is not there; the number of rows added."""
    new = []
    for row in rows:
        found = row.shown(fix_c)
        if found is None:
            continue
        first, last = row.years or (None, None)
        rated = np.isfinite(row.elo)
        new.append(
            {
                **{name: getattr(found, name) for name in APPENDED if hasattr(found, name)},
                "file": spreadsheet(file),
                "group": spreadsheet(row.label),
                "games": row.games,
                **(
                    {"elo_mean": row.elo, "elo_least": row.elo_range[0], "elo_greatest": row.elo_range[1]}
                    if rated
                    else {}
                ),
                "first_year": first,
                "last_year": last,
            }
        )
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
    except UnicodeDecodeError:
        before = "\n"
    if before and before.splitlines()[0] != ",".join(APPENDED):
        raise InputError(f"{path} is not a table of fits: its first line should be {','.join(APPENDED)}.")
    out = io.StringIO()
    writer = csv.DictWriter(out, APPENDED, lineterminator="\n")
    if not before:
        writer.writeheader()
    writer.writerows(new)
    with atomic(path) as part:
        part.write_text(before + out.getvalue(), encoding="utf-8")
    return len(new)


DIFFERENCE_COLUMNS = ("elo", "games", "turns", "raw", "raw_error", "scaled", "scaled_error", "unknown")
BIN = 0.5


@dataclass(frozen=True)
class Losses:
    """What each played move cost, in pawns and scaled; nan where it is not known."""

    raw: Floats
    scaled: Floats


def losses(turns: Turns, *, cap: float = CAP, k: float = 1.0) -> Losses:
    """The loss of each played move: the best value minus its own, none if it is the better one, at most `cap` pawns."""
    best = turns.values[:, 0]
    # A greater loss counts as the cap, so that one overlooked mate does not outweigh a tournament.
    worth = np.clip(turns.worth, best - cap, best)
    # A move that the engine did not list is worth less than all it did list; how much less is known at the cap only.
    full_width = all(identity.lines > 1 for identity in turns.identities)
    worth = np.where(np.isnan(worth) & full_width, best - cap, worth)
    return Losses(best - worth, scaled(best, k=k) - scaled(worth, k=k))


def difference_table(turns: Turns, by: str, *, cap: float = CAP, k: float = 1.0) -> list[dict[str, Any]]:
    """Average differences by group (or by evaluation, in bins of half a pawn), with errors clustered by game."""
    found = losses(turns, cap=cap, k=k)
    return mean_table(turns, by, {"raw": found.raw, "scaled": found.scaled})


def mean_table(turns: Turns, by: str, statistics: Mapping[str, Floats]) -> list[dict[str, Any]]:
    """A row per group with the mean of each statistic (a number per turn, nan where unknown) and its standard error.

    A turn counts where every statistic is known; errors are clustered by game.
    """
    if not len(turns):
        raise InputError("no turns are left to compare.")
    known = np.all(np.isfinite(np.stack(list(statistics.values()))), axis=0)
    labels, code = _evaluation_bins(turns) if by == "evaluation" else _labels(turns, by)
    rows = []
    for number, label in enumerate(labels):
        mine = code == number
        use = mine & known
        games = np.unique(turns.game[mine], return_inverse=True)[1][known[mine]]
        rating = turns.rating[mine]
        row: dict[str, Any] = {by: label, "elo": _mean(rating[np.isfinite(rating)]), "turns": int(use.sum())}
        row |= {"games": len(np.unique(turns.game[mine])), "unknown": int((mine & ~known).sum())}
        for name, values in statistics.items():
            row[name], row[f"{name}_error"] = clustered_mean(values[use], games)
        rows.append(row)
    return rows


def clustered_mean(values: Floats, clusters: NDArray[np.intp]) -> tuple[float, float]:
    """A mean and its standard error when values of one cluster hang together.

    >>> clustered_mean(np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1]))
    (2.0, 1.0)
    """
    if not len(values):
        return float("nan"), float("nan")
    sums = np.bincount(clusters, weights=values - values.mean())
    count = len(np.unique(clusters))
    error = np.sqrt(np.sum(sums**2) * count / (count - 1)) / len(values) if count > 1 else np.nan
    return float(values.mean()), float(error)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _labels(turns: Turns, by: str) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    groups = group(turns, by)
    return groups.labels, groups.code


def _evaluation_bins(turns: Turns) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    best = turns.values[:, 0]
    # The greatest value of all belongs to the last full bin, not to one of its own.
    number = np.minimum(np.floor(best / BIN), np.ceil(best.max() / BIN) - 1).astype(np.intp)
    present, code = np.unique(number, return_inverse=True)
    return tuple(f"{n * BIN:+.1f} to {(n + 1) * BIN:+.1f}" for n in present.tolist()), code
