"""What Lichess and chess.com answer, and links and names of games there: games or a FetchError.

The first byte says what the rest is: a stream of PGN, an archive of chess.com, its list of months, an address.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fuzz.made import GAMES

from assay.errors import AssayError
from assay.fetch import chesscom, lichess
from assay.fetch.address import Filters, is_address, parse
from assay.fetch.asking import Received
from assay.fetch.shelf import begun, games_in, identity, is_analysed, tags
from assay.games.split import split

_GAME = GAMES[0].decode().replace("[Event", '[UTCDate "2024.02.29"]\n[UTCTime "10:11:12"]\n[Event', 1)
_ARCHIVE = {
    "games": [{"pgn": _GAME, "rated": True, "rules": "chess", "accuracies": {"white": 90}}, {"rules": "crazyhouse"}]
}
SEEDS = (
    b"\x00" + (_GAME + "\n\n\n" + _GAME).encode(),
    b"\x00<!DOCTYPE html><p>no games",
    b"\x01" + json.dumps(_ARCHIVE).encode(),
    b"\x02" + json.dumps({"archives": ["https://api.chess.com/pub/player/x/games/2024/02", "x/2024/13"]}).encode(),
    b"\x03lichess:Somebody/rapid?max=20&since=2024-01-01",
    b"\x03https://lichess.org/broadcast/a-b/round-1/AbCdEfGh",
    b"\x03https://www.chess.com/game/live/12345?x=[::1",
    b"\x03chess.com:Some_body?until=2024-02&rated=yes&color=white",
)
WORDS = (
    "[Event ", "\n\n\n", "null", "[]", "{}", '"games": ', '"pgn": ', '"archives": ', "\\ud800", "1e400", "lichess:",
    "https://", "?max=", "&since=", "/blitz", "9999-99-99", "%00", "@", "[::1]", '[UTCDate "0000.00.00"]',
)  # fmt: skip


def check(data: bytes) -> None:
    kind, rest = data[0] % len(_CHECKS) if data else 0, data[1:]
    try:
        _CHECKS[kind](rest)
    except AssayError as error:
        assert str(error).strip(), "an error without a sentence"


def _stream(data: bytes) -> None:
    whole = list(games_in([data], "Lichess"))
    for size in (1, 7):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        assert list(games_in(blocks, "Lichess")) == whole, "where blocks end changes the games"
    for game in whole:
        _known(game)


def _archive(data: bytes) -> None:
    for game in chesscom._games(_answer(data).json()):
        _known(game)


def _known(game: bytes) -> None:
    """Whatever is asked of a game has an answer."""
    found = tags(game)
    assert identity(game, found) and isinstance(is_analysed(game, found), bool)
    when = begun(found)
    assert when is None or isinstance(when, int)
    assert lichess.speed(game) is not None and chesscom.speed(game) is not None
    for sieve in (lichess.sieve, chesscom.sieve):
        assert isinstance(sieve("somebody", Filters(since=1, rated=True))(game), bool)
    split(game)


def _months(data: bytes) -> None:
    for year, month in chesscom._months(_Client(data), "somebody"):  # type: ignore[arg-type]
        assert len(year) == 4 and 1 <= int(month) <= 12


def _address(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if is_address(text):
        found = parse(text)
        assert found.service in ("lichess", "chess.com") and all(found.ids)


def _answer(data: bytes) -> Received:
    return Received(200, {}, chesscom.SERVICE.base, iter([data]))


class _Client:
    """Who asks chess.com, and is answered with the case."""

    service = chesscom.SERVICE

    def __init__(self, data: bytes) -> None:
        self.data = data

    @contextmanager
    def get(self, url: str, **_: object) -> Iterator[Received]:
        yield _answer(self.data)


_CHECKS: tuple[Callable[[bytes], None], ...] = (_stream, _archive, _months, _address)
