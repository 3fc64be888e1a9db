"""First moves: counted by pool and level, and told with the network's word where few were counted."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest

from assay.errors import InputError
from assay.games.packed import encode_move
from assay.policy.chances import chances, keys_of
from assay.policy.first_moves import FirstMoves, count, hashes, load_first_moves

FENS = [chess.STARTING_FEN, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"]
E4, D4, E5 = (encode_move(move) for move in ("e2e4", "d2d4", "e7e5"))


def _counted() -> FirstMoves:
    """White begins e4 at 1500 and d4 at 2500; the reply was seen too seldom."""
    start, after = keys_of(FENS)
    keys = np.array([start] * 100 + [after] * 5)
    moves = np.array([E4] * 40 + [D4] * 59 + [encode_move("a2a4")] + [E5] * 5, np.uint16)
    elo = np.array([1500] * 40 + [2500] * 60 + [2000] * 5)
    half = [
        (keys[part], moves[part], elo[part], ["board"] * len(elo[part])) for part in (slice(0, 50), slice(50, None))
    ]
    return count(half, 10)


def test_moves_are_counted_by_level_and_pool(tmp_path: Path) -> None:
    made = _counted()
    start, after = keys_of(FENS)
    codes = np.array([D4, E4, encode_move("a2a4")], np.uint16)
    assert made.played(start, codes, 1500, "board").tolist() == [0, 40, 0]
    assert made.played(start, codes, 2900, "board").tolist() == [59, 0, 0]  # what was played but once is left out
    between = made.played(start, codes, 2000, "board")
    assert not made.played(start, codes, 1500, "lichess").any() and not made.played(after, codes, 1500, "board").any()
    assert between.sum() < 59
    made.write(tmp_path / "first-moves.npz")
    again = load_first_moves(tmp_path / "first-moves.npz")
    assert again.played(start, codes, 2000, "board").tolist() == between.tolist()


def test_the_network_has_its_say_where_few_were_counted() -> None:
    made = _counted()
    start, after = keys_of(FENS)
    thought, codes = np.array([0.2, 0.8]), np.array([E4, D4], np.uint16)
    assert made.mixed(start, codes, thought, 1500, "board").round(2).tolist() == [0.84, 0.16]
    np.testing.assert_allclose(made.mixed(after, codes, thought, 1500, "board"), thought)


def test_the_clock_of_fifty_moves_is_another_matter() -> None:
    first, second = (f"8/8/8/4k3/8/4K3/8/7R w - - {clock} 9" for clock in (3, 30))
    one, other, third = hashes(keys_of([first, second, first.replace("w", "b")]))
    assert one == other and one != third


def test_people_open_as_people_do() -> None:
    low, high = (chances(chess.Board(), elo, pool=pool) for elo, pool in ((1200, "lichess"), (2500, "board")))
    e4, e3, knight = map(chess.Move.from_uci, ("e2e4", "e2e3", "g1f3"))
    assert low[e4] > 0.5 and low[e3] < 0.1 and high[knight] > 2 * low[knight]
    assert sum(low.values()) == pytest.approx(1) and len(low) == 20


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"PK no")
    with pytest.raises(InputError, match="holds no first moves"):
        load_first_moves(tmp_path / "bad.npz")
