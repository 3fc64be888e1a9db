"""Games with the ratings that were in force on their days: missing tags filled, tags that differ named."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import field

from assay.errors import InputError
from assay.games import Game, Games
from assay.games.completing import UNKNOWN, Remarks, with_tags
from assay.games.people import id_of
from assay.lists.inforce import InForce, ListEntry, months, published
from assay.pools import is_online, pool_of
from assay.records import dataclass
from assay.table import counted

SIDES = ("White", "Black")


@dataclass(frozen=True)
class Filled:
    """Games with the ratings of lists, who was found there (the newest entry of each name), and what is to be said."""

    games: Games
    people: Mapping[str, ListEntry] = field(default_factory=dict)
    errors: Mapping[str, float] = field(default_factory=dict)  # of the ratings of each, the mean over the games
    remarks: tuple[str, ...] = ()


def error_of(entry: ListEntry) -> float:
    """The error of a rating on a list."""
    age = int(entry.month[:4]) - entry.birth if entry.birth is not None else None
    return rating_error(entry.rating, k=entry.k, age=age)


def kind_of(tags: Mapping[str, str]) -> str | None:
    """Which rating counts for a game: standard, rapid or blitz; None if it was played elsewhere than over a board."""
    pool = pool_of(tags.get("Site", ""), tags.get("Event", ""), tags.get("TimeControl", ""))
    if is_online(pool):
        return None
    return {"otb-rapid": "rapid", "otb-blitz": "blitz"}.get(pool, "standard")


def filled(games: Games) -> Filled:
    """The games with the ratings of FIDE's lists, by id, else by name and federation."""
    if not months():
        raise InputError("no list of FIDE is here: download one and take it in with 'assay ratings add FILE'.")
    needs: dict[str, tuple[set[int], set[str]]] = defaultdict(lambda: (set(), set()))
    remarks, lacking, undated, elsewhere = Remarks(), Counter[str](), 0, 0
    there = set(months())
    every = games.everything()
    for game in every:
        tags, month = game.tags, published(game.tags.get("Date", ""))
        if kind_of(tags) is None:
            elsewhere += 1
        elif month is None:
            undated += 1
        elif month not in there:
            lacking[month] += 1
        else:
            for side in SIDES:
                ids, names = needs[month]
                fide_id = id_of(tags.get(f"{side}FideId"))
                ids.add(fide_id) if fide_id is not None else names.add(tags.get(side, ""))
    lists = {month: InForce(month, *need) for month, need in needs.items()}
    people: dict[str, ListEntry] = {}
    errors: dict[str, list[float]] = defaultdict(list)
    counts: Counter[str] = Counter()

    def change(game: Game) -> bytes:
        tags = game.tags
        kind, month = kind_of(tags), published(tags.get("Date", ""))
        if kind is None or month not in lists:
            return game.data
        new: dict[str, str] = {}
        for side in SIDES:
            name = tags.get(side, "")
            entry = lists[month].find(id_of(tags.get(f"{side}FideId")), name, tags.get(f"{side}Fed"), kind)
            if entry is None:
                remarks.add(f"Not on the list of {month}, or without a {kind} rating", name)
                continue
            if name not in people or people[name].month <= entry.month:
                people[name] = entry
            errors[name].append(error_of(entry))
            new |= _tags(tags, side, entry, counts, remarks)
        return with_tags(game, new) if new else game.data

    made = games.rewritten(change)
    mean = {name: sum(each) / len(each) for name, each in errors.items()}
    return Filled(made, people, mean, tuple(_told(counts, lacking, undated, elsewhere, remarks)))


def _tags(
    tags: Mapping[str, str], side: str, entry: ListEntry, counts: Counter[str], remarks: Remarks
) -> dict[str, str]:
    """What the list says of a side, where the tags lack it; the rating in any case."""
    old = tags.get(f"{side}Elo", "").strip()
    said = {"FideId": entry.fide_id, "Title": entry.title, "Fed": entry.federation, "BirthYear": entry.birth}
    new = {
        f"{side}{name}": str(value)
        for name, value in said.items()
        if value is not None and tags.get(f"{side}{name}", "").strip() in UNKNOWN
    }
    if old in UNKNOWN:
        counts["filled"] += 1
    elif old == str(entry.rating):
        counts["same"] += 1
        return new
    else:
        counts["changed"] += 1
        what = f"{tags.get(side, '?')} {old}, on the list {entry.rating}"
        if what not in remarks.found[_DIFFER]:
            remarks.add(_DIFFER, what)
    return new | {f"{side}Elo": str(entry.rating)}


_DIFFER = "Ratings in the tags that differ from the list"


def _told(counts: Counter[str], lacking: Counter[str], undated: int, elsewhere: int, remarks: Remarks) -> list[str]:
    told = [
        f"Ratings of FIDE's lists: {counts['same']:,} as in the tags, {counts['filled']:,} filled in, "
        f"{counts['changed']:,} in the place of others."
    ]
    told += [f"No list of {month} is here: {counted(count, 'game')} as they are." for month, count in lacking.items()]
    told += [f"Without a date: {counted(undated, 'game')} as they are."] if undated else []
    told += [f"Not over the board: {counted(elsewhere, 'game')} as they are."] if elsewhere else []
    for about, names in list(remarks.found.items()):
        remarks.found[about] = list(dict.fromkeys(names))
    return [*told, *remarks]


# How far a published rating is off, as a standard deviation in Elo: measured on two sets of games by
# studies/rating_error.py, which tells how, and prints this table at its end. Of K, games and age it is K that counts:
# it is 40 for the young and for those with fewer than 30 games. How many games somebody has played in the last year
# makes no difference that can be seen; age serves where a list tells no K.
# K: (rated below, error), ...; the last one has no bound.
ERRORS: dict[int, tuple[tuple[float, float], ...]] = {
    10: ((float("inf"), 33.0),),
    20: ((2000.0, 76.0), (2200.0, 59.0), (float("inf"), 49.0)),
    40: ((2000.0, 108.0), (float("inf"), 76.0)),
}
_ADULT = 18


def k_of(rating: float, *, k: int | None, age: int | None = None) -> int:
    """K as it is today: that of the list (30, 25 and 15 were 40 and 20 once), else what age and rating tell.

    >>> k_of(2450, k=None), k_of(1800, k=None, age=14), k_of(1800, k=15), k_of(1800, k=30)
    (10, 40, 20, 40)
    """
    if k is not None and k > 0:
        return 10 if k <= 10 else 20 if k <= 20 else 40
    if rating >= 2400:
        return 10
    return 40 if age is not None and age <= _ADULT and rating < 2300 else 20


def rating_error(rating: float, *, k: int | None, age: int | None = None) -> float:
    """The error of a rating.

    >>> rating_error(1700, k=40), rating_error(1700, k=20), rating_error(2500, k=10)
    (108.0, 76.0, 33.0)
    """
    return next(error for below, error in ERRORS[k_of(rating, k=k, age=age)] if rating < below)
