"""Plots of the intrinsic model: how well a fit holds, and why values are scaled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.engine.spreads import last_depth
from assay.engine.turns import Turns
from assay.moves.difference import losses
from assay.moves.fits import FitRow, How
from assay.moves.regan.spread import Floats
from assay.reports.plots_rating import BLUE, GREY, ORANGE, new_figure, save

RANKS = 12
MOST_CURVES = 12


def plot_fits(turns: Turns, rows: Sequence[FitRow], how: How, folder: Path) -> list[Path]:
    """The percentile curves, rank frequencies, error against evaluation, and (of rated groups) s and c against Elo."""
    fitted = [row for row in rows if row.free is not None]
    written = []
    if fitted:
        written += [plot_percentiles(fitted, folder), plot_ranks(fitted, folder)]
    found = losses(turns, cap=how.cap, k=how.k)
    written.append(plot_scaling(last_depth(turns.values)[:, 0], found.raw, found.scaled, folder))
    rated = [row for row in fitted if np.isfinite(row.elo)]
    if len(rated) > 1:
        written.append(plot_parameters(rated, folder))
    return written


def _colours(count: int) -> list[Any]:
    from matplotlib import colormaps

    return [BLUE] if count == 1 else [colormaps["viridis"](x) for x in np.linspace(0, 0.9, count)]


def plot_percentiles(rows: Sequence[FitRow], folder: Path) -> Path:
    """R_q against q (RH11, section 6): on the diagonal the model's percentiles are those of the moves played."""
    figure, (left, right) = new_figure(ncols=2, figsize=(10, 4.4))
    left.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    right.axhline(0, color=GREY, linewidth=1, label="the model exactly")
    for row, colour in zip(rows[:MOST_CURVES], _colours(len(rows[:MOST_CURVES])), strict=True):
        assert row.free is not None
        q, found = row.free.percentiles, row.free.percentile_curve
        left.plot(q, found, "o-", markersize=3, color=colour)
        right.plot(q, 100 * (found - q), "o-", markersize=3, color=colour, label=row.label)
    left.set(xlabel="percentile q of the model", ylabel="share of moves within it, $R_q$", xlim=(0, 1), ylim=(0, 1))
    right.set(xlabel="percentile q of the model", ylabel="$R_q - q$, percentage points")
    left.set_title("Percentile curve")
    right.set_title("Its distance from the diagonal")
    right.legend(frameon=False, fontsize=8, ncols=2)
    return save(figure, folder, "percentiles.png")


def plot_ranks(rows: Sequence[FitRow], folder: Path) -> Path:
    """Projected and actual frequency of each rank, all groups together."""
    weight = np.array([row.turns for row in rows], dtype=np.float64)
    ranks = np.arange(1, RANKS + 1)

    def mean(which: str) -> Floats:
        padded = [np.pad(getattr(row.free, which), (0, RANKS))[:RANKS] for row in rows]
        return np.asarray(np.average(padded, axis=0, weights=weight))

    figure, axes = new_figure(figsize=(6.5, 4))
    axes.bar(ranks - 0.2, 100 * mean("rank_actual"), 0.4, color=BLUE, label="played")
    axes.bar(ranks + 0.2, 100 * mean("rank_predicted"), 0.4, color=ORANGE, label="projected")
    axes.set(xlabel="rank of the move with the engine", ylabel="% of turns", xticks=ranks, title="Rank frequencies")
    axes.legend(frameon=False)
    return save(figure, folder, "ranks.png")


def plot_scaling(evaluation: Floats, raw: Floats, scaled: Floats, folder: Path) -> Path:
    """Average difference against the evaluation, before and after scaling: what led to the scaling law (RH11, 3.1)."""
    edges = np.arange(-3, 3.01, 0.5)
    number = np.clip(np.digitize(evaluation, edges) - 1, 0, len(edges) - 2)
    known = np.isfinite(raw)
    figure, axes = new_figure(figsize=(7, 4.2))
    for loss, name, colour, shift in ((raw, "pawns", BLUE, -0.1), (scaled, "scaled", ORANGE, 0.1)):
        here = [loss[known & (number == i)] for i in range(len(edges) - 1)]
        height = [float(x.mean()) if len(x) else 0.0 for x in here]
        error = [float(2 * x.std() / np.sqrt(len(x))) if len(x) else 0.0 for x in here]
        axes.bar(edges[:-1] + 0.25 + shift, height, 0.2, yerr=error, color=colour, label=name, error_kw={"lw": 1})
    axes.set(xlabel="evaluation, pawns, from the mover's side", ylabel="average difference", xticks=edges[::2])
    axes.set_title("Average difference by evaluation, ±2 s.e.")
    axes.legend(frameon=False)
    return save(figure, folder, "scaling.png")


def plot_parameters(rows: Sequence[FitRow], folder: Path) -> Path:
    """s and c against Elo: fitted together, and s with c on the line."""
    elo = np.array([row.elo for row in rows])
    figure, (left, right) = new_figure(ncols=2, figsize=(10, 4.2))
    for axes, name in ((left, "s"), (right, "c")):
        value = [getattr(row.free, name) for row in rows]
        error = [2 * np.nan_to_num(getattr(row.free, f"{name}_error")) for row in rows]
        axes.errorbar(elo, value, yerr=error, fmt="o", color=BLUE, label=f"{name}, both free, ±2 s.e.")
        axes.set(xlabel="Elo", ylabel=name)
    lined = [row for row in rows if row.on_line is not None]
    order = sorted(lined, key=lambda row: row.elo)
    left.plot(
        [r.elo for r in order], [r.on_line.s for r in order if r.on_line], "s--", color=ORANGE, label="s, c on the line"
    )
    right.plot([r.elo for r in order], [r.on_line.c for r in order if r.on_line], "--", color=ORANGE, label="the line")
    left.set_title("Sensitivity: smaller is stronger")
    right.set_title("Consistency: greater is steadier")
    for axes in (left, right):
        axes.legend(frameon=False)
    return save(figure, folder, "parameters.png")
