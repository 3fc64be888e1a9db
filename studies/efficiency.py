"""Studies 7 and 8: the noise in Elo per turn of each way to the rating, at several depths.

    python studies/efficiency.py GAMES.pgn STORE.db DEPTH...

At each mark the rating has a standard error from the scatter of its games; times the root of the turns it is the noise
of one turn. Shown are the root mean squares over all marks, over 1600-2100 and over 2200-2700. Of the ways with both
parameters free, `equations` may fail where the others do not.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from rated_sample import METHOD, held, read

from assay.errors import AssayError
from assay.moves.regan.calibrate import calibrate
from assay.moves.regan.ipr import crossing, moderated, rate_by_fit
from assay.moves.regan.scale import ARTERY_METHODS, FIT_METHODS, Scale, evidence
from assay.moves.regan.tally import Tally
from assay.table import render

ways = (*ARTERY_METHODS, *FIT_METHODS)


def noise_on_artery(games: Tally, scale: Scale, way: str) -> float:
    """Standard error from the scatter of the games and the slope of z at the rating, times the root of the turns."""
    own = evidence(games, scale, way)  # type: ignore[arg-type]
    z = own.sum(axis=0)
    rating, _ = crossing(games.ratings, z)
    slope = -np.interp(rating, games.ratings, np.gradient(z, games.ratings))
    return float(np.sqrt(moderated(own, games.ratings, rating, 1e-9)[0] * games.turns.sum()) / slope)


def noise_of_fit(sample, scale: Scale, way: str) -> float:  # type: ignore[no-untyped-def]
    line = scale.lines[way]
    still = replace(scale, lines={way: replace(line, covariance=np.zeros((2, 2)))})
    found = rate_by_fit(
        sample.deltas,
        sample.played,
        still,
        games=sample.game,
        elsewhere=sample.elsewhere,
        method=way,
        level=0.6827,  # type: ignore[arg-type]
    )
    return found.half_width * float(np.sqrt(found.turns))


def main() -> None:
    table = []
    for depth in map(int, sys.argv[3:]):
        _, sample = read(sys.argv[1], sys.argv[2], depth)
        scale = calibrate(sample, method=METHOD).scale
        part = held(scale, sample, np.arange(len(sample)))
        marks = np.unique(part.mark)
        noise: dict[str, list[float]] = {way: [] for way in ways}
        for mark in marks:
            games = part.by_game(part.mark == mark)
            for way in ways:
                try:
                    on_artery = way in ARTERY_METHODS
                    one = (
                        noise_on_artery(games, scale, way)
                        if on_artery
                        else noise_of_fit(sample.of(sample.mark == mark), scale, way)
                    )
                except AssayError as error:
                    print(f"{way} at {mark}: {error}", file=sys.stderr)
                    one = np.nan
                noise[way].append(one)
        for label, chosen in (("all", marks > 0), ("1600-2100", marks <= 2100), ("2200-2700", marks >= 2200)):
            row: dict[str, float | int | str] = {
                "depth": depth,
                "marks": label,
                "turns": int(np.isin(sample.mark, marks[chosen]).sum()),
            }
            table.append(
                row | {way: float(np.sqrt(np.nanmean(np.array(values)[chosen] ** 2))) for way, values in noise.items()}
            )
    print(render(table, decimals=dict.fromkeys(ways, 0)))


if __name__ == "__main__":
    main()
