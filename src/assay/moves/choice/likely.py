"""Likely moves deeper: which moves a search of few moves goes on with, and what it would have said of known turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.engine.choices import Choices
from assay.engine.identity import LikelyDeeper
from assay.engine.local import Choose, Deeper
from assay.engine.uci import Valued
from assay.errors import CalibrationError
from assay.games.packed import decode_move
from assay.policy.chances import Network, log_chances

Flags = NDArray[np.bool_]
# One fixed level for everybody: chances at the player's own rating would tell the model what it is to find.
LEVEL, POOL = 1500.0, "lichess"
_TOGETHER = 256


def ranks(choices: Choices, *values: NDArray[np.generic]) -> NDArray[np.int64]:
    """Which place each move has among those of its turn, the greatest value first; later values part equals."""
    keys = [-value.astype(np.float64) for value in reversed(values)]
    order = np.lexsort((*keys, choices.turn))
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order)) - choices.start[choices.turn[order]]
    return found


def searched_deeper(choices: Choices, log_policy: NDArray[np.float32], likely: LikelyDeeper) -> Flags:
    """The moves that are searched deeper: the likeliest, and the best by the depth that all are searched to.

    Which move was played has no say.
    """
    natural = ranks(choices, log_policy, choices.codes[:, likely.wide - 1]) < likely.natural
    best = ranks(choices, choices.codes[:, likely.wide - 1], log_policy) < likely.best
    found: Flags = natural | best
    return found


def chooser(network: Network, likely: LikelyDeeper) -> Deeper:
    """What chooses the moves of positions that are searched deeper, once all are valued to the first depth."""
    if network.identity != likely.network:
        raise CalibrationError(
            "likely moves are those of the policy that the calibration was made with: leave out --policy, or --likely."
        )

    def deeper(keys: Sequence[bytes]) -> Choose:
        chances = _Chances(network, keys)
        return lambda wide: _chosen(wide, chances.of(wide.key), likely)

    return deeper


class _Chances:
    """What the policy says of positions that are asked for about in their order, many at a time."""

    def __init__(self, network: Network, keys: Sequence[bytes]) -> None:
        self._network, self._keys = network, keys
        self._at = {key: number for number, key in enumerate(keys)}
        self._known: dict[bytes, dict[int, float]] = {}

    def of(self, key: bytes) -> dict[int, float]:
        """The logarithm of the chance of each move, by its code."""
        if key not in self._known:
            first = self._at.get(key, 0)
            self._ask([key, *(each for each in self._keys[first + 1 : first + _TOGETHER] if each not in self._known)])
        return self._known.pop(key)

    def _ask(self, keys: Sequence[bytes]) -> None:
        said = log_chances(self._network, np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), -1), LEVEL, POOL)
        moves, logs, ends = said.moves.tolist(), said.logs.tolist(), said.offsets.tolist()
        for key, begin, end in zip(keys, ends[:-1], ends[1:], strict=True):
            self._known[key] = dict(zip(moves[begin:end], logs[begin:end], strict=True))


def _chosen(wide: Valued, natural: Mapping[int, float], likely: LikelyDeeper) -> list[str]:
    """The moves of one position to go on with."""
    moves = wide.move_codes()
    only = Choices(
        codes=np.ascontiguousarray(wide.table().T),
        moves=moves,
        start=np.array([0, len(moves)]),
        played=np.zeros(1, np.int64),
        keys=np.frombuffer(wide.key, np.uint8)[None],
        before=np.zeros(1, np.uint16),
        own=np.zeros(1, np.uint16),
        ply=np.zeros(1, np.int64),
        unit=np.zeros(1, np.int64),
    )
    logs = np.array([natural[code] for code in moves.tolist()], np.float32)
    here = replace(likely, wide=min(likely.wide, wide.reached))
    return [decode_move(code) for code in moves[searched_deeper(only, logs, here)].tolist()]


def with_few(choices: Choices, depth: int, deeper: Flags, likely: LikelyDeeper) -> Choices:
    """The same turns as a search of few moves values them: the others keep their last value."""
    codes = choices.codes[:, :depth].copy()
    codes[~deeper, likely.wide :] = codes[~deeper, likely.wide - 1 : likely.wide]
    return replace(choices, codes=codes)
