"""Screening on players that the model has not seen: python studies/screening.py REFERENCE DEPTH [--policy none].

REFERENCE is the folder of the reference set. Sides of games of one mark, each judged by a fit that has not seen its
player, are put together as if one player had played an event: mean, spread and tails of their z's, by band; how often
z passes 4 when a share of the moves, from move 12 on, is the engine's best (the judge's own engine: the easy case).
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from choice_model import rated

from assay.moves.choice.calibrate import Calibrated, Rated, calibrate
from assay.moves.choice.measures import measure, scores
from assay.moves.choice.model import log_chances, strength
from assay.policy.chances import shipped

GAMES = (1, 3, 9, 27)
SHARES = (0.1, 0.2, 0.3, 0.5)
BANDS = ((1550, 1950), (1950, 2350), (2350, 2750))


def dealt(side: np.ndarray, mark: np.ndarray, games: int, rng: np.random.Generator) -> np.ndarray:
    """The event of each turn: sides of one mark by so many, -1 for those left over."""
    units, first = np.unique(side, return_index=True)
    event, count = np.full(len(units), -1), 0
    for own in np.unique(mark):
        here = rng.permutation(np.flatnonzero(mark[first] == own))
        groups = len(here) // games
        event[here[: groups * games]] = count + np.repeat(np.arange(groups), games)
        count += groups
    return event[np.searchsorted(units, side)]


def z_of(of: Rated, made: Calibrated, played: np.ndarray, event: np.ndarray) -> np.ndarray:
    """The combined z of every event, given the moves played."""
    choices, scatter = of.choices, made.model.scatter
    inner = strength(of.elo)[choices.turn]
    log_p = log_chances(made.g0 + inner * made.g1, choices.start, choices.turn)
    sums = measure(scores(choices), np.exp(log_p), choices)
    actual = scores(choices)[choices.start[:-1] + played].astype(float)
    whole = type(sums)(sums.turns, actual, sums.expected, sums.covariance).sum(event, int(event.max()) + 1)
    return np.asarray(scatter.z(whole) @ scatter.mix)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reference")
    parser.add_argument("depth", type=int)
    parser.add_argument("--policy", choices=("shipped", "none"), default="shipped")
    given = parser.parse_args()
    network = shipped() if given.policy == "shipped" else None
    of = rated(given.reference, max(given.depth, 8), network)["2006-14"]
    plain = None if network is None else calibrate(replace(of, log_policy=None), given.depth)
    made = calibrate(of, given.depth, plain=plain)
    of = of.to_depth(given.depth)
    judged = made.judged
    rows = judged[of.choices.turn]
    made = Calibrated(made.model, made.judgement, judged[judged], made.curve[judged], made.g0[rows], made.g1[rows])
    of = of.only(judged)
    rng = np.random.default_rng(1)
    print("games  events   mean    SD  beyond 2.5   beyond 3   beyond 4   mean by band")
    for games in GAMES:
        event = dealt(of.choices.unit, of.mark, games, rng)
        z = z_of(of, made, of.choices.played, event)
        elo = np.bincount(event[event >= 0], of.elo[event >= 0]) / np.bincount(event[event >= 0])
        bands = "  ".join(f"{z[(elo >= low) & (elo < high)].mean():+.2f}" for low, high in BANDS)
        tails = "  ".join(f"{(z > bound).mean():9.2%}" for bound in (2.5, 3, 4))
        print(f"{games:5}  {len(z):6}  {z.mean():+.2f}  {z.std(ddof=1):.2f}  {tails}   {bands}")
    best = np.array([int(np.argmax(part.codes[:, -1])) for part in of.choices.parts(1)])
    print("\nshare helped   z > 4 by games " + "  ".join(f"{games:6}" for games in GAMES))
    for share in SHARES:
        helped = (rng.random(len(of)) < share) & (of.choices.ply >= 22)
        played = np.where(helped, best, of.choices.played)
        power = [(z_of(of, made, played, dealt(of.choices.unit, of.mark, g, rng)) > 4).mean() for g in GAMES]
        print(f"{share:12.0%}                  " + "  ".join(f"{one:6.1%}" for one in power))


if __name__ == "__main__":
    main()
