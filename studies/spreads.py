"""What the studies of the intrinsic model share: turns of games from a store, and rows printed as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.engine.store import Store
from assay.engine.turns import Turns, turns
from assay.games import read
from assay.table import render


def load(games: str, store: str, depth: int) -> Turns:
    """The turns of a PGN file at a depth."""
    with Store(store) as opened:
        found = turns(read(games), opened, depth=depth)
    print(f"{found.games.height:,} games, {len(found):,} turns at depth {depth}")
    return found


def show(rows: Sequence[Mapping[str, Any]], **decimals: int) -> None:
    """Print rows."""
    print(render(rows, decimals=decimals), flush=True)
