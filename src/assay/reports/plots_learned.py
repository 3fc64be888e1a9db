"""Plots of the learned rating: curves of a training, reliability, confusion, the posterior of a game, planes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from assay.errors import OutputError
from assay.learned.evaluate import Judged
from assay.learned.guess import Guess, estimates
from assay.learned.planes import PLANE_NAMES
from assay.paths import atomic
from assay.printable import printable
from assay.scoring import band_of, reliability

_INK, _BLUE, _RED = "#333333", "#2166ac", "#b2182b"
_GLYPHS = " ♙♘♗♖♕♔♟♞♝♜♛♚"


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format that the file's name asks for; the same figure gives the same bytes."""
    kind = kind_of(figure, path)
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {}
    with mpl.rc_context({"svg.hashsalt": "assay", "svg.fonttype": "none"}), atomic(path) as part:
        figure.savefig(part, format=kind, metadata=metadata, bbox_inches="tight", dpi=150)


def kind_of(figure: Figure, path: Path) -> str:
    """The format that the name of a picture asks for."""
    kind = path.suffix.lstrip(".").lower() or "svg"
    if kind not in (known := figure.canvas.get_supported_filetypes()):
        raise OutputError(
            f"{path}: no picture is called .{kind}; name it .svg, .png or .pdf ({', '.join(sorted(known))})."
        )
    return kind


def training_figure(history: Sequence[dict[str, float]]) -> Figure:
    """Loss, accuracy and error by epoch."""
    figure = Figure(figsize=(10, 3))
    epochs = [row["epoch"] for row in history]
    loss, accuracy, error = figure.subplots(1, 3)
    loss.plot(epochs, [row["train_loss"] for row in history], "o-", color=_INK, label="training loss")
    loss.plot(epochs, [row["validation_nll"] for row in history], "s-", color=_BLUE, label="validation NLL")
    loss.legend(frameon=False)
    accuracy.plot(epochs, [100 * row["end_top1"] for row in history], "s-", color=_BLUE)
    error.plot(epochs, [row["end_mae"] for row in history], "s-", color=_BLUE)
    for axes, title in (
        (loss, "every ply, nats"),
        (accuracy, "right band at the end, %"),
        (error, "MAE at the end, Elo"),
    ):
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("epoch")
        _plain(axes)
    figure.tight_layout()
    return figure


def reliability_figure(judged: Judged) -> Figure:
    """Stated against observed frequency of the most likely band, at the end of the game, 15 bins of equal mass."""
    band = band_of(judged.ratings.reshape(-1), judged.edges)
    right = judged.end.argmax(axis=1) == band
    found = reliability(judged.end.max(axis=1), right, weights=judged.weights.reshape(-1))
    figure = Figure(figsize=(4, 4))
    axes = figure.subplots()
    top = 1.05 * max(found.confidence.max(), found.frequency.max())
    axes.plot([0, top], [0, top], "--", color="#999999", linewidth=1)
    axes.plot(found.confidence, found.frequency, "o-", color=_BLUE)
    axes.set_xlabel("stated probability of the most likely band")
    axes.set_ylabel("how often it was right")
    axes.set_title(printable(judged.run), fontsize=10)
    _plain(axes)
    return figure


def confusion_figure(judged: Judged) -> Figure:
    """Mean posterior of the players of each band: rows are true bands, shares in percent."""
    bands = len(judged.edges) - 1
    true = band_of(judged.ratings.reshape(-1), judged.edges)
    weights = judged.weights.reshape(-1)
    shares = np.full((bands, bands), np.nan)
    for band in np.unique(true):
        shares[band] = np.average(judged.end[true == band], axis=0, weights=weights[true == band])
    figure = Figure(figsize=(0.5 * bands + 2, 0.5 * bands + 1.5))
    axes = figure.subplots()
    axes.imshow(100 * shares, cmap="Blues", vmin=0)
    labels = [f"{edge:.0f}" for edge in judged.edges[:-1]]
    axes.set_xticks(range(bands), labels, rotation=90)
    axes.set_yticks(range(bands), labels)
    axes.set_xlabel("probability given to the band from, %")
    axes.set_ylabel("players of the band from")
    for row in range(bands):
        for column in range(bands):
            if np.isfinite(shares[row, column]):
                dark = shares[row, column] > 0.6 * np.nanmax(shares)
                text = f"{100 * shares[row, column]:.0f}"
                axes.text(column, row, text, ha="center", va="center", fontsize=7, color="white" if dark else _INK)
    return figure


def posterior_figure(guess: Guess) -> Figure:
    """What is likely of both players after every ply, as shades; the guess, its 80 % interval and the tag."""
    figure = Figure(figsize=(9, 6))
    rows = figure.subplots(2, 1, sharex=True)
    plies = np.arange(len(guess.evidence))
    least, most = guess.edges[0], guess.edges[-1]
    for side, axes in enumerate(rows):
        chances = guess.posteriors[:, side]
        axes.pcolormesh(
            np.append(plies, plies[-1] + 1) - 0.5, guess.edges, chances.T, cmap="Blues", vmin=0, rasterized=False
        )
        found = estimates(guess.curve(side), guess, 0.8)
        axes.plot(plies, np.clip([one.value for one in found], least, most), color=_INK, linewidth=1.5, label="guess")
        for bound in ([one.low for one in found], [one.high for one in found]):
            axes.plot(plies, np.clip(bound, least, most), color=_INK, linewidth=0.8, linestyle=":")
        rating = guess.ratings[side]
        if rating is not None:
            axes.axhline(rating, color=_RED, linewidth=1, linestyle="--", label=f"tag: {rating}")
        axes.set_ylabel("rating")
        axes.set_title(f"{('White', 'Black')[side]}: {printable(guess.players[side])}", fontsize=10, loc="left")
        axes.legend(frameon=False, loc="upper right", fontsize=8)
    rows[-1].set_xlabel("plies played")
    figure.tight_layout()
    return figure


def planes_figure(
    board: npt.NDArray[np.uint8], planes: npt.NDArray[np.uint8], chosen: Sequence[int], title: str
) -> Figure:
    """Planes (64, 8, 8) drawn over the board they belong to; `board` holds piece codes from a1 on."""
    across = min(8, len(chosen))
    down = -(-len(chosen) // across)
    figure = Figure(figsize=(1.7 * across, 1.9 * down + 0.4))
    grid = np.ravel(figure.subplots(down, across, squeeze=False))
    for axes in grid:
        axes.set_axis_off()
    for axes, number in zip(grid, chosen, strict=False):
        _draw_board(axes, board, planes[number])
        axes.set_title(f"{number} {PLANE_NAMES[number]}", fontsize=7)
    figure.suptitle(title, fontsize=10)
    return figure


def _draw_board(axes: Any, board: npt.NDArray[np.uint8], plane: npt.NDArray[np.uint8]) -> None:
    axes.set_xlim(0, 8)
    axes.set_ylim(0, 8)
    axes.set_aspect("equal")
    for square in range(64):
        rank, file = divmod(square, 8)
        shade = "#d8e2ee" if (rank + file) % 2 else "#b9c6d6"
        axes.add_patch(Rectangle((file, rank), 1, 1, facecolor="#e8a33d" if plane[rank, file] else shade, linewidth=0))
        if board[square]:
            axes.text(file + 0.5, rank + 0.46, _GLYPHS[board[square]], ha="center", va="center", fontsize=9)


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
