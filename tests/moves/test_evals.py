"""Ratings from evaluations alone: turns, units, bins, curves, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.cli.main import main
from assay.errors import InputError
from assay.games import read
from assay.games.stats import told_endings
from assay.moves.evals import EDGES, GRID, bins, eval_turns, shipped_evals, win_chance
from assay.moves.evals_rating import eval_lines, own_line, turns_with_evals
from assay.pools import FIRST, LAST
from assay.scales import in_fide, shipped_lines

HEAD = """[Event "Rated Rapid game"]
[Site "https://lichess.org/abcdefgh"]
[Date "2022.03.01"]
[White "{white}"]
[Black "{black}"]
[Result "1-0"]
[WhiteElo "1500"]
[BlackElo "1500"]
[TimeControl "600+0"]
[Termination "Time forfeit"]

"""
CAREFUL = "1. e4 { [%eval 0.3] } e5 { [%eval 0.3] } 2. Nf3 { [%eval 0.3] } Nc6 { [%eval 0.3] } 3. Bb5 { [%eval 0.3] } "
CAREFUL += "a6 { [%eval 0.3] } 4. Ba4 { [%eval 0.3] } Nf6 { [%eval 0.3] } 5. O-O { [%eval 0.2] } Be7 { [%eval 0.3] } "
CAREFUL += "6. Re1 { [%eval 0.3] } b5 { [%eval 0.3] } 7. Bb3 { [%eval 0.3] } d6 { [%eval 0.3] } 1-0\n"
LONG = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5 *\n"
MATED = "1. e4 { [%eval 0.3] } e5 { [%eval 0.3] } 2. Qh5 { [%eval -0.2] } Ke7 { [%eval #1] } 3. Qxe5# 1-0\n"


def written(folder: Path, *movetexts: str, names: tuple[str, str] = ("Elm", "Ash"), head: str = HEAD) -> Path:
    path = folder / "games.pgn"
    path.write_text("\n".join(head.format(white=names[0], black=names[1]) + text for text in movetexts))
    return path


def table(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, object]]:
    with pytest.raises(SystemExit) as end:
        main([*map(str, words), "--format", "json"])
    assert not end.value.code
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_turns_have_the_value_before_and_after(tmp_path: Path) -> None:
    found = eval_turns(read(written(tmp_path, MATED)), unit=1.0)
    assert found.before.tolist() == pytest.approx([15.0, -30.0, 30.0, 20.0, 2000.0])
    # The move that mates has no value of its own, and is mate.
    assert found.after.tolist() == pytest.approx([30.0, -30.0, -20.0, -2000.0, 2000.0])
    assert np.isnan(found.other[0]) and found.other[2] == pytest.approx(0.0)
    assert bins(np.array([-50.0, 0.0, 0.01, 99.0])).tolist() == [0, 3, 4, len(EDGES)]
    assert win_chance(np.array([2000.0]))[0] > 99


def test_a_game_set_up_or_half_evaluated_loses_only_what_is_not_known(tmp_path: Path) -> None:
    half = CAREFUL.replace("2. Nf3 { [%eval 0.3] }", "2. Nf3")
    found = eval_turns(read(written(tmp_path, half)), unit=1.0)
    assert len(found) == 12 and found.excluded["no evaluation"] == 2


def test_careful_play_is_rated_above_blunders_and_curves_add_up(tmp_path: Path) -> None:
    good, bad = (eval_turns(read(written(tmp_path, text)), unit=1.0) for text in (CAREFUL, MATED))
    model = shipped_evals()
    curve = model.curve(good)
    assert curve.table.shape == (14, len(GRID)) and (curve.table < 0).all()
    black = model.curve(bad).table[~bad.white].sum(axis=0)
    assert curve.table.sum(axis=0).argmax() > black.argmax()
    twice = eval_turns(read(written(tmp_path, CAREFUL, CAREFUL.replace("1-0", "0-1"))), unit=1.0)
    assert np.allclose(model.curve(twice).table.sum(axis=0), 2 * curve.table.sum(axis=0), rtol=1e-4)


def test_the_unit_is_measured_by_common_openings(tmp_path: Path) -> None:
    known = shipped_evals().openings
    assert len(known.numbers) > 100 and (np.abs(known.pawns) >= 0.25).all() and (np.diff(known.numbers) > 0).all()
    # Openings that are not common say nothing.
    board = HEAD.replace("https://lichess.org/abcdefgh", "Madrid").replace("Rated Rapid game", "Open")
    assert eval_turns(read(written(tmp_path, MATED, head=board))).unit.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(("date", "small", "large"), [("2013.05.01", 2.12, 1.79), ("2026.06.01", 1.16, 1.6)])
def test_on_lichess_the_date_tells_the_unit(tmp_path: Path, date: str, small: float, large: float) -> None:
    won = CAREFUL.replace("2. Nf3 { [%eval 0.3] }", "2. Nf3 { [%eval 7.0] }")
    found = eval_turns(read(written(tmp_path, won, head=HEAD.replace("2022.03.01", date))))
    assert found.unit.tolist() == [[small, large]]
    # Small values by the one factor, large ones by the other; what it was before a move is remembered.
    assert found.after[0] == pytest.approx(30 * small, rel=0.05) and found.after[2] == pytest.approx(
        700 * large, rel=0.02
    )
    assert found.before / found.times == pytest.approx(
        [15, -30, 30, -700, *[30, -30] * 2, 30, -20, *[30, -30] * 2], abs=4
    )


def test_the_command_rates_without_an_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, CAREFUL, names=("Elm", "Ash"))
    rows = {row["player"]: row for row in table(capsys, "ipr", path, "--evals", "--fide")}
    assert set(rows) == {"Elm", "Ash"} and rows["Elm"]["turns"] == 7 and rows["Elm"]["acpl"] is not None
    with pytest.raises(SystemExit) as end:
        main(["ipr", str(path), "--evals", "--store", str(tmp_path / "none.db"), "--by", "all"])
    told = capsys.readouterr()
    assert not end.value.code and not (tmp_path / "none.db").exists()
    assert "Rated from the evaluations alone" in told.err and "Scale: Lichess, rapid" in told.err
    assert "Results that no move brought about: lost on time 1." in told.err


def test_evaluations_serve_where_no_engine_is_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("assay.engine.identity.USUAL_PLACES", ())
    with pytest.raises(SystemExit) as end:
        main(["ipr", str(written(tmp_path, CAREFUL))])
    assert not end.value.code
    assert "No engine is installed, and all games carry evaluations" in capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        main(["ipr", str(written(tmp_path, CAREFUL, LONG))])
    assert end.value.code == 1 and "Stockfish was not found" in capsys.readouterr().err


def test_games_without_evaluations_say_so(tmp_path: Path) -> None:
    games = read(written(tmp_path, "1. e4 e5 *\n")).all()
    with pytest.raises(InputError, match="carry no evaluations"):
        turns_with_evals(games, np.ones(1, np.bool_))


ODD = {
    "no moves": "1-0\n",
    "words for values": "1. e4 { [%eval nan] } e5 { [%eval 1e30] } 2. Nf3 { [%eval #0] } Nc6 { [%eval #-99999] } *\n",
    "nothing but evaluations": "{ [%eval 0.3] } *\n",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_games_are_a_sentence_or_a_row(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["ipr", str(written(tmp_path, text)), "--evals"])
    told = capsys.readouterr()
    assert "this is a bug" not in told.err
    assert (end.value.code or 0, "carry no evaluations" in told.err) in [(0, False), (1, True)]


@pytest.mark.parametrize("name", shipped_lines())
def test_every_pool_with_a_line_can_be_rated_from_evaluations(name: str) -> None:
    line = own_line(name)
    assert line.slope > 0 and line.low < line.high and line.error(line.middle) > 0


def test_years_without_a_line_go_by_way_of_the_lines_of_moves() -> None:
    assert FIRST not in eval_lines()
    moves, today = shipped_lines(), np.array([2000.0])
    same_play = moves[FIRST].rating(moves[LAST].inside(today))
    assert own_line(FIRST).inside(same_play) == pytest.approx(eval_lines()[LAST].inside(today))
    assert own_line(FIRST).error(2200.0) > eval_lines()[LAST].error(2200.0)


def test_what_a_rating_would_be_in_fide() -> None:
    from assay.curve import Estimate

    own = Estimate(2000.0, 1900.0, 2100.0)
    assert in_fide("otb-slow", own) == own
    there = in_fide("lichess-rapid", own)
    assert there.value == pytest.approx(1619.3) and there.high - there.low > 1700
    assert not in_fide("chess.com-rapid", own).known and not in_fide("lichess-rapid", Estimate(2000.0)).known


def test_endings_that_no_move_brought_about() -> None:
    assert told_endings(["Normal", None, "Elm won by checkmate"]) == []
    ends = ["Time forfeit", "Ash won on time", "Abandoned", "Rules infraction", "Elm won - game abandoned"]
    (told,) = told_endings(ends)
    assert told == "Results that no move brought about: lost on time 2, abandoned 2, ended by a rule 1."
