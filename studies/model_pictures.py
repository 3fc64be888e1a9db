"""The pictures of docs/model.md that need no games: python studies/model_pictures.py FOLDER."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot

from assay.moves.regan import CURVES, curve_value, move_probabilities, scaled, scaled_deltas

BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"
# The position of docs/model.md: six moves and what an engine says of them.
MOVES = ("Nf5", "Rd1", "h3", "Qe2", "Bxf6", "g4")
VALUES = (0.65, 0.52, 0.48, 0.20, -0.35, -1.60)
PLAYERS = (
    ("club player, s 0.24, c 0.50", 0.24, 0.50),
    ("master, s 0.16, c 0.55", 0.16, 0.55),
    ("elite, s 0.11, c 0.60", 0.11, 0.60),
)


def spread(folder: Path) -> None:
    """One position, three players."""
    deltas = scaled_deltas(VALUES)
    figure, axes = pyplot.subplots(figsize=(7.5, 4), layout="constrained")
    places = np.arange(len(MOVES))
    for i, ((name, s, c), colour) in enumerate(zip(PLAYERS, (BLUE, GREEN, ORANGE), strict=True)):
        p = 100 * move_probabilities(deltas, s, c)
        print(name, dict(zip(MOVES, p.round(1).tolist(), strict=True)))
        bars = axes.bar(places + 0.27 * (i - 1), p, 0.26, color=colour, label=name)
        axes.bar_label(bars, fmt="%.0f", fontsize=8)
    labels = [f"{move}\n{value:+.2f}\n({delta:.2f})" for move, value, delta in zip(MOVES, VALUES, deltas, strict=True)]
    axes.set(xticks=places, xticklabels=labels, ylabel="probability, %", title="One spread, three players")
    axes.legend(frameon=False)
    figure.savefig(folder / "spread.png", dpi=130)


def curves(folder: Path) -> None:
    """What s and c do to the curve, and the five curves beside each other."""
    delta = np.linspace(0, 1, 400)
    figure, (left, middle, right) = pyplot.subplots(ncols=3, figsize=(12, 3.8), layout="constrained", sharey=True)
    for s, colour in ((0.05, ORANGE), (0.1, BLUE), (0.3, GREEN)):
        left.plot(delta, curve_value(delta, s, 0.5), color=colour, label=f"s = {s}")
    for c, colour in ((0.3, GREEN), (0.5, BLUE), (1.0, ORANGE)):
        middle.plot(delta, curve_value(delta, 0.1, c), color=colour, label=f"c = {c}")
    for name, colour, style in zip(CURVES, (BLUE, ORANGE, GREEN, PINK, GREY), ("-", "--", "-.", ":", "-"), strict=True):
        right.plot(delta, curve_value(delta, 0.1, 0.5, curve=name), style, color=colour, label=name)
    for axes, title in (
        (left, "s: how small a difference is felt (c = 0.5)"),
        (middle, "c: how steadily (s = 0.1)"),
        (right, "five curves (s = 0.1, c = 0.5)"),
    ):
        axes.set(xlabel="scaled difference to the best move, δ", title=title)
        axes.legend(frameon=False)
    left.set_ylabel("temptation, g")
    figure.savefig(folder / "curves.png", dpi=130)


def scale(folder: Path) -> None:
    """The scale: pawns against what counts."""
    x = np.linspace(-5, 5, 400)
    figure, axes = pyplot.subplots(figsize=(6, 3.8), layout="constrained")
    axes.plot(x, scaled(x), color=BLUE)
    for a, b, colour in ((0.0, 1.0, ORANGE), (3.0, 4.0, GREEN)):
        low, high = float(scaled(a)), float(scaled(b))
        axes.plot([b, b], [low, high], color=colour, linewidth=3)
        axes.plot([a, b], [low, low], color=colour, linestyle=":")
        axes.annotate(
            f"{high - low:.2f}", (b, (low + high) / 2), xytext=(6, -4), textcoords="offset points", color=colour
        )
    axes.set(
        xlabel="evaluation, pawns", ylabel="F, scaled", title="A pawn from 1 to 0 counts 0.69, from 4 to 3 only 0.22"
    )
    axes.grid(alpha=0.3)
    figure.savefig(folder / "scale.png", dpi=130)


if __name__ == "__main__":
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    spread(out)
    curves(out)
    scale(out)
