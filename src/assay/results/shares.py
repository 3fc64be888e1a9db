"""What is known of each rating, with and without what something else than results says: two errors, like with like.

Both are taken from one likelihood at the same ratings, and are those beside the average of the same players: the
matrix of results is a part of the matrix of all, so that nobody is known less well by all than by results.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.results.encounters import Floats
from assay.results.information import EXACT_IF_THIN, NEAR, PROBES, SAMPLES, SEED, Information, random_scores
from assay.results.ratings import Standings


def two_errors(joint: Standings, alone: Standings) -> tuple[Floats, Floats]:
    """Standard errors of all ratings, by everything and by results alone; nan where results compare with nobody.

    `joint` was solved with loose anchors, `alone` without. Errors are those beside the average of the players whom
    results compare with a player; where there is nobody, beside that of the largest such group. Up to 3,000 players
    they are exact, beyond sampled to about six percent; their ratio is closer.

    >>> from assay.results import rate
    >>> games = ["A", "B", "A", "C"], ["B", "A", "C", "A"], [1, 0.5, 0.5, 1]
    >>> known = {"B": (2300, 50), "C": (2350, 50)}  # which tells how far these two lie apart
    >>> joint, alone = rate(*games, white_advantage=0, priors=known), rate(*games, white_advantage=0)
    >>> [error.round().tolist() for error in two_errors(joint, alone)]
    [[78.0, 52.0, 52.0], [78.0, 123.0, 123.0]]
    """
    whole = joint.fit.solution.information
    part = _of_results(whole, alone)
    if whole.size <= EXACT_IF_THIN:
        everything = _beside(_beside(whole.inverse, part).T, part).diagonal()[:-1]
        results = part.inverse.diagonal()[:-1]
    else:
        everything, results = _sampled(whole, part)
    compared = part.shift >= 0
    return np.sqrt(everything), np.where(compared, np.sqrt(results), np.nan)


def _of_results(whole: Information, alone: Standings) -> Information:
    """The part of a matrix that comes from the results which `alone` stands on."""
    table, label, problem = whole.table, alone.fit.groups.label, alone.fit.problem
    weight = np.where(label[table.white] == label[table.black], whole.weight, 0.0)
    extra = np.append(np.zeros(table.players), whole.extra[-1])
    return replace(whole, weight=weight, extra=extra, free=problem.free, shift=problem.shift)


def _beside(x: Floats, part: Information) -> Floats:
    """Columns less what they are on the average of each player's group; of the largest group where there is none."""
    main = part.shift == np.argmax(part.shift_sizes) if len(part.shift_sizes) else part.shift < 0
    centred = part.centre(x)
    rest = np.append(part.shift < 0, False)
    centred[rest] -= x[:-1][main].mean(axis=0)
    return centred


def _sampled(whole: Information, part: Information) -> tuple[Floats, Floats]:
    """Mean squares over random scores, drawn with the same dice for both.

    What both matrices make of them is y by everything and g by results. Then y and g - y are independent, so that the
    variance of g is the sum of theirs: positive terms, whatever the dice.
    """
    generator = np.random.default_rng(SEED)
    known, lacking = np.zeros(whole.size), np.zeros(whole.size)
    for _ in range(0, SAMPLES, PROBES):
        scores, own = random_scores(generator, whole, part)
        by_all = _beside(whole.solve(scores, NEAR), part)
        known += (by_all**2).sum(axis=1)
        # Most of g is y: what is left of its equations is small, and solved as near as the whole of them would be.
        rest = np.where(part.free[:, None], own - part.multiply(by_all), 0.0)
        share = float(np.max(part.lengths(rest) / part.lengths(own)))
        more = np.where(part.free[:, None], part.solve(rest, min(NEAR / share, 0.1) if share else 0.1), -by_all)
        lacking += (more**2).sum(axis=1)
    return known[:-1] / SAMPLES, (known + lacking)[:-1] / SAMPLES
