"""How often moves lose more than so much, beside what is expected of a rating: the tail of the errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.engine.choices import Choices, filled, pawns
from assay.moves.choice.logit import Floats
from assay.moves.evidence import Evidence
from assay.moves.groups import Groups

THRESHOLDS = (0.5, 1.0, 2.0)  # pawns
NAMES = tuple(f"beyond_{100 * threshold:.0f}" for threshold in THRESHOLDS)
BLUNDER_COLUMNS = tuple(name for each in NAMES for name in (each, f"{each}_expected"))


def move_losses(choices: Choices) -> Floats:
    """How many pawns every listed move loses against the best of its turn; one without a value as much as the worst."""
    values = pawns(filled(choices.codes[:, -1:], choices.start))[:, 0].astype(np.float64)
    best = np.maximum.reduceat(values, choices.start[:-1]) if len(choices) else np.zeros(0)
    return np.asarray(best[choices.turn] - values)


def blunder_shares(evidence: Evidence, groups: Groups, ratings: Floats | None) -> list[dict[str, float | None]]:
    """Of each group the share of moves that lose more than each threshold, and the share that is expected.

    `ratings` are what is expected of, one for each turn; without them, or where one is not known, nothing is.
    """
    choices = evidence.turns.choices
    loss = move_losses(choices)
    # A hair of slack: centipawns are not exact in binary.
    beyond = np.stack([loss > threshold + 1e-6 for threshold in THRESHOLDS], axis=1)
    actual = beyond[choices.chosen].astype(np.float64)
    expected = np.full(actual.shape, np.nan)
    if ratings is not None and evidence.judge is not None and len(actual):
        known = np.isfinite(ratings)
        chances = evidence.chances(np.where(known, ratings, 2000.0))
        expected = np.add.reduceat(beyond * chances[:, None], choices.start[:-1], axis=0)
        expected[~known] = np.nan
    return [_shares(actual[turns], expected[turns]) for turns in groups.turns]


def _shares(actual: Floats, expected: Floats) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for at, name in enumerate(NAMES):
        row[name] = float(actual[:, at].mean()) if len(actual) else None
        mean = float(expected[:, at].mean()) if len(expected) else float("nan")
        row[f"{name}_expected"] = mean if np.isfinite(mean) else None
    return row


def with_blunders(columns: Sequence[str]) -> list[str]:
    """The columns of a table with the shares of blunders behind the average error."""
    at = columns.index("ad_expected") + 1
    return [*columns[:at], *BLUNDER_COLUMNS, *columns[at:]]


def of_groups(groups: Groups, ratings: Sequence[float | None]) -> Floats:
    """For each turn the rating of its group (nan: none)."""
    each = np.array([np.nan if rating is None else rating for rating in (*ratings, None)], np.float64)
    return np.asarray(each[groups.code])
