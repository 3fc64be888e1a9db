"""The targets of the fuzzing hold on their own seeds and on some damage to them; `make fuzz` goes further."""

from __future__ import annotations

import random
from importlib import import_module

import pytest
from fuzz.targets import NAMES

CASES = 60


def damaged(data: bytes, words: tuple[str, ...], chance: random.Random) -> bytes:
    """A seed with a byte changed, a part cut out, or a word put in."""
    at = chance.randrange(len(data) + 1)
    match chance.randrange(3):
        case 0:
            return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        case 1:
            return data[:at] + data[at + chance.randrange(9) :]
        case _:
            return data[:at] + chance.choice(words).encode() + data[at:]


@pytest.mark.parametrize("name", NAMES)
def test_a_target_holds(name: str) -> None:
    target, chance = import_module(f"fuzz.targets.{name}"), random.Random(1)
    for data in target.SEEDS:
        target.check(data)
    for _ in range(CASES):
        target.check(damaged(chance.choice(target.SEEDS), target.WORDS, chance))
