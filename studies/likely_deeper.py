"""Likely moves deeper, all others at a small depth: what it costs in noise, and what it saves in nodes.

    python studies/likely_deeper.py REFERENCE [--wide 6] [--deep 8] [--sets 5:3 8:4] [--share 3] [--nodes 40]
    python studies/likely_deeper.py REFERENCE --real 200

With a policy the values of unlikely moves matter less. A set like 5:3 means that the policy's five likeliest moves and
the three best of the small depth are searched deeper; which move was played has no say. Noise: the choice model with
the policy on players held out (of every so many players, `--share`, one takes part), paired with full width at the
greater depth; the values are those of the reference set, so what a search of few moves would value otherwise is not
seen. Nodes: what the engine needs for some positions, all moves at each depth and the sets alone (`searchmoves`).

`--real` has the engine search so many positions that way, and compares: the values of the moves that were searched
deeper with those of a search of all moves, and the ratings that either gives these turns with the shipped calibration.
"""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import replace

import chess
import chess.engine
import numpy as np
from numpy.typing import NDArray
from policy_noise import judged

from assay.engine.choices import Choices, pawns
from assay.engine.identity import LikelyDeeper, Search
from assay.engine.local import Result, value_all
from assay.engine.uci import Valued
from assay.games.packed import decode_move, to_fen
from assay.held_out import noise_per_turn, noise_ratio
from assay.moves import reference
from assay.moves.calibrating import reference_turns
from assay.moves.calibration import load
from assay.moves.choice.calibrate import JUDGED, LEARNED, Rated
from assay.moves.choice.likely import chooser, searched_deeper, with_few
from assay.moves.evidence import log_policy
from assay.policy.chances import shipped
from assay.table import render

Flags = NDArray[np.bool_]


def nodes_of(engine: chess.engine.SimpleEngine, choices: Choices, turn: int, depth: int, moves: Flags) -> int:
    """The nodes of a search of these moves, a line for each."""
    rows = np.flatnonzero(moves[choices.start[turn] : choices.start[turn + 1]]) + choices.start[turn]
    asked = [chess.Move.from_uci(decode_move(int(code))) for code in choices.moves[rows]]
    board = chess.Board(to_fen(choices.keys[turn].tobytes()))
    limit = chess.engine.Limit(depth=depth)
    told = engine.analyse(board, limit, multipv=len(asked), root_moves=asked, game=object())
    return max(int(line.get("nodes", 0)) for line in told)


def real(rated: Rated, positions: int, engine: str) -> None:
    """Search some positions as the calibration for likely moves wants it, and compare with what is taken for it."""
    calibration, network = load("likely"), shipped()
    likely = LikelyDeeper(network.identity)
    depth = calibration.depth
    near = (np.abs(rated.to_best(depth)) <= JUDGED) & (rated.choices.width > 1)
    some = np.sort(np.random.default_rng(9).permutation(np.flatnonzero(near))[:positions])
    choices = rated.choices.only(some)
    logs = log_policy(choices, network)
    deeper = searched_deeper(choices, logs, likely)
    taken = with_few(choices, depth, deeper, likely)
    keys = [key.tobytes() for key in choices.keys]
    found: dict[bytes, Valued] = {}

    def take(result: Result) -> None:
        if isinstance(result, Valued):
            found[result.key] = result

    search = Search(engine, depth, likely=likely)
    asyncio.run(value_all(iter(set(keys)), search, workers=1, take=take, choose=chooser(network, likely)(keys)))
    codes = taken.codes.copy()
    for turn, key in enumerate(keys):
        if key in found:
            column = {code: at for at, code in enumerate(found[key].move_codes().tolist())}
            table = found[key].table()
            for row in range(choices.start[turn], choices.start[turn + 1]):
                code = int(choices.moves[row])
                if code in column:
                    values = table[:depth, column[code]]
                    codes[row, : len(values)], codes[row, len(values) :] = values, values[-1]
    own, full = pawns(codes[:, depth - 1]), pawns(taken.codes[:, depth - 1])
    moved = deeper & (np.abs(full) < 10) & (np.abs(own) < 10)
    off = 100 * (own - full)[moved]
    model = calibration.model()
    curves = [model.curve(replace(taken, codes=each), logs) for each in (taken.codes, codes)]
    tops = [float(each.sum(np.zeros(len(taken), np.int64), 1).tops()[0]) for each in curves]
    scores = [each.slopes(np.full(len(taken), tops[0])) for each in curves]
    # The difference of the two ratings, paired by turn.
    lower, information = scores[1][0] - scores[0][0], -float(scores[1][1].sum())
    shift, error = float(lower.sum()) / information, float(np.sqrt((lower**2).sum())) / information
    nodes = np.mean([each.nodes for each in found.values()])
    print(f"{len(found)} positions by {engine}, {nodes:,.0f} nodes each; {moved.sum():,} moves searched deeper")
    size, rest = np.abs(off), ~deeper
    kept = np.mean(codes[rest, likely.wide - 1] == taken.codes[rest, likely.wide - 1])
    print(f"their values against those of all moves at depth {depth}, in centipawns: mean {off.mean():+.1f}, ", end="")
    print(f"mean size {size.mean():.1f}, median size {np.median(size):.1f}, the same {np.mean(off == 0):.0%}")
    print(f"other moves at depth {likely.wide}: the same {kept:.0%}")
    print(
        f"rating of these {len(taken):,} turns: {tops[0]:.0f} by what is taken for it, {tops[1]:.0f} by the search; ",
        end="",
    )
    print(f"paired {shift:+.0f} ±{error:.0f}")
    for low, high in ((0, 2000), (2000, 2400), (2400, 3000)):
        own = (rated.elo[some] >= low) & (rated.elo[some] < high)
        of_all = -float(scores[1][1][own].sum())
        part, off_by = float(lower[own].sum()) / of_all, float(np.sqrt((lower[own] ** 2).sum())) / of_all
        print(f"  players rated {low} to {high}: {own.sum()} turns, paired {part:+.0f} ±{off_by:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reference")
    parser.add_argument("--wide", type=int, default=6)
    parser.add_argument("--deep", type=int, default=8)
    parser.add_argument("--sets", nargs="+", default=["5:3", "8:4"], metavar="LIKELY:BEST")
    parser.add_argument("--share", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=40, metavar="POSITIONS")
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--real", type=int, metavar="POSITIONS")
    given = parser.parse_args()
    if given.real:
        real(reference_turns(reference.read(given.reference, 8)), given.real, given.engine)
        return
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
    assert rated.log_policy is not None
    ways_of = {text: LikelyDeeper("shipped", *map(int, text.split(":")), wide) for text in given.sets}
    sets = {text: searched_deeper(choices, rated.log_policy, likely) for text, likely in ways_of.items()}
    ways: dict[str, Rated] = {f"all at depth {deep}": replace(rated, choices=choices.to_depth(deep))}
    ways[f"all at depth {wide}"] = replace(rated, choices=choices.to_depth(wide))
    for text, moves in sets.items():
        few = with_few(choices, deep, moves, ways_of[text])
        ways[f"all at {wide}, {text} at {deep}"] = replace(rated, choices=few)
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
