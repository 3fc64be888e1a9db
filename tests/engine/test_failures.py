"""What can go wrong with an engine, one scripted fault at a time: the run goes on, nothing is lost or made up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import chess
import pytest

from assay.engine.analysis import Outcome
from assay.engine.identity import Search
from assay.engine.local import Engine
from assay.engine.parsed import wanted
from assay.engine.store import Store
from assay.engine.uci import UciEngine
from assay.errors import EngineError
from assay.games import Game
from assay.games.packed import decode_move, from_fen, to_fen

WEIRD = "r1b1kbnr/pppp1Npp/8/6q1/2BnP3/8/PPPP1PPP/RNBQK2R"  # after 5. Nxf7, Black to move
# How long an engine may be silent where silence is the fault: longer than one that works ever is on a busy machine.
PATIENCE = {"hangs": 3.0, "ponders": 3.0, "chatters": 3.0}
FAULTS = [
    "dies",
    "hangs",
    "ponders",
    "chatters",
    "gives no scores",
    "plays illegal moves",
    "leaves moves out",
    "stops early",
]


def stored(path: Path) -> dict[str, dict[str, list[int]]]:
    """Every stored position: FEN to move to values by depth."""
    with Store(path) as store:
        return {
            to_fen(valued.key): {
                decode_move(move): valued.table()[:, column].tolist()
                for column, move in enumerate(valued.move_codes().tolist())
            }
            for kept in store.kept()
            for valued in store.all_valued(kept.id)
        }


@pytest.fixture
def expected(games: list[Game], fake_values: ModuleType) -> dict[str, dict[str, list[int]]]:
    """What an honest run at depth 3 stores: every move's value at every depth, as the engine computes it."""
    boards = (chess.Board(to_fen(key)) for key in wanted(games, from_move=2).keys)
    return {
        board.fen(): {
            str(move): [fake_values.value(board.fen(), str(move), depth) for depth in (1, 2, 3)]
            for move in board.legal_moves
        }
        for board in boards
    }


@pytest.mark.parametrize("fault", FAULTS)
def test_a_position_the_engine_always_fails_at_is_set_aside_and_the_rest_is_valued(
    fault: str,
    fake: Callable[..., str],
    analysed: Callable[..., Outcome],
    expected: dict[str, dict[str, list[int]]],
    tmp_path: Path,
) -> None:
    outcome = analysed(fake(fault=fault, at=WEIRD), patience=PATIENCE.get(fault), workers=2)

    assert [position.fen.split()[0] for position in outcome.set_aside] == [WEIRD]
    assert outcome.valued == len(expected) - 1
    assert outcome.restarts == 3
    assert stored(tmp_path / "store.db") == {fen: moves for fen, moves in expected.items() if WEIRD not in fen}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_passes_costs_a_restart_and_no_position(
    fault: str,
    fake: Callable[..., str],
    analysed: Callable[..., Outcome],
    expected: dict[str, dict[str, list[int]]],
    tmp_path: Path,
) -> None:
    outcome = analysed(fake(fault=fault, once=tmp_path / "struck"), patience=PATIENCE.get(fault), workers=1)

    assert outcome.restarts == 1
    assert not outcome.set_aside
    assert stored(tmp_path / "store.db") == expected


def test_an_engine_that_comes_back_as_another_ends_the_run_and_its_values_are_not_stored(
    fake: Callable[..., str],
    analysed: Callable[..., Outcome],
    expected: dict[str, dict[str, list[int]]],
    tmp_path: Path,
) -> None:
    """As when the engine is updated while the run goes on."""
    engine = fake(fault="comes back as another", at=WEIRD, log=tmp_path / "log", shift=0)
    with pytest.raises(EngineError, match=r"Impostor 2\.0, 50 lines is here, but Fake 1\.0, 50 lines was asked for"):
        analysed(engine, workers=1)
    kept = stored(tmp_path / "store.db")
    assert kept and kept.items() <= expected.items() and not any(WEIRD in fen for fen in kept)


def test_an_engine_that_dies_at_its_start_once_is_started_again(
    fake: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    outcome = analysed(fake(fault="dies at start", once=tmp_path / "struck"))
    assert outcome.valued and not outcome.set_aside


def test_an_engine_that_always_dies_at_its_start_ends_the_run_with_a_sentence(
    fake: Callable[..., str], analysed: Callable[..., Outcome]
) -> None:
    with pytest.raises(EngineError, match=r"does not start: it died \(exit code 3\)\."):
        analysed(fake(fault="dies at start"))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell who works")
def test_an_engine_that_works_at_its_start_is_waited_for(
    fake: Callable[..., str], analysed: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.engine.uci.START_SECONDS", 1.5)
    assert analysed(fake(fault="is long in loading"), workers=1).valued
    monkeypatch.setattr("assay.engine.uci.START_WORK", 1.0)
    with pytest.raises(EngineError, match="does not answer 'uci': is it a UCI engine"):
        analysed(fake(fault="is long in loading"), workers=1, store="other.db")


def test_what_a_program_writes_to_stderr_before_it_dies_is_told(
    fake: Callable[..., str], analysed: Callable[..., Outcome]
) -> None:
    with pytest.raises(EngineError, match=r"it died \(exit code 1\): engine: error while loading .* object file\."):
        analysed(fake(fault="cannot be loaded"))


def test_an_engine_that_fails_at_every_position_ends_the_run_with_a_sentence(
    fake: Callable[..., str], analysed: Callable[..., Outcome]
) -> None:
    with pytest.raises(
        EngineError, match="failed at 7 positions and finished 0, which is too often to go on: it answered without a"
    ):
        analysed(fake(fault="gives no scores"), workers=2)


def test_an_engine_that_fails_at_every_position_is_not_asked_again_about_the_first_before_that_is_told(
    fake: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    """An engine that hangs is waited for in each try; later positions are begun ahead, and again."""
    with pytest.raises(EngineError, match="failed at 6 positions"):
        analysed(fake(fault="gives no scores", log=tmp_path / "log"), workers=1)
    asked = (tmp_path / "log").read_text().splitlines()
    assert asked.count(asked[0]) == 1


def test_an_engine_that_dies_behind_a_pipe_that_stays_open_is_not_waited_for(
    fake: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    """The shell waits for the `cat` that feeds the engine, and that notices nothing until it has something to write."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f"#!/bin/sh\ncat | cat | {fake(fault='dies', once=tmp_path / 'struck')}\n")
    wrapper.chmod(0o755)
    outcome = analysed(str(wrapper), workers=1, patience=3600)
    assert outcome.restarts == 1 and not outcome.set_aside


def test_an_engine_that_dies_again_and_again_ends_the_run_with_a_sentence_and_what_was_finished_is_kept(
    fake: Callable[..., str],
    analysed: Callable[..., Outcome],
    expected: dict[str, dict[str, list[int]]],
    tmp_path: Path,
) -> None:
    """Each engine lives for two searches and dies in the third, which its successor then masters."""
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f"#!/bin/sh\n{fake(lives=2)}\n")
    wrapper.chmod(0o755)

    with pytest.raises(
        EngineError,
        match=r"failed at 6 positions and finished \d+, which is too often to go on: it died \(exit code 1\)\. "
        r"What was finished \(\d+ positions\) is stored\.",
    ):
        analysed(str(wrapper), workers=1)
    kept = stored(tmp_path / "store.db")
    assert 6 <= len(kept) < len(expected) and kept.items() <= expected.items()

    assert analysed(fake(), workers=1).known == len(kept), "a sound engine goes on from there"
    assert stored(tmp_path / "store.db") == expected


@pytest.mark.parametrize(("fault", "answers"), [("hangs", False), ("ponders", True)])
def test_an_engine_that_says_it_is_there_is_waited_for_longer_than_one_that_does_not(
    fault: str, answers: bool, fake: Callable[..., str]
) -> None:
    async def search() -> None:
        engine = await UciEngine.start(Search(fake(fault=fault), depth=3))
        try:
            engine.begin(from_fen(chess.STARTING_FEN))
            await engine.finish(lambda there: 3.0 if there == answers else 4.0 if answers else 3600.0)
        finally:
            await engine.end()

    with pytest.raises(EngineError, match="it said nothing for"):
        asyncio.run(search())


def test_an_engine_that_hangs_over_a_single_question_is_ended(
    fake: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.engine.uci.ALONE_SECONDS", 4.0)
    with Engine(fake(fault="hangs")) as engine, pytest.raises(EngineError, match=r"failed at .*: it said nothing for"):
        engine.values(chess.STARTING_FEN, depth=3)


def test_an_engine_that_seldom_dies_is_borne(
    fake: Callable[..., str], monkeypatch: pytest.MonkeyPatch, analysed: Callable[..., Outcome]
) -> None:
    monkeypatch.setattr("assay.engine.local.RARELY", 2)
    outcome = analysed(fake(lives=2), workers=1)
    assert outcome.restarts > 6 and not outcome.set_aside


def test_a_program_that_is_no_engine_is_told_from_one(
    analysed: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.engine.uci.START_SECONDS", 0.2)
    with pytest.raises(EngineError, match="does not answer 'uci': is it a UCI engine"):
        analysed("sleep 5")


def test_an_engine_is_given_longer_to_start_where_nothing_gets_its_turn(
    fake: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on a machine whose processors are wanted by fifty others: this process is as late as the engine is."""
    monkeypatch.setattr("assay.engine.uci.START_SECONDS", 2.0)
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f"#!/bin/sh\nsleep 3\nexec {fake()}\n")
    wrapper.chmod(0o755)

    async def late() -> None:
        while True:
            time.sleep(0.5)
            await asyncio.sleep(0)

    async def start() -> str:
        busy = asyncio.create_task(late())
        engine = await UciEngine.start(Search(str(wrapper)))
        busy.cancel()
        await engine.end()
        return engine.name

    assert asyncio.run(start()) == "Fake 1.0"


def test_an_option_that_the_engine_lacks_is_named(fake: Callable[..., str], analysed: Callable[..., Outcome]) -> None:
    with pytest.raises(EngineError, match=r"Fake 1\.0 has no option 'Contempt'"):
        analysed(fake(), options=(("Contempt", "0"),))
