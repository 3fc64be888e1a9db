"""Study 2: 3,289 rapid games near 2000 (Stockfish 17, depth 12, 20 lines): the four ways of fitting side by side.

python studies/model_2_rapid.py multipv-rapid-2000.jsonl.zst [MOST_TURNS]

RH11 tells that maximum likelihood fits worse than percentiling where it matters: its projected error is off.
"""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import zstandard
from spreads import show

from assay.moves.regan import elsewhere_deltas, fit, scaled_deltas

LINES = 20


def main(path: str, most: int = 10**9) -> None:
    values, played, games = [], [], []
    with open(path, "rb") as file:  # noqa: PTH123
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True), "utf-8")
        for line in text:
            row = json.loads(line)
            sign = 1 if row["ply"] % 2 == 0 else -1
            pawns = [sign * cp / 100 for cp in row["cp_white"]]
            if row["ply"] < 16 or len(pawns) < 2 or abs(pawns[0]) > 3 or sorted(pawns, reverse=True) != pawns:
                continue
            values.append(pawns + [np.nan] * (LINES - len(pawns)))
            # Every negative index means outside the list.
            played.append(max(row["played"], -1))
            games.append(hash((row["file"], row["game"])))
            if len(played) == most:
                break
    array = np.array(values)
    elsewhere = elsewhere_deltas(array)
    where, game = np.array(played), np.array(games)
    print(f"{len(played):,} turns of {len(set(games)):,} games; played outside the 20 lines: {(where < 0).mean():.1%}")
    decimals = dict.fromkeys(("s", "c", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual"), 3)
    for title, use, cap in (
        ("no cap, moves outside the list left out (as in the first look at these games)", where >= 0, 100.0),
        ("cap 4, moves outside the list left out", where >= 0, 4.0),
        ("cap 4, moves outside the list counted as errors of the cap: the project's default", where >= -1, 4.0),
    ):
        rows, deltas = [], scaled_deltas(array, cap=cap)
        for method in ("ranks", "equations", "percentile", "likelihood"):
            f = fit(deltas[use], where[use], method=method, games=game[use], elsewhere=elsewhere[use])
            names = ("s", "s_error", "c", "c_error", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual", "qfit")
            rows.append({"method": method} | {name: getattr(f, name) for name in names} | {"turns": f.turns})
        print(title)
        show(rows, **decimals, s_error=4, c_error=4)


if __name__ == "__main__":
    main(sys.argv[1], *(int(arg) for arg in sys.argv[2:]))
