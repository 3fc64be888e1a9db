"""Encode games of players that no model has learned from, evenly over ratings and with several games of each.

    python studies/learned_held.py FILE... -o DATASET --range 600:3000 [--players N] [--games 12] [--max-plies 128]

A learned model is tuned and judged on players of the validation and test sets. A random part of their games has few
players with nine games, and few at the ends of the scale. Here of every band of 100 Elo, speed and set N players are
drawn who have nine games or more and N who have fewer, with the first games of each. Games without names are left out.
A dataset that is there already stays as it is.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from assay.games import read
from assay.learned.build import Selection, build_dataset
from assay.players import SPLITS, player_id, split_of
from assay.pools import Bands
from assay.table import render

SEVERAL = 9
Cell = tuple[str, str, int, bool]  # set, speed, band, whether there are several games


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--range", required=True, help="the bands of the model, such as 600:3000")
    parser.add_argument("--players", type=int, default=30, help="of every set, speed and band, with many and few games")
    parser.add_argument("--games", type=int, default=12, help="of a player and speed at most")
    parser.add_argument("--max-plies", type=int, default=128)
    given = parser.parse_args()
    if given.out.exists():
        print(f"{given.out} is there already.")
        return
    low, high = map(int, given.range.split(":"))
    bands = Bands(low, high, 100)
    wanted = drawn(_players(given.files, bands), given.players)
    left = Counter(dict.fromkeys(wanted, given.games))

    def chosen(tags: pl.DataFrame) -> np.ndarray:
        keep = []
        for row in _rows(tags, bands):
            found = [who for who in row if left[who[0]] > 0]
            for who, _ in found:
                left[who] -= 1
            keep.append(bool(found))
        return np.array(keep, dtype=bool)

    settings = {"players": given.players, "games of a player": given.games}
    built = build_dataset(
        given.files, given.out, Selection(bands, given.max_plies), chosen=chosen, settings=settings, quiet=False
    )
    print(render([{"set": name, "games": count} for name, count in built.games.items()]))


def _players(files: list[Path], bands: Bands) -> dict[tuple[int, str], list[float]]:
    """The ratings of every held-out player in each speed."""
    found: dict[tuple[int, str], list[float]] = defaultdict(list)
    for _, tags in read(files).tagged():
        for row in _rows(tags, bands):
            for who, rating in row:
                found[who].append(rating)
    return found


def _rows(tags: pl.DataFrame, bands: Bands) -> Iterator[list[tuple[tuple[int, str], float]]]:
    """Of each game the held-out players, with the speed and the rating; none of a game that cannot be taken."""
    for white, black, *ratings, speed in tags.select("white", "black", "white_elo", "black_elo", "speed").iter_rows():
        names = player_id(white), player_id(black)
        rated = all(rating is not None and bands.least <= rating < bands.end for rating in ratings)
        yield [
            ((name, speed or ""), float(rating))
            for name, rating in zip(names, ratings, strict=True)
            if rated and None not in names and name is not None and split_of(name) != SPLITS[0]
        ]


def drawn(players: dict[tuple[int, str], list[float]], most: int) -> set[tuple[int, str]]:
    """So many players of every cell."""
    cells: dict[Cell, list[tuple[int, str]]] = defaultdict(list)
    for who, ratings in players.items():
        band = round(float(np.mean(ratings)) / 100)
        cells[split_of(who[0]), who[1], band, len(ratings) >= SEVERAL].append(who)
    rng = np.random.default_rng(1)
    return {some[i] for _, some in sorted(cells.items()) for i in rng.permutation(len(some))[:most].tolist()}


if __name__ == "__main__":
    main()
