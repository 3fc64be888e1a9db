"""Write the reference set: python studies/reference_set.py GAMES.pgn FOLDER STORE [STORE ...].

GAMES.pgn comes from `studies/reference_games.py`; its games say which part they belong to. A part is written to the
folder as soon as a store holds all its games, at the greatest depth (10 or 8) at which that is so; run it again as the
analysis goes on. Prints each part with its turns and size, and writes SHA256SUMS. The columns are described in
`assay.moves.reference`.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl

from assay.engine.store import Store
from assay.engine.turns import Turns, turns
from assay.games import Game, read
from assay.moves import reference
from assay.moves.choice.calibrate import LEARNED

DEPTHS = (10, 8)
LACKING = "not analysed"
TOLERATED = 0.01  # analyses made elsewhere leave out positions with one legal move


def main(games: str, folder: str, *stores: str) -> None:
    out = Path(folder)
    out.mkdir(exist_ok=True)
    everything = list(read(games))
    numbers: dict[str, int] = {}
    for game in everything:
        for side in ("White", "Black"):
            numbers.setdefault(game.tags[side], len(numbers))
    first = 0
    for part, group in groupby(everything, key=lambda game: int(game.tags["Part"])):
        some = list(group)
        first += len(some)
        found = best(some, stores)
        name = f"part-{part:02}"
        if found is None:
            print(f"{name}: not all of its games are analysed")
            continue
        reference.write(out, name, found.choices, frame(found, some, first - len(some), numbers), found.identities[0])
        size = sum(file.stat().st_size for file in out.glob(f"{name}.*"))
        print(f"{name}: depth {found.choices.depth}, {len(some)} games, {len(found.choices)} turns, {size:,} bytes")
    sums = "".join(f"{digest}  {name}\n" for name, digest in reference.checksums(out).items())
    (out / "SHA256SUMS").write_text(sums)


def best(some: list[Game], stores: tuple[str, ...]) -> Turns | None:
    """The turns of these games from the store that holds all of them deepest."""
    for depth in DEPTHS:
        for path in stores:
            with Store(path) as store:
                if not any(entry.depth >= depth for entry in store.kept()):
                    continue
                found = turns(some, store, depth=depth, limit=LEARNED)
            if found.excluded[LACKING] <= TOLERATED * len(found.choices):
                return found
    return None


def frame(found: Turns, some: list[Game], first: int, numbers: dict[str, int]) -> pl.DataFrame:
    """What is known of each turn, with numbers for names."""
    tags = [game.tags for game in some]
    sides = [("White", "Black")[not white] for white in found.white]
    others = [("White", "Black")[bool(white)] for white in found.white]
    own = [tags[game] for game in found.game]

    def whole(values: list[int], kind: pl.DataType) -> pl.Series:
        return pl.Series(values, dtype=kind)

    return pl.DataFrame(
        {
            "game": pl.Series(found.game + first, dtype=pl.Int16()),
            "set": [tag["Sample"] for tag in own],
            "mark": whole([int(tag["Mark"]) for tag in own], pl.Int16()),
            "selected": [tag["Selected"] == "1" for tag in own],
            "player": whole([numbers[tag[side]] for tag, side in zip(own, sides, strict=True)], pl.Int16()),
            "opponent": whole([numbers[tag[side]] for tag, side in zip(own, others, strict=True)], pl.Int16()),
            "elo": whole([int(tag[f"{side}Elo"]) for tag, side in zip(own, sides, strict=True)], pl.Int16()),
            "opponent_elo": whole([int(tag[f"{side}Elo"]) for tag, side in zip(own, others, strict=True)], pl.Int16()),
            "year": whole([int(tag["Date"][:4]) for tag in own], pl.Int16()),
            "ply": pl.Series(np.asarray(found.choices.ply), dtype=pl.Int16()),
        }
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
