"""A report as CSV, JSON and PGN."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import chess.pgn

from assay.curve import Estimate
from assay.games import Game as PgnGame
from assay.reports.content import Report
from assay.reports.exports import to_csv, to_json, to_pgn


def test_csv_has_a_row_for_each_player(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(report))))
    assert [row["player"] for row in rows] == ["Anderssen, Adolf", "Kieseritzky, Lionel"]
    assert (rows[0]["ipr"], rows[0]["ipr_low"], rows[0]["ipr_high"]) == ("2655", "2535", "2775")
    assert rows[1]["z"] == "-1.2"


def test_a_name_cannot_act_in_a_spreadsheet(report: Report) -> None:
    wild = replace(report.players[0], name="=HYPERLINK(1)", learned=Estimate(note="no model"))
    rows = list(csv.DictReader(io.StringIO(to_csv(replace(report, players=(wild,))))))
    assert rows[0]["player"] == "'=HYPERLINK(1)"
    assert rows[0]["note"] == "learned: no model"


def test_json_has_everything(report: Report) -> None:
    data = json.loads(to_json(report))
    assert data["players"][0]["intrinsic"]["value"] == 2655
    assert data["games"][0]["moves"][20]["candidates"][0]["san"] == report.games[0].moves[20].san
    assert data["provenance"]["sources"][0]["sha256"] == "ab" * 32


def test_pgn_reads_back_with_evaluations_and_probabilities(report: Report) -> None:
    text = io.StringIO(to_pgn(report))
    game = chess.pgn.read_game(text)
    assert game is not None
    assert not game.errors
    assert game.headers["White"] == "Anderssen, Adolf"
    moves = list(game.mainline())
    assert [node.san() for node in moves] == [move.san for move in report.games[0].moves]
    assert "p 40.0 %" in moves[16].comment
    # The evaluation behind a move is that of the position it leads to.
    score = moves[16].eval()
    assert score is not None
    assert score.white().score() == report.games[0].moves[17].value
    assert chess.pgn.read_game(text) is not None


def test_no_tag_can_break_out_of_its_line(report: Report) -> None:
    name = 'A "B" \\ C"]\n[Result "0-1"]\n\n1. d4 {'
    wild = replace(report, games=(replace(report.games[0], white=name),))
    data = to_pgn(wild).encode()
    tags = PgnGame("", 0, len(data), data).tags
    assert tags["Result"] == "1-0"
    assert tags["White"] == 'A "B" \\ C"] [Result "0-1"] 1. d4 {'


def test_a_mate_is_written_as_lichess_does(report: Report) -> None:
    game = report.games[0]
    moves = list(game.moves)
    moves[18] = replace(moves[18], value="#-3")
    text = to_pgn(replace(report, games=(replace(game, moves=tuple(moves)),)))
    assert "[%eval #-3]" in text
