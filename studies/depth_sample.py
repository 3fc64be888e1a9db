"""Study 8, deeper: what a deeper search adds, on a sample of positions of many games.

    python studies/depth_sample.py GAMES.pgn STORE.db [--depth 12] [--per-game 2] [--workers N] [--beside D10.db]

Takes so many positions of every game at the century marks, drawn at random, values all their moves to the depth asked
for (into STORE.db; what is there costs nothing, so that the command resumes), and compares the depths on these very
turns. One player (s, c) is fitted to all turns of a depth; what was played less what that player would have done,
regressed on Elo, gives a slope; noise is the scatter over the slope, that is the standard error of a rating from one
turn. A slope found from few turns is too steep on average, by its own variance, which is taken off. Turns of one game
are taken as independent. Errors are from bootstrapping games, with the same games drawn for every depth. With a store
of the same games to depth 10 beside it: how many more nodes the deeper search takes, and the noise on all its turns.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rated_sample import MARKS, METHOD

from assay.engine.analysis import value
from assay.engine.identity import Search
from assay.engine.parsed import Wanted, wanted
from assay.engine.store import Store, writing
from assay.engine.turns import turns
from assay.games import Game, read
from assay.moves.calibrating import sample_of
from assay.moves.groups import mileposts
from assay.moves.regan import fit, move_probabilities
from assay.table import render

DRAWS = 400


def positions(games: list[Game], per_game: int) -> Wanted:
    """Of each game so many positions at random, the first of every game before any second."""
    whole, random = wanted(games), np.random.default_rng(12)
    mixed = [random.permutation(game)[:per_game] for game in whole.games]
    keys = [whole.keys[game[turn]] for turn in range(per_game) for game in mixed if turn < len(game)]
    return Wanted(keys=list(dict.fromkeys(keys)), read=whole.read)


def surplus(games: list[Game], store: Store, depth: int) -> tuple[NDArray[np.int64], ...]:
    """Of each turn its number, game and Elo, and matches, top-3 and error beyond what the common player would have."""
    found = turns(games, store, depth=depth)
    kept, sample = sample_of(found, mileposts(found, MARKS, 20))
    common = fit(sample.deltas, sample.played, method=METHOD, elsewhere=sample.elsewhere)
    chance = move_probabilities(sample.deltas, common.s, common.c)
    losses = np.where(np.isfinite(sample.deltas), sample.deltas, 0)
    error = np.where(sample.played < 0, sample.elsewhere, losses[np.arange(len(losses)), np.maximum(sample.played, 0)])
    expected = np.column_stack((chance[:, 0], chance[:, :3].sum(axis=1), (chance * losses).sum(axis=1)))
    actual = np.column_stack((sample.played == 0, (sample.played >= 0) & (sample.played < 3), error))
    return kept.game * 10_000 + kept.ply, kept.game, kept.rating, actual - expected


def noise(elo: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Elo of noise per turn of the best linear combination of these columns."""
    away = elo - elo.mean()
    slope = away @ values / (away @ away)
    rest = values - values.mean(axis=0) - np.outer(away, slope)
    information = slope @ np.linalg.solve(np.atleast_2d(np.cov(rest.T)), slope) - values.shape[1] / (away @ away)
    return float(information**-0.5) if information > 0 else np.inf


def beside(games: list[Game], deep: Store, store: Store) -> str:
    """Nodes of the deeper search over those of the other, where both know a position, and the noise of the other."""
    nodes = [{v.key: v.nodes for kept in some.kept() for v in some.all_valued(kept.id)} for some in (deep, store)]
    both = [key for key in nodes[0].keys() & nodes[1].keys() if nodes[1][key]]
    ratio = sum(nodes[0][key] for key in both) / sum(nodes[1][key] for key in both)
    _, _, elo, values = surplus(games, store, 10)
    return (
        f"{ratio:.2f} times the nodes ({len(both):,} positions); at depth 10 on {len(elo):,} turns: "
        f"error {noise(elo, values[:, [2]]):.0f}, combined {noise(elo, values):.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("games", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--per-game", type=int, default=2)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--beside", type=Path, help="a store of the same games to depth 10")
    args = parser.parse_args()

    games = list(read(args.games))
    with writing(args.store) as store:
        value(positions(games, args.per_game), store, Search(depth=args.depth), workers=args.workers)
        depths = range(4, args.depth + 1)
        found = {depth: surplus(games, store, depth) for depth in depths}
    shared = np.array(sorted(set.intersection(*(set(numbers.tolist()) for numbers, *_ in found.values()))))
    same = {depth: [column[np.isin(some[0], shared)] for column in some[1:]] for depth, some in found.items()}
    game, elo, _ = same[args.depth]
    rows_of = [np.flatnonzero(game == one) for one in np.unique(game)]
    random = np.random.default_rng(1)
    draws = [np.concatenate([rows_of[i] for i in random.integers(0, len(rows_of), len(rows_of))]) for _ in range(DRAWS)]
    drawn = {
        depth: np.array([[noise(elo[rows], values[rows][:, which]) for which in ([2], [0, 1, 2])] for rows in draws])
        for depth, (_, _, values) in same.items()
    }
    table = []
    for depth, (_, _, values) in same.items():
        ratio = np.log(drawn[depth] / drawn[10])
        steady = np.isfinite(ratio).all(axis=1)
        error, combined = noise(elo, values[:, [2]]), noise(elo, values)
        table.append(
            {
                "depth": depth,
                "error": error,
                "combined": combined,
                "error_to_10": error / noise(elo, same[10][2][:, [2]]),
                "combined_to_10": combined / noise(elo, same[10][2]),
                "error_se": float(ratio[steady, 0].std()),
                "combined_se": float(ratio[steady, 1].std()),
                "unsteady": int((~steady).sum()),
            }
        )
    print(render(table, decimals={"error": 0, "combined": 0}))
    print(f"{len(shared):,} turns of {len(rows_of):,} games; {DRAWS} draws")
    if args.beside:
        with Store(args.store) as deep, Store(args.beside) as other:
            print(beside(games, deep, other))


if __name__ == "__main__":
    main()
