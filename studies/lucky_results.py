"""Is luck or help seen in an extraordinary result: python studies/lucky_results.py pick ARCHIVE OUT.pgn [COUNT]
python studies/lucky_results.py tell OUT.pgn STORE [FIGURES]

`pick` looks through the archive (PGN or an index of whole events) for the players whose score in one event is most
above what the ratings of both sides lead to expect: at least nine rated games, rating 2200 and more (below, juniors
outgrow their ratings), and writes their games of these events. After

    assay analyse OUT.pgn --depth 6 --store STORE

`tell` sets three things side by side: the result, the player's own moves, and those of the opponents in these games.
Strong moves of the player explain a result by play; moves as usual leave luck, and opponents far below their own
ratings are what a gift, a bad day or an arrangement looks like. People are numbers here: none of this is a finding.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assay.curve import Estimate
from assay.engine.store import Store
from assay.engine.turns import turns
from assay.games import read
from assay.games.catalog import games_of
from assay.games.duplicates import Seen
from assay.moves.calibration import load
from assay.moves.evidence import weigh
from assay.moves.groups import Groups
from assay.moves.performance import performance_rating
from assay.reports.plots import BLUE, GREY, ORANGE, new_figure, save

GAMES, RATING, APART = 9, 2200, 400
SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


def pick(archive: str, out: str, count: int = 8) -> None:
    games = read(archive)
    rows = games.rows(keep_duplicates=True)[0].collect()
    texts = ("event", "site", "date", "white", "black", "result")
    rows = rows.with_columns(pl.col(name).cast(pl.String) for name in texts)
    rows = rows.with_columns(pl.col("date").str.slice(0, 4).alias("year")).with_row_index("n")
    rows = rows.filter(pl.col("result").is_in(list(SCORES)) & pl.col("white_elo").is_not_null())
    rows = rows.filter(pl.col("black_elo").is_not_null() & (pl.col("plies") >= 20))
    score = pl.col("result").replace_strict(SCORES, return_dtype=pl.Float64)
    sides = []
    for own, other, points in (("white", "black", score), ("black", "white", 1 - score)):
        columns = ["event", "site", "year", "n"]
        sides.append(
            rows.select(
                *columns,
                pl.col(own).alias("player"),
                pl.col(f"{own}_elo").alias("elo"),
                pl.col(f"{other}_elo").alias("other"),
                points.alias("score"),
            )
        )
    every = pl.concat(sides).filter((pl.col("elo") - pl.col("other")).abs() <= APART)
    expected = 1 / (1 + 10 ** ((pl.col("other") - pl.col("elo")) / 400))
    found = (
        every.with_columns(expected=expected)
        .group_by("event", "site", "year", "player")
        .agg(
            pl.len().alias("games"),
            pl.col("elo").mean(),
            (pl.col("score") - pl.col("expected")).sum().alias("more"),
            (pl.col("expected") * (1 - pl.col("expected"))).sum().alias("variance"),
            pl.col("n"),
        )
        .filter((pl.col("games") >= GAMES) & (pl.col("elo") >= RATING))
        .with_columns(z=pl.col("more") / pl.col("variance").sqrt())
        .sort("z", "event", "player", descending=[True, False, False])
        .head(count)
    )
    chosen, texts_out = found["n"].to_list(), []
    for number, wanted in enumerate(chosen, 1):
        part = rows.filter(pl.col("n").is_in(wanted))
        name = found["player"][number - 1]
        for game in games_of(games.indexes, part):
            side = "White" if game.tags.get("White") == name else "Black"
            texts_out.append(f'[Case "{number}"]\n[Side "{side}"]\n{game.text.strip()}\n')
    Path(out).write_text("\n".join(texts_out), encoding="utf-8")
    print(f"{every.height // 2:,} rated games, {len(texts_out)} of {found.height} player-events written")


def tell(pgn: str, store: str, figures: str | None = None) -> None:
    seen = Seen()
    games = [game for game in read(pgn).all() if seen.add(game)]
    with Store(Path(store)) as opened:
        found = turns(games, opened, depth=6)
    evidence = weigh(found, load(depth=6))
    case = np.array([int(game.tags["Case"]) for game in games])
    white = np.array([game.tags["Side"] == "White" for game in games])
    own = found.white == white[found.game]
    keys = [(str(number), who) for number in np.unique(case).tolist() for who in ("own", "others")]
    number = {key: at for at, key in enumerate(keys)}
    code = np.array(
        [number[str(case[game]), "own" if mine else "others"] for game, mine in zip(found.game, own, strict=True)],
        np.intp,
    )
    groups = Groups(tuple(keys), code)
    rated = evidence.estimates(groups)
    sums = evidence.by_tag.sum(code, len(keys))
    scatter = evidence.model.scatter
    z = scatter.z(sums) @ scatter.mix
    drawn: list[tuple[str, float, float | None, Estimate]] = []
    print("case  games  rating  result | own moves (95 %)        z | opponents  their moves (95 %)      z")
    for at in range(0, len(keys), 2):
        mine = [game for game in range(len(games)) if case[game] == int(keys[at][0])]
        tags = found.games[mine]
        is_white = white[mine]
        elo = np.where(is_white, tags["white_elo"].to_numpy(), tags["black_elo"].to_numpy())
        other = np.where(is_white, tags["black_elo"].to_numpy(), tags["white_elo"].to_numpy())
        scores = np.array([SCORES[result] for result in tags["result"]])
        points = np.where(is_white, scores, 1 - scores)
        performance = performance_rating(other, float(points.sum()))
        said = [f"{one.value:.0f} ({one.low:.0f}-{one.high:.0f})" for one in rated[at : at + 2]]
        print(
            f"{keys[at][0]:>4}  {len(mine):5}  {elo.mean():6.0f}  {performance:6.0f} | {said[0]:18} {z[at]:+7.1f} | "
            f"{other.mean():9.0f}  {said[1]:18} {z[at + 1]:+7.1f}"
        )
        drawn.append((f"{keys[at][0]}: the player", float(elo.mean()), performance, rated[at]))
        drawn.append(("the opponents", float(other.mean()), None, rated[at + 1]))
    if figures:
        print(save(_picture(drawn), Path(figures), "lucky.png"))


def _picture(drawn: Sequence[tuple[str, float, float | None, Estimate]]) -> Any:
    """Each case in two lines: what the moves show with its interval, the rating, and what the result was worth."""
    figure, axes = new_figure(figsize=(7.5, 0.3 * len(drawn) + 1.6))
    for at, (_, rating, result, moves) in enumerate(drawn):
        y, colour, first = -at - 0.4 * (at // 2), BLUE if result else GREY, at == 0
        axes.plot([moves.low, moves.high], [y, y], color=colour)
        axes.plot(moves.value, y, "o", color=colour, label="moves, 95 % interval" if first else None)
        axes.plot(rating, y, "|", color="black", markersize=12, label="rating" if first else None, linestyle="")
        if result:
            axes.plot(result, y, "D", color=ORANGE, label="what the result was worth" if first else None, linestyle="")
    axes.set_yticks([-at - 0.4 * (at // 2) for at in range(len(drawn))], [name for name, *_ in drawn], fontsize=8)
    axes.set(xlabel="Elo")
    figure.legend(frameon=False, loc="outside lower center", ncols=3)
    return figure


if __name__ == "__main__":
    if sys.argv[1] == "pick":
        pick(*sys.argv[2:4], *(int(arg) for arg in sys.argv[4:]))
    else:
        tell(*sys.argv[2:5])
