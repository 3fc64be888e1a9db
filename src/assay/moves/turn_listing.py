"""A game turn by turn: a table, or the listing of the papers, each turn with its deltas; and turns as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from assay.engine.turns import Turns
from assay.errors import InputError
from assay.games.packed import decode_move, to_fen
from assay.games.source import Games
from assay.games.stream import Paths
from assay.moves.asked import Reading, refuse_one_line, stored_turns
from assay.moves.calibration import for_engine, load
from assay.moves.evidence import weigh
from assay.moves.review import ShownTurn, chances_at, chances_of, show_turns
from assay.paths import File, atomic
from assay.policy.chances import Network, open_network
from assay.records import dataclass
from assay.table import FORMATS, WIDTH, Answer, Column, Table, columns_of, said_chance

DELTA = "delta"
LISTINGS = (*FORMATS, DELTA)
UNRATED = 2000.0
MISSING = "---"
_COLUMNS = (
    *columns_of(("move", "played", "engine", "evaluation", "rank"), titles={"evaluation": "eval"}),
    Column("delta", decimals=3),
    Column("probability", "prob", said=said_chance),
    Column("entropy", wide=True),
    Column("critical", wide=True),
    Column("spread"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class GameListing(Answer):
    """The turns of a game; as `delta` it is the listing of RH11, four lines a turn."""

    turns: Sequence[ShownTurn]
    candidates: int

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The answer in one of the LISTINGS."""
        if format == DELTA:
            return "\n\n".join(delta_listing(turn, self.candidates) for turn in self.turns)
        return super().to(format, width, wide=wide)


def delta_listing(turn: ShownTurn, candidates: int) -> str:
    """A turn in four lines; the played move's delta is starred, behind the bracket if the engine did not list it.

    A spread that has fewer moves than candidates is filled up with `---`.
    """
    deltas = [f"{'*' if move.played else ''}{_delta(move.delta)}" for move in turn.spread]
    deltas += [MISSING] * (candidates - len(deltas))
    value = MISSING if turn.value is None else f"{turn.value:+.2f}"
    return "\n".join(
        (
            f"Move played: {turn.number} {turn.played}",
            f"Engine move: {turn.spread[0].san}",
            f"Eval: {value}",
            f"Delta = ({', '.join(deltas)}){' *' if turn.rank is None else ''}",
        )
    )


def _delta(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else MISSING


def show(
    what: Paths | Games,
    game: int = 1,
    *,
    candidates: int = 4,
    elo: float | None = None,
    s: float | None = None,
    c: float | None = None,
    calibration: str | None = None,
    policy: Network | bool | str = True,
    **reading: Unpack[Reading],
) -> GameListing:
    """Show an analysed game turn by turn, as `assay show` does: moves, values, chances, how open each turn was.

    The chances are those of a player rated as the tags say, of `elo`, or of `s` and `c`. `.to("delta")` is the listing
    of the papers.

    >>> import assay
    >>> assay.show(assay.SAMPLE, store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    if (s is None) != (c is None):
        raise InputError("s and c go together.")
    if s is not None and elo is not None:
        raise InputError("give either a rating, or s and c.")
    found = stored_turns(what, game=game, **reading)
    turns = found.turns
    refuse_one_line(turns)
    if s is not None and c is not None:
        chances = chances_of(turns, s, c)
    else:
        asked = load(calibration, depth=turns.depth)
        judge = for_engine(turns.identities[0], asked.depth, asked if calibration else None)
        tags = np.where(np.isfinite(turns.rating), turns.rating, UNRATED)
        chances = chances_at(
            weigh(turns, judge, open_network(policy) if isinstance(policy, str) else policy),
            tags if elo is None else np.full(len(turns), elo),
        )
    shown = show_turns(turns, chances, lines=candidates)
    return GameListing(
        shown=Table([_row(turn) for turn in shown], _COLUMNS),
        turns=shown,
        candidates=candidates,
        problems=found.problems,
        remarks=found.remarks,
    )


def _row(turn: ShownTurn) -> dict[str, Any]:
    spread = [f"{'*' if x.played else ''}{x.san} {x.value:+.2f} {said_chance(x.probability)}" for x in turn.spread]
    return {
        "move": turn.number,
        "played": turn.played,
        "engine": turn.spread[0].san,
        "evaluation": turn.value,
        "rank": turn.rank,
        "delta": turn.delta,
        "probability": turn.probability,
        "entropy": turn.entropy,
        "critical": turn.critical,
        "spread": ", ".join(spread),
    }


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
