"""Figures of ratings, calibrations, posteriors and fits; and which plots belong to which answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.answer.rating import JointRatings, Said
from assay.curve import GRID, Curve
from assay.engine.turns import Turns
from assay.errors import InputError, LearnedError, OutputError
from assay.games.listings import GameCounts
from assay.learned.guess import Guesses
from assay.moves.answers import Followed, MoveRatings
from assay.moves.calibrated import CalibrationTable
from assay.moves.calibration import Calibration
from assay.moves.differences import clustered_mean, losses
from assay.moves.fits import FitRow, FitTable, Fitting
from assay.moves.performance import Row
from assay.moves.regan.spread import Floats
from assay.moves.review import Running
from assay.paths import File, atomic
from assay.reports.plots_games import plot_stats
from assay.reports.plots_learned import kind_of, posterior_figure, save_figure
from assay.results.timeline import Timeline
from assay.table import Answer

# Okabe and Ito's colours can be told apart by everybody.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#666666"


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
            figure.savefig(part, dpi=150, format=kind_of(figure, path))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}.") from error
    finally:
        pyplot.close(figure)
    return path


def plot_calibration(calibration: Calibration, folder: Path) -> list[Path]:
    """The line through the marks, and s and c against Elo."""
    times: dict[str, list[Mapping[str, Any]]] = {}
    for mark in calibration.marks:
        times.setdefault(mark.get("period", ""), []).append(mark)
    figure, (left, right) = new_figure(ncols=2, figsize=(10, 4.2))
    for colour, (period, marks) in zip((GREY, GREEN, BLUE), times.items(), strict=False):
        colour, of = (colour, f" {period}") if period else (BLUE, "")
        elo = [mark["elo"] for mark in marks]
        if all(mark.get("ae_r") is not None for mark in marks):
            error = [2 * float(mark.get("ae_r_error") or 0) for mark in marks]
            words = f"marks{of}, ±2 s.e." if any(error) else f"marks{of}"
            left.errorbar(elo, [mark["ae_r"] for mark in marks], yerr=error, fmt="o", color=colour, label=words)
        right.plot(elo, [mark["s_fit"] for mark in marks], "o-", color=colour, label=f"s{of}, with that c")
    straight = sorted({(mark["elo"], mark["c_fit"]) for mark in calibration.marks})
    ends = np.array([straight[0][0] - 100, straight[-1][0] + 100])
    if (line := calibration.line) is not None:
        formula = f"{line.intercept:.0f} − {line.slope:.0f} AE"
        left.plot(ends, [line.average_error(r) for r in ends], color=ORANGE, label=formula)
    left.set(xlabel="Elo", ylabel="average scaled error on the reference set", title="The line")
    left.legend(frameon=False)
    right.plot(*zip(*straight, strict=True), "s--", color=ORANGE, label="c, a straight line")
    right.set(xlabel="Elo", ylabel="s, c", title="s and c")
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
    """The ratings, and how far their intervals reach below and above; an open end reaches to the end of the scale."""
    found = [row.estimate for row in rows]
    value = np.array([one.value for one in found])
    low, high = np.maximum([one.low for one in found], GRID[0]), np.minimum([one.high for one in found], GRID[-1])
    return value.tolist(), np.maximum([value - low, high - value], 0)


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


def plot_posterior(sides: Sequence[Running], level: float, file: Path) -> Path:
    """Both players' rating move by move, with the interval as a band."""
    figure, axes = new_figure(figsize=(8, 4.5))
    for side, color, style in zip(sides, (BLUE, ORANGE), ("-", "--"), strict=True):
        if not len(side.ply):
            continue
        value, low, high = (np.array([getattr(one, end) for one in side.estimates]) for end in ("value", "low", "high"))
        axes.plot(side.move, np.where(np.isfinite(value), value, np.nan), style, color=color, label=side.player)
        band = np.maximum(low, GRID[0]), np.minimum(high, GRID[-1])
        axes.fill_between(side.move, *band, color=color, alpha=0.18, linewidth=0)
    axes.set(xlabel="move", ylabel="Elo", title=f"The rating so far and its {level:.0%} interval")
    axes.legend(frameon=False)
    return save(figure, file.parent, file.name)


def plot_witnesses(said: Sequence[Said], folder: Path) -> list[Path]:
    """For each player what the witnesses say, as bells, and the answer, which is their product."""
    paths = list[Path]()
    for one in said:
        if not one.curves:
            continue
        figure, axes = new_figure(figsize=(8, 4))
        fine = np.arange(GRID[0], GRID[-1] + 1, 4.0)
        total = np.sum(list(one.curves.values()), axis=0)
        for (name, row), color in zip(one.curves.items(), (BLUE, ORANGE, "#2a9d58"), strict=False):
            axes.plot(fine, _bell(fine, row), color=color, label=f"{name}: {one.alone[name]}")
        axes.fill_between(
            fine, _bell(fine, total), color="#444444", alpha=0.25, linewidth=0, label=f"answer: {one.joint}"
        )
        near = [bound for bound in (one.joint.low, one.joint.high) if np.isfinite(bound)]
        if near:
            axes.set_xlim(max(min(near) - 700, GRID[0]), min(max(near) + 700, GRID[-1]))
        axes.set(xlabel="Elo", yticks=[], title=f"{one.player}, {one.games} games")
        axes.legend(frameon=False)
        paths.append(save(figure, folder, f"answer-{len(paths) + 1}.png"))
    return paths


def _bell(fine: Floats, row: Floats) -> Floats:
    """A curve as a likelihood whose area is one."""
    steps, values = Curve(row[None], GRID).fine()
    log = np.interp(fine, steps, values[0])
    likelihood = np.exp(log - log.max())
    area: Floats = likelihood / likelihood.sum()
    return area


RANKS = 12
MOST_CURVES = 12


def plot_history(times: Sequence[str], rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """The rating of players over time, each with the band of its errors; rows are those of one or several players."""
    figure, axis = new_figure(figsize=(9, 4.5))
    place = {time: at for at, time in enumerate(times)}
    colours = _colours(len({row["player"] for row in rows}))
    for colour, name in zip(colours, dict.fromkeys(row["player"] for row in rows), strict=True):
        own = [row for row in rows if row["player"] == name]
        x = [place[row["time"]] for row in own]
        value, error = (np.array([row[key] for row in own]) for key in ("rating", "error"))
        axis.plot(x, value, color=colour, marker="o", markersize=3, label=name)
        axis.fill_between(x, value - error, value + error, color=colour, alpha=0.2, linewidth=0)
    shown = range(0, len(times), max(len(times) // 8, 1))
    axis.set_xticks(list(shown), [times[at][:10] for at in shown], rotation=30, ha="right")
    axis.set_ylabel("rating")
    axis.legend()
    return save(figure, path.parent, path.name)


def plot_fits(turns: Turns, rows: Sequence[FitRow], how: Fitting, folder: Path) -> list[Path]:
    """The percentile curves, rank frequencies, error against evaluation, and (of rated groups) s and c against Elo."""
    fitted = [row for row in rows if row.free is not None]
    written = []
    if fitted:
        written += [plot_percentiles(fitted, folder), plot_ranks(fitted, folder)]
    found = losses(turns, cap=how.cap, k=how.k)
    written.append(plot_scaling(turns.values[:, 0], found.raw, found.scaled, turns.game, folder))
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


def plot_scaling(evaluation: Floats, raw: Floats, scaled: Floats, games: NDArray[np.int64], folder: Path) -> Path:
    """Average difference against the evaluation, before and after scaling: what led to the scaling law (RH11, 3.1).

    Turns of one game hang together, and so the errors are clustered by it.
    """
    edges = np.arange(-3, 3.01, 0.5)
    number = np.clip(np.digitize(evaluation, edges) - 1, 0, len(edges) - 2)
    known = np.isfinite(raw)
    figure, axes = new_figure(figsize=(7, 4.2))
    for loss, name, colour, shift in ((raw, "pawns", BLUE, -0.1), (scaled, "scaled", ORANGE, 0.1)):
        here = [known & (number == i) for i in range(len(edges) - 1)]
        found = [clustered_mean(loss[one], np.unique(games[one], return_inverse=True)[1]) for one in here]
        height, error = np.nan_to_num(np.array(found)).T
        axes.bar(edges[:-1] + 0.25 + shift, height, 0.2, yerr=2 * error, color=colour, label=name, error_kw={"lw": 1})
    axes.set(xlabel="evaluation, pawns, from the mover's side", ylabel="average difference", xticks=edges[::2])
    axes.set_title("Average difference by evaluation, ±2 s.e. clustered by game")
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


def plot(answer: Answer, folder: File) -> list[Path]:
    """Write the pictures of an answer, as `--plots` of its command does; which files there are now.

    Where there is but one picture, `folder` may be the name of its file, such as posterior.svg.

    >>> import assay
    >>> assay.plot(assay.event(assay.SAMPLE), "plots")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: there are no plots of this answer (EventTable).
    """
    place = Path(folder)
    match answer:
        case GameCounts():
            return list(plot_stats(answer.counts, place))
        case MoveRatings():
            return plot_ratings(answer.groups, answer.by, place)
        case JointRatings():
            return plot_witnesses(answer.said, place)
        case Followed():
            return [plot_posterior(answer.sides, answer.level, _alone(place, "posterior.png"))]
        case FitTable():
            return plot_fits(answer.turns, answer.fits, answer.how, place)
        case CalibrationTable():
            return plot_calibration(answer.calibration, place)
        case Timeline():
            if answer.player is None:
                raise InputError("a history is drawn of one player: name him with player.")
            return [plot_history(answer.times, answer.shown.rows, _alone(place, "history.svg"))]
        case Guesses():
            if len(answer.guesses) != 1:
                raise LearnedError("one game is drawn: ask for it with rate_learned(..., game=N).")
            file = _alone(place, "posterior.svg")
            save_figure(posterior_figure(answer.guesses[0]), file)
            return [file]
    raise InputError(f"there are no plots of this answer ({type(answer).__name__}).")


def _alone(place: Path, name: str) -> Path:
    """The file of a picture that stands alone: the one that is named, or one in the folder that is."""
    if place.suffix and not place.is_dir():
        return place
    place.mkdir(parents=True, exist_ok=True)
    return place / name
