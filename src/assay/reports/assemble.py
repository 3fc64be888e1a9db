"""Put a report together: turns, ratings by three ways, screening, games; what cannot be had is said in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf

import numpy as np
import polars as pl

from assay.engine.analysis import Analysis
from assay.engine.parsed import read_plies
from assay.engine.turns import Turns
from assay.games import GameArrays
from assay.moves.analysed import turns_in
from assay.moves.calibration import Calibration
from assay.moves.evals import EvalTurns, turns_in_plies
from assay.moves.evidence import Evidence, weigh
from assay.moves.groups import UNKNOWN, games_in_pool, in_pool, is_standard, rename, renamed
from assay.moves.screening import ScreenRow
from assay.policy.chances import Network
from assay.pools import POOLS, scale_of
from assay.reports.content import Provenance, Report
from assay.reports.me import Mine, me_of
from assay.reports.origin import (
    Heard,
    Input,
    dates_of,
    hear,
    made_by_engine,
    made_by_evals,
    only_one,
    title_of,
    told_marks,
)
from assay.reports.second_look import Looker
from assay.reports.sections import game_sections, player_section, posteriors_of, rate_players, ratings_of, screen
from assay.reports.sentences import summary_of
from assay.reports.walk import Ratings, Walk, walk, walk_evals


def assemble(
    given: Input,
    analysis: Analysis,
    calibration: Calibration,
    policy: Network | bool = True,
    look: Looker | None = None,
) -> Report:
    """Everything that a report says about these games, which are those of the analysis; with `look` at marked moves."""
    plain = rename(in_pool(turns_in(analysis, calibration), given.pool, given.scale_year), given.aliases)
    turns = replace(plain, games=_apart_by_pool(given, plain.games))
    # Judged once, all turns whose moves are valued; ratings stand on those that count.
    every = weigh(in_pool(analysis.all_turns(), given.pool, given.scale_year), calibration, policy)
    weighed = _counting(every, turns) if len(turns) else None
    screened = screen(weighed)

    def walked(ratings: Ratings) -> list[Walk]:
        limit = float(calibration.settings["limit"])
        posteriors = posteriors_of(weighed)
        return walk(
            given.games, analysis, evidence=every, limit=limit, ratings=ratings, posteriors=posteriors, look=look
        )

    def made(heard: Heard) -> Provenance:
        return made_by_engine(given, turns, calibration, heard)

    report = _report(given, plain.games, turns.games, analysis.plies.arrays, weighed, screened, walked, made)
    told = told_marks(report.games, analysis.depth)
    settings = {**report.provenance.settings, "Marks": told} if told else report.provenance.settings
    return replace(report, provenance=replace(report.provenance, settings=settings))


def assemble_evals(given: Input) -> Report:
    """The same by the evaluations that the games carry: no engine, and so no screening and no better moves."""
    plies = read_plies(given.games, 1, given.counted)
    plain = renamed(games_in_pool(plies.games, given.pool, given.scale_year), given.aliases)
    found = turns_in_plies(replace(plies, games=_apart_by_pool(given, plain)))
    standard = np.array(is_standard(plain), np.bool_)
    turns = found.only(standard[found.game])

    def walked(ratings: Ratings) -> list[Walk]:
        return walk_evals(given.games, turns, ratings)

    def made(heard: Heard) -> Provenance:
        return made_by_evals(given, turns, heard)

    return _report(given, plain, turns.games, plies.arrays, turns, {}, walked, made)


def _report(
    given: Input,
    plain: pl.DataFrame,
    named: pl.DataFrame,
    arrays: GameArrays,
    weighed: Evidence | EvalTurns | None,
    screened: Mapping[str, ScreenRow],
    walked: Callable[[Ratings], list[Walk]],
    made: Callable[[Heard], Provenance],
) -> Report:
    """A report of valued games; `plain` has the names as they stand in the tags, `named` as they are called here."""
    mask = given.counted & np.array(is_standard(plain), np.bool_)
    counted = np.flatnonzero(mask).tolist()
    rated = rate_players(weighed)
    tags = named[counted]
    played: dict[str, list[int]] = {}
    for at, pair in zip(counted, tags.select("white", "black").rows(), strict=True):
        for name in dict.fromkeys(name or UNKNOWN for name in pair):
            played.setdefault(name, []).append(at)
    heard = hear(given.games, named, arrays, mask, weighed)
    players = [
        player_section(name, named, own, rated, screened, heard, field_size=len(screened))
        for name, own in played.items()
    ]
    players.sort(key=lambda player: (-player.joint.value if player.joint.known else inf, player.name))
    ratings = ratings_of(named, {player.name: player for player in players})
    games = game_sections(given, plain, named, ratings, walked(ratings))
    games = tuple(game for game in games if game.number not in given.without)
    me = None
    if given.player is not None:
        me = me_of(Mine(given.player, given.you, given.games, games, plain, arrays, mask, weighed))
        apart = {given.player, *(f"{given.player} ({name})" for name in POOLS.values())}
        players = [player for player in players if player.name in apart]
        games = tuple(game for game in games if given.player in (game.white, game.black))
    report = Report(
        title=given.player or title_of(named, given.name),
        players=tuple(players),
        games=games,
        provenance=made(heard),
        site=", ".join(filter(None, [only_one(named["event"]) if given.player else "", only_one(named["site"])])),
        dates=dates_of(named["date"]),
        games_expected=len(games) + max(given.expected - len(given.games), 0),
        me=me,
    )
    return replace(report, summary=summary_of(report))


def _counting(every: Evidence, turns: Turns) -> Evidence:
    """Of the evidence of all turns that of those which count; they alone say who plays as people do."""
    counts = np.isin(every.turns.game << 16 | every.turns.ply, turns.game << 16 | turns.ply)
    found = replace(every.only(counts), turns=turns)
    return found if found.plain is None else found.beside(found.plain)


def _apart_by_pool(given: Input, games: pl.DataFrame) -> pl.DataFrame:
    """Games in which a player of several pools goes by a name for each: ratings of two pools are two scales."""
    pools = [scale_of(pool) for pool in games["pool"]]
    seen: dict[str | None, set[str]] = {}
    for at in np.flatnonzero(given.counted & np.array(is_standard(games), np.bool_)).tolist():
        for side in ("white", "black"):
            seen.setdefault(games[side][at], set()).add(pools[at])

    def called(name: str | None, pool: str) -> str | None:
        return f"{name or UNKNOWN} ({POOLS[pool]})" if len(seen.get(name, ())) > 1 else name

    named = [
        pl.Series(side, [called(name, pool) for name, pool in zip(games[side], pools, strict=True)], dtype=pl.String)
        for side in ("white", "black")
    ]
    return games.with_columns(named)
