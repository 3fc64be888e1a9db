"""Games completed by what is known of their event: missing results, ratings, rounds, from a tournament report.

Players are told by FIDE id, else by name. What does not fit is named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from assay.games.split import Game
from assay.games.trf import UNPLAYED, PlayedGame, Tournament, tags_of, written
from assay.players import plain_name
from assay.records import dataclass

UNKNOWN = frozenset({"", "?", "-", "*", "0", "????.??.??"})
_NAMED = 5


@dataclass
class Remarks:
    """Sentences by what they are about, few of each."""

    found: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, about: str, what: str) -> None:
        """One more."""
        self.found[about].append(what)

    def __iter__(self) -> Iterator[str]:
        for about, each in self.found.items():
            more = f", and {len(each) - _NAMED:,} more" if len(each) > _NAMED else ""
            yield f"{about}: {'; '.join(each[:_NAMED])}{more}."


def with_tags(game: Game, tags: Mapping[str, str]) -> bytes:
    """The text of a game with these tags in the place of its own; all others stay as they are."""
    cut = 0
    for line in game.data.split(b"\n"):
        if line.strip() and not line.lstrip().startswith(b"["):
            break
        cut += len(line) + 1
    movetext = game.data[cut:].strip()
    if movetext.endswith(b"*") and tags.get("Result", "*") != "*":
        movetext = movetext[:-1] + tags["Result"].encode()
    head = written(game.tags | dict(tags), " ").rstrip()
    return f"{head}\n\n".encode() + (movetext or b"*") + b"\n"


def alike(name: str) -> str:
    """A name without what spellings differ in, the order of its parts included.

    >>> alike("Garry Kasparov") == alike("KASPAROV, Garry")
    True
    """
    return " ".join(sorted(plain_name(name).split()))


class _Known:
    """The players of a report, by id and by name."""

    def __init__(self, tournament: Tournament) -> None:
        self.ids = {player.fide_id: number for number, player in tournament.players.items() if player.fide_id}
        self.names: dict[str, list[int]] = defaultdict(list)
        for number, player in tournament.players.items():
            self.names[alike(player.name)].append(number)

    def find(self, tags: Mapping[str, str], side: str) -> int | None:
        told = tags.get(f"{side}FideId", "")
        if told.isdecimal() and int(told) in self.ids:
            return self.ids[int(told)]
        same = self.names.get(alike(tags.get(side, "")), [])
        return same[0] if len(same) == 1 else None


class Completer:
    """Completes games by a report, and knows which games of it were there."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament, self.known = tournament, _Known(tournament)
        self.by_pair: dict[tuple[int, int], list[PlayedGame]] = defaultdict(list)
        for game in tournament.games:
            self.by_pair[game.white, game.black].append(game)
        self.there: set[PlayedGame] = set()

    def knows(self, tags: Mapping[str, str]) -> bool:
        """Whether both players are in the report."""
        return None not in (self.known.find(tags, "White"), self.known.find(tags, "Black"))

    def complete(self, tags: Mapping[str, str], remarks: Remarks) -> dict[str, str]:
        """The tags that a game of these two lacks."""
        white, black = self.known.find(tags, "White"), self.known.find(tags, "Black")
        assert white is not None and black is not None
        who = f"{tags.get('White', '?')} - {tags.get('Black', '?')}"
        round = tags.get("Round", "").partition(".")[0]
        found = self._game(white, black, round)
        if found is None:
            return self._unplayed(white, black, round, who, remarks)
        self.there.add(found)
        told = tags_of(self.tournament, found)
        missing = {name: value for name, value in told.items() if tags.get(name, "").strip() in UNKNOWN}
        for name in ("Result", "WhiteElo", "BlackElo"):
            if name in told and name not in missing and tags[name].strip() != told[name]:
                about = "Results that differ" if name == "Result" else "Ratings that differ"
                side = "" if name == "Result" else f", {name}"
                remarks.add(f"{about} from {self.tournament.source}", f"{who}{side}: {tags[name]}, there {told[name]}")
        return missing

    def _game(self, white: int, black: int, round: str) -> PlayedGame | None:
        games = self.by_pair.get((white, black), [])
        same = [game for game in games if str(game.round) == round]
        free = [game for game in games if game not in self.there]
        if same:
            return same[0]
        return free[0] if free and (round in UNKNOWN or not round.isdecimal()) else None

    def _unplayed(self, white: int, black: int, round: str, who: str, remarks: Remarks) -> dict[str, str]:
        for pairing in self.tournament.players[white].pairings:
            if pairing.opponent == black and pairing.code in UNPLAYED and round in (str(pairing.round), *UNKNOWN):
                remarks.add(
                    f"No games by {self.tournament.source}, and not counted as such",
                    f"{who} in round {pairing.round} is {UNPLAYED[pairing.code]}",
                )
                return {"Result": "*", "Round": str(pairing.round)}
        where = f" in round {round}" if round not in UNKNOWN else ""
        remarks.add(f"Not in {self.tournament.source}", f"{who}{where}")
        return {}

    def rest(self) -> Iterator[bytes]:
        """The games of the report that were not there: players and result alone."""
        for game in self.tournament.games:
            if game not in self.there:
                yield f"{written(tags_of(self.tournament, game))}\n".encode()


def completed(games: Iterable[Game], completers: Sequence[Completer], remarks: Remarks) -> Iterator[bytes]:
    """The games with what the reports add to each; a game whose players are in none of them stays as it is."""
    for game in games:
        tags = game.tags
        mine = next((each for each in completers if each.knows(tags)), None)
        if mine is None:
            remarks.add(
                f"Players that {completers[0].tournament.source} does not have",
                f"{tags.get('White', '?')} - {tags.get('Black', '?')}",
            )
        added = mine.complete(tags, remarks) if mine else {}
        yield (with_tags(game, added) if added else game.data.strip() + b"\n")


def ratings_of(tournament: Tournament, players: Iterable[str], told: Callable[[str], None]) -> dict[str, float]:
    """The ratings of a report by the names that players have in some games; who is not in it is told."""
    known = _Known(tournament)
    found, unknown = {}, []
    for name in sorted(players):
        number = known.find({"White": name}, "White")
        rating = tournament.players[number].rating if number is not None else None
        if rating is None:
            unknown.append(name)
        else:
            found[name] = float(rating)
    if unknown:
        more = f", and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
        told(f"{tournament.source} has no rating of {'; '.join(unknown[:_NAMED])}{more}.")
    return found
