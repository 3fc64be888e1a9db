"""Plots of ratings from moves: the calibration, ratings with intervals, and the posterior of a game."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import OutputError
from assay.moves.calibration import Calibration
from assay.moves.ipr import Row
from assay.moves.posterior import PlayerPosterior
from assay.paths import atomic

# Okabe and Ito's colours can be told apart by everybody.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#666666"


def new_figure(**size: Any) -> tuple[Any, Any]:
    """A figure that needs no display."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(layout="constrained", **size)
    return figure, axes


def save(figure: Any, folder: Path, name: str) -> Path:
    """Write a figure into a folder, which is made where it is missing."""
    from matplotlib import pyplot

    path = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic(path) as part:
            figure.savefig(part, dpi=150, format=path.suffix.removeprefix("."))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}.") from error
    finally:
        pyplot.close(figure)
    return path


def plot_calibration(calibration: Calibration, folder: Path) -> list[Path]:
    """The line through the marks, and s and c against Elo."""
    marks = calibration.marks
    elo = np.array([mark["elo"] for mark in marks], dtype=np.float64)
    figure, (left, right) = new_figure(ncols=2, figsize=(10, 4.2))
    if all(mark.get("ae_r") is not None for mark in marks):
        error = [2 * float(mark.get("ae_r_error") or 0) for mark in marks]
        left.errorbar(elo, [mark["ae_r"] for mark in marks], yerr=error, fmt="o", color=BLUE, label="marks, ±2 s.e.")
    ends = np.array([elo.min() - 100, elo.max() + 100])
    line = calibration.line
    formula = f"{line.intercept:.0f} − {line.slope:.0f} AE"
    left.plot(ends, [line.average_error(r) for r in ends], color=ORANGE, label=formula)
    left.set(xlabel="Elo", ylabel="average scaled error on the reference set", title="The line")
    left.legend(frameon=False)
    right.plot(elo, [mark["s_fit"] for mark in marks], "o-", color=BLUE, label="s, c on the artery")
    right.plot(elo, [mark["c_fit"] for mark in marks], "s--", color=ORANGE, label="c, the artery")
    right.set(xlabel="Elo", ylabel="s, c", title="The artery")
    right.legend(frameon=False)
    figure.suptitle(str(calibration))
    return [save(figure, folder, f"{calibration.name}.png")]


def plot_ratings(rows: Sequence[Row], by: str, folder: Path) -> list[Path]:
    """Ratings with intervals, one below the other; and against the rating in the tags, where there are some."""
    rated = [row for row in rows if row.rating is not None]
    if not rated:
        return []
    paths = [_ladder(rated, by, folder)]
    tagged = [row for row in rated if row.elo is not None]
    if len(tagged) > 1:
        paths.append(_against_elo(tagged, by, folder))
    return paths


def _interval(rows: Sequence[Row]) -> tuple[list[float], Any]:
    ratings = [row.rating for row in rows if row.rating is not None]
    value = [rating.rating for rating in ratings]
    around = [[rating.rating - rating.low for rating in ratings], [rating.high - rating.rating for rating in ratings]]
    return value, np.maximum(around, 0)


def _ladder(rows: Sequence[Row], by: str, folder: Path) -> Path:
    figure, axes = new_figure(figsize=(8, 1.2 + 0.28 * len(rows)))
    place = np.arange(len(rows))
    value, around = _interval(rows)
    axes.errorbar(value, place, xerr=around, fmt="o", color=BLUE, label="IPR with interval")
    tags = [(row.elo, i) for i, row in enumerate(rows) if row.elo is not None]
    if tags:
        axes.plot([elo for elo, _ in tags], [i for _, i in tags], "d", color=ORANGE, label="rating in the tags")
    axes.set(xlabel="Elo", yticks=place, yticklabels=[row.group for row in rows], ylim=(len(rows) - 0.5, -0.5))
    axes.grid(axis="x", color="#dddddd")
    axes.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return save(figure, folder, f"ipr_by_{by}.png")


def _against_elo(rows: Sequence[Row], by: str, folder: Path) -> Path:
    figure, axes = new_figure(figsize=(6, 5.5))
    elo = [row.elo for row in rows]
    value, around = _interval(rows)
    axes.errorbar(elo, value, yerr=around, fmt="o", color=BLUE)
    ends = [min(map(float, elo)) - 50, max(map(float, elo)) + 50]  # type: ignore[arg-type]
    axes.plot(ends, ends, color=GREY, linestyle="--", label="IPR = Elo")
    axes.set(xlabel="rating in the tags", ylabel="IPR")
    axes.legend(frameon=False)
    return save(figure, folder, f"ipr_by_{by}_against_elo.png")


def plot_posterior(sides: Sequence[PlayerPosterior], level: float, folder: Path) -> Path:
    """Both players' posterior move by move: the mean, and the central interval as a band."""
    figure, axes = new_figure(figsize=(8, 4.5))
    for side, color, style in zip(sides, (BLUE, ORANGE), ("-", "--"), strict=True):
        if not len(side.ply):
            continue
        low, high = side.posterior.interval(level)
        axes.plot(side.move, side.posterior.mean[1:], style, color=color, label=side.player)
        axes.fill_between(side.move, low[1:], high[1:], color=color, alpha=0.18, linewidth=0)
    axes.set(xlabel="move", ylabel="Elo", title=f"Posterior mean and {level:.0%} interval")
    axes.legend(frameon=False)
    return save(figure, folder, "posterior.png")
