"""Choices made by hand or by chance, for tests."""

from __future__ import annotations

import chess
import numpy as np

from assay.engine.choices import Choices
from assay.games.packed import encode_move, from_fen


def choices_of(fens: list[str], seed: int = 1, depth: int = 4, played: list[str] | None = None) -> Choices:
    """All legal moves of these positions with values by chance; the first move, or the one named, was played."""
    rng = np.random.default_rng(seed)
    moves = [[encode_move(move.uci()) for move in chess.Board(fen).legal_moves] for fen in fens]
    start = np.concatenate([[0], np.cumsum([len(some) for some in moves])])
    codes = np.round(rng.normal(0, 120, (start[-1], 1)) + rng.normal(0, 60, (start[-1], depth))).astype(np.int16)
    chosen = [0 if played is None else moves[i].index(encode_move(played[i])) for i in range(len(fens))]
    return Choices(
        codes=codes,
        moves=np.array([code for some in moves for code in some], np.uint16),
        start=start,
        played=np.array(chosen),
        keys=np.stack([np.frombuffer(from_fen(fen), np.uint8) for fen in fens]),
        before=np.zeros(len(fens), np.uint16),
        own=np.zeros(len(fens), np.uint16),
        ply=np.arange(20, 20 + len(fens)),
        unit=np.arange(len(fens)),
    )


def random_fens(count: int, seed: int = 0) -> list[str]:
    """Positions of random games, with whatever oddities they bring: promotions, checks, castling, en passant."""
    rng = np.random.default_rng(seed)
    fens: list[str] = []
    while len(fens) < count:
        board = chess.Board()
        for _ in range(int(rng.integers(8, 120))):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(moves[int(rng.integers(len(moves)))])
        if board.legal_moves.count() > 1:
            fens.append(board.fen())
    return fens
