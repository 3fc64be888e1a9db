"""The other two answers of a report, for each player: from the results of the event itself, and learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from assay.answer.points import DRAWS, DRAWS_ERROR, WHITE, WHITE_ERROR
from assay.answer.voices import NO_LEVEL, NO_RESULT, UNREAD
from assay.curve import Estimate
from assay.errors import AssayError, InputError, RatingError
from assay.games import Game, GameArrays
from assay.games.outcomes import score_of
from assay.learned.guess import Guess, guess_parsed, player_estimate
from assay.learned.run import Run
from assay.moves.groups import UNKNOWN
from assay.reports.content import LEVEL
from assay.results import rate
from assay.results.ratings import confidence_factor

# An event has few games: a wide prior about the rating in the tags keeps perfect scores and players who met nobody
# comparable within reason. Nine games outweigh it five to one.
PRIOR = 250.0


def result_ratings(games: pl.DataFrame) -> dict[str, Estimate]:
    """Rate the players of some games by their results.

    Results tell differences only: the level is that of the tags, and the intervals are those of the difference to the
    average player.
    """
    names = dict.fromkeys(name or UNKNOWN for pair in zip(games["white"], games["black"], strict=True) for name in pair)
    blank = dict.fromkeys(names, Estimate(note=NO_RESULT))
    score = pl.Series([score_of(result) for result in games["result"]], dtype=pl.Float64)
    scored = games.filter(score.is_not_null())
    if not scored.height:
        return blank
    return blank | _rate(scored, score.drop_nulls().to_list())


def _rate(games: pl.DataFrame, score: list[float]) -> dict[str, Estimate]:
    """Rate the players of games that all have a result."""
    white = [name or UNKNOWN for name in games["white"]]
    black = [name or UNKNOWN for name in games["black"]]
    tags = _tags(games, white, black)
    try:
        if not tags:
            raise RatingError(NO_LEVEL)
        found = rate(
            white,
            black,
            score,
            average=float(np.mean(list(tags.values()))),
            white_advantage=WHITE,
            white_advantage_error=WHITE_ERROR,
            draw_rate=DRAWS,
            draw_rate_error=DRAWS_ERROR,
            priors={name: (tag, PRIOR) for name, tag in tags.items()},
            prior=PRIOR,
        )
    except RatingError as error:
        return dict.fromkeys([*white, *black], Estimate(note=str(error).rstrip(".")))
    # Every rating less the mean of all, C -> D C D' with D = 1 - 1/n: the level is given, not estimated.
    centred = found.covariance()
    centred = centred - centred.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    half = confidence_factor(LEVEL / 100) * np.sqrt(np.maximum(np.diagonal(centred), 0.0))
    return {
        name: Estimate(float(rating), float(rating - width), float(rating + width))
        for name, rating, width in zip(found.players, found.ratings, half, strict=True)
    }


def _tags(games: pl.DataFrame, white: list[str], black: list[str]) -> dict[str, float]:
    """The mean rating in the tags of each player who has one."""
    known: dict[str, list[float]] = {}
    for names, elos in ((white, games["white_elo"]), (black, games["black_elo"])):
        for name, elo in zip(names, elos, strict=True):
            if elo is not None:
                known.setdefault(name, []).append(float(elo))
    return {name: float(np.mean(elos)) for name, elos in known.items()}


@dataclass(frozen=True)
class Learned:
    """Ratings by player; `model` names what made them, `note` says why there are none."""

    ratings: Mapping[str, Estimate] = field(default_factory=dict)
    model: str = ""
    note: str = ""


def learned_ratings(games: Sequence[Game], arrays: GameArrays, names: Mapping[int, tuple[str, str]]) -> Learned:
    """Ask the shipped model about the games of every player, pooled.

    `arrays` are the games, parsed; `names` says by their places which of them count, and who plays.
    """
    try:
        chosen = [(at, games[at]) for at in names]
        guesses = [replace(guess, players=names[guess.number]) for guess in guess_parsed(chosen, arrays)]
    except InputError:
        return Learned(note="no learned model is installed")
    except AssayError as error:
        return Learned(note=str(error).rstrip("."))
    if not guesses:
        return Learned(note=UNREAD)
    if useless := next((guess.run for guess in guesses if not _tells_something(guess.run)), None):
        return Learned(note=f"the model for such games ({useless.name}) is no better than guessing the average")
    everybody = dict.fromkeys(name for guess in guesses for name in guess.players)
    ratings = {_name(name): _pooled(name, [guess for guess in guesses if name in guess.players]) for name in everybody}
    models = dict.fromkeys(str(guess.run.path.name) for guess in guesses)
    return Learned(ratings, ", ".join(models))


def _tells_something(run: Run) -> bool:
    """Whether the model, as judged on its test games, beats the average of all players by 2 % at least."""
    return run.error is None or run.error[0] < 0.98 * run.error[1]


def _name(name: str) -> str:
    return name.strip() or UNKNOWN


def _pooled(name: str, guesses: Sequence[Guess]) -> Estimate:
    try:
        return player_estimate(guesses, name, LEVEL / 100)
    except AssayError as error:
        return Estimate(note=str(error).rstrip("."))
