"""A calibration in words: what it is for, how well it does on players it has not seen, what its model has learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.moves.calibration import POOL, Calibration
from assay.moves.choice.model import Model

MOST = 8
NAMES = {"engine": "Values alone", "policy": "With the policy"}


def describe(found: Calibration) -> str:
    """Lines for a reader."""
    lines = [f"Calibration {found}; net {found.net or 'none'}"]
    if found.games:
        lines.append(f"{found.games:,} games, {found.turns:,} turns")
    for name, figures in found.figures.items():
        lines += ["", *_figures(NAMES.get(name, name), figures, found.models[name])]
    if found.models:
        lines += ["", *_model(found.model())]
        pool = found.pools[POOL]
        lines += ["", f"Ratings of slow games over the board, {pool.low:.0f} to {pool.high:.0f}"]
    if found.line is not None:
        lines += [
            "",
            f"Regan's way: IPR = {found.line.intercept:.0f} - {found.line.slope:.0f} x AE_R "
            f"(misfit {found.line.misfit:.2f}), c = {found.c_at_2000:.4f} at 2000, {found.c_per_100:+.4f} per 100 Elo",
        ]
    if not found.models:
        lines.append(f"Published, for reading: {found.made['source']}")
    return "\n".join(lines)


def _figures(name: str, figures: Mapping[str, Any], model: Model) -> list[str]:
    marks = ", ".join(f"{mark['elo']} {mark['offset']:+.0f} ± {mark['error']:.0f}" for mark in figures["marks"])
    k, mix = model.scatter.factors, model.scatter.weights
    return [
        f"{name}, on {figures['turns']:,} turns of players held out: noise {figures['noise']:.0f} "
        f"± {figures['noise_error']:.0f} Elo a turn, slope {figures['slope']:.3f} ± {figures['slope_error']:.3f}, "
        f"ln p {figures['log_likelihood']:.4f}, best foretold {figures['top1']:.1%}",
        f"  marks off by {marks}",
        f"  intervals: power {model.honesty.power:.2f}, error of the scale {model.honesty.scale_error:.0f} Elo",
        f"  screening: real games scatter {k[0]:.2f}, {k[1]:.2f}, {k[2]:.2f} times as much as the model's matches, "
        f"top-3 and errors; z of {mix[0]:.2f}, {mix[1]:.2f} and {mix[2]:.2f} of each",
    ]


def _model(model: Model) -> list[str]:
    """The features that count most: a standard deviation more multiplies the odds of a move by exp of these."""
    lines = []
    for words, weights in (
        ("What draws people to a move, at 2200 (log-odds for a standard deviation more)", model.taste.a),
        ("What 400 Elo more change", model.taste.b),
    ):
        order = sorted(range(len(weights)), key=lambda at: -abs(weights[at]))[:MOST]
        lines.append(words)
        lines += [f"  {weights[at]:+.2f}  {model.names[at]}" for at in order]
    return lines
