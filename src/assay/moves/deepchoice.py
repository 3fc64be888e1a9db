"""The deep choices of turns: found by the engine and stored, and what comes with Assay to judge them by.

The choice of one line at a depth that help would use is an analysis like any other: it stands in the store under its
own identity, one line wide, and costs nothing the second time. So are the choices of further engines, who think as long
as help on a phone would.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.engine.analysis import value
from assay.engine.choices import Choices, rows_of
from assay.engine.identity import DEFAULT, NO_DEPTH, Identity, Search, find, is_here, version_of
from assay.engine.local import identify
from assay.engine.parsed import Wanted
from assay.engine.store import Store, writing
from assay.engine.turns import Turns
from assay.errors import CalibrationError, InputError, StoreError
from assay.moves.choice.deep import DeepChoices, DeepTaste, from_json, stays_of
from assay.moves.choice.ratio import best, ratios
from assay.moves.evidence import Evidence, log_policy
from assay.moves.field import HonestNull
from assay.moves.field import from_json as null_from_json
from assay.policy.chances import Network
from assay.records import dataclass
from assay.table import counted

Floats = NDArray[np.float64]
DEPTH = 16
NODES = 150_000  # of a further engine, some .2 s
_STEP, _LEAST = 10.0, 1e-9


@dataclass(frozen=True)
class DeepTest:
    """All that the test by deep choices rests on, for lists of one depth: `turns` of `games` with deep choices.

    Where its taste knows of votes it is for turns at which further engines were asked.
    """

    taste: DeepTaste
    engine: str
    null: HonestNull
    turns: int
    games: int


@lru_cache(maxsize=1)
def _shipped() -> Mapping[tuple[int, bool], DeepTest]:
    text = (resources.files("assay.data") / "deep-choice.json").read_text(encoding="utf-8")
    found = {}
    for one in json.loads(text)["tests"]:
        taste = from_json(one["taste"])
        found[taste.depth, taste.votes] = DeepTest(
            taste, one["engine"], null_from_json(one["null"]), int(one["turns"]), int(one["games"])
        )
    return found


def shipped_test(depth: int, votes: bool = False) -> DeepTest:
    """The test that comes with Assay for lists of this depth, one engine's choice or several; or CalibrationError."""
    known = _shipped()
    if (depth, votes) not in known:
        depths = " and ".join(str(one) for one, more in sorted(known) if more == votes)
        what = "--helper" if votes else "--deep-choice"
        raise CalibrationError(f"{what} knows lists of depth {depths}, not {depth}: leave it out, or --depth.")
    return known[depth, votes]


def deep_identity(turns: Turns) -> Identity:
    """Under which identity the deep choices of turns are stored: the same engine, with one line."""
    return replace(turns.identities[0], lines=1, nodes=0)


def find_deep(
    turns: Turns,
    store: Path,
    depth: int = DEPTH,
    *,
    engine: str = DEFAULT,
    helpers: Sequence[str] = (),
    no_analysis: bool = False,
    workers: int | None = None,
    quiet: bool = True,
) -> DeepChoices:
    """The deep choice of each turn, and what the `helpers` choose there: programs, or names of stored analyses.

    What the store lacks is analysed first, unless that is forbidden.
    """
    keys = list(dict.fromkeys(map(bytes, turns.keys)))
    judge = Search(engine if is_here(engine) else DEFAULT, depth=depth, lines=1)
    searches = [(judge, deep_identity(turns))]
    for name in helpers:
        search = _asked(name)
        who = _who(search, store, no_analysis)
        if version_of(who.engine) in [version_of(one.engine) for _, one in searches]:
            raise InputError(f"{who.engine} is asked already: --helper takes an engine that is another one.")
        searches.append((search, who))
    found = [_chosen(keys, store, search, who, no_analysis, workers, quiet) for search, who in searches]
    said = [[one.get(bytes(key), (None, 0)) for key in turns.keys] for one in found]
    row, *others = (rows_of_moves(turns.choices, [move for move, _ in one]) for one in said)
    return DeepChoices(row, np.array([bits for _, bits in said[0]], np.uint32), tuple(others))


def check_helpers(helpers: Sequence[str], store: Path, no_analysis: bool) -> None:
    """Refuse helpers that are neither programs nor known to the store."""
    for name in helpers:
        if not store.exists():
            find(name)
        elif no_analysis or not is_here(name):
            _who(_asked(name), store, no_analysis)


def _asked(helper: str) -> Search:
    return Search(helper, depth=NO_DEPTH, lines=1, nodes=NODES)


def _who(search: Search, place: Path, no_analysis: bool) -> Identity:
    """Who an engine is: by what the program says, or by the analyses of that name."""
    if is_here(search.engine) and not no_analysis:
        return asyncio.run(identify(search))
    with Store(place) as opened:
        return opened.choose(search.engine, depth=search.depth, lines=1, nodes=search.nodes)


def _chosen(
    keys: Sequence[bytes],
    place: Path,
    search: Search,
    who: Identity,
    no_analysis: bool,
    workers: int | None,
    quiet: bool,
) -> dict[bytes, tuple[int, int]]:
    """The first move of a search of one line for each position that has one, and at which depths it was the first."""
    with Store(place) as opened:
        lacking = len(keys) - len(opened.holds(who, search.depth, keys))
    if lacking and (no_analysis or not is_here(search.engine)):
        how = f"{search.nodes:,} nodes" if search.nodes else f"depth {search.depth}"
        raise StoreError(
            f"{place} lacks the deep choice (one line, {how}) of {counted(lacking, 'position')} by {who.engine}: leave "
            "out --no-analysis, or name the program; or do without --deep-choice."
        )
    if lacking:
        with writing(place) as opened:
            who = value(Wanted(keys=list(keys)), opened, search, workers=workers, quiet=quiet).identity
    with Store(place) as opened:
        held = opened.holds(who, search.depth, keys)
        return {key: _first(moves, scores) for key, moves, scores in opened.read_bytes(held.values())}


def _first(moves: bytes, scores: bytes) -> tuple[int, int]:
    """The move of a single line, and at which depths it was the first."""
    values = np.frombuffer(scores, "<i2").reshape(-1, len(moves) // 2)
    return int.from_bytes(moves[:2], "little"), stays_of(values[:, 0])


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
    """Turns with their deep choices: exponents that know of them, and what engines would choose (moves x guesses)."""

    test: DeepTest
    evidence: Evidence
    choice: DeepChoices
    engines: Floats

    def own(self, turns: NDArray[np.intp]) -> tuple[Evidence, Floats, NDArray[np.bool_]]:
        """Some turns alone, what engines would choose there, and of every move whether it is the deep choice."""
        rows, _ = rows_of(self.evidence.turns.choices.start, turns)
        deep = np.zeros(len(self.engines), np.bool_)
        deep[self.choice.row[self.choice.row >= 0]] = True
        return self.evidence.only(turns), self.engines[rows], deep[rows]

    def judge(self, turns: NDArray[np.intp], ratings: Floats, rating_error: float = 0.0) -> DeepFinding | None:
        """Compare turns with what is expected of the rating that goes with each; None where nothing is told.

        z is the standardised log ratio of following an engine on a share of the moves, the strength shown allowed for
        as far as ratings are off: that of the engine which fits best, as the highest of so many; less and divided by
        what honest player-events of the same years and band show.
        """
        mine, engines, deep = self.own(turns)
        choices = mine.turns.choices
        own = mine.chances(ratings)
        found = ratios(own, engines, score_of_rating(mine, ratings), choices)
        counts = found.counts
        if not counts.any():
            return None
        rating = float(ratings.mean())
        error = max(rating_error, self.test.null.rating_error(rating))
        told, moments, between = (one.sum(axis=0) for one in (found.told(choices.chosen), found.moments, found.between))
        raw = float(best(told, moments, between, error))
        line = mine.lines[int(np.bincount(mine.line).argmax())].name
        tells = counts[choices.turn] & deep
        return DeepFinding(
            int(counts.sum()),
            float((deep[choices.chosen] & counts).sum()),
            float(own[tells].sum()),
            self.test.null.centred(raw, line, rating, int(counts.sum())),
        )


def score_of_rating(evidence: Evidence, ratings: Floats) -> Floats:
    """The slope of the log chance of every move over the rating, for players of these ratings."""
    lower, higher = (np.log(np.maximum(evidence.chances(ratings + step), _LEAST)) for step in (-_STEP, _STEP))
    return np.asarray((higher - lower) / (2 * _STEP))


def with_deep(evidence: Evidence, choice: DeepChoices, network: Network) -> DeepEvidence:
    """Evidence that knows the deep choices of its turns, by the test that comes with Assay."""
    test, choices = shipped_test(evidence.turns.depth, bool(choice.others)), evidence.turns.choices
    natural = log_policy(choices, network)
    g0, g1 = test.taste.exponents(choices, choice, natural, evidence.g0, evidence.g1)
    return DeepEvidence(test, replace(evidence, g0=g0, g1=g1), choice, test.taste.helped(choices, choice))
