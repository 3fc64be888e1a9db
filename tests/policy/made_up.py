"""Small networks in Leela's format with made-up weights, and small sets of games."""

from __future__ import annotations

import gzip
import random
import struct
from collections.abc import Sequence
from pathlib import Path

import chess
import chess.pgn
import numpy as np

WIDTH, NARROW = 8, 4


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def part(number: int, data: bytes) -> bytes:
    """A field of bytes."""
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def layer(numbers: np.ndarray, low: float = -1.0, high: float = 1.0) -> bytes:  # type: ignore[type-arg]
    """Numbers between -1 and 1, told to lie between `low` and `high`."""
    packed = np.round((numbers.ravel() + 1) / 2 * 65535).astype("<u2").tobytes()
    return struct.pack("<Bf", 1 << 3 | 5, low) + struct.pack("<Bf", 2 << 3 | 5, high) + part(3, packed)


def leela(seed: int = 1, *, width: int = WIDTH, blocks: int = 1, planes: int = 112, bound: float = 1.0) -> bytes:
    """A network of the kind that Maia is, not packed."""
    chance = np.random.default_rng(seed)

    def some(*shape: int) -> bytes:
        return layer(chance.uniform(-0.3, 0.3, shape), high=bound)

    def convolution(inputs: int, outputs: int, normal: bool = True) -> bytes:
        data = part(1, some(outputs, inputs, 3, 3))
        if not normal:
            return data + part(2, some(outputs))
        variance = layer(chance.uniform(0.5, 1, outputs))
        return data + part(3, some(outputs)) + part(4, variance) + part(5, some(outputs)) + part(6, some(outputs))

    tower = b"".join(
        part(
            2,
            part(1, convolution(width, width))
            + part(2, convolution(width, width))
            + part(
                3,
                part(1, some(NARROW, width))
                + part(2, some(NARROW))
                + part(3, some(2 * width, NARROW))
                + part(4, some(2 * width)),
            ),
        )
        for _ in range(blocks)
    )
    head = part(11, convolution(width, width)) + part(3, convolution(width, 80, normal=False))
    weights = part(1, convolution(planes, width)) + tower + head
    return struct.pack("<BI", 1 << 3 | 5, 0x1C0) + part(10, weights)


def write_leela(path: Path, seed: int = 1) -> Path:
    path.write_bytes(gzip.compress(leela(seed)))
    return path


NAMES = [f"Player {number}, A" for number in range(60)]


def games(count: int, seed: int = 1, names: Sequence[str] = NAMES) -> str:
    """Games of random moves among many players."""
    chance = random.Random(seed)
    texts = []
    for number in range(count):
        board = chess.Board()
        for _ in range(chance.randrange(24, 50)):
            moves = sorted(board.legal_moves, key=str)
            if not moves:
                break
            board.push(chance.choice(moves))
        game = chess.pgn.Game.from_board(board)
        white, black = chance.sample(list(names), 2)
        game.headers.update(
            {
                "Event": f"Made up {number}",
                "White": white,
                "Black": black,
                "WhiteElo": str(chance.randrange(1000, 2400)),
                "BlackElo": str(chance.randrange(1000, 2400)),
                "Result": "1-0",
            }
        )
        texts.append(str(game))
    return "\n\n".join(texts) + "\n"
