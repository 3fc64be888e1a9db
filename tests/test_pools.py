"""Which pool a game belongs to, by its tags."""

from __future__ import annotations

import pytest

from assay.engine.parsed import headers
from assay.games import Game
from assay.pools import POOLS, is_online, pool_of


@pytest.mark.parametrize(
    ("site", "event", "control", "pool"),
    [
        (
            "https://lichess.org/PpwPOZMq",
            "Rated Bullet tournament https://lichess.org/tournament/yc1WW2Ox",
            "60+0",
            "bullet",
        ),
        ("https://lichess.org/PpwPOZMq", "Hourly Rapid Arena", "600+0", "rapid"),
        ("https://lichess.org/PpwPOZMq", "Rated Classical game", "600+0", "classical"),
        ("https://lichess.org/PpwPOZMq", "Rated game", "300+3", "blitz"),
        ("https://lichess.org/PpwPOZMq", "?", "-", "correspondence"),
        ("?", "Rated Blitz game", "", "blitz"),
    ],
)
def test_lichess(site: str, event: str, control: str, pool: str) -> None:
    assert pool_of(site, event, control) == f"lichess-{pool}"


@pytest.mark.parametrize(
    ("site", "event", "control", "pool"),
    [
        ("lichess.org", "?", "", "lichess"),
        ("Chess.com", "Live Chess", "180", "chess.com-blitz"),
        ("https://tcec-chess.com", "TCEC Cup 10", "1800+3", "online-classical"),
        ("chess.com INT", "Titled Tue 5th Jan Late", "", "chess.com"),
        ("Internet Chess Club", "ICC 5 0", "300+0", "online-blitz"),
        ("chess24.com INT", "Magnus Carlsen Inv", "", "online"),
        ("Mesa USA", "Copper State Int", "", "otb-slow"),
        ("https://lichess.org/broadcast/-/-/x", "FIDE Grand Swiss 2025", "", "otb-slow"),
        ("https://lichess.org/study/x/y", "Round 1: A - B", "90+30", "otb-slow"),
        ("Berlin GER", "World Rapid 2015", "", "otb-rapid"),
        ("Berlin GER", "World Rapid and Blitz 2015", "180+2", "otb-blitz"),
        ("New York", "Women's Cup", "15 min. + 10 s. per move", "otb-rapid"),
        ("New York", "Cup", "The time control is 90 minutes for 40 moves", "otb-slow"),
        ("Moscow", "Cup", "40/7200:1800+30", "otb-slow"),
        ("Schnelldorf GER", "Club", "25+10", "otb-rapid"),
        ("?", "?", "180+2", "otb-blitz"),
        ("?", "", "?", "unknown"),
    ],
)
def test_elsewhere(site: str, event: str, control: str, pool: str) -> None:
    assert pool_of(site, event, control) == pool
    assert pool in POOLS
    assert is_online(pool) == (not pool.startswith(("otb", "unknown")))


def test_games_know_their_pool() -> None:
    data = b'[Event "Rated Blitz game"]\n[Site "https://lichess.org/x"]\n[White "A"]\n[Black "B"]\n\n1. e4 *\n'
    assert headers([Game("-", 0, len(data), data)])["pool"].to_list() == ["lichess-blitz"]
