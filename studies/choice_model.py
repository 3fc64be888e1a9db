"""The choice model on players that its fit has not seen: python studies/choice_model.py REFERENCE DEPTH [DEPTH ...].

REFERENCE is the folder of the reference set. For each depth: noise a turn, slope, offsets of the marks, coverage of
95 % intervals by number of games and by third of the scale, and what the model of 2006-14 says of 2018-19. Four folds
dealt by player; figures are of held-out turns. With the policy that ships; `--policy FILE` takes another network,
`--policy none` does without.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

import numpy as np

from assay.curve import Curve
from assay.held_out import coverage, noise_per_turn
from assay.moves import reference
from assay.moves.choice.calibrate import Calibrated, Rated, calibrate
from assay.moves.choice.model import human, mixed
from assay.moves.evidence import log_policy
from assay.policy.chances import Network, open_network, shipped

SIZES = (1, 3, 9, 20, 40)
SAMPLES = ("2006-14", "2018-19")


def rated(folder: str, depth: int, network: Network | None) -> dict[str, Rated]:
    """The turns of each sample."""
    found = reference.read(folder, depth)
    turns = found.turns
    whole = Rated(
        found.choices,
        turns["elo"].to_numpy().astype(np.float64),
        turns["mark"].to_numpy().astype(np.int64),
        turns["player"].to_numpy().astype(np.int64),
        turns["game"].to_numpy().astype(np.int64),
        None if network is None else log_policy(found.choices, network),
    )
    return {sample: whole.only((turns["set"] == sample).to_numpy()) for sample in SAMPLES}


def sides(curve: Curve, unit: np.ndarray, *values: np.ndarray) -> tuple[Curve, np.ndarray, list[np.ndarray]]:
    """The curve of each side of each game, its turns, and other values of its first turn."""
    units, code = np.unique(unit, return_inverse=True)
    first = np.unique(code, return_index=True)[1]
    return curve.sum(code, len(units)), np.bincount(code), [value[first] for value in values]


def show_coverage(curve: Curve, elo: np.ndarray, mark: np.ndarray, made: Calibrated, seed: int = 3) -> None:
    """Sides of games of one mark dealt into groups of so many, as if one player had played them."""
    rng = np.random.default_rng(seed)
    print("games  groups  covered   lower  middle  upper   half-width")
    for size in SIZES:
        code = np.full(len(elo), -1)
        count = 0
        for own in np.unique(mark):
            here = rng.permutation(np.flatnonzero(mark == own))
            groups = len(here) // size
            code[here[: groups * size]] = count + np.repeat(np.arange(groups), size)
            count += groups
        inside = code >= 0
        truth = np.bincount(code[inside], elo[inside], count) / size
        found = curve.sum(code, count).estimates(made.model.honesty)
        low, high = np.array([one.low for one in found]), np.array([one.high for one in found])
        share, _, wide = coverage(low, high, truth)
        thirds = [truth < 1950, (truth >= 1950) & (truth < 2350), truth >= 2350]
        parts = [np.mean((low <= truth)[third] & (truth <= high)[third]) for third in thirds]
        print(
            f"{size:5}  {count:6}  {share.value:.3f} +-{share.error:.3f}  "
            + "  ".join(f"{part:.3f}" for part in parts)
            + f"  {wide.value / 2:6.0f}"
        )


def show_others(later: Rated, depth: int, made: Calibrated, plain: Calibrated | None) -> None:
    """Games of other years by the model of 2006-14: noise, slope and offsets by century."""
    later = later.to_depth(depth)
    later = later.only(np.abs(later.best) <= 3)
    by_turn = made.model.curve(later.choices, later.log_policy)
    if plain is not None:
        other = plain.model.curve(later.choices)
        share = human(by_turn, other, np.unique(later.choices.unit, return_inverse=True)[1])
        by_turn = mixed(by_turn, other, share)
        by_turn = Curve(by_turn.table, by_turn.grid + made.model.lift)
    curve, turns, (elo, mark, game) = sides(by_turn, later.choices.unit, later.elo, later.mark, later.game)
    marks = np.unique(mark)
    tops = curve.sum(np.searchsorted(marks, mark), len(marks)).tops()
    at = tops[np.searchsorted(marks, mark)]
    score, bend = curve.slopes(at)
    noise, slope = noise_per_turn(score, -bend, turns.astype(float), mark, elo, at, game)
    print(f"2018-19: {turns.sum()} turns, noise {noise}, slope {slope}; offset by century:")
    for own, top in zip(marks, tops, strict=True):
        here = mark == own
        error = np.sqrt((score[here] ** 2).sum()) / -bend[here].sum()
        print(f"  {own}: {top - elo[here].mean():+5.0f} +- {error:.0f}  ({turns[here].sum()} turns)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reference")
    parser.add_argument("depths", nargs="+", type=int)
    parser.add_argument("--policy", default="shipped")
    given = parser.parse_args()
    network = None
    if given.policy != "none":
        network = shipped() if given.policy == "shipped" else open_network(given.policy)
    for depth in given.depths:
        both = rated(given.reference, max(depth, 8), network)
        begun = time.process_time()
        own = both["2006-14"]
        plain = None if network is None else calibrate(replace(own, log_policy=None), depth)
        made = calibrate(own, depth, plain=plain, told=lambda text: print(f"  {text}", file=sys.stderr))
        print(f"depth {depth}: {made.judgement}; {time.process_time() - begun:.0f} s")
        for own, turns, offset, error in made.judgement.marks:
            print(f"  {own}: {offset:+5.0f} +- {error:.0f}  ({turns} turns)")
        kept = both["2006-14"].to_depth(depth)
        curve, _, (elo, mark) = sides(
            made.curve[made.judged], kept.choices.unit[made.judged], kept.elo[made.judged], kept.mark[made.judged]
        )
        show_coverage(curve, elo, mark, made)
        if len(both["2018-19"]):
            show_others(both["2018-19"], depth, made, plain)


if __name__ == "__main__":
    main()
