"""Games and analyses to turns: the value of every move, and which one was played.

This is the seam between files and the model: what comes out are arrays, one row per turn, and counts of the turns that
were left out, by reason. Where only the best line was analysed, a played move is worth what the next position says, as
Guid and Bratko measured whole games ("Computer analysis of world chess champions", ICGA Journal 2006).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine import score
from assay.engine.choices import IS_DECIDED, IS_FORCED, IS_LACKING, Choices, Ranked, Spreads, load_spreads, ranked
from assay.engine.identity import Identity
from assay.engine.parsed import Plies, read_plies
from assay.engine.store import Store
from assay.errors import StoreError
from assay.games import Game
from assay.records import dataclass


def by_next(
    best: NDArray[np.float64],
    forced: NDArray[np.bool_],
    first_seen: NDArray[np.int64],
    last: NDArray[np.bool_],
    end: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The value of each played move from its mover's side: minus what the next position is worth to the other.

    The plies of each game follow one another. `best` is the value of each position (nan if none is stored), `forced`
    where a single move is legal (the position is then worth what that move leads to), `first_seen` the ply at which the
    same position occurred first, `last` the last ply of each game, and `end` what the position after it is worth.

    >>> nan = np.nan
    >>> by_next(np.array([0.3, nan, 0.5]), np.array([False, True, False]), np.arange(3),
    ...         np.array([False, False, True]), np.array([nan, nan, -0.4])).tolist()
    [0.5, -0.5, 0.4]
    """
    value = best.copy()
    while True:
        known = value[first_seen]
        after = np.append(known[1:], np.nan)
        played = -np.where(last, end, after)
        filled = np.where(np.isnan(known) & forced, played, known)
        if np.array_equal(filled, value, equal_nan=True):
            return played
        value = filled


REPEATED = "occurred before in the game"
FORCED = "a single legal move"
DECIDED = "decided at a shallow look"
LACKING = "not analysed"
BEYOND = "beyond the limit"


@dataclass(frozen=True)
class Turns:
    """Turns of many games.

    `choices` has of every turn all listed moves with their values at all depths, and the one played; a played move that
    the engine did not list stands at the end of its turn, without values. `worth` is the value of the move played in
    pawns, nan if unknown; where one line was analysed, it is what the next position says. `game` is the row in `games`
    (source, names, ratings, event, date, ...), `move` is the move number, `white` tells whether White is to move.
    """

    choices: Choices
    worth: NDArray[np.float64]
    game: NDArray[np.int64]
    move: NDArray[np.int64]
    white: NDArray[np.bool_]
    games: pl.DataFrame
    excluded: Counter[str]
    problems: Counter[str]
    identities: tuple[Identity, ...]
    depth: int
    lacking: NDArray[np.int64] | None = None  # turns of each game that the store does not hold, where that was counted

    def __len__(self) -> int:
        return len(self.choices)

    @property
    def keys(self) -> NDArray[np.uint8]:
        """The positions."""
        return self.choices.keys

    @property
    def ply(self) -> NDArray[np.int64]:
        """How many plies were played before, from 0."""
        return self.choices.ply

    @cached_property
    def _ranked(self) -> Ranked:
        return ranked(self.choices.codes, self.choices.moves, self.choices.start)

    @property
    def values(self) -> NDArray[np.float64]:
        """Turns x moves: pawns from the mover's side, best first (of equal ones by lesser depths), padded with nan.

        Mates are capped with their order kept.
        """
        return self._ranked.values(self.choices.depth)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Turns x moves: the rows of the choices where the same moves stand, -1 behind the last."""
        return self._ranked.row

    @property
    def moves(self) -> NDArray[np.uint16]:
        """Turns x moves: the codes of the same moves (:func:`assay.games.packed.decode_move`), padded with 0."""
        return self._ranked.moves

    @property
    def played(self) -> NDArray[np.int64]:
        """The column of the move that was played, -1 if the engine did not list it."""
        return self._ranked.column(self.choices.chosen)

    def at_depths(self, depths: Sequence[int]) -> NDArray[np.float64]:
        """Turns x moves x depths: the values of the same moves at these depths; one not listed there is nan."""
        levels = [self._ranked.values(depth) for depth in depths]
        return np.stack(levels, axis=2) if levels else np.empty((*self.moves.shape, 0))

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
        by_turn = {name: getattr(self, name)[chosen] for name in ("worth", "game", "move", "white")}
        return replace(self, choices=self.choices.only(chosen), **by_turn)


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
) -> Turns:
    """Build turns from games and stored analyses (Regan & Haworth, "Intrinsic Chess Ratings", AAAI 2011, section 3).

    Left out and counted by reason: turns before move `from_move`, in a position that occurred before in the game, with
    a single legal move, decided at a shallow look, with a best move worth more than `limit` pawns for either side, and
    turns whose position the store does not hold to this depth.

    `engine` names the analysis where the store holds several; several names make a jury, whose values are averaged move
    by move. `lines` and `nodes` tell analyses of one engine apart; without `lines` the one with the most positions
    serves.
    """
    names = [engine] if isinstance(engine, str) or engine is None else list(engine)
    identities = tuple(store.choose(name, depth=depth, lines=lines, nodes=nodes) for name in names)
    plies = read_plies(games, from_move)
    return turns_of(plies, store, identities, depth=depth, limit=limit)


def turns_of(
    plies: Plies,
    store: Store,
    identities: Sequence[Identity],
    *,
    depth: int,
    limit: float = 3.0,
    found: Spreads | None = None,
    every: bool = False,
) -> Turns:
    """The same from plies that were parsed before, and from what the store says of them, if that is `found` before.

    With `every` all turns are taken whose moves are valued, also those that do not count.
    """
    one_line = any(identity.lines == 1 for identity in identities)
    if found is None:
        ends = (end for end in plies.ends.values() if isinstance(end, bytes)) if one_line else ()
        found = load_spreads(store, identities, depth, {*plies.names, *ends})
    at = found.find(plies.names)
    keep, excluded = (at >= 0, Counter()) if every else _exclude(plies, found, at, limit)
    excluded[f"before move {plies.from_move}"] = plies.early
    if not keep.any() and excluded[LACKING]:
        raise StoreError(
            f"{store.path} holds none of these games' positions at depth {depth}. Run 'assay analyse' on them first."
        )
    choices = _choices(plies, keep, found, at)
    worth = score.pawns(choices.codes[choices.chosen, -1])
    if one_line:
        worth = np.where(np.isnan(worth), _worth(plies, found, at)[keep], worth)
    return Turns(
        choices=choices,
        worth=worth,
        game=plies.game[keep],
        move=plies.move[keep],
        white=plies.white[keep],
        games=plies.games,
        excluded=+excluded,
        problems=plies.problems,
        identities=tuple(identities),
        depth=depth,
        lacking=np.bincount(plies.game[(at == IS_LACKING) & ~plies.repeated], minlength=plies.games.height),
    )


def _choices(plies: Plies, keep: NDArray[np.bool_], found: Spreads, at: NDArray[np.int64]) -> Choices:
    """The turns that count, with the rows of their positions, and a row more where another move was played."""
    return found.choices(
        at[keep],
        plies.played[keep],
        keys=plies.keys[keep],
        before=plies.before[keep],
        own=plies.own[keep],
        ply=plies.ply[keep],
        unit=plies.game[keep] * 2 + ~plies.white[keep],
    )


def _exclude(
    plies: Plies, found: Spreads, at: NDArray[np.int64], limit: float
) -> tuple[NDArray[np.bool_], Counter[str]]:
    """Which turns count, and how many do not, each by the first reason that holds."""
    reasons = {
        REPEATED: plies.repeated,
        FORCED: at == IS_FORCED,
        DECIDED: at == IS_DECIDED,
        LACKING: at == IS_LACKING,
        BEYOND: np.abs(found.best(at)) > limit,
    }
    keep = np.ones(len(at), np.bool_)
    excluded: Counter[str] = Counter()
    for reason, holds in reasons.items():
        excluded[reason] = int((keep & holds).sum())
        keep &= ~holds
    return keep, excluded


def _worth(plies: Plies, found: Spreads, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """The value of each played move by the position after it; a decided one is worth what the look said."""
    best = found.best(at)
    for row in np.flatnonzero(at == IS_DECIDED):
        best[row] = found.looks[plies.keys[row].tobytes()]
    end = np.full(len(at), np.nan)
    last = np.flatnonzero(plies.last)
    ends = [plies.ends[game] for game in plies.game[last].tolist()]
    rows = found.find([key for key in ends if isinstance(key, bytes)])
    stored = iter(found.best(rows).tolist())
    end[last] = [next(stored) if isinstance(key, bytes) else key for key in ends]
    return by_next(best, at == IS_FORCED, plies.first_seen(), plies.last, end)
