"""Which events count: team games and crowded Swiss tournaments can be left out, as far as the tags tell (RH11)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from assay.games import Game

_TEAM_TAGS = ("WhiteTeam", "BlackTeam")
_TEAM_WORDS = re.compile(r"\b(team|olympiad|league|bundesliga|club cup|clubs)\b", re.IGNORECASE)


def without_teams(games: Sequence[Game]) -> list[Game]:
    """Games that are not between teams: no team tags, and no event named after teams, leagues or olympiads."""
    return [game for game in games if not _is_team(game)]


def _is_team(game: Game) -> bool:
    tags = game.tags
    return any(tags.get(tag, "").strip("? ") for tag in _TEAM_TAGS) or bool(_TEAM_WORDS.search(tags.get("Event", "")))


def without_crowds(games: Sequence[Game], most: float) -> list[Game]:
    """Games of events with at most so many players per round; an event without rounds in its tags stays.

    A round robin has about one player per round, a large Swiss ten and more.
    """
    players: dict[tuple[str, str], set[str]] = defaultdict(set)
    rounds: dict[tuple[str, str], set[str]] = defaultdict(set)
    for game in games:
        key, number = _event(game), game.tags.get("Round", "").split(".")[0].strip()
        players[key] |= {game.tags.get("White", ""), game.tags.get("Black", "")}
        if number.isdecimal():
            rounds[key].add(number)
    crowded = {key for key, names in players.items() if rounds[key] and len(names) / len(rounds[key]) > most}
    return [game for game in games if _event(game) not in crowded]


def _event(game: Game) -> tuple[str, str]:
    return game.tags.get("Event", ""), game.tags.get("Date", "")[:4]
