"""How cost grows: the same job at growing sizes, each in a fresh process; CPU seconds and peak memory.

    python benchmarks/growth.py JOB SIZE WARM FOLDER

prints the cost of one job at one size as JSON, after a run at the size WARM. The folder holds the files that the job
reads. So starting Python and loading libraries is not counted in the CPU seconds, but their memory is.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from io import StringIO
from itertools import islice
from pathlib import Path

from measure import Cost, alone, cpu, peak

# Heavy imports stay inside the jobs: the peak memory of a process should be that of its own job.

GAMES_PER_PLAYER = 20
SAMPLE = "sample.pgn"
ENGINE_DEPTH = 6
DEPTH_POSITIONS = 24
BY_DEPTH = f"engine, {DEPTH_POSITIONS} positions"
Work = Callable[[], object]


def index_games(size: int, folder: Path) -> Work:
    from assay.games import index

    return lambda: index(folder / f"games-{size}.pgn", folder / f"index-{size}.parquet")


def index_lichess(size: int, folder: Path) -> Work:
    from assay.games import index

    return lambda: index(folder / f"lichess-{size}.pgn.zst", folder / f"lichess-{size}.parquet")


def count_games(size: int, folder: Path) -> Work:
    from assay.games.catalog import open_index, rows_of
    from assay.games.stats import count

    opened = [open_index(folder / f"index-{size}.parquet")]
    return lambda: count(rows_of(opened))


def filter_games(size: int, folder: Path) -> Work:
    import polars as pl

    from assay.games.catalog import open_index, rows_of

    opened = [open_index(folder / f"index-{size}.parquet")]
    where = 'white_elo >= 1900 and abs(white_elo - black_elo) < 100 and result == "1-0"'
    return lambda: rows_of(opened, where).select(pl.len()).collect()


def rate_games(size: int, folder: Path) -> Work:
    return _results(folder / f"results-games-{size}.pgn")


def rate_players(size: int, folder: Path) -> Work:
    return _results(folder / f"results-players-{size}.pgn")


def _results(file: Path) -> Work:
    """The whole command, with errors."""
    from assay.cli.main import assay
    from assay.errors import AssayWarning

    warnings.simplefilter("ignore", AssayWarning)  # thin pools are meant

    def rate() -> None:
        with redirect_stdout(StringIO()):
            assay.main(["results", "-q", "-W", "-D", str(file)], standalone_mode=False)

    return rate


def find_probabilities(size: int, folder: Path) -> Work:
    from assay.moves.regan import move_probabilities
    from intrinsic import C, S, spreads

    deltas, _ = spreads(size)
    return lambda: move_probabilities(deltas, S, C)


def fit_turns(size: int, folder: Path) -> Work:
    from assay.moves.regan import fit
    from intrinsic import spreads

    deltas, played = spreads(size)
    return lambda: fit(deltas, played, method="percentile")


def encode_plies(size: int, folder: Path) -> Work:
    from assay.games import to_arrays
    from assay.learned import encode_games

    texts = list(_games_of(size, folder))
    return lambda: encode_games(to_arrays(texts, threads=1))


def guess_plies(size: int, folder: Path) -> Work:
    from collections import Counter

    from assay.learned.guess import guess_these

    games = list(enumerate(_games_of(size, folder), start=1))
    return lambda: guess_these(games, Counter(), model="lichess")


def _games_of(plies: int, folder: Path) -> Iterator[object]:
    """So many games of the sample, over and over, that they have about so many plies."""
    from assay.games import read, to_arrays

    games = list(islice(read(folder / SAMPLE), 2000))
    each = to_arrays(games).plies / len(games)
    for number in range(max(round(plies / each), 1)):
        yield games[number % len(games)]


def store_positions(size: int, folder: Path) -> Work:
    from engine import fill

    def insert() -> None:
        file = folder / f"store-{size}.db"
        for part in folder.glob(f"{file.name}*"):
            part.unlink()
        fill(file, size)

    return insert


def look_up_positions(size: int, folder: Path) -> Work:
    from assay.engine.store import Store
    from engine import MADE_UP, STORED_DEPTH, made_keys

    keys = made_keys(size)

    def read() -> None:
        with Store(folder / f"store-{size}.db") as store:
            rows = store.holds(MADE_UP, STORED_DEPTH, keys)
            assert len(store.read_bytes(rows.values(), STORED_DEPTH)) == size

    return read


def analyse_positions(size: int, folder: Path) -> Work:
    return _analyse(size, ENGINE_DEPTH, folder)


def analyse_depth(size: int, folder: Path) -> Work:
    return _analyse(DEPTH_POSITIONS * rounds(size), size, folder)


def rounds(depth: int) -> int:
    """More positions where a search is short, so that the start of the engine does not count.

    >>> [rounds(depth) for depth in (2, 4, 6, 8, 10, 12)]
    [8, 8, 4, 2, 1, 1]
    """
    return min(max(2 ** ((10 - depth) // 2), 1), 8)


def _analyse(positions: int, depth: int, folder: Path) -> Work:
    from engine import Tally, choose, with_assay

    keys = choose(folder / SAMPLE, positions)
    keys = [keys[number % len(keys)] for number in range(positions)]
    return lambda: with_assay(keys, depth, Tally(1))


@dataclass(frozen=True)
class Job:
    """A job and what it grows in."""

    name: str
    axis: str
    work: Callable[[int, Path], Work]
    times: Callable[[int], int] = lambda size: 1  # how often the work at a size does the job


JOBS = (
    Job("index", "games", index_games),
    Job("index, Lichess .zst", "games", index_lichess),
    Job("statistics", "games", count_games),
    Job("filter", "games", filter_games),
    Job("results, 1,000 players", "games", rate_games),
    Job(f"results, {GAMES_PER_PLAYER} games a player", "players", rate_players),
    Job("probabilities", "turns", find_probabilities),
    Job("percentile fit", "turns", fit_turns),
    Job("store, insert", "positions", store_positions),
    Job("store, read", "positions", look_up_positions),
    Job(f"engine, depth {ENGINE_DEPTH}", "positions", analyse_positions),
    Job("planes", "plies", encode_plies),
    Job("guess", "plies", guess_plies),
    Job(BY_DEPTH, "depth", analyse_depth, rounds),
)


@dataclass(frozen=True)
class Series:
    """The cost of a job at growing sizes."""

    name: str
    axis: str
    sizes: tuple[int, ...]
    costs: tuple[Cost, ...]

    @property
    def slope(self) -> float:
        """How CPU time grows over the last two sizes: 1 is in proportion."""
        (small, large), (less, more) = self.sizes[-2:], (cost.cpu for cost in self.costs[-2:])
        return math.log(more / less) / math.log(large / small)

    @property
    def each(self) -> float:
        """CPU seconds of one game, turn, ... at the largest size."""
        return self.costs[-1].cpu / self.sizes[-1]


def grow(job: Job, sizes: Sequence[int], folder: Path) -> Series:
    """Run a job at all sizes."""
    costs = tuple(alone(job.name, size, sizes[0], folder) for size in sizes)
    return Series(job.name, job.axis, tuple(sizes), costs)


def cost_of(work: Work) -> Cost:
    """The least of up to three runs in this process; what takes a second is not repeated."""
    least, wall, begun = math.inf, math.inf, time.perf_counter()
    for _ in range(3):
        started, clock = cpu(), time.perf_counter()
        work()
        least, wall = min(least, cpu() - started), min(wall, time.perf_counter() - clock)
        if time.perf_counter() - begun > 1:
            break
    return Cost(least, wall, peak())


def main() -> None:
    name, size, warm, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    (job,) = (job for job in JOBS if job.name == name)
    job.work(warm, folder)()
    cost, times = cost_of(job.work(size, folder)), job.times(size)
    print(json.dumps(asdict(Cost(cost.cpu / times, cost.wall / times, cost.memory))))


if __name__ == "__main__":
    main()
