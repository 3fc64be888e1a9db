"""Turns written for other programs: position, move played, values of all moves, game, players."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from assay.engine.turns import Turns
from assay.errors import InputError
from assay.games.packed import decode_move, to_fen
from assay.games.source import Games
from assay.games.stream import Paths
from assay.moves.stored import Reading, stored_turns
from assay.paths import File, atomic
from assay.table import Answer, Table, columns_of

SCHEMA: dict[str, Any] = {
    "game": pl.Int32,
    "event": pl.String,
    "site": pl.String,
    "date": pl.String,
    "round": pl.String,
    "white": pl.String,
    "black": pl.String,
    "white_elo": pl.Int32,
    "black_elo": pl.Int32,
    "result": pl.String,
    "ply": pl.Int32,
    "player": pl.String,
    "rating": pl.Float64,
    "fen": pl.String,
    "played": pl.String,
    "value": pl.Float64,
    "moves": pl.List(pl.String),
    "values": pl.List(pl.Float64),
}
_OF_GAME = tuple(SCHEMA)[1:10]
_SUFFIXES = (".parquet", ".jsonl")


def turn_rows(turns: Turns) -> Iterator[dict[str, Any]]:
    """A row per turn; `moves` (UCI) and `values` (pawns, mover's side) are best first, a move not listed has none."""
    columns = {name: turns.games[name].to_list() for name in _OF_GAME}
    values, moves, codes = turns.values, turns.moves, turns.choices.moves[turns.choices.chosen]
    player, rating = turns.player, turns.rating
    for at in range(len(turns)):
        game, listed = int(turns.game[at]), np.isfinite(values[at])
        yield {
            "game": game + 1,
            **{name: column[game] for name, column in columns.items()},
            "ply": int(turns.ply[at]) + 1,
            "player": player[at],
            "rating": _known(rating[at]),
            "fen": to_fen(turns.keys[at].tobytes()),
            "played": decode_move(int(codes[at])),
            "value": _known(turns.worth[at]),
            "moves": [decode_move(int(code)) for code in moves[at][listed]],
            "values": [round(float(value), 2) for value in values[at][listed]],
        }


def _known(value: float) -> float | None:
    return round(float(value), 2) if np.isfinite(value) else None


def write_turns(turns: Turns, path: Path) -> int:
    """Write turns as Parquet or JSON lines, by the name of the file; how many there are."""
    if path.suffix not in _SUFFIXES:
        raise InputError(f"{path} is neither .parquet nor .jsonl: name the file so that it says what it is.")
    with atomic(path) as part:
        if path.suffix == ".parquet":
            pl.DataFrame(list(turn_rows(turns)), schema=SCHEMA, orient="row").write_parquet(part)
        else:
            with part.open("w", encoding="utf-8") as file:
                for row in turn_rows(turns):
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return len(turns)


def export_turns(what: Paths | Games, path: File, **reading: Unpack[Reading]) -> Answer:
    """Write the turns of analysed games for other programs, as `assay export-turns` does: .parquet or .jsonl.

    >>> import assay
    >>> assay.export_turns(assay.SAMPLE, "turns.jsonl", store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    found = stored_turns(what, **reading)
    count = write_turns(found.turns, Path(path))
    games = len(np.unique(found.turns.game))
    return Answer(
        shown=Table([{"file": str(path), "games": games, "turns": count}], columns_of(("file", "games", "turns"))),
        problems=found.problems,
        remarks=found.remarks,
    )
