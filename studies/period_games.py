"""Choose games of the papers' earlier periods: python studies/period_games.py DATA OUT.pgn [SEED].

DATA is a folder with `otb-mileposts-1976-79` and `otb-mileposts-1991-94` (both players near a century mark). As Regan
and Haworth choose: no team events, at least 20 moves; how large an event was is not known of those years. Marks 2400 to
2600 of both periods, 2300 and 2700 of the later, 96 games each where there are so many, few of one player. The order is
one game of each cell in turn, so that a run that is cut short is even. Each has the tags `Sample` and `Mark`.

    assay analyse OUT.pgn --store STORE
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
from reference_games import PLIES, Row, drawn, single, table, tagged, text_of, unpacked

CELLS = {"1976-79": (2400, 2500, 2600), "1991-94": (2300, 2400, 2500, 2600, 2700)}
A_CELL = 96
NEAR = 20


def main(data_folder: str, out: str, seed: int = 1976) -> None:
    data, rng = Path(data_folder), random.Random(seed)
    cells: dict[tuple[str, int], list[str]] = {}
    for period, marks in CELLS.items():
        name = f"otb-mileposts-{period}"
        with tempfile.TemporaryDirectory() as folder:
            games = table(data, Path(folder), name)
        texts, players = unpacked(data / f"{name}.pgn.zst"), Counter[str]()
        for mark in marks:
            near = pl.max_horizontal((pl.col("white_elo") - mark).abs(), (pl.col("black_elo") - mark).abs()) <= NEAR
            pool: list[Row] = list(
                single(games).filter(near & (pl.col("plies") >= PLIES)).sort("n").iter_rows(named=True)
            )
            rng.shuffle(pool)
            taken = drawn(pool, A_CELL, players, (4, 8, 16, 99))
            cells[period, mark] = [tagged(text_of(texts, row), period, mark, True) for row in taken]
    most = max(map(len, cells.values()))
    written = [own[at] for at in range(most) for own in cells.values() if at < len(own)]
    Path(out).write_text("\n".join(written), encoding="utf-8")
    for (period, mark), own in cells.items():
        print(f"{period} {mark}: {len(own)} games")


if __name__ == "__main__":
    main(*sys.argv[1:3], *(int(arg) for arg in sys.argv[3:]))
