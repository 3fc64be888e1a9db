"""Who is in which set: by a hash of the player's name, so that nobody is met both in training and in testing."""

from __future__ import annotations

import hashlib

SPLITS = ("train", "validation", "test")
SHARES = (0.8, 0.1, 0.1)

_UNKNOWN = frozenset({"", "?", "-", "nn", "n.n.", "n. n.", "unknown", "anonymous"})


def is_known(name: str | None) -> bool:
    """Whether a tag names somebody.

    >>> is_known("Carlsen, Magnus"), is_known("?"), is_known(None)
    (True, False, False)
    """
    return name is not None and name.strip().lower() not in _UNKNOWN


def hash64(text: str | bytes) -> int:
    """A 64-bit number that stands for a text, the same on every machine."""
    data = text.encode() if isinstance(text, str) else text
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def split_of(number: int) -> str:
    """The set of a player or game with this hash: 80 % train, 10 % validation, 10 % test."""
    place = number / 2**64
    return SPLITS[0] if place < SHARES[0] else SPLITS[1] if place < SHARES[0] + SHARES[1] else SPLITS[2]


def split_of_game(white: str | None, black: str | None, moves: bytes) -> str | None:
    """The set of a game: that of its players, None if they are of different sets and the game must be left out.

    Where a name is unknown, the game itself is hashed (by its moves, so that a game and its copies stay together).
    """
    if is_known(white) and is_known(black):
        sets = {split_of(hash64(_plain(name))) for name in (white, black) if name is not None}
        return sets.pop() if len(sets) == 1 else None
    return split_of(hash64(moves))


def player_id(name: str | None) -> int | None:
    """A number that stands for a player, or None if the name is unknown."""
    return hash64(_plain(name)) if name is not None and is_known(name) else None


def _plain(name: str) -> str:
    return " ".join(name.lower().replace(",", ", ").split())
