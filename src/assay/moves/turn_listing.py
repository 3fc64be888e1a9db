"""A game turn by turn as an answer: a table, or the listing of the papers, each turn with its deltas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from assay.errors import InputError
from assay.games.source import Games
from assay.games.stream import Paths
from assay.moves.calibration import for_engine, load
from assay.moves.evidence import weigh
from assay.moves.review import ShownTurn, chances_at, chances_of, show_turns
from assay.moves.stored import Reading, refuse_one_line, stored_turns
from assay.policy.chances import Network, open_network
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
