"""Old masters and modern ones: python studies/masters.py pick DATA OUT.pgn
python studies/masters.py tell OUT.pgn STORE [FIGURES]

`pick` takes from DATA games of former world champions against players of 2550 and more in 1976-79 (the first 70 of
`otb-mileposts-1976-79`, `otb-1976-79`), and the title matches of 2006 to 2012 (`otb-all-2006-09`, `otb-all-2010-14`).
After

    assay analyse OUT.pgn --depth 6 --store STORE

`tell` has a row for each player with ten games in a period: the rating of the tags, the performance by results, and
the rating that the moves show with its 95 % interval, all moves on the scale of 2006-14. Fast games (play-offs) are
left out.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from assay.engine.store import Store
from assay.engine.turns import turns
from assay.games import read
from assay.moves.calibration import load
from assay.moves.evidence import weigh
from assay.moves.groups import group, in_periods
from assay.moves.performance import How, rate_groups
from assay.reports.plots import new_figure, save

PERIODS = ("1976-1979", "2006-2012")
GAMES, DEPTH = 10, 6
CHAMPIONS = ("Tal,", "Petrosian, T", "Spassky", "Smyslov", "Karpov, Anatoly")
OLD = ("otb-mileposts-1976-79", "otb-1976-79")
MATCHES = {
    frozenset(pair)
    for pair in (("Kramnik", "Topalov"), ("Anand", "Kramnik"), ("Anand", "Topalov"), ("Anand", "Gelfand"))
}
MOST = 70


def pick(data: str, out: str) -> None:
    """Write the games of both times."""
    chosen: dict[tuple[str, ...], str] = {}
    strong = "plies >= 40 and white_elo >= 2550 and black_elo >= 2550"
    for name in OLD:
        for game in read(f"{data}/{name}.pgn.zst", where=strong):
            key = tuple(game.tags.get(tag, "") for tag in ("White", "Black", "Date", "Round"))
            if key[0].startswith(CHAMPIONS) or key[1].startswith(CHAMPIONS):
                chosen.setdefault(key, game.text.strip())
    texts = list(chosen.values())[:MOST]
    for name in ("otb-all-2006-09", "otb-all-2010-14"):
        title = 'contains(event, "WCh") and white_elo > 2690 and black_elo > 2690 and plies >= 40'
        for game in read(f"{data}/{name}.pgn.zst", where=title):
            pair = frozenset(game.tags[side].split(",")[0] for side in ("White", "Black"))
            if pair in MATCHES and "playoff" not in game.tags["Event"].lower():
                texts.append(game.text.strip())
    Path(out).write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    print(f"{len(texts)} games")


def tell(pgn: str, store: str, figures: str | None = None) -> None:
    """Print a row for each player, and draw them."""
    games = [game for game in read(pgn).all() if "playoff" not in game.tags.get("Event", "").lower()]
    with Store(Path(store)) as opened:
        found = turns(games, opened, depth=DEPTH)
    # All on one scale, whatever ratings of the years meant.
    lines = pl.Series("line", ["otb-slow-2006-14"] * found.games.height, dtype=pl.String)
    found = in_periods(replace(found, games=found.games.with_columns(lines)), PERIODS)
    evidence = weigh(found, load(depth=DEPTH))
    groups = group(found, "period", "player")
    both = zip(rate_groups(evidence, groups, How()), groups.keys, strict=True)
    rows = [(key[0], key[1], row) for row, key in both if row.games >= GAMES]
    kept = {(period, player) for period, player, _ in rows}
    mine = np.array([groups.keys[number] in kept for number in groups.code.tolist()])
    part = evidence.only(mine)
    rows += [
        (key[0], "all of these", row)
        for row, key in zip(
            rate_groups(part, group(part.turns, "period"), How()), group(part.turns, "period").keys, strict=True
        )
    ]
    rows.sort(key=lambda one: (one[0], -(one[2].rating or 0)))
    print("period     player                 games  turns   tag  results  moves (95 %)")
    for period, player, row in rows:
        said = f"{row.estimate.value:.0f} ({row.estimate.low:.0f}-{row.estimate.high:.0f})"
        print(f"{period}  {player:22} {row.games:5}  {row.turns:5}  {row.elo:.0f}     {row.performance:.0f}  {said}")
    if figures:
        figure, axes = new_figure(figsize=(7.5, 0.32 * len(rows) + 1.2))
        colours = dict(zip(PERIODS, ("#0072B2", "#D55E00"), strict=True))
        for at, (period, _, row) in enumerate(reversed(rows)):
            value, low, high = row.estimate.value, row.estimate.low, row.estimate.high
            axes.plot([low, high], [at, at], color=colours[period])
            axes.plot(value, at, "o", color=colours[period])
            axes.plot(row.elo, at, "|", color="black", markersize=11)
        axes.set_yticks(range(len(rows)), [f"{player}, {period}" for period, player, _ in reversed(rows)], fontsize=8)
        axes.set(xlabel="Elo on the scale of 2006-14: moves with 95 % interval; | the rating in the tags")
        print(save(figure, Path(figures), "masters.png"))


if __name__ == "__main__":
    {"pick": pick, "tell": tell}[sys.argv[1]](*sys.argv[2:])
