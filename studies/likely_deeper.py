"""Likely moves deeper, all others at a small depth: what it costs in noise, and what it saves in nodes.

    python studies/likely_deeper.py REFERENCE [--wide 6] [--deep 8] [--sets 5:3 8:4] [--share 3] [--nodes 40]
    python studies/likely_deeper.py REFERENCE --real STORE

With a policy the values of unlikely moves matter less. A set like 5:3 means that the policy's five likeliest moves and
the three best of the small depth are searched deeper; which move was played has no say. Noise: the choice model with
the policy on players held out (of every so many players, `--share`, one takes part), paired with full width at the
greater depth; the values are those of the reference set, so what a search of few moves would value otherwise is not
seen. Nodes: what the engine needs for some positions, all moves at each depth and the sets alone (`searchmoves`).

`--real` takes a store with real searches of few moves (that of `tools/likely_calibration.py`) and compares the nodes,
and the values of the moves that were searched deeper, with those of a search of all moves.
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
from assay.engine.identity import LikelyDeeper, Search, likely_of
from assay.engine.local import Result, value_all
from assay.engine.store import Store
from assay.engine.uci import Valued
from assay.games.packed import decode_move, to_fen
from assay.held_out import noise_per_turn, noise_ratio
from assay.moves import reference
from assay.moves.calibration import load
from assay.moves.choice.calibrate import JUDGED, LEARNED, Rated
from assay.moves.choice.likely import searched_deeper, with_few
from assay.moves.evidence import log_policy
from assay.moves.transfer import pair, shipped_turns
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


def real(store: str, engine: str, positions: int) -> None:
    """What a store holds of such searches of the turns that come with Assay, beside what is taken for it."""
    calibration, network = load("likely"), shipped()
    depth, likely = calibration.depth, likely_of(calibration.options)
    assert likely is not None
    with Store(store) as opened:
        (identity,) = (entry.identity for entry in opened.kept() if likely_of(entry.identity.options) == likely)
        paired = pair(shipped_turns(depth), opened, identity, depth)
        some = [key.tobytes() for key in paired.new.choices.keys[:: max(len(paired.new) // positions, 1)][:positions]]
        told = {one.key: one.nodes for one in opened.all_valued(opened.number_of(identity))}
    nodes = [told[key] for key in some]
    found: list[Result] = []
    asyncio.run(value_all(iter(some), Search(engine, depth), workers=1, take=found.append))
    wide = [each.nodes for each in found if isinstance(each, Valued)]
    print(f"nodes of {len(wide)} positions: {sum(nodes) / len(nodes):,.0f} each, all moves to depth {depth} ", end="")
    print(f"{sum(wide) / len(wide):,.0f}: {sum(nodes) / sum(wide):.2f}")
    old, new = (replace(one.choices, codes=one.choices.codes[:, :depth]) for one in (paired.old, paired.new))
    logs = log_policy(old, network)
    deeper = searched_deeper(old, logs, likely)
    taken = with_few(old, depth, deeper, likely)
    place = {(int(t), int(m)): row for row, (t, m) in enumerate(zip(new.turn, new.moves, strict=True))}
    rows = np.array([place.get((int(t), int(m)), -1) for t, m in zip(old.turn, old.moves, strict=True)])
    both = deeper & (rows >= 0)
    full, own = pawns(taken.codes[both, -1]), pawns(new.codes[rows[both], -1])
    off = 100 * (own - full)[(np.abs(full) < 10) & (np.abs(own) < 10)]
    size = np.abs(off)
    print(
        f"values of {len(off):,} moves of {len(old):,} turns that were searched deeper, against those of a search ",
        end="",
    )
    print(f"of all moves, in centipawns: mean {off.mean():+.1f}, mean size {size.mean():.1f}, ", end="")
    print(f"median size {np.median(size):.1f}, the same {np.mean(off == 0):.0%}")
    # What the curves promise, at the ratings of the players, for the turns that are judged.
    near = np.abs(paired.old.to_best(depth)) <= JUDGED
    ratings, full_width = paired.old.elo[near], load(depth=depth)
    ways = {
        "all moves": (full_width.model(), old, logs),
        "few moves": (calibration.model(), new, log_policy(new, network)),
    }
    bends = {}
    for name, (model, choices, natural) in ways.items():
        bends[name] = -model.curve(choices, natural)[near].slopes(ratings)[1] * model.honesty.power
        print(f"noise of a turn by curvature, {name}: {bends[name].mean() ** -0.5:.0f}")
    ratio = (bends["all moves"].mean() / bends["few moves"].mean()) ** 0.5
    print(f"few moves beside all of them: {ratio:.3f}; at equal cost {ratio * (sum(nodes) / sum(wide)) ** 0.5:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reference")
    parser.add_argument("--wide", type=int, default=6)
    parser.add_argument("--deep", type=int, default=8)
    parser.add_argument("--sets", nargs="+", default=["5:3", "8:4"], metavar="LIKELY:BEST")
    parser.add_argument("--share", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=40, metavar="POSITIONS")
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--real", metavar="STORE")
    given = parser.parse_args()
    if given.real:
        real(given.real, given.engine, given.nodes)
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
