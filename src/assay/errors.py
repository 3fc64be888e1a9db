"""The tree of errors and warnings.

::

    AssayError                 everything a user can cause; the command line prints it as one sentence, exit code 1
    ├── InputError             a file that is missing, damaged, of the wrong kind, or made from another source
    │   └── FetchError         games elsewhere that do not exist, are refused, or cannot be reached
    ├── OutputError            a place that cannot be written
    ├── WhereError             a filter expression that does not parse or names no column
    ├── MissingExtra           an optional dependency is not installed
    ├── EngineError            an engine that is missing, dies, hangs or talks nonsense
    ├── StoreError             an analysis store that is locked, damaged, or lacks what was asked for
    │   └── TakenError         another process has the lock
    ├── RatingError            ratings from results that cannot be computed as asked
    │   └── Unconnected        no games connect some of the players, where they have to be
    ├── ModelError             the intrinsic model cannot be applied to these spreads
    │   ├── TooFewTurns        not enough turns for this fit
    │   └── NotConverged       the fit found no solution
    ├── CalibrationError       a calibration that is none, or belongs to another engine
    └── LearnedError           a dataset, configuration or checkpoint that does not fit

    AssayWarning               the result stands, but the user should know something

Bad arguments raise. Bad *data* (one broken game among a million) is counted by reason and never raises.
"""

from __future__ import annotations

from collections.abc import Callable


class AssayError(Exception):
    """A mistake that a user can mend; its text says what is wrong and what to do.

    >>> import assay
    >>> try:
    ...     assay.rate_results("nowhere.pgn")
    ... except assay.AssayError as error:
    ...     print(error)
    there is no file nowhere.pgn.
    """


class InputError(AssayError):
    """A file that is missing, damaged, of the wrong kind, or made from another source."""


class NoTurns(InputError):  # noqa: N818 - reads as what it is
    """Games without a move that could be judged."""


class FetchError(InputError):
    """Games elsewhere that do not exist, are refused, or cannot be reached."""


class OutputError(AssayError):
    """A place that cannot be written."""


class WhereError(AssayError):
    """A filter expression that does not parse or names no column."""


class MissingExtra(AssayError):  # noqa: N818 - reads as what it is
    """An optional dependency is not installed.

    >>> raise MissingExtra("torch", "learn")
    Traceback (most recent call last):
    assay.errors.MissingExtra: torch is not installed. Install it with: pip install "assay[learn]"
    """

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(f'{module} is not installed. Install it with: pip install "assay[{extra}]"')


class EngineError(AssayError):
    """An engine that is missing, dies, hangs or talks nonsense."""


class StoreError(AssayError):
    """An analysis store that is locked, damaged, or lacks what was asked for."""


class TakenError(StoreError):
    """Another process has the lock."""


class RatingError(AssayError):
    """Ratings from results that cannot be computed as asked."""


class Unconnected(RatingError):  # noqa: N818
    """No games connect some of the players, where they have to be.

    `account` tells of the games, as that of a list does, and `warning` of the groups, both in Ordo's words.
    """

    def __init__(self, sentence: str, account: Callable[..., str], warning: str) -> None:
        super().__init__(sentence)
        self.account, self.warning = account, warning


class ModelError(AssayError):
    """The intrinsic model cannot be applied to these spreads."""


class TooFewTurns(ModelError):  # noqa: N818
    """Not enough turns for this fit."""


class NotConverged(ModelError):  # noqa: N818
    """The fit found no solution."""


class CalibrationError(AssayError):
    """A calibration that is none, or belongs to another engine."""


class LearnedError(AssayError):
    """A dataset, configuration or checkpoint that does not fit."""


class AssayWarning(UserWarning):
    """The result stands, but the user should know something."""
