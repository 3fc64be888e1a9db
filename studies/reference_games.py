"""Choose the games of the reference set: python studies/reference_games.py DATA OUT.pgn [SEED].

DATA is a folder with rated games: `otb-mileposts-2006-14` (both players near a century mark), `otb-2018-19` (both in
one century), the archives that tell how large an event was (`otb-all-2006-09`, `otb-all-2010-14`,
`otb-results-2010-14`), and games that are analysed already (`reference-games` to depth 8,
`analysis-sf15.1-d10` to depth 10), which are taken first, since engine time is dear.

As Regan and Haworth choose: no team events, no large Swisses (more than six players a round), at least 20 moves. Marks
1600 to 2700 get 128 games each, where there are enough, and of the later years centuries from 1300 on get 22. Of 1600
and 1700, where few are left, games at depth 10 that are not so chosen are kept, marked. OUT.pgn has the games in the
order in which they are to be analysed, each with the tags `Sample`, `Mark`, `Selected` and `Part`.
"""

from __future__ import annotations

import json
import math
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import zstandard

from assay.games import to_arrays
from assay.games.indexing import index
from assay.games.packed import decode_move, played_moves

MARKS = range(1600, 2701, 100)
CENTURIES = range(1300, 2701, 100)
A_MARK, A_CENTURY = 128, 22
A_PART = 160
SCARCE = (1600, 1700)
PLAYERS_A_ROUND = 6
PLIES = 40
TEXTS = ("event", "site", "date", "round", "white", "black", "result")
EVENT = ("event", "site", "year")
SAME = ("white", "black", "date", "event", "round")
# Teams, and what is not slow chess: names of events in many languages.
NOT_SINGLE = re.compile(
    r"\bteams?\b|t-?ch\b|\btch|\bch-?t\b|team|olympiad|league|\w*lig[ae]\b|ligue|4ncl|\becc\b|\betcc\b|\bwtcc\b"
    r"|\beu-?cup"
    r"|clubs?\b|mitropa|nationale\b|national (i|ii|iii|1|2|3)\b|interclub|equip[oae]s|squadre|mannschaft"
    r"|\bdiv(ision)?\b"
    r"|elitserien|divisie|meesterklasse|ploeg|klubi|\bcto\b|scheven|nations\b|cities|\bgames\b|[A-Z]{3}-[A-Z]{3}\b.*match"
    r"|match.*[A-Z]{3}-[A-Z]{3}|\b(CHN|RUS)-(CHN|RUS)|(croatian|serbian?|russian?) cup|top ?(12|16)\b"
    r"|\bvs\b|rapid|blitz"
    r"|blind|basque|sportaccord|armageddon|simul|exhib|\bKO\b.*(rapid)",
    re.IGNORECASE,
)
# Games near the marks, and the archives that tell how large an event was.
MARKED, ARCHIVES = "otb-mileposts-2006-14", ("otb-all-2006-09", "otb-all-2010-14", "otb-results-2010-14")
Row = dict[str, Any]


def table(data: Path, folder: Path, name: str) -> pl.DataFrame:
    """The tags of an archive, numbered."""
    index([str(data / f"{name}.pgn.zst")], folder / f"{name}.parquet", quiet=True)
    frame = pl.read_parquet(folder / f"{name}.parquet").with_columns(pl.col(text).cast(pl.String) for text in TEXTS)
    return frame.with_row_index("n").with_columns(pl.col("date").str.slice(0, 4).alias("year"))


def text_of(data: bytes, row: Row) -> str:
    return data[row["start_offset"] : row["end_offset"]].decode("utf-8", "replace").strip()


def unpacked(path: Path) -> bytes:
    with zstandard.open(path, "rb") as file:
        return bytes(file.read())


def fields(archives: list[pl.DataFrame]) -> pl.DataFrame:
    """Players and rounds of each event."""
    number = pl.col("round").str.extract(r"^(\d+)").cast(pl.Int32).alias("number")
    games = pl.concat([frame.select(*TEXTS, "year") for frame in archives]).with_columns(number)
    sides = [games.select(*EVENT, "number", pl.col(side).alias("player")) for side in ("white", "black")]
    each = pl.concat(sides).group_by(*EVENT, "player").agg(pl.len().alias("games"), pl.col("number").max())
    rounds = pl.max_horizontal(pl.col("games").max(), pl.col("number").max().fill_null(0))
    return each.group_by(*EVENT).agg(pl.len().alias("players"), rounds.alias("rounds"))


def single(frame: pl.DataFrame) -> pl.DataFrame:
    """Without team events."""
    is_team = pl.col("event").map_elements(lambda name: bool(NOT_SINGLE.search(name)), return_dtype=pl.Boolean)
    return frame.with_columns(is_team.fill_null(False).alias("team")).filter(~pl.col("team"))


def deep_games(path: Path, games: pl.DataFrame, data: bytes) -> set[int]:
    """The games whose analyses to depth 10 are at hand: same ratings, year and result, and the same moves."""
    deep: dict[str, Row] = {}
    with zstandard.open(path, "rt") as lines:
        for line in lines:
            row = json.loads(line)
            deep.setdefault(row["game"], {**row, "moves": {}})["moves"][row["ply"]] = row["played"]
    by: dict[tuple[Any, ...], list[Row]] = {}
    for row in games.iter_rows(named=True):
        by.setdefault((row["white_elo"], row["black_elo"], int(row["year"]), row["result"]), []).append(row)
    found = set()
    for entry in deep.values():
        like = by.get((entry["white_elo"], entry["black_elo"], entry["year"], entry["result"]), [])
        arrays = to_arrays([text_of(data, row) for row in like])
        for at, row in enumerate(like):
            plies = np.arange(arrays.offsets[at], arrays.offsets[at + 1])
            moves = [decode_move(int(code)) for code in played_moves(arrays, plies)]
            if all(ply < len(moves) and moves[ply] == move for ply, move in entry["moves"].items()):
                found.add(row["n"])
                break
    return found


def drawn(pool: list[Row], count: int, players: Counter[str], caps: tuple[int, ...]) -> list[Row]:
    """So many games of a shuffled pool, few of one player as long as it can be."""
    taken: list[Row] = []
    for cap in caps:
        for row in pool:
            if len(taken) >= count:
                return taken
            if row in taken or max(players[row["white"]], players[row["black"]]) >= cap:
                continue
            taken.append(row)
            players.update((row["white"], row["black"]))
    return taken


def in_turn(rows: dict[int, list[Row]]) -> list[tuple[Row, int]]:
    """One of each mark after the other, so that a run that is cut short is even."""
    most = max(map(len, rows.values()))
    return [(own[at], mark) for at in range(most) for mark, own in sorted(rows.items()) if at < len(own)]


def at_marks(tables: dict[str, pl.DataFrame]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All games near the marks, each with its mark, and those that are chosen from as Regan and Haworth do."""
    sizes = fields([tables[name] for name in ARCHIVES])
    mark = ((pl.col("white_elo") / 100).round(0) * 100).cast(pl.Int32)
    every = tables[MARKED].with_columns(mark.alias("mark")).join(sizes, on=EVENT, how="left", maintain_order="left")
    near = pl.max_horizontal((pl.col("white_elo") - mark).abs(), (pl.col("black_elo") - mark).abs()) <= 20
    crowded = (pl.col("players") > PLAYERS_A_ROUND * pl.col("rounds")).fill_null(False)
    return every, single(every).filter(~crowded & near & (pl.col("plies") >= PLIES) & pl.col("mark").is_in(list(MARKS)))


def main(data_folder: str, out: str, seed: int = 2006) -> None:
    data, rng = Path(data_folder), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        tables = {
            name: table(data, Path(folder), name) for name in (MARKED, *ARCHIVES, "otb-2018-19", "reference-games")
        }
    all_marked, fair = at_marks(tables)
    texts = unpacked(data / f"{MARKED}.pgn.zst")
    allowed = set(fair["n"])
    deep = deep_games(data / "analysis-sf15.1-d10.jsonl.zst", all_marked, texts)
    ready = set(tables["reference-games"].join(all_marked.select(*SAME, pl.col("n").alias("at")), on=SAME)["at"])

    row_of = {row["n"]: row for row in all_marked.iter_rows(named=True)}
    chosen = ready | (deep & allowed)
    players: Counter[str] = Counter()
    for n in chosen:
        players.update((row_of[n]["white"], row_of[n]["black"]))
    new: dict[int, list[Row]] = {}
    for own in MARKS:
        pool = [row for row in fair.iter_rows(named=True) if row["mark"] == own and row["n"] not in chosen]
        rng.shuffle(pool)
        have = sum(1 for n in chosen if row_of[n]["mark"] == own)
        new[own] = sorted(drawn(pool, A_MARK - have, players, (4, 8, 99)), key=lambda row: row["n"])
    kept = [n for n in sorted(deep) if n in chosen or row_of[n]["mark"] in SCARCE]
    groups = [
        [(row_of[n], row_of[n]["mark"], n in chosen) for n in kept],
        [(row_of[n], row_of[n]["mark"], True) for n in sorted(ready - deep)],
        [(row, own, True) for row, own in in_turn(new)],
    ]
    games = [game for group in groups for game in group]
    written = [tagged(text_of(texts, row), "2006-14", own, selected) for row, own, selected in games]

    later, players = single(tables["otb-2018-19"]).filter(pl.col("plies") >= PLIES), Counter()
    later_texts = unpacked(data / "otb-2018-19.pgn.zst")
    some: dict[int, list[Row]] = {}
    for century in CENTURIES:
        pool = list(later.filter((pl.col("white_elo") // 100) * 100 == century).iter_rows(named=True))
        rng.shuffle(pool)
        some[century] = drawn(pool, A_CENTURY, players, (2, 4, 99))
    written += [tagged(text_of(later_texts, row), "2018-19", own, True) for row, own in in_turn(some)]
    parts = numbered([*map(len, groups), len(written) - len(games)])
    texts_out = [f'[Part "{part}"]\n{text}' for part, text in zip(parts, written, strict=True)]
    Path(out).write_text("\n".join(texts_out), encoding="utf-8")
    counts = Counter(own for _, own, selected in games if selected)
    print(", ".join(f"{own}: {count}" for own, count in sorted(counts.items())))
    print(f"{sum(counts.values())} games of 2006-14 and {len(games) - sum(counts.values())} more at depth 10,", end=" ")
    print(f"{len(written) - len(games)} of 2018-19")


def numbered(sizes: list[int]) -> list[int]:
    """The number of the part of each game: groups that are analysed together, cut into parts of like size."""
    parts: list[int] = []
    for size in sizes:
        count, first = math.ceil(size / A_PART), (parts[-1] if parts else 0) + 1
        parts += [first + at * count // size for at in range(size)]
    return parts


def tagged(text: str, sample: str, mark: int, selected: bool) -> str:
    return f'[Sample "{sample}"]\n[Mark "{mark}"]\n[Selected "{int(selected)}"]\n{text}\n'


if __name__ == "__main__":
    main(*sys.argv[1:3], *(int(arg) for arg in sys.argv[3:]))
