"""Damaged games by the thousand in one file, a good one behind each: all good ones come back, with their tags.

    python -m fuzz.mass [CASES]
    python -m fuzz.mass 100000 comments packings    as many cases of each of these targets, one by one and unguided

The cases of a target go on where they stopped (`.fuzz/TARGET-mass.json`; remove it to begin anew). The readers of PGN
work on many games at once, so this is how they meet a hundred thousand damaged ones: in an index, in arrays of moves,
and as results. What is damaged comes from the seeds and from what the fuzzing kept.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from importlib import import_module

import numpy as np
from fuzz.made import scratch
from fuzz.run import FOUND, KEPT
from fuzz.targets.pgn import WORDS

from assay.games import read
from assay.games.columns import rows
from assay.games.outcomes import read_outcomes
from assay.games.parse import to_arrays
from assay.games.split import splits
from assay.games.stream import Stream

AT_ONCE = 1000
# The comment ends whatever comment the game before has left open.
GOOD = b'[Event "good"]\n[White "S%d"]\n[Black "T"]\n[Result "1-0"]\n\n1. e4 {x} e5 2. Qh5 Ke7 3. Qxe5# 1-0'


def damaged(data: bytes, words: tuple[str, ...], chance: random.Random) -> bytes:
    """A text with a byte changed, a part cut out, or a word put in."""
    at = chance.randrange(len(data) + 1)
    match chance.randrange(3):
        case 0:
            return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        case 1:
            return data[:at] + data[at + chance.randrange(9) :]
        case _:
            return data[:at] + chance.choice(words).encode() + data[at:]


def check(seeds: list[bytes], chance: random.Random) -> None:
    """One file of damaged and good games, read in every way."""
    parts = []
    for number in range(AT_ONCE):
        odd = chance.choice(seeds)
        for _ in range(chance.randrange(1, 6)):
            odd = damaged(odd, WORDS, chance)
        parts += [odd, GOOD % number]
    file = scratch("mass.pgn", b"\n\n".join(parts) + b"\n")
    games = list(read(file))
    numbers = {f"S{number}": number for number in range(AT_ONCE)}
    places = [place for place, game in enumerate(games) if game.tags.get("White") in numbers]
    assert [games[place].tags["White"] for place in places] == list(numbers), "a good game is gone"
    assert set(numbers) <= set(read_outcomes([file]).players)
    with Stream(file) as stream:
        batches = [rows(part, file, Counter()) for part in splits(stream)]
    for batch in batches:
        batch.validate(full=True)  # columns are laid over the bytes of the file: no offset may lead outside
    indexed = [row for batch in batches for row in batch.to_pylist()]
    assert [row["start_offset"] for row in indexed] == [game.start_offset for game in games]
    arrays = to_arrays(games)
    lengths = np.diff(arrays.offsets)
    assert all(bool(why) != good for why, good in zip(arrays.reason, arrays.valid, strict=True))
    for number, place in enumerate(places):
        if games[place].data == GOOD % number:
            assert arrays.valid[place] and indexed[place]["plies"] == lengths[place] == 5
            assert indexed[place]["result"] == "1-0"


def kept_by(name: str) -> list[bytes]:
    """The seeds of a target, and what its guided runs kept."""
    kept = KEPT / name
    found = [file.read_bytes() for file in (sorted(kept.iterdir()) if kept.is_dir() else [])]
    return [*import_module(f"fuzz.targets.{name}").SEEDS, *found]


def alone(name: str, cases: int) -> float:
    """Cases of one target, each damaged in a few places, and their CPU seconds; one that breaks a promise is kept."""
    target, seeds = import_module(f"fuzz.targets.{name}"), kept_by(name)
    KEPT.mkdir(exist_ok=True)
    state = KEPT / f"{name}-mass.json"
    done, before = json.loads(state.read_text()) if state.exists() else (0, 0.0)
    began = time.process_time()
    for first in range(done, cases, AT_ONCE):
        chance = random.Random(f"{name} {first}")
        for _ in range(first, end := min(first + AT_ONCE, cases)):
            data = chance.choice(seeds)
            for _ in range(chance.randrange(1, 6)):
                data = damaged(data, target.WORDS, chance)
            try:
                target.check(data)
            except BaseException:
                FOUND.mkdir(parents=True, exist_ok=True)
                (FOUND / f"{name}-mass").write_bytes(data)
                raise
        state.write_text(json.dumps((end, before + time.process_time() - began)))
    return float(json.loads(state.read_text())[1])


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for name in sys.argv[2:]:
        spent = alone(name, cases)
        print(f"{name}: {cases:,} cases, {spent:.0f} s of CPU.", flush=True)
    if sys.argv[2:]:
        return
    seeds = kept_by("pgn")
    chance, began = random.Random(1), time.monotonic()
    for _ in range(0, cases, AT_ONCE):
        check(seeds, chance)
    print(f"{cases:,} damaged games among {cases:,} good ones: {time.monotonic() - began:.0f} s.")


if __name__ == "__main__":
    main()
