"""A run judged on games it has not seen: by ply, by band, by speed, for one player and for the pair.

Where others have posteriors of the same games, both can be judged side by side.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import LearnedError
from assay.learned.baselines import tag_posteriors
from assay.learned.curves import Tuning, fit_tuning
from assay.learned.dataset import Dataset
from assay.learned.forward import evidence, one_thread
from assay.learned.guess import Guess
from assay.learned.lessons import log_softmax
from assay.learned.run import ALL_POOLS, LATER, LATER_FROM, WITH_EVALS, Run
from assay.progress import Progress
from assay.records import dataclass
from assay.scoring import Score, band_of, posterior_mean, score

Floats = npt.NDArray[np.float64]

PLIES = (0, 10, 20, 40, 60)
LEAST_SIDES = 600  # of a speed that gets a tuning of its own

# Posteriors of others at the end of games, by game (from 1) and side (0 for White): the rating in the tags, a grid of
# ratings, and their probabilities.
Others = Mapping[tuple[int, int], tuple[float, Floats, Floats]]


@dataclass(frozen=True)
class Judged:
    """Posteriors of a run on games: after each of PLIES (where the game has as many) and at the end."""

    run: str
    edges: Floats
    within: Floats | None  # how players are spread inside the bands
    centre: float  # what predict-the-mean says
    posteriors: Floats  # (games, 6, 2, bands); the last of the six is the end of the game
    ratings: Floats  # (games, 2)
    plies: npt.NDArray[np.int64]  # of each game
    speed: npt.NDArray[np.object_]
    years: Floats  # nan where unknown
    players: npt.NDArray[np.uint64]  # (games, 2); 0 where unknown
    weights: Floats  # (games, 2), what each player counts; 0 for players of another set
    evidence: Floats  # (games, 2, bands), what each game says at its end, without a prior
    valued: npt.NDArray[np.bool_]  # whether the evals of each game were read

    @property
    def end(self) -> Floats:
        """Posteriors at the end of the games, one row per player."""
        return self.posteriors[:, -1].reshape(-1, len(self.edges) - 1)

    def score(self, at: int = -1, games: npt.NDArray[np.bool_] | slice = slice(None)) -> Score:
        """The score at one of PLIES (or -1, the end) on some of the games, over both players."""
        held = self.weights[games] > 0
        return self.score_of(self.posteriors[games, at][held], self.ratings[games][held], self.weights[games][held])

    def score_of(self, posteriors: Floats, ratings: Floats, weights: Floats) -> Score:
        """The score of some posteriors over the same bands."""
        return score(posteriors, self.edges, ratings, centre=self.centre, weights=weights, within=self.within)

    def means(self) -> Floats:
        """The posterior means at the end of the games, (games, 2)."""
        return posterior_mean(self.end, self.edges, self.within).reshape(-1, 2)


def unseen_rows(dataset: Dataset, split: str = "test") -> npt.NDArray[np.int64]:
    """The games to judge on."""
    rows = dataset.rows(split)
    if not len(rows):
        raise LearnedError(f"{dataset.path} has no games in the set {split!r}; encode more games.")
    return rows


def balance(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Floats:
    """Weights of the players (games, 2) under which every band counts the same; 1 on average.

    This is the population that a balanced training speaks of: an even prior over the bands of players. No game is
    wasted, as it would be by drawing as many of each band as the rarest one has.
    """
    bands, held = dataset.bands[rows], dataset.held[rows]
    counts = np.bincount(bands[held], minlength=len(dataset.edges) - 1)
    if not counts.all():
        raise LearnedError("some bands have no player, so they cannot be balanced; encode with a smaller --range.")
    return np.asarray(held * held.sum() / (len(counts) * counts[bands]), dtype=np.float64)


def judge(
    run: Run,
    dataset: Dataset,
    rows: npt.NDArray[np.int64],
    *,
    prior: Floats | None = None,
    balanced: bool = False,
    without: Collection[str] = (),
    quiet: bool = True,
) -> Judged:
    """Apply a run to games of a dataset; balanced, every band counts the same.

    Inputs of the kinds `without` are kept from the run.
    """
    if not np.array_equal(run.edges, dataset.edges):
        raise LearnedError(
            f"{run.path} knows the bands {_told(run.edges)}, {dataset.path} has {_told(dataset.edges)}; "
            "encode the games again with the bands of the run."
        )
    weights = balance(dataset, rows) if balanced else dataset.held[rows].astype(np.float64)
    own = run.prior if prior is None else np.maximum(prior, 1e-12)
    said = np.empty((len(rows), 2, len(run.prior)))
    found = np.empty((len(rows), len(PLIES) + 1, 2, len(run.prior)))
    with one_thread(), Progress(f"judging {run.name}", len(rows), unit="games", quiet=quiet) as progress:
        for number, row in enumerate(rows.tolist()):
            if run.config.model == "tags":
                whole = tag_posteriors(run, dataset, row, prior)
                found[number, :-1], found[number, -1] = whole[0], whole[-1]
                said[number] = np.log(whole[-1]) - np.log(own)
            else:
                heard = evidence(run, dataset.game(row).without(without))
                whole = np.exp(log_softmax(heard[np.minimum((*PLIES, len(heard)), len(heard) - 1)] + np.log(own)))
                found[number], said[number] = whole, heard[-1]
            progress.advance()
    ids = [dataset.table[name].take(rows).fill_null(0).to_numpy() for name in ("white_id", "black_id")]
    return Judged(
        run=run.name,
        edges=run.edges,
        within=run.within,
        centre=float(posterior_mean(own[None], run.edges, run.within)[0]),
        posteriors=found,
        ratings=dataset.ratings[rows].astype(np.float64),
        plies=dataset.plies[rows],
        speed=dataset.column("speed")[rows],
        years=dataset.years[rows],
        players=np.stack(ids, axis=1),
        weights=weights,
        evidence=said,
        valued=dataset.column("valued")[rows].astype(bool) & ("evals" in run.inputs and "evals" not in without),
    )


def by_ply(judged: Judged) -> dict[str, Score]:
    """Scores after so many plies, over the games that have as many, and at the end."""
    found = {
        str(plies): judged.score(at, judged.plies >= plies)
        for at, plies in enumerate(PLIES)
        if (judged.plies >= plies).any()
    }
    return found | {"end": judged.score()}


def by_band(judged: Judged) -> dict[str, Score]:
    """Scores of the players of each band, at the end of the game."""
    flat, weights = judged.ratings.reshape(-1), judged.weights.reshape(-1)
    found = {}
    for low, high in zip(judged.edges[:-1], judged.edges[1:], strict=True):
        inside = (flat >= low) & (flat < high) & (weights > 0)
        if inside.any():
            found[f"{low:.0f}-{high - 1:.0f}"] = judged.score_of(judged.end[inside], flat[inside], weights[inside])
    return found


def by_speed(judged: Judged) -> dict[str, Score]:
    """Scores of the games of each speed, where it is known."""
    played = (judged.weights > 0).any(axis=1)
    names = sorted({name for name in judged.speed[played] if name})
    return {str(name): judged.score(games=judged.speed == name) for name in names}


def standard_error(judged: Judged) -> float:
    """The standard error of the mean absolute error at the end; both players of a game count as one case."""
    error = np.abs(judged.means() - judged.ratings)
    away = judged.weights * (error - np.average(error, weights=judged.weights))
    return float(np.sqrt(np.sum(away.sum(axis=1) ** 2)) / judged.weights.sum())


def pair_error(judged: Judged) -> float:
    """Mean absolute error of the average of both players' posterior means against the average rating.

    Over games both of whose players may be judged; nan where there are none.
    """
    both = (judged.weights > 0).all(axis=1)
    if not both.any():
        return math.nan
    off = judged.means()[both].mean(axis=1) - judged.ratings[both].mean(axis=1)
    return float(np.average(np.abs(off), weights=judged.weights[both].mean(axis=1)))


def tunings_of(*judged: Judged) -> dict[str, Tuning]:
    """What brings the evidence of these games to the scale: of every speed that has enough of them, and of all.

    Games whose evals were read and others are apart, and so are later years, where there are enough of both.
    """
    held = [some.weights > 0 for some in judged]

    def sides(name: str) -> npt.NDArray[Any]:
        both = [getattr(some, name) for some in judged]
        wide = [np.stack([one, one], axis=1) if one.ndim == 1 else one for one in both]
        return np.concatenate([one[there] for one, there in zip(wide, held, strict=True)])

    evidence, ratings, players = sides("evidence"), sides("ratings"), sides("players")
    valued, later, speed = sides("valued"), sides("years") >= LATER_FROM, sides("speed")
    found: dict[str, Tuning] = {}
    for read in (False, True):
        for name in (ALL_POOLS, *sorted({name for name in speed if name})):
            there = (valued == read) & ((speed == name) | (name == ALL_POOLS))
            key, eras = f"{name}{WITH_EVALS if read else ''}", {"": there & ~later, LATER: there & later}
            if eras[""].sum() < LEAST_SIDES:
                eras = {"": there}
            for era, chosen in eras.items():
                if chosen.sum() >= LEAST_SIDES:
                    told = evidence[chosen], ratings[chosen], players[chosen]
                    found[key + era] = fit_tuning(*told, judged[0].edges, like=found.get(key))
    return found


def together(judged: Judged, run: Run, prior: Floats, *, least: int = 2, most: int = 20) -> Score | None:
    """The score of players with several games, whose evidence is added and counts to the run's power."""
    players, held = judged.players.reshape(-1), judged.weights.reshape(-1) > 0
    evidence = judged.evidence.reshape(len(players), -1)
    ratings, weights = judged.ratings.reshape(-1), judged.weights.reshape(-1)
    speeds, valued = np.repeat(judged.speed, 2), np.repeat(judged.valued, 2)
    rows = []
    for player in np.unique(players[(players != 0) & held]):
        some = np.flatnonzero((players == player) & held)[:most]
        if len(some) >= least:
            power = run.tuning_of(speeds[some[0]], evals=bool(valued[some[0]])).power
            rows.append((power * evidence[some].sum(axis=0), ratings[some].mean(), weights[some].mean()))
    if not rows:
        return None
    logs, truth, weight = (np.array(column) for column in zip(*rows, strict=True))
    return judged.score_of(np.exp(log_softmax(logs + np.log(prior))), truth, weight)


def _told(edges: Floats) -> str:
    return f"{edges[0]:.0f}-{edges[-1]:.0f} by {edges[1] - edges[0]:.0f}"


@dataclass(frozen=True)
class Beside:
    """Both kinds of posterior judged on the same players."""

    learned: Score
    others: Score


def normal_prior(run: Run) -> tuple[float, float]:
    """Mean and standard deviation of a run's prior, for those who take a normal one."""
    middle = (run.edges[1:] + run.edges[:-1]) / 2
    mean = float(posterior_mean(run.prior[None], run.edges, run.within)[0])
    return mean, float(np.sqrt(run.prior @ (middle - mean) ** 2))


def judge_beside(run: Run, guesses: Sequence[Guess], others: Others) -> Beside:
    """Judge a run and others on the same games, where both have a posterior and the rating lies inside the bands.

    The others' prior should be :func:`normal_prior` of the run; their fine grid is summed into the bands.
    """
    of_game = {guess.number: guess for guess in guesses}
    learned, given, ratings = [], [], []
    for (number, side), (rating, grid, probability) in others.items():
        if number in of_game and run.edges[0] <= rating < run.edges[-1]:
            learned.append(of_game[number].posteriors[-1, side])
            given.append(into_bands(grid, probability, run.edges))
            ratings.append(rating)
    if not ratings:
        raise LearnedError(
            f"no analysed game has a rating inside the bands {_told(run.edges)} of {run.path}; give others."
        )
    centre = normal_prior(run)[0]
    both = (
        score(np.array(some), run.edges, np.array(ratings), centre=centre, within=run.within)
        for some in (learned, given)
    )
    return Beside(*both)


def into_bands(grid: Floats, probability: Floats, edges: Floats) -> Floats:
    """Probabilities on a grid of ratings summed into bands; what lies outside goes to the nearest.

    >>> into_bands(np.array([900.0, 1100.0, 1150.0, 1300.0]), np.full(4, 0.25), np.array([1000.0, 1200.0, 1400.0]))
    array([0.75, 0.25])
    """
    bands = len(edges) - 1
    inside = np.clip(band_of(grid, edges), 0, bands - 1)
    return np.bincount(inside, weights=probability, minlength=bands).astype(np.float64)
