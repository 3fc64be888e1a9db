"""What a board tells without an engine."""

from __future__ import annotations

import numpy as np

from assay.games import to_arrays
from assay.learned import encode_games
from assay.learned.encode import SCALAR_NAMES
from assay.learned.inputs import mover_view


def scalars(movetext: str) -> dict[str, int]:
    """The scalars of the last ply of a game."""
    last = encode_games(to_arrays([movetext])).scalars[-1]
    return dict(zip(SCALAR_NAMES, last.tolist(), strict=True))


def test_material_and_captures_from_the_mover() -> None:
    found = scalars("1. e4 d5 2. exd5 Qxd5 *")
    assert (found["captured"], found["queen"], found["recapture"]) == (1, 1, 1)
    assert (found["my material"], found["their material"]) == (38, 39)
    assert (found["my material after"], found["their material after"]) == (38, 38)


def test_a_piece_left_hanging_is_at_stake() -> None:
    found = scalars("1. e4 e5 2. Qh5 Nc6 3. Qxf7+ *")  # the queen can be taken by the king, and nothing guards her
    assert found["my at stake after"] == 9
    assert found["their in check after"] == 1
    assert scalars("1. e4 e5 2. Nf3 *")["their at stake after"] == 1  # the pawn on e5 has no guard


def test_a_guarded_piece_is_worth_what_the_exchange_wins() -> None:
    found = scalars("1. e4 e5 2. d4 Qh4 3. Nf3 *")  # the knight hits the queen, which nothing guards
    assert found["their at stake after"] == 9
    assert scalars("1. e4 d5 2. Nc3 d4 *")["their at stake after"] == 2  # a knight, guarded, for a pawn


def test_special_moves_are_told() -> None:
    assert scalars("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O *")["castling"] == 1
    assert scalars("1. e4 a6 2. e5 d5 3. exd6 *")["captured"] == 1
    assert scalars("1. e4 a6 2. e5 d5 3. exd6 a5 4. dxc7 a4 5. cxb8=Q *")["promotion"] == 1
    assert scalars("1. e4 e5 2. Ke2 *")["castling"] == 0


def test_both_sides_look_alike_from_their_own_side() -> None:
    """1. e4 by White and 1... e5 after 1. e4 turned round: the same planes of pieces in the mover's view."""
    encoded = encode_games(to_arrays(["1. e4 e5 *"]))
    seen = mover_view(encoded.planes, encoded.planes[:, 56] != 0)
    assert np.array_equal(seen[0, :6], seen[1, :6])
    assert seen[0, 48] == seen[1, 48]
    assert seen[0, 49] == seen[1, 49]


def test_turning_round_twice_changes_nothing() -> None:
    encoded = encode_games(to_arrays(["1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *"]))
    black = np.zeros(6, dtype=bool)
    assert np.array_equal(mover_view(mover_view(encoded.planes, black), black), encoded.planes)
