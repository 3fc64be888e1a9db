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

    A guess of one game is one picture: `folder` is then the name of the file.

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
            return [plot_posterior(answer.sides, answer.level, place)]
        case FitTable():
            return plot_fits(answer.turns, answer.fits, answer.how, place)
        case CalibrationTable():
            return plot_calibration(answer.calibration, place)
        case Timeline():  # one picture, of one player: the folder is the file
            if answer.player is None:
                raise InputError("a history is drawn of one player: name him with player.")
            return [plot_history(answer.times, answer.shown.rows, place)]
        case Guesses():  # one picture: the folder is the file
            if len(answer.guesses) != 1:
                raise LearnedError("one game is drawn: choose it with game.")
            save_figure(posterior_figure(answer.guesses[0]), place)
            return [place]
    raise InputError(f"there are no plots of this answer ({type(answer).__name__}).")
