"""The picture of how cost grows: CPU seconds above, peak memory below, a column for each thing that grows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from assay.paths import atomic
from growth import Series

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # Okabe and Ito: told apart by everybody
MARKS = ("o", "s", "^", "D", "v")
GREY = "0.65"
AXES = ("games", "players", "turns", "positions", "plies")


def draw(series: Sequence[Series], file: Path) -> None:
    """Draw all series that grow in one of AXES."""
    figure = Figure(figsize=(3.1 * len(AXES), 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, len(AXES), sharex="col", sharey="row")
    for column, axis in enumerate(AXES):
        top, bottom = panels[:, column]
        for one, colour, mark in zip((s for s in series if s.axis == axis), COLOURS, MARKS, strict=False):
            name = one.name.split(",")[0] if axis == "players" else one.name
            label, style = f"{name} ({one.slope:.2f})", {"color": colour, "marker": mark, "ms": 4.5, "lw": 1.4}
            top.loglog(one.sizes, [cost.cpu for cost in one.costs], label=label, **style)
            bottom.loglog(one.sizes, [cost.memory for cost in one.costs], **style)
        ends = top.get_xlim()
        top.loglog(ends, [1e-6 * end for end in ends], ":", color=GREY, lw=1, zorder=0, label="in proportion")
        top.loglog(ends, [1e-3 * end for end in ends], ":", color=GREY, lw=1, zorder=0)
        top.set_xlim(ends)
        top.set_title(axis, fontsize=11)
        top.legend(framealpha=1, edgecolor="none", fontsize=7.5, loc="upper left", handlelength=1.6, labelspacing=0.3)
        bottom.set_xlabel(f"number of {axis}")
    for panel in panels.flat:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(True, which="major", color="0.92", lw=0.6)
        panel.minorticks_off()
    low, high = _span([cost.cpu for one in series for cost in one.costs if one.axis in AXES])
    panels[0, 0].set_ylim(low / 2, high * 60)  # room for the legends
    panels[0, 0].set_ylabel("CPU seconds")
    panels[1, 0].set_ylabel("peak memory, MB")
    figure.suptitle("How cost grows (in brackets: exponent over the last step)", fontsize=12)
    with atomic(file) as part:
        figure.savefig(part, format="png", dpi=130, metadata={"Software": None})


def _span(values: Sequence[float]) -> tuple[float, float]:
    return max(min(values), 1e-4), max(values)
