"""Do agents of a rating come back with that rating? They choose moves on the positions of real games of their mark.

    python studies/agents.py GAMES.pgn STORE.db DEPTH... [--draws 8]

Shown is rating minus mark by three ways, on average over the draws, by the shipped calibration.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from rated_sample import MARKS, read, tallied

from assay.moves.calibration import load
from assay.moves.regan.ipr import rate
from assay.moves.regan.projection import Agent
from assay.moves.regan.scale import ArteryMethod
from assay.table import render

WAYS: tuple[ArteryMethod, ...] = ("combined", "error", "match")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games")
    parser.add_argument("store")
    parser.add_argument("depths", type=int, nargs="+")
    parser.add_argument("--draws", type=int, default=8)
    given = parser.parse_args()
    random = np.random.default_rng(1)
    table = []
    for depth in given.depths:
        _, sample = read(given.games, given.store, depth)
        scale = load(depth=depth).usable()
        off: dict[str, list[float]] = {way: [] for way in WAYS}
        for mark in MARKS:
            part = sample.of(sample.mark == mark)
            agent = Agent(*scale.artery.at(float(mark)), seed=random)
            drawn: dict[str, list[float]] = {way: [] for way in WAYS}
            for _ in range(given.draws):
                sides = tallied(scale, replace(part, played=agent.choose_all(part.deltas)))
                for way in WAYS:
                    drawn[way].append(rate(sides, scale, method=way).rating - mark)
            for way in WAYS:
                off[way].append(float(np.mean(drawn[way])))
        for label, chosen_marks in (("1600-2100", slice(0, 6)), ("2200-2700", slice(6, 12))):
            row: dict[str, float | int | str] = {"depth": depth, "marks": label}
            table.append(row | {way: float(np.mean(off[way][chosen_marks])) for way in WAYS})
    print(render(table, decimals=dict.fromkeys(WAYS, 0)))


if __name__ == "__main__":
    main()
