"""Paired transfer: a calibration for another engine, from the same turns on which that of 15.1 stands.

Another engine gives other values to the same moves of the same people. The choice model is fitted anew to these values,
drawn to the model of Stockfish 15.1 as strongly as held-out games ask for, and then put on the scale of 15.1 by a line:
not by the ratings in the tags, whose scatter in a few thousand turns is greater than the engines' difference, but by
what 15.1 says of the same games. What is left between the two is measured on games that had no part in any of this.

The turns come with Assay: of each century mark 1600 to 2700 twelve games of the reference set, of each game thirty
turns drawn at random, in rounds of a game for each mark, so that any beginning is spread over all marks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay import manifest
from assay.engine.analysis import Outcome, value
from assay.engine.choices import Choices, load_spreads
from assay.engine.identity import Identity, Search, find, version_of
from assay.engine.parsed import Wanted
from assay.engine.store import Store, writing
from assay.errors import CalibrationError
from assay.moves.calibrating import reference_turns
from assay.moves.calibration import Calibration
from assay.moves.choice.calibrate import JUDGED, Rated, even, folds_of
from assay.moves.choice.features import features
from assay.moves.choice.measures import scores
from assay.moves.choice.model import UNIT, Model, Taste, fit, log_chances, strength
from assay.moves.evidence import log_policy
from assay.moves.reference import Reference, read
from assay.policy.chances import Network
from assay.records import dataclass

Floats = NDArray[np.float64]
SHIPPED = Path(__file__).parents[1] / "data" / "transfer"
FOLDS = 4
# How strongly the fit is drawn to 15.1's, by standardised feature; infinite: its tastes are kept as they are.
DRAWN = (3e4, 1e5, 3e5, math.inf)
STEPS = 3  # of Newton's method: so near the base more change nothing
FEWEST_TURNS, FEWEST_GAMES = 600, 24
# By what factor an engine's shares may differ from 15.1's before it is taken not to speak UCI as it should. The mean
# error of Stockfish 17.1 and 18 at depth 6 is six tenths of 15.1's, which is wild there; a wrong unit is ten times off.
SANE = {"best": 1.5, "error": 2.5, "ties": 1.5}


def shipped_turns(depth: int) -> Reference:
    """The turns that come with Assay, with the values of Stockfish 15.1."""
    return read(SHIPPED, depth)


def value_turns(
    found: Reference, search: Search, store: Path, *, workers: int | None = None, quiet: bool = False
) -> Outcome:
    """Have the positions of these turns valued by an engine; what the store holds already costs nothing."""
    keys = list(dict.fromkeys(key.tobytes() for key in found.choices.keys))
    find(search.engine)  # before a store is made for nothing
    with writing(store) as opened:
        return value(Wanted(keys=keys), opened, search, workers=workers, quiet=quiet)


@dataclass(frozen=True)
class Paired:
    """The same turns by two engines."""

    old: Rated
    new: Rated
    identity: Identity

    def with_policy(self, network: Network) -> Paired:
        """The same with what people would play."""
        old, new = (replace(one, log_policy=log_policy(one.choices, network)) for one in (self.old, self.new))
        return replace(self, old=old, new=new)


def pair(found: Reference, store: Store, identity: Identity, depth: int) -> Paired:
    """The turns that the store holds by this engine to this depth, beside the reference's own values."""
    keys = [key.tobytes() for key in found.choices.keys]
    said = load_spreads(store, (identity,), depth, set(keys))
    at = said.find(keys)
    rated = reference_turns(found).only(at >= 0)
    if len(rated) < FEWEST_TURNS or len(np.unique(rated.game)) < FEWEST_GAMES:
        raise CalibrationError(
            f"{identity.engine} has valued {len(rated)} turns of {len(np.unique(rated.game))} games to depth {depth}; "
            f"a transfer takes {FEWEST_TURNS} of {FEWEST_GAMES} at least. Run the same command again to go on."
        )
    own = rated.choices
    by_turn = {name: getattr(own, name) for name in ("keys", "before", "own", "ply", "unit")}
    choices = said.choices(at[at >= 0], own.moves[own.chosen], **by_turn)
    return Paired(rated, replace(rated, choices=choices), identity)


@dataclass(frozen=True)
class Shares:
    """How an engine's values look beside what people play: played moves that are best, their error, ties at the top."""

    best: float
    error: float
    ties: float


def shares(choices: Choices) -> Shares:
    """The shares of some turns at their deepest depth; moves that are not listed count as the worst of their turn."""
    scored = scores(choices)
    played = scored[choices.chosen]
    first = np.add.reduceat(scored[:, 0], choices.start[:-1])
    return Shares(float(played[:, 0].mean()), float(played[:, 2].mean()), float((first > 1).mean()))


def insanity(found: Paired, depth: int) -> str:
    """Why an engine cannot be trusted, by its shares beside 15.1's; empty if it can."""
    old, new = (shares(one.choices.to_depth(depth)) for one in (found.old, found.new))
    words = {"best": "share of played moves that are its best", "error": "mean error of the moves played"}
    words |= {"ties": "share of turns with several best moves"}
    for name, what in words.items():
        mine, theirs = getattr(new, name), getattr(old, name)
        # A few ties in a hundred turns are what chance gives and takes.
        slack = 0.05 if name == "ties" else 0.0
        if not theirs / SANE[name] - slack <= mine <= theirs * SANE[name] + slack:
            return (
                f"the values of {found.identity.engine} cannot be trusted: its {what} is {mine:.3f}, and Stockfish "
                f"15.1's {theirs:.3f}. Scores from one side's view, bounds or a contempt look so."
            )
    return ""


@dataclass(frozen=True)
class Apart:
    """How far two engines' ratings of the same games lie apart: the new one's less 15.1's, in Elo, at 2200.

    `per_400` is what is added for each 400 points above that; both with errors clustered by game.
    """

    value: float
    error: float
    per_400: float
    per_400_error: float

    def at(self, elo: float) -> float:
        """The difference for players of this rating."""
        return self.value + self.per_400 * float(strength(elo))


@dataclass(frozen=True)
class Transferred:
    """A model for the new engine, and what games that had no part in its making say of it.

    `untouched` is how far apart the engines are if 15.1's model judges the new one's values.
    """

    model: Model
    drawn: float
    turns: int
    games: int
    apart: Apart
    untouched: Apart


@dataclass(frozen=True)
class _Side:
    """The turns of one engine as a fit takes them: standardised features, and which turns are judged."""

    rated: Rated
    table: NDArray[np.float32]
    judged: NDArray[np.bool_]

    @property
    def weight(self) -> Floats:
        return even(self.rated.mark)

    def exponents(self, taste: Taste) -> tuple[Floats, Floats]:
        return self.table @ taste.a, self.table @ taste.b


def _side(rated: Rated, base: Model) -> _Side:
    rated = rated.to_depth(base.depth)
    found = features(rated.choices, rated.log_policy)
    column = {name: at for at, name in enumerate(found.names)}
    table = found.table[:, [column[name] for name in base.names]]
    table /= base.divisors.astype(np.float32)
    return _Side(rated, table, np.abs(rated.best) <= JUDGED)


def transfer(found: Paired, base: Model, *, seed: int = 1, told: Callable[[str], None] = lambda _: None) -> Transferred:
    """Fit the base model anew to another engine's values of the same turns, on the base's scale."""
    old, new = _side(found.old, base), _side(found.new, base)
    games = np.unique(found.new.game)
    dealt = folds_of(games, FOLDS, seed)
    fits = _Fits(old, new, base, *(dealt[np.searchsorted(games, one.rated.game)] for one in (old, new)))
    g0, g1 = np.empty(len(new.table)), np.empty(len(new.table))
    for one in range(FOLDS):
        own, _ = fits.best(frozenset([one]))
        rows = (fits.fold_new == one)[new.rated.choices.turn]
        g0[rows], g1[rows] = new.table[rows] @ own.a, new.table[rows] @ own.b
        told(f"fold {one + 1} of {FOLDS} held out")
    taste, drawn = fits.best(frozenset())
    untouched = _apart(old, new, fits.old_g, new.exponents(base.taste))
    apart = _apart(old, new, fits.old_g, (g0, g1))
    # The error of the transfer is one of the scale, and stays however many games there are.
    error = math.hypot(base.honesty.scale_error, apart.error)
    return Transferred(
        model=replace(base, taste=taste, honesty=replace(base.honesty, scale_error=error)),
        drawn=drawn,
        turns=int(new.judged.sum()),
        games=len(games),
        apart=apart,
        untouched=untouched,
    )


class _Fits:
    """Tastes for the new engine with some folds of the games left out; what was fitted once is kept."""

    def __init__(
        self, old: _Side, new: _Side, base: Model, fold_old: NDArray[np.int64], fold_new: NDArray[np.int64]
    ) -> None:
        self.old, self.new, self.base, self.fold_old, self.fold_new = old, new, base, fold_old, fold_new
        self.old_g = old.exponents(base.taste)
        self.kept: dict[tuple[float, frozenset[int]], Taste] = {}

    def taste(self, drawn: float, out: frozenset[int]) -> Taste:
        """The taste that is drawn so strongly to the base's, from all folds but these."""
        if math.isinf(drawn):
            return self.base.taste
        if (drawn, out) not in self.kept:
            rated, table = self.new.rated, self.new.table
            ridge = np.full(table.shape[1], drawn)
            self.kept[drawn, out] = fit(
                table,
                rated.choices.start,
                rated.choices.chosen,
                strength(rated.elo),
                np.where(np.isin(self.fold_new, list(out)), 0.0, self.new.weight),
                ridge,
                ridge,
                np.round(rated.elo / 100).astype(np.int64),
                begin=self.base.taste,
                centre=self.base.taste,
                steps=STEPS,
            )
        return self.kept[drawn, out]

    def held_out(self, drawn: float, out: frozenset[int]) -> float:
        """The log-likelihood of each fold but these by the taste of the others."""
        choices, z, total = self.new.rated.choices, strength(self.new.rated.elo), 0.0
        for one in set(range(FOLDS)) - out:
            g0, g1 = self.new.exponents(self.taste(drawn, out | {one}))
            log_p = log_chances(g0 + z[choices.turn] * g1, choices.start, choices.turn)[choices.chosen]
            total += float((self.new.weight * (self.fold_new == one) * self.new.judged) @ log_p)
        return total

    def best(self, out: frozenset[int]) -> tuple[Taste, float]:
        """The taste from all folds but these, on the scale of the old engine, and how strongly it was drawn."""
        drawn = max(DRAWN, key=lambda strong: self.held_out(strong, out))
        taste = self.taste(drawn, out)
        lines = []
        for side, fold, g in (
            (self.old, self.fold_old, self.old_g),
            (self.new, self.fold_new, self.new.exponents(taste)),
        ):
            lines.append(_line(side, g, np.where(side.judged & ~np.isin(fold, list(out)), side.weight, 0.0)))
        theirs, mine = lines
        # What the old one takes for z is theirs.alpha + theirs.beta z: so must the new one.
        slope = mine.beta / theirs.beta
        shift = mine.alpha - slope * theirs.alpha
        return Taste(taste.a + shift * taste.b, slope * taste.b), drawn


@dataclass(frozen=True)
class _Line:
    """The line from tags to a model's ratings: alpha + beta z, and what each turn had to say in it."""

    alpha: float
    beta: float
    influence: Floats  # turns x 2


def _line(side: _Side, g: tuple[Floats, Floats], weight: Floats) -> _Line:
    """alpha and beta that make z -> alpha + beta z most likely, by Newton's method."""
    choices, z = side.rated.choices, strength(side.rated.elo)
    start, turn, chosen, first = choices.start, choices.turn, choices.chosen, choices.start[:-1]
    g0, g1 = g
    place = np.array([0.0, 1.0])
    by = np.stack([np.ones_like(z), z], axis=1)
    for _ in range(20):
        p = np.exp(log_chances(g0 + (by @ place)[turn] * g1, start, turn))
        mean = np.add.reduceat(p * g1, first)
        variance = np.add.reduceat(p * g1**2, first) - mean**2
        gradient = by * (weight * (g1[chosen] - mean))[:, None]
        hessian = (by * (weight * variance)[:, None]).T @ by
        step = np.linalg.solve(hessian, gradient.sum(axis=0))
        place = place + step
        if np.abs(step).max() < 1e-6:
            break
    return _Line(float(place[0]), float(place[1]), gradient @ np.linalg.inv(hessian))


def _apart(old: _Side, new: _Side, old_g: tuple[Floats, Floats], new_g: tuple[Floats, Floats]) -> Apart:
    theirs = _line(old, old_g, np.where(old.judged, old.weight, 0.0))
    mine = _line(new, new_g, np.where(new.judged, new.weight, 0.0))
    games = np.unique(np.concatenate([old.rated.game, new.rated.game]))
    total = np.zeros((len(games), 2))
    np.add.at(total, np.searchsorted(games, new.rated.game), mine.influence)
    np.subtract.at(total, np.searchsorted(games, old.rated.game), theirs.influence)
    error = UNIT * np.sqrt((total**2).sum(axis=0))
    return Apart(UNIT * (mine.alpha - theirs.alpha), float(error[0]), UNIT * (mine.beta - theirs.beta), float(error[1]))


def transferred(
    found: Paired,
    base: Calibration,
    *,
    name: str,
    network: Network | None,
    inputs: Sequence[Mapping[str, Any]] = (),
    seed: int = 1,
    told: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """A calibration for the new engine: the base's, with its models transferred.

    The lines of the pools are the base's, since the models are on its scale; Regan's way has none, since its reference
    positions would have to be valued anew.
    """
    if why := insanity(found, base.depth):
        raise CalibrationError(why)
    told("values alone")
    made = {"engine": transfer(found, base.models["engine"], seed=seed, told=told)}
    if network is not None and "policy" in base.models and network.identity == base.network:
        told("with the policy")
        made["policy"] = transfer(found.with_policy(network), base.models["policy"], seed=seed, told=told)
    main = made.get("policy", made["engine"])
    settings = {**base.settings, "games": main.games, "turns": main.turns, "seed": seed, "transferred_from": base.name}
    return replace(
        base,
        name=name,
        engine=" ".join(version_of(found.identity.engine)).strip(),
        net=found.identity.net,
        options=found.identity.options,
        lines=found.identity.lines,
        settings=settings,
        exclusions={},
        models={kind: one.model for kind, one in made.items()},
        network=base.network if "policy" in made else "",
        figures={"transfer": {kind: figures_of(one) for kind, one in made.items()}},
        marks=(),
        line=None,
        c_at_2000=math.nan,
        c_per_100=math.nan,
        scale=None,
        made=manifest.make("calibration", inputs=inputs, settings=settings),
    )


def figures_of(made: Transferred) -> dict[str, Any]:
    """What held-out games say of a transfer, as plain values."""
    return {
        "turns": made.turns,
        "games": made.games,
        "drawn": None if math.isinf(made.drawn) else made.drawn,
        "apart": round(made.apart.value, 1),
        "apart_error": round(made.apart.error, 1),
        "apart_per_400": round(made.apart.per_400, 1),
        "apart_per_400_error": round(made.apart.per_400_error, 1),
        "untouched": round(made.untouched.value, 1),
        "untouched_error": round(made.untouched.error, 1),
        "untouched_per_400": round(made.untouched.per_400, 1),
        "untouched_per_400_error": round(made.untouched.per_400_error, 1),
    }
