"""Pictures of what a collection of games holds: ratings, time controls, and both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from assay.errors import OutputError
from assay.games.stats import BAND, Stats
from assay.paths import atomic

_COLOR = "#31688e"
_MOST_CONTROLS = 20


def plot_stats(stats: Stats, folder: str | Path) -> list[Path]:
    """Draw the four pictures of `assay stats --plots`; the files that were written."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {place}: {error.strerror or error}.") from error
    pictures: dict[str, Callable[[Stats], Any]] = {
        "rating_hist.png": rating_histogram,
        "time_control.png": time_controls,
        "rating_tc_heatmap_pct.png": heatmap_percent,
        "rating_tc_heatmap_log.png": heatmap_log,
    }
    written = []
    for name, draw in pictures.items():
        figure = draw(stats)
        with atomic(place / name) as part:
            figure.savefig(part, format="png", dpi=150, metadata={"Software": None})
        written.append(place / name)
    return written


def _figure(width: float, height: float, columns: int = 1) -> tuple[Any, Any]:
    # Figures of their own, without pyplot: no global state, no display, no window manager.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, columns)
    for axis in np.atleast_1d(axes):
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _empty(axis: Any, text: str) -> None:
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes, color="0.4")
    axis.set_xticks([])
    axis.set_yticks([])


def rating_histogram(stats: Stats) -> Any:
    """Games by rating band."""
    figure, axis = _figure(9, 4.5)
    games = _by_band(stats)
    starts = list(stats.bands.starts)
    width = stats.bands.width
    axis.bar(starts, games, width=width, align="edge", color=_COLOR, edgecolor="white", linewidth=0.6)
    axis.set_xlim(stats.bands.least, stats.bands.end)
    axis.set_xticks(range(stats.bands.least, stats.bands.end, 200))
    axis.set_xlabel(f"average rating of the players (bands of {width})")
    axis.set_ylabel("games")
    axis.yaxis.set_major_formatter(_thousands)
    axis.grid(axis="y", color="0.9")
    axis.set_axisbelow(True)
    if games.sum():
        middle = _median(stats, games)
        axis.axvline(middle, color="#d1495b", linewidth=1.2)
        axis.annotate(
            f"median {middle:.0f}", (middle, 1), xycoords=("data", "axes fraction"), xytext=(5, -4),
            textcoords="offset points", color="#d1495b", va="top",
        )  # fmt: skip
    axis.set_title(f"Ratings of {int(games.sum()):,} games", loc="left")
    return figure


def _by_band(stats: Stats) -> npt.NDArray[np.int64]:
    found = dict(stats.ratings.iter_rows())
    return np.array([found.get(start, 0) for start in stats.bands.starts])


def _median(stats: Stats, games: npt.NDArray[np.int64]) -> float:
    """The median, as if the games of a band were spread evenly over it."""
    half = games.sum() / 2
    before = np.cumsum(games) - games
    band = int(np.searchsorted(np.cumsum(games), half))
    return float(stats.bands.starts[band] + stats.bands.width * (half - before[band]) / games[band])


def _thousands(value: float, _: int) -> str:
    return f"{value:,.0f}"


def time_controls(stats: Stats) -> Any:
    """Games by time control: by length on the left, by frequency on the right."""
    figure, (left, right) = _figure(12, 6, columns=2)
    most = stats.controls.head(_MOST_CONTROLS)
    if not most.height:
        for axis in (left, right):
            _empty(axis, "no game names its time control")
        return figure
    share = 100 * most["games"].to_numpy() / int(stats.controls["games"].sum())
    names, order = most["time_control"].to_list(), _by_length(most)
    for axis, rows, title in ((left, order, "by length"), (right, list(range(len(names))), "by frequency")):
        at = np.arange(len(rows))
        bars = axis.barh(at, share[rows], color=_COLOR)
        axis.set_yticks(at, [names[row] for row in rows])
        axis.invert_yaxis()
        axis.bar_label(bars, [f"{share[row]:.1f}" for row in rows], padding=3, fontsize=8, color="0.3")
        axis.set_xlabel("% of games")
        axis.set_xlim(0, 1.12 * share.max())
        axis.grid(axis="x", color="0.9")
        axis.set_axisbelow(True)
        axis.set_title(title, loc="left")
    left.set_ylabel("time control (base + increment, seconds)")
    rest = stats.controls.height - most.height
    more = f"; {rest} rarer ones not shown" if rest else ""
    figure.suptitle(f"Time controls of {int(stats.controls['games'].sum()):,} games{more}", x=0.01, ha="left")
    return figure


def _by_length(controls: Any) -> list[int]:
    """Row numbers by the expected length of a game, base + 40 increments; those without a clock last."""
    lengths = [
        float("inf") if base is None else base + 40 * (plus or 0)
        for base, plus in zip(controls["base_seconds"], controls["increment_seconds"], strict=True)
    ]
    return sorted(range(len(lengths)), key=lambda row: (lengths[row], row))


def heatmap_percent(stats: Stats) -> Any:
    """How the games of each band spread over the time controls, in percent of the band."""
    cells, bands, names = _cells(stats)
    whole = dict(stats.both.group_by(BAND).agg(pl.col("games").sum()).iter_rows())
    percent = 100 * cells / np.array([[whole.get(band, 1)] for band in bands]).reshape(-1, 1)
    figure = _heatmap(
        stats, np.where(cells > 0, percent, np.nan), bands, names, "% of the games of the band", annotate="{:.0f}"
    )
    figure.suptitle("Time controls within each rating band", x=0.01, ha="left")
    return figure


def heatmap_log(stats: Stats) -> Any:
    """The number of games of each band and time control, on a logarithmic scale."""
    from matplotlib.colors import LogNorm

    cells, bands, names = _cells(stats)
    norm = LogNorm(vmin=1, vmax=max(10.0, float(cells.max(initial=1))))
    figure = _heatmap(stats, np.where(cells > 0, cells, np.nan), bands, names, "games", norm=norm)
    figure.suptitle("Games by rating band and time control", x=0.01, ha="left")
    return figure


def _cells(stats: Stats) -> tuple[npt.NDArray[np.float64], list[int], list[str]]:
    """Games by band (from the lowest to the highest that occurs) and time control (by length)."""
    most = stats.controls.head(_MOST_CONTROLS)
    names = [most["time_control"][row] for row in _by_length(most)]
    bands = [start for start in stats.bands.starts if start in set(stats.both[BAND].to_list())]
    if bands:
        bands = [start for start in stats.bands.starts if bands[0] <= start <= bands[-1]]
    cells = np.zeros((len(bands), len(names)))
    for band, name, games in stats.both.iter_rows():
        if name in names:
            cells[bands.index(band), names.index(name)] = games
    return cells, bands, names


def _heatmap(
    stats: Stats,
    cells: npt.NDArray[np.float64],
    bands: list[int],
    names: list[str],
    label: str,
    *,
    annotate: str | None = None,
    norm: Any = None,
) -> Any:
    figure, axis = _figure(max(6.0, 2.6 + 0.48 * len(names)), max(3.5, 1.6 + 0.27 * len(bands)))
    if not cells.size:
        _empty(axis, "no game has both ratings and a time control")
        return figure
    axis.set_facecolor("0.94")  # no games
    shown = axis.imshow(cells, aspect="auto", cmap="viridis", origin="lower", norm=norm)
    axis.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(len(bands)), [stats.bands.label(start) for start in bands])
    axis.set_xlabel("time control (base + increment, seconds), by length")
    axis.set_ylabel("average rating", labelpad=8)
    figure.colorbar(shown, ax=axis, label=label, pad=0.02)
    if annotate:
        dark = np.nanmax(cells) / 2
        for (row, column), value in np.ndenumerate(cells):
            if value >= 0.5:
                axis.text(
                    column, row, annotate.format(value), ha="center", va="center", fontsize=7,
                    color="white" if value < dark else "black",
                )  # fmt: skip
    return figure
