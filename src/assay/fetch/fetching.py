"""From an address to games: ask the service for what is not here yet, and hand out what was wanted, oldest first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from itertools import islice
from pathlib import Path

from assay.errors import FetchError
from assay.fetch import chesscom, lichess
from assay.fetch.address import SERVICES, Address, Filters, filters, parse
from assay.fetch.asking import Client, KeptError, Manners
from assay.fetch.shelf import Shelf, begun, remove, tags, write
from assay.paths import File
from assay.progress import Progress
from assay.records import dataclass
from assay.table import Answer, Table, columns_of, counted

SERVED = {"lichess": lichess, "chess.com": chesscom}


@dataclass(frozen=True)
class Fetched:
    """Games from elsewhere: how many there are and came now, how often and for how many bytes the service was asked.

    `problem` says what went wrong; the games are then those that came before.
    """

    address: Address
    texts: Sequence[bytes] = field(repr=False, default=())
    came: int = 0
    requests: int = 0
    bytes: int = 0
    problem: str | None = None


def fetch(
    address: Address | str,
    wanted: Filters | None = None,
    *,
    manners: Manners | None = None,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> Fetched:
    """The games of an address, as far as they can be had; `wanted` adds to what the address itself asks for."""
    address = parse(address) if isinstance(address, str) else address
    if wanted is not None:
        address = replace(address, filters=address.filters.and_also(wanted))
    if address.kind != "user" and (address.filters.color or address.filters.vs or address.filters.rated is not None):
        raise FetchError(f"{address.text} is no account: color, vs and rated are for the games of somebody.")
    served = SERVED[address.service]
    client = Client(served.SERVICE, manners, told)
    came = 0
    label = f"fetching {address.text[:40]}"
    problem: str | None = None
    with Progress(label, unit="games", quiet=quiet) as progress:

        def seen(game: bytes) -> None:
            nonlocal came
            came += 1
            progress.note = f"{client.bytes:,} bytes"
            progress.update(came)

        try:
            if address.kind == "user":
                shelf, rest = served.of_user(client, address, seen)
                texts = _sieved(shelf, address, rest)
            else:
                texts = _limited(served.of_link(client, address, seen), address)
        except KeptError as error:
            texts, problem = error.games, str(error)
        except FetchError as error:
            problem = str(error)
            texts = _kept(address) if address.kind == "user" else []
    return Fetched(address, texts, came, client.requests, client.bytes, problem)


def _kept(address: Address) -> list[bytes]:
    """What is on the shelves of an account, when the service could not be asked."""
    kinds = dict.fromkeys([address.filters.kind, "all"]) if address.service == "lichess" else ["all"]
    for kind in kinds:
        own = kind == address.filters.kind and address.service == "lichess"
        found = _sieved(Shelf(address.service, address.ids[0], kind), address, Filters() if own else address.filters)
        if found:
            return found
    return []


def _sieved(shelf: Shelf, address: Address, rest: Filters) -> list[bytes]:
    """The games that were wanted, oldest first."""
    wanted = address.filters
    sieve = SERVED[address.service].sieve(address.ids[0], rest)
    since, until = wanted.since or 0, wanted.until or int(time.time()) + 86_400
    return list(islice(filter(sieve, shelf.newest_first(since, until)), wanted.max))[::-1]


def _limited(games: list[bytes], address: Address) -> list[bytes]:
    """The games of a link that were wanted."""
    wanted = address.filters
    since, until = wanted.since or 0, wanted.until or 1 << 60
    sieve = SERVED[address.service].sieve("", wanted)
    found = [game for game in games if since <= (begun(tags(game)) or 0) < until and sieve(game)]
    return found if wanted.max is None else found[: wanted.max]


def needed(fetched: Fetched) -> Fetched:
    """What was fetched, where there is no use in a part of it: a problem is an error."""
    if fetched.problem is not None:
        raise FetchError(fetched.problem)
    if not fetched.texts:
        raise FetchError(f"{fetched.address.text} has no such games on {SERVICES[fetched.address.service]}.")
    return fetched


def told_of(fetched: Fetched) -> str:
    """What was fetched, in a sentence."""
    asked = f"{counted(fetched.requests, 'request')}, {fetched.bytes:,} bytes"
    return f"{fetched.address.text}: {counted(len(fetched.texts), 'game')}, {fetched.came:,} fetched now ({asked})."


@dataclass(frozen=True, eq=False, kw_only=True)
class FetchedGames(Answer):
    """Games from elsewhere, a row for each source; `texts` are they, `damage` says what did not come."""

    found: Sequence[Fetched]
    damage: str = ""

    @property
    def texts(self) -> list[bytes]:
        """The games, source after source."""
        return [game for got in self.found for game in got.texts]

    def refuse_damage(self) -> None:
        """Raise what went wrong, if anything did: the games that came are written all the same."""
        if self.damage:
            raise FetchError(self.damage)


def fetch_games(
    *sources: str,
    out: File | None = None,
    since: str | None = None,
    until: str | None = None,
    max: int | None = None,
    speed: str | None = None,
    rated: bool | None = None,
    color: str | None = None,
    vs: str | None = None,
    analysed: bool | None = None,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> FetchedGames:
    """Fetch games from Lichess or chess.com by a name or a link, as `assay fetch` does; `out` writes them as PGN.

    The rest says which games: begun `since` and `until` a day, the newest `max`, of a speed, rated or casual, of a
    color, against an opponent, analysed by the service. What was fetched of an account is kept: docs/fetch.md.

    >>> import assay
    >>> assay.fetch_games("games.pgn")
    Traceback (most recent call last):
        ...
    assay.errors.FetchError: 'games.pgn' names no games elsewhere: write lichess:USER, ...
    """
    addresses = [parse(source) for source in sources]
    given = {"since": since, "until": until, "max": max, "speed": speed, "rated": rated, "color": color, "vs": vs}
    wanted = filters(given | {"analysed": analysed})
    tell = told or (lambda text: None)
    found: list[Fetched] = []
    for address in addresses:
        got = fetch(address, wanted, quiet=quiet, told=tell)
        found.append(got)
        if got.problem is None and not got.texts:
            tell(f"{address.text} has no such games.")
    rows = [
        {"source": got.address.text, "games": len(got.texts), "fetched": got.came, "bytes": got.bytes} for got in found
    ]
    remarks = [f"assay: {told_of(got)}" for got in found]
    if out is not None and (games := [game for got in found for game in got.texts]):
        write(games, Path(out))
        remarks = [f"assay: wrote {counted(len(games), 'game')} to {out}"]
    return FetchedGames(
        shown=Table(rows, columns_of(("source", "games", "fetched", "bytes"))),
        found=found,
        remarks=remarks,
        damage=" ".join(got.problem for got in found if got.problem is not None),
    )


def forget(*accounts: str) -> dict[str, int]:
    """Remove what is kept of some accounts, or of everybody, as `assay fetch --forget` does: how many files of whom.

    >>> import assay
    >>> assay.forget("https://lichess.org/study/JakQrELe")
    Traceback (most recent call last):
        ...
    assay.errors.FetchError: nothing is kept of https://lichess.org/study/JakQrELe: name an account, ...
    """
    addresses = [parse(account) for account in accounts]
    for account, address in zip(accounts, addresses, strict=True):
        if address.kind != "user":
            raise FetchError(f"nothing is kept of {account}: name an account, such as lichess:USER.")
    if not addresses:
        return {"everything": remove()}
    return {f"{each.service}:{each.ids[0]}": remove(each.service, each.ids[0]) for each in addresses}
