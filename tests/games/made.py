"""Games made up for tests: random legal moves, with the tags, comments and variations that real files have."""

from __future__ import annotations

import random
from functools import cache

import chess
import chess.pgn

TAGS = {
    "Event": "Rated Blitz game",
    "Site": "https://example.org/abcd1234",
    "Date": "2024.02.29",
    "Round": "-",
    "White": "Müller, Hans",
    "Black": 'Robert "Bobby" F',
    "Result": "1-0",
    "WhiteElo": "1850",
    "BlackElo": "1923",
    "WhiteTitle": "FM",
    "WhiteRatingDiff": "+8",
    "BlackRatingDiff": "-8",
    "ECO": "C42",
    "Opening": "Petrov's Defense",
    "TimeControl": "300+3",
    "Termination": "Normal",
}


def tag_lines(tags: dict[str, str]) -> str:
    """Tags as PGN writes them."""
    quoted = {name: value.replace("\\", "\\\\").replace('"', '\\"') for name, value in tags.items()}
    return "".join(f'[{name} "{value}"]\n' for name, value in quoted.items())


@cache
def random_moves(seed: int, plies: int, fen: str = chess.STARTING_FEN) -> chess.pgn.Game:
    """A game of random legal moves; captures and promotions are preferred, so that boards empty and kings run."""
    rng = random.Random(seed)
    game = chess.pgn.Game()
    if fen != chess.STARTING_FEN:
        game.setup(fen)
    node: chess.pgn.GameNode = game
    board = game.board()
    for _ in range(plies):
        moves = sorted(board.legal_moves, key=str)
        if not moves:
            break
        lively = [m for m in moves if m.promotion or board.is_en_passant(m) or board.is_castling(m)]
        move = rng.choice(lively if lively and rng.random() < 0.7 else moves)
        node = node.add_variation(move)
        board.push(move)
    return game


def game_text(seed: int, plies: int = 40, *, notes: bool = False, result: str = "1-0", **tags: str) -> str:
    """A whole game as text, without a newline at its end."""
    rng = random.Random(seed)
    words = []
    board = chess.Board()
    for node in random_moves(seed, plies).mainline():
        if board.turn or rng.random() < 0.2:
            words.append(f"{board.fullmove_number}{'.' if board.turn else '...'}")
        words.append(board.san(node.move))
        if notes:
            kind = rng.randrange(8)
            words += {
                0: ["{ [%eval 0.17] [%clk 0:05:00] }"],
                1: ["$2", "{a bad (really) move: exd5 Nf3}"],
                2: [f"({board.fullmove_number}{'.' if board.turn else '...'} {_another(board, rng)} {{or Nf3 (e4)}})"],
            }.get(kind, [])
        board.push(node.move)
    lines = [" ".join(words[i : i + 12]) for i in range(0, len(words), 12)]
    head = tag_lines({"Event": f"Test {seed}", "White": f"W{seed}", "Black": f"B{seed}", **tags, "Result": result})
    return f"{head}\n" + "\n".join([*lines, result])


def _another(board: chess.Board, rng: random.Random) -> str:
    return board.san(rng.choice(sorted(board.legal_moves, key=str)))
