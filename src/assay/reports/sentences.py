"""The first sentence of a report: of an event, of a player, of a game."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from assay.curve import Estimate
from assay.games.parse import VARIANT
from assay.moves.evals_rating import EVALS
from assay.reports.content import GameSection, PlayerSection, Report
from assay.reports.me import CASUAL, costly
from assay.table import counted, few

UNUSUAL = 2.5  # from here a z may support other evidence


def summary_of(report: Report) -> str:
    """What a report comes to, in a sentence or two."""
    if report.me is not None:
        you = "You" if report.me.you else None
        most = max(report.players, key=lambda player: player.games, default=None)
        name = report.me.name
        where = report.me.by_pool[0].label if len(report.me.by_pool) == 1 else ""
        parts = [player_sentence(most, you or name, where)] if most else [f"{name}: no game counts."]
        others = [player for player in report.players if player is not most]
        parts += [f"{_pool(player, name)}: {_between(player.joint)}." for player in others if player.joint.known]
        return " ".join(filter(None, [*parts, costly(report.me), left_out(report.provenance.problems)]))
    begun = f"{counted(len(report.games), 'game')}, {counted(len(report.players), 'player')}."
    if len(report.games) == 1 and report.whole:
        begun = report.games[0].summary or begun
    return f"{begun} {field_sentence(report)}"


def left_out(problems: Mapping[str, int]) -> str:
    """Which games do not count because they are of another kind, in a sentence.

    >>> left_out({"variant: Chess960": 2, "a casual game": 1, "no moves": 3})
    'Left out: 2 Chess960, 1 casual.'
    """
    kinds = {CASUAL: "casual"} | {name: name.partition(": ")[2] for name in problems if name.startswith(f"{VARIANT}: ")}
    told = [f"{count:,} {kinds[reason]}" for reason, count in problems.items() if reason in kinds]
    return f"Left out: {', '.join(told)}." if told else ""


def _pool(player: PlayerSection, name: str) -> str:
    """Where somebody of several pools played, as the name tells."""
    return player.name.removeprefix(name).strip(" ()")


def field_sentence(report: Report) -> str:
    """Whether anybody's play is unusual for the rating."""
    known = [(player.screening, player) for player in report.players if player.screening is not None]
    if not known and any(player.method == EVALS for player in report.players):
        return "By the evaluations in the games nobody's play can be compared with a rating: that takes an engine."
    if not known:
        return "Nobody's play can be compared with a rating: there are too few moves, or no ratings in the file."
    highest, first = max(known, key=lambda pair: pair[0].z)
    such = f"{few(highest.expected_beyond)} such expected"
    # In a large field a high z is there by chance: nobody is named where one such was to be expected.
    unusual = [one for one, _ in known if one.z >= UNUSUAL and one.expected_beyond < 1]
    if not unusual:
        whose = "Nobody" if len(known) == len(report.players) else f"Of {len(known)} who can be compared, nobody"
        many = " among so many" if highest.z >= UNUSUAL else ""
        return f"{whose}'s play is unusual for the rating{many}; the highest z is {highest.z:.2f}, {such}."
    if len(unusual) == 1:
        return (
            f"{first.name} played closer to the engine than is usual for the rating: z {highest.z:.2f}, {such}. "
            "That proves nothing by itself."
        )
    return (
        f"{len(unusual)} players played closer to the engine than is usual for their ratings; the highest z is "
        f"{highest.z:.2f} ({first.name}), {such}. That proves nothing by itself."
    )


def player_sentence(player: PlayerSection, name: str | None = None, where: str = "") -> str:
    """How one player played: `name` may be "You", `where` the kind of the games."""
    who = name or player.name
    if not player.joint.known or not isfinite(player.joint.value):
        said = str(player.joint) if player.joint.known else player.joint.note
        return f"{who}: {counted(player.games, 'game')}, too few for a rating{f' ({said})' if said else ''}."
    if name and player.name.endswith(")"):
        where = player.name.rpartition(" (")[2].rstrip(")")
    played = f"{counted(player.games, 'game')}{f' ({where})' if where else ''}"
    told = f"{who} played like {_between(player.joint)} in {played}"
    if player.tag.known:
        whose = "your" if name == "You" else "the"
        told += f"; {whose} rating in the file is {player.tag.value:.0f}"
    if player.disagree:
        told += ". Results, moves and the learned model disagree about it"
    return f"{told}."


def _between(rating: Estimate) -> str:
    return f"{rating.value:.0f} ({rating.low:.0f}-{rating.high:.0f})" if rating.bounded else str(rating)


def game_sentence(game: GameSection) -> str:
    """How a game went: accuracies, and where it turned."""
    parts = [
        f"{name} {accuracy:.0f} %"
        for name, accuracy in ((game.white, game.white_accuracy), (game.black, game.black_accuracy))
        if accuracy is not None
    ]
    if not parts:
        return ""
    worst = sorted(
        (at for at, move in enumerate(game.moves) if move.mark in ("?", "??")),
        key=lambda at: -game.moves[at].lost,
    )[:2]
    turned = " and ".join(_named(game, at) for at in sorted(worst))
    opening = f"{game.opening}. " if game.opening else ""
    first = next((at for at, move in enumerate(game.moves) if move.loss is not None), 0)
    begun = f" from move {(first + game.first_ply) // 2 + 1}" if first > 1 else ""
    return f"{opening}Accuracy{begun}: {', '.join(parts)}.{f' The game turned at {turned}.' if turned else ''}"


def _named(game: GameSection, at: int) -> str:
    ply = at + game.first_ply
    return f"{ply // 2 + 1}{'...' if ply % 2 else '.'}{game.moves[at].san}{game.moves[at].mark}"
