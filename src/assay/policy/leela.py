"""Networks in the format of Leela Chess Zero, as Maia has them: read and run in numpy.

A file is a protocol buffer (lc0's `net.proto`), mostly gzipped: an input convolution of 112 planes, residual blocks
with squeeze and excitation, and a convolutional policy head of 80 planes, of which 73 stand for moves. Weights are
16-bit integers between a least and a greatest value. Only this kind is read; of the value head nothing is.

Maia: McIlroy-Young, Sen, Kleinberg, Anderson, "Aligning Superhuman AI with Human Behavior", KDD 2020.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.games.legal import Moves, Positions
from assay.records import dataclass

Floats = npt.NDArray[np.float32]

PLANES = 112
MOVE_PLANES = 80
_MAGIC = 0x1C0
_MOST_BYTES = 64 << 20  # far more than any network of this kind has
_EPSILON = 1e-5
_HISTORY = 8
_EACH = 13  # planes of one position in the history
_WAYS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))  # (files, ranks), from north by east
_LEAPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))


@dataclass(frozen=True)
class Convolution:
    """A convolution of 3 x 3 squares: weights (9 * in, out), the nine squares row by row, and what is added."""

    weights: Floats
    bias: Floats


@dataclass(frozen=True)
class Residual:
    """A residual block: two convolutions, then a gate and a shift for each channel (squeeze and excitation)."""

    first: Convolution
    second: Convolution
    squeeze: tuple[Floats, Floats]
    excite: tuple[Floats, Floats]


@dataclass(frozen=True)
class Leela:
    """A network that foretells moves. `identity` is a hash of the file's content."""

    name: str
    identity: str
    entry: Convolution
    blocks: tuple[Residual, ...]
    head: Convolution
    moves: Convolution

    @property
    def level(self) -> int | None:
        """The rating on Lichess that the name tells, as in maia-1500."""
        digits = self.name.rpartition("-")[2]
        return int(digits) if digits.isdecimal() and len(digits) == 4 else None


def read_leela(path: str | Path) -> Leela:
    """Read a network; a file that is none, or of another shape, is refused with a sentence."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    return parse_leela(data, path.name)


def parse_leela(data: bytes, name: str) -> Leela:
    """The network in these bytes, which may be gzipped."""
    if data[:2] == b"\x1f\x8b":
        data = _unzipped(data, name)
    try:
        fields = _fields(data)
        if not any(number == 1 and value == _MAGIC for number, value in fields):
            raise InputError(f"{name} is no network of Leela Chess Zero: give a .pb or .pb.gz such as maia-1500.pb.gz.")
        network = _network(fields, name.split(".")[0], sha256(data).hexdigest()[:16])
    except _Damaged as error:
        raise InputError(f"{name} is damaged ({error}); fetch it again.") from error
    return network


class _Damaged(Exception):  # noqa: N818 - says what the file is
    """What is wrong inside the file."""


Field = tuple[int, "int | bytes | float"]


def _unzipped(data: bytes, name: str) -> bytes:
    try:
        unpack = zlib.decompressobj(wbits=31)
        whole = unpack.decompress(data, _MOST_BYTES)
    except zlib.error as error:
        raise InputError(f"{name} is damaged ({error}); fetch it again.") from error
    if not unpack.eof:
        why = "it is too large for a network of this kind" if len(whole) >= _MOST_BYTES else "it ends too early"
        raise InputError(f"{name} is damaged ({why}); fetch it again.")
    return whole


def _fields(data: bytes) -> list[Field]:
    return list(_walk(data))


def _walk(data: bytes) -> Iterator[Field]:
    """The fields of one message of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield number, value
        elif kind == 2:
            size, at = _varint(data, at)
            if at + size > len(data):
                raise _Damaged("it ends too early")
            yield number, data[at : at + size]
            at += size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            if at + size > len(data):
                raise _Damaged("it ends too early")
            # The only 32-bit numbers read are the magic number and bounds of weights; the reader says which it wants.
            yield number, int.from_bytes(data[at : at + size], "little")
            at += size
        else:
            raise _Damaged(f"a field of unknown kind {kind}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise _Damaged("it ends too early")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _parts(fields: list[Field], number: int) -> list[bytes]:
    return [value for found, value in fields if found == number and isinstance(value, bytes)]


def _part(fields: list[Field], number: int, what: str) -> bytes:
    parts = _parts(fields, number)
    if not parts:
        raise _Damaged(f"it lacks the {what}")
    return parts[-1]


def _layer(data: bytes, what: str) -> Floats:
    """The numbers of a layer: 16-bit integers between two bounds."""
    least = greatest = 0.0
    packed = b""
    for number, value in _walk(data):
        if number in (1, 2) and isinstance(value, int) and value < 1 << 32:
            bound = struct.unpack("<f", value.to_bytes(4, "little"))[0]
            least, greatest = (bound, greatest) if number == 1 else (least, bound)
        elif number == 3 and isinstance(value, bytes):
            packed = value
    if len(packed) % 2:
        raise _Damaged(f"the {what} ends too early")
    if not (np.isfinite(least) and np.isfinite(greatest)):
        raise _Damaged(f"the {what} holds numbers that are none")
    numbers = np.frombuffer(packed, "<u2").astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        found: Floats = numbers * np.float32((greatest - least) / 65535) + np.float32(least)
    if not np.isfinite(found).all():
        raise _Damaged(f"the {what} holds numbers that are none")
    return found


def _convolution(data: bytes, inputs: int, outputs: int, what: str) -> Convolution:
    """A convolution with its normalisation folded in; `bn_stddivs` of the format are variances."""
    fields = _fields(data)
    weights = _shaped(_layer(_part(fields, 1, what), what), (outputs, inputs, 3, 3), what)
    bias = np.zeros(outputs, np.float32)
    if biases := _parts(fields, 2):
        bias = _shaped(_layer(biases[-1], what), (outputs,), what)
    if _parts(fields, 3):
        mean, variance, gamma, beta = (
            _shaped(_layer(part[-1], what), (outputs,), what) if (part := _parts(fields, number)) else default
            for number, default in zip((3, 4, 5, 6), (bias * 0, bias * 0 + 1, bias * 0 + 1, bias * 0), strict=True)
        )
        with np.errstate(over="ignore", invalid="ignore"):
            scale: Floats = (gamma / np.sqrt(np.maximum(variance, 0) + _EPSILON)).astype(np.float32)
            weights = weights * scale[:, None, None, None]
            bias = (beta - scale * (mean - bias)).astype(np.float32)
        if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise _Damaged(f"the {what} holds numbers that are none")
    return Convolution(np.ascontiguousarray(weights.transpose(2, 3, 1, 0).reshape(9 * inputs, outputs)), bias)


def _shaped(numbers: Floats, shape: tuple[int, ...], what: str) -> Floats:
    if numbers.size != np.prod(shape):
        raise _Damaged(f"the {what} has {numbers.size:,} numbers where {np.prod(shape):,} belong")
    return numbers.reshape(shape)


def _network(fields: list[Field], name: str, identity: str) -> Leela:
    weights = _fields(_part(fields, 10, "weights"))
    entry = _part(weights, 1, "input convolution")
    width = _layer(_part(_fields(entry), 1, "input convolution"), "input convolution").size // (9 * PLANES)
    residuals = _parts(weights, 2)
    if not width or not residuals or not _parts(weights, 11):
        raise InputError(
            f"{name} is a network of another shape: Assay reads residual networks of {PLANES} planes with a "
            "convolutional policy head, as Maia's are."
        )
    blocks = []
    for number, data in enumerate(residuals, 1):
        what = f"block {number}"
        parts = _fields(data)
        unit = _fields(_part(parts, 3, f"{what}, squeeze and excitation"))
        layers = [_layer(_part(unit, i, f"{what}, squeeze and excitation"), what) for i in (1, 2, 3, 4)]
        narrow = layers[1].size
        if not narrow:
            raise _Damaged(f"{what} has an empty layer")
        blocks.append(
            Residual(
                _convolution(_part(parts, 1, what), width, width, what),
                _convolution(_part(parts, 2, what), width, width, what),
                (_shaped(layers[0], (narrow, width), what).T.copy(), layers[1]),
                (_shaped(layers[2], (2 * width, narrow), what).T.copy(), _shaped(layers[3], (2 * width,), what)),
            )
        )
    return Leela(
        name=name,
        identity=identity,
        entry=_convolution(entry, PLANES, width, "input convolution"),
        blocks=tuple(blocks),
        head=_convolution(_part(weights, 11, "policy head"), width, width, "policy head"),
        moves=_convolution(_part(weights, 3, "policy head"), width, MOVE_PLANES, "policy head"),
    )


def planes(positions: Positions, halfmove: npt.NDArray[np.integer]) -> Floats:
    """The 112 planes of each position, (n, 8, 8, 112).

    Nothing is known of the moves before: the position itself stands for its past, as lc0 does with a FEN (in that past
    a pawn that may be taken in passing stands where it came from).
    """
    n = len(positions)
    out = np.zeros((n, 64, PLANES), np.float32)
    rows, squares = np.nonzero(positions.boards)
    out[rows, squares, positions.boards[rows, squares] - 1] = 1
    past = out[:, :, :12].copy()
    at = np.flatnonzero(positions.en_passant >= 0)
    goal = positions.en_passant[at].astype(np.intp)
    past[at, goal - 8, 6] = 0
    past[at, goal + 8, 6] = 1
    for back in range(1, _HISTORY):
        out[:, :, back * _EACH : back * _EACH + 12] = past
    for plane, bit in ((104, 1), (105, 0), (106, 3), (107, 2)):
        out[:, :, plane] = (positions.castling >> bit & 1)[:, None]
    out[:, :, 108] = positions.turned[:, None]
    out[:, :, 109] = halfmove[:, None]
    out[:, :, 111] = 1
    return out.reshape(n, 8, 8, PLANES)


def move_numbers(positions: Positions, moves: Moves) -> npt.NDArray[np.intp]:
    """Where the head of the network tells of each move: plane * 64 + square of departure.

    Castling is the king taking his own rook, and promotion to a knight the plain move.
    """
    king = positions.boards[moves.row, moves.start] == 6
    castles = king & (abs(moves.start - moves.end) == 2)
    end = np.where(castles, np.where(moves.end > moves.start, 7, 0), moves.end)
    files, ranks = end % 8 - moves.start % 8, end // 8 - moves.start // 8
    plane = _PLANE_OF[files + 7, ranks + 7]
    less = (moves.promotion > 0) & (moves.promotion != 2)
    order = np.array([0, 0, 0, 1, 0, 2])[moves.promotion]  # rook, bishop, queen
    plane = np.where(less, 64 + 3 * (files + 1) + order, plane)
    return plane * 64 + moves.start


def _plane_of() -> npt.NDArray[np.intp]:
    table = np.zeros((15, 15), np.intp)
    for way, (file, rank) in enumerate(_WAYS):
        for steps in range(1, 8):
            table[7 + file * steps, 7 + rank * steps] = way * 7 + steps - 1
    for way, (file, rank) in enumerate(_LEAPS):
        table[7 + file, 7 + rank] = 56 + way
    return table


_PLANE_OF = _plane_of()


def logits(network: Leela, inputs: Floats) -> Floats:
    """What the head says, (n, 80 * 64), for inputs of :func:`planes`."""
    flow = np.maximum(_convolve(inputs, network.entry), 0)
    for block in network.blocks:
        inner = _convolve(np.maximum(_convolve(flow, block.first), 0), block.second)
        pooled = inner.mean(axis=(1, 2))
        narrow = np.maximum(pooled @ block.squeeze[0] + block.squeeze[1], 0)
        gate, shift = np.split(narrow @ block.excite[0] + block.excite[1], 2, axis=1)
        inner *= (1 / (1 + np.exp(-gate)))[:, None, None, :]
        flow = np.maximum(inner + shift[:, None, None, :] + flow, 0)
    out = _convolve(np.maximum(_convolve(flow, network.head), 0), network.moves)
    return np.ascontiguousarray(out.reshape(len(out), 64, MOVE_PLANES).transpose(0, 2, 1)).reshape(len(out), -1)


def _convolve(flow: Floats, convolution: Convolution) -> Floats:
    n, _, _, width = flow.shape
    wide = np.zeros((n, 10, 10, width), np.float32)
    wide[:, 1:9, 1:9] = flow
    shifted = np.concatenate([wide[:, r : r + 8, f : f + 8] for r in range(3) for f in range(3)], axis=3)
    out: Floats = shifted.reshape(n * 64, 9 * width) @ convolution.weights + convolution.bias
    return out.reshape(n, 8, 8, -1)
