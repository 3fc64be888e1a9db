"""The parts of a report that speak of one player or of one game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TypeVar

import numpy as np
import polars as pl

from assay.answer.joining import LEARNED, MOVES, RESULTS
from assay.answer.voices import UNREAD
from assay.curve import GRID, Estimate
from assay.games import Game
from assay.games.outcomes import score_of
from assay.games.stats import ON_TIME, ending
from assay.moves.evals import EvalTurns
from assay.moves.evals_rating import EVALS, rate_evals
from assay.moves.evidence import Evidence
from assay.moves.groups import PHASES, UNKNOWN, Groups, group, tag_ratings
from assay.moves.performance import Row, rate_groups, strange_tags
from assay.moves.review import running
from assay.moves.screening import ScreenRow, screen_groups
from assay.pools import POOLS, has_line, scale_of, words_of
from assay.records import dataclass
from assay.reports.charts import pawns_of
from assay.reports.content import GameSection, Measure, Part, PlayerSection, Screening, of_z
from assay.reports.judged import accuracy_of, of_game, stakes, win_of
from assay.reports.openings import opening_of
from assay.reports.origin import Heard, Input
from assay.reports.sentences import game_sentence
from assay.reports.walk import Ratings, Walk

Label = TypeVar("Label", int, str)
NO_ENGINE = "the evaluations in the file say nothing of the other moves; it takes an engine"
MEASURES = ("First-choice matches", "Top-three matches", "Average scaled error")


# Players.


@dataclass(frozen=True)
class _Rated:
    """Rows of the intrinsic rating by player; parts by player and by game or phase."""

    whole: dict[str, Row]
    by_game: dict[str, list[tuple[int, Row]]]
    by_phase: dict[str, list[tuple[str, Row]]]


def rate_players(weighed: Evidence | EvalTurns | None) -> _Rated:
    if weighed is None or not len(turns := weighed if isinstance(weighed, EvalTurns) else weighed.turns):
        return _Rated({}, {}, {})
    players = group(turns, "player")
    whole = _rows(weighed, players)
    games = group(turns, "player", "game")
    number = {code: int(turns.game[at]) for at, code in reversed(list(enumerate(games.code.tolist())))}
    phases = group(turns, "player", "phase")
    return _Rated(
        {key[0]: row for key, row in zip(players.keys, whole, strict=True)},
        _by_player(games, {code: number[code] for code in range(len(games))}, weighed),
        _by_player(phases, {code: key[1] for code, key in enumerate(phases.keys)}, weighed),
    )


def _rows(weighed: Evidence | EvalTurns, groups: Groups) -> list[Row]:
    return rate_evals(weighed, groups) if isinstance(weighed, EvalTurns) else rate_groups(weighed, groups)


def _by_player(
    groups: Groups, label: Mapping[int, Label], weighed: Evidence | EvalTurns
) -> dict[str, list[tuple[Label, Row]]]:
    rows = _rows(weighed, groups)
    found: dict[str, list[tuple[Label, Row]]] = {}
    for code, (key, row) in enumerate(zip(groups.keys, rows, strict=True)):
        found.setdefault(key[0], []).append((label[code], row))
    return found


def screen(weighed: Evidence | None) -> dict[str, ScreenRow]:
    if weighed is None:
        return {}
    rows = screen_groups(weighed, group(weighed.turns, "player", "all"), shares=False)
    return {row.player: row for row in rows}


def player_section(
    name: str,
    games: pl.DataFrame,
    played: Sequence[int],
    rated: _Rated,
    screened: Mapping[str, ScreenRow],
    heard: Heard,
    field_size: int,
) -> PlayerSection:
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
        screening_note=line.note if line else _unscreened(row),
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
    if row.method == EVALS:
        return (Measure("Average loss in centipawns", float(row.actual[0]) / row.turns),)
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


def _unscreened(row: Row | None) -> str:
    return NO_ENGINE if row is not None and row.method == EVALS else "no move of this player counts"


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


def ratings_of(tags: pl.DataFrame, players: Mapping[str, PlayerSection]) -> Ratings:
    """The rating that chances are told for, by game and side (True is White): the tag's, else that of the moves."""
    known = tag_ratings(tags)
    ratings: Ratings = {}
    for at in range(tags.height):
        strange = strange_tags([tags["pool"][at]])  # then only the rating from moves is one of the scale
        for white, side in ((True, "white"), (False, "black")):
            rating = np.nan if strange else float(known.ratings[at, 0 if white else 1])
            player = players.get(tags[side][at] or UNKNOWN)
            if not np.isfinite(rating) and player and player.intrinsic.known:
                rating = player.intrinsic.value
            if np.isfinite(rating):
                ratings[at, white] = rating
    return ratings


def game_sections(
    given: Input, plain: pl.DataFrame, tags: pl.DataFrame, ratings: Ratings, walks: Sequence[Walk]
) -> tuple[GameSection, ...]:
    """Every game move by move."""
    again = given.again
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
                    walked.reason, again.get(at), scale_of(tags["pool"][at]), tags["line"][at], _ended(tags, at)
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


def posteriors_of(weighed: Evidence | None) -> dict[tuple[int, int], Estimate]:
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
