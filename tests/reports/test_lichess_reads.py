"""Annotated games are opened by chessops, Lichess's own reader of PGN and comments: nothing is lost, all is found."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.reports.conftest import make_report

import assay
from assay.reports.exports import to_pgn
from assay.reports.judged import GLYPHS
from assay.reports.reviewed import Review, ReviewedMove

ROOT = Path(__file__).parents[2]
CHESSOPS = ROOT / ".tools" / "chessops" / "node_modules" / "chessops"
Read = Callable[[str], list[dict[str, Any]]]

CLOCKS = """[Event "Rated Rapid game"]
[Site "https://lichess.org/abcd1234"]
[Date "2024.05.01"]
[White "Elm \\"the tree\\""]
[Black "Öak, Zoë"]
[Result "1-0"]
[WhiteElo "1650"]
[BlackElo "1600"]
[TimeControl "600+0"]

1. e4 { [%clk 0:09:58] } 1... e5 { [%clk 0:09:58] } 2. Bc4 { [%clk 0:09:55] } 2... Nc6 { [%clk 0:09:50.5] }
3. Qh5 { [%csl Rf7,Gh5][%cal Rh5f7] [%clk 0:09:50] early {brace } 3... Nf6 { [%clk 0:00:20] }
(3... g6 4. Qf3 { better })
4. Qxf7# { [%clk 0:09:49] } 1-0
"""
EVALUATED = """[Event "Casual Blitz game"]
[White "Elm"]
[Black "Oak"]
[Result "*"]
[WhiteElo "1650"]

{ before the first move } 1. e4 { [%eval 0.3] } e5 { [%eval 0.35] } 2. Nf3 $1 { [%eval 0.25] } Nc6 { [%eval 0.3,18] }
3. Bb5 { [%eval 0.2] } f6? { [%eval 1.4] } (3... a6 4. Ba4 (4. Bxc6 dxc6) 4... Nf6 $14) 4. O-O { [%eval 0.9] }
Nge7 { [%eval 0.9] } 5. Nxe5?? { [%eval -4.0] } fxe5 { [%eval #-3] } *
"""
SET_UP = """[Event "?"]
[White "?"]
[Black "?"]
[Result "0-1"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/5q2/1P4p1/R3K3 b Q - 3 40"]

40... Qf4 ; not the best
% an escape
41. Rb1 $5 g1=Q+ 42. Ke2 Qe4+ 0-1
"""
GAMES = {"clocks": CLOCKS, "evaluated": EVALUATED, "set up": SET_UP, "of Windows": CLOCKS.replace("\n", "\r\n")}


@pytest.fixture(scope="module")
def read() -> Read:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node, which runs chessops")
    if not CHESSOPS.is_dir():
        pytest.skip("needs chessops: tools/install-npm.sh fetches it")

    def ask(text: str) -> list[dict[str, Any]]:
        command = [node, str(Path(__file__).with_name("read_pgn.mjs")), str(CHESSOPS)]
        done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=True)
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return found

    return ask


def lost(read: Read, review: Review) -> list[str]:
    """What Lichess would not find in a reviewed game: of what stands in the file, and of what the review adds."""
    (old,), (new,) = read(review.source.text), read(review.to("pgn"))
    missing = [*new["errors"]]
    missing += [f"tag {name}" for name, value in old["tags"].items() if new["tags"].get(name) != value]
    if [move["san"] for move in new["moves"]] != [move.san for move in review.moves]:
        return [*missing, "other moves"]
    for was, now, move in zip(old["moves"], new["moves"], review.moves, strict=True):
        own = not move.san.endswith("#") and not any(one["evaluations"] for one in old["moves"])
        missing += [f"{move.name}: {what}" for what in _lost(was, now, move, own)]
    return missing


def _lost(was: dict[str, Any], now: dict[str, Any], move: ReviewedMove, own: bool) -> list[str]:
    missing = [f"comment {text}" for text in was["texts"] if text not in now["texts"]]
    missing += [f"shape {shape}" for shape in was["shapes"] if shape not in now["shapes"]]
    missing += [f"variation {line[0]['san']}" for line in was["variations"] if line not in now["variations"]]
    missing += ["clock"] if now.get("clock") != was.get("clock") else []
    missing += ["evaluation"] if was["evaluations"] and now.get("evaluation") != was.get("evaluation") else []
    missing += ["several evaluations"] if now["evaluations"] > 1 else []
    # Where the file has evaluations of its own, these stay the only ones.
    missing += ["no evaluation"] if own and move.value is not None and not now["evaluations"] else []
    glyph = int(GLYPHS[move.mark][1:]) if move.mark else None
    wanted = was["nags"] or ([glyph] if glyph else [])
    missing += [f"glyphs {now['nags']}"] if now["nags"] != wanted else []
    if move.mark and move.best_uci:
        missing += [f"arrow {move.best_uci}"] if f"green {move.best_uci[:4]}" not in now["shapes"] else []
        first = [line[0]["san"] for line in now["variations"]]
        missing += ["better line"] if move.line and move.best not in first else []
    return missing


@pytest.mark.parametrize("kind", GAMES)
def test_a_reviewed_game_opens_in_lichess_with_everything(read: Read, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "game.pgn"
    file.write_bytes(GAMES[kind].encode())
    reviews = [assay.review(file, store=tmp_path / "store.db", depth=6)]
    if kind == "evaluated":
        reviews.append(assay.review(file, evals=True))
    for review in reviews:
        assert lost(read, review) == []
    assert any(move.mark and move.best_uci for move in reviews[0].moves)  # there are arrows to be found
    assert "[%cal G" in reviews[0].to("pgn")


def test_a_report_opens_in_lichess_with_marks_and_arrows(read: Read) -> None:
    report = make_report()
    game = report.games[0]
    moves = list(game.moves)
    moves[20] = replace(moves[20], mark="?", better=moves[20].candidates[1].san)
    found = read(to_pgn(replace(report, games=(replace(game, moves=tuple(moves)), *report.games[1:]))))
    assert [one["errors"] for one in found] == [[], [], []]
    assert [move["san"] for move in found[0]["moves"]] == [move.san for move in game.moves]
    (shape,) = found[0]["moves"][20]["shapes"]
    assert shape.startswith("green ") and found[0]["moves"][20]["nags"] == [2]
    assert sum(len(move["shapes"]) for one in found for move in one["moves"]) == 1
