"""How large a run of all benchmarks is: full for the page, quick for a look, tiny for the tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from growth import ENGINE_DEPTH, Job
from results import CASES, Case

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Scale:
    """How large everything is."""

    name: str
    played: int  # games by agents
    table_games: int  # copies of them that the tables are measured on
    rows: int
    turns: int
    learned_games: int
    steps: int  # of a training
    boosted: int  # games that trees are grown on
    asked: int  # positions that the policy is asked about
    cases: tuple[Case, ...]
    positions: int
    depth: int
    stored: int
    grown: Mapping[str, Sizes]  # by axis, or by name where a job needs its own

    def sizes(self, job: Job) -> Sizes:
        """At which sizes a job is measured."""
        return self.grown.get(job.name, self.grown[job.axis])


FULL = Scale(
    name="full",
    played=48,
    table_games=100_000,
    rows=5_000_000,
    turns=25_000,
    learned_games=2_000,
    steps=12,
    boosted=150,
    asked=4_096,
    cases=CASES,
    positions=20,
    depth=10,
    stored=300_000,
    grown={
        "games": (1_000, 10_000, 100_000, 1_000_000),
        "index, Lichess .zst": (1_000, 10_000, 100_000),
        "players": (100, 1_000, 10_000, 50_000),
        "turns": (1_000, 10_000, 100_000, 1_000_000),
        "positions": (1_000, 10_000, 100_000),
        f"engine, depth {ENGINE_DEPTH}": (10, 30, 100, 300),
        "plies": (1_000, 10_000, 100_000, 1_000_000),
        "guess": (1_000, 10_000, 100_000),
        "depth": (4, 6, 8, 10),
    },
)
QUICK = Scale(
    name="quick",
    played=12,
    table_games=10_000,
    rows=500_000,
    turns=5_000,
    learned_games=2_000,
    steps=4,
    boosted=60,
    asked=1_024,
    cases=CASES[:2],
    positions=6,
    depth=8,
    stored=10_000,
    grown={
        "games": (1_000, 10_000),
        "players": (100, 1_000),
        "turns": (1_000, 10_000),
        "positions": (1_000, 10_000),
        f"engine, depth {ENGINE_DEPTH}": (5, 20),
        "plies": (1_000, 10_000),
        "depth": (4, 6),
    },
)
TINY = Scale(
    name="tiny",
    played=2,
    table_games=1_500,
    rows=1_000,
    turns=300,
    learned_games=1_500,
    steps=1,
    boosted=40,
    asked=32,
    cases=CASES[:1],
    positions=2,
    depth=2,
    stored=200,
    grown={
        "games": (100, 400),
        "players": (10, 30),
        "turns": (100, 300),
        "positions": (100, 300),
        f"engine, depth {ENGINE_DEPTH}": (1, 2),
        "plies": (100, 300),
        "depth": (1, 2),
    },
)
