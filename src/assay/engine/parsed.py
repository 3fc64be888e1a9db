"""Games ply by ply, as the analysis needs them: keys of positions, moves played, repetitions, tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine import score
from assay.games import Game, GameArrays, repeated, to_arrays
from assay.games import keys as position_numbers
from assay.games.columns import TEXT_TAGS, rating
from assay.games.packed import after_last, as_bytes, from_board, pack, played_moves
from assay.games.parse import PLY_FIELDS
from assay.games.source import named_games
from assay.pools import clock_of, line_of, pool_of
from assay.progress import Progress
from assay.records import dataclass

_GAMES = 2_000


@dataclass(frozen=True)
class Plies:
    """The plies of many games from the first move that counts, game after game.

    `arrays` has all plies of all games, `games` the tags of each, `counted` tells which games count. Everything else is
    a row per ply of a game that counts, from move `from_move` on, found when it is first asked for.
    """

    arrays: GameArrays
    games: pl.DataFrame
    from_move: int
    counted: NDArray[np.bool_]

    def first(self, games: int) -> Plies:
        """The first games alone."""
        old, plies = self.arrays, int(self.arrays.offsets[games])
        arrays = GameArrays(
            offsets=old.offsets[: games + 1],
            valid=old.valid[:games],
            reason=old.reason[:games],
            **{name: getattr(old, name)[:plies] for name in PLY_FIELDS},
        )
        return Plies(arrays, self.games[:games], self.from_move, self.counted[:games])

    @property
    def whole(self) -> Plies:
        """The plies of all games, also of those that do not count."""
        return self if self.counted.all() else replace(self, counted=np.ones_like(self.counted))

    @property
    def problems(self) -> Counter[str]:
        """How many of the games that count could not be read, by reason."""
        return Counter(reason for reason, one in zip(self.arrays.reason, self.counted, strict=True) if reason and one)

    @cached_property
    def at(self) -> NDArray[np.int64]:
        """Where each ply stands in the arrays."""
        counted = np.repeat(self.counted, np.diff(self.arrays.offsets))
        return np.flatnonzero((self.arrays.fullmove >= self.from_move) & counted)

    def __len__(self) -> int:
        return len(self.at)

    @property
    def early(self) -> int:
        """How many plies come before the first move that counts."""
        return int(np.diff(self.arrays.offsets)[self.counted].sum()) - len(self)

    @cached_property
    def keys(self) -> NDArray[np.uint8]:
        """The positions."""
        return pack(self.arrays, self.at)

    @cached_property
    def names(self) -> list[bytes]:
        """The positions as bytes."""
        return as_bytes(self.keys)

    @property
    def played(self) -> NDArray[np.uint16]:
        """The codes of the moves."""
        return played_moves(self.arrays, self.at)

    @property
    def before(self) -> NDArray[np.uint16]:
        """The codes of the opponent's last moves, 0 where there is none."""
        return self._earlier(1)

    @property
    def own(self) -> NDArray[np.uint16]:
        """The codes of the mover's last moves, 0 where there is none."""
        return self._earlier(2)

    def _earlier(self, back: int) -> NDArray[np.uint16]:
        there = self.at - back >= self.arrays.offsets[self.game]
        return np.where(there, played_moves(self.arrays, np.maximum(self.at - back, 0)), 0).astype(np.uint16)

    @cached_property
    def repeated(self) -> NDArray[np.bool_]:
        """Whether the position occurred before in its game."""
        return repeated(self.arrays)[self.at]

    @cached_property
    def game(self) -> NDArray[np.int64]:
        """The game of each ply."""
        return self.arrays.game[self.at]

    @property
    def ply(self) -> NDArray[np.int64]:
        """How many plies of the game were played before."""
        return self.at - self.arrays.offsets[self.game]

    @property
    def move(self) -> NDArray[np.int64]:
        """The number of the move."""
        return self.arrays.fullmove[self.at].astype(np.int64)

    @property
    def white(self) -> NDArray[np.bool_]:
        """Whether White is to move."""
        return self.arrays.turn[self.at]

    @property
    def last(self) -> NDArray[np.bool_]:
        """Whether the game ends with this ply."""
        last: NDArray[np.bool_] = self.at == self.arrays.offsets[self.game + 1] - 1
        return last

    @cached_property
    def ends(self) -> dict[int, bytes | float]:
        """What comes after the last move of each game: the key of that position, or its value if the game is over."""
        found: dict[int, bytes | float] = {}
        for number in self.game[self.last].tolist():
            board = after_last(self.arrays, number)
            over = -score.MATE / 100 if board.is_checkmate() else 0.0
            found[number] = over if board.is_game_over() else from_board(board)
        return found

    def first_seen(self) -> NDArray[np.int64]:
        """For each ply, the first of its game with the same position (itself, unless it is a repetition)."""
        position = position_numbers(self.arrays)[self.at]
        _, first, which = np.unique(
            np.stack([self.game.astype(np.uint64), position]), axis=1, return_index=True, return_inverse=True
        )
        return first[which.ravel()]


def read_plies(games: Iterable[Game], from_move: int, counted: NDArray[np.bool_] | None = None) -> Plies:
    """Parse games into plies from move `from_move` on; only those `counted`, if it is said which."""
    parts = list(_parts(games, from_move))
    if len(parts) == 1:
        (whole,) = parts
    else:
        arrays = _joined([part.arrays for part in parts])
        whole = Plies(arrays, pl.concat([part.games for part in parts]), from_move, np.ones(arrays.games, np.bool_))
    return whole if counted is None else replace(whole, counted=counted)


def _parts(games: Iterable[Game], from_move: int) -> Iterator[Plies]:
    """Games in batches, at least one of them; parsed together, they would stand in memory twice over."""
    stream = iter(named_games(games))
    some = list(islice(stream, _GAMES))
    while True:
        yield Plies(to_arrays(some), headers(some), from_move, np.ones(len(some), np.bool_))
        if not (some := list(islice(stream, _GAMES))):
            return


def _joined(parts: list[GameArrays]) -> GameArrays:
    before = np.cumsum([0, *(part.plies for part in parts)])
    return GameArrays(
        offsets=np.concatenate([[0], *(part.offsets[1:] + shift for part, shift in zip(parts, before, strict=False))]),
        valid=np.concatenate([part.valid for part in parts]),
        reason=tuple(reason for part in parts for reason in part.reason),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in PLY_FIELDS},
    )


@dataclass
class Wanted:
    """Which positions of some games are to be valued: each distinct one once, in the order of the games.

    `games` has which positions each game passes through, `numbers` which games these are: those with any.
    """

    keys: list[bytes] = field(default_factory=list)
    read: int = 0
    turns: int = 0
    games: list[NDArray[np.int32]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    _at: dict[bytes, int] = field(default_factory=dict, repr=False)

    def last_keys(self, valued: NDArray[np.bool_], done: NDArray[np.bool_]) -> list[bytes]:
        """For each game whose positions are all done: the key of the last one that was valued."""
        return [self.keys[game[valued[game]][-1]] for game in self.games if done[game].all() and valued[game].any()]

    def add(self, plies: Plies, *, ends: bool = False) -> None:
        """Take these games in, too; with `ends` the positions after their last moves."""
        self.problems += plies.problems
        self.left_out[f"before move {plies.from_move}"] += plies.early
        self.left_out["occurred before in the game"] += int(plies.repeated.sum())
        new = ~plies.repeated
        names = [name for name, one in zip(plies.names, new, strict=True) if one]
        bounds = np.searchsorted(plies.game[new], np.arange(plies.arrays.games + 1))
        for game in range(plies.arrays.games):
            mine = names[bounds[game] : bounds[game + 1]]
            if ends and mine and isinstance(end := plies.ends[game], bytes):
                mine.append(end)
            if not mine:
                continue
            self.turns += len(mine)
            for key in mine:
                if key not in self._at:
                    self._at[key] = len(self.keys)
                    self.keys.append(key)
            self.games.append(np.array([self._at[key] for key in mine], np.int32))
            self.numbers.append(self.read + game)
        self.read += plies.arrays.games
        self.left_out["the same position again"] = self.turns - len(self.keys)


def wanted(games: Iterable[Game], *, from_move: int = 9, ends: bool = False, quiet: bool = True) -> Wanted:
    """The distinct positions of these games from move `from_move` on, which are read as a stream.

    Left out: a position that occurred before in its game. With `ends` the position after the last move is taken too:
    where only one line is analysed, it says what that move was worth.
    """
    found = Wanted()
    with Progress("Reading", unit="games", quiet=quiet) as progress:
        for part in _parts(games, from_move):
            found.add(part, ends=ends)
            progress.update(found.read)
    return found


_UNKNOWN = {"", "?", "????.??.??"}
SCHEMA = (
    {"source": pl.String, "start_offset": pl.Int64}
    | dict.fromkeys(TEXT_TAGS, pl.String)
    | {
        "white_elo": pl.Float64,
        "black_elo": pl.Float64,
        "year": pl.Int32,
        "speed": pl.String,
        "pool": pl.String,
        "line": pl.String,
    }
)


def headers(games: Iterable[Game]) -> pl.DataFrame:
    """Source, names, ratings, event, date and the like of each game."""
    return pl.DataFrame([_row(game) for game in games], schema=SCHEMA, orient="row")


def _row(game: Game) -> dict[str, Any]:
    tags = game.tags
    texts = {name: tags.get(tag, "").strip() for name, tag in TEXT_TAGS.items()}
    year = texts["date"][:4]
    pool = pool_of(texts["site"], texts["event"], texts["time_control"])
    return {
        "source": game.source,
        "start_offset": game.start_offset,
        **{name: None if text in _UNKNOWN else text for name, text in texts.items()},
        "white_elo": rating(tags.get("WhiteElo", "")),
        "black_elo": rating(tags.get("BlackElo", "")),
        "year": int(year) if year.isdecimal() else None,
        "speed": clock_of(texts["site"], texts["event"], texts["time_control"])[2],
        "pool": pool,
        "line": line_of(pool, texts["date"], texts["time_control"]),
    }
