"""Old masters and modern ones: python studies/masters.py OLD.pgn OLD_STORE MATCHES.pgn MATCHES_STORE [FIGURES]

OLD.pgn are games of 1976-79 and 1991-94 (`studies/period_games.py`), MATCHES.pgn those of title matches of 2006 to
2012, both analysed to depth 6 at least. A row for each player with enough games in a period: the rating of the tags,
the performance by results, and the rating that the moves show with its 95 % interval, all moves on the scale of
2006-14. Fast games (play-offs) are left out.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import polars as pl

from assay.engine.store import Store
from assay.engine.turns import turns
from assay.games import read
from assay.moves.calibration import load
from assay.moves.evidence import weigh
from assay.moves.groups import group, in_periods
from assay.moves.performance import How, rate_groups
from assay.reports.plots import new_figure, save

PERIODS = ("1976-1979", "1991-1994", "2006-2012")
GAMES, DEPTH = 10, 6


def main(*paths: str) -> None:
    rows = []
    for pgn, store, periods in ((*paths[:2], PERIODS[:2]), (*paths[2:4], PERIODS[2:])):
        games = [game for game in read(pgn).all() if "playoff" not in game.tags.get("Event", "").lower()]
        with Store(Path(store)) as opened:
            found = turns(games, opened, depth=DEPTH)
        # All on one scale, whatever ratings of the years meant.
        lines = pl.Series("line", ["otb-slow-2006-14"] * found.games.height, dtype=pl.String)
        found = in_periods(replace(found, games=found.games.with_columns(lines)), periods)
        groups = group(found, "period", "player")
        for row, key in zip(rate_groups(weigh(found, load(depth=DEPTH)), groups, How()), groups.keys, strict=True):
            if row.games >= GAMES:
                rows.append((key[0], key[1], row))
    rows.sort(key=lambda one: (one[0], -(one[2].rating or 0)))
    print("period     player                 games  turns   tag  results  moves (95 %)")
    for period, player, row in rows:
        said = f"{row.estimate.value:.0f} ({row.estimate.low:.0f}-{row.estimate.high:.0f})"
        print(f"{period}  {player:22} {row.games:5}  {row.turns:5}  {row.elo:.0f}     {row.performance:.0f}  {said}")
    if len(paths) > 4:
        figure, axes = new_figure(figsize=(7.5, 0.32 * len(rows) + 1.2))
        colours = dict(zip(PERIODS, ("#0072B2", "#009E73", "#D55E00"), strict=True))
        for at, (period, _, row) in enumerate(reversed(rows)):
            value, low, high = row.estimate.value, row.estimate.low, row.estimate.high
            axes.plot([low, high], [at, at], color=colours[period])
            axes.plot(value, at, "o", color=colours[period])
            axes.plot(row.elo, at, "|", color="black", markersize=11)
        axes.set_yticks(range(len(rows)), [f"{player}, {period}" for period, player, _ in reversed(rows)], fontsize=8)
        axes.set(xlabel="Elo on the scale of 2006-14: moves with 95 % interval; | the rating in the tags")
        print(save(figure, Path(paths[4]), "masters.png"))


if __name__ == "__main__":
    main(*sys.argv[1:])
