"""Ratings from moves as answers: by groups, through a game, beside what is expected of ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from difflib import get_close_matches
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from assay.curve import Estimate
from assay.engine.analysis import Analysis
from assay.engine.identity import DEFAULT, find, jury
from assay.engine.turns import Turns
from assay.errors import EngineError, InputError, ModelError
from assay.games import Games, read
from assay.games.duplicates import Seen
from assay.games.people import told_alike
from assay.games.split import players_of
from assay.games.stats import told_endings
from assay.games.stream import Paths
from assay.moves.analysed import jury_turns, turns_in
from assay.moves.asked import Analysing, Asked, What
from assay.moves.by_fit import ByFit
from assay.moves.calibration import Calibration, for_engine
from assay.moves.evals import with_evals
from assay.moves.evals_rating import rate_evals, scales_told, told_units, turns_with_evals
from assay.moves.evidence import Evidence, unweighed, weigh
from assay.moves.groups import Moved, by_pool, games_in_pool, in_periods, in_pool, rename, renamed, weights_of
from assay.moves.performance import (
    BLUNDER_COLUMNS,
    BLUNDER_NAMES,
    CHOICE,
    How,
    Row,
    blunder_shares,
    rate_groups,
    sort_rows,
    with_blunders,
)
from assay.moves.performance import COLUMNS as IPR_COLUMNS
from assay.moves.review import Running, running
from assay.paths import File
from assay.policy.chances import Network
from assay.pools import FIRST, words_of
from assay.records import dataclass
from assay.scales import in_fide
from assay.table import Answer, Table, columns_of, counted, reasons, there_are, told_copies

# Shorter words for the text table; CSV and JSON keep the names.
TITLES = {
    "performance": "perf",
    "mm_expected": "exp",
    "top3_expected": "exp",
    "ad_expected": "exp",
}
EVAL_COLUMNS = ("games", "turns", "elo", "performance", "ipr", "low", "high", "acpl", "loss", "note")
_IPR_WIDE = ("mm_expected", "top3", "top3_expected", "ad_expected", "s", "c", "method")


@dataclass(frozen=True)
class Ready:
    """Turns, what to judge them by, and what is to be said of them."""

    turns: Turns
    calibration: Calibration
    policy: Network | bool
    problems: Counter[str]
    remarks: tuple[str, ...]
    errors: Mapping[str, float] = field(default_factory=dict)  # of the ratings, if lists tell them


def ready(
    what: What,
    asked: Asked,
    *,
    game: int | None = None,
    without: Sequence[int] = (),
    check: Callable[[set[str], Mapping[str, str]], None] | None = None,
    by_fit: ByFit | None = None,
) -> Ready:
    """The turns of games, analysed where the store lacks them, and the calibration and policy to judge them by.

    `game` takes one game alone, `without` leaves some out, by their numbers. `check` is told who plays, and the main
    names of other names, before any engine starts. `by_fit` asks for Regan's way, on a scale of its own.
    """
    chosen = asked.calibrated(what.depth if isinstance(what, Analysis) else None, choice=by_fit is None)
    on_scale = list[str]()
    if by_fit is not None:
        chosen, on_scale = by_fit.calibrated(chosen, asked.place)
    network = asked.network
    duplicates, problems, names = "", Counter[str](), dict[str, str]()
    errors: dict[str, float] = {}
    told: Sequence[str] = ()
    alike: Sequence[str] = ()
    if isinstance(what, Analysis):
        if by_fit is not None and by_fit.jury:
            raise InputError("an analysis is by one engine: give a jury the games themselves.")
        turns, problems = turns_in(what, chosen), what.problems
    else:
        lists = asked.read(what)
        found, errors, told = lists.games, dict(lists.errors), lists.remarks
        games, seen = found.all(), Seen()
        problems = found.problems
        names = asked.names(games)
        if check is not None:
            check(players_of(games), names)
        if game is not None:
            if game > len(games):
                raise InputError(f"{there_are(len(games), 'game')} in {found.named}, and no game {game}.")
            games = games[game - 1 : game]
        once = np.array([asked.keep_duplicates or seen.add(one) for one in games], np.bool_)
        alike = told_alike([one for one, counts in zip(games, once, strict=True) if counts], names)
        if by_fit is not None and by_fit.jury:
            turns = jury_turns(games, asked.place, chosen, by_fit.jury, counted=once)
        else:
            named, strict = True if by_fit is not None else None, by_fit is not None
            with asked.analysed(games, chosen, once, named=named, strict=strict) as analysis:
                turns = turns_in(analysis, chosen)
        duplicates = str(seen.duplicates) if seen.duplicates else ""
    if by_fit is None:
        chosen = for_engine(turns.identities[0], chosen.depth, chosen if asked.calibration else None)
    remarks = [*told_of(turns, problems, chosen), *on_scale]
    remarks += told_copies(duplicates)
    remarks += alike
    if not len(turns):
        raise InputError("these games have no turns to judge: all are decided, forced, repeated or not analysed.")
    turns = in_pool(turns, asked.pool, asked.scale_year)
    remarks += told_scales(turns)
    remarks += told_endings(turns.games["termination"])
    turns = rename(turns, names) if names else turns
    if without:
        kept = _without(turns, without)
        numbers = ", ".join(str(one) for one in sorted(set(without)))
        remarks.append(f"Left out as asked: game {numbers}; {counted(len(turns) - len(kept), 'turn')}.")
        turns = kept
    errors = {names.get(name, name): error for name, error in errors.items()}
    return Ready(turns, chosen, network, problems + turns.problems, (*remarks, *told), errors)


def analyse(what: Paths | Games, **analysing: Unpack[Analysing]) -> Analysis:
    """Games with the values of all their moves: what the store lacks is analysed, what it has costs nothing.

    The analysis holds the store open: use it in a `with` block. `rate_moves`, `posterior` and `screen` take it in the
    place of games, so that these are parsed and valued once for all of them.

    >>> import assay
    >>> assay.analyse(assay.SAMPLE, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    asked = Asked(**analysing)
    if unused := asked.given("policy", "aliases", "pool", "scale_year", "rating"):
        raise InputError(f"an analysis holds games as they are: give {unused[0]} to what rates it.")
    games, seen = asked.read(what).games.all(), Seen()
    once = np.array([asked.keep_duplicates or seen.add(one) for one in games], np.bool_)
    return asked.analysed(games, asked.calibrated(), once)


def told_of(turns: Turns, problems: Counter[str], calibration: Calibration) -> list[str]:
    """What a rating rests on, and what was left out."""
    told = problems + turns.problems
    return [
        *([f"Games left out or damaged: {reasons(told)}."] if told else []),
        f"{counted(turns.games.height, 'game')}, {counted(len(turns), 'turn')} counted; "
        f"left out: {reasons(turns.excluded) or 'none'}.",
        f"Analysed by {jury(turns.identities).engine} at depth {turns.depth}; calibration {calibration.name}.",
        *([calibration.stand_in.remedy] if calibration.stand_in else []),
    ]


def told_scales(turns: Turns) -> list[str]:
    """Which lines the games are rated on, where it is not the model's own scale alone."""
    lines = Counter(words_of(turns.games["line"][int(game)] or FIRST) for game in np.unique(turns.game))
    each = [f"{words} ({counted(games, 'game')})" for words, games in lines.most_common()]
    return [] if set(lines) == {words_of(FIRST)} else [f"Scale: {'; '.join(each)}."]


def _without(turns: Turns, games: Sequence[int]) -> Turns:
    """The turns of all games but some; numbers stay as they are."""
    if max(games) > turns.games.height or min(games) < 1:
        raise InputError(f"--without {max(games)}: {there_are(turns.games.height, 'game')}.")
    kept = turns.only(~np.isin(turns.game, np.array(games) - 1))
    if not len(kept):
        raise InputError("with these games left out there are no turns to judge.")
    return kept


def check_player(turns: Moved, player: str | None) -> None:
    """Refuse a name that nobody bears, with the nearest one."""
    names = sorted({str(name) for name in turns.player if name is not None})
    if player is not None and player not in names:
        near = get_close_matches(player, names, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"nobody called {player!r} moves in these games.{hint}")


@dataclass(frozen=True, eq=False, kw_only=True)
class MoveRatings(Answer):
    """Ratings from moves, a row for each group."""

    groups: Sequence[Row]
    by: str


def rate_moves(
    what: What,
    *,
    by: str = "player",
    player: str | None = None,
    without: Sequence[int] = (),
    evals: bool = False,
    fide: bool = False,
    method: str = "choice",
    interval: str = "clustered",
    level: float = 0.95,
    min_turns: int = 1,
    seed: int = 0,
    reference: File | None = None,
    jury: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    periods: Sequence[str] = (),
    weights: Sequence[str] = (),
    **analysing: Unpack[Analysing],
) -> MoveRatings:
    """Rate players by their moves, as `assay ipr` does: `[name]` is the intrinsic performance rating of a player.

    For Regan's way there are `reference` (rated games, or the folder of a reference set, to fit its line on), a `jury`
    of several engines whose analyses are stored, and `settings`: model, curve, k, cap, tie, scale.

    `by` makes other groups of the turns (game, phase, event, year, ...). Positions that the store lacks are analysed
    first, unless `no_analysis`; two calls on one :class:`Analysis` value them once. With `evals` the evaluations that
    the games carry are all that counts, and no engine runs. `periods`, such as "1976-1979", part the rows by time;
    `weights` make turns count less, as 'speed == "rapid": 0.5' does. `fide` adds what Lichess ratings would be there.
    docs/rating.md explains the rest.

    >>> import assay
    >>> assay.rate_moves(assay.SAMPLE, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    how, asked = How(method, interval, level, min_turns, seed), Asked(**analysing)
    by_fit = ByFit(method, settings or {}, reference, jury) if method != CHOICE else None
    if by_fit is None and (settings or reference or jury):
        raise ModelError("settings, a reference set and a jury are for fits of s and c: give method='regan' with them.")
    if weights and by_fit:
        raise InputError(f"weights are for the choice model: leave out --weight, or --method {method}.")
    if evals or (why := _only_evals(what, asked)):
        if periods or weights:
            raise InputError("evaluations alone know no periods and no weights: leave these out, or --evals.")
        remark = [] if evals else [why]
        return _rate_by_evals(what, asked, by=by, player=player, without=without, fide=fide, how=how, said=remark)
    found = ready(what, asked, without=without, by_fit=by_fit)
    check_player(found.turns, player)
    turns = found.turns if player is None else found.turns.only(found.turns.player == player)
    turns = in_periods(turns, periods) if periods else turns
    heads = ("period", by) if periods and by != "period" else (by,)
    groups = by_pool(turns, *heads)
    judge = found.calibration
    evidence = weigh(turns, judge, found.policy) if judge.models else unweighed(turns, judge)
    weight, weighed = weights_of(turns, weights) if weights else (None, [])
    rows = rate_groups(replace(evidence, weight=weight), groups, how)
    keys = dict(zip(groups.labels, groups.keys, strict=True))
    names = {label: " / ".join(key[: len(heads)]) for label, key in keys.items()}
    shares = dict(zip(groups.labels, blunder_shares(evidence, groups, _tags(evidence)), strict=True))
    if by in ("player", "opponent"):
        rows = sort_rows(rows)
        rows = sorted(rows, key=lambda row: keys[row.group][0]) if len(heads) > 1 else rows
    decimals = dict.fromkeys(("elo", "performance", "ipr", "low", "high"), 0)
    decimals |= dict.fromkeys(("ad", "ad_expected", "s", "c", *BLUNDER_COLUMNS), 3)
    decimals |= dict.fromkeys(FIDE_COLUMNS, 0)
    columns = _with_fide(_with_pool([*heads, *with_blunders(IPR_COLUMNS)[1:]], [row.pool for row in rows]), fide)
    values = [
        row.values()
        | dict(zip(heads, keys[row.group], strict=False))
        | {
            name: share
            for name, share in shares[row.group].items()
            if row.expected is not None or name in BLUNDER_NAMES
        }
        | {"pool": row.pool}
        | fide_cells(row.pool, row.estimate)
        for row in rows
    ]
    return MoveRatings(
        groups=rows,
        by=by,
        shown=Table(
            values,
            columns_of(columns, decimals=decimals, titles=TITLES, wide=(*_IPR_WIDE, *BLUNDER_COLUMNS), below=("note",)),
        ),
        estimates={str(names[row.group]): replace(row.estimate, note=row.note) for row in reversed(rows)},
        problems=found.problems,
        remarks=(*found.remarks, *weighed),
    )


def _tags(evidence: Evidence) -> NDArray[np.float64]:
    """The rating in the tags of each turn's mover, nan where there is none."""
    sides = evidence.sides
    return sides.rating[sides.of]


def _only_evals(what: What, asked: Asked) -> str:
    """Why games are rated from their evaluations alone though nobody asked for it; nothing if they are not."""
    if isinstance(what, Analysis) or asked.given(
        "no_analysis", "store", "calibration", "depth", "quick", "deep", "engine"
    ):
        return ""
    try:
        find(DEFAULT)
    except EngineError:
        if with_evals(read(what, where=asked.where).all()):
            return "No engine is installed, and all games carry evaluations: rated from these alone, as with --evals."
    return ""


def _rate_by_evals(
    what: What,
    asked: Asked,
    *,
    by: str,
    player: str | None,
    without: Sequence[int],
    fide: bool,
    how: How,
    said: Sequence[str],
) -> MoveRatings:
    """Rate groups from the evaluations in the games; what an engine would need is not looked at."""
    if isinstance(what, Analysis):
        raise InputError("an analysis has the values of all moves: rate it without evals, or give the games.")
    if how.method != CHOICE:
        raise InputError(f"evaluations alone know no --method {how.method}: leave it out, or --evals.")
    lists = asked.read(what)
    found, games, seen = lists.games, lists.games.all(), Seen()
    counts = np.array([asked.keep_duplicates or seen.add(one) for one in games], np.bool_)
    if without and (max(without) > len(games) or min(without) < 1):
        raise InputError(f"--without {max(without)}: {there_are(len(games), 'game')}.")
    counts[np.array(without, np.intp) - 1] = False
    turns = turns_with_evals(games, counts)
    pooled = asked.pool or asked.scale_year
    tags = games_in_pool(turns.games, asked.pool, asked.scale_year) if pooled else turns.games
    turns = turns.tagged(renamed(tags, asked.names(games)) if asked.aliases else tags)
    check_player(turns, player)
    mine = turns if player is None else turns.only(turns.player == player)
    groups = by_pool(mine, by)
    rows = rate_evals(mine, groups, level=how.level, min_turns=how.min_turns)
    names = {label: key[0] for label, key in zip(groups.labels, groups.keys, strict=True)}
    rows = sort_rows(rows) if by in ("player", "opponent") else rows
    told = found.problems + turns.plies.problems
    remarks = [
        *said,
        *lists.remarks,
        *([f"Games left out or damaged: {reasons(told)}."] if told else []),
        f"{counted(int(counts.sum()), 'game')}, {counted(len(turns), 'turn')} with evaluations; "
        f"left out: {reasons(turns.excluded) or 'none'}.",
        f"Rated from the evaluations alone, times {told_units(turns)}. Scale: {scales_told(turns)}.",
        *told_endings(turns.games["termination"]),
        *told_copies(str(seen.duplicates) if seen.duplicates else ""),
    ]
    decimals = dict.fromkeys(("elo", "performance", "ipr", "low", "high", "acpl"), 0) | {"loss": 2}
    decimals |= dict.fromkeys(FIDE_COLUMNS, 0)
    columns = _with_fide(_with_pool([by, *EVAL_COLUMNS], [row.pool for row in rows]), fide)
    wide = ("performance", "acpl", "loss") if fide else ("loss",)
    values = [
        row.values()
        | fide_cells(row.pool, row.estimate)
        | {by: names[row.group], "pool": row.pool, "acpl": row.actual[0] / row.turns, "loss": row.actual[1] / row.turns}
        for row in rows
    ]
    return MoveRatings(
        groups=rows,
        by=by,
        shown=Table(values, columns_of(columns, decimals=decimals, titles=TITLES, wide=wide, below=("note",))),
        estimates={str(names[row.group]): replace(row.estimate, note=row.note) for row in reversed(rows)},
        problems=told,
        remarks=tuple(remarks),
    )


FIDE_COLUMNS = ("fide", "fide_low", "fide_high")


def _with_fide(columns: list[str], fide: bool) -> list[str]:
    """The columns of a table, with what ratings would be in FIDE's behind the interval, if that is asked for."""
    at = columns.index("high") + 1
    return [*columns[:at], *(FIDE_COLUMNS if fide else ()), *columns[at:]]


def fide_cells(pool: str | None, rating: Estimate) -> dict[str, float | None]:
    """What a rating of a pool would be in FIDE's, as cells of a row; empty where nobody knows."""
    found = in_fide(pool, rating)
    values = (found.value, found.low, found.high)
    return {name: value if np.isfinite(value) else None for name, value in zip(FIDE_COLUMNS, values, strict=True)}


def _with_pool(columns: Sequence[str], pools: Sequence[str | None]) -> list[str]:
    """The columns of a table, with one for the pool behind the first where rows are of several."""
    return [columns[0], *(["pool"] if len(set(pools)) > 1 else []), *columns[1:]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Followed(Answer):
    """The rating of both players after every move of a game; `sides` has it as arrays."""

    sides: Sequence[Running]
    level: float


def posterior(
    what: What,
    game: int = 1,
    *,
    prior: tuple[float, float] | str | None = None,
    level: float = 0.95,
    **analysing: Unpack[Analysing],
) -> Followed:
    """Follow the rating through one game, as `assay posterior` does: what the moves so far say of both players.

    `prior` is flat, about the rating of the tag, or normal: mean and standard deviation.

    >>> import assay
    >>> assay.posterior(assay.SAMPLE, 7, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.InputError: there are 6 games in ...kasparov-deep-blue-1997.pgn, and no game 7.
    """
    asked = Asked(**analysing)
    found = ready(what, asked, game=game)
    at = game - 1 if isinstance(what, Analysis) else 0
    evidence = weigh(found.turns.only(found.turns.game == at), found.calibration, found.policy)
    sides = running(evidence, at, prior=prior, level=level)
    if not any(len(side.ply) for side in sides):
        raise InputError(f"game {game} has no turns to judge: all are before move 9, decided or repeated.")
    rows = [
        {
            "ply": int(ply) + 1,
            "move": f"{move}{'.' if side.white else '...'}",
            "player": side.player,
            "rating": said.value,
            "low": said.low,
            "high": said.high,
        }
        for side in sides
        for ply, move, said in zip(side.ply, side.move, side.estimates, strict=True)
    ]
    rows.sort(key=lambda row: int(str(row["ply"])))
    decimals = dict.fromkeys(("rating", "low", "high"), 0)
    return Followed(
        sides=sides,
        level=level,
        shown=Table(rows, columns_of(("ply", "move", "player", "rating", "low", "high"), decimals=decimals)),
        estimates={str(side.player): side.estimates[-1] for side in sides if len(side.estimates)},
        problems=found.problems,
        remarks=found.remarks,
    )
