"""Study 2: rate games that the calibration has not seen, century by century.

    python studies/held_out.py GAMES.pgn STORE.db [DEPTH] [FOLDS] [--splits 6]
    python studies/held_out.py OTHERS.pgn STORE.db DEPTH --shipped

Games at the century marks are split into folds; each is rated by a calibration made from the others; and all over again
with other splits, so that the luck of one does not count. With `--shipped`,
the calibration that ships rates other games, by the century of the average of both players and by year (before 2010 and
from then on): games of both players within 20 points of a mark belong to the calibration and must not be among them.
Games in which a player is far below the rating (`assay ipr` notes them) are told, and all is told again without them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np
from rated_sample import Held, cross_fit, held, read, read_all

from assay.errors import AssayError, ModelError
from assay.moves.calibration import load
from assay.moves.regan.ipr import Rating, rate
from assay.moves.regan.zscores import FAR_BELOW, FEWEST_IN_A_GAME, single_z
from assay.table import render

LATER = 2010
Case = tuple[int, float, Rating]


def folded(games: str, store: str, depth: int, folds: int, splits: int) -> list[list[Case]]:
    """Mark, Elo and rating of each fold and mark, for each split; a fold may lack a mark."""
    sample = read(games, store, depth)[1]
    return [
        [
            case(part, int(mark), part.mark == mark)
            for part in cross_fit(sample, folds, seed)
            for mark in np.unique(part.mark)
        ]
        for seed in range(1, splits + 1)
    ]


def others(games: str, store: str, depth: int) -> tuple[list[Case], list[Case]]:
    """Century, Elo and rating of games that the shipped calibration was not made from: all, and those in earnest."""
    turns, sample = read_all(games, store, depth)
    part = held(load(depth=depth).usable(), sample, np.arange(len(sample)))
    century = ((turns.rating + turns.opponent_rating) / 2 // 100 * 100).astype(int)
    later = turns.column("year").astype(float) >= LATER
    of, when = sample.per_side(century), sample.per_side(later)
    z = single_z(part.sides, part.elo, part.scale)
    for side in np.flatnonzero(z < FAR_BELOW):
        number = int(np.unique(turns.game)[part.game[side]]) + 1
        print(f"game {number}: {part.sides.turns[side]:.0f} turns of {part.elo[side]:.0f} with z {z[side]:.1f}")
    lowest = np.nanmin(z[~(z < FAR_BELOW)])
    print(f"{np.isfinite(z).sum()} sides with {FEWEST_IN_A_GAME} turns or more; the next lowest z is {lowest:.1f}")
    earnest = ~np.isin(part.game, part.game[z < FAR_BELOW])

    def cases(kept: np.ndarray) -> list[Case]:
        groups = [(mark, kept & (of == mark) & (when == era)) for mark in np.unique(of) for era in (False, True)]
        return [case(part, int(mark), own) for mark, own in groups if own.any()]

    return cases(np.ones(len(of), dtype=bool)), cases(earnest)


def case(part: Held, century: int, own: np.ndarray) -> Case:
    """The Elo of these sides, and their rating."""
    return century, float(np.average(part.elo[own], weights=part.sides.turns[own])), rate(part.by_game(own), part.scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games")
    parser.add_argument("store")
    parser.add_argument("depth", type=int, nargs="?", default=10)
    parser.add_argument("folds", type=int, nargs="?", default=3, help="at least 2")
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--shipped", action="store_true")
    given = parser.parse_args()
    if given.folds < 2 or given.splits < 1 or given.depth < 1:
        parser.error("at least depth 1, two folds and one split are needed.")
    if given.shipped:
        every, earnest = others(given.games, given.store, given.depth)
        tell([every], f"depth {given.depth}, the shipped calibration")
        if sum(found.games for *_, found in earnest) < sum(found.games for *_, found in every):
            tell([earnest], "without the games far below")
    else:
        found = folded(given.games, given.store, given.depth, given.folds, given.splits)
        tell(found, f"depth {given.depth}, {given.splits} splits into {given.folds} folds")


def tell(by_split: Sequence[Sequence[Case]], how: str) -> None:
    """Print a row per century, and all of it in one line."""
    # Splits of the same games are as many looks at one thing: they do not add up.
    splits, cases = len(by_split), [case for split in by_split for case in split]
    if not cases:
        raise ModelError("no game is near a mark: there is nothing to rate.")
    table = []
    for century in sorted({case[0] for case in cases}):
        own = [(elo, found) for mark, elo, found in cases if mark == century]
        weight = np.array([found.half_width**-2.0 for _, found in own])
        off = np.array([found.rating - elo for elo, found in own])
        elo = float(np.average([elo for elo, _ in own], weights=weight))
        error = float(np.average(off, weights=weight))
        table.append(
            {
                "elo": elo,
                "games": sum(found.games for _, found in own) // splits,
                "turns": sum(found.turns for _, found in own) // splits,
                "ipr": elo + error,
                "error": error,
                "half_width": float((weight.sum() / splits) ** -0.5),
                "inside": f"{sum(found.low <= elo <= found.high for elo, found in own)} of {len(own)}",
                "century": century,
            }
        )
    shown = [name for name in table[0] if name != "century"]
    print(
        render([{name: row[name] for name in shown} for row in table], decimals=dict.fromkeys(("elo", *shown[3:6]), 0))
    )
    errors = np.array([found.rating - elo for _, elo, found in cases])
    holds = np.array([found.low <= elo <= found.high for _, elo, found in cases])
    line = np.polyfit([row["elo"] for row in table], [row["ipr"] for row in table], 1) if len(table) > 1 else [np.nan]
    centuries = [row for row in table if 1700 <= row["century"] <= 2600]
    print(f"{how}: {holds.mean():.0%} of {len(cases)} intervals hold the Elo", end="")
    if splits > 1:
        ends = np.cumsum([len(split) for split in by_split])[:-1]
        single = [int(part.sum()) for part in np.split(holds, ends)]
        print(f" ({min(single)} to {max(single)} of {len(cases) // splits} in a single split)", end="")
    deviation = errors.std(ddof=1) if len(errors) > 1 else np.nan
    print(f"; mean error {errors.mean():+.0f}, SD {deviation:.0f}; slope of IPR on Elo {line[0]:.2f}; ", end="")
    print(f"{sum(abs(row['error']) <= 60 for row in centuries)} of {len(centuries)} centuries 1700-2600 within 60")


if __name__ == "__main__":
    try:
        main()
    except AssayError as error:
        sys.exit(f"held_out: {error}")
