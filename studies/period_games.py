"""Choose games of the papers' periods: python studies/period_games.py DATA OUT.pgn [SEED].

DATA is a folder with `otb-mileposts-1976-79` and `otb-mileposts-1991-94` (both players near a century mark). As Regan
and Haworth choose: no team events, at least 20 moves; how large an event was is not known of those years. Marks 2400 to
2600 of both periods, 2300 and 2700 of the later, 96 games each where there are so many, few of one player. Of 2006-09
the reference set has too few games at 2400 and 2600: 32 more, chosen as its own are (the archives that tell how large
an event was are in DATA, too). The order is one game of each cell in turn, so that a run that is cut short is even.
Each has the tags `Sample` and `Mark`.

    assay analyse OUT.pgn --store STORE
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import polars as pl
from reference_games import ARCHIVES, MARKED, PLIES, Row, at_marks, drawn, single, table, tagged, text_of, unpacked

from assay.games import to_arrays
from assay.games.packed import as_bytes, pack
from assay.moves import reference

CELLS = {"1976-79": (2400, 2500, 2600), "1991-94": (2300, 2400, 2500, 2600, 2700)}
MORE = {"2006-09": (2400, 2600)}
A_CELL, A_CELL_MORE = 96, 32
NEAR = 20
REFERENCE = Path(__file__).resolve().parent.parent / "reference"


def more(data: Path, rng: random.Random) -> dict[tuple[str, int], list[str]]:
    """Games of 2006-09 at marks of which the reference set has too few, none of which it has."""
    with tempfile.TemporaryDirectory() as folder:
        tables = {name: table(data, Path(folder), name) for name in (MARKED, *ARCHIVES)}
    texts, players = unpacked(data / f"{MARKED}.pgn.zst"), Counter[str]()
    known = {bytes(key) for key in reference.read(REFERENCE, 8).choices.keys}
    _, fair = at_marks(tables)
    found = {}
    for period, marks in MORE.items():
        for mark in marks:
            own = fair.filter((pl.col("mark") == mark) & (pl.col("year") <= "2009")).sort("n")
            rows: list[Row] = list(own.iter_rows(named=True))
            rng.shuffle(rows)
            arrays = to_arrays([text_of(texts, row) for row in rows])
            late = (arrays.fullmove >= 20).nonzero()[0]
            keys = as_bytes(pack(arrays, late))
            there = {int(arrays.game[at]) for at, key in zip(late, keys, strict=True) if key in known}
            fresh = [row for at, row in enumerate(rows) if at not in there]
            taken = drawn(fresh, A_CELL_MORE, players, (2, 4, 99))
            found[period, mark] = [tagged(text_of(texts, row), period, mark, True) for row in taken]
    return found


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
    cells |= more(data, rng)
    most = max(map(len, cells.values()))
    written = [own[at] for at in range(most) for own in cells.values() if at < len(own)]
    Path(out).write_text("\n".join(written), encoding="utf-8")
    for (period, mark), own in cells.items():
        print(f"{period} {mark}: {len(own)} games")


if __name__ == "__main__":
    main(*sys.argv[1:3], *(int(arg) for arg in sys.argv[3:]))
