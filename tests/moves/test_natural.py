"""The policy's chances stand beside the moves they belong to, in whatever order an engine listed these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.moves.made import choices_of, random_fens

from assay.games.packed import decode_move, encode_move
from assay.moves.evidence import log_policy
from assay.policy.chances import log_chances, shipped


def test_every_move_has_its_own_chance() -> None:
    fens = random_fens(30, seed=4)
    made = choices_of(fens)
    rng = np.random.default_rng(1)
    order = np.lexsort((rng.random(len(made.moves)), made.turn))
    shuffled = replace(made, moves=made.moves[order], codes=made.codes[order])
    found = log_policy(shuffled, shipped())
    assert np.allclose(np.add.reduceat(np.exp(found), shuffled.start[:-1]), 1, atol=1e-4)
    for turn, fen in enumerate(fens):
        said = log_chances(shipped(), [fen])
        by_move = {decode_move(int(move)): log for move, log in zip(said.moves, said.logs, strict=True)}
        rows = range(shuffled.start[turn], shuffled.start[turn + 1])
        assert all(
            found[row] == pytest.approx(by_move[decode_move(int(shuffled.moves[row]))], abs=1e-4) for row in rows
        )


def test_an_illegal_move_is_noticed() -> None:
    made = choices_of(["4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"])
    moves = made.moves.copy()
    moves[0] = encode_move("e2e5")
    with pytest.raises(AssertionError, match="not legal"):
        log_policy(replace(made, moves=moves), shipped())
