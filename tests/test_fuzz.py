"""The targets of the fuzzing hold on their own seeds and on some damage to them; `make fuzz` goes further."""

from __future__ import annotations

import random
import signal
from importlib import import_module
from pathlib import Path

import pytest
from fuzz import mass
from fuzz.targets import NAMES

CASES = 60


@pytest.mark.parametrize("name", NAMES)
def test_a_target_holds(name: str) -> None:
    target, chance = import_module(f"fuzz.targets.{name}"), random.Random(1)
    for data in target.SEEDS:
        target.check(data)
    for _ in range(CASES):
        target.check(mass.damaged(chance.choice(target.SEEDS), target.WORDS, chance))


def test_a_slow_case_is_ended_wherever_it_is_struck(monkeypatch: pytest.MonkeyPatch) -> None:
    from fuzz.targets import options

    struck = 0

    class Stubborn:
        def __del__(self) -> None:
            nonlocal struck
            struck += 1
            signal.raise_signal(signal.SIGALRM)

    def slow(words: list[str]) -> None:
        Stubborn()  # an exception here is dropped by Python
        while True:
            pass

    monkeypatch.setattr(options, "SECONDS", 0.2)
    monkeypatch.setattr(options, "main", slow)
    assert options.attempt(["results"]) == "ended after a while" and struck == 1


def test_good_games_come_back_from_among_damaged_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mass, "AT_ONCE", 200)
    mass.check(list(import_module("fuzz.targets.pgn").SEEDS), random.Random(2))


def test_cases_by_the_thousand_keep_the_one_that_breaks_a_promise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from fuzz.targets import where

    monkeypatch.setattr(mass, "FOUND", tmp_path / "found")
    monkeypatch.setattr(mass, "KEPT", tmp_path)
    spent = mass.alone("where", 5)

    def broken(data: bytes) -> None:
        raise AssertionError

    monkeypatch.setattr(where, "check", broken)
    assert mass.alone("where", 5) == spent, "what is done was done again"
    with pytest.raises(AssertionError):
        mass.alone("where", 10)
    assert (tmp_path / "found" / "where-mass").read_bytes()
