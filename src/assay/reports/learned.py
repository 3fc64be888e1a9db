"""The learned rating of each player, or the reason why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from assay.errors import AssayError, InputError
from assay.games import Game
from assay.learned.guess import Guess, estimate, guess_these, pool_games
from assay.learned.run import Run
from assay.moves.groups import UNKNOWN
from assay.reports.content import LEVEL, Estimate

UNREAD = "no game can be read"


@dataclass(frozen=True)
class Learned:
    """Ratings by player; `model` names what made them, `note` says why there are none."""

    ratings: Mapping[str, Estimate] = field(default_factory=dict)
    model: str = ""
    note: str = ""


def learned_ratings(games: Sequence[Game], names: Sequence[tuple[str, str]] | None = None) -> Learned:
    """Ask the shipped model about the games of every player, pooled; `names` take the place of those in the tags."""
    try:
        guesses = guess_these(list(enumerate(games)), Counter())
        if names is not None:
            guesses = [replace(guess, players=names[guess.number]) for guess in guesses]
    except InputError:
        return Learned(note="no learned model is installed")
    except AssayError as error:
        return Learned(note=str(error).rstrip("."))
    if not guesses:
        return Learned(note=UNREAD)
    if useless := next((guess.run for guess in guesses if not _tells_something(guess.run)), None):
        return Learned(note=f"the model for such games ({useless.name}) is no better than guessing the average")
    everybody = dict.fromkeys(name for guess in guesses for name in guess.players)
    ratings = {_name(name): _rate(name, [guess for guess in guesses if name in guess.players]) for name in everybody}
    models = dict.fromkeys(str(guess.run.path.name) for guess in guesses)
    return Learned(ratings, ", ".join(models))


def _tells_something(run: Run) -> bool:
    """Whether the model, as judged on its test games, beats the average of all players by 2 % at least."""
    return run.error is None or run.error[0] < 0.98 * run.error[1]


def _name(name: str) -> str:
    return name.strip() or UNKNOWN


def _rate(name: str, guesses: Sequence[Guess]) -> Estimate:
    try:
        posterior = pool_games(guesses, name)
    except AssayError as error:
        return Estimate(note=str(error).rstrip("."))
    found = estimate(posterior, guesses[0].run, LEVEL / 100)
    return Estimate(found.mean, found.low, found.high)
