"""Put a report together: turns, ratings by three ways, screening, games; what cannot be had is said in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import inf, isfinite
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay import __version__
from assay.answer.joining import LEARNED, MOVES, RESULTS
from assay.answer.voices import UNREAD
from assay.curve import GRID, Estimate
from assay.engine.analysis import Analysis
from assay.engine.turns import Turns
from assay.games import Game
from assay.games.duplicates import Duplicates
from assay.games.endings import ON_TIME, ending
from assay.games.outcomes import score_of
from assay.games.source import Source
from assay.learned.guess import AGAIN
from assay.moves.analysed import turns_in
from assay.moves.calibration import Calibration
from assay.moves.evidence import Evidence, weigh
from assay.moves.groups import PHASES, UNKNOWN, Groups, group, in_pool, is_standard, rename, tag_ratings
from assay.moves.performance import Row, rate_groups, strange_tags
from assay.moves.review import running
from assay.moves.screening import ScreenRow, screen_groups
from assay.policy.chances import Network
from assay.pools import POOLS, has_line, scale_of, words_of
from assay.reports.accuracy import accuracy_of, of_game, stakes, win_of
from assay.reports.charts import pawns_of
from assay.reports.content import (
    LEVEL,
    GameSection,
    Measure,
    Part,
    PlayerSection,
    Provenance,
    Report,
    Screening,
    of_z,
)
from assay.reports.me import Mine, me_of
from assay.reports.openings import opening_of
from assay.reports.sentences import game_sentence, summary_of
from assay.reports.walk import walk
from assay.reports.witnesses import Heard, hear

Label = TypeVar("Label", int, str)
MEASURES = ("First-choice matches", "Top-three matches", "Average scaled error")


@dataclass(frozen=True)
class Input:
    """The games of a report, where they come from, which of them occur again, pool and aliases if any.

    `without` are the numbers of games to leave out; `player` is the only one to be shown: `you`, if it is the reader.
    """

    games: Sequence[Game]
    name: str
    sources: tuple[Source, ...]
    problems: Mapping[str, int] = field(default_factory=dict)
    expected: int = 0
    duplicates: Duplicates = field(default_factory=Duplicates)
    pool: str | None = None
    scale_year: int | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[int] = frozenset()
    player: str | None = None
    you: bool = False

    @property
    def again(self) -> dict[int, int]:
        """By the place of a game that occurs again the number of the game that it is."""
        return {each.number - 1: each.first for each in self.duplicates.found}

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which games count: each game once, and none that is left out."""
        again = self.again
        left = self.without
        return np.array([at not in again and at + 1 not in left for at in range(len(self.games))], np.bool_)


def assemble(given: Input, analysis: Analysis, calibration: Calibration, policy: Network | bool = True) -> Report:
    """Everything that a report says about these games, which are those of the analysis."""
    plain = rename(in_pool(turns_in(analysis, calibration), given.pool, given.scale_year), given.aliases)
    counted = np.flatnonzero(given.counted & np.array(is_standard(plain.games))).tolist()
    turns = _apart_by_pool(plain, counted)
    tags = turns.games[counted]
    # Judged once, all turns whose moves are valued; ratings stand on those that count.
    every = weigh(in_pool(analysis.all_turns(), given.pool, given.scale_year), calibration, policy)
    weighed = _counting(every, turns) if len(turns) else None
    rated = _rate_players(weighed)
    names = list(zip(*([name or UNKNOWN for name in tags[side]] for side in ("white", "black")), strict=True))
    mask = np.zeros(turns.games.height, np.bool_)
    mask[counted] = True
    heard = hear(given.games, turns.games, analysis.plies.arrays, mask, weighed)
    screened = _screen(weighed)
    players = [
        _player(name, turns.games, counted, rated, screened, heard, field_size=len(screened))
        for name in dict.fromkeys(name for pair in names for name in pair)
    ]
    players.sort(key=lambda player: (-player.joint.value if player.joint.known else inf, player.name))
    games = _games(given, plain.games, turns, analysis, every, {player.name: player for player in players}, weighed)
    games = tuple(game for game in games if game.number not in given.without)
    me = None
    if given.player is not None:
        mine = Mine(given.player, given.you, given.games, games, plain.games, analysis.plies.arrays, mask, weighed)
        me = me_of(mine)
        apart = {given.player, *(f"{given.player} ({name})" for name in POOLS.values())}
        players = [player for player in players if player.name in apart]
        games = tuple(game for game in games if given.player in (game.white, game.black))
    report = Report(
        title=_title(turns.games, given.name),
        players=tuple(players),
        games=games,
        provenance=_provenance(given, turns, calibration, heard),
        site=_only(turns.games["site"]),
        dates=_dates(turns.games["date"]),
        games_expected=given.expected or len(given.games),
        me=me,
    )
    return replace(report, summary=summary_of(report))


def _counting(every: Evidence, turns: Turns) -> Evidence:
    """Of the evidence of all turns that of those which count."""
    counts = np.isin(every.turns.game << 16 | every.turns.ply, turns.game << 16 | turns.ply)
    return replace(every.only(counts), turns=turns)


def _apart_by_pool(turns: Turns, counted: Sequence[int]) -> Turns:
    """Turns in which a player of several pools goes by a name for each: ratings of two pools are two scales."""
    games = turns.games
    pools = [scale_of(pool) for pool in games["pool"]]
    seen: dict[str | None, set[str]] = {}
    for at in counted:
        for side in ("white", "black"):
            seen.setdefault(games[side][at], set()).add(pools[at])

    def called(name: str | None, pool: str) -> str | None:
        return f"{name or UNKNOWN} ({POOLS[pool]})" if len(seen.get(name, ())) > 1 else name

    named = [
        pl.Series(side, [called(name, pool) for name, pool in zip(games[side], pools, strict=True)], dtype=pl.String)
        for side in ("white", "black")
    ]
    return replace(turns, games=games.with_columns(named))


# Players.


@dataclass(frozen=True)
class _Rated:
    """Rows of the intrinsic rating by player; parts by player and by game or phase."""

    whole: dict[str, Row]
    by_game: dict[str, list[tuple[int, Row]]]
    by_phase: dict[str, list[tuple[str, Row]]]


def _rate_players(weighed: Evidence | None) -> _Rated:
    if weighed is None:
        return _Rated({}, {}, {})
    turns = weighed.turns
    players = group(turns, "player")
    whole = rate_groups(weighed, players)
    games = group(turns, "player", "game")
    number = {code: int(turns.game[at]) for at, code in reversed(list(enumerate(games.code.tolist())))}
    phases = group(turns, "player", "phase")
    return _Rated(
        {key[0]: row for key, row in zip(players.keys, whole, strict=True)},
        _by_player(games, {code: number[code] for code in range(len(games))}, weighed),
        _by_player(phases, {code: key[1] for code, key in enumerate(phases.keys)}, weighed),
    )


def _by_player(groups: Groups, label: Mapping[int, Label], weighed: Evidence) -> dict[str, list[tuple[Label, Row]]]:
    rows = rate_groups(weighed, groups)
    found: dict[str, list[tuple[Label, Row]]] = {}
    for code, (key, row) in enumerate(zip(groups.keys, rows, strict=True)):
        found.setdefault(key[0], []).append((label[code], row))
    return found


def _screen(weighed: Evidence | None) -> dict[str, ScreenRow]:
    if weighed is None:
        return {}
    rows = screen_groups(weighed, group(weighed.turns, "player", "all"))
    return {row.player: row for row in rows}


def _player(
    name: str,
    games: pl.DataFrame,
    counted: Sequence[int],
    rated: _Rated,
    screened: Mapping[str, ScreenRow],
    heard: Heard,
    field_size: int,
) -> PlayerSection:
    played = [at for at in counted if name in (games["white"][at] or UNKNOWN, games["black"][at] or UNKNOWN)]
    row, line = rated.whole.get(name), screened.get(name)
    said = heard.said.get(name)
    alone = said.alone if said else {}
    phases = sorted(rated.by_phase.get(name, []), key=lambda item: PHASES.index(item[0]))
    return PlayerSection(
        name=name,
        games=len(played),
        points=sum(_points(games, at, name) for at in played),
        turns=row.turns if row else 0,
        tag=_tag(games, played, name),
        result=alone.get(RESULTS, Estimate(note="no result counts")),
        intrinsic=_moves_alone(alone.get(MOVES), row),
        learned=alone.get(LEARNED, Estimate(note=heard.note or UNREAD)),
        joint=said.joint if said else Estimate(note="nothing counts"),
        p_agree=said.agreement.p if said and said.agreement else None,
        disagree=bool(said and said.agreement and said.agreement.alarm),
        method=row.method if row and row.rating is not None else "",
        measures=_measures(row, line),
        by_game=tuple(
            Part(f"{at + 1}. {_opponent(games, at, name)}", part.turns, _estimate(part), at + 1)
            for at, part in rated.by_game.get(name, [])
        ),
        by_phase=tuple(Part(phase.capitalize(), part.turns, _estimate(part)) for phase, part in phases),
        screening=_screening(line, field_size),
        screening_note=line.note if line else "no move of this player counts",
        played=tuple(at + 1 for at in played),
    )


def _estimate(row: Row | None) -> Estimate:
    if row is None:
        return Estimate(note="no move counts")
    if row.rating is None:
        return Estimate(note=row.note)
    # That the interval is open to one side is seen from the interval.
    notes = [note for note in row.note.split("; ") if note != str(row.estimate)]
    return replace(row.estimate, note="; ".join(notes))


def _moves_alone(said: Estimate | None, row: Row | None) -> Estimate:
    """What the moves say, with the notes that a rating from moves alone has."""
    own = _estimate(row)
    return own if said is None or not said.known else replace(said, note=own.note)


def _measures(row: Row | None, line: ScreenRow | None) -> tuple[Measure, ...]:
    if row is None or not row.turns:
        return ()
    z = [float(value) for value in line.screened.z] if line and line.screened else [None] * 3
    expected = [None] * 3 if row.expected is None else [float(value) / row.turns for value in row.expected]
    actual = [float(value) / row.turns for value in row.actual]
    return tuple(
        Measure(name, a, e, own, percent=at < 2)
        for at, (name, a, e, own) in enumerate(zip(MEASURES, actual, expected, z, strict=True))
    )


def _screening(line: ScreenRow | None, field_size: int) -> Screening | None:
    if line is None or line.screened is None or line.z is None:
        return None
    match, top3, error = (float(value) for value in line.screened.z)
    beyond = line.expected_beyond or 0.0
    return Screening(
        z=line.z,
        z_match=match,
        z_top3=top3,
        z_error=error,
        roi=50 + 5 * line.z,
        p_value=line.p_value or 0.0,
        q_value=line.q_value or 0.0,
        expected_beyond=beyond,
        meaning=of_z(line.z, beyond, field_size),
    )


def _points(games: pl.DataFrame, at: int, name: str) -> float:
    score = score_of(games["result"][at])
    if score is None:
        return 0.0
    return score if (games["white"][at] or UNKNOWN) == name else 1 - score


def _opponent(games: pl.DataFrame, at: int, name: str) -> str:
    white, black = games["white"][at] or UNKNOWN, games["black"][at] or UNKNOWN
    return black if white == name else white


def _tag(games: pl.DataFrame, played: Sequence[int], name: str) -> Estimate:
    """The mean of the ratings in a player's tags."""
    sides = [("white_elo" if (games["white"][at] or UNKNOWN) == name else "black_elo", at) for at in played]
    known = [float(games[side][at]) for side, at in sides if games[side][at] is not None]
    return Estimate(float(np.mean(known))) if known else Estimate(note="none in the tags")


# Games.


def _games(
    given: Input,
    plain: pl.DataFrame,
    turns: Turns,
    analysis: Analysis,
    every: Evidence,
    players: Mapping[str, PlayerSection],
    weighed: Evidence | None,
) -> tuple[GameSection, ...]:
    """Every game move by move; `plain` has the names as they stand in the tags, `turns` as they are called here."""
    tags, known = turns.games, tag_ratings(turns.games)
    ratings: dict[tuple[int, bool], float] = {}
    for at in range(tags.height):
        strange = strange_tags([tags["pool"][at]])  # then only the rating from moves is one of the scale
        for white, side in ((True, "white"), (False, "black")):
            rating = np.nan if strange else float(known.ratings[at, 0 if white else 1])
            player = players.get(tags[side][at] or UNKNOWN)
            if not np.isfinite(rating) and player and player.intrinsic.known:
                rating = player.intrinsic.value
            if np.isfinite(rating):
                ratings[at, white] = rating
    walks = walk(
        given.games,
        analysis,
        evidence=every,
        limit=float(every.calibration.settings["limit"]),
        ratings=ratings,
        posteriors=_posteriors(weighed),
    )
    return tuple(
        _seen(
            GameSection(
                number=at + 1,
                white=plain["white"][at] or UNKNOWN,
                black=plain["black"][at] or UNKNOWN,
                result=tags["result"][at] or "*",
                event=tags["event"][at] or "",
                site=tags["site"][at] or "",
                date=tags["date"][at] or "",
                round=tags["round"][at] or "",
                white_elo=_whole(tags["white_elo"][at]),
                black_elo=_whole(tags["black_elo"][at]),
                white_rating=ratings.get((at, True)),
                black_rating=ratings.get((at, False)),
                start=walked.start,
                moves=walked.moves,
                note=_game_note(
                    walked.reason, given.again.get(at), scale_of(tags["pool"][at]), tags["line"][at], _ended(tags, at)
                ),
                text=given.games[at].text,
            ),
            given.games[at],
        )
        for at, walked in enumerate(walks)
    )


def _seen(section: GameSection, game: Game) -> GameSection:
    """A game with its opening, the accuracy of both sides, and a sentence."""
    known = [(at, move) for at, move in enumerate(section.moves) if move.loss is not None]
    opening, _ = opening_of(game.tags, [move.san for move in section.moves])
    accuracy: list[float | None] = [None, None]
    if known:
        win = win_of(np.array([pawns_of(known[0][1].value), *(pawns_of(move.worth) for _, move in known)]))
        stake, accurate = stakes(win), accuracy_of(np.array([move.loss for _, move in known], float))
        black = np.array([(at + section.first_ply) % 2 for at, _ in known])
        accuracy = [
            float(of_game(accurate[black == n], stake[black == n])) if (black == n).any() else None for n in (0, 1)
        ]
    seen = replace(section, opening=opening, white_accuracy=accuracy[0], black_accuracy=accuracy[1])
    return replace(seen, summary=game_sentence(seen))


def _ended(tags: pl.DataFrame, at: int) -> str:
    """Who lost a game without a move that did it, in words."""
    how, result = ending(tags["termination"][at]), tags["result"][at]
    if how is None:
        return ""
    loser = {"1-0": "Black", "0-1": "White"}.get(result or "")
    return f"{loser} lost on time." if how == ON_TIME and loser else f"{how[0].upper()}{how[1:]}."


def _game_note(reason: str, again: int | None, pool: str, line: str, ended: str) -> str:
    """What a reader must know of a game before its figures."""
    if again is not None:
        return f"This game is left out: it is game {again} again."
    if reason:
        return f"This game is left out: {reason}."
    where = POOLS[pool]
    near = f"{where[0].upper()}{where[1:]}: no scale of its own, rated on that of {words_of(line)}."
    scale = "" if has_line(pool) else near
    return " ".join(filter(None, (ended, scale)))


def _posteriors(weighed: Evidence | None) -> dict[tuple[int, int], Estimate]:
    """The rating of the mover after each counted move, from that game alone; none before the moves tell.

    An open end is drawn to the end of the scale.
    """
    found: dict[tuple[int, int], Estimate] = {}
    if weighed is None:
        return found
    turns = weighed.turns
    for game in np.unique(turns.game).tolist():
        for side in running(weighed, game):
            for ply, said in zip(side.ply.tolist(), side.estimates, strict=True):
                if isfinite(said.value):
                    low, high = max(said.low, float(GRID[0])), min(said.high, float(GRID[-1]))
                    found[game, ply] = replace(said, low=low, high=high)
    return found


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


# The event.


def _only(values: pl.Series) -> str:
    """The value that all share, else nothing."""
    known = values.drop_nulls().unique()
    return str(known[0]) if len(known) == 1 else ""


def _title(games: pl.DataFrame, name: str) -> str:
    return _only(games["event"]) or name


def _dates(values: pl.Series) -> str:
    """First and last day that the tags know."""
    days = sorted(str(value) for value in values.drop_nulls() if not str(value).startswith("?"))
    if not days:
        return ""
    first, last = (day.replace(".??", "").replace(".", "-") for day in (days[0], days[-1]))
    return first if first == last else f"{first} to {last}"


def _settings(calibration: Calibration, turns: Turns) -> dict[str, str]:
    """The settings that decide which moves count and how, in words."""
    lines = dict.fromkeys(words_of(turns.games["line"][int(game)]) for game in np.unique(turns.game))
    own = calibration.settings
    return {
        "Moves that count": f"from move {own['from_move']}, while neither side is {own['limit']:g} pawns ahead",
        "Scale": "; ".join(lines) or "none",
        "Intervals": f"{LEVEL} %",
    }


def _provenance(given: Input, turns: Turns, calibration: Calibration, heard: Heard) -> Provenance:
    identity = turns.identities[0]
    problems: Counter[str] = Counter(given.problems)
    problems.update(turns.problems)
    problems.update({AGAIN: len(given.duplicates)} if given.duplicates else {})
    judged = calibration.judging(identity)
    notes = (judged.stand_in.remedy,) if judged.stand_in else ()
    return Provenance(
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        sources=given.sources,
        engine=str(identity),
        depth=turns.depth,
        calibration=calibration.name,
        calibration_line=f"choice model, {calibration.games:,} games, {calibration.turns:,} moves",
        learned_model=heard.model,
        turns=len(turns),
        left_out=dict(turns.excluded.most_common()),
        problems=dict(problems.most_common()),
        settings=_settings(calibration, turns),
        notes=(*notes, *((heard.note,) if heard.note else ())),
        duplicates=str(given.duplicates),
    )
