"""How well a policy foretells the moves of people, by band of the mover's rating, beside networks such as Maia's.

    python studies/policy.py analysis-sf15.1-d10.jsonl.zst --pool board --beside maia-1100.pb.gz maia-1500.pb.gz
    python studies/policy.py lichess-2026-06.pgn.zst --pool lichess --band 200
    python studies/policy.py analyses.jsonl.zst --pool board --policy run/policy.npz

A file of JSON lines has a position a line (`fen`, `played`, `white_elo`, `black_elo`, `game`; lines with `skipped` are
left out); of PGN, every position from move 9 on is taken. Nats are the mean logarithm of the chance of the move that
was played, top-1 how often it was the likeliest, both among the legal moves; standard errors are clustered by game. The
policy answers at fixed levels, and at the mover's own rating ("own"). No network is told the moves before.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.games import read, to_arrays
from assay.games.packed import encode_move, pack, played_moves
from assay.games.stream import Stream
from assay.policy.chances import POOLS, keys_of, log_chances, open_network, shipped
from assay.policy.movemodel import Policy, log_chances_of
from assay.policy.positions import seen
from assay.policy.traits import features
from assay.table import render


@dataclass(frozen=True)
class Turns:
    """Positions in which somebody moved."""

    keys: npt.NDArray[np.uint8]
    played: npt.NDArray[np.uint16]
    elo: npt.NDArray[np.float64]
    game: npt.NDArray[np.int64]


def read_lines(path: str, games: int | None) -> Turns:
    """Positions from JSON lines: of all games, or of so many, evenly spread."""
    with Stream(path) as stream:
        lines = b"".join(stream.parts(1 << 20)).splitlines()
    rows = [row for row in map(json.loads, lines) if "skipped" not in row]
    names = list(dict.fromkeys(row["game"] for row in rows))
    taken = names if games is None else [names[at] for at in np.linspace(0, len(names) - 1, games).astype(int)]
    numbers = {name: number for number, name in enumerate(taken)}
    rows = [row for row in rows if row["game"] in numbers]
    white = [row["fen"].split()[1] == "w" for row in rows]
    return Turns(
        keys_of([row["fen"] for row in rows]),
        np.array([encode_move(row["played"]) for row in rows], np.uint16),
        np.array([row["white_elo"] if w else row["black_elo"] for row, w in zip(rows, white, strict=True)], float),
        np.array([numbers[row["game"]] for row in rows]),
    )


def read_pgn(path: str, games: int | None) -> Turns:
    """Positions from move 9 on of rated games."""
    some = list(islice(read(path), games))
    arrays = to_arrays(some)
    elo = np.array(
        [
            [int(tag) if (tag := game.tags.get(name, "")).isdecimal() else 0 for name in ("WhiteElo", "BlackElo")]
            for game in some
        ],
        float,
    )
    mover = elo[arrays.game, np.where(arrays.turn, 0, 1)]
    plies = np.flatnonzero((arrays.fullmove >= 9) & (mover > 0))
    return Turns(pack(arrays, plies), played_moves(arrays, plies), mover[plies], arrays.game[plies])


def own_level(policy: Policy, turns: Turns, pool: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Logarithms of the chances of the moves played at the movers' own ratings, and whether they were the likeliest."""
    logs, tops = [], []
    for begin in range(0, len(turns.keys), 512):
        positions = seen(turns.keys[begin : begin + 512])
        found = features(positions)
        elo = turns.elo[begin : begin + 512]
        said = log_chances_of(policy, found, elo, np.full(len(elo), pool))
        hit = found.moves.codes(positions.turned) == turns.played[begin : begin + 512][found.moves.row]
        logs.append(said[hit])
        tops.append(said[hit] >= np.maximum.reduceat(said, found.moves.offsets[:-1]))
    return np.concatenate(logs).astype(float), np.concatenate(tops)


def clustered(values: npt.NDArray[Any], game: npt.NDArray[np.int64]) -> tuple[float, float]:
    """A mean and its standard error, the games being independent."""
    mean = float(values.mean())
    sums = np.bincount(game, values - mean)
    return mean, float(np.sqrt((sums**2).sum()) / len(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", help="JSON lines or PGN")
    parser.add_argument("--pool", choices=tuple(POOLS), required=True, help="whose ratings the file has")
    parser.add_argument("--policy", type=Path, help="a trained policy, instead of the shipped one")
    parser.add_argument("--levels", default="1500:lichess,1900:lichess", help="fixed levels to answer at")
    parser.add_argument("--beside", nargs="*", default=(), metavar="FILE", help="networks in Leela's format")
    parser.add_argument("--band", type=int, default=200)
    parser.add_argument("--games", type=int, help="so many games: of PGN the first")
    given = parser.parse_args()
    turns = read_lines(given.file, given.games) if ".jsonl" in given.file else read_pgn(given.file, given.games)
    policy = shipped() if given.policy is None else open_network(given.policy)
    assert isinstance(policy, Policy), "--policy takes a policy of Assay's own; others go behind --beside"
    answers = {"own": own_level(policy, turns, POOLS[given.pool])}
    for level in given.levels.split(","):
        elo, _, pool = level.partition(":")
        began = time.process_time()
        found = log_chances(policy, turns.keys, float(elo), pool or given.pool)
        spent = time.process_time() - began
        answers[level] = judged(found, turns)
    print(f"policy {policy.identity}: {len(turns.keys) / spent:,.0f} positions a CPU second, features included")
    for path in given.beside:
        network = open_network(path)
        answers[Path(path).name.split(".")[0]] = judged(log_chances(network, turns.keys), turns)
    band = (turns.elo // given.band * given.band).astype(int)
    for title, value in (("nats", 0), ("top-1", 1)):
        rows = []
        for name, mask in [("all", band >= 0), *((str(b), band == b) for b in np.unique(band))]:
            row: dict[str, Any] = {title: name, "positions": int(mask.sum())}
            for answer, both in answers.items():
                mean, error = clustered(both[value][mask], turns.game[mask])
                row[answer] = f"{mean:.3f} ±{error:.3f}"
            rows.append(row)
        print(render(rows))


def judged(found: Any, turns: Turns) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    logs = found.played(turns.played).astype(float)
    return logs, turns.played == found.moves[found.likeliest()]


if __name__ == "__main__":
    main()
