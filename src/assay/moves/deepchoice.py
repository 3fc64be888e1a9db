"""The deep choices of turns: found by the engine and stored, and what comes with Assay to judge them by.

The choice of one line at a depth that help would use is an analysis like any other: it stands in the store under its
own identity, one line wide, and costs nothing the second time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.engine.analysis import value
from assay.engine.choices import Choices, rows_of
from assay.engine.identity import DEFAULT, Identity, Search, is_here
from assay.engine.parsed import Wanted
from assay.engine.store import Store, writing
from assay.engine.turns import Turns
from assay.errors import CalibrationError, StoreError
from assay.moves.choice.deep import DeepTaste, from_json
from assay.moves.choice.ratio import ratios
from assay.moves.evidence import Evidence, log_policy
from assay.policy.chances import Network
from assay.table import counted

Floats = NDArray[np.float64]
DEPTH = 16


@dataclass(frozen=True)
class NullBand:
    """What the raw z of honest player-events was like: of years (a line's name) and of ratings from `low` to `high`.

    The centre is that of one event of `turns` turns, and grows with the root of the turns; the spread does not.
    """

    line: str
    low: float
    high: float
    centre: float
    spread: float
    turns: float
    events: int


@dataclass(frozen=True)
class DeepTest:
    """All that the test by deep choices rests on, for lists of one depth."""

    taste: DeepTaste
    engine: str
    null: tuple[NullBand, ...]
    turns: int
    rating_error: float

    def centred(self, z: float, line: str, rating: float, turns: int) -> float:
        """A raw z against honest player-events of the same years and band; of other years the widest of all."""
        same = [band for band in self.null if band.line == line]
        inside = [band for band in same if band.low <= rating < band.high]
        if inside:
            own = inside[0]
            return (z - own.centre * math.sqrt(turns / own.turns)) / own.spread
        spread = max((band.spread for band in same or self.null), default=1.0)
        return z / spread


@lru_cache(maxsize=1)
def _shipped() -> Mapping[int, DeepTest]:
    text = (resources.files("assay.data") / "deep-choice.json").read_text(encoding="utf-8")
    found = {}
    for one in json.loads(text)["tests"]:
        null = tuple(NullBand(**band) for band in one["null"])
        taste = from_json(one["taste"])
        found[taste.depth] = DeepTest(taste, one["engine"], null, int(one["turns"]), float(one["rating_error"]))
    return found


def shipped_test(depth: int) -> DeepTest:
    """The test that comes with Assay for lists of this depth; CalibrationError if there is none."""
    known = _shipped()
    if depth not in known:
        depths = " and ".join(map(str, sorted(known)))
        raise CalibrationError(f"--deep-choice knows lists of depth {depths}, not {depth}: leave it out, or --depth.")
    return known[depth]


def deep_identity(turns: Turns) -> Identity:
    """Under which identity the deep choices of turns are stored: the same engine, with one line."""
    return replace(turns.identities[0], lines=1, nodes=0)


def find_deep(
    turns: Turns,
    store: Path,
    depth: int = DEPTH,
    *,
    engine: str = DEFAULT,
    no_analysis: bool = False,
    workers: int | None = None,
    quiet: bool = True,
) -> NDArray[np.int64]:
    """The row of the deep choice of each turn; what the store lacks is analysed first, unless that is forbidden."""
    keys = list(dict.fromkeys(map(bytes, turns.keys)))
    identity = deep_identity(turns)
    with Store(store) as opened:
        lacking = len(keys) - len(opened.holds(identity, depth, keys))
    if lacking and no_analysis:
        raise StoreError(
            f"{store} lacks the deep choice (one line, depth {depth}) of {counted(lacking, 'position')}: leave out "
            "--no-analysis, or --deep-choice."
        )
    if lacking:
        if not is_here(engine):
            engine = DEFAULT
        with writing(store) as opened:
            wanted, search = Wanted(keys=keys), Search(engine, depth=depth, lines=1)
            identity = value(wanted, opened, search, workers=workers, quiet=quiet).identity
    with Store(store) as opened:
        rows = opened.holds(identity, depth, keys)
        found = {key: int.from_bytes(moves[:2], "little") for key, moves, _ in opened.read_bytes(rows.values())}
    return rows_of_moves(turns.choices, [found.get(bytes(key)) for key in turns.keys])


def rows_of_moves(choices: Choices, moves: Sequence[int | None]) -> NDArray[np.int64]:
    """The row of one move of each turn; -1 where there is none, or it is not among those listed."""
    wanted = np.array([-1 if move is None else move for move in moves], np.int64)
    row = np.full(len(choices), -1, np.int64)
    at = np.flatnonzero(choices.moves == wanted[choices.turn])
    row[choices.turn[at]] = at
    return row


@dataclass(frozen=True)
class DeepFinding:
    """How a player's moves compare with the deep choices: turns that tell, choices played and expected, and z."""

    turns: int
    played: float
    expected: float
    z: float


@dataclass(frozen=True)
class DeepEvidence:
    """Turns with their deep choices: exponents that know of them, and what engines would choose."""

    test: DeepTest
    evidence: Evidence
    row: NDArray[np.int64]
    engine: Floats

    def own(self, turns: NDArray[np.intp]) -> tuple[Evidence, Floats, NDArray[np.bool_]]:
        """Some turns alone, what engines would choose there, and of every move whether it is the deep choice."""
        rows, _ = rows_of(self.evidence.turns.choices.start, turns)
        deep = np.zeros(len(self.engine), np.bool_)
        deep[self.row[self.row >= 0]] = True
        return self.evidence.only(turns), self.engine[rows], deep[rows]

    def judge(self, turns: NDArray[np.intp], ratings: Floats, rating_error: float = 0.0) -> DeepFinding | None:
        """Compare turns with what is expected of the rating that goes with each; None where nothing is told.

        z is the standardised log ratio of following an engine on a share of the moves, less and divided by what honest
        player-events of the same years and band show; a rating may be off by its own error.
        """
        mine, engine, deep = self.own(turns)
        choices = mine.turns.choices
        own = mine.chances(ratings)
        found = ratios(own, engine, choices)
        counts = found.counts
        if not counts.any():
            return None
        raw = raw_z(found.told, found.expected, found.variance)
        error = max(rating_error, self.test.rating_error)
        more = np.add.reduceat((mine.chances(ratings + error) - own) * found.mixed, choices.start[:-1])
        raw /= math.hypot(1.0, float(more.sum()) / math.sqrt(float(found.variance.sum())))
        line = mine.lines[int(np.bincount(mine.line).argmax())].name
        tells = counts[choices.turn] & deep
        return DeepFinding(
            int(counts.sum()),
            float((deep[choices.chosen] & counts).sum()),
            float(own[tells].sum()),
            self.test.centred(raw, line, float(ratings.mean()), int(counts.sum())),
        )


def raw_z(told: Floats, expected: Floats, variance: Floats) -> float:
    """The standardised sum of log ratios."""
    return float((told - expected).sum() / math.sqrt(variance.sum()))


def with_deep(evidence: Evidence, row: NDArray[np.int64], network: Network) -> DeepEvidence:
    """Evidence that knows the deep choices of its turns, by the test that comes with Assay."""
    test, choices = shipped_test(evidence.turns.depth), evidence.turns.choices
    natural = log_policy(choices, network)
    g0, g1 = test.taste.exponents(choices, row, natural, evidence.g0, evidence.g1)
    return DeepEvidence(test, replace(evidence, g0=g0, g1=g1), row, test.taste.helped(choices, row, natural))
