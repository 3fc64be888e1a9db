"""Games and analyses to turns: the value of every move, and which one was played.

This is the seam between files and the model: what comes out are arrays, one row per turn, and counts of the turns that
were left out, by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine import spreads, worth
from assay.engine.identity import Identity
from assay.engine.plies import Plies, first_seen, read_plies
from assay.engine.position import as_bytes
from assay.engine.spreads import Spreads, last_depth
from assay.engine.store import Store
from assay.errors import StoreError
from assay.games import Game

REPEATED = "occurred before in the game"
FORCED = "a single legal move"
DECIDED = "decided at a shallow look"
LACKING = "not analysed"
BEYOND = "beyond the limit"


@dataclass(frozen=True)
class Turns:
    """Turns of many games; every array has one row per turn.

    `values` are pawns from the mover's side, best first (of equal ones the engine's first), padded with nan; mates are
    capped with their order kept. With every depth asked for, a third axis holds depths 1 to `depth`, and the order is
    that of the last; a move that was not listed at a lesser depth is nan there. `moves` are their codes (see
    :func:`assay.engine.position.decode_move`). `played` is the column of the move that was played, -1 if the engine did
    not list it. `worth` is that move's value, nan if unknown; where one line was analysed, it is what the next position
    says. `lesser` has the values of the same moves at the lesser depths asked for, turns x moves x depths.

    `game` is the row in `games` (source, names, ratings, event, date, ...), `ply` counts from 0, `move` is the move
    number, `white` tells whether White is to move, `keys` are the positions.
    """

    values: NDArray[np.float64]
    lesser: NDArray[np.float32]
    moves: NDArray[np.uint16]
    played: NDArray[np.int64]
    worth: NDArray[np.float64]
    game: NDArray[np.int64]
    ply: NDArray[np.int64]
    move: NDArray[np.int64]
    white: NDArray[np.bool_]
    keys: NDArray[np.uint8]
    games: pl.DataFrame
    excluded: Counter[str]
    problems: Counter[str]
    identities: tuple[Identity, ...]
    depth: int

    def __len__(self) -> int:
        return len(self.played)

    @property
    def player(self) -> NDArray[Any]:
        """Who moved; None where the tags do not say."""
        return self._by_side("white", "black")

    @property
    def opponent(self) -> NDArray[Any]:
        """Who did not."""
        return self._by_side("black", "white")

    @property
    def rating(self) -> NDArray[np.float64]:
        """The mover's rating in the tags, nan if there is none."""
        return self._by_side("white_elo", "black_elo")

    @property
    def opponent_rating(self) -> NDArray[np.float64]:
        """The opponent's rating in the tags, nan if there is none."""
        return self._by_side("black_elo", "white_elo")

    def column(self, name: str) -> NDArray[Any]:
        """A column of the games, for each turn."""
        column: NDArray[Any] = self.games[name].to_numpy()[self.game]
        return column

    def _by_side(self, white: str, black: str) -> NDArray[Any]:
        return np.where(self.white, self.column(white), self.column(black))

    def only(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Turns:
        """These turns alone, by mask or by number; the table of games stays whole."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in _BY_TURN})


_BY_TURN = tuple(f.name for f in fields(Turns) if str(f.type).startswith("NDArray"))


def turns(
    games: Iterable[Game],
    store: Store,
    *,
    depth: int,
    from_move: int = 9,
    limit: float = 3.0,
    engine: str | Sequence[str] | None = None,
    lines: int | None = None,
    nodes: int = 0,
    every_depth: bool = False,
    lesser: Sequence[int] = (),
) -> Turns:
    """Build turns from games and stored analyses (Regan & Haworth, "Intrinsic Chess Ratings", AAAI 2011, section 3).

    Left out and counted by reason: turns before move `from_move`, in a position that occurred before in the game, with
    a single legal move, decided at a shallow look, with a best move worth more than `limit` pawns for either side, and
    turns whose position the store does not hold to this depth.

    `engine` names the analysis where the store holds several; several names make a jury, whose values are averaged move
    by move. `lines` and `nodes` tell analyses of one engine apart; without `lines` the one with the most positions
    serves. `lesser` are depths whose values are kept beside those of `depth`.
    """
    names = [engine] if isinstance(engine, str) or engine is None else list(engine)
    identities = tuple(store.choose(name, depth=depth, lines=lines, nodes=nodes) for name in names)
    one_line = any(identity.lines == 1 for identity in identities)
    plies = read_plies(games, from_move, ends=one_line)
    wanted = as_bytes(plies.keys)
    ends = (end for end in plies.ends.values() if isinstance(end, bytes))
    found = spreads.load(store, identities, depth, {*wanted, *ends}, lesser=range(1, depth) if every_depth else lesser)
    at = found.find(wanted)
    keep, excluded = _exclude(plies, found, at, limit)
    excluded[f"before move {from_move}"] = plies.early
    if not keep.any() and excluded[LACKING]:
        raise StoreError(
            f"{store.path} holds none of these games' positions at depth {depth}. Run 'assay analyse' on them first."
        )
    values, moves = found.values[at[keep]], found.moves[at[keep]]
    played = _column_of(plies.played[keep], moves)
    other = _worth(plies, found, at)[keep] if one_line else np.nan
    value = np.where(played < 0, other, last_depth(values)[np.arange(len(values)), np.maximum(played, 0)])
    kept_beside = bool(lesser) and not every_depth
    if every_depth and values.ndim == 2:  # depth 1: every depth is one
        values = values[:, :, None]
    return Turns(
        values=last_depth(values) if kept_beside else values,
        lesser=values[:, :, :-1].astype(np.float32) if kept_beside else np.empty((*moves.shape, 0), np.float32),
        moves=moves,
        played=played,
        worth=value,
        game=plies.game[keep],
        ply=plies.ply[keep],
        move=plies.move[keep],
        white=plies.white[keep],
        keys=plies.keys[keep],
        games=plies.games,
        excluded=+excluded,
        problems=plies.problems,
        identities=identities,
        depth=depth,
    )


def _exclude(
    plies: Plies, found: Spreads, at: NDArray[np.int64], limit: float
) -> tuple[NDArray[np.bool_], Counter[str]]:
    """Which turns count, and how many do not, each by the first reason that holds."""
    reasons = {
        REPEATED: plies.repeated,
        FORCED: at == spreads.FORCED,
        DECIDED: at == spreads.DECIDED,
        LACKING: at == spreads.LACKING,
        BEYOND: np.abs(found.best(at)) > limit,
    }
    keep = np.ones(len(at), np.bool_)
    excluded: Counter[str] = Counter()
    for reason, holds in reasons.items():
        excluded[reason] = int((keep & holds).sum())
        keep &= ~holds
    return keep, excluded


def _column_of(played: NDArray[np.uint16], moves: NDArray[np.uint16]) -> NDArray[np.int64]:
    same = moves == played[:, None]
    return np.where(same.any(axis=1), same.argmax(axis=1), -1)


def _worth(plies: Plies, found: Spreads, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """The value of each played move by the position after it; a decided one is worth what the look said."""
    best = found.best(at)
    for row in np.flatnonzero(at == spreads.DECIDED):
        best[row] = found.looks[plies.keys[row].tobytes()]
    end = np.full(len(at), np.nan)
    last = np.flatnonzero(plies.last)
    ends = [plies.ends[game] for game in plies.game[last].tolist()]
    rows = found.find([key for key in ends if isinstance(key, bytes)])
    stored = iter(found.best(rows).tolist())
    end[last] = [next(stored) if isinstance(key, bytes) else key for key in ends]
    return worth.by_next(best, at == spreads.FORCED, first_seen(plies), plies.last, end)
