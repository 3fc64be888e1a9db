"""How people open: python studies/first_moves.py GAMES... --write src/assay/data/first-moves.npz.

    --every 3       of the games, in the order of the files
    --least 40      games in a position, or it is left out
    --judge         instead: how well the first moves of these games are foretold, by the network alone and as it ships

Counts the first four moves of each side of rated games, by pool and level of the mover; bullet is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from assay.games import read, to_arrays
from assay.games.packed import pack, played_moves
from assay.policy.chances import LEVELS, log_chances, shipped
from assay.policy.first_moves import BANDS, PLIES, count, shipped_first_moves

GAMES, ELO = 4_000, (600, 3000)


def batches(files: list[Path], every: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]]:
    """Keys, moves, ratings and pools of the first plies of games."""
    stream = islice(iter(read(files)), 0, None, every)
    while games := list(islice(stream, GAMES)):
        arrays = to_arrays(games)
        ply = np.arange(arrays.plies) - arrays.offsets[:-1][arrays.game]
        tags = [game.tags for game in games]
        elo = np.array([[_rating(tag.get(name)) for name in ("BlackElo", "WhiteElo")] for tag in tags])
        pool = np.array(["lichess" if "lichess.org" in tag.get("Site", "").lower() else "board" for tag in tags])
        slow = np.array(["bullet" not in tag.get("Event", "").lower() for tag in tags])
        mover = elo[arrays.game, arrays.turn.astype(np.int64)]
        rated = (mover >= ELO[0]) & (mover < ELO[1])
        plies = np.flatnonzero((ply < PLIES) & rated & (arrays.valid & slow)[arrays.game])
        yield pack(arrays, plies), played_moves(arrays, plies), mover[plies], pool[arrays.game[plies]].tolist()


def judge(files: list[Path]) -> None:
    """Mean logarithm of the chance of the move played, and how often it was the likeliest, at levels of 200."""
    book, network, found = shipped_first_moves(), shipped(), []
    for keys, moves, elo, pools in batches(files, 1):
        for pool, level in sorted({(pool, int(one) // 200 * 200 + 100) for pool, one in zip(pools, elo, strict=True)}):
            mine = np.array([one == pool for one in pools]) & (elo // 200 * 200 + 100 == level)
            said = log_chances(network, keys[mine], min(max(level, LEVELS[0]), LEVELS[1]), pool)
            for key, move, begin, end in zip(keys[mine], moves[mine], said.offsets[:-1], said.offsets[1:], strict=True):
                codes, alone = said.moves[begin:end], np.exp(said.logs[begin:end].astype(np.float64))
                at = int(np.flatnonzero(codes == move)[0])
                both = (alone, book.mixed(key, codes, alone, level, pool))
                found.append([value for one in both for value in (np.log(one[at]), one.argmax() == at)])
    nats_alone, first_alone, nats, first = np.mean(found, axis=0)
    print(
        f"{len(found)} positions: the network alone {nats_alone:.3f} nats, {first_alone:.3f} of first moves foretold;"
    )
    print(f"with what was played there {nats:.3f} and {first:.3f}")


def _rating(text: str | None) -> int:
    return int(text) if text and text.strip().isdecimal() and len(text) <= 4 else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, nargs="+")
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--least", type=int, default=40)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--judge", action="store_true")
    given = parser.parse_args()
    if given.judge:
        judge(given.games)
        return
    made = count(batches(given.games, given.every), given.least)
    print(f"{len(made.positions)} positions, {len(made.moves)} moves, played {made.counts.sum():,} times")
    pools = [pool for pool, edges in BANDS.items() for _ in range(len(edges) + 1)]
    for pool, level, times in zip(pools, made.levels, made.counts.sum(axis=0), strict=True):
        print(f"{pool} {level:.0f}: {times:,}")
    if given.write:
        made.write(given.write)


if __name__ == "__main__":
    main()
