"""Who is who: one person under several spellings is told by the FIDE id, and so are two people of one name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from assay.games.completing import alike, with_tags
from assay.games.split import Game
from assay.players import is_known
from assay.records import dataclass

MARK = b'FideId "'
_SIDES = ("White", "Black")
_FAR = 150  # nobody's rating differs so much between two spellings of one time

Named = tuple[str, int | None]


def id_of(text: str | None) -> int | None:
    """A FIDE id; None if the text is none.

    >>> id_of("1503014"), id_of("0"), id_of("?"), id_of(None)
    (1503014, None, None, None)
    """
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdecimal() and 0 < int(text) < 2**31 else None


def names_of(counts: Mapping[Named, int]) -> dict[Named, str]:
    """What to call everybody, by name and id as they occur, with how often: one name for each person.

    The most frequent spelling stands for an id; the id is put behind a name that several people have. A name without
    an id is that of the one person who bears it elsewhere, if there is only one.

    >>> names_of({("Carlsen,M", 1503014): 1, ("Carlsen, Magnus", 1503014): 5, ("Carlsen,M", None): 2})
    {('Carlsen,M', 1503014): 'Carlsen, Magnus', ('Carlsen, Magnus', 1503014): 'Carlsen, Magnus', \
('Carlsen,M', None): 'Carlsen, Magnus'}
    >>> names_of({("Wang, Li", 1): 1, ("Wang, Li", 2): 1, ("Wang, Li", None): 1})
    {('Wang, Li', 1): 'Wang, Li (1)', ('Wang, Li', 2): 'Wang, Li (2)', ('Wang, Li', None): 'Wang, Li'}
    """
    spellings: dict[int, Counter[str]] = defaultdict(Counter)
    ids: dict[str, set[int]] = defaultdict(set)
    for (name, fide_id), count in counts.items():
        if fide_id is not None:
            spellings[fide_id][name] += count
            ids[name].add(fide_id)
    main = {fide_id: max(found, key=lambda name: (found[name], name)) for fide_id, found in spellings.items()}
    borne = Counter(main.values())
    found = {}
    for name, fide_id in counts:
        who = fide_id if fide_id is not None else next(iter(ids[name])) if len(ids.get(name, ())) == 1 else None
        if who is None:
            found[name, fide_id] = name
        else:
            found[name, fide_id] = f"{main[who]} ({who})" if borne[main[who]] > 1 else main[who]
    return found


def joined(games: Sequence[Game]) -> list[Game]:
    """The games with one name for each person; those without ids of anybody are given back as they are."""
    if not any(MARK in game.data for game in games):
        return list(games)
    told = names_of(Counter(_named(game, side) for game in games for side in _SIDES))
    if all(name == own for (own, _), name in told.items()):
        return list(games)
    made = []
    for game in games:
        new = {side: told[_named(game, side)] for side in _SIDES}
        changed = {side: name for side, name in new.items() if name and name != game.tags.get(side, "").strip()}
        made.append(replace(game, data=with_tags(game, changed)) if changed else game)
    return made


def _named(game: Game, side: str) -> Named:
    return game.tags.get(side, "").strip(), id_of(game.tags.get(f"{side}FideId"))


@dataclass(frozen=True)
class Person:
    """Somebody in some games: the name, id and spellings, how many games, ratings, and who may be the same."""

    name: str
    fide_id: int | None
    spellings: tuple[str, ...]
    games: int
    lowest: int | None
    highest: int | None
    like: tuple[str, ...] = ()


def people_in(games: Iterable[Game], counts_for: Callable[[Game], bool] | None = None) -> list[Person]:
    """The people of some games, those with the most games first; and who looks like one person.

    Of games for which `counts_for` does not hold only names and ratings are taken.
    """
    counts: Counter[Named] = Counter()
    played: Counter[Named] = Counter()
    ratings: dict[Named, list[int]] = defaultdict(list)
    for game in games:
        one = counts_for is None or counts_for(game)
        for side in _SIDES:
            who = _named(game, side)
            if is_known(who[0]):
                counts[who] += 1
                played[who] += one
                rating = game.tags.get(f"{side}Elo", "").strip()
                if rating.isascii() and rating.isdecimal() and 0 < int(rating) < 5000:
                    ratings[who].append(int(rating))
    called = names_of(counts)
    by_person: dict[str, list[Named]] = defaultdict(list)
    for who, name in called.items():
        by_person[name].append(who)
    found = []
    for name, all_ in by_person.items():
        known = [rating for who in all_ for rating in ratings[who]]
        found.append(
            Person(
                name=name,
                fide_id=next((who[1] for who in all_ if who[1] is not None), None),
                spellings=tuple(sorted({who[0] for who in all_})),
                games=sum(played[who] for who in all_),
                lowest=min(known, default=None),
                highest=max(known, default=None),
            )
        )
    found.sort(key=lambda person: (-person.games, person.name))
    sharing: dict[str, list[Person]] = defaultdict(list)  # by what two spellings of one name have in common
    for person in found:
        for key in _keys(person):
            sharing[key].append(person)
    made = []
    for person in found:
        others = {id(other): other for key in _keys(person) for other in sharing[key]}
        made.append(replace(person, like=tuple(_like(person, list(others.values())))))
    return made


def _keys(person: Person) -> set[str]:
    """The whole name, and the surname, of all spellings."""
    keys = {alike(name) for name in person.spellings}
    return keys | {f"{parts[0]}," for name in person.spellings if (parts := _parts(name)) is not None}


def _like(person: Person, others: Sequence[Person]) -> Iterable[str]:
    """Who looks like the same person: the same name but for spelling, or with initials, and no other id."""
    for other in others:
        if other is person or (person.fide_id is not None and other.fide_id is not None):
            continue
        if any(_may_be(a, b) for a in person.spellings for b in other.spellings) and _near(person, other):
            yield other.name


def _near(one: Person, other: Person) -> bool:
    if one.lowest is None or one.highest is None or other.lowest is None or other.highest is None:
        return True
    return one.lowest - _FAR <= other.highest and other.lowest - _FAR <= one.highest


def _may_be(one: str, other: str) -> bool:
    """Whether two spellings may be of one name.

    >>> _may_be("Gormally,D", "Gormally, Daniel W"), _may_be("Müller, Hans", "HANS MUELLER"), _may_be("Ng, A", "Ng, B")
    (True, False, False)
    """
    if alike(one) == alike(other):
        return True
    first, second = (_parts(name) for name in (one, other))
    if first is None or second is None or first[0] != second[0] or not first[1] or not second[1]:
        return False
    short, long = sorted((first[1], second[1]), key=len)
    return len(short) == 1 and long.startswith(short)


def _parts(name: str) -> tuple[str, str] | None:
    """Surname and given names of a name with a comma, plain."""
    surname, comma, given = name.partition(",")
    return (alike(surname), given.strip(" .").lower()) if comma else None


_MOST_TOLD = 5


def told_alike(games: Iterable[Game], aliases: Mapping[str, str]) -> list[str]:
    """A remark on names that look like one person's and count as two, if there are any."""
    pairs = dict.fromkeys(
        tuple(sorted((person.name, other)))
        for person in people_in(games)
        for other in person.like
        if aliases.get(person.name, person.name) != aliases.get(other, other)
    )
    if not pairs:
        return []
    each = "; ".join(" and ".join(pair) for pair in list(pairs)[:_MOST_TOLD])
    more = f" and {len(pairs) - _MOST_TOLD} more" if len(pairs) > _MOST_TOLD else ""
    return [f"These look like one person and count as two: {each}{more}. --aliases joins them."]
