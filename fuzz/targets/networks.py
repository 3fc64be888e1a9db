"""Networks from elsewhere: whatever the bytes are, a network that gives chances, or a sentence.

A case says what is changed in a whole file, since no small file is whole: the first byte which file, then pairs of a
place (two bytes) and a new byte; 0xFF as the first byte means that the rest is the file itself.
"""

from __future__ import annotations

import gzip
import struct
import warnings

import chess
import numpy as np
from fuzz.made import FOLDER, scratch

from assay.errors import AssayError
from assay.policy.chances import log_chances, open_network
from assay.policy.movemodel import Size, make_policy, save_policy, shapes

_SIZE = Size(2, 2, 2)


def _part(number: int, data: bytes) -> bytes:
    size, head = len(data), bytes([number << 3 | 2])
    while size > 127:
        head += bytes([size & 127 | 128])
        size >>= 7
    return head + bytes([size]) + data


def _layer(count: int) -> bytes:
    bounds = struct.pack("<Bf", 1 << 3 | 5, -0.5) + struct.pack("<Bf", 2 << 3 | 5, 0.5)
    return bounds + _part(3, (np.arange(count) * 7919 % 65536).astype("<u2").tobytes())


def _convolution(inputs: int, outputs: int) -> bytes:
    parts = _part(1, _layer(9 * inputs * outputs))
    return parts + b"".join(_part(number, _layer(outputs)) for number in (2, 3, 4, 5, 6))


def _leela() -> bytes:
    unit = b"".join(_part(number, _layer(count)) for number, count in ((1, 2), (2, 1), (3, 4), (4, 4)))
    block = _part(1, _convolution(2, 2)) + _part(2, _convolution(2, 2)) + _part(3, unit)
    weights = _part(1, _convolution(112, 2)) + _part(2, block) + _part(11, _convolution(2, 2))
    return struct.pack("<BI", 1 << 3 | 5, 0x1C0) + _part(10, weights + _part(3, _convolution(2, 80)))


def _policy() -> bytes:
    weights = {name: np.full(shape, 0.1, np.float32) for name, shape in shapes(_SIZE).items()}
    save_policy(FOLDER / "whole.npz", make_policy(weights, _SIZE, {}, "made"))
    return (FOLDER / "whole.npz").read_bytes()


_WHOLE = (_leela(), gzip.compress(_leela(), mtime=0), _policy())
_FENS = ["r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 7 1", chess.STARTING_FEN]
SEEDS = (b"\x00", b"\x01", b"\x02", b"\xff" + _WHOLE[0][:200], b"\x00\x00\x05\x00", b"\x02\x01\x00\xff\x02\x00\x00")
WORDS = ("\n", "\x12", "\x1a", "PK", "NUMPY")


def check(data: bytes) -> None:
    """Read the file and ask the network, if it is one."""
    warnings.simplefilter("error")
    if data[:1] == b"\xff" or not data:
        file = bytearray(data[1:])
    else:
        file = bytearray(_WHOLE[data[0] % len(_WHOLE)])
        for at in range(1, len(data) - 2, 3):
            place = int.from_bytes(data[at : at + 2], "big")
            if data[at + 2] == 0 and place % 16 == 15:
                del file[place:]
            elif place < len(file):
                file[place] = data[at + 2]
    try:
        found = log_chances(open_network(scratch("network", bytes(file))), _FENS)
    except AssayError as error:
        assert str(error).endswith("."), f"no sentence: {error}"
        return
    assert len(found.logs) == found.offsets[-1] == sum(chess.Board(fen).legal_moves.count() for fen in _FENS)
    sums = np.add.reduceat(np.exp(found.logs.astype(float)), found.offsets[:-1])
    assert np.allclose(sums, 1, atol=1e-3), "chances do not sum to one"
