"""A game move by move: what was played, what the engine would play, how likely it is, and the rating so far; as a
table, as the listing of the papers, each turn with its deltas, and as files of turns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

import chess
import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.curve import LEVEL, Curve, Estimate
from assay.engine.turns import Turns
from assay.errors import InputError
from assay.games.packed import decode_move, to_fen
from assay.games.source import Games
from assay.games.stream import Paths
from assay.moves.asked import Reading, refuse_one_line, stored_turns
from assay.moves.calibration import for_engine, load
from assay.moves.choice.model import CENTRE, Floats
from assay.moves.evidence import Evidence, weigh
from assay.moves.regan.models import move_probabilities
from assay.moves.regan.spread import scaled_deltas
from assay.paths import File, atomic
from assay.policy.chances import Network, open_network
from assay.records import dataclass
from assay.table import FORMATS, WIDTH, Answer, Column, Table, columns_of, said_chance

TAG_SD = 200.0
# A turn is critical where the player is expected to lose so much, scaled: some three times the average of a master. An
# obvious recapture is not, however much hangs on it.
CRITICAL = 0.2
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


@dataclass(frozen=True)
class Listed:
    """A move of a spread: SAN, value in pawns, scaled delta, probability, and whether it was the one played."""

    san: str
    value: float
    delta: float
    probability: float
    played: bool


@dataclass(frozen=True)
class ShownTurn:
    """One turn: its number as in a score sheet, the move played and its probability, and the spread, best first.

    `value` is that of the move played, in pawns, None if the engine valued it neither here nor by the next position;
    `rank` and `delta` are None where it did not list the move. `moves` counts all that it listed. `entropy` is that of
    the chances, in bits: 2 are as open as four moves that are equally likely. `critical` tells that the player is
    expected to lose much here.
    """

    move: int
    white: bool
    played: str
    value: float | None
    rank: int | None
    delta: float | None
    probability: float | None
    spread: tuple[Listed, ...]
    moves: int
    entropy: float
    critical: bool

    @property
    def number(self) -> str:
        """The number of the move as in print: `12.` or `12...`."""
        return f"{self.move}{'.' if self.white else '...'}"


def chances_at(evidence: Evidence, ratings: Floats) -> Floats:
    """Turns x moves, best first: the chances of the moves for players of these ratings, one for each turn."""
    row = evidence.turns.rows
    return np.where(row < 0, np.nan, evidence.chances(ratings)[row])


def chances_of(turns: Turns, s: float, c: float) -> Floats:
    """Turns x moves, best first: the chances of the moves for a player of these s and c, in Regan's model."""
    return np.asarray(move_probabilities(scaled_deltas(turns.values), s, c))


def show_turns(turns: Turns, chances: Floats, *, lines: int = 5) -> list[ShownTurn]:
    """Turn by turn, with the chances of the moves (turns x moves, best first)."""
    refuse_one_line(turns)
    values = turns.values
    deltas, moves, columns = scaled_deltas(values), turns.moves, turns.played
    entropy, loss = entropies(chances), expected_losses(chances, deltas)
    codes = turns.choices.moves[turns.choices.chosen]
    shown = []
    for t in range(len(turns)):
        board = chess.Board(to_fen(turns.keys[t].tobytes()))
        played = int(columns[t])
        ranks = list(range(min(lines, int(np.isfinite(values[t]).sum()))))
        if played >= len(ranks):
            ranks.append(played)
        spread = tuple(
            Listed(
                board.san(chess.Move.from_uci(decode_move(int(moves[t, i])))),
                float(values[t, i]),
                float(deltas[t, i]),
                float(chances[t, i]),
                i == played,
            )
            for i in ranks
        )
        mine = next((candidate for candidate in spread if candidate.played), None)
        shown.append(
            ShownTurn(
                int(turns.move[t]),
                bool(turns.white[t]),
                board.san(chess.Move.from_uci(decode_move(int(codes[t])))),
                float(turns.worth[t]) if np.isfinite(turns.worth[t]) else None,
                played + 1 if mine else None,
                mine.delta if mine else None,
                mine.probability if mine else None,
                spread,
                int(np.isfinite(values[t]).sum()),
                float(entropy[t]),
                bool(loss[t] >= CRITICAL),
            )
        )
    return shown


def entropies(chances: Floats) -> Floats:
    """The entropy of each turn's chances (turns x moves), in bits."""
    p = np.where(np.isfinite(chances) & (chances > 0), chances, 1.0)
    return np.asarray(-(p * np.log2(p)).sum(axis=1))


def expected_losses(chances: Floats, deltas: Floats) -> Floats:
    """What a player of these chances is expected to lose at each turn, scaled."""
    known = np.isfinite(chances) & np.isfinite(deltas)
    return np.asarray(np.where(known, chances * np.where(known, deltas, 0.0), 0.0).sum(axis=1))


@dataclass(frozen=True)
class Running:
    """One side's rating after each of its counted turns: the turns' numbers, and the estimates."""

    player: str
    white: bool
    rating: float | None
    move: NDArray[np.int64]
    ply: NDArray[np.int64]
    estimates: Sequence[Estimate]


def running(
    evidence: Evidence, game: int, *, prior: tuple[float, float] | str | None = None, level: float = LEVEL
) -> list[Running]:
    """Follow both players of a game (its number in the turns, from 0): the sum of their turns' curves so far.

    `prior` is a mean and a standard deviation, "tag" for the rating in the tags with a standard deviation of 200 (none
    where there is no tag), or None: then the last estimate is what the moves of the game say, and nothing else.
    """
    turns, out = evidence.turns, []
    for white in (True, False):
        own = np.flatnonzero((turns.game == game) & (turns.white == white))
        name = turns.games["white" if white else "black"][game]
        tag = turns.games["white_elo" if white else "black_elo"][game]
        curve = evidence.curve[own]
        power = evidence.honesty(own, CENTRE).power
        so_far = Curve(np.cumsum(curve.table, axis=0) + _log_prior(curve, prior, tag) / power, curve.grid)
        honesty = [evidence.honesty(own, top) for top in so_far.tops().tolist()] if len(own) else []
        found = so_far.estimates(honesty, level)
        out.append(
            Running(name or "?", white, None if tag is None else float(tag), turns.move[own], turns.ply[own], found)
        )
    return out


def _log_prior(curve: Curve, prior: tuple[float, float] | str | None, tag: float | None) -> Floats:
    """The logarithm of the prior on the grid of a curve."""
    if isinstance(prior, str):
        prior = None if tag is None else (float(tag), TAG_SD)
    if prior is None:
        return np.zeros(len(curve.grid))
    mean, deviation = prior
    return np.asarray(-0.5 * ((curve.grid - mean) / deviation) ** 2)


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
