"""Assay tells how strong chess play is: from results, from moves, and learned.

The functions here are the front door (docs/api.md); each room behind it is a package of its own: :mod:`assay.games`,
:mod:`assay.engine`, :mod:`assay.moves`, :mod:`assay.results`, :mod:`assay.learned`, :mod:`assay.policy`,
:mod:`assay.reports`. Nothing is loaded before it is used.

>>> import assay
>>> print(assay.rate_results(assay.SAMPLE)["Deep Blue"])
2329 (2229-2430)
"""

from assay.lazy import TYPE_CHECKING, loader

if TYPE_CHECKING:
    from assay.answer.comparing import compare as compare
    from assay.answer.shrinking import groups as groups
    from assay.answer.shrinking import shrink as shrink
    from assay.answer.standings import expectancies as expectancies
    from assay.answer.standings import match as match
    from assay.answer.standings import publish as publish
    from assay.answer.standings import rate_over_time as rate_over_time
    from assay.answer.standings import rate_results as rate_results
    from assay.api import add_ratings as add_ratings
    from assay.api import analyse as analyse
    from assay.api import analyses as analyses
    from assay.api import balance as balance
    from assay.api import calibrate as calibrate
    from assay.api import calibration as calibration
    from assay.api import calibrations as calibrations
    from assay.api import choose as choose
    from assay.api import difference as difference
    from assay.api import encode as encode
    from assay.api import engines as engines
    from assay.api import evaluate as evaluate
    from assay.api import event as event
    from assay.api import export_analyses as export_analyses
    from assay.api import export_turns as export_turns
    from assay.api import fit as fit
    from assay.api import foretell as foretell
    from assay.api import import_analyses as import_analyses
    from assay.api import index as index
    from assay.api import month as month
    from assay.api import planes as planes
    from assay.api import plot as plot
    from assay.api import posterior as posterior
    from assay.api import rate as rate
    from assay.api import rate_learned as rate_learned
    from assay.api import rate_moves as rate_moves
    from assay.api import rating_lists as rating_lists
    from assay.api import report as report
    from assay.api import review as review
    from assay.api import samples as samples
    from assay.api import screen as screen
    from assay.api import screen_running as screen_running
    from assay.api import serve as serve
    from assay.api import sheet as sheet
    from assay.api import show as show
    from assay.api import simulate as simulate
    from assay.api import stats as stats
    from assay.api import store_analyses as store_analyses
    from assay.api import train as train
    from assay.api import transfer as transfer
    from assay.curve import Estimate as Estimate
    from assay.engine.analysis import Analysis as Analysis
    from assay.errors import AssayError as AssayError
    from assay.fetch.fetching import fetch_games as fetch_games
    from assay.fetch.fetching import forget as forget
    from assay.games.selection import GameSelection as GameSelection
    from assay.games.source import Games as Games
    from assay.games.source import read as read
    from assay.games.watching import watch as watch
    from assay.paths import SAMPLE as SAMPLE
    from assay.policy.chances import chances as chances
    from assay.policy.making import export_policy as export_policy
    from assay.policy.making import gather_positions as gather_positions
    from assay.policy.making import label_positions as label_positions
    from assay.policy.making import train_policy as train_policy
    from assay.reports.checkup import doctor as doctor
    from assay.table import Answer as Answer

__version__ = "0.2.0"

_HOME = dict.fromkeys(
    (
        "add_ratings",
        "analyse",
        "analyses",
        "balance",
        "calibrate",
        "calibration",
        "calibrations",
        "choose",
        "difference",
        "encode",
        "engines",
        "evaluate",
        "event",
        "export_analyses",
        "export_turns",
        "fit",
        "foretell",
        "import_analyses",
        "index",
        "month",
        "planes",
        "plot",
        "posterior",
        "rate",
        "rate_learned",
        "rate_moves",
        "rating_lists",
        "report",
        "review",
        "samples",
        "screen",
        "screen_running",
        "sheet",
        "serve",
        "show",
        "simulate",
        "stats",
        "store_analyses",
        "train",
        "transfer",
    ),
    "api",
) | {
    "Analysis": "engine.analysis",
    "Answer": "table",
    "AssayError": "errors",
    "Estimate": "curve",
    "Games": "games.source",
    "chances": "policy.chances",
    "compare": "answer.comparing",
    "expectancies": "answer.standings",
    "groups": "answer.shrinking",
    "match": "answer.standings",
    "publish": "answer.standings",
    "rate_over_time": "answer.standings",
    "rate_results": "answer.standings",
    "shrink": "answer.shrinking",
    "SAMPLE": "paths",
    "doctor": "reports.checkup",
    "export_policy": "policy.making",
    "fetch_games": "fetch.fetching",
    "forget": "fetch.fetching",
    "gather_positions": "policy.making",
    "label_positions": "policy.making",
    "train_policy": "policy.making",
    "watch": "games.watching",
    "GameSelection": "games.selection",
    "read": "games.source",
}
__all__ = sorted([*_HOME, "__version__"])
__getattr__ = loader(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__
