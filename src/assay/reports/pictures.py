"""The pictures of an answer: which plots belong to which, so that whoever has an answer can draw it."""

from __future__ import annotations

from pathlib import Path

from assay.answer.rating import JointRatings
from assay.errors import InputError, LearnedError
from assay.games.listings import GameCounts
from assay.learned.guess import Guesses
from assay.moves.answers import CalibrationTable, Followed, MoveRatings
from assay.moves.fits import FitTable
from assay.paths import File
from assay.reports.plots import plot_calibration, plot_fits, plot_history, plot_posterior, plot_ratings, plot_witnesses
from assay.reports.plots_games import plot_stats
from assay.reports.plots_learned import posterior_figure, save_figure
from assay.results.timeline import Timeline
from assay.table import Answer


def plot(answer: Answer, folder: File) -> list[Path]:
    """Write the pictures of an answer, as `--plots` of its command does; which files there are now.

    Where there is but one picture, `folder` may be the name of its file, such as posterior.svg.

    >>> import assay
    >>> assay.plot(assay.event(assay.SAMPLE), "plots")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: there are no plots of this answer (EventTable).
    """
    place = Path(folder)
    match answer:
        case GameCounts():
            return list(plot_stats(answer.counts, place))
        case MoveRatings():
            return plot_ratings(answer.groups, answer.by, place)
        case JointRatings():
            return plot_witnesses(answer.said, place)
        case Followed():
            return [plot_posterior(answer.sides, answer.level, _alone(place, "posterior"))]
        case FitTable():
            return plot_fits(answer.turns, answer.fits, answer.how, place)
        case CalibrationTable():
            return plot_calibration(answer.calibration, place)
        case Timeline():
            if answer.player is None:
                raise InputError("a history is drawn of one player: name him with player.")
            return [plot_history(answer.times, answer.shown.rows, _alone(place, "history"))]
        case Guesses():
            if len(answer.guesses) != 1:
                raise LearnedError("one game is drawn: ask for it with rate_learned(..., game=N).")
            file = _alone(place, "posterior")
            save_figure(posterior_figure(answer.guesses[0]), file)
            return [file]
    raise InputError(f"there are no plots of this answer ({type(answer).__name__}).")


def _alone(place: Path, name: str) -> Path:
    """The file of a picture that stands alone: the one that is named, or one in the folder that is."""
    if place.suffix:
        return place
    place.mkdir(parents=True, exist_ok=True)
    return place / f"{name}.svg"
