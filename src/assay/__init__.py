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
    from assay.api import rate as rate
    from assay.api import rate_learned as rate_learned
    from assay.api import serve as serve
    from assay.api import sheet as sheet
    from assay.curve import Estimate as Estimate
    from assay.engine.analysis import Analysis as Analysis
    from assay.engine.holdings import analyses as analyses
    from assay.engine.holdings import export_analyses as export_analyses
    from assay.engine.holdings import import_analyses as import_analyses
    from assay.errors import AssayError as AssayError
    from assay.fetch.fetching import fetch_games as fetch_games
    from assay.fetch.fetching import forget as forget
    from assay.games.archives import watch as watch
    from assay.games.listings import balance as balance
    from assay.games.listings import choose as choose
    from assay.games.listings import index as index
    from assay.games.listings import month as month
    from assay.games.listings import samples as samples
    from assay.games.listings import stats as stats
    from assay.games.selection import GameSelection as GameSelection
    from assay.games.source import Games as Games
    from assay.games.source import read as read
    from assay.lists.inforce import add_ratings as add_ratings
    from assay.lists.inforce import rating_lists as rating_lists
    from assay.moves.analysed import store_analyses as store_analyses
    from assay.moves.answers import analyse as analyse
    from assay.moves.answers import posterior as posterior
    from assay.moves.answers import rate_moves as rate_moves
    from assay.moves.calibrated import calibrate as calibrate
    from assay.moves.calibrated import calibration as calibration
    from assay.moves.calibrated import calibrations as calibrations
    from assay.moves.calibrated import engines as engines
    from assay.moves.calibrated import transfer as transfer
    from assay.moves.differences import difference as difference
    from assay.moves.fits import fit as fit
    from assay.moves.review import export_turns as export_turns
    from assay.moves.review import show as show
    from assay.moves.screened import screen as screen
    from assay.moves.screened import screen_running as screen_running
    from assay.moves.simulation import simulate as simulate
    from assay.paths import SAMPLE as SAMPLE
    from assay.policy.chances import chances as chances
    from assay.policy.making import export_policy as export_policy
    from assay.policy.making import gather_positions as gather_positions
    from assay.policy.making import label_positions as label_positions
    from assay.policy.making import train_policy as train_policy
    from assay.reports.checkup import doctor as doctor
    from assay.reports.event import event as event
    from assay.reports.foretelling import foretell as foretell
    from assay.reports.growing import report as report
    from assay.reports.learning import encode as encode
    from assay.reports.learning import evaluate as evaluate
    from assay.reports.learning import planes as planes
    from assay.reports.learning import train as train
    from assay.reports.plots import plot as plot
    from assay.reports.reviewing import review as review
    from assay.table import Answer as Answer

__version__ = "0.2.0"

# Where each name of the front door is at home: in a room, or in `api`, for what ties several of them together.
_ROOMS = {
    "answer.comparing": "compare",
    "answer.shrinking": "groups shrink",
    "answer.standings": "expectancies match publish rate_over_time rate_results",
    "api": "rate rate_learned serve sheet",
    "curve": "Estimate",
    "engine.analysis": "Analysis",
    "engine.holdings": "analyses export_analyses import_analyses",
    "errors": "AssayError",
    "fetch.fetching": "fetch_games forget",
    "games.archives": "watch",
    "games.listings": "balance choose index month samples stats",
    "games.selection": "GameSelection",
    "games.source": "Games read",
    "lists.inforce": "add_ratings rating_lists",
    "moves.analysed": "store_analyses",
    "moves.answers": "analyse posterior rate_moves",
    "moves.calibrated": "calibrate calibration calibrations engines transfer",
    "moves.differences": "difference",
    "moves.screened": "screen screen_running",
    "moves.simulation": "simulate",
    "moves.fits": "fit",
    "moves.review": "export_turns show",
    "paths": "SAMPLE",
    "policy.chances": "chances",
    "policy.making": "export_policy gather_positions label_positions train_policy",
    "reports.checkup": "doctor",
    "reports.event": "event",
    "reports.foretelling": "foretell",
    "reports.growing": "report",
    "reports.learning": "encode evaluate planes train",
    "reports.plots": "plot",
    "reports.reviewing": "review",
    "table": "Answer",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = sorted([*_HOME, "__version__"])
__getattr__ = loader(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__
