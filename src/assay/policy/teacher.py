"""Soft labels: what a network that people's games have taught would play in gathered positions.

Labels stand in the folder of the positions, block after block: rows of positions drawn at random, and the teacher's
probabilities of their legal moves. A block is written whole, so labelling may be stopped and taken up at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.arrays import load_arrays, save_arrays
from assay.errors import InputError, MissingExtra
from assay.games.legal import legal_moves
from assay.policy.leela import MOVE_PLANES, PLANES, Convolution, Floats, Leela, move_numbers, planes
from assay.policy.positions import RowArray, open_positions, seen
from assay.progress import Progress
from assay.records import dataclass

BLOCK = 20_000
_BATCH = 250


@dataclass(frozen=True)
class Labels:
    """Probabilities of the legal moves of some positions, in the order of :func:`assay.games.legal.legal_moves`."""

    rows: npt.NDArray[np.int64]  # numbers of the positions in their folder
    offsets: npt.NDArray[np.int64]
    chances: npt.NDArray[np.float16]
    level: int
    teacher: str


def label(folders: Sequence[Path], teachers: Sequence[Leela], count: int, *, seed: int = 1, quiet: bool = True) -> int:
    """Label so many positions more, block by block in turns of folders and teachers; how many were labelled.

    Positions that are held out are not.
    """
    for teacher in teachers:
        if teacher.level is None:
            raise InputError(f"the name of {teacher.name} tells no level; name the file as in maia-1500.pb.gz.")
    opened = [open_positions(folder) for folder in folders]
    runs = [_in_torch(teacher) for teacher in teachers]
    done = turn = 0
    with Progress("labelling", count, unit="positions", quiet=quiet) as progress:
        while done < count:
            which, whom = turn % len(folders), turn // len(folders) % len(teachers)
            number = len(list(folders[which].glob("labels-*.npz")))
            random = np.random.default_rng((seed, number, whom))
            rows, taken = _drawn(opened[which], min(BLOCK, count - done), random)
            parts, lengths = [], []
            for begin in range(0, len(rows), _BATCH):
                keys = np.ascontiguousarray(taken["key"][begin : begin + _BATCH])
                positions = seen(keys)
                moves = legal_moves(positions)
                said = runs[whom](planes(positions, keys[:, 34]))[moves.row, move_numbers(positions, moves)]
                parts.append(softmax(said, moves.offsets))
                lengths.append(np.diff(moves.offsets))
                progress.advance(len(positions))
            save_arrays(
                folders[which] / f"labels-{number:05}.npz",
                {
                    "rows": rows,
                    "offsets": np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64),
                    "chances": np.concatenate(parts).astype(np.float16),
                },
                {
                    "level": teachers[whom].level,
                    "teacher": teachers[whom].name,
                    "identity": teachers[whom].identity,
                },
            )
            done += len(rows)
            turn += 1
    return done


def _drawn(blocks: list[RowArray], count: int, random: np.random.Generator) -> tuple[npt.NDArray[np.int64], RowArray]:
    """Positions that are not held out, by their numbers and as rows."""
    sizes = np.cumsum([0, *map(len, blocks)])
    rows = np.sort(random.integers(0, sizes[-1], 2 * count))
    which = np.searchsorted(sizes, rows, side="right") - 1
    taken = np.concatenate([block[rows[which == b] - sizes[b]] for b, block in enumerate(blocks)])
    free = np.flatnonzero(taken["held_out"] == 0)
    if not len(free):
        raise InputError("all these positions are held out; gather more games.")
    free = np.sort(random.permutation(free)[:count])
    return rows[free], taken[free]


def open_labels(folder: Path, first: int = 0) -> list[Labels]:
    """The blocks of labels in a folder, from the given number on."""
    found = []
    for path in sorted(folder.glob("labels-*.npz"))[first:]:
        arrays, meta = load_arrays(path)
        found.append(Labels(arrays["rows"], arrays["offsets"], arrays["chances"], meta["level"], meta["teacher"]))
    return found


def softmax(logits: Floats, offsets: npt.NDArray[np.int64]) -> Floats:
    """Probabilities of moves that stand position after position; a position without moves has none.

    >>> softmax(np.zeros(3, np.float32), np.array([0, 2, 3])).tolist()
    [0.5, 0.5, 1.0]
    """
    return np.exp(log_softmax(logits, offsets))


def log_softmax(logits: Floats, offsets: npt.NDArray[np.int64]) -> Floats:
    """The same as logarithms."""
    counts = np.diff(offsets)
    begin = offsets[:-1][counts > 0]
    if not len(begin):
        return logits.copy()
    counts = counts[counts > 0]
    down = logits - np.repeat(np.maximum.reduceat(logits, begin), counts)
    sums = np.add.reduceat(np.exp(down), begin)
    found: Floats = down - np.repeat(np.log(sums), counts)
    return found


def _in_torch(teacher: Leela) -> Any:
    """The network as a function on inputs of :func:`planes`, in 16-bit floats: several times as fast as numpy."""
    try:
        import torch
        from torch.nn.functional import conv2d
    except ImportError as error:
        raise MissingExtra("torch", "learn") from error

    kind = torch.bfloat16

    def convolution(one: Convolution, inputs: int) -> tuple[Any, Any]:
        weights = one.weights.reshape(3, 3, inputs, -1).transpose(3, 2, 0, 1)
        tensor = torch.from_numpy(np.ascontiguousarray(weights)).to(kind)
        return tensor.contiguous(memory_format=torch.channels_last), torch.from_numpy(one.bias).to(kind)

    width = len(teacher.entry.bias)
    entry, head = convolution(teacher.entry, PLANES), convolution(teacher.head, width)
    last = convolution(teacher.moves, width)
    blocks: list[tuple[Any, ...]] = [
        (
            convolution(block.first, width),
            convolution(block.second, width),
            *(torch.from_numpy(np.ascontiguousarray(part)).to(kind) for part in (*block.squeeze, *block.excite)),
        )
        for block in teacher.blocks
    ]

    def convolve(flow: Any, weights: Any, bias: Any) -> Any:
        return conv2d(flow, weights, bias, padding=1)

    def run(inputs: Floats) -> Floats:
        with torch.inference_mode():
            flow = torch.from_numpy(inputs).to(kind).permute(0, 3, 1, 2)
            flow = convolve(flow, *entry).relu_()
            for first, second, squeeze, squeezed, excite, excited in blocks:
                inner = convolve(convolve(flow, *first).relu_(), *second)
                narrow = torch.addmm(squeezed, inner.mean((2, 3)), squeeze).relu_()
                gate, shift = torch.addmm(excited, narrow, excite).chunk(2, dim=1)
                inner = inner * gate.sigmoid()[:, :, None, None] + shift[:, :, None, None]
                flow = (inner + flow).relu_()
            out = convolve(convolve(flow, *head).relu_(), *last)
            found: Floats = out.float().reshape(len(inputs), MOVE_PLANES * 64).numpy()
            return found

    return run
