"""What moves say of strength: a curve over ratings for every turn, from which all groups are summed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.curve import GRID, Curve, Estimate, Honesty
from assay.engine.choices import Choices, rows_of
from assay.engine.turns import Turns
from assay.errors import CalibrationError
from assay.moves.calibration import Calibration
from assay.moves.choice.features import BOUNDED
from assay.moves.choice.likely import LEVEL, POOL
from assay.moves.choice.measures import Measures, engine_rating, measure, scores
from assay.moves.choice.model import CENTRE, Model, curve_of, exponents, human, log_chances, mixed, strength
from assay.moves.groups import Groups, Moved, tag_ratings
from assay.policy.chances import Network
from assay.policy.chances import log_chances as chances_of_people
from assay.policy.chances import shipped as shipped_policy
from assay.pools import FIRST, has_line, scale_of
from assay.records import dataclass
from assay.scales import PoolLine, apart, line_called

_TURNS = 8_192


def log_policy(choices: Choices, network: Network, *, level: float = LEVEL, pool: str = POOL) -> NDArray[np.float32]:
    """The logarithm of the chance that the policy gives each move, row by row.

    Worked out anew each time: a position takes a seventh of a millisecond, less than reading it from a store.
    """
    found = np.empty(len(choices.moves), np.float32)
    at = 0
    for part in choices.parts(_TURNS):
        said = chances_of_people(network, part.keys, level, pool)
        turn = np.repeat(np.arange(len(part)), np.diff(said.offsets))
        key = turn << 16 | said.moves
        order = np.argsort(key)
        wanted = part.turn << 16 | part.moves
        row = np.minimum(np.searchsorted(key[order], wanted), len(order) - 1)
        here = np.where(key[order][row] == wanted, said.logs[order][row], np.float32(np.nan))
        if np.isnan(here).any():
            raise AssertionError("a valued move is not legal in its position")
        found[at : at + len(here)] = here
        at += len(here)
    return found


Floats = NDArray[np.float64]
ALL_LEVELS = (600.0, 3200.0)


@dataclass(frozen=True)
class Evidence:
    """Turns with the exponents of their moves (chance ~ exp(g0 + z g1)), by a calibration's model.

    `weight` is how much each turn counts for a rating (None: alike). Where the model knows the policy, `plain` has the
    exponents by the values alone, and `human` how far each turn's side passes for a person: so much of its curve is by
    the one, the rest by the other. Without a `judge` there is nothing but the turns: enough for a fit of s and c.
    """

    turns: Turns
    calibration: Calibration
    judge: Model | None
    g0: Floats
    g1: Floats
    weight: Floats | None = None
    plain: tuple[Floats, Floats] | None = None
    human: Floats | None = None

    @property
    def model(self) -> Model:
        """The choice model that judges, or a sentence where there is none."""
        return self.judge or self.calibration.model()

    @cached_property
    def curve(self) -> Curve:
        """The log-likelihood of every rating, a row per turn: each on the scale of its own game's pool."""
        if self.plain is None or self.human is None:
            return self._curve(self.g0, self.g1)
        lift = self.model.lift
        return mixed(self._curve(self.g0, self.g1, lift), self._curve(*self.plain, lift), self.human)

    def beside(self, plain: tuple[Floats, Floats]) -> Evidence:
        """The same with the exponents by the values alone: of these turns' sides, who plays as people do?"""
        own, other = (curve_of(*both, self.turns.choices) for both in ((self.g0, self.g1), plain))
        share = human(own, other, self.sides.of)  # on the inner scale: the same in every pool
        return replace(self, plain=plain, human=share)

    def _curve(self, g0: Floats, g1: Floats, lift: float = 0.0) -> Curve:
        if len(self.lines) == 1:
            inside = self.lines[0].inside(GRID) - lift
            return Curve(curve_of(g0, g1, self.turns.choices, inside).table, GRID)
        table = np.empty((len(self.turns), len(GRID)))
        for number, line in enumerate(self.lines):
            own = self.line == number
            rows, _ = rows_of(self.turns.choices.start, own)
            part = self.turns.choices.only(own)
            table[own] = curve_of(g0[rows], g1[rows], part, line.inside(GRID) - lift).table
        return Curve(table, GRID)

    @cached_property
    def _lines(self) -> tuple[tuple[PoolLine, ...], NDArray[np.intp]]:
        own = [line_called(name or FIRST) for name in self.turns.games["line"]]
        lines = list(dict.fromkeys(own[game] for game in np.unique(self.turns.game).tolist()))
        number = {line: at for at, line in enumerate(lines)}
        of_game = np.array([number.get(line, 0) for line in own], np.intp)
        return tuple(lines), of_game[self.turns.game]

    @property
    def lines(self) -> tuple[PoolLine, ...]:
        """The lines that these turns are rated on."""
        return self._lines[0]

    @property
    def line(self) -> NDArray[np.intp]:
        """Of each turn, which of the lines is its own."""
        return self._lines[1]

    @property
    def wider(self) -> Floats:
        """How much wider than in the calibration each side's pool scatters about what is expected of ratings."""
        first = np.unique(self.sides.of, return_index=True)[1]
        return np.array([self.lines[number].z for number in self.line[first].tolist()])

    def inside(self, ratings: Floats) -> Floats:
        """Ratings of the pools, one for each turn, on the inner scale of the model."""
        out = np.empty(len(ratings))
        for number, line in enumerate(self.lines):
            own = self.line == number
            out[own] = line.inside(ratings[own])
        return out

    @cached_property
    def scored(self) -> NDArray[np.float32]:
        """Of every move whether it matches, is among three, and its error."""
        return scores(self.turns.choices)

    @cached_property
    def sides(self) -> GameSides:
        """The sides of the games: which of them each turn belongs to, and their ratings."""
        return sides_of(self.turns)

    def lines_of(self, turns: NDArray[np.intp]) -> list[PoolLine]:
        """The lines that these turns are rated on."""
        return [self.lines[number] for number in np.unique(self.line[turns]).tolist()]

    def honesty(self, turns: NDArray[np.intp], rating: float) -> Honesty:
        """What makes the interval of these turns about this rating hold, by the lines they are rated on.

        Games of a pool that has no line of its own may be off by as much as lines lie apart.
        """
        own = self.lines_of(turns) or list(self.lines[:1])
        games = np.unique(self.turns.game[turns]).tolist()
        strange = not all(has_line(self.turns.games["pool"][game]) for game in games)
        each = [line.honesty(rating, self.model.honesty, apart(line, rating) if strange else 0.0) for line in own]
        return replace(max(each, key=lambda one: one.scale_error), power=min(one.power for one in each))

    def chances(self, ratings: Floats) -> Floats:
        """The chance of every move, for players of these ratings in their pools (one for each turn)."""
        return self._chances(self.inside(np.clip(ratings, *ALL_LEVELS)))

    def engine_chances(self, ratings: Floats) -> Floats:
        """The chance of every move in engine-like play, as far above players of these ratings as it is placed."""
        return self._chances(engine_rating(self.inside(np.clip(ratings, *ALL_LEVELS))))

    def _chances(self, inner: Floats) -> Floats:
        choices, z = self.turns.choices, strength(inner)
        return np.exp(log_chances(self.g0 + z[choices.turn] * self.g1, choices.start, choices.turn))

    def measures(self, ratings: Floats) -> Measures:
        """Matches, top-three moves and errors of each turn beside what is expected of these ratings."""
        return measure(self.scored, self.chances(ratings), self.turns.choices)

    @cached_property
    def by_tag(self) -> Measures:
        """The same against the ratings in the tags; what is expected of an unrated player means nothing."""
        ratings = self.sides.rating[self.sides.of]
        return self.measures(np.where(np.isfinite(ratings), ratings, CENTRE))

    def only(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Evidence:
        """The evidence of these turns alone, by mask or by number."""
        rows, _ = rows_of(self.turns.choices.start, chosen)
        weight, share = (None if each is None else each[chosen] for each in (self.weight, self.human))
        plain = None if self.plain is None else (self.plain[0][rows], self.plain[1][rows])
        turns, g0, g1 = self.turns.only(chosen), self.g0[rows], self.g1[rows]
        return Evidence(turns, self.calibration, self.judge, g0, g1, weight, plain, share)

    def estimates(self, groups: Groups, level: float = 0.95) -> list[Estimate]:
        """The rating of each group: the top of the sum of its turns' curves."""
        curve = self.curve if self.weight is None else Curve(self.curve.table * self.weight[:, None], self.curve.grid)
        whole = curve.sum(groups.code, len(groups))
        tops = whole.tops().tolist() if len(whole) else []
        honesty = [self.honesty(turns, top) for turns, top in zip(groups.turns, tops, strict=True)]
        return whole.estimates(honesty, level)


@dataclass(frozen=True)
class GameSides:
    """A row for each side of each game that has turns: game, whether White, the rating and where it is from.

    `of` is the side of each turn; a rating that no tag knows is nan; `taken` tells that it is from another game's tags.
    """

    of: NDArray[np.intp]
    game: NDArray[np.intp]
    white: NDArray[np.bool_]
    rating: Floats
    taken: NDArray[np.bool_]

    def in_group(self, turns: NDArray[np.intp]) -> NDArray[np.intp]:
        """The sides that these turns belong to."""
        return np.unique(self.of[turns])


def sides_of(turns: Moved) -> GameSides:
    """The sides of the games that turns are of."""
    unit, of = np.unique(2 * turns.game + ~turns.white, return_inverse=True)
    game, black = unit // 2, unit % 2
    tags = tag_ratings(turns.games)
    return GameSides(of.reshape(-1), game, black == 0, tags.ratings[game, black], tags.taken[game, black])


def pools_of(turns: Turns, games: NDArray[np.intp]) -> list[str]:
    """The pools of some games, the most frequent first; what is not known passes for slow."""
    return [name for name, _ in Counter(scale_of(turns.games["pool"][int(game)]) for game in games).most_common()]


def weigh(turns: Turns, calibration: Calibration, policy: Network | bool = True) -> Evidence:
    """Judge turns once, for groups of every kind to come.

    `policy` is the network to ask what people would play, True for the one that ships, False for the engine alone. The
    calibration must have been made with it.
    """
    if turns.depth < calibration.depth:
        raise CalibrationError(
            f"turns of depth {turns.depth} cannot be judged by a calibration of {calibration.depth}."
        )
    others = [identity for identity in turns.identities if not calibration.is_for(identity)]
    calibration = calibration.judging(others[0]) if others else calibration
    network = shipped_policy() if policy is True else policy or None
    model = calibration.model(policy=network is not None)
    logs = None
    if network is not None and model.wants_policy:
        if network.identity != calibration.network:
            raise CalibrationError(
                f"the calibration {calibration.name} was made with another policy network: give that one with "
                "--policy, --policy none for the engine alone, or make one with 'assay calibrate --policy'."
            )
        logs = log_policy(turns.choices, network)
    alone = logs is None or BOUNDED in model.names or "engine" not in calibration.models
    own, *plain = exponents([model] if alone else [model, calibration.models["engine"]], turns.choices, logs)
    found = Evidence(turns, calibration, model, *own)
    return found.beside(plain[0]) if plain else found


def unweighed(turns: Turns, calibration: Calibration) -> Evidence:
    """Turns for fits of s and c, where the calibration has no choice model."""
    none = np.zeros(len(turns.choices.moves))
    return Evidence(turns, calibration, None, none, none)
