"""Likely moves deeper, all others at a small depth: what it costs in noise, and what it saves in nodes.

    python studies/likely_deeper.py REFERENCE [--wide 6] [--deep 8] [--sets 5:3 8:4] [--share 3] [--nodes 40]

With a policy the values of unlikely moves matter less. A set like 5:3 means that the policy's five likeliest moves and
the three best of the small depth are searched deeper; which move was played has no say. Noise: the choice model with
the policy on players held out (of every so many players, `--share`, one takes part), paired with full width at the
greater depth; the values are those of the reference set, so what a search of few moves would value otherwise is not
seen. Nodes: what the engine needs for some positions, all moves at each depth and the sets alone (`searchmoves`).
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import chess
import chess.engine
import numpy as np
from numpy.typing import NDArray
from policy_noise import judged

from assay.engine.choices import Choices
from assay.games.packed import decode_move, to_fen
from assay.held_out import noise_per_turn, noise_ratio
from assay.moves import reference
from assay.moves.choice.calibrate import JUDGED, LEARNED, Rated
from assay.moves.evidence import log_policy
from assay.policy.chances import shipped
from assay.table import render

Flags = NDArray[np.bool_]


def ranks(values: NDArray[np.generic], choices: Choices) -> NDArray[np.int64]:
    """Which place each move has among those of its turn, the greatest value first."""
    order = np.lexsort((-values.astype(np.float64), choices.turn))
    found = np.empty(len(values), np.int64)
    found[order] = np.arange(len(values)) - choices.start[choices.turn[order]]
    return found


def chosen(rated: Rated, wide: int, likely: int, best: int) -> Flags:
    """The moves that are searched deeper."""
    assert rated.log_policy is not None
    by_value = ranks(rated.choices.codes[:, wide - 1], rated.choices)
    return (ranks(rated.log_policy, rated.choices) < likely) | (by_value < best)


def with_few(rated: Rated, wide: int, deep: int, moves: Flags) -> Rated:
    """The same turns, moves that are not searched deeper keeping their last value."""
    codes = rated.choices.codes[:, :deep].copy()
    codes[~moves, wide:] = codes[~moves, wide - 1 : wide]
    return replace(rated, choices=replace(rated.choices, codes=codes))


def nodes_of(engine: chess.engine.SimpleEngine, choices: Choices, turn: int, depth: int, moves: Flags) -> int:
    """The nodes of a search of these moves, a line for each."""
    rows = np.flatnonzero(moves[choices.start[turn] : choices.start[turn + 1]]) + choices.start[turn]
    asked = [chess.Move.from_uci(decode_move(int(code))) for code in choices.moves[rows]]
    board = chess.Board(to_fen(choices.keys[turn].tobytes()))
    limit = chess.engine.Limit(depth=depth)
    told = engine.analyse(board, limit, multipv=len(asked), root_moves=asked, game=object())
    return max(int(line.get("nodes", 0)) for line in told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reference")
    parser.add_argument("--wide", type=int, default=6)
    parser.add_argument("--deep", type=int, default=8)
    parser.add_argument("--sets", nargs="+", default=["5:3", "8:4"], metavar="LIKELY:BEST")
    parser.add_argument("--share", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=40, metavar="POSITIONS")
    parser.add_argument("--engine", default="stockfish")
    given = parser.parse_args()
    wide, deep = given.wide, given.deep
    found = reference.read(given.reference, max(deep, 8))
    turns, random = found.turns, np.random.default_rng(9)
    player = np.unique(turns["player"].to_numpy(), return_inverse=True)[1].reshape(-1)
    part = (random.permutation(int(player.max()) + 1) % given.share == 0)[player]
    part &= (turns["set"] == "2006-14").to_numpy()
    choices = found.choices.only(part)
    columns = {name: turns[name].to_numpy()[part] for name in ("elo", "mark", "player", "game")}
    rated = Rated(
        choices,
        columns["elo"].astype(np.float64),
        *(columns[one].astype(np.int64) for one in ("mark", "player", "game")),
        log_policy(choices, shipped()),
    )
    sets = {text: chosen(rated, wide, *map(int, text.split(":"))) for text in given.sets}
    ways: dict[str, Rated] = {f"all at depth {deep}": replace(rated, choices=choices.to_depth(deep))}
    ways[f"all at depth {wide}"] = replace(rated, choices=choices.to_depth(wide))
    for text, moves in sets.items():
        ways[f"all at {wide}, {text} at {deep}"] = with_few(rated, wide, deep, moves)
    # The turns that all ways learn from and judge alike.
    values = np.array([np.abs(way.best) for way in ways.values()])
    same = (values <= LEARNED).all(axis=0) & ((values <= JUDGED).all(axis=0) | (values > JUDGED).all(axis=0))
    same &= choices.width > 1
    spent = dict.fromkeys(ways, 0)
    some = np.sort(random.permutation(np.flatnonzero(same))[: given.nodes])
    every = np.ones(len(choices.moves), np.bool_)
    with chess.engine.SimpleEngine.popen_uci(given.engine) as engine:
        for turn in some.tolist():
            low, high = (nodes_of(engine, choices, turn, depth, every) for depth in (wide, deep))
            spent[f"all at depth {deep}"] += high
            spent[f"all at depth {wide}"] += low
            for text, moves in sets.items():
                spent[f"all at {wide}, {text} at {deep}"] += low + nodes_of(engine, choices, turn, deep, moves)
    rows, base = [], None
    full = spent[f"all at depth {deep}"]
    for name, way in ways.items():
        own, game, _, _ = judged(way.only(same), wide if name == f"all at depth {wide}" else deep)
        noise, _ = noise_per_turn(own.score, own.information, own.turns, own.mark, own.truth, own.estimate, game)
        base = base or own
        ratio, _ = noise_ratio(own, base, game)
        moves = sets.get(name.partition(", ")[2].partition(" ")[0], every)
        rows.append(
            {
                "way": name,
                "moves deeper": f"{moves.sum() / len(choices):.1f}",
                "noise": f"{noise.value:.0f} ±{noise.error:.0f}",
                "ratio": f"{ratio.value:.3f} ±{ratio.error:.3f}",
                "nodes": f"{spent[name] / max(len(some), 1):,.0f}",
                "at equal cost": f"{ratio.value * (spent[name] / max(full, 1)) ** 0.5:.2f}",
            }
        )
    print(render(rows))


if __name__ == "__main__":
    main()
