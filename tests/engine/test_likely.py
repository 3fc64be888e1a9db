"""Likely moves searched deeper than all others: by a real engine, and stored as what it is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from assay.engine.choices import Choices
from assay.engine.identity import LIKELY, LikelyDeeper, Search, likely_of
from assay.engine.local import Result, value_all
from assay.engine.uci import Valued, merged
from assay.errors import EngineError
from assay.games.packed import decode_move, encode_move, from_fen
from assay.moves.choice.likely import chooser, searched_deeper, with_few
from assay.policy.chances import shipped

FENS = (
    "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/8/8/2k5/8/3K4/4P3/8 w - - 0 1",
)


def valued(search: Search) -> dict[bytes, Valued]:
    keys = [from_fen(fen) for fen in FENS]
    found: list[Result] = []
    choose = chooser(shipped(), search.likely)(keys) if search.likely else None
    asyncio.run(value_all(iter(keys), search, workers=1, take=found.append, choose=choose))
    return {each.key: each for each in found if isinstance(each, Valued)}


def by_move(one: Valued) -> dict[str, list[int]]:
    return {decode_move(code): one.table()[:, at].tolist() for at, code in enumerate(one.move_codes().tolist())}


def test_likely_moves_are_searched_deeper_and_the_others_keep_their_values() -> None:
    likely = LikelyDeeper(shipped().identity, natural=3, best=2, wide=3)
    few, all_moves = valued(Search(depth=6, likely=likely)), valued(Search(depth=6))
    for key, full in all_moves.items():
        mine, theirs = by_move(few[key]), by_move(full)
        assert mine.keys() == theirs.keys()
        assert {move: values[:3] for move, values in mine.items()} == {move: v[:3] for move, v in theirs.items()}
        kept = [values for values in mine.values() if values[3:] == [values[2]] * 3]
        assert 0 < len(mine) - len(kept) <= 5
        assert few[key].reached == 6
        assert few[key].legal == full.legal
    assert sum(each.nodes for each in few.values()) < sum(each.nodes for each in all_moves.values())


def test_the_identity_tells_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from assay.cli.main import main
    from assay.engine.store import Store

    store = tmp_path / "a.db"
    game = tmp_path / "game.pgn"
    game.write_text('[Event "?"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O '
                    "9. h3 Nb8 10. d4 Nbd7 *\n")  # fmt: skip
    for words in (["--depth", "7", "--likely"], ["--depth", "7"]):
        with pytest.raises(SystemExit) as end:
            main(["analyse", str(game), "--store", str(store), "--workers", "1", *words])
        assert not end.value.code
    assert "Likely moves 5+3 deeper than 6" in capsys.readouterr().err
    with Store(store) as opened:
        kinds = [likely_of(entry.identity.options) for entry in opened.kept()]
    assert kinds.count(None) == 1
    assert LikelyDeeper(shipped().identity) in kinds
    with pytest.raises(SystemExit) as wrong:
        main(["analyse", str(game), "--store", str(store), "--depth", "6", "--likely"])
    assert wrong.value.code == 2


def test_a_search_of_likely_moves_has_to_be_told_which() -> None:
    with pytest.raises(EngineError, match="which moves are likely"):
        asyncio.run(value_all(iter(()), Search(likely=LikelyDeeper("x")), workers=1, take=print))


def test_what_is_likely_and_what_is_best_goes_deeper() -> None:
    codes = np.array([[10, 5], [30, 1], [20, 9], [0, 2], [40, 7], [40, 8]], np.int16)
    nothing = np.zeros(2, np.int64)
    choices = Choices(codes, np.arange(6).astype(np.uint16), np.array([0, 4, 6]), nothing,
                      np.zeros((2, 35), np.uint8), *(np.zeros(2, np.uint16),) * 2, nothing, nothing)  # fmt: skip
    logs = np.log(np.array([0.1, 0.1, 0.2, 0.6, 0.3, 0.7], np.float32))
    deeper = searched_deeper(choices, logs, LikelyDeeper("x", natural=1, best=1, wide=1))
    # The best and the likeliest of the first turn; of the second, where both are equally good, one is both.
    assert deeper.tolist() == [False, True, False, True, False, True]
    assert with_few(choices, 2, deeper, LikelyDeeper("x", 1, 1, 1)).codes.tolist() == [
        [10, 10], [30, 1], [20, 20], [0, 2], [40, 40], [40, 8]
    ]  # fmt: skip


def test_two_searches_become_one() -> None:
    moves = [encode_move(move) for move in ("e2e4", "d2d4", "a2a3")]
    wide = Valued(
        b"k", 2, 2, 3, 100, 5, np.array(moves, "<u2").tobytes(), np.array([[9, 8, 7], [6, 5, 4]], "<i2").tobytes()
    )
    few = Valued(
        b"k", 4, 4, 1, 50, 3, np.array(moves[2:], "<u2").tobytes(), np.array([[1], [1], [2], [3]], "<i2").tobytes()
    )
    both = merged(wide, few)
    assert (both.depth, both.reached, both.nodes, both.milliseconds, both.legal) == (4, 4, 150, 8, 3)
    assert by_move(both) == {"e2e4": [9, 6, 6, 6], "d2d4": [8, 5, 5, 5], "a2a3": [7, 4, 2, 3]}


def test_an_option_says_it_and_is_read_again() -> None:
    likely = LikelyDeeper("de468b39c07a2f7c", 4, 2, 5)
    assert likely_of(((LIKELY, str(likely)), ("Hash", "16"))) == likely
    assert likely_of((("Hash", "16"),)) is None
    assert likely_of(((LIKELY, "whatever"),)) is None


def test_no_other_purpose_takes_such_a_search_for_one_of_all_moves(tmp_path: Path) -> None:
    from assay.engine.identity import Identity
    from assay.engine.store import Store
    from assay.errors import StoreError

    options = (("Hash", "16"), (LIKELY, str(LikelyDeeper("x"))))
    one = Valued(from_fen(FENS[0]), 8, 8, 1, 9, 1, np.array([1], "<u2").tobytes(), np.zeros(8, "<i2").tobytes())
    with Store(tmp_path / "s.db", create=True) as opened:
        opened.add(opened.number_of(Identity("Fish", "", options, 0, 50)), [one])
        with pytest.raises(StoreError, match="no analyses at depth 8"):
            opened.choose(depth=8)
        assert not opened.holds(Identity("Fish", "", (("Hash", "16"),), 0, 50), 8, [one.key])


def test_the_shipped_calibration_asks_for_it_and_for_the_policy() -> None:
    from assay.errors import CalibrationError
    from assay.moves.calibration import for_engine, load

    found = load("likely")
    assert likely_of(found.options) == LikelyDeeper(shipped().identity)
    assert found.network == shipped().identity
    assert "likely moves deeper than 6" in str(found)
    with pytest.raises(CalibrationError, match="--policy none"):
        found.model(policy=False)
    with pytest.raises(CalibrationError, match="--policy"):
        chooser(shipped(), LikelyDeeper("another"))
    # Analyses of all moves are judged by the calibration of all moves, and the other way round.
    from assay.engine.identity import Identity

    whole = Identity(found.engine, found.net, (("Hash", "16"),), 0, 50)
    assert for_engine(whole, 8).name == "stockfish-15.1-d8"
    assert found.refusal(whole, 8)
    assert not found.refusal(Identity(found.engine, found.net, found.options, 0, 50), 8)
