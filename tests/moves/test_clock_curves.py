"""What clocks tell of strength: facts, curves, and the rows that count them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.cli.main import main
from assay.curve import GRID, Curve
from assay.engine.parsed import read_plies
from assay.games import read
from assay.moves.clock_curves import CENTRE, UNIT, clock_curves, clock_facts, shipped_habits

HEAD = """[Event "Rated Classical game"]
[Site "https://lichess.org/{site}"]
[Date "2022.03.01"]
[White "Elm"]
[Black "Ash"]
[Result "1-0"]
[WhiteElo "1800"]
[BlackElo "1800"]
[TimeControl "{control}"]

"""
STEPS = ("Nf3", "Nf6", "Nc3", "Nc6", "Ng1", "Ng8", "Nb1", "Nb8")


def clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"


def game(used: tuple[int, int], moves: int = 30, control: str = "2700+45", site: str = "abcdefgh") -> str:
    """A game of knights' moves in which White thinks so many seconds on each even move, Black on each."""
    base, plus = map(int, control.split("+"))
    left = [float(base), float(base)]
    words = []
    for ply in range(2 * moves):
        number, side = ply // 2 + 1, ply % 2
        left[side] += plus - (used[side] if side or number % 2 else 2)
        words.append(f"{number}. " if not side else "")
        words.append(f"{STEPS[ply % 8]} {{ [%eval 0.2] [%clk {clock(left[side])}] }} ")
    return HEAD.format(control=control, site=site) + "".join(words) + "1-0\n"


def written(folder: Path, *games: str) -> Path:
    path = folder / "games.pgn"
    path.write_text("\n".join(games))
    return path


def test_facts_are_of_the_moves_whose_time_is_known(tmp_path: Path) -> None:
    plies = read_plies(read(written(tmp_path, game((88, 45)), game((88, 45), moves=16))), 1)
    white, black, *short = clock_facts(plies.arrays, plies.games)
    # Black always takes the increment: the same share each time, nothing at once beyond 1 %.
    assert black[:3] == pytest.approx([np.log(45 / 2700), 0.0, 0.0], abs=1e-6) and black[3] == pytest.approx(1.0)
    assert white[2] == pytest.approx(13 / 25, abs=0.03) and white[1] > 1
    assert np.isnan(short).all()


@pytest.mark.parametrize("name", shipped_habits())
def test_the_usual_habits_of_a_rating_are_most_likely_at_that_rating(name: str) -> None:
    habits = shipped_habits()[name]
    middle = round((habits.low + habits.high) / 2, -2)
    facts = np.array([habits.mean]) + np.array([habits.slope]) * (middle - CENTRE) / UNIT
    table = habits.curves(facts)
    assert Curve(table, GRID).tops()[0] == pytest.approx(middle, abs=10)
    # Far beyond the ratings of the fit nothing is told.
    assert table[0, -1] == pytest.approx(table[0, -2]) or habits.high + UNIT >= GRID[-1]


def test_other_time_controls_say_nothing(tmp_path: Path) -> None:
    games = [game((88, 45)), game((15, 10), control="600+5"), game((40, 30), control="1800+20")]
    plies = read_plies(read(written(tmp_path, *games)), 1)
    found = clock_curves(plies.arrays, plies.games)
    assert found.told.tolist() == [True, True, False, False, False, False]
    assert not found.table[2:].any() and found.table[0].any()


def test_turns_share_what_their_side_tells(tmp_path: Path) -> None:
    plies = read_plies(read(written(tmp_path, game((88, 45)))), 1)
    found = clock_curves(plies.arrays, plies.games)
    turns = found.of_turns(plies.arrays.game, plies.arrays.turn)
    white = np.flatnonzero(plies.arrays.turn)
    assert np.allclose(turns.together(white), found.table[0])
    assert np.allclose(turns.together(white[:10]) + turns.together(white[10:]), found.table[0])
    assert turns.games(white) == 1 and turns.games(np.zeros(0, np.intp)) == 0


def rows(capsys: pytest.CaptureFixture[str], path: Path) -> dict[str, dict[str, object]]:
    with pytest.raises(SystemExit) as end:
        main(["ipr", str(path), "--evals", "--format", "json"])
    assert not end.value.code
    return {row["player"]: row for row in json.loads(capsys.readouterr().out)}


def test_rows_say_that_clocks_count_and_how_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed, untimed = game((88, 45)), game((88, 45), control="1800+20", site="hgfedcba")
    own = rows(capsys, written(tmp_path, timed))
    assert "clocks count, too" in str(own["Elm"]["note"]) and "of" not in str(own["Elm"]["note"]).split("too")[1]
    quick = rows(capsys, written(tmp_path, game((46, 45))))
    assert quick["Elm"]["low"] != own["Elm"]["low"]
    both = rows(capsys, written(tmp_path, timed, untimed.replace("1. Nf3", "1. Nc3").replace("2. Nc3", "2. Nf3")))
    assert "clocks count, too, in 1 of 2 games" in str(both["Elm"]["note"])
    none = rows(capsys, written(tmp_path, untimed))
    assert "clocks" not in str(none["Elm"]["note"])
