"""Turns: values sorted with the played move marked, everything left out counted, juries averaged."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import chess
import chess.pgn
import numpy as np
import pytest

from assay.engine.analysis import Outcome
from assay.engine.score import MATE
from assay.engine.store import LeftOut, Store, writing
from assay.engine.turns import BEYOND, DECIDED, FORCED, LACKING, REPEATED, Turns, turns
from assay.errors import StoreError
from assay.games import Game, read
from assay.games.packed import decode_move, from_board, to_fen

MATED = """[White "A"]\n[Black "B"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n"""


def nodes_of(found: Turns, games: list[Game]) -> Iterator[tuple[int, chess.pgn.ChildNode]]:
    """Each turn with its move as python-chess reads it."""
    for row in range(len(found)):
        game = chess.pgn.read_game(io.StringIO(games[found.game[row]].text))
        assert game is not None
        yield row, list(game.mainline())[found.ply[row]]


@pytest.fixture
def built(games: list[Game], tmp_path: Path) -> Callable[..., Turns]:
    def build(store: str = "store.db", *, of: list[Game] | None = None, **how: object) -> Turns:
        with Store(tmp_path / store) as opened:
            return turns(of or games, opened, **{"depth": 3, "from_move": 2, **how})  # type: ignore[arg-type]

    return build


def test_values_are_sorted_and_the_played_move_is_marked(
    fake: Callable[..., str],
    fake_values: ModuleType,
    analysed: Callable[..., Outcome],
    built: Callable[..., Turns],
    games: list[Game],
) -> None:
    analysed(fake())
    found = built()
    for row, node in nodes_of(found, games):
        board, move = node.parent.board(), node.move.uci()
        fen = to_fen(found.keys[row].tobytes())
        assert fen.split()[0] == board.board_fen()
        expected = {str(m): fake_values.value(fen, str(m), 3) / 100 for m in board.legal_moves}
        listed = [decode_move(code) for code in found.moves[row].tolist() if code]
        assert listed[found.played[row]] == move
        assert found.worth[row] == expected[move]
        values = found.values[row]
        assert {m: values[i] for i, m in enumerate(listed)} == expected
        assert (np.diff(values[: len(listed)]) <= 0).all() and np.isnan(values[len(listed) :]).all()
        assert (found.move[row], found.white[row]) == (board.fullmove_number, board.turn)


def test_columns_follow_the_mover(
    fake: Callable[..., str], analysed: Callable[..., Outcome], built: Callable[..., Turns]
) -> None:
    analysed(fake())
    found = built()
    black = (found.game == 0) & ~found.white
    assert set(found.player[black]) == {"Baker"} and set(found.opponent[black]) == {"Adams"}
    assert set(found.rating[black]) == {1950.0} and set(found.opponent_rating[black]) == {2100.0}
    assert np.isnan(found.rating[(found.game == 1) & ~found.white]).all()
    assert set(found.column("event")) == {"Test"}
    few = found.only(black)
    assert len(few) == black.sum() and few.values.shape[0] == len(few) and few.games is found.games


def test_every_exclusion_is_counted_by_its_reason(
    fake: Callable[..., str], analysed: Callable[..., Outcome], built: Callable[..., Turns], tmp_path: Path
) -> None:
    analysed(fake())
    whole = built()
    assert whole.excluded == {"before move 2": 4, REPEATED: 2}
    key = whole.keys[3].tobytes(), whole.keys[5].tobytes()
    with writing(tmp_path / "store.db") as store:
        store._db.execute("DELETE FROM valued WHERE key IN (?, ?)", key)
        store.add(1, [LeftOut(key[0], "forced", 0), LeftOut(key[1], "decided", 700)])
        lacking = whole.keys[7].tobytes()
        store._db.execute("DELETE FROM valued WHERE key = ?", (lacking,))
    part = built(limit=float(np.sort(np.abs(whole.values[:, 0]))[-3]))
    assert part.excluded[FORCED] == part.excluded[DECIDED] == part.excluded[LACKING] == 1
    assert part.excluded[BEYOND] <= 2
    assert len(part) + part.excluded.total() == len(whole) + whole.excluded.total()


def test_a_lesser_depth_and_every_depth(
    fake: Callable[..., str], analysed: Callable[..., Outcome], built: Callable[..., Turns]
) -> None:
    analysed(fake())
    deep = built()
    every = deep.at_depths((1, 2, 3))
    np.testing.assert_array_equal(every[:, :, -1], deep.values)
    np.testing.assert_array_equal(deep.at_depths((2, 1)), every[:, :, [1, 0]])
    assert deep.at_depths(()).shape == (*deep.values.shape, 0)
    shallow = built(depth=1)
    np.testing.assert_array_equal(shallow.at_depths((1,)), shallow.values[:, :, None])
    np.testing.assert_array_equal(np.sort(-shallow.values, axis=1), np.sort(-every[:, :, 0], axis=1))


def test_a_jury_averages_move_by_move(
    fake: Callable[..., str], analysed: Callable[..., Outcome], built: Callable[..., Turns]
) -> None:
    analysed(fake())
    analysed(fake(name="Other", shift=50))
    alone, other = built(engine="Fake 1.0"), built(engine="Other")
    jury = built(engine=["Fake 1.0", "Other"])
    assert len(jury.identities) == 2
    for row in range(len(jury)):
        by_move = [
            dict(zip(some.moves[row].tolist(), some.values[row].tolist(), strict=True)) for some in (alone, other, jury)
        ]
        for code, value in by_move[2].items():
            assert not code or value == pytest.approx((by_move[0][code] + by_move[1][code]) / 2)
    with pytest.raises(StoreError, match="several engines"):
        built()


def test_with_one_line_the_next_position_says_what_a_move_was_worth(
    fake: Callable[..., str],
    fake_values: ModuleType,
    analysed: Callable[..., Outcome],
    built: Callable[..., Turns],
    games: list[Game],
) -> None:
    analysed(fake(), lines=1)
    found = built()

    def best(board: chess.Board) -> float:
        if board.is_checkmate():
            return -MATE / 100
        fen = to_fen(from_board(board))
        return float(max(fake_values.value(fen, str(move), 3) for move in board.legal_moves) / 100)

    seen: dict[tuple[int, str], chess.Board] = {}
    for row, node in nodes_of(found, games):
        before, after = node.parent.board(), node.board()
        seen.setdefault((found.game[row], before.epd()), before)
        assert found.values[row].tolist() == [best(before)]
        # A position that occurred before in the game is worth what it was then.
        next_position = seen.get((found.game[row], after.epd()), after)
        is_best = fake_values.value(to_fen(from_board(before)), node.move.uci(), 3) / 100 == best(before)
        assert found.worth[row] == (best(before) if is_best else -best(next_position))


def test_games_that_were_never_analysed_give_a_sentence(
    fake: Callable[..., str], analysed: Callable[..., Outcome], built: Callable[..., Turns], tmp_path: Path
) -> None:
    analysed(fake())
    (tmp_path / "mated.pgn").write_text(MATED)
    with pytest.raises(StoreError, match="none of these games' positions at depth 3"):
        built(of=list(read(tmp_path / "mated.pgn")))
    with pytest.raises(StoreError, match="no analyses at depth 12"):
        built(depth=12)


def test_no_games_make_no_turns(fake: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path) -> None:
    analysed(fake())
    with Store(tmp_path / "store.db") as store:
        found = turns([], store, depth=3)
    assert len(found) == 0 and found.games.height == 0 and not found.excluded
