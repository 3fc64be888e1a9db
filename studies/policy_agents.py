"""Play that is not human: what a policy does to its rating. python studies/policy_agents.py REFERENCE DEPTH [DEPTH ...]

Agents choose a move in each of some positions of the reference set, and are rated by both models of the shipped
calibration: by the engine alone, and with the policy. A policy takes a rare good move for a sign of strength, and
agents that play rare moves for other reasons must not gain by it; turns are dealt into sides of thirty, and the less
such a side looks like a person's ("human", from 0 to 1), the more the engine's model has the word. Agents are shallow
engines (the best move of a search to depth 1, 2, ...), noisy ones (the best of values with so many pawns of noise),
chance itself, and the policy's own moves. At the end players of the model at fixed ratings, who must come back with
them. Each turn stands alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assay.curve import GRID
from assay.engine.choices import Choices, pawns
from assay.moves import reference
from assay.moves.calibration import load
from assay.moves.choice.calibrate import JUDGED
from assay.moves.choice.model import curve_of, human, log_chances, mixed, strength
from assay.moves.evidence import log_policy
from assay.policy.chances import shipped
from assay.table import render

Floats = NDArray[np.float64]
SHALLOW, NOISE, LEVELS, RATINGS = (
    (1, 2, 3, 4, 5, 6),
    (0.2, 0.5, 1.0),
    (1600, 2000, 2400),
    (1200, 1600, 2000, 2400, 2800),
)
BAND = 200
SIDE = 30


def greatest(values: Floats, choices: Choices) -> NDArray[np.int64]:
    """The move of each turn with the greatest value, counted from the turn's first."""
    order = np.lexsort((-values, choices.turn))
    return order[choices.start[:-1]] - choices.start[:-1]


def agents(choices: Choices, random: np.random.Generator) -> dict[str, Callable[[], NDArray[np.int64]]]:
    """What each agent plays in every turn; ties are broken by chance."""
    values = np.nan_to_num(pawns(choices.codes), nan=-99.0).astype(np.float64)
    count = len(values)
    network = shipped()
    natural = log_policy(choices, network).astype(np.float64)

    def drawn(logs: Floats) -> NDArray[np.int64]:
        return greatest(logs + random.gumbel(size=count), choices)

    found: dict[str, Callable[[], NDArray[np.int64]]] = {}
    for depth in (one for one in SHALLOW if one < choices.depth):
        found[f"engine, depth {depth}"] = lambda at=depth - 1: greatest(
            values[:, at] + 1e-6 * random.random(count), choices
        )
    for noise in NOISE:
        found[f"engine, noise of {noise:g} pawns"] = lambda sd=noise: greatest(
            np.clip(values[:, -1], -10, 10) + sd * random.standard_normal(count), choices
        )
    found["any move"] = lambda: drawn(np.zeros(count))
    found["policy, its likeliest move"] = lambda: greatest(natural, choices)
    for level in LEVELS:
        found[f"policy, drawn at {level}"] = lambda level=level: drawn(
            log_policy(choices, network, level=level, pool="board").astype(np.float64)
        )
    return found


@dataclass(frozen=True)
class Judges:
    """Turns with the exponents of their moves by both models."""

    choices: Choices
    exponents: dict[str, tuple[Floats, Floats]]
    lift: float

    def row(self, agent: str, played: NDArray[np.int64], turns: NDArray[np.bool_] | None = None) -> dict[str, object]:
        """What both models say of these moves, at all turns or some."""
        chosen = replace(self.choices, played=played)
        every = np.ones(len(chosen), bool) if turns is None else turns
        curves = {name: curve_of(g0, g1, chosen)[every] for name, (g0, g1) in self.exponents.items()}
        side = np.random.default_rng(7).permutation(len(curves["policy"])) // SIDE
        share = human(curves["policy"], curves["engine"], side)
        curves["policy"] = mixed(curves["policy"], curves["engine"], share)
        tops = {name: curve.sum(np.zeros(len(curve), np.int64), 1).tops()[0] for name, curve in curves.items()}
        told = {
            "engine": round(float(tops["engine"])),
            "policy": round(float(min(tops["policy"] + self.lift, GRID[-1]))),
        }
        change = told["policy"] - told["engine"]
        return {"agent": agent, **told, "change": change, "human": f"{share.mean():.2f}"}


def rows_of(folder: str, depth: int, turns: int) -> list[dict[str, object]]:
    """The table of one depth."""
    random = np.random.default_rng(1)
    found = reference.read(folder, depth)
    best = np.fmax.reduceat(pawns(found.choices.codes[:, -1]), found.choices.start[:-1])
    fit = np.flatnonzero((np.abs(best) <= JUDGED) & (found.choices.width > 1))
    some = np.sort(random.permutation(fit)[:turns])
    choices, elo = found.choices.only(some), found.turns["elo"].to_numpy()[some].astype(np.float64)
    models = load(depth=depth).models
    natural = log_policy(choices, shipped())
    exponents = {"engine": models["engine"].exponents(choices), "policy": models["policy"].exponents(choices, natural)}
    judges = Judges(choices, exponents, models["policy"].lift)
    band = (elo // BAND * BAND).astype(int)
    crowds = [own for own in np.unique(band).tolist() if (band == own).sum() >= turns // 40]
    rows = [judges.row(f"people, {own}-{own + BAND - 1}", choices.played, band == own) for own in crowds]
    rows += [judges.row(agent, play()) for agent, play in agents(choices, random).items()]
    for name, (g0, g1) in exponents.items():
        for rating in RATINGS:
            logs = log_chances(g0 + strength(rating) * g1, choices.start, choices.turn)
            drawn = greatest(logs + random.gumbel(size=len(logs)), choices)
            rows.append(judges.row(f"model by {name}, {rating}", drawn))
    return [{"depth": depth, **row} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reference")
    parser.add_argument("depths", nargs="+", type=int)
    parser.add_argument("--turns", type=int, default=6000)
    given = parser.parse_args()
    print(render([row for depth in given.depths for row in rows_of(given.reference, depth, given.turns)]))


if __name__ == "__main__":
    main()
