"""What a choice rests on: of every move its losses at all depths, what it does on the board, and both together.

Values are taken as F(v) = sign(v) ln(1 + |v|), so that a pawn counts less the more is at stake. At depth d a move has
the loss x = F(best) - F(its own), at most 2, the root s of the loss (small losses show most), and the rank r, the
number of moves that are strictly better: a move is never told from its equals by the order in which an
engine listed them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assay.engine.choices import Choices, filled, pawns
from assay.moves.choice.board import columns, scene
from assay.records import dataclass

Floats = NDArray[np.float32]

CLIP = 10.0  # pawns
MOST_LOSS = 2.0
LEAST_POLICY, LEAST_GOOD = -12.0, -3.0
GOOD_LOSS = 0.15
NATURAL, BOUNDED = "natural", "natural and good"
_SOFT = 0.0025  # keeps the root of a loss smooth at zero


@dataclass(frozen=True)
class Features:
    """A column per feature, a row per move, and the kind of each: value, move, position or product."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    table: Floats

    def only(self, keep: Callable[[str, str], bool]) -> Features:
        """The features that are kept by name and kind."""
        own = [i for i, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)) if keep(name, kind)]
        return Features(tuple(self.names[i] for i in own), tuple(self.kinds[i] for i in own), self.table[:, own])


def ranks(values: NDArray[np.int16], turn: NDArray[np.int64], start: NDArray[np.int64]) -> Floats:
    """How many moves of the turn are strictly better."""
    key = turn * 65_536 + (32_767 - values.astype(np.int64))
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    first = np.maximum.accumulate(np.where(new, np.arange(len(key)), 0))
    ranks = np.empty(len(key), np.float32)
    ranks[order] = first - start[turn[order]]
    return ranks


def losses(folded: Floats, first: NDArray[np.int64], turn: NDArray[np.int64]) -> Floats:
    """The scaled loss of every move at every depth, F(best) - F(own), at most 2."""
    return np.minimum(np.maximum.reduceat(folded, first, axis=0)[turn] - folded, np.float32(MOST_LOSS))


def fold(value: Floats) -> Floats:
    """F(v) = sign(v) ln(1 + |v|) of values cut at ten pawns."""
    cut = np.clip(value, -CLIP, CLIP)
    folded: Floats = np.sign(cut) * np.log1p(np.abs(cut))
    return folded


def features(choices: Choices, log_policy: Floats | None = None) -> Features:
    """All features of all moves; with what people would play, the logarithms of a policy's chances, row by row."""
    start, turn, depth = choices.start, choices.turn, choices.depth
    first = start[:-1]
    codes = filled(choices.codes, start)
    value = pawns(codes)
    folded = fold(value)
    loss = losses(folded, first, turn)
    root = np.sqrt(loss + np.float32(_SOFT)) - np.float32(0.05)
    rank = np.stack([ranks(codes[:, d], turn, start) for d in range(depth)], axis=1)
    log_rank, top = np.log1p(rank), (rank == 0).astype(np.float32)

    names: list[str] = []
    kinds: list[str] = []
    table: list[Floats] = []

    def add(kind: str, name: str, column: NDArray[np.generic]) -> None:
        names.append(name)
        kinds.append(kind)
        table.append(column.astype(np.float32, copy=False))

    x, s, r, is_top, log_r = loss[:, -1], root[:, -1], rank[:, -1], top[:, -1], log_rank[:, -1]
    own = value[:, -1]
    best = np.maximum.reduceat(own, first)[turn]
    for d in range(depth):
        add("value", f"root of loss, depth {d + 1}", root[:, d])
        add("value", f"loss, depth {d + 1}", loss[:, d])
        add("value", f"rank, depth {d + 1}", log_rank[:, d])
        add("value", f"best, depth {d + 1}", top[:, d])
    add("value", "loss up to .05", np.minimum(x, 0.05))
    add("value", "loss up to .2", np.minimum(x, 0.2))
    add("value", "one of three best", r < 3)
    add("value", "loses four pawns", best - own > 4)
    tied = np.add.reduceat(is_top, first)[turn] > 1
    add("value", "best and tied", is_top * tied)
    add("value", "falls to lost", (own < -3) & (best > -1.5))
    add("value", "value zero", own == 0)
    early = loss[:, : max(depth - 3, 1)].mean(axis=1)
    swing = early - x
    add("value", "swings up", np.maximum(swing, 0))
    add("value", "swings down", np.maximum(-swing, 0))
    add("value", "root of swing up", np.sqrt(np.maximum(swing, 0)))
    add("value", "root of swing down", np.sqrt(np.maximum(-swing, 0)))
    add("value", "least loss", loss.min(axis=1))
    add("value", "greatest loss", loss.max(axis=1))
    add("value", "root of mean loss", np.sqrt(loss.mean(axis=1)))
    add("value", "share of depths best", top.mean(axis=1))
    add("value", "mean rank", log_rank.mean(axis=1))
    add("value", "late gain", np.clip(folded[:, -1] - folded[:, max(depth - 3, 0)], -1, 1))

    here = scene(choices.keys)
    board = columns(here, turn, choices.moves, choices.before, choices.own)
    for name, column in board.items():
        add("move", name, column)

    best_folded = np.maximum.reduceat(folded[:, -1], first)
    weight = np.exp(-6 * np.sqrt(x))
    total = np.add.reduceat(weight, first)
    share = weight / total[turn]
    entropy = -np.add.reduceat(share * np.log(np.maximum(share, 1e-12)), first)
    shallow = np.zeros(len(choices), np.float32)
    levels = range(max(depth - 4, 1))
    for d in levels:
        tops = np.add.reduceat(top[:, d], first)
        shallow += np.add.reduceat(top[:, d] * x, first) / np.maximum(tops, 1)
    misled = np.sqrt(shallow / len(levels))
    position = {
        "value": best_folded,
        "decidedness": np.abs(best_folded) - 0.4,
        "advantage": np.maximum(best_folded, 0) - 0.25,
        "moves": np.log(choices.width / 30),
        "material": (here.material - 40) / 20,
        "ply": np.minimum(choices.ply, 100) / 40 - 1,
        "entropy": entropy / 2 - 1,
        "misleading": misled - 0.2,
    }
    measures = {"root of loss": s, "loss": x, "rank": log_r, "best": is_top}
    for trait, by_turn in position.items():
        spread = by_turn.astype(np.float32)[turn]
        for measure, column in measures.items():
            add("position", f"{measure} x {trait}", column * spread)
    checked = here.in_check[turn]
    add("position", "root of loss x in check", s * checked)
    add("position", "rank x in check", log_r * checked)

    cut = max(depth - 5, 1)
    low = np.sqrt(loss[:, :cut].mean(axis=1))
    low_top, low_rank = top[:, :cut].mean(axis=1), log_rank[:, :cut].mean(axis=1)
    upper = loss[:, min(cut, depth - 1) : max(depth - 1, min(cut, depth - 1) + 1)]
    upper_root = np.sqrt(upper.mean(axis=1))
    for name, column in (("shallow loss", low), ("shallow best", low_top), ("shallow rank", low_rank)):
        add("product", f"root of loss x {name}", s * column)
    add("product", "root of loss x middle loss", s * upper_root)
    add("product", "loss x shallow rank", x * low_rank)
    add("product", "middle loss x shallow loss", upper_root * low)
    for name in (
        "capture",
        "check",
        "recapture",
        "from lesser's attack",
        "onto lesser's guard",
        "back",
        "king",
        "pawn",
        "queen",
        "same piece",
    ):
        add("product", f"root of loss x {name}", s * board[name])
    add("product", "unrest of middle depths", upper.std(axis=1))
    add("product", "unrest", np.abs(np.diff(loss, axis=1)).mean(axis=1) if depth > 1 else np.zeros_like(x))
    add("product", "share of depths in three best", (rank < 3).mean(axis=1))
    add("product", "was best once", (top[:, :-1].any(axis=1) if depth > 1 else np.zeros(len(x), bool)) & (r > 0))
    add("product", "found late", (r == 0) & (rank[:, : max(depth - 3, 1)] > 2).all(axis=1))
    if log_policy is not None:
        add("policy", NATURAL, np.maximum(log_policy, LEAST_POLICY))
        # Bounded, and only where little is lost, for models that have none by the values alone beside them.
        add("policy", BOUNDED, np.maximum(log_policy, LEAST_GOOD) * np.exp(-x / GOOD_LOSS))
    return Features(tuple(names), tuple(kinds), np.stack(table, axis=1))


def divisors(table: Floats, root: Floats, choices: Choices) -> Floats:
    """Each column's standard deviation within turns, plausible moves counting most (weights exp(-4 sqrt x))."""
    first, turn = choices.start[:-1], choices.turn
    weight = np.exp(-4 * root)
    weight /= np.add.reduceat(weight, first)[turn]
    scales = np.empty(table.shape[1], np.float32)
    for i in range(table.shape[1]):
        column = table[:, i]
        mean = np.add.reduceat(weight * column, first)
        square = np.add.reduceat(weight * column * column, first)
        scales[i] = np.sqrt(np.maximum(square - mean**2, 0).mean())
    return np.where(scales > 1e-6, scales, 1).astype(np.float32)
