"""Screening as answers: a field beside what is expected of its ratings, and the test that goes on as games come in; the
sentence that comes first, a word for each z, and the table below.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from assay.curve import NOTHING
from assay.engine.analysis import Analysis
from assay.errors import AssayWarning, InputError
from assay.games.completing import ratings_of
from assay.games.outcomes import score_of
from assay.games.trf import is_trf, read_trf
from assay.moves.answers import Ready, check_player, ready
from assay.moves.asked import Analysing, Asked, What
from assay.moves.deepchoice import NODES, DeepEvidence, check_helpers, find_deep, shipped_test, with_deep
from assay.moves.evidence import Evidence, weigh
from assay.moves.field import p_values
from assay.moves.groups import Groups, by_pool
from assay.moves.performance import BLUNDER_COLUMNS, blunder_shares, of_groups, with_blunders
from assay.moves.screening import COLUMNS, ScreenRow, screen_groups
from assay.moves.sequential import Watched, follow_players, said, table
from assay.paths import File
from assay.players import check_ratings, main_ratings, read_ratings
from assay.policy.chances import Network, shipped
from assay.records import dataclass
from assay.table import Answer, Column, Table, columns_of, counted, few

# On record: from here on a z may support other evidence. And the words for a z, highest first.
PASSES = 2.75
WORDS = ((5.0, "extreme"), (4.0, "very high"), (PASSES, "high"))
USUAL, LOW, SILENT = "usual", "low", "no z"
MOST_NAMED = 5
# Over the board, before any evidence: one player in ten thousand.
PRIOR_ODDS = 1e-4
# Shorter words for the text table; CSV and JSON keep the names.
TITLES = {
    "mm_expected": "exp",
    "top3_expected": "exp",
    "ad_expected": "exp",
    "likelihood_ratio": "lr",
    "expected_beyond": "beyond",
}
DIGITS = (
    dict.fromkeys(("rating", "roi", "ipr", "ipr_low", "ipr_high"), 0)
    | dict.fromkeys(("ad", "ad_expected", "q_value", *BLUNDER_COLUMNS), 3)
    | {"p_value": 4, "likelihood_ratio": 1}
)
_SHARE = "moves that engine-like play may explain"


def word_of(z: float | None) -> str:
    """The word for a z; none of them says how it came about.

    >>> [word_of(z) for z in (None, -2.6, 0.0, 2.6, 2.8, 4.1, 6.0)]
    ['no z', 'low', 'usual', 'usual', 'high', 'very high', 'extreme']
    """
    if z is None:
        return SILENT
    return next((word for least, word in WORDS if z >= least), LOW if z < -2 else USUAL)


def sentence(rows: Sequence[ScreenRow], player: str | None = None, by: str = "event") -> str:
    """What an arbiter can act on: who passes, or who comes nearest to it, and how many such chance makes."""
    judged = [row for row in rows if row.z is not None]
    if not judged:
        return "No row has a z: there is nothing to compare."
    people = len({row.player for row in judged}) == len(judged)
    whole = str(len(judged)) if people else f"{len(judged)} rows"
    over = [row for row in judged if (row.z or 0.0) >= PASSES]
    chance = len(judged) * float(p_values(PASSES))
    if over:
        more = f" and {len(over) - MOST_NAMED} more" if len(over) > MOST_NAMED else ""
        named = ", ".join(f"{_name(row, people, by)} at {row.z:.2f}" for row in over[:MOST_NAMED])
        verb = "passes" if len(over) == 1 else "pass"
        said = f"{len(over)} of {whole} {verb} {PASSES}: {named}{more}. By chance {few(chance)} are expected there."
    else:
        top = judged[0]
        nobody = "Nobody" if people else "None"
        beyond = top.expected_beyond or 0.0
        said = (
            f"{nobody} of {whole} passes {PASSES}; the highest is {_name(top, people, by)} at {top.z:.2f}, and "
            f"{few(beyond)} such are expected by chance."
        )
    own = [row for row in judged if row.player == player]
    if own and people and own[0] not in (over or judged[:1]):
        place = judged.index(own[0]) + 1
        said += f" {player} is at {own[0].z:.2f}, number {place} of {len(judged)}."
    return said


def _name(row: ScreenRow, people: bool, by: str) -> str:
    return row.player if people else f"{row.player} ({'round ' if by == 'round' else ''}{row.part})"


def tables(
    rows: Sequence[ScreenRow], shown: Sequence[ScreenRow], by: str, tails: Sequence[Mapping[str, Any]]
) -> tuple[Table, Table]:
    """The table for people, eight columns at most unless all are asked for, and that of programs.

    `tails` are the shares of blunders of each row that is shown.
    """
    pools, parts = len({row.pool for row in rows}) > 1, len({row.part for row in rows}) > 1
    names = [COLUMNS[0], *(["pool"] if pools else []), *with_blunders(COLUMNS)[1:]]
    values = [row.values() | {"pool": row.pool, **tail} for row, tail in zip(shown, tails, strict=True)]
    first = _first(by, parts, pools)
    told = [one | _told(row) for one, row in zip(values, shown, strict=True)]
    hidden = (*first, "note", "ipr", "ipr_low", "ipr_high", *_SHARES)
    rest = [name for name in (*names, "strength") if name not in hidden]
    columns = (
        *(_column(name, by) for name in first),
        *(_column(name, by, wide=True) for name in rest),
        Column("fits", _SHARE, wide=True),
        Column("note", below=True),
    )
    return Table(told, columns), Table(values, columns_of(names))


_SHARES = ("share", "share_low", "share_high")


def _first(by: str, parts: bool, pools: bool) -> tuple[str, ...]:
    """The columns that are always shown: as many as stand side by side on 80 columns."""
    if by == "round":
        return ("player", "part", "opponent", "result", "turns", "z", "verdict")
    if parts and pools:
        return ("player", "part", "pool", "rating", "z", "verdict")
    if parts or pools:
        return ("player", "part" if parts else "pool", "rating", "z", "strength", "verdict")
    return ("player", "rating", "games", "turns", "z", "roi", "strength", "verdict")


def _column(name: str, by: str, wide: bool = False) -> Column:
    titles = TITLES | {"part": by if by != "all" else "part"}
    return Column(name, titles.get(name, ""), DIGITS.get(name, 2), wide)


def _told(row: ScreenRow) -> dict[str, Any]:
    """What people are shown in other words than programs."""
    fits = row.assisted
    return {
        "strength": str(row.ipr or NOTHING),
        "verdict": word_of(row.z),
        "fits": f"anything from {100 * fits.low:.0f} to {100 * fits.high:.0f} % fits" if fits else None,
    }


def conclusion(rows: Sequence[ScreenRow], shown: int | None = None) -> str:
    """What may be concluded from a screening of so many rows, of which perhaps few are shown: the text below them."""
    count = sum(row.z is not None for row in rows)
    silent = (f"{len(rows)} with those that have no z",) if count < len(rows) else ()
    shorter = f" ({'; '.join((*silent, f'{shown} shown'))})" if shown is not None and shown < len(rows) else ""
    chances = ", ".join(f"{few(count * float(p_values(z)))} beyond {z:g}" for z in (2.0, 2.75, 4.0))
    honest = {z: float(p_values(z) / (p_values(z) + PRIOR_ODDS)) for z in (2.75, 4.0, 5.0)}
    shares = ", ".join(f"{100 * share:.2g} % of those beyond {z:g}" for z, share in honest.items())
    return (
        f"{counted(count, 'row')}{shorter}, each compared with what is expected of its rating. In honest play z is "
        f"standard normal: among {count} expect {chances} by chance alone, and the highest of them is high by "
        "selection.\n"
        "Thresholds on record: z 2.50-2.75 can support other evidence, 4 opens an inquiry, 5 is where statistics alone "
        "are discussed. ROI = 50 + 5 z: under 60 normal, 65 about 1 in 750, 70 about 1 in 30,000.\n"
        "Prior odds: over the board assistance is rare, 1 player in 5,000 to 10,000 (online 1-2 %). Even if every "
        f"assisted player came out above the threshold, which is not so, at 1 in 10,000, {shares} would still be "
        "honest.\n"
        "A high z says that the play was unusual for the rating. A rating out of date, a good week, preparation and "
        "easy positions raise it as well. It is a reason to look at games, never a finding about a person."
    )


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


def screen(
    what: What,
    *,
    by: str = "event",
    ratings: Mapping[str, float] | File | None = None,
    null: str = "calibrated",
    player: str | None = None,
    without: Sequence[int] = (),
    rating_error: float = 0.0,
    min_turns: int = 20,
    deep_choice: int | None = None,
    helpers: Sequence[str] = (),
    **analysing: Unpack[Analysing],
) -> ScreenedField:
    """Compare players' moves with what is expected of their ratings, as `assay screen` does.

    `ratings` are those of the tags, or given by name. `deep_choice` is a depth, such as 16: then z is the test of who
    plays what a single line prefers there; `helpers` are further engines whose choices sharpen it. A high z is a reason
    to look at games, never a finding about a person: docs/screening.md.

    >>> import assay
    >>> assay.screen(assay.SAMPLE, ratings={"Deep Blue": 2800.0}, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    asked = Asked(**analysing)
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
    *,
    ratings: Mapping[str, float] | File | None = None,
    player: str | None = None,
    without: Sequence[int] = (),
    rating_error: float = 0.0,
    alpha: float = 0.001,
    deep_choice: int | None = None,
    helpers: Sequence[str] = (),
    **analysing: Unpack[Analysing],
) -> RunningField:
    """The same comparison as a test that goes on while games come in, as `assay screen --sequential` does.

    A row per player with an e-value over all the games, in the order of date and round. In honest play anybody at all
    passes the bound, at any time, with a chance of `alpha` at most.

    >>> import assay
    >>> assay.screen_running(assay.SAMPLE, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    asked = Asked(**analysing)
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
