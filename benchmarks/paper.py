"""On paper: what two large jobs would cost, from the measured figures and stated assumptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from assay.progress import duration
from growth import BY_DEPTH, DEPTH_POSITIONS, GAMES_PER_PLAYER, Series

CLUSTER = 100  # cores
OPENING = 16  # plies before move 9, which are not analysed


@dataclass(frozen=True)
class Workload:
    """Games in such numbers that nobody wants to find out by trying."""

    title: str
    games: float
    plies: float  # of a game
    pgn: float  # bytes of a game as PGN
    packed: float  # bytes of a game as .zst
    index: str  # the series that tells what an index costs
    assumptions: str

    @property
    def positions(self) -> float:
        """To analyse in a game: all from move 9 on, whether decided, met before or not."""
        return self.plies - OPENING


MONTH = Workload(
    title="A whole month of Lichess",
    games=95e6,
    plies=67,
    pgn=2240,
    packed=2240 / 7.1,
    index="index, Lichess .zst",
    assumptions=(
        "95 million games, as in the months of 2024 and 2025, of 67 plies; 30 GB of .zst, which the archive says "
        "unpacks to 7.1 times as much"
    ),
)
YEAR = Workload(
    title="A year of the world's rated tournaments",
    games=5e6,
    plies=80,
    pgn=720,
    packed=720 / 4.2,
    index="index",
    assumptions=(
        "5 million games of 80 plies and 720 bytes, .zst 4.2 times smaller. FIDE's Development Committee counted "
        "999,037 rated games of 101,000 active players in 2013, slow chess alone; with today's players, rapid and "
        "blitz we assume five times as many. Of most of them only the results are kept anywhere: for what reads moves "
        "this is an upper bound"
    ),
)
TWIC = replace(
    YEAR,
    title="All of The Week in Chess",
    games=4e6,
    assumptions=(
        "4 million games since 1994, which is a guess at its size to a quarter, of 80 plies and 720 bytes, .zst 4.2 "
        "times smaller"
    ),
)


@dataclass(frozen=True)
class Disk:
    """Bytes on disk, measured."""

    made_game: Mapping[str, float]  # a game as PGN, by the series that indexed it
    index_row: Mapping[str, float]  # by the series that made the index
    stored_position: float
    dataset_ply: float


@dataclass(frozen=True)
class Step:
    """A step of the work: how many of what, CPU seconds of each, and who shares it."""

    name: str
    what: str
    count: float
    each: float
    runs_on: Literal["one core", "one machine", "cluster"]

    @property
    def cpu(self) -> float:
        return self.count * self.each

    def row(self, cores: int, games: float) -> dict[str, str]:
        """The step in time on a machine of so many cores and on the cluster, and in CPU time for a million games."""
        here = self.cpu if self.runs_on == "one core" else self.cpu / cores
        return {
            "step": self.name,
            "formula": f"{number(self.count)} {self.what} x {_seconds(self.each)}",
            "runs_on": self.runs_on,
            "cpu": long(self.cpu),
            "here": long(here),
            "there": long(self.cpu / CLUSTER if self.runs_on == "cluster" else here),
            "million": long(self.cpu / games * 1e6),
        }


def steps(work: Workload, grown: Mapping[str, Series], disk: Disk) -> list[Step]:
    """What the work takes: in proportion to its size (an index: in bytes), but ratings by their exponent."""
    plies, positions = work.games * work.plies, work.games * work.positions
    index = grown[work.index].each * work.pgn / disk.made_game[work.index]
    return [
        Step("index", "games", work.games, index, "one machine"),
        Step("statistics", "games", work.games, grown["statistics"].each, "one machine"),
        Step("filter", "games", work.games, grown["filter"].each, "one machine"),
        Step("ratings from results", "games", work.games, _rating(work, grown), "one core"),
        Step("planes", "plies", plies, grown["planes"].each, "cluster"),
        Step("learned guess", "plies", plies, grown["guess"].each, "cluster"),
        Step("percentile fit", "turns", positions, grown["percentile fit"].each, "cluster"),
        *(
            Step(f"engine, depth {depth}", "positions", positions, each, "cluster")
            for depth, each in by_depth(grown).items()
        ),
    ]


def _rating(work: Workload, grown: Mapping[str, Series]) -> float:
    """CPU seconds of a game: cost(n) = cost(N) (n / N)^k, with N the largest measured and k at least 1."""
    results = grown[f"results, {GAMES_PER_PLAYER} games a player"]
    largest = results.sizes[-1] * GAMES_PER_PLAYER
    return results.costs[-1].cpu / largest * (work.games / largest) ** (max(results.slope, 1.0) - 1)


def rating_memory(work: Workload, grown: Mapping[str, Series]) -> str:
    """Memory of a rating of all games, in proportion to the largest measured."""
    results = grown[f"results, {GAMES_PER_PLAYER} games a player"]
    return _size(results.costs[-1].memory * 1e6 * work.games / (results.sizes[-1] * GAMES_PER_PLAYER))


def by_depth(grown: Mapping[str, Series]) -> dict[int, float]:
    """CPU seconds of a position, engine and all, by depth."""
    series = grown[BY_DEPTH]
    return {depth: cost.cpu / DEPTH_POSITIONS for depth, cost in zip(series.sizes, series.costs, strict=True)}


def storage(work: Workload, disk: Disk) -> list[dict[str, str]]:
    """What the work leaves on disk."""
    plies, positions = work.games * work.plies, work.games * work.positions
    kinds = (
        ("PGN", work.games, work.pgn, "games"),
        ("PGN as .zst", work.games, work.packed, "games"),
        ("index", work.games, disk.index_row[work.index], "games"),
        ("dataset (planes)", plies, disk.dataset_ply, "plies"),
        ("analyses, depth 10", positions, disk.stored_position, "positions"),
    )
    return [
        {"what": what, "formula": f"{number(count)} {unit} x {each:,.0f} bytes", "size": _size(count * each)}
        for what, count, each, unit in kinds
    ]


def capacity(work: Workload, grown: Mapping[str, Series]) -> dict[int, str]:
    """Games that the cluster analyses in thirty days, by depth."""
    month = CLUSTER * 30 * 86_400.0
    return {depth: number(month / (each * work.positions)) for depth, each in by_depth(grown).items()}


def long(seconds: float) -> str:
    """A length of time, up to years.

    >>> long(5), long(4e6), long(1e9)
    ('5 s', '46 d 7 h', '31.7 years')
    """
    year = 365.25 * 86_400
    if seconds >= year:
        return f"{seconds / year:,.1f} years"
    return f"{seconds:.2g} s" if seconds < 2 else duration(seconds)


def number(count: float) -> str:
    return f"{count / 1e9:.3g} billion" if count >= 1e9 else f"{count / 1e6:.3g} million"


def _seconds(each: float) -> str:
    return f"{1000 * each:.3g} ms" if each >= 1e-3 else f"{1e6 * each:.3g} µs"


def _size(count: float) -> str:
    return f"{count / 1e12:.2g} TB" if count >= 1e12 else f"{count / 1e9:.3g} GB"
