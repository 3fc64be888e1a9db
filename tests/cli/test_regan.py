"""Regan's way on the command line: weights over depths, settings, a jury, and a reference set of one's own."""

from __future__ import annotations

import json
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
from tests.commands import told

from assay.cli.main import main
from assay.engine.identity import Identity
from assay.engine.score import MISSING
from assay.engine.store import writing
from assay.engine.uci import Valued
from assay.games.packed import encode_move, from_board
from assay.games.selection import GameSelection
from assay.moves.by_fit import rated_games
from assay.moves.calibrating import make_calibration
from assay.moves.calibration import save
from assay.moves.regan import Agent

DEPTH = 4
PLAYERS = {1800: 0.5, 2200: 0.2, 2600: 0.06}
GAMES, OPENING, PLIES = 7, 16, 50


def chance(*words: object) -> float:
    """A number from 0 to 1 that looks drawn at random and is always the same for the same words."""
    return zlib.crc32(" ".join(map(str, words)).encode()) / 2**32


@cache
def values(fen: str, engine: str, depth: int) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
    """An engine made up: moves and centipawns, depths x moves; the deeper, the nearer to the truth of all engines."""
    moves = tuple(move.uci() for move in chess.Board(fen).legal_moves)
    true = np.array([chance(fen, move) for move in moves])
    own = np.array([chance(fen, move, engine) for move in moves])
    rows = []
    for level in range(1, depth + 1):
        seen = np.array([chance(fen, move, level) for move in moves])
        part = level / depth
        rows.append(-250 * (part * (0.9 * true + 0.1 * own) + (1 - part) * seen) ** 2)
    return moves, np.round(rows).astype(np.int16)


def played(elo: int, number: int, level: int = DEPTH) -> tuple[str, set[str]]:
    """A game of two players of a rating, who go by what depth `level` sees; and its positions from move 9 on."""
    agent, board, fens = Agent(PLAYERS[elo], 0.5, seed=elo + number), chess.Board(), set()
    line = []
    for ply in range(OPENING + PLIES):
        if board.is_game_over():
            break
        moves, table = values(board.fen(), "Fake 1", DEPTH)
        order = np.argsort(-table[level - 1], kind="stable")
        if ply < OPENING:
            pick = int(chance(elo, number, ply) * len(moves))
        else:
            fens.add(board.fen())
            pick = int(order[agent.choose(table[level - 1][order] / 100)])
        move = chess.Move.from_uci(moves[pick])
        line.append(board.san(move))
        board.push(move)
    tags = {"Event": "Made up", "White": f"A {elo}", "Black": f"B {elo}", "Round": number, "Result": "1/2-1/2"}
    tags |= {"WhiteElo": elo, "BlackElo": elo, "Date": "2010.01.01"}
    head = "\n".join(f'[{name} "{value}"]' for name, value in tags.items())
    return f"{head}\n\n{' '.join(line)} 1/2-1/2\n", fens


def stored(fen: str, engine: str, depth: int, *, last_alone: bool = False) -> Valued:
    moves, table = values(fen, engine, depth)
    order = np.argsort(-table[-1], kind="stable")
    table = table[:, order].copy()
    if last_alone:
        table[:-1] = MISSING
    codes = np.array([encode_move(moves[i]) for i in order], dtype="<u2").tobytes()
    return Valued(from_board(chess.Board(fen)), depth, depth, len(moves), 1, 1, codes, table.astype("<i2").tobytes())


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rated games, games of somebody rated 2200 who sees no further than depth 2, and a store by four engines."""
    folder = tmp_path_factory.mktemp("regan")
    rated = [played(elo, number) for elo in PLAYERS for number in range(GAMES)]
    shallow = [played(2200, 100 + number, 2) for number in range(8)]
    for name, games in (("rated", rated), ("shallow", shallow)):
        (folder / f"{name}.pgn").write_text("\n".join(text for text, _ in games))
    fens = [
        fen for fen in set.union(*(fens for _, fens in rated + shallow)) if len(values(fen, "Fake 1", DEPTH)[0]) > 1
    ]
    with writing(folder / "store.db") as store:
        for engine, depth in (("Fake 1", DEPTH), ("Fake 2", DEPTH), ("Elsewhere 1", DEPTH), ("Rybka 3", 13)):
            number = store.number_of(Identity(engine, "", (), 0, 50))
            store.add(number, [stored(fen, engine, depth, last_alone=engine == "Elsewhere 1") for fen in fens])
    return folder


def run(capsys: pytest.CaptureFixture[str], folder: Path, command: str, *words: object) -> tuple[int, str, str]:
    files = [folder / f"{word}.pgn" if word in ("rated", "shallow") else word for word in words]
    code, out, err = told(capsys, command, *files, "--store", folder / "store.db", "--quiet")
    assert "Traceback" not in err
    return code, out, err


FAKE = ("--engine", "Fake 1", "--depth", DEPTH)
JURY = ("--engine", "Fake 1", "--engine", "Fake 2")


@pytest.fixture(scope="module")
def calibrations(world: Path) -> Path:
    """Calibrations of one engine, as usual and with other settings, and of a jury."""
    common = ("calibrate", world / "rated.pgn", "--store", world / "store.db", "--depth", DEPTH, "--quiet")
    for name, words in (
        ("usual", ("--engine", "Fake 1", "--policy", "none")),
        ("other", ("--engine", "Fake 1", "--policy", "none", "--method", "depths", "--curve", "ipa", "--cap", 2.5)),
        ("jury", JURY),
    ):
        with pytest.raises(SystemExit) as end:
            main([*map(str, common), *map(str, words), "-o", str(world / f"{name}.json")])
        assert not end.value.code
    return world


def rating(capsys: pytest.CaptureFixture[str], world: Path, *words: object) -> dict[str, Any]:
    common = ("--by", "all", "--no-analysis", "--format", "json")
    code, out, err = run(capsys, world, "ipr", "rated", *common, *words)
    assert code == 0, err
    (row,) = json.loads(out)
    assert row["low"] < row["ipr"] < row["high"] and row["s"] > 0, row["note"]
    found: dict[str, Any] = row
    return found


def test_fit_tells_how_deep_players_look(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {}
    for name in ("rated", "shallow"):
        code, out, err = run(capsys, world, "fit", name, *FAKE, "--method", "depths", "--format", "json")
        assert code == 0, err
        (row,) = json.loads(out)
        found[name] = {key: float(weight) for key, weight in (part.split(": ") for part in row["weights"].split(", "))}
        assert (row["gain"] > 2 * row["gain_error"]) == (name == "shallow")
    assert found["rated"]["4"] > 0.8 and found["shallow"]["2"] > 0.8


def test_fit_takes_every_setting(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = run(capsys, world, "fit", "rated", *FAKE, "--format", "csv")
    for words in (
        ("--model", "shares"), ("--curve", "ipb"), ("--k", 0.5), ("--cap", 1), ("--tie", 0.2), ("--scale", "winprob"),
    ):  # fmt: skip
        code, out, err = run(capsys, world, "fit", "rated", *FAKE, *words, "--format", "csv")
        assert code == 0 and out != usual[1], (words, err)


def test_weights_over_depths_say_what_they_need(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, sentence in (
        (("--engine", "Fake 1", "--depth", 1), "need analyses to depth 2 or more"),
        (("--engine", "Elsewhere 1", "--depth", DEPTH), "lack those of 2: analyse the games with 'assay analyse"),
    ):
        code, _, err = run(capsys, world, "fit", "rated", *words, "--method", "depths")
        assert code == 1 and sentence in err


def test_numbers_that_make_no_scale_are_wrong_usage(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("--k", "1e-320"), ("--k", 0), ("--cap", 0), ("--tie", -1), ("--tie", "1e15"), ("--scale", "linear")):
        code, _, err = run(capsys, world, "fit", "rated", *FAKE, *words)
        assert code == 2 and str(words[0]) in err


def test_a_calibration_keeps_its_settings(calibrations: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line fitted on the spot is the line of a calibration that was made with the same settings."""
    asked = ("--curve", "ipa", "--cap", 2.5)
    for method in ("regan", "equations", "depths"):
        of_file = rating(capsys, calibrations, "--calibration", calibrations / "other.json", "--method", method)
        here = ("--calibration", calibrations / "usual.json", "--method", method, *asked)
        code, _, err = run(capsys, calibrations, "ipr", "rated", "--no-analysis", *here)
        assert code == 1 and "was made with --curve invexp --cap 4.0, not with --curve ipa --cap 2.5" in err
        again = rating(capsys, calibrations, *here, "--reference", calibrations / "rated.pgn")
        assert again["ipr"] == pytest.approx(of_file["ipr"], abs=0.01) and again["s"] == pytest.approx(of_file["s"])


def test_depths_need_a_calibration_that_has_them(calibrations: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--no-analysis", "--method", "depths", "--calibration", calibrations / "usual.json")
    code, _, err = run(capsys, calibrations, "ipr", "rated", *words)
    assert code == 1 and "--reference" in err and "assay calibrate --method depths" in err


@pytest.mark.parametrize(
    "words",
    [("--model", "shares"), ("--curve", "ipa"), ("--k", 2), ("--cap", 3), ("--tie", 0), ("--scale", "pawns")],
)
def test_settings_are_not_for_the_choice_model(
    world: Path, words: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, world, "ipr", "rated", *words)
    assert code == 2 and f"{words[0]} is for fits of s and c: give --method regan" in err


def test_a_jury_is_calibrated_and_rates(calibrations: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = ("--calibration", calibrations / "jury.json")
    found = rating(capsys, calibrations, *own, *JURY, "--method", "regan")
    assert found == rating(capsys, calibrations, *own, *JURY[2:], *JURY[:2], "--method", "regan")
    assert found["mm_expected"] is None
    for words, status, sentence in (
        ((*own, *JURY), 2, "the choice model needs one --engine"),
        (own, 1, "has no choice model, which needs one engine"),
        ((*own, "--method", "regan"), 1, "is for a jury, Fake 1 and Fake 2: give --engine for each"),
        ((*JURY, "--method", "regan", "--calibration", calibrations / "usual.json"), 1, "Fake 1 and Fake 2"),
    ):
        code, _, err = run(capsys, calibrations, "ipr", "rated", "--no-analysis", *words)
        assert code == status and sentence in err, err
    words = (*JURY, "--depth", DEPTH, "-o", calibrations / "again.json")
    code, out, err = run(capsys, calibrations, "calibrate", "rated", *words)
    assert code == 0 and "A jury has no choice model" in err and "Regan's way: IPR" in out


def test_a_jury_goes_by_rated_games_too(calibrations: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = rating(capsys, calibrations, "--calibration", calibrations / "jury.json", *JURY, "--method", "regan")
    words = ("--calibration", calibrations / "usual.json", "--reference", calibrations / "rated.pgn")
    here = rating(capsys, calibrations, *words, *JURY, "--method", "regan")
    assert here["ipr"] == pytest.approx(own["ipr"], abs=0.01)


def test_the_published_line_on_positions_of_ones_own(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published = ("--calibration", "rybka-3-d13", "--no-analysis", "--by", "all")
    regan = (*published, "--method", "regan")
    for words, sentence in (
        (published, "for --method regan with reference positions of your own (--reference)"),
        (regan, "give your own with --reference, rated games whose analyses by Rybka 3 to depth 13 are in the store"),
        ((*regan, "--curve", "ipa", "--reference", world / "rated.pgn"), "is for --curve invexp, not for --curve ipa"),
        ((*published, "--method", "equations", "--reference", world / "rated.pgn"), "it has percentile"),
    ):
        code, _, err = run(capsys, world, "ipr", "rated", *words)
        assert code == 1 and sentence in err, err
    code, out, err = run(capsys, world, "ipr", "rated", *regan, "--reference", world / "rated.pgn", "--format", "json")
    assert code == 0, err
    (row,) = json.loads(out)
    assert "The published line of rybka-3-d13 on" in err
    assert row["ipr"] is not None and row["ipr"] < 3571 and row["s"] > 0


def test_a_calibration_says_how_its_games_were_selected(world: Path) -> None:
    words = (str(world / "rated.pgn"), DEPTH, world / "store.db")
    assert rated_games(*words, engine="Fake 1").settings["selection"] == "as given"
    chosen = rated_games(*words, engine="Fake 1", selection=GameSelection(exclude_team=True))
    assert chosen.settings["selection"] == "no team events"
    assert "Left out: 0 team games." in chosen.remarks


def test_the_published_line_on_the_positions_of_a_calibration(
    calibrations: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rated_games(str(calibrations / "rated.pgn"), 13, calibrations / "store.db", engine="Rybka 3")
    made, positions = make_calibration(found.turns, found.identity, 13, name="mine", network=None, choice=False)
    save(made, positions, calibrations / "mine.json")
    words = ("--calibration", "rybka-3-d13", "--method", "regan", "--reference")
    of_games = rating(capsys, calibrations, *words, calibrations / "rated.pgn")
    assert rating(capsys, calibrations, *words, calibrations / "mine.json") == of_games
    code, _, err = run(capsys, calibrations, "ipr", "rated", "--no-analysis", *words, calibrations / "usual.json")
    assert code == 1 and "Fake 1" in err and "Rybka 3" in err
    words = (
        "--calibration",
        calibrations / "usual.json",
        "--method",
        "regan",
        "--reference",
        calibrations / "jury.json",
    )
    code, _, err = run(capsys, calibrations, "ipr", "rated", "--no-analysis", *words)
    assert code == 1 and "is a calibration: give it with --calibration" in err
