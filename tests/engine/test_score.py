"""Score codes keep the order of scores, and every score comes back from its code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine import score

cp = st.integers(-score.LIMIT, score.LIMIT)
mates = st.integers(-500, 500).filter(bool).map(lambda moves: f"#{moves}")
scores = st.one_of(cp, mates)


def rank(said: int | str) -> tuple[int, float]:
    """The order of scores as chess players have it, told without codes."""
    if isinstance(said, int):
        return 0, said
    moves = int(said[1:])
    return (1, -moves) if moves > 0 else (-1, -moves)


@given(scores, scores)
def test_codes_compare_as_scores_do(one: int | str, other: int | str) -> None:
    assert (score.parse(one) < score.parse(other)) == (rank(one) < rank(other))


@given(st.one_of(scores, st.none()))
def test_every_score_comes_back(said: int | str | None) -> None:
    assert score.to_text(score.parse(said)) == said


@given(st.lists(scores, min_size=2))
def test_pawns_keep_the_order(said: list[int | str]) -> None:
    codes = sorted(score.parse(one) for one in said)
    assert (np.diff(score.pawns(codes)) >= 0).all()
    assert len(set(codes)) == len(set(score.pawns(codes)))


@pytest.mark.parametrize("nonsense", ["+3", "mate", 1.5, True, [], "#x"])
def test_what_is_no_score_is_refused(nonsense: object) -> None:
    with pytest.raises(ValueError):
        score.parse(nonsense)  # type: ignore[arg-type]
