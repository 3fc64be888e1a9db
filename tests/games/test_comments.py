"""Evaluations in comments of other programs, where they are unambiguous."""

from __future__ import annotations

import numpy as np
import pytest

from assay.engine.parsed import read_plies
from assay.games import Game, to_arrays
from assay.moves.clock_curves import time_shares


def test_values_of_programs_that_play_matches_are_the_movers() -> None:
    text = (
        "1. e4 {+0.35/12 1.2s} e5 {-0.20/11 0.98s, book} 2. Qh5 {-1.25/9 2s} Ke7 {-M2/14 0.1s} 3. Qxe5# {+M1/30 0s} 1-0"
    )
    found = to_arrays([text])
    assert found.eval[:3].tolist() == pytest.approx([0.35, 0.20, -1.25], abs=1e-4)
    assert found.mate.tolist() == [0, 0, 0, 2, 1] and np.isnan(found.eval[3:]).all()


def test_values_with_a_depth_behind_a_comma_are_whites() -> None:
    found = to_arrays(["1. e4 { [%eval 0.35,14] } e5 { [%eval -0.2,14] } 2. Qh5 { [%eval #-12,20] } *"])
    assert found.eval[:2].tolist() == pytest.approx([0.35, -0.2]) and found.mate.tolist() == [0, 0, -12]


WHITES = (0.3, 0.5, 0.4, 0.9, 1.2, 1.1, 1.6, 2.0, 1.9, 2.4)
MOVES = "1. e4 {} e5 {} 2. Nf3 {} Nc6 {} 3. Bb5 {} a6 {} 4. Ba4 {} Nf6 {} 5. O-O {} Be7 {} *"


@pytest.mark.parametrize("form", ["{{{:+.2f}/12}}", "{{ {:.2f}/9 5 }}"])
@pytest.mark.parametrize("movers", [True, False])
def test_without_a_time_the_values_of_the_game_tell_whose_they_are(form: str, movers: bool) -> None:
    said = [value * (-1 if movers and ply % 2 else 1) for ply, value in enumerate(WHITES)]
    dull = MOVES.format(*(form.format(value / 20) for value in said))
    found = to_arrays([MOVES.format(*map(form.format, said)), dull])
    assert found.eval[:10].tolist() == pytest.approx(WHITES, abs=1e-4)
    assert np.isnan(found.eval[10:]).all(), "where all is level nothing tells"


def test_without_a_time_values_of_whites_moves_alone_are_whites_and_of_blacks_alone_nobodys() -> None:
    text = "1. e4 {+0.35/12} e5 2. Nf3 {0.50/12} Nc6 3. Bb5 {M12/30} *"
    found = to_arrays([text, "1. e4 e5 {+0.35/12} 2. Nf3 Nc6 {+0.35/12} 3. Bb5 a6 {-M12/30} *"])
    assert found.eval[[0, 2]].tolist() == pytest.approx([0.35, 0.50], abs=1e-4)
    assert found.mate.tolist() == [0, 0, 0, 0, 12, *[0] * 6] and np.isnan(found.eval[3:]).all()


@pytest.mark.parametrize("comment", ["+0.35/12", "0.35", "+0.35 12s", "4/12 1.2s", "score +0.35/12 1s", "#12"])
def test_what_may_mean_anything_is_not_read(comment: str) -> None:
    found = to_arrays([f"1. e4 e5 {{{comment}}} *"])
    assert np.isnan(found.eval).all() and not found.mate.any()


def test_clocks_and_evaluations_stand_side_by_side() -> None:
    found = to_arrays(["1. e4 { [%eval 0.3] [%clk 0:05:00] } e5 { [%clk 1:02:03] } *"])
    assert found.clock.tolist() == [300.0, 3723.0] and found.eval[0] == pytest.approx(0.3)


@pytest.mark.parametrize(("control", "base"), [("300+3", 300.0), ("?", 310.0)])
def test_time_used_and_left_as_shares_of_the_base_time(control: str, base: float) -> None:
    site = '[Site "https://lichess.org/abcdefgh"]'
    moves = "1. e4 { [%clk 0:05:10] } e5 { [%clk 0:05:00] } 2. Nf3 { [%clk 0:04:40] } Nc6 3. Bb5 { [%clk 0:04:00] } *"
    data = f'{site}\n[TimeControl "{control}"]\n\n{moves}\n'.encode()
    plies = read_plies([Game("-", 0, len(data), data)], 1)
    used, left = time_shares(plies.arrays, plies.games)
    more = 3.0 if control == "300+3" else 0.0
    assert np.isnan(used[[0, 1, 3]]).all() and np.isnan(left[3])
    assert used[[2, 4]].tolist() == pytest.approx([(30 + more) / base, (40 + more) / base])
    assert left[[1, 4]].tolist() == pytest.approx([300 / base, 240 / base])


@pytest.mark.parametrize("clock", ["0:0:01e400", "0:00:1e39", "-0:00:01"])
def test_a_clock_that_no_clock_shows_is_none(clock: str) -> None:
    text = f"1. e4 {{[%clk {clock}]}} e5 {{[%clk 0:05:00]}} *".encode()
    arrays = to_arrays([Game("", 0, len(text), text)])
    assert np.isnan(arrays.clock[0]) and arrays.clock[1] == 300


def test_a_value_that_is_not_closed_takes_no_moves_away() -> None:
    text = b"1. e4 {[%eval 17,20} e5 2. Nf3 Nc6 {[%eval 0.3]} 3. Bb5 *"
    arrays = to_arrays([Game("", 0, len(text), text)])
    assert arrays.valid[0] and arrays.plies == 5 and arrays.eval[3] == np.float32(0.3)
