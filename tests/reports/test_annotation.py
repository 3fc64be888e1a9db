"""Annotated games: what we wrote before is replaced, what people wrote stays, lines are as long as they may be."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import chess.pgn
import pytest
from tests.reports.conftest import make_report

import assay
from assay.reports.annotation import annotate, is_signed, judged, signed, words_of, wrap
from assay.reports.exports import to_pgn
from assay.reports.reviewed import ReviewedMove, _comment, told_moment

GAME = """[Event "Club"]
[White "Elm"]
[Black "Oak"]
[Result "1-0"]
[WhiteElo "1650"]
[BlackElo "1600"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 { [%clk 0:09:50] early } Nf6 (3... g6 4. Qf3 { better }) 4. Qxf7# 1-0
"""


def reviewed(text: str, folder: Path, depth: int = 6) -> str:
    file = folder / "game.pgn"
    file.write_text(text, encoding="utf-8")
    return assay.review(file, store=folder / "store.db", depth=depth).to("pgn") + "\n"


def test_a_review_of_a_review_replaces_what_the_first_wrote(tmp_path: Path) -> None:
    once = reviewed(GAME, tmp_path)
    assert "Nf6 $4" in once and "3...Nf6?? lost" in once and '"Assay"' in once
    assert reviewed(once, tmp_path) == once
    # People write on; the next look is another.
    own = once.replace("{ [%clk 0:09:50] early }", "{ [%clk 0:09:50] early } { a trap } $5", 1)
    own = own.replace("(3... g6 4. Qf3", "(3... Qe7) (3... g6 4. Qf3", 1).replace(
        "1. e4 {", "1. e4 { best by test } {", 1
    )
    again = reviewed(own, tmp_path, 8)
    for kept in ("early }", "{ a trap }", "$5", "(3... Qe7)", "{ better }", "{ best by test }"):
        assert again.count(kept) == 1, kept
    flat = " ".join(again.split())
    assert flat.count("3...Nf6?? lost") == 1 and again.count("[%cal") == flat.count(" lost ")
    assert again.count("[%eval") == once.count("[%eval") == 6 and again.count("$4") == 1
    game = chess.pgn.read_game(io.StringIO(again))
    assert game is not None and not game.errors


def test_evaluations_of_the_file_stay_through_several_reviews(tmp_path: Path) -> None:
    text = GAME.replace("Nc6 3.", "{ [%eval 0.3] } Nc6 { [%eval 0.4,20] } 3.").replace("Nf6", "Nf6?? { [%eval #1] }")
    once = reviewed(text, tmp_path)
    assert [f"[%eval {one}]" in once for one in ("0.3", "0.4,20", "#1")] == [True] * 3 and once.count("[%eval") == 3
    assert "3...Nf6 lost" in once and "$4" not in once  # somebody has marked it
    assert reviewed(once, tmp_path) == once


def test_a_report_after_a_review_and_a_review_after_a_report_double_nothing(tmp_path: Path) -> None:
    report = make_report()
    game = report.games[0]
    moves = list(game.moves)
    moves[20] = replace(moves[20], mark="?", better=moves[20].candidates[1].san)
    first = replace(game, moves=tuple(moves))
    once = to_pgn(replace(report, games=(first,)))
    assert "Mistake. p " in once and "$2" in once
    assert to_pgn(replace(report, games=(replace(first, text=once),))) == once
    file = tmp_path / "game.pgn"
    file.write_text(once, encoding="utf-8")
    review = assay.review(file, store=tmp_path / "store.db", depth=6).to("pgn")
    assert " p " not in review and review.count("[%eval") <= len(moves)


def test_every_comment_of_a_review_is_known_again() -> None:
    shares, sans = (None, 0.001, 0.624), ("Rd8", "exd8=Q+", "O-O-O", "N1f3#")
    seen = set()
    for mark, best, chance, share, expected, rating, marked in product(
        ("", "?!", "?", "??"), (None, *sans), shares, shares, (None, 3.2), (None, 1650), (False, True)
    ):
        move = ReviewedMove(
            54, "27...", False, "Qc7", "c8c7", "middlegame", value=-35, loss=31.0, mark=mark, best=best,
            best_uci="d7d8" if best else None, chance=chance, best_chance=share, expected=expected,
        )  # fmt: skip
        quiet = replace(move, loss=0.4)
        for evaluated, text in product(
            (False, True), ("", told_moment(move, rating).text, told_moment(quiet, rating).text)
        ):
            if said := _comment(move, evaluated, text, marked):
                seen.add(said)
    assert len(seen) > 200
    for said in sorted(seen):
        text = f'[Annotator "Assay"]\n\n27... Qc7 {{ [%eval 0.1] x }} {{ {said} }} *'
        # An evaluation alone may be the file's.
        alone = re.fullmatch(r"\[%eval [^]]*\]", said)
        comments = [word for kind, word in words_of(text, {"Annotator": "Assay"}) if kind == "comment"]
        assert comments == ["{ [%eval 0.1] x }"] + ([f"{{ {said} }}"] if alone else []), said
        assert len(words_of(text, {})) == 5  # not ours as long as it is not signed


@pytest.mark.parametrize(
    ("annotator", "told"),
    [
        ("", "Assay"),
        ("?", "Assay"),
        ("https://lichess.org/@/tal", "https://lichess.org/@/tal; Assay"),
        ("Assay", "Assay"),
    ],
)
def test_annotators_are_kept(annotator: str, told: str) -> None:
    assert signed({"Annotator": annotator})["Annotator"] == told
    assert is_signed(signed({"Annotator": annotator}))


def test_long_comments_go_on_in_the_next_line() -> None:
    words = words_of(
        "1. e4 { [%eval 0.31] [%cal Ge2e4,Gd2d4] 1.e4?! lost 62 % of winning chances [really; so] "
        + "and so on " * 30
        + "} e5 (1... c5 "
        + "2. Nf3 d6 " * 20
        + ") *",
        {},
    )
    lines = wrap(annotate(words, ["", ""], 0, "*") or []).splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) > 5
    assert not [line for line in lines if line[0] in "%;[}"]
    assert "[%cal Ge2e4,Gd2d4]" in lines[0] and judged(words, 2) == [False, False]
    found = [word for word in words_of("\n".join(lines), {}) if word[0] != "number"]
    assert found == [word for word in words if word[0] != "number"]
