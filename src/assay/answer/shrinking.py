"""Which players games connect, and games shrunk to their results without players that cannot be rated well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Unpack

from assay.answer.standings import Counting, results_of
from assay.errors import RatingError
from assay.games.outcomes import KEPT_TAGS
from assay.games.source import Games
from assay.games.stream import Paths
from assay.records import dataclass
from assay.results import ordo
from assay.results.encounters import Components, PairTable, connect, select, tabulate
from assay.results.rated import NO_RESULT
from assay.table import WIDTH, Answer, Table, columns_of, counted, described, told_copies


@dataclass(frozen=True, eq=False, kw_only=True)
class PlayerGroups(Answer):
    """Which players can be compared with which: a row for each player; `report` says it as Ordo does."""

    players: Sequence[str]
    met: PairTable
    groups: Components
    read: int

    @property
    def report(self) -> str:
        """Group after group, and how they hang together, in Ordo's words."""
        return ordo.group_report(self.players, self.met, self.groups)

    def account(self, level: str, loose_anchors: str | None = None, relations: str | None = None) -> str:
        """What Ordo says of the games; `level` is what ratings would rest on."""
        return ordo.summary(self.met, self.read, level, loose_anchors, relations)

    def connections(self) -> str:
        """How many groups there are and what lies between them, in Ordo's words."""
        return ordo.connections(self.met, self.groups)

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The report."""
        return self.report.removesuffix("\n")


def _grouped(players: Sequence[str], table: PairTable, read: int) -> PlayerGroups:
    found, played = connect(table), dict(zip(players, table.played.tolist(), strict=True))
    rows = [
        {"group": place, "player": name, "games": int(played[name])}
        for place, (_, members) in enumerate(ordo.ranked_groups(players, found), 1)
        for name in members
    ]
    shown = Table(rows, columns_of(("group", "player", "games")))
    return PlayerGroups(shown=shown, players=players, met=table, groups=found, read=read)


def groups(what: Paths | Games, **counting: Unpack[Counting]) -> PlayerGroups:
    """Which players games connect, as `assay results -g` reports it: ratings compare within a group alone.

    >>> import assay
    >>> assay.groups(assay.SAMPLE).table.rows()
    [(1, 'Deep Blue', 6), (1, 'Kasparov, Garry', 6)]
    """
    found = results_of(what, **counting)
    table = tabulate(*found.finished(), len(found.players))
    if not len(table.white):
        raise RatingError("the input contains no games to rate.")
    return _grouped(found.players, table, len(found.outcome))


@dataclass(frozen=True, eq=False, kw_only=True)
class ShrunkGames(Answer):
    """Games shrunk to their results: `pgn` has them, `groups` whom they connect; the table counts what was left out."""

    pgn: str
    players: Sequence[str]
    met: PairTable
    read: int

    @property
    def groups(self) -> PlayerGroups:
        """Which players the games that are kept connect."""
        return _grouped(self.players, self.met, self.read)

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The games."""
        return self.pgn.removesuffix("\n")


def shrink(
    what: Paths | Games,
    *,
    no_perfects: bool = False,
    min_games: int = 0,
    min_percent: float = 0.0,
    major_only: bool = False,
    **counting: Unpack[Counting],
) -> ShrunkGames:
    """Shrink games to their results without players that cannot be rated well, as `assay prep` does.

    Players go who have only wins or only losses (`no_perfects`), fewer games or a lower score than asked for, or no
    games with the largest group (`major_only`); again, until nothing changes.

    >>> import assay
    >>> kept = assay.shrink(assay.SAMPLE, min_games=6)
    >>> kept.table.rows(), kept.pgn.splitlines()[:2]
    ([('kept', 'games', 6)], ['[White "Kasparov, Garry"]', '[Black "Deep Blue"]'])
    """
    found = results_of(what, tags=KEPT_TAGS, **counting)
    kept = select(
        found.white,
        found.black,
        found.outcome,
        len(found.players),
        no_perfects=no_perfects,
        min_games=min_games,
        min_percent=min_percent,
        major_only=major_only,
    )
    white, black, outcome = (column[kept.games] for column in (found.white, found.black, found.outcome))
    left, read = len(outcome), len(found.outcome)
    if not left:
        raise RatingError("nothing is left: no game fulfils all conditions.")
    rules = {
        "a perfect score": kept.perfect,
        "too few games": kept.few_games,
        "too low a score": kept.low_percent,
        "outside the largest group": kept.other_groups,
    }
    players = {why: int(who.sum()) for why, who in rules.items() if who.any()}
    games = Counter(found.skipped)
    games[NO_RESULT] = found.unfinished
    games["occurs again"] = 0 if found.duplicates is None else len(found.duplicates)
    games = +games
    told = [f"{left:,} of {counted(read, 'game')} kept"]
    told += [f"players left out: {described(players)}"] if players else []
    told += [f"games left out: {described(games)}"] if games else []
    rows = [{"why": "kept", "of": "games", "count": left}]
    rows += [{"why": why, "of": "players", "count": count} for why, count in players.items()]
    rows += [{"why": why, "of": "games", "count": count} for why, count in games.items()]
    return ShrunkGames(
        shown=Table(rows, columns_of(("why", "of", "count"))),
        pgn="".join(found.written(kept.games)),
        players=found.players,
        met=tabulate(white, black, outcome, len(found.players)),
        read=read,
        problems=games,
        remarks=[*told_copies(found.duplicates or ""), f"{'; '.join(told)}."],
    )
