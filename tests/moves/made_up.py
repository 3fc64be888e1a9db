"""Turns as the engine room would hand them over, made from agents of known rating instead of games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import chess
import numpy as np
import polars as pl
from tests.moves.regan.players import MARKS, TURNS_PER_GAME, parameters
from tests.moves.regan.spreads import choose, random_values
from tests.moves.simulated_turns import choices_of

from assay.engine.identity import Identity
from assay.engine.parsed import SCHEMA
from assay.engine.turns import Turns
from assay.games.packed import encode_move, from_board
from assay.moves.regan import move_probabilities, scaled_deltas

ENGINE = Identity("Made-up 1.0", "net", (("Hash", "16"),), nodes=0, lines=50)


def turns_of(pairs: Sequence[tuple[str, str, float | None, float | None]], seed: int = 1, depth: int = 4) -> Turns:
    """A game for each pair of names and ratings (None: no tag, and play of 2200); sides move in turn."""
    values, played, count = [], [], TURNS_PER_GAME
    for number, (_, _, white, black) in enumerate(pairs):
        for side, elo in enumerate((white, black)):
            own = random_values(count, seed=seed + 10 * number + side)
            chance = move_probabilities(scaled_deltas(own), *parameters(2200.0 if elo is None else elo))
            values.append(own)
            played.append(choose(chance, seed + 10 * number + side + 5))
    total = 2 * count * len(pairs)
    rows = [
        {
            "source": "made up",
            "start_offset": number,
            "event": "Test" if number % 2 else "Trial",
            "round": str(number % 5),
            "white": white,
            "black": black,
            "white_elo": first,
            "black_elo": second,
            "result": ("1-0", "0-1", "1/2-1/2")[number % 3],
            "year": 2010 + number % 3,
        }
        for number, (white, black, first, second) in enumerate(pairs)
    ]
    white = np.tile(np.repeat([True, False], count), len(pairs))
    move = np.tile(np.arange(9, 9 + count), 2 * len(pairs))
    game = np.repeat(np.arange(len(pairs)), 2 * count)
    every = np.concatenate(values)
    # Whatever the values, everybody sits before one of two real positions, with twenty moves each.
    boards = [chess.Board(), chess.Board("rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1")]
    listed = np.array([[encode_move(move.uci()) for move in board.legal_moves] for board in boards], dtype=np.uint16)
    place = np.where(white, 0, 1)
    moves = listed[place][:, : every.shape[1]]
    keys = np.frombuffer(b"".join(map(from_board, boards)), np.uint8).reshape(2, -1)[place]
    chosen = np.concatenate(played)
    return Turns(
        choices=choices_of(every, moves, chosen, keys, 2 * (move - 1) + ~white, game, white, depth),
        worth=np.zeros(total),
        game=game,
        move=move,
        white=white,
        games=pl.DataFrame(rows, schema=SCHEMA, orient="row"),
        excluded=Counter({"a single legal move": 3}),
        problems=Counter(),
        identities=(ENGINE,),
        depth=depth,
    )


def rated_turns(games: int = 20) -> Turns:
    """Games at the marks of the made-up world."""
    pairs = [
        (f"White {mark} {i}", f"Black {mark} {i}", float(mark), float(mark)) for mark in MARKS for i in range(games)
    ]
    return turns_of(pairs)
