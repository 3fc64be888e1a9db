"""A test that goes on while games come in: an e-value for each player after every turn, with its false alarms bounded.

The e-value is the likelihood of the moves if an engine was followed on a share of them, over that of the player's own
choices, both averaged over what the rating may be, the first over shares as well. In honest play its expectation never
passes 1, whenever one looks, so that it ever passes 1/alpha with a chance of alpha at most (Ville 1939). Taken to a
power below 1 it stays so, and allows for the ways in which turns of real games hang together. Over events of one player
the same product goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.moves.deepchoice import DeepEvidence
from assay.moves.evidence import Evidence
from assay.moves.field import shipped_null
from assay.moves.groups import UNKNOWN, group
from assay.records import dataclass
from assay.table import Column, Table

Floats = NDArray[np.float64]

SHARES = np.array([0.05, 0.1, 0.2, 0.3, 0.5])
# What a rating may be off by, in its standard errors, and how probable that is.
OFF = np.linspace(-2.5, 2.5, 11)
ALPHA = 0.001


def e_process(own: Floats, engines: Floats, power: float = 1.0) -> Floats:
    """The logarithm of the e-value after each turn.

    `own` has the chance of the move played for every rating of OFF (turns x ratings), `engines` its chance where an
    engine is followed, by which engine it may be (turns x guesses); all guesses are averaged.

    >>> own, engines = np.full((40, len(OFF)), 0.3), np.full((40, 1), 0.9)
    >>> e_process(own, engines)[[0, 39]].round(1).tolist()
    [0.4, 26.1]
    """
    weight = np.exp(-(OFF**2) / 2)
    weight /= weight.sum()
    alone = np.cumsum(np.log(own), axis=0) + np.log(weight)
    mixed = np.log((1 - SHARES) * own[:, :, None, None] + SHARES * engines[:, None, :, None])
    together = np.cumsum(mixed, axis=0) + np.log(weight)[:, None, None] - np.log(len(SHARES) * engines.shape[1])
    found: Floats = power * (_log_sum(together.reshape(len(own), -1)) - _log_sum(alone))
    return found


def _log_sum(values: Floats) -> Floats:
    top = values.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(values - top).sum(axis=1)))


@dataclass(frozen=True)
class Watched:
    """A player as the games come in: the e-value by round, the highest so far, and where it passed the bound."""

    player: str
    rating: float
    rounds: tuple[str, ...]
    after: tuple[float, ...]  # the logarithm of the e-value after each round
    highest: float
    passed: str | None

    def values(self) -> dict[str, Any]:
        """The row as columns of a table."""
        return {
            "player": self.player,
            "rating": self.rating,
            "rounds": len(self.rounds),
            "e_value": float(np.exp(min(self.after[-1], 700.0))),
            "highest": float(np.exp(min(self.highest, 700.0))),
            "passed": self.passed,
        }


COLUMNS = ("player", "rating", "rounds", "e_value", "highest", "passed")


def follow_players(
    evidence: Evidence,
    *,
    ratings: Mapping[str, float] | None = None,
    rating_error: float = 0.0,
    alpha: float = ALPHA,
    deep: DeepEvidence | None = None,
) -> list[Watched]:
    """The running test of everybody, games in the order of date, round and file; the highest e-values first.

    The bound is the number of players over alpha: then the chance that it is passed by anybody, at any time, is alpha
    at most. A player without a rating, or without a name, is not followed.
    """
    turns = evidence.turns
    order = _in_order(evidence)
    groups = group(turns, "player")
    bound = np.log(max(len(groups), 1) / alpha)
    rows = []
    for key, mine in zip(groups.keys, groups.turns, strict=True):
        mine = mine[np.argsort(order[mine], kind="stable")]
        asked = (ratings or {}).get(key[0])
        tags = evidence.sides.rating[evidence.sides.of[mine]]
        rating = np.full(len(mine), asked) if asked is not None else tags
        if key[0] == UNKNOWN or not np.isfinite(rating).all():
            continue
        error = max(rating_error, shipped_null().rating_error(float(rating.mean())))
        rows.append(_watched(evidence, deep, key[0], mine, rating, error, float(bound)))
    return sorted(rows, key=lambda row: (-row.after[-1], row.player))


def _in_order(evidence: Evidence) -> NDArray[np.int64]:
    """The place of each turn in time: by date, round, number of the game, ply."""
    turns, games = evidence.turns, evidence.turns.games
    keys = [
        (str(date or ""), _number(round_), at)
        for at, (date, round_) in enumerate(zip(games["date"], games["round"], strict=True))
    ]
    place = np.empty(len(keys), np.int64)
    place[sorted(range(len(keys)), key=lambda at: keys[at])] = np.arange(len(keys))
    return place[turns.game] * 10_000 + turns.ply


def _number(round_: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in (round_ or "").split(".") if part.isdecimal())


def _watched(
    evidence: Evidence,
    deep: DeepEvidence | None,
    player: str,
    mine: NDArray[np.intp],
    rating: Floats,
    error: float,
    bound: float,
) -> Watched:
    if deep is None:
        judged, engines = evidence.only(mine), None
    else:
        judged, engines, _ = deep.own(mine)
    chosen = judged.turns.choices.chosen
    own = np.stack([judged.chances(rating + off * error)[chosen] for off in OFF], axis=1)
    engines = judged.engine_chances(rating)[:, None] if engines is None else engines
    followed = engines[chosen]
    power = evidence.honesty(mine, float(rating.mean())).power
    logs = e_process(np.maximum(own, 1e-12), followed, power)
    games = judged.turns.game
    last = np.flatnonzero(np.append(games[1:] != games[:-1], True))
    names = [_round(judged.turns.games, int(games[at])) for at in last]
    over = np.flatnonzero(np.maximum.accumulate(logs) >= bound)
    passed = _round(judged.turns.games, int(games[over[0]])) if len(over) else None
    return Watched(player, float(rating.mean()), tuple(names), tuple(logs[last].tolist()), float(logs.max()), passed)


def _round(games: Any, game: int) -> str:
    return str(games["round"][game] or game + 1)


def said(rows: list[Watched], alpha: float) -> str:
    """The sentence that comes first."""
    over = [row for row in rows if row.passed is not None]
    bound = len(rows) / alpha
    whole = f"{len(rows)} player{'s' * (len(rows) != 1)}"
    chance = f"in honest play anybody at all passes it, at any time, with a chance of {100 * alpha:g} % at most"
    if not rows:
        return "Nobody can be followed: no player has a rating and turns that count."
    if over:
        named = ", ".join(f"{row.player} (round {row.passed})" for row in over)
        return f"{len(over)} of {whole} passed an e-value of {bound:,.0f}: {named}; {chance}."
    top = rows[0]
    high = f"{top.player} at {float(np.exp(min(top.after[-1], 700.0))):,.2g}"
    return f"None of {whole} has passed an e-value of {bound:,.0f}; the highest now is {high}; {chance}."


def table(rows: list[Watched]) -> Table:
    """The rows as a table."""
    columns = [Column(name, decimals=0 if name == "rating" else 2) for name in COLUMNS]
    return Table([row.values() for row in rows], columns)
