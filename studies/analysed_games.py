"""Write the games whose positions a store holds: python studies/analysed_games.py GAMES STORE OUT.pgn [DEPTH].

Positions of the opening are shared by many games, so a store that holds 284 games also holds a few turns of thousands
of others; counted along, these would be openings alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

from assay.engine.parsed import wanted
from assay.engine.store import Store
from assay.games import read


def main(games: str, store: str, out: str, depth: int = 10) -> None:
    with Store(store) as opened:
        identity = opened.choose(depth=depth)
        kept = []
        for game in read(games):
            keys = wanted([game], from_move=9).keys
            stored = {**opened.holds(identity, depth, keys), **opened.out(identity, keys)}
            if len(keys) and len(stored) >= 0.95 * len(keys):
                kept.append(game)
    Path(out).write_text("\n".join(game.text.strip() + "\n" for game in kept), encoding="utf-8")
    print(f"{len(kept)} games written to {out}")


if __name__ == "__main__":
    main(*sys.argv[1:4], *(int(arg) for arg in sys.argv[4:]))
