"""Screening as answers: a field beside what is expected of its ratings, and the test that goes on as games come in."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from assay.curve import NOTHING
from assay.engine.analysis import Analysis
from assay.errors import AssayWarning, InputError
from assay.games.completing import ratings_of
from assay.games.outcomes import score_of
from assay.games.trf import is_trf, read_trf
from assay.moves.answers import Ready, check_player, ready
from assay.moves.asked import Asked, What
from assay.moves.deepchoice import NODES, DeepEvidence, check_helpers, find_deep, shipped_test, with_deep
from assay.moves.evidence import Evidence, weigh
from assay.moves.findings import conclusion, sentence, tables
from assay.moves.groups import Groups, by_pool
from assay.moves.performance import blunder_shares, of_groups
from assay.moves.screening import ScreenRow, screen_groups
from assay.moves.sequential import ALPHA, Watched, follow_players, said, table
from assay.paths import File
from assay.players import check_ratings, main_ratings, read_ratings
from assay.policy.chances import Network, shipped
from assay.records import dataclass
from assay.table import Answer, counted

Ratings = Mapping[str, float] | File | None


@dataclass(frozen=True, eq=False, kw_only=True)
class ScreenedField(Answer):
    """Players beside what is expected of their ratings; `field` has the rows of all, whoever is shown.

    `evidence` are the turns that were judged, `deep` their deep choices if these were asked for, `ratings` those that
    were given in the place of the tags'.
    """

    field: Sequence[ScreenRow]
    evidence: Evidence
    deep: DeepEvidence | None
    ratings: Mapping[str, float] | None


@dataclass(frozen=True, eq=False, kw_only=True)
class RunningField(Answer):
    """Players as the games come in, with an e-value each; `players` has them by round."""

    players: Sequence[Watched]


def screen_field(
    what: What,
    asked: Asked,
    *,
    by: str = "event",
    ratings: Ratings = None,
    null: str = "calibrated",
    player: str | None = None,
    without: Sequence[int] = (),
    rating_error: float = 0.0,
    min_turns: int = 20,
    deep_choice: int | None = None,
    helpers: Sequence[str] = (),
) -> ScreenedField:
    """Compare moves with what ratings lead to expect; see :func:`assay.api.screen`."""
    _check_deep(what, deep_choice, helpers, asked)
    found, given = _compared(what, ratings, without, asked)
    found = _finished(found)
    check_player(found.turns, player)
    evidence, groups = weigh(found.turns, found.calibration, found.policy), by_pool(found.turns, "player", by)
    # The field is everybody, whoever is shown: a row by itself would pass for the only one that was looked at.
    error = rating_error or found.errors
    off: tuple[str, ...] = ()
    if found.errors and not rating_error:
        least, most = min(found.errors.values()), max(found.errors.values())
        off = (f"Errors of the ratings, by K: {least:.0f} to {most:.0f} Elo; they widen what is expected.",)
    deep, told = _deep(evidence, what, deep_choice, helpers, found.policy, asked)
    rows = screen_groups(evidence, groups, ratings=given, null=null, rating_error=error, min_turns=min_turns, deep=deep)
    shown = [row for row in rows if player in (None, row.player)]
    labels = [_label(row, groups) for row in rows]
    rated = dict(zip(labels, (row.rating for row in rows), strict=True))
    tails = blunder_shares(evidence, groups, of_groups(groups, [rated.get(label) for label in groups.labels]))
    of_label = dict(zip(groups.labels, tails, strict=True))
    people, programs = tables(rows, shown, by, [of_label.get(_label(row, groups), {}) for row in shown])
    return ScreenedField(
        field=rows,
        evidence=evidence,
        deep=deep,
        ratings=given,
        shown=people,
        data=programs,
        head=sentence(rows, player, by),
        foot=conclusion(rows, len(shown)),
        estimates={row.player: replace(row.ipr or NOTHING, note=row.note) for row in reversed(rows)},
        problems=found.problems,
        remarks=(*found.remarks, *off, *told),
    )


def _label(row: ScreenRow, groups: Groups) -> str:
    """The name of the group that a row is of."""
    key = (row.player, row.part, str(row.pool))
    return " / ".join(key[: len(groups.keys[0])])


def screen_running(
    what: What,
    asked: Asked,
    *,
    ratings: Ratings = None,
    player: str | None = None,
    without: Sequence[int] = (),
    rating_error: float = 0.0,
    alpha: float = ALPHA,
    deep_choice: int | None = None,
    helpers: Sequence[str] = (),
) -> RunningField:
    """Follow players as games come in; see :func:`assay.api.screen_running`."""
    if not 0 < alpha < 1:
        raise InputError(f"a rate of false alarms of {alpha:g} there is not: give one such as 0.001.")
    _check_deep(what, deep_choice, helpers, asked)
    found, given = _compared(what, ratings, without, asked)
    check_player(found.turns, player)
    evidence = weigh(found.turns, found.calibration, found.policy)
    deep, told = _deep(evidence, what, deep_choice, helpers, found.policy, asked)
    rows = follow_players(evidence, ratings=given, rating_error=rating_error, alpha=alpha, deep=deep)
    shown = [row for row in rows if player in (None, row.player)]
    return RunningField(
        players=rows,
        shown=table(shown),
        head=said(rows, alpha),
        problems=found.problems,
        remarks=(*found.remarks, *told),
    )


def _compared(
    what: What, ratings: Ratings, without: Sequence[int], asked: Asked
) -> tuple[Ready, Mapping[str, float] | None]:
    """Turns to judge, and the ratings that were given in the place of the tags', by the names that count."""
    report, given = None, None
    if ratings == "fide":
        asked, ratings = replace(asked, rating="fide"), None
    if not isinstance(ratings, str | PathLike):
        given = ratings
    elif is_trf(Path(ratings)):
        report = read_trf(ratings)
    else:
        given = read_ratings(ratings)

    def check(players: set[str], aliases: Mapping[str, str]) -> None:
        nonlocal given
        if report is not None:
            mains = {aliases.get(name, name) for name in players}
            given = ratings_of(report, mains, lambda text: warnings.warn(text, AssayWarning, stacklevel=2))
        elif isinstance(ratings, str | PathLike) and given is not None:
            check_ratings(ratings, given, players | {aliases.get(name, name) for name in players})
            given = main_ratings(ratings, given, aliases)

    return ready(what, asked, without=without, check=check), given


def _finished(found: Ready) -> Ready:
    """The same without games that have no result; which they are is said."""
    known = np.array([score_of(result) is not None for result in found.turns.games["result"]], np.bool_)
    lacking = np.unique(found.turns.game[~known[found.turns.game]])
    if not len(lacking):
        return found
    turns = found.turns.only(known[found.turns.game])
    if not len(turns):
        raise InputError("no game here has a result: games are screened when they are over; --sequential follows them.")
    numbers = ", ".join(str(game + 1) for game in lacking[:10]) + (", ..." if len(lacking) > 10 else "")
    told = f"Left out, without a result: {counted(len(lacking), 'game')} ({numbers})."
    return replace(found, turns=turns, remarks=(*found.remarks, told))


def _place(what: What, asked: Asked) -> Path:
    return what.store.path if isinstance(what, Analysis) else asked.place


def _check_deep(what: What, depth: int | None, helpers: Sequence[str], asked: Asked) -> None:
    """Refuse what cannot be asked: a sentence now is better than one after an hour of analysis."""
    if helpers and depth is None:
        raise InputError("other engines are asked beside the deep choice: give --deep-choice 16 with --helper.")
    check_helpers(helpers, _place(what, asked), asked.no_analysis)


def _deep(
    evidence: Evidence,
    what: What,
    depth: int | None,
    helpers: Sequence[str],
    policy: Network | bool,
    asked: Asked,
) -> tuple[DeepEvidence | None, list[str]]:
    """The same evidence with the deep choices of its turns, if they are asked for, and what is to be said of them."""
    if depth is None:
        return None, []
    network = shipped() if policy is True else policy
    if not network:
        raise InputError("the deep choice is judged beside what people would play: leave out --policy none.")
    test = shipped_test(evidence.turns.depth, bool(helpers))
    place = _place(what, asked)
    told = [f"Deep choice: one line to depth {depth}. How often honest players find it rests on {test.turns:,} turns."]
    engine = evidence.turns.identities[0].engine
    if depth != test.taste.deep or engine != test.engine:
        told.append(f"It was measured with {test.engine} to depth {test.taste.deep}: z is rougher for it.")
    if helpers:
        several = counted(len(helpers), "further engine")
        told.append(f"Beside it the choice of {several}, {NODES:,} nodes a position.")
    found = find_deep(
        evidence.turns,
        place,
        depth,
        engine=asked.engine,
        helpers=helpers,
        no_analysis=asked.no_analysis,
        workers=asked.workers,
        quiet=asked.quiet,
    )
    return with_deep(evidence, found, network), told
