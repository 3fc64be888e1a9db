"""Turns of simulated players, made without files or engines."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import chess
import numpy as np
import polars as pl

from assay.engine.choices import Choices
from assay.engine.identity import Identity
from assay.engine.turns import Turns
from assay.games.packed import encode_move, from_board
from assay.moves.regan import Agent, scaled_deltas

START = chess.Board()
# What White may do at the start, in some order; every simulated turn happens there.
MOVES = [move.uci() for move in START.legal_moves]


def choices_of(
    values: np.ndarray,
    moves: np.ndarray,
    played: np.ndarray,
    keys: np.ndarray,
    ply: np.ndarray,
    game: np.ndarray,
    white: np.ndarray,
    depth: int,
) -> Choices:
    """Values in pawns (turns x moves, padded with nan) as choices; every depth says the same."""
    listed = np.isfinite(values)
    codes = np.round(values[listed] * 100).astype(np.int16)
    start = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    none = np.zeros(len(values), np.uint16)
    return Choices(
        np.tile(codes[:, None], (1, depth)), moves[listed], start, played, keys, none, none, ply, 2 * game + ~white
    )


def playing(turns: Turns, columns: np.ndarray) -> Turns:
    """The same turns with other moves played, by their place among the values, best first."""
    row = turns._ranked.row[np.arange(len(turns)), columns]
    return replace(turns, choices=replace(turns.choices, played=row - turns.choices.start[:-1]))


def simulated_turns(
    players: dict[str, tuple[float, float, float | None]], games: int, plies: int, seed: int = 1
) -> Turns:
    """Each player (s, c, rating) plays so many games of so many own turns against somebody of the same rating."""
    random = np.random.default_rng(seed)
    names = [name for name in players for _ in range(games)]
    turns = len(names) * plies
    best = random.normal(0, 0.7, (turns, 1)).clip(-2.9, 2.9)
    values = np.round(np.concatenate([best, best - np.sort(random.gamma(0.7, 1.0, (turns, 14)), axis=1)], axis=1), 2)
    game = np.repeat(np.arange(len(names)), plies)
    played = np.empty(turns, dtype=np.int64)
    for number, (name, (s, c, _)) in enumerate(players.items()):
        mine = np.isin(game, np.flatnonzero(np.array(names) == name))
        played[mine] = Agent(s, c, seed=seed + number).choose_all(scaled_deltas(values[mine]))
    table = pl.DataFrame(
        {
            "white": names,
            "black": ["Opponent"] * len(names),
            "white_elo": [players[name][2] for name in names],
            "black_elo": [players[name][2] for name in names],
            "event": ["Test"] * len(names),
            "round": ["1"] * len(names),
            "year": [2000 + i % 5 for i in range(len(names))],
            "speed": ["classical"] * len(names),
        },
        schema_overrides={"white_elo": pl.Float64, "black_elo": pl.Float64, "year": pl.Int32},
    )
    key = np.frombuffer(from_board(START), dtype=np.uint8)
    white = np.ones(turns, dtype=bool)
    moves = np.tile(np.array([encode_move(m) for m in MOVES[:15]], dtype=np.uint16), (turns, 1))
    ply = np.tile(np.arange(16, 16 + 2 * plies, 2), len(names))
    return Turns(
        choices=choices_of(values, moves, played, np.tile(key, (turns, 1)), ply, game, white, depth=10),
        worth=values[np.arange(turns), played],
        game=game,
        move=np.tile(np.arange(9, 9 + plies), len(names)),
        white=white,
        games=table,
        excluded=Counter(),
        problems=Counter(),
        identities=(Identity("Fake 1", "", (), 0, 50),),
        depth=10,
    )
