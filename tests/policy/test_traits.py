"""What the network is told: exchanges as a slow search finds them, and words that mean what they say."""

from __future__ import annotations

import random

import chess
import numpy as np
import numpy.typing as npt
import pytest

from assay.games.legal import Positions, attacks, legal_moves, seen_by_mover
from assay.games.packed import from_board, unpack
from assay.policy.captures import VALUES, exchange
from assay.policy.traits import INPUTS, MOVE_FEATURES, PLANES, STATE, features

_WORTH = {kind: float(VALUES[kind]) for kind in chess.PIECE_TYPES}


def seen(*boards: chess.Board) -> Positions:
    return seen_by_mover(*unpack(np.array([np.frombuffer(from_board(board), np.uint8) for board in boards])))


def told(fen: str, uci: str, name: str, last: str | None = None) -> float:
    """One feature of one move."""
    board = chess.Board(fen)
    positions = seen(board)
    flip = 0 if board.turn else 56
    before = chess.Move.from_uci(last) if last else None
    squares = [np.array([square ^ flip]) for square in (before.from_square, before.to_square)] if before else []
    found = features(positions, *squares)
    move = chess.Move.from_uci(uci)
    wanted = move.from_square | move.to_square << 6 | (move.promotion or 0) << 12
    at = found.moves.codes(positions.turned).tolist().index(wanted)
    return float(found.inputs[MOVE_FEATURES.index(name), at])


def swap_slowly(board: chess.Board, square: int, on_it: int) -> float:
    """What the side to move wins at most by capturing on a square, least piece first, pins not looked at."""
    mine = sorted(board.attackers(board.turn, square), key=lambda s: board.piece_type_at(s) or 0)
    if not mine:
        return 0.0
    kind = board.piece_type_at(mine[0]) or 0
    if kind == chess.KING and board.attackers(not board.turn, square):
        return 0.0
    after = board.copy(stack=False)
    after.remove_piece_at(mine[0])
    after.set_piece_at(square, chess.Piece(kind, board.turn))
    after.turn = not board.turn
    return max(0.0, _WORTH[on_it] - swap_slowly(after, square, kind))


def test_exchanges_are_those_of_a_slow_search() -> None:
    chance = random.Random(3)
    for fen in (chess.STARTING_FEN, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"):
        board = chess.Board(fen)
        for _ in range(60):
            moves = sorted(board.legal_moves, key=str)
            if not moves:
                break
            upright = board if board.turn else board.mirror()
            positions = seen(board)
            found = legal_moves(positions)
            plain = [
                i
                for i, (s, e, p) in enumerate(zip(found.start, found.end, found.promotion, strict=True))
                if not p and upright.piece_type_at(int(s)) != chess.KING and upright.ep_square != int(e)
            ]
            row, start, end = found.row[plain], found.start[plain], found.end[plain]
            kind = positions.boards[row, start].astype(np.intp)
            gain = VALUES[np.maximum(positions.boards[row, end].astype(np.intp) - 6, 0)]
            fast = exchange(attacks(positions).pieces, row, start, end, gain, kind, 0)
            for s, e, k, g, f in zip(start, end, kind, gain, fast, strict=True):
                after = upright.copy(stack=False)
                after.remove_piece_at(int(s))
                after.set_piece_at(int(e), chess.Piece(int(k), True))
                after.turn = chess.BLACK
                assert f == pytest.approx(float(g) - swap_slowly(after, int(e), int(k))), (upright.fen(), s, e)
            board.push(chance.choice(moves))


@pytest.mark.parametrize(
    ("fen", "move", "name", "value"),
    [
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", "takes P", 1),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", "exchange wins", 1),
        ("4k3/8/2p5/3p4/8/1Q6/8/4K3 w - - 0 1", "b3d5", "exchange loses", 1),
        ("4k3/8/2p5/3p4/8/1Q6/8/4K3 w - - 0 1", "b3d5", "exchange", -1.6),
        ("3k4/8/8/8/8/8/4R3/4K3 w - - 0 1", "e2d2", "check", 1),
        ("3k4/8/8/8/8/8/4R3/4K3 w - - 0 1", "e2a2", "check", 0),
        ("4k3/8/8/8/8/4N3/4R3/4K3 w - - 0 1", "e3c4", "discovered check", 1),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "e1c1", "castles long", 1),
        ("4k2r/8/8/8/8/8/8/4K3 b k - 0 1", "e8g8", "castles short", 1),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", "promotes to queen", 1),
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8n", "promotes to less", 1),
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "d4e3", "in passing", 1),
        ("4k3/8/8/3p4/4N3/8/8/4K3 w - - 0 1", "e1e2", "own hanging, most", 0.6),
        ("4k3/8/8/3p4/4N3/8/8/4K3 w - - 0 1", "e4g3", "own hanging, most", 0),
        ("4k3/8/8/3p4/4N3/8/8/4K3 w - - 0 1", "e4g3", "mover was lost", 0.6),
        ("4k3/8/8/3p4/4N3/8/8/4K3 w - - 0 1", "e1e2", "own lost left behind", 0.6),
        ("4k3/3q4/8/8/8/8/4B3/4K3 w - - 0 1", "e2b5", "mover attacks queen", 1),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4", "passed pawn", 1),
        ("4k3/3p4/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4", "passed pawn", 0),
        ("3qk3/8/8/8/8/8/8/2B1K3 w - - 0 1", "c1g5", "mover attacks queen", 1),
        ("3qk3/8/5n2/8/8/8/8/2B1K3 w - - 0 1", "c1g5", "pins or skewers to queen", 1),
        ("4k3/3n4/8/8/8/8/4B3/4K3 w - - 0 1", "e2b5", "pins or skewers to king", 1),
        ("4k3/8/8/8/8/8/8/N3K3 w - - 0 1", "a1b3", "mobility, before", 0.25),
        ("4k3/8/8/8/8/8/8/N3K3 w - - 0 1", "a1b3", "mobility, after", 0.75),
        ("4k3/8/8/1p6/4P3/3P4/8/4K3 w - - 0 1", "e4e5", "isolates a pawn", 0),
        ("4k3/8/8/1p6/4P3/8/8/4K3 w - - 0 1", "e4e5", "isolates a pawn", 1),
        ("4k3/8/8/8/8/3P4/8/4K3 w - - 0 1", "e1d2", "blocks own pawn", 0),
        ("4k3/8/8/8/8/8/3P4/2B1K3 w - - 0 1", "c1a3", "blocks own pawn", 0),
        ("4k3/8/8/8/8/8/3P4/4KB2 w - - 0 1", "f1d3", "blocks own pawn", 1),
    ],
)
def test_features_mean_what_they_say(fen: str, move: str, name: str, value: float) -> None:
    assert told(fen, move, name) == pytest.approx(value)


def test_a_recapture_is_known_by_the_move_before() -> None:
    fen = "4k3/8/8/3n4/4P3/8/8/4K3 w - - 0 1"  # a knight has just taken on d5
    assert told(fen, "e4d5", "recaptures", "f6d5") == 1
    assert told(fen, "e4d5", "last move known", "f6d5") == 1
    assert told(fen, "e4d5", "recaptures") == 0
    assert told(fen, "e4d5", "last move known") == 0


def boards(count: int) -> list[chess.Board]:
    board, chance, found = chess.Board(), random.Random(5), []
    while len(found) < count:
        moves = sorted(board.legal_moves, key=str)
        if not moves or board.fullmove_number > 50:
            board = chess.Board()
            continue
        board.push(chance.choice(moves))
        if any(board.legal_moves):
            found.append(board.copy(stack=False))
    return found


def test_black_is_told_what_white_would_be_told_of_the_mirrored_position() -> None:
    some = boards(80)
    one, other = features(seen(*some)), features(seen(*(board.mirror() for board in some)))
    assert (one.inputs == other.inputs).all()
    assert (one.state == other.state).all()
    assert (one.placed == other.placed).all()


def test_a_position_is_told_the_same_alone_and_among_others() -> None:
    some = boards(40)
    together = features(seen(*some))
    for number in (0, 17, 39):
        alone = features(seen(some[number]))
        mine = slice(together.moves.offsets[number], together.moves.offsets[number + 1])
        assert (alone.inputs == together.inputs[:, mine]).all()
        assert (alone.state[0] == together.state[number]).all()


def test_every_number_is_small_and_every_name_stands_once() -> None:
    found = features(seen(*boards(200)))
    assert found.inputs.shape == (INPUTS, len(found.moves))
    numbers: npt.NDArray[np.float32] = np.concatenate([found.inputs.ravel(), found.state.ravel()])
    assert np.isfinite(numbers).all()
    assert abs(numbers).max() <= 8
    assert len(set(MOVE_FEATURES)) == len(MOVE_FEATURES)
    assert len(set(PLANES)) == len(PLANES)
    assert len(set(STATE)) == len(STATE)
