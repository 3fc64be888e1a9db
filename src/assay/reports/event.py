"""From games and tournament reports to the table of an event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.errors import InputError
from assay.games import Games, read
from assay.games.completing import UNKNOWN
from assay.games.outcomes import score_of
from assay.games.stream import Paths
from assay.games.trf import Tournament
from assay.lists.inforce import ListEntry, filled
from assay.results.crosstable import Contestant, EventTable, Met, event_table
from assay.table import counted, reasons, told_copies


def event(
    what: Paths | Games, *, rating: str = "tag", where: str | None = None, keep_duplicates: bool = False
) -> EventTable:
    """The table of an event, as `assay event` prints it: points, expected points, performance by FIDE's table, change
    of rating with K, average of opponents, and the results round by round.

    `what` is a FIDE tournament report (.trf) or games; with `rating="fide"` ratings and K are those of FIDE's lists.
    `.to("html")` is a page.

    >>> import assay
    >>> assay.event(assay.SAMPLE).table.select("player", "points", "games").rows()
    [('Deep Blue', 3.5, 6), ('Kasparov, Garry', 2.5, 6)]
    """
    games = read(what, where=where)
    lists = filled(games) if rating == "fide" else None
    if len(games.tournaments) > 1:
        raise InputError("give the report of one tournament at a time.")
    if games.tournaments:
        found = _of_report(games.tournaments[0], lists.people if lists else {})
    else:
        found = _of_games(lists.games if lists else games, lists.people if lists else {}, keep_duplicates)
    return replace(found, remarks=[*found.remarks, *(lists.remarks if lists else ())])


def _of_report(tournament: Tournament, lists: Mapping[str, ListEntry]) -> EventTable:
    place = {number: at for at, number in enumerate(tournament.players)}
    contestants = [
        Contestant(
            name=player.name,
            rounds=tuple(Met(each.round, place.get(each.opponent), each.white, each.code) for each in player.pairings),
            number=player.number,
            rating=lists[player.name].rating if player.name in lists else player.rating,
            k=lists[player.name].k if player.name in lists else None,
            title=player.title,
            federation=player.federation,
            fide_id=player.fide_id,
            birth=player.birth,
            place=player.rank,
            points=player.points,
        )
        for player in tournament.players.values()
    ]
    found = event_table(
        contestants,
        title=tournament.name,
        date=tournament.start or tournament.date_of(1),
        head=_head(tournament.name, tournament.city, tournament.start, len(tournament.players), len(tournament.games)),
    )
    told = [f"No games: {reasons(tournament.unplayed)}."] if tournament.unplayed else []
    told += [f"{tournament.source}: {each}." for each in tournament.named]
    odd = [
        f"{player.name} {player.points:g}, by the rounds {summed:g}"
        for player in tournament.players.values()
        if player.points is not None and player.points != (summed := sum(each.points for each in player.pairings))
    ]
    if odd:  # another way to count points, or a mistake
        more = f", and {len(odd) - 5} more" if len(odd) > 5 else ""
        told.append(f"Points of the report that are not those of the rounds: {'; '.join(odd[:5])}{more}.")
    return replace(found, problems=tournament.problems, remarks=told)


def _of_games(games: Games, lists: Mapping[str, ListEntry], keep_duplicates: bool) -> EventTable:
    """The table of games: ratings are those of the first game of each, rounds those of the tags, else in order."""
    place: dict[str, int] = {}
    about: list[dict[str, Any]] = []
    met: list[list[Met]] = []
    events: Counter[str] = Counter()
    dates: list[str] = []
    count = unfinished = 0
    chosen = games.counted(keep_duplicates=keep_duplicates)
    for game in chosen.once:
        tags = game.tags
        score = score_of(tags.get("Result"))
        names = [tags.get(side, "").strip() for side in ("White", "Black")]
        if score is None or not all(names) or "?" in names or names[0] == names[1]:
            unfinished += 1
            continue
        count += 1
        events[tags.get("Event", "?")] += 1
        dates.append(tags.get("Date", "?"))
        for side, name in zip(("White", "Black"), names, strict=True):
            if name not in place:
                place[name] = len(place)
                about.append({})
                met.append([])
            for tag in ("Elo", "Title", "FideId", "Fed", "BirthYear"):
                if (value := tags.get(f"{side}{tag}", "").strip()) not in UNKNOWN:
                    about[place[name]].setdefault(tag, value)
        pair = [place[name] for name in names]
        number = tags.get("Round", "").partition(".")[0]
        taken = [{each.round for each in met[who]} for who in pair]
        round = int(number) if number.isdecimal() and 0 < int(number) < 1000 else 0
        if not round or any(round in each for each in taken):
            round = next(r for r in range(1, count + 1) if not any(r in each for each in taken))
        codes = ("0", "=", "1")[int(2 * score)], ("1", "=", "0")[int(2 * score)]
        for at, code in enumerate(codes):
            met[pair[at]].append(Met(round, pair[1 - at], at == 0, code))
    if not count:
        raise games.no_games() if not unfinished else InputError(f"no game of {games.named} has a result.")
    most = max(map(len, met))
    if max(each.round for some in met for each in some) > 2 * most:  # no rounds, but numbers of games
        met = [[replace(each, round=at) for at, each in enumerate(sorted(some, key=_by_round), 1)] for some in met]
    contestants = [
        Contestant(
            name=name,
            rounds=tuple(sorted(met[at], key=_by_round)),
            rating=_number(about[at], "Elo"),
            k=lists[name].k if name in lists else None,
            title=about[at].get("Title"),
            federation=about[at].get("Fed"),
            fide_id=_number(about[at], "FideId"),
            birth=_number(about[at], "BirthYear"),
        )
        for name, at in place.items()
    ]
    title = events.most_common(1)[0][0] if len(events) == 1 else games.named
    known = sorted(date for date in dates if "?" not in date)
    date = known[0] if known else ""
    found = event_table(contestants, title=title, date=date, head=_head(title, "", date, len(place), count))
    told = [f"Without a result or a name: {counted(unfinished, 'game')}."] if unfinished else []
    told += told_copies(chosen.duplicates)
    return replace(found, problems=games.problems, remarks=told)


def _by_round(met: Met) -> int:
    return met.round


def _number(about: Mapping[str, Any], tag: str) -> int | None:
    text = str(about.get(tag, ""))
    return int(text) if text.isdecimal() and int(text) else None


def _head(name: str, city: str, date: str, players: int, games: int) -> str:
    told = [name, city, date, counted(players, "player"), counted(games, "game")]
    return ", ".join(part for part in told if part and part != "?") + "."
