"""What engines print, read without their order of words, without bounds, and whole or not at all."""

from __future__ import annotations

import pytest

from assay.engine.identity import NO_DEPTH, Identity, Search
from assay.engine.score import MISSING
from assay.engine.uci import Valued, read_hello, read_look, read_search
from assay.errors import EngineError
from assay.games.packed import decode_move, from_fen

FEN = "6k1/8/8/8/8/8/8/K6R w - - 0 1"
KEY = from_fen(FEN)
TWO = frozenset({"a1a2", "a1b1"})


def read(text: str, *, legal: frozenset[str] = TWO, **job: int) -> Valued:
    return read_search(text.encode(), KEY, legal, Search("any", **{"depth": 2, **job}), 0.25)  # type: ignore[arg-type]


def listed(valued: Valued) -> dict[str, list[int]]:
    columns = zip(valued.move_codes().tolist(), valued.table().T.tolist(), strict=True)
    return {decode_move(code): values for code, values in columns}


WHOLE = """info string NNUE evaluation
info depth 1 multipv 1 score cp 10 nodes 40 pv a1a2 h8h7
info depth 1 multipv 2 score cp 5 nodes 40 pv a1b1
info depth 2 multipv 1 score mate -3 nodes 90 pv a1b1
info depth 2 multipv 2 score cp -4 nodes 99 pv a1a2
"""


def test_every_move_at_every_depth_in_the_order_of_the_last() -> None:
    valued = read(WHOLE)
    assert listed(valued) == {"a1b1": [5, -31_997], "a1a2": [10, -4]}
    assert (valued.depth, valued.reached, valued.legal, valued.nodes, valued.milliseconds) == (2, 2, 2, 99, 250)


def test_the_order_of_words_does_not_matter() -> None:
    turned = WHOLE.replace("info depth 2 multipv 2 score cp -4 nodes 99", "info nodes 99 score cp -4 multipv 2 depth 2")
    assert read(turned) == read(WHOLE)


@pytest.mark.parametrize("bound", ["lowerbound", "upperbound", "wdl 1 2 997 lowerbound"])
def test_bounds_are_no_values(bound: str) -> None:
    assert read(WHOLE + f"info depth 2 multipv 2 score cp 77 {bound} nodes 99 pv a1a2\n") == read(WHOLE)


def test_of_a_depth_printed_twice_the_last_counts() -> None:
    again = "info depth 2 multipv 1 score cp 8 nodes 99 pv a1a2\ninfo depth 2 multipv 2 score cp 7 nodes 99 pv a1b1\n"
    assert listed(read(WHOLE + again)) == {"a1a2": [10, 8], "a1b1": [5, 7]}


def test_a_move_that_was_not_among_the_best_at_a_lesser_depth_is_missing_there() -> None:
    valued = read("info depth 1 multipv 1 score cp 1 pv a1a2\ninfo depth 2 multipv 1 score cp 2 pv a1b1\n", lines=1)
    assert listed(valued) == {"a1b1": [MISSING, 2]}


def test_when_the_last_depth_has_a_bound_in_place_of_a_value_the_one_before_was_reached() -> None:
    third = "info depth 3 multipv 1 score cp 9 pv a1a2\ninfo depth 3 multipv 2 score cp 7 upperbound pv a1b1\n"
    valued = read(WHOLE + third, depth=3)
    assert (valued.depth, valued.reached) == (3, 2)
    assert listed(valued) == listed(read(WHOLE))


def test_nodes_may_end_a_depth_in_the_middle() -> None:
    broken = WHOLE + "info depth 3 multipv 1 score cp 1 nodes 120 pv a1a2\n"
    assert read(broken, nodes=120, depth=NO_DEPTH).reached == 2
    with pytest.raises(EngineError, match="its last depth lacks 1 of 2 moves"):
        read(broken, depth=3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "without a single exact score"),
        ("info depth 2 score cp 3 lowerbound pv a1a2\n", "without a single exact score"),
        ("info depth 2 multipv 1 score cp 3 pv a1a2\n", "valued 1 of 2 moves"),
        (WHOLE.replace("a1a2", "a1h8"), "plays 'a1h8', which is not legal"),
        (WHOLE.replace("depth 2", "depth 999"), "speaks of depth 999"),
    ],
)
def test_half_an_answer_is_none(text: str, why: str) -> None:
    with pytest.raises(EngineError, match=why):
        read(text)


def test_a_look_ends_with_its_last_exact_score() -> None:
    lines = ["depth 7 score cp 510", "depth 8 score cp 480", "depth 8 score cp 900 upperbound"]
    assert read_look("".join(f"info {line} pv a1a2\n" for line in lines).encode()) == 480
    with pytest.raises(EngineError):
        read_look(b"info string nothing\n")


@pytest.mark.parametrize("most", ["0", "-5", "9" * 5000])
def test_a_most_that_is_none_is_not_believed(most: str) -> None:
    name, options = read_hello(f"id name F \noption name MultiPV type spin default 1 min 1 max {most}\n".encode())
    assert name == "F" and options.get("MultiPV", ("1", None)) == ("1", None)


def test_nodes_beyond_measure_are_cut() -> None:
    assert read(WHOLE.replace("nodes 99", "nodes " + "9" * 25)).nodes == 2**63 - 1


def test_a_search_that_stops_early_is_none_unless_mate_is_in_sight() -> None:
    with pytest.raises(EngineError, match="stopped at depth 2 of 5"):
        read(WHOLE.replace("mate -3", "cp -3"), depth=5)
    assert read(WHOLE.replace("cp -4", "mate -9"), depth=5).reached == 2


def test_an_identity_reads_well() -> None:
    identity = Identity("Fish 1", "net", (("Hash", "64"),), nodes=500, lines=256)
    assert str(identity) == "Fish 1, all moves, 500 nodes, Hash 64"
