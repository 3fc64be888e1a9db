"""Value the games that lines of pools are fitted on: python studies/pool_values.py GAMES.pgn STORE [--workers 1].

GAMES.pgn comes from `studies/pool_games.py`. As `assay analyse GAMES.pgn --depth 6 --store STORE`, with less work:
the side of a user whose history it is (tag `User`) is left out, since no line counts it, and so are positions that one
line of the same depth finds far beyond the three pawns within which turns count (some third of those of quick games).
A run that is cut short goes on where it stopped. Studies ask `counting` which games of a store are whole.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.engine.analysis import value
from assay.engine.choices import load_spreads
from assay.engine.identity import Identity, Search
from assay.engine.parsed import Wanted, read_plies
from assay.engine.store import Store
from assay.games import Game, read

DEPTH, LINES = 6, 50
FAR = 4.5  # pawns: what one line says there, all lines say within the limit of 3 almost never
A_CHUNK = 60


def positions(games: Sequence[Game]) -> list[list[bytes]]:
    """Of each game the positions of the sides that count, from move 9 on."""
    plies = read_plies(games, 9)
    users = np.array([{"White": 1, "Black": 0}.get(game.tags.get("User", ""), -1) for game in games])
    counts = ~plies.repeated & (users[plies.game] != plies.white)
    found: list[list[bytes]] = [[] for _ in games]
    for name, game, own in zip(plies.names, plies.game.tolist(), counts.tolist(), strict=True):
        if own:
            found[game].append(name)
    return found


def wanted(keys: Sequence[Sequence[bytes]]) -> Wanted:
    """These positions as an analysis takes them."""
    distinct = list(dict.fromkeys(key for some in keys for key in some))
    return Wanted(keys=distinct, read=len(keys), turns=len(distinct))


def near(store: Store, one_line: Identity, depth: int, keys: set[bytes]) -> dict[bytes, bool]:
    """Of the positions that one line has valued, whether they are to be valued whole."""
    found = load_spreads(store, [one_line], depth, keys)
    names = list(keys)
    at = found.find(names)
    best = np.abs(found.best(at))
    return {name: bool(value <= FAR) for name, row, value in zip(names, at, best, strict=True) if row >= 0}


def counting(games: Sequence[Game], store: Store, depth: int = DEPTH) -> NDArray[np.bool_]:
    """Which games are valued whole: every position of a side that counts has all its moves valued or lies far off."""
    every = positions(games)
    keys = {key for some in every for key in some}
    whole = store.choose(None, depth=depth, lines=LINES)
    held = store.holds(whole, depth, keys).keys() | store.out(whole, keys).keys()
    if any(kept.identity.lines == 1 for kept in store.kept()):
        one_line = store.choose(None, depth=depth, lines=1)
        held |= {key for key, close in near(store, one_line, depth, keys - held).items() if not close}
    return np.array([all(key in held for key in some) for some in every])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("games")
    parser.add_argument("store")
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()
    games = list(read(args.games))
    every = positions(games)
    total = sum(map(len, every))
    done = 0
    with Store(args.store, create=True) as store:
        for begin in range(0, len(games), A_CHUNK):
            some = every[begin : begin + A_CHUNK]
            first = wanted(some)
            looked = value(first, store, Search(depth=DEPTH, lines=1), workers=args.workers, quiet=True)
            close = near(store, looked.identity, DEPTH, set(first.keys))
            rest = wanted([[key for key in own if close.get(key, True)] for own in some])
            value(rest, store, Search(depth=DEPTH, lines=LINES), workers=args.workers, quiet=True)
            done += sum(map(len, some))
            print(f"{begin + len(some)} of {len(games)} games, {done} of {total} positions", flush=True)


if __name__ == "__main__":
    main()
