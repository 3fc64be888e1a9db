"""Does a faster clock lower the quality of play: python studies/speeds.py FORMULAS.csv CLOCKS.pgn [FIGURES]

Two ways. The lines of the pools (`studies/pool_lines.py`) tell how well players of each rating of each Lichess pool
move, on the one scale of slow games over the board; FORMULAS.csv has the published regressions of FIDE's ratings on
those of each pool (fide-lichess-formulas), by which the same people are found in all of them. So:
people of a FIDE rating, and how well they move in bullet, blitz, rapid and classical games, and over the board in
2015-23. Errors are those of the lines; what the regressions are off by is not known, and they were made of people who
state both ratings.

CLOCKS.pgn (otb-2024-26-clocks) has events whose players are over-the-board masters, with clocks and evaluations: the
FIDE World Cup of 2025, slow games and fast play-offs of the same people. These are rated from their evaluations alone,
all on one scale; the difference is within players, its error by a bootstrap over players.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from assay.curve import Curve
from assay.games import read
from assay.moves.evals import shipped_evals
from assay.moves.evals_rating import on_pool, turns_with_evals
from assay.reports.plots import new_figure, save
from assay.scales import shipped_lines

SPEEDS = ("bullet", "blitz", "rapid", "classical")
LEVELS = (1400, 1600, 1800, 2000, 2200)
SLOW = "otb-slow-2015-23"
COLOURS = ("#D55E00", "#E69F00", "#009E73", "#0072B2")
LINE = "otb-slow-2024"
EVENT = 'contains(event, "FIDE World Cup")'


def pools(formulas: str, figures: str | None) -> None:
    """People of a FIDE rating in each pool, on the scale of slow games."""
    with Path(formulas).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = shipped_lines()
    print("moves of people of a FIDE rating, less their moves in slow games over the board (+- error of the lines)")
    print("FIDE     slow  " + "".join(f"{speed:>22}" for speed in SPEEDS))
    drawn: dict[str, list[tuple[float, float, float]]] = {}
    for level in LEVELS:
        slow, slow_error = lines[SLOW].inside(np.array([float(level)]))[0], lines[SLOW].error(float(level))
        cells = []
        for speed in SPEEDS:
            formula = next(row for row in rows if row["inputs"] == speed)
            rating = (level - float(formula["intercept"])) / float(formula[speed])
            line = lines[f"lichess-{speed}"]
            if not line.low - 100 <= rating <= line.high + 100:
                cells.append(f"{'':>22}")
                continue
            value = float(line.inside(np.array([rating]))[0] - slow)
            error = float(np.hypot(line.error(rating) * line.slope, slow_error))
            cells.append(f"{value:+8.0f} +- {error:3.0f} ({rating:.0f})")
            drawn.setdefault(speed, []).append((float(level), value, error))
        print(f"{level}  {slow:6.0f}  " + "".join(f"{cell:>22}" for cell in cells))
    for speed in ("bullet", "blitz", "rapid"):
        line = lines[f"lichess-{speed}"]
        print(f"{speed}: a doubling of the time is worth {line.tempo:+.0f} +- {line.tempo_error:.0f}")
    if figures:
        figure, axes = new_figure(figsize=(7.5, 4.5))
        axes.axhline(0, color="#666666", linewidth=1, label="slow, over the board")
        for colour, (speed, points) in zip(COLOURS, drawn.items(), strict=False):
            elo, value, error = np.array(points).T
            axes.errorbar(elo, value, yerr=2 * error, fmt="o-", capsize=3, color=colour, label=f"Lichess {speed}")
        axes.set(xlabel="FIDE rating of the same people", ylabel="quality of moves, Elo (±2 s.e. of the lines)")
        figure.legend(frameon=False, loc="outside lower center", ncols=3)
        print(save(figure, Path(figures), "speeds.png"))


def world_cup(clocks: str) -> None:
    """Slow and fast games of the same people, from evaluations."""
    games = read(clocks, where=EVENT).all()
    found = turns_with_evals(games, np.ones(len(games), np.bool_))
    speed = found.games["speed"].to_list()
    curve = shipped_evals().curve(found)
    fast = np.array([(name or "classical") != "classical" for name in speed])[found.game]
    players = found.player.astype(str)
    both = sorted(set(players[fast]) & set(players[~fast]))
    code = {name: at for at, name in enumerate(both)}
    own = np.array([code.get(name, -1) for name in players])
    print(f"\nFIDE World Cup: {len(games)} games, {len(both)} players with slow and fast games")

    table = np.zeros((2, len(both), curve.table.shape[1]))
    np.add.at(table, (fast.astype(int)[own >= 0], own[own >= 0]), curve.table[own >= 0])
    rng = np.random.default_rng(1)
    tops = []
    for draw in range(301):
        which = np.arange(len(both)) if draw == 0 else rng.integers(len(both), size=len(both))
        tops.append(on_pool(Curve(table[:, which].sum(axis=1), curve.grid), LINE).tops())
    values = np.array(tops)
    difference = values[:, 1] - values[:, 0]
    turns = [int(((own >= 0) & (fast == quick)).sum()) for quick in (False, True)]
    print(f"slow {values[0, 0]:.0f} ({turns[0]} turns), fast {values[0, 1]:.0f} ({turns[1]} turns): ", end="")
    print(f"fast less slow {difference[0]:+.0f} +- {difference[1:].std(ddof=1):.0f}")


if __name__ == "__main__":
    pools(sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else None)
    world_cup(sys.argv[2])
