"""Which games of a report are shown: all, those with the gravest mistakes, none; in the file or beside it."""

from __future__ import annotations

from dataclasses import replace

from assay.errors import InputError
from assay.reports.content import GameSection, Report
from assay.table import counted

ALL, BESIDE, NONE = "all", "beside", "none"


def asked_games(text: str | int) -> str | int:
    """What is asked for: "all", "beside", "none" or a number of games.

    >>> asked_games("none"), asked_games("20"), asked_games(3)
    ('none', 20, 3)
    """
    if text in (ALL, BESIDE, NONE):
        return text
    if str(text).isdecimal():
        return int(text) or NONE
    raise InputError(f"{text!r} are no games to show: say {ALL}, {BESIDE}, {NONE}, or how many.")


def shown_games(report: Report, games: str | int) -> Report:
    """A report that shows these games alone; everything that it says of all of them stays."""
    total = len(report.games)
    if games == NONE:
        return replace(report, games=(), selection=f"{counted(total, 'game')} looked at, and none shown.")
    if not isinstance(games, int) or games >= total:
        return report
    gravest = sorted(report.games, key=_lost, reverse=True)[:games]
    chosen = tuple(sorted(gravest, key=lambda game: game.number))
    return replace(report, games=chosen, selection=f"Of {total:,} games the {games:,} with the gravest mistakes.")


def _lost(game: GameSection) -> float:
    """The win chances that the marked moves of a game lost."""
    return sum(move.lost for move in game.moves if move.mark)
