"""A rating list from results and moves together: all players are solved at once.

What moves (and the learned model, if it is asked for) say of a player goes into the solver of results as a loose
anchor: a rating with an error. So everybody whose games were analysed is known better, those who met them too, and
players without common opponents can be compared. An archive has far more games than anybody analyses, so that a list
starts no engine: it takes what the store has.

What is known of each rating, with and without what something else than results says, is two errors, like with like:
both are taken from one likelihood at the same ratings, and are those beside the average of the same players. The matrix
of results is a part of the matrix of all, so that nobody is known less well by all than by results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from assay.answer.joining import LEARNED, MOVES, RESULTS, UsualResults, joined, joint_of
from assay.answer.rating import JointRatings, check_names, gather, told_prior, voices_of
from assay.answer.voices import Units, Voice, units_of
from assay.curve import GRID, Curve, Estimate, Floats
from assay.engine.analysis import Analysis
from assay.errors import InputError, RatingError, StoreError
from assay.games import Games
from assay.games.outcomes import Outcomes
from assay.moves.analysed import with_analyses
from assay.moves.asked import Asked, What
from assay.pools import pool_of, scale_of
from assay.records import dataclass
from assay.results import rate_table
from assay.results.encounters import tabulate
from assay.results.information import EXACT_IF_THIN, NEAR, PROBES, SAMPLES, SEED, Information, random_scores
from assay.results.ratings import REASON, Standings, confidence_factor
from assay.table import Table, columns_of, counted


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


_COLUMNS = ("rank", "player", "games", "rating", "error", "results", "results_error", "moves", "from_moves", "note")
_TAGS = ("WhiteElo", "BlackElo", "Site", "Event", "TimeControl")
APART = "results do not compare with the others"


def rate_list(
    what: What,
    asked: Asked,
    *,
    witness: Sequence[str],
    level: float = 0.95,
    player: str | None = None,
    without: Sequence[int] = (),
    evals: bool = False,
) -> JointRatings:
    """All players of one pool at once; see :func:`assay.rate`."""
    if RESULTS not in witness:
        raise InputError("a list stands on results: leave 'results' among the witnesses.")
    if isinstance(what, Analysis):
        raise InputError("a list stands on results: give it the games, the store has their analyses.")
    lists = asked.read(what)
    games, listed = lists.games, list(lists.remarks)
    played = _Played.read(games, asked.pool, without, aliases=asked.aliases, keep_duplicates=asked.keep_duplicates)
    check_names([] if player is None else [player], played.players)
    heard = _heard(games, played, [name for name in witness if name != RESULTS], level, asked, evals)
    usual = joint_of(played.pool).usual
    alone = _solve(played, {}, usual, played.tags)
    both = _solve(played, heard.anchors, usual, alone.ratings) if heard.anchors else alone
    return _answer(played, alone, both, heard, level, player, listed)


@dataclass(frozen=True)
class _Played:
    """The results of all games as codes, the pool that they are of, and the mean rating in the tags of each player."""

    outcomes: Outcomes
    pool: str
    tags: Floats

    @property
    def players(self) -> tuple[str, ...]:
        return self.outcomes.players

    @classmethod
    def read(cls, games: Games, pool: str | None, without: Sequence[int], **how: Any) -> _Played:
        found = games.outcomes(tags=_TAGS, **how)
        if without:
            left = np.zeros(len(found.outcome), np.bool_)
            if not 1 <= min(without) <= max(without) <= len(left):
                raise InputError(f"--without {max(without)}: there are {counted(len(left), 'game')}.")
            left[np.array(without) - 1] = True
            found = found.leaving_out(left)
        total, count = np.zeros(len(found.players)), np.zeros(len(found.players))
        for side, tag in ((found.white, "WhiteElo"), (found.black, "BlackElo")):
            codes, texts = found.tags[tag]
            values = np.array([*(float(text) if text.isdecimal() else np.nan for text in texts), np.nan])[codes]
            known = np.isfinite(values) & (values > 0) & (side >= 0) & found.counted
            total += np.bincount(side[known], values[known], minlength=len(total))
            count += np.bincount(side[known], minlength=len(total))
        tags = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        return cls(replace(found, tags={}), pool or _pool_of(found), tags)


def _pool_of(found: Outcomes) -> str:
    """The pool of the games, or a sentence where there are several."""
    columns = [found.tags[tag] for tag in _TAGS[2:]]
    places, number = np.unique(
        np.stack([codes[found.counted] for codes, _ in columns], axis=1), axis=0, return_counts=True
    )
    pools: dict[str, int] = {}
    for place, count in zip(places.tolist(), number.tolist(), strict=True):
        texts = [texts[code] if code >= 0 else "" for code, (_, texts) in zip(place, columns, strict=True)]
        name = scale_of(pool_of(*texts))
        pools[name] = pools.get(name, 0) + count
    if not pools:
        raise InputError("there are no games with a result.")
    if len(pools) > 1:
        told = ", ".join(f"{name} {count}" for name, count in sorted(pools.items(), key=lambda one: -one[1]))
        raise InputError(
            f"a list has one scale, and these games are of {counted(len(pools), 'pool')} ({told}): "
            "choose one with --where, or say --pool."
        )
    return next(iter(pools))


@dataclass(frozen=True)
class _Heard:
    """What is said of players besides their results, as ratings with errors; and what is to be told of it."""

    anchors: Mapping[str, tuple[float, float]]
    remarks: Sequence[str] = ()


def _heard(
    games: Games,
    played: _Played,
    witness: Sequence[str],
    level: float,
    asked: Asked,
    evals: bool,
) -> _Heard:
    """What moves and the learned model say of the players whose games are analysed."""
    if not witness:
        return _Heard({})
    chosen, remarks = asked.calibrated(), list[str]()
    if LEARNED in witness or evals:
        some = list(enumerate(games))
    else:
        try:
            some = list(with_analyses(enumerate(games), asked.place, chosen, asked.calibration is not None))
        except StoreError as error:
            return _Heard({}, [f"Moves are not heard: {error}"])
        remarks.append(f"Of {counted(len(some), 'game')} there are stored analyses ('assay analyse' makes more).")
    counts = played.outcomes.counted
    some = [(at, game) for at, game in some if at < len(counts) and counts[at]]
    if not some:
        return _Heard({}, remarks)
    # A list never starts an engine. Copies do not count as results, and are left out above; names are told below.
    stored = replace(asked, no_analysis=True, pool=played.pool, keep_duplicates=True, aliases=None)
    material = gather([game for _, game in some], stored, MOVES in witness, evals=evals)
    # Results have one name for each person, whatever the spelling.
    names = played.players
    at = [number for number, _ in some]
    material = replace(
        material,
        frame=material.frame.with_columns(
            pl.Series("white", [names[code] for code in played.outcomes.white[at].tolist()], pl.String),
            pl.Series("black", [names[code] for code in played.outcomes.black[at].tolist()], pl.String),
        ),
    )
    units = units_of(material.frame, material.counted)
    units, voices = voices_of(material, units, None, witness, level)
    return _Heard(_anchors(units, voices), [*remarks, *material.remarks])


def _anchors(units: Units, voices: Sequence[Voice]) -> dict[str, tuple[float, float]]:
    """What moves and the learned model say of each player together, as a rating with its error.

    A curve that still rises at an end of the scale ("at least") has no top; its mean within the scale stands for it.
    """
    found = {}
    for at, (name, pool, _) in enumerate(units.keys):
        curves = {voice.kind: voice.curves[at] for voice in voices if voice.says(at)}
        if curves:
            fine, (row,) = Curve(joined(curves, joint_of(pool, int(units.games[at])))[None], GRID).fine()
            chance = np.exp(row - row.max())
            mean = float(chance @ fine / chance.sum())
            found[name] = mean, float(np.sqrt(chance @ (fine - mean) ** 2 / chance.sum()))
    return found


def _solve(
    played: _Played, anchors: Mapping[str, tuple[float, float]], usual: UsualResults, start: Floats
) -> Standings:
    """The ratings by results and what else is known; the solver starts from these, where they are known."""
    table = tabulate(*played.outcomes.finished(), len(played.players))
    near = {name: one for name, one in zip(played.players, start.tolist(), strict=True) if math.isfinite(one)}
    known = {name: anchors[name] for name in played.players if name in anchors}
    # The level is that of the anchors; who starts from there has a shorter way.
    away = [one - near[name] for name, (one, _) in known.items() if name in near]
    level = float(np.median(away)) if away else 0.0
    tags = played.tags[np.isfinite(played.tags)]
    mean = float(tags.mean()) if len(tags) else 2300.0
    how: dict[str, Any] = {"priors": known} if known else {"average": mean}
    try:
        return rate_table(
            played.players,
            table,
            white_advantage=usual.white,
            draw_rate=float(usual.drawn(mean)),
            likelihood=True,
            start={name: one + level for name, one in near.items()},
            **how,
        )
    except RatingError as error:
        raise InputError(f"these games make no list: {error}") from error


def _answer(
    played: _Played,
    alone: Standings,
    both: Standings,
    heard: _Heard,
    level: float,
    player: str | None,
    listed: Sequence[str],
) -> JointRatings:
    factor, names = confidence_factor(level), played.players
    # Results alone compare those who are connected: of several groups the largest has ratings.
    largest = np.bincount(alone.pool[alone.pool >= 0]).argmax() if (alone.pool >= 0).any() else 0
    comparable = (alone.pool == largest) & np.isfinite(alone.ratings) & alone.bounded
    known = np.isfinite(both.ratings) & both.bounded
    if heard.anchors:
        error, results_error = two_errors(both, alone)
    else:
        known &= comparable
        error = results_error = alone.deviation
    level_known = known & np.isfinite(played.tags)
    # The level is that of the ratings in the tags, with moves as without; where there are none, that of the moves. The
    # median: groups that hang on the others by few games may lie hundreds of points off.
    shift = float(np.median((played.tags - both.ratings)[level_known])) if level_known.any() else 0.0
    both_level = known & comparable
    shift_alone = float(np.median((both.ratings + shift - alone.ratings)[both_level])) if both_level.any() else 0.0
    value, own = both.ratings + shift, alone.ratings + shift_alone
    has = {name: at for at, name in enumerate(names)}
    said = {has[name]: one for name, one in heard.anchors.items() if name in has}
    rows, estimates = [], {}
    order = np.argsort(-np.where(known, value, -np.inf), kind="stable")
    counts = both.played
    order = order[(counts[order] > 0)]
    for rank, at in enumerate(order.tolist(), 1):
        name, there = names[at], bool(known[at])
        half = factor * float(error[at]) if there else np.nan
        rating = float(value[at])
        note = "" if comparable[at] or not there else APART
        if not there:
            note = REASON.get(int(both.status[at])) or APART
        found = (
            Estimate(rating, rating - half, rating + half, level, note) if there else Estimate(level=level, note=note)
        )
        estimates[name] = found
        if player is not None and player != name:
            continue
        anchor = said.get(at)
        share = 1.0 - float(error[at] / results_error[at]) ** 2 if comparable[at] else 1.0
        rows.append(
            {
                "rank": rank if there else None,
                "player": name,
                "games": int(counts[at]),
                "rating": rating if there else None,
                "error": half if there else None,
                "results": float(own[at]) if comparable[at] else None,
                "results_error": factor * float(results_error[at]) if comparable[at] else None,
                "moves": anchor[0] + shift if anchor else None,
                "from_moves": share if there else None,
                "note": note,
            }
        )
    head = f"All players at once, errors at {level:.0%}; {counted(len(said), 'player')} known by their moves as well."
    decimals = dict.fromkeys(("rating", "error", "results", "results_error", "moves"), 0) | {"from_moves": 2}
    outcomes = played.outcomes
    problems = outcomes.skipped.copy()
    if outcomes.unfinished:
        problems["no result"] += outcomes.unfinished
    return JointRatings(
        said=(),
        head=head,
        shown=Table(rows, columns_of(_COLUMNS, decimals=decimals, below=("note",), titles={"results_error": "error"})),
        estimates=estimates,
        problems=problems,
        remarks=[*listed, *heard.remarks, told_prior("none")],
    )
