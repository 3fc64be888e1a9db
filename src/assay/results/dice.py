"""Errors from simulated results, with the random numbers of Ordo and in its order.

Each run draws 16 random bits for every game, in the order of the encounters (white, then black, by first
appearance): below 65536 pW a win, below 65536 (pW + pD) a draw. A run in which the players fall apart into more groups
than they were is thrown away and drawn again, at most a hundred times, as Ordo does. Ordo then goes on for ever on
thin pools; here one such run is enough, and all further ones are taken as they come: players without a bounded rating
in a run are placed as they would be in a list.

Runs change the ratings by a few points only, so the information of the fit serves for all: a few corrections by the
same matrix bring a run within a few thousandths of a point.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayWarning, RatingError
from assay.records import dataclass
from assay.results.encounters import DRAW, LOSS, WIN, Bools, Floats, PairTable, connect
from assay.results.expectancy import expectancy, win_draw_loss
from assay.results.information import Information
from assay.results.jenkins import Bits, blocks
from assay.results.levels import RATED, Fitted, Settings, fit
from assay.results.solve import fit_draws, information

if TYPE_CHECKING:
    from concurrent.futures import Future

_REDRAWS = 100
# Runs that are rated together, in one process.
_TOGETHER = 32
_BATCH = 64
_BATCH_NUMBERS = 8_000_000
# Numbers that are kept: runs times players.
_MOST_NUMBERS = 1_000_000_000
_PASSES = 64
_CORRECTIONS = 12
_INEXACT = 1e-4
# Elo; each correction leaves about a tenth of the last.
_NEAR = 0.02
# Ordo takes its normal deviates at multiples of 1/8192.
_AREAS = 8192

Masks = NDArray[np.uint64]


@dataclass(frozen=True)
class Simulation:
    """Ratings of simulated runs (runs x players) as deviations from the fit, centred where the fit is.

    `redrawn` counts the runs that fell apart and were drawn again.
    """

    deviations: NDArray[np.float32]
    white: Floats
    equal: Floats
    white_of_fit: float
    equal_of_fit: float
    bounded: Bools
    pool: NDArray[np.int32]
    redrawn: int

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.white)

    @property
    def deviation(self) -> Floats:
        """Standard deviation of each rating over the runs (divided by their number, as Ordo does)."""
        return np.where(self.bounded, self.deviations.std(axis=0, dtype=np.float64), np.nan)

    @property
    def white_deviation(self) -> float:
        """Standard deviation of the white advantage; Ordo counts the fit itself as one more run."""
        return float(np.append(self.white, self.white_of_fit).std())

    @property
    def draws_deviation(self) -> float:
        """Standard deviation of the draw rate, likewise."""
        return float(np.append(self.equal, self.equal_of_fit).std())

    def difference_deviation(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> Floats:
        """Standard deviations of the differences between these pairs of players; nan if they are of two pools."""
        found = np.empty(len(i))
        for begin in range(0, len(i), _BATCH_NUMBERS // max(self.runs, 1) + 1):
            part = slice(begin, begin + _BATCH_NUMBERS // max(self.runs, 1) + 1)
            gap = self.deviations[:, i[part]] - self.deviations[:, j[part]]
            found[part] = gap.std(axis=0, dtype=np.float64)
        return np.where(self.bounded[i] & self.bounded[j] & (self.pool[i] == self.pool[j]), found, np.nan)


@dataclass(frozen=True)
class Dice:
    """What turns random bits into results: thresholds for each game, in the order of the encounters."""

    base: Fitted
    win: NDArray[np.unsignedinteger]
    draw: NDArray[np.unsignedinteger]
    starts: NDArray[np.intp]
    by_black: NDArray[np.intp]

    @property
    def games(self) -> int:
        """How many games a run has."""
        return len(self.win)

    @property
    def numbers(self) -> int:
        """Random numbers of a run: one for each game, each relation and each loose anchor."""
        settings = self.base.settings
        loose = 0 if settings.precision is None else int((settings.precision > 0).sum())
        return self.games + len(settings.links.a) + loose


@dataclass(frozen=True)
class Throw:
    """One simulated run: twice the score of each game, half-points of White in each encounter, and the spare bits."""

    outcome: NDArray[np.uint8]
    halves: NDArray[np.int32]
    spare: Bits


def simulate(
    base: Fitted,
    runs: int,
    seed: int | None = None,
    *,
    relative_to: int | None = None,
    processes: int = 1,
    advance: Callable[[], None] | None = None,
) -> Simulation:
    """Simulate all games `runs` times and rate each; a `seed` takes numpy's numbers in place of Ordo's.

    Deviations are relative to the player `relative_to`, to the average of the pool, or absolute where anchors or
    priors hold the level. Several `processes` give the same numbers sooner. `advance` is called after every run.
    """
    table = base.table
    if runs * table.players > _MOST_NUMBERS:
        raise RatingError(
            f"{runs:,} simulations of {table.players:,} players need {4e-9 * runs * table.players:.0f} GB: "
            f"at most {_MOST_NUMBERS // table.players:,} simulations are possible here."
        )
    dice = _dice(base)
    ahead = max(1, min(runs, _BATCH, _BATCH_NUMBERS // dice.numbers))
    bits = blocks(dice.numbers, ahead) if seed is None else _numpy_blocks(dice.numbers, ahead, seed)
    drawn = _Drawn(dice, bits, ahead)
    found = _Found(np.empty((runs, table.players), np.float32), np.empty(runs), np.empty(runs))
    with _Raters(dice, _whole_information(base), processes if runs > _TOGETHER else 1) as raters:
        for part in raters.rate(drawn.runs(runs)):
            for run in part:
                found.deviations[run.number], found.white[run.number] = run.deviations, run.white
                found.equal[run.number] = run.equal
                if advance is not None:
                    advance()
    _centre(base, found.deviations, relative_to)
    return Simulation(
        found.deviations,
        found.white,
        found.equal,
        base.solution.white,
        base.solution.equal,
        base.bounded,
        base.placement.pool,
        drawn.redrawn,
    )


@dataclass(frozen=True)
class _Found:
    deviations: NDArray[np.float32]
    white: Floats
    equal: Floats


@dataclass(frozen=True)
class _Drawn:
    """Runs one after the other, as Ordo draws them; `redrawn` counts those that fell apart."""

    dice: Dice
    bits: Iterator[Bits]
    ahead: int
    again: list[int] = field(default_factory=list)

    @property
    def redrawn(self) -> int:
        return len(self.again)

    def runs(self, wanted: int) -> Iterator[list[_Task]]:
        """So many runs, some at a time; the parts are the same however many processes rate them."""
        base = self.dice.base
        groups = int((base.groups.sizes > 1).sum())
        accepted = failures = 0
        patient = True
        while accepted < wanted:
            batch = [_throw(self.dice, next(self.bits)) for _ in range(min(self.ahead, wanted - accepted))]
            tasks: list[_Task] = []
            for run, connected in zip(batch, _connected(self.dice, batch), strict=True):
                if patient and not connected and _parts(_table(self.dice, run), base.settings) > groups:
                    self.again.append(accepted)
                    failures += 1
                    patient = failures < _REDRAWS
                    if patient:
                        continue
                failures = 0
                tasks.append(_Task(accepted, run, connected and not base.settings.likelihood))
                accepted += 1
            for begin in range(0, len(tasks), _TOGETHER):
                yield tasks[begin : begin + _TOGETHER]


@dataclass(frozen=True)
class _Task:
    """A run to be rated; `regular` if corrections of the fit may do."""

    number: int
    run: Throw
    regular: bool


@dataclass(frozen=True)
class _Run:
    """What was found of a run."""

    number: int
    deviations: NDArray[np.float32]
    white: float
    equal: float


class _Raters:
    """Rates runs, here or in several processes; the numbers are the same."""

    def __init__(self, dice: Dice, whole: Information, processes: int) -> None:
        self._own, self._pool, self._ahead = (dice, whole), None, 2 * processes
        if processes > 1:
            from concurrent.futures import ProcessPoolExecutor

            self._pool = ProcessPoolExecutor(processes, initializer=_begin, initargs=(dice, whole))

    def __enter__(self) -> _Raters:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def rate(self, parts: Iterator[list[_Task]]) -> Iterator[list[_Run]]:
        """What was found of each part, in their order; few of them wait at a time."""
        if self._pool is None:
            yield from (_rate_runs(*self._own, part) for part in parts)
            return
        waiting: deque[Future[list[_Run]]] = deque()
        for part in parts:
            waiting.append(self._pool.submit(_rate_there, part))
            if len(waiting) > self._ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


_THERE: list[tuple[Dice, Information]] = []


def _begin(dice: Dice, whole: Information) -> None:
    _THERE[:] = [(dice, whole)]


def _rate_there(tasks: list[_Task]) -> list[_Run]:
    return _rate_runs(*_THERE[0], tasks)


def _rate_runs(dice: Dice, whole: Information, tasks: list[_Task]) -> list[_Run]:
    """Rate some runs: by corrections where these settle, from the beginning elsewhere."""
    done = _correct(dice, whole, [task for task in tasks if task.regular])
    settled = {run.number for run in done}
    return [*done, *(_refit(dice, task) for task in tasks if task.number not in settled)]


def _numpy_blocks(size: int, ahead: int, seed: int) -> Iterator[Bits]:
    generator = np.random.default_rng(seed)
    while True:
        yield from generator.integers(0, 1 << 16, (ahead, size), np.uint16)


def _dice(base: Fitted) -> Dice:
    table, solution = base.table, base.solution
    gaps = table.gaps(base.ratings, solution.white)
    win, draw, _ = win_draw_loss(expectancy(gaps, base.settings.beta), solution.equal, base.settings.model)
    below = [np.floor(65536.0 * win), np.floor(65536.0 * (win + draw))]
    # A threshold of 65536, a certain result, does not fit into 16 bits.
    kind = np.uint16 if max(float(limit.max()) for limit in below) < 65536.0 else np.uint32
    wins, draws = (np.repeat(limit.astype(kind), table.games) for limit in below)
    starts = np.concatenate(([0], np.cumsum(table.games)[:-1]))
    return Dice(base, wins, draws, starts, np.argsort(table.black, kind="stable"))


def _throw(dice: Dice, bits: Bits) -> Throw:
    drawn = bits[: dice.games]
    outcome = (drawn < dice.win).view(np.uint8) + (drawn < dice.draw).view(np.uint8)
    return Throw(outcome, np.add.reduceat(outcome, dice.starts, dtype=np.int32), bits[dice.games :])


def _table(dice: Dice, run: Throw) -> PairTable:
    """The encounters with the results of this run."""
    wins, draws, losses = (
        np.add.reduceat((run.outcome == outcome).view(np.uint8), dice.starts, dtype=np.int32)
        for outcome in (WIN, DRAW, LOSS)
    )
    return replace(dice.base.table, wins=wins, draws=draws, losses=losses)


def _parts(table: PairTable, settings: Settings) -> int:
    """In how many groups, not counting single players, a table falls."""
    return int((connect(table, settings.level_known, settings.links.ends).sizes > 1).sum())


def _connected(dice: Dice, batch: list[Throw]) -> list[bool]:
    """For each run, whether all players are one group; all runs are searched at once, one bit for each."""
    table = dice.base.table
    white_scored = np.zeros(len(table.white), np.uint64)
    black_scored = np.zeros(len(table.white), np.uint64)
    most = 2 * table.games
    for number, run in enumerate(batch):
        bit = np.uint64(number)
        white_scored |= (run.halves > 0).astype(np.uint64) << bit
        black_scored |= (run.halves < most).astype(np.uint64) << bit
    whole = np.full(table.players, ~np.uint64(0))
    for down, up in ((white_scored, black_scored), (black_scored, white_scored)):
        whole &= _reach(dice, down, up)
    reached = np.bitwise_and.reduce(whole[table.played > 0])
    return [bool(reached >> np.uint64(number) & np.uint64(1)) for number in range(len(batch))]


def _reach(dice: Dice, from_white: Masks, from_black: Masks) -> Masks:
    """Which players the first one reaches, one bit for each run, along the encounters these masks allow."""
    table = dice.base.table
    source, target = table.white[dice.by_black], table.black[dice.by_black]
    along = from_white[dice.by_black]
    black_starts = np.flatnonzero(np.concatenate(([True], target[1:] != target[:-1])))
    white_starts = np.flatnonzero(np.concatenate(([True], table.white[1:] != table.white[:-1])))
    blacks, whites = target[black_starts], table.white[white_starts]
    reached = np.zeros(table.players, np.uint64)
    reached[np.argmax(table.played > 0)] = ~np.uint64(0)
    for _ in range(_PASSES):
        before = reached.copy()
        reached[blacks] |= np.bitwise_or.reduceat(reached[source] & along, black_starts)
        reached[whites] |= np.bitwise_or.reduceat(reached[table.black] & from_black, white_starts)
        if np.array_equal(before, reached):
            break
    return reached


def _whole_information(base: Fitted) -> Information:
    """The information of all encounters, also of those that only placed a perfect score."""
    table = base.table.without_self()
    if len(base.problem.table.white) == len(table.white):
        return base.solution.information
    pool = base.placement.pool
    loose = pool if base.settings.level_known is None else np.where(pool == 0, -1, pool - 1).astype(np.int32)
    problem = replace(base.problem, table=table, shift=loose)
    ratings = np.nan_to_num(base.ratings, nan=base.settings.average)
    return information(problem, ratings, base.solution.white, base.solution.equal)


def _correct(dice: Dice, whole: Information, tasks: list[_Task]) -> list[_Run]:
    """Rate runs by corrections with the information of the fit; those that do not settle are left out."""
    if not tasks:
        return []
    base, table, beta = dice.base, dice.base.table, dice.base.settings.beta
    ratings = np.nan_to_num(base.ratings, nan=base.settings.average)

    def net(values: NDArray[Any]) -> Floats:
        """Sums over White's side less those over Black's, and the sum over all."""
        with_white, with_black = table.by_side(values)
        return np.append(with_white - with_black, values.sum())

    def chances(shift: Floats) -> Floats:
        p: Floats = expectancy(table.gaps(ratings + shift[:-1], base.solution.white + shift[-1]), beta)
        return p

    made = np.stack([net(task.run.halves / 2.0) for task in tasks], axis=1)
    nothing = np.zeros(table.players + 1)
    change = whole.solve(beta * (made - net(table.games * chances(nothing))[:, None]), _INEXACT)
    scale = np.ones_like(change)
    last = np.full(len(tasks), np.inf)
    for correction in range(_CORRECTIONS):
        missing = np.zeros_like(change)
        for column in np.flatnonzero(last > _NEAR).tolist():
            p = chances(change[:, column])
            missing[:, column] = beta * (made[:, column] - net(table.games * p))
            if correction < 2:
                # Far from even scores the information of a player changes with the rating: scale by its diagonal.
                scale[:, column] = np.sqrt(
                    whole.diagonal / _diagonal(whole, table, beta**2 * table.games * p * (1.0 - p))
                )
        step = scale * whole.solve(scale * missing, _INEXACT)
        change += step
        last = np.where(last > _NEAR, np.abs(step).max(axis=0), last)
        if last.max() <= _NEAR:
            break
    found = []
    for column in np.flatnonzero(last <= _NEAR).tolist():
        shift, equal = change[:, column], base.solution.equal
        if base.settings.fit_draws:
            drawn = float(np.count_nonzero(tasks[column].run.outcome == DRAW))
            equal = fit_draws(table, chances(shift), drawn, equal)
        advantage = base.solution.white + float(shift[-1])
        found.append(_Run(tasks[column].number, shift[:-1].astype(np.float32), advantage, equal))
    return found


def _diagonal(whole: Information, table: PairTable, weight: Floats) -> Floats:
    """The diagonal that the information would have with other weights."""
    return replace(whole, table=table, weight=weight).diagonal


def _refit(dice: Dice, task: _Task) -> _Run:
    """Rate one run from the beginning, as any list."""
    base = dice.base
    start = np.nan_to_num(base.ratings, nan=base.settings.average)
    with warnings.catch_warnings():
        # What a run lacks says nothing of the games themselves.
        warnings.simplefilter("ignore", AssayWarning)
        # The top that was found is the start: it is not looked for again in every run.
        settings = replace(_shuffled(base.settings, task.run.spare), several_starts=False)
        result = fit(_table(dice, task.run), settings, start)
    deviations = np.nan_to_num(result.ratings - base.ratings).astype(np.float32)
    return _Run(task.number, deviations, result.solution.white, result.solution.equal)


def _shuffled(settings: Settings, spare: Bits) -> Settings:
    """The settings with relations and loose anchors drawn anew within their errors, as Ordo does."""
    if not len(spare):
        return settings
    from statistics import NormalDist

    area = np.maximum(spare & (_AREAS - 1), 0.5) / _AREAS
    normal = np.array([NormalDist().inv_cdf(float(a)) for a in area])
    links = settings.links
    ties, loose = normal[: len(links.a)], normal[len(links.a) :]
    shuffled = replace(settings, links=replace(links, delta=links.delta + ties / np.sqrt(links.precision)))
    if settings.precision is None or settings.mean is None:
        return shuffled
    who = settings.precision > 0
    mean = settings.mean.copy()
    mean[who] += loose / np.sqrt(settings.precision[who])
    return replace(shuffled, mean=mean)


def _centre(base: Fitted, deviations: NDArray[np.float32], relative_to: int | None) -> None:
    pool, rated = base.placement.pool, base.placement.status == RATED
    for number in np.unique(pool[pool >= 0]).tolist():
        inside = pool == number
        if relative_to is not None and inside[relative_to]:
            deviations[:, inside] -= deviations[:, [relative_to]].copy()
        elif base.settings.level_known is None:
            deviations[:, inside] -= deviations[:, inside & rated].mean(axis=1, keepdims=True)
