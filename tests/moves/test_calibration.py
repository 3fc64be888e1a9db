"""Calibrations as files: they come back whole, know what they are for, and refuse the rest."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.moves.made_up import ENGINE

from assay.engine.identity import Identity
from assay.errors import AssayWarning, CalibrationError
from assay.moves.calibration import Calibration, default_name, depths, for_engine, load, save, shipped
from assay.moves.regan.projection import project
from assay.policy.chances import shipped as shipped_policy
from assay.presets import PRESETS


def test_a_calibration_comes_back_from_its_file(made: tuple[Calibration, Any], tmp_path: Path) -> None:
    calibration, values = made
    save(calibration, values, tmp_path / "mine.json")
    again = load(tmp_path / "mine.json")
    scale, same = calibration.regan(), again.regan()
    assert (again.engine, again.depth, again.games, again.turns) == ("Made-up 1.0", 4, 60, 4800)
    assert same.lines["percentile"].slope == scale.lines["percentile"].slope
    for name, model in calibration.models.items():
        assert again.models[name].names == model.names and again.models[name].honesty == model.honesty
        np.testing.assert_array_equal(again.models[name].taste.b, model.taste.b)
        np.testing.assert_array_equal(again.models[name].scatter.correlation, model.scatter.correlation)
    assert again.pools == calibration.pools and again.figures == calibration.figures
    # The reference set is the same: its average error for anybody is.
    for s, c in ((0.1, 0.5), (0.3, 0.6)):
        assert project(same.reference, s, c).average_error == pytest.approx(
            project(scale.reference, s, c).average_error, abs=1e-12
        )


def test_it_says_what_it_was_made_of(calibration: Calibration) -> None:
    assert calibration.made["inputs"][0]["name"] == "made-up.pgn"
    assert calibration.settings["method"] == "equations"
    assert calibration.exclusions["a single legal move"] == 3
    assert [mark["elo"] for mark in calibration.marks] == [1800, 2200, 2600]
    assert all(mark["games"] == 20 and mark["turns"] == 1600 for mark in calibration.marks)


@pytest.mark.parametrize(
    "other",
    [
        {"lines": 5},
        {"nodes": 1000},
        {"options": (("Hash", "16"), ("UCI_Chess960", "true"))},
    ],
)
def test_analyses_of_another_kind_are_refused(calibration: Calibration, other: dict[str, Any]) -> None:
    with pytest.raises(CalibrationError, match="assay calibrate"):
        calibration.check([replace(ENGINE, **other)], 4, any_engine=True)


@pytest.mark.parametrize("other", [{"engine": "Other 2.0"}, {"net": "another"}])
def test_analyses_of_another_engine_are_judged_by_a_stand_in_that_says_so(
    calibration: Calibration, other: dict[str, Any]
) -> None:
    identity = replace(ENGINE, **other)
    calibration.check([identity], 4, any_engine=True)
    with pytest.raises(CalibrationError, match="assay calibrate"):
        calibration.check([identity], 4)
    judging = calibration.judging(identity)
    assert judging.stand_in is not None and judging.stand_in.off > 0
    assert "may be off by" in str(judging.stand_in) and "--transfer" in judging.stand_in.remedy
    own, borrowed = calibration.model().honesty.scale_error, judging.model().honesty.scale_error
    assert borrowed == pytest.approx(np.hypot(own, judging.stand_in.off / 2))
    assert calibration.judging(ENGINE).stand_in is None


def test_builds_of_one_version_are_the_same_engine() -> None:
    shipped_one = load(depth=8)
    own = Identity(shipped_one.engine, shipped_one.net, (("Hash", "16"),), 0, 50)
    for engine in ("Stockfish 15.1", "Stockfish 15.1 64 POPCNT", "Stockfish 15.1 WASM Single-threaded"):
        found = for_engine(replace(own, engine=engine), 8)
        assert (found.name, found.stand_in) == ("stockfish-15.1-d8", None)
    for identity in (replace(own, net="nn-other.nnue"), replace(own, engine="Stockfish 99"), replace(own, net="")):
        found = for_engine(identity, 8)
        assert found.stand_in is not None and found.stand_in.off > 0
        assert found.engine.startswith("Stockfish")


def test_a_calibration_of_this_machine_is_found_before_all_others(
    made: tuple[Calibration, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    mine = load(depth=8)
    (tmp_path / "calibrations").mkdir()
    save(replace(mine, name="mine", engine="Toy 3", net=""), None, tmp_path / "calibrations" / "mine.json")
    (tmp_path / "calibrations" / "broken.json").write_text("{}")
    toy = Identity("Toy 3 x86-64", "", (("Hash", "16"),), 0, 50)
    with pytest.warns(AssayWarning, match="is not a calibration"):
        found = for_engine(toy, 8)
    assert (found.name, found.stand_in) == ("mine", None)
    with pytest.warns(AssayWarning):
        other = for_engine(replace(toy, engine="Toy 4"), 8).stand_in
    assert other is not None and other.own == "Stockfish 15.1"


def test_another_depth_is_refused_and_its_own_is_not(calibration: Calibration) -> None:
    with pytest.raises(CalibrationError, match="depth 9"):
        calibration.check([ENGINE], 9)
    calibration.check([ENGINE], 4)
    calibration.check([replace(ENGINE, lines=256, options=(("Hash", "64"),))], 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [("not json", "is not a calibration"), ("{}", "is not a calibration"), ("[1, 2]", "is not a calibration")],
)
def test_a_file_that_is_none(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(CalibrationError, match=words):
        load(tmp_path / "x.json")


def test_a_damaged_file(made: tuple[Calibration, Any], tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    save(*made, path)
    data = json.loads(path.read_text())
    for damage in ({"format": 99}, {"models": {"engine": {}}}, {"regan": None}):
        path.write_text(json.dumps(data | damage))
        with pytest.raises(CalibrationError, match=r"another version|damaged"):
            load(path)


def test_a_name_that_nobody_knows() -> None:
    with pytest.raises(CalibrationError, match="rybka-3-d13"):
        load("no-such")
    with pytest.raises(CalibrationError, match="depth 44"):
        load(depth=44)


def test_every_shipped_calibration_loads_and_fits_the_shipped_policy() -> None:
    assert default_name() in shipped()
    assert {preset.depth for preset in PRESETS.values()} <= set(depths())
    for depth in depths():
        found = load(depth=depth)
        assert (found.engine, found.depth) == ("Stockfish 15.1", depth)
        assert set(found.models) == {"engine", "policy"} and found.network == shipped_policy().identity
        assert found.model().wants_policy and not found.model(policy=False).wants_policy
        assert len(found.marks) == 12 and found.regan().line.slope > 0


def test_the_published_calibration_can_be_read_but_not_used() -> None:
    """RH11: 3571 - 15413 AE, and the tables of three periods (section 7), in order of time and of Elo."""
    found = load("rybka-3-d13")
    assert found.line is not None and (found.line.intercept, found.line.slope) == (3571, 15413)
    assert found.marks[-1]["s_fit"] == 0.080 and found.marks[-1]["c_fit"] == 0.513
    periods = {"1976-1979": range(2300, 2601, 100), "1991-1994": range(2200, 2701, 100)}
    periods |= {"2006-2009": range(1600, 2701, 100)}
    assert [(mark["period"], mark["elo"]) for mark in found.marks] == [
        (period, elo) for period, elos in periods.items() for elo in elos
    ]
    columns = ("s", "c", "c_fit", "s_fit", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual", "qfit")
    first = {mark["period"]: [mark[name] for name in columns] for mark in reversed(found.marks)}
    assert first["1976-1979"] == [0.121, 0.502, 0.485, 0.116, 0.509, 0.500, 0.088, 0.090, 0.070]
    assert first["1991-1994"] == [0.122, 0.477, 0.478, 0.122, 0.497, 0.487, 0.092, 0.098, 0.058]
    assert first["2006-2009"] == [0.165, 0.431, 0.436, 0.168, 0.440, 0.429, 0.133, 0.137, 0.129]
    for mark in found.marks:  # c is on the line of 2006-09 at every mark, and ratings are on the line of errors
        assert mark["c_fit"] == pytest.approx(0.464 + 0.007 * (mark["elo"] - 2000) / 100, abs=1e-9)
        assert 3571 - 15413 * mark["ae_r"] == pytest.approx(mark["ipr"], abs=1)
    with pytest.raises(CalibrationError, match="for reading"):
        found.usable()


def test_the_printed_pairs_of_all_periods_lie_on_one_line() -> None:
    """What s and c of 22 marks project on our own positions is straight in the printed ratings, as their model says."""
    marks, positions = load("rybka-3-d13").marks, load(depth=8).regan().reference
    error = np.array([project(positions, mark["s_fit"], mark["c_fit"]).average_error for mark in marks])
    rating = np.array([mark["ipr"] for mark in marks], dtype=np.float64)
    later = np.array([mark["period"] == "2006-2009" for mark in marks])
    slope, start = np.polyfit(error[later], rating[later], 1)
    assert np.abs(rating - start - slope * error).max() < 2


def _without(path: str) -> Any:
    def change(data: dict[str, Any]) -> None:
        *way, last = path.split(".")
        for name in way:
            data = data[name]
        del data[last]

    return change


def _put(path: str, value: Any) -> Any:
    def change(data: dict[str, Any]) -> None:
        *way, last = path.split(".")
        for name in way:
            data = data[name]
        data[last] = value(data[last]) if callable(value) else value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _put("models.engine.scatter.correlation", lambda rows: rows[:2]),
        _put("models.engine.scatter.factors", [0.0, 1.0, 1.0]),
        _put("models.engine.power", float("nan")),
        _put("models.engine.depth", 9),
        _put("models.engine.features", []),
        _put("models.engine.features", lambda rows: [*rows, rows[0]]),
        _put("models", lambda models: {"policy": models["engine"]}),
        _put("models", lambda models: models | {"policy": models["engine"]}),
        _put("pools", {}),
        _put("pools", {"otb-slow": {"per_400": -1.0}}),
        _put("pools", {"otb-slow": {"shoe": 1.0}}),
        _put("regan.reference.data", "eJwDAAAAAAE="),
        _put("regan.line.slope", 0.0),
        _put("regan.line.covariance", [1.0, 2.0]),
        _put("regan.line.intercept", float("inf")),
        _put("settings.from_move", "nine"),
        _without("settings.limit"),
        _put("settings.k", float("nan")),
        _put("regan.marks", [1, 2]),
        _put("depth", 10**9),
        _put("depth", 0),
        _put("lines", -1),
        _put("regan.c_at_2000", float("nan")),
    ],
)
def test_a_calibration_whose_parts_do_not_fit(made: tuple[Calibration, Any], tmp_path: Path, change: Any) -> None:
    save(*made, tmp_path / "mine.json")
    data = json.loads((tmp_path / "mine.json").read_text())
    change(data)
    (tmp_path / "mine.json").write_text(json.dumps(data))
    with pytest.raises(CalibrationError, match="is damaged"):
        load(tmp_path / "mine.json")


def test_a_calibration_nested_without_end(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("[" * 100_000)
    with pytest.raises(CalibrationError, match="nested too deeply"):
        load(tmp_path / "mine.json")


def test_an_engine_of_another_family_may_be_much_further_off() -> None:
    near, far = (for_engine(Identity(name, "", (), 0, 50), 8).stand_in for name in ("Stockfish 21", "Toy 1"))
    assert near is not None and far is not None
    assert near.off < 300 and far.off > 700
