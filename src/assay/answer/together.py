"""A rating list from results and moves together: all players are solved at once.

What moves and the learned model say of a player goes into the solver of results as a loose anchor: a rating with an
error. So everybody who was analysed is known better, and players without common opponents can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.answer.joining import RESULTS, joined, joint_of
from assay.answer.points import DRAWS, DRAWS_ERROR, WHITE, WHITE_ERROR
from assay.answer.rating import JointRatings, Material, gather, told_prior, voices_of
from assay.answer.voices import Units, Voice, units_of
from assay.curve import GRID, Curve, Estimate, Honesty
from assay.errors import InputError, RatingError
from assay.moves.answers import What
from assay.moves.groups import UNKNOWN
from assay.results import rate
from assay.results.ratings import Standings, confidence_factor
from assay.table import Table, columns_of, counted

_LOOSE = 1000.0  # an error beyond which results say nothing: who never met the others, or lost all games
_COLUMNS = ("rank", "player", "games", "rating", "error", "results", "results_error", "moves", "from_moves", "note")


def rate_list(
    what: What, *, witness: Sequence[str], level: float = 0.95, player: str | None = None, **analysing: Any
) -> JointRatings:
    """All players of one pool at once; see :func:`assay.api.rate`."""
    if RESULTS not in witness:
        raise InputError("a list stands on results: leave 'results' among the witnesses.")
    found = gather(what, "moves" in witness, **analysing)
    units = units_of(found.frame, found.counted)
    pools = {pool for _, pool, _ in units.keys}
    if len(pools) > 1:
        raise InputError(
            f"a list has one scale, and these games are of {counted(len(pools), 'pool')} ({', '.join(sorted(pools))}): "
            "choose one with --where, or say --pool."
        )
    units, voices = voices_of(found, units, None, [name for name in witness if name != RESULTS], level)
    anchors = _anchors(units, voices, level)
    alone, together = _solve(found, units, {}), _solve(found, units, anchors)
    return _answer(found, units, alone, together, anchors, level, player)


def _anchors(units: Units, voices: Sequence[Voice], level: float) -> dict[str, tuple[float, float]]:
    """What moves and the learned model say of each player together, as a rating with its error."""
    found = {}
    for at, (name, pool, _) in enumerate(units.keys):
        curves = {voice.kind: voice.curves[at] for voice in voices if voice.says(at)}
        if not curves:
            continue
        (one,) = Curve(joined(curves, joint_of(pool))[None], GRID).estimates(Honesty(), level)
        if one.bounded and np.isfinite(one.value):
            found[name] = (one.value, one.half_width / confidence_factor(level))
    return found


def _solve(found: Material, units: Units, anchors: dict[str, tuple[float, float]]) -> Standings:
    frame, counts = found.frame, np.flatnonzero(found.counted & np.isfinite(units.scores)).tolist()
    white = [frame["white"][at] or UNKNOWN for at in counts]
    black = [frame["black"][at] or UNKNOWN for at in counts]
    tags = units.tag[np.isfinite(units.tag)]
    how: dict[str, Any] = {"priors": anchors} if anchors else {"average": float(tags.mean()) if len(tags) else 2300.0}
    try:
        return rate(
            white,
            black,
            units.scores[counts],
            white_advantage=WHITE,
            white_advantage_error=WHITE_ERROR,
            draw_rate=DRAWS,
            draw_rate_error=DRAWS_ERROR,
            **how,
        )
    except RatingError as error:
        raise InputError(f"these games make no list: {error}") from error


def _answer(
    found: Material,
    units: Units,
    alone: Standings,
    together: Standings,
    anchors: dict[str, tuple[float, float]],
    level: float,
    player: str | None,
) -> JointRatings:
    factor = confidence_factor(level)
    own = {name: (float(r), float(d)) for name, r, d in zip(alone.players, alone.ratings, alone.deviation, strict=True)}
    games = {name: int(count) for (name, _, _), count in zip(units.keys, units.games, strict=True)}
    rows, estimates = [], {}
    order = np.argsort(-np.nan_to_num(together.ratings, nan=-np.inf), kind="stable")
    for rank, at in enumerate(order.tolist(), 1):
        name, rating = together.players[at], float(together.ratings[at])
        deviation = float(together.deviation[at])
        anchor = anchors.get(name)
        share = deviation**2 / anchor[1] ** 2 if anchor else 0.0
        known = np.isfinite(rating) and np.isfinite(deviation)
        half = factor * deviation if known else np.nan
        estimates[name] = Estimate(rating, rating - half, rating + half, level) if known else Estimate()
        results, error = own.get(name, (np.nan, np.nan))
        if player is None or player == name:
            rows.append(
                {
                    "rank": rank,
                    "player": name,
                    "games": games.get(name, 0),
                    "rating": rating if known else None,
                    "error": half if known else None,
                    "results": results if error < _LOOSE else None,
                    "results_error": factor * error if error < _LOOSE else None,
                    "moves": anchor[0] if anchor else None,
                    "from_moves": min(share, 1.0) if anchor else 0.0,
                    "note": "",
                }
            )
    if player is not None and not rows:
        raise InputError(f"nobody called {player!r} plays in these games.")
    head = (
        f"All players at once, errors at {level:.0%}; {counted(len(anchors), 'player')} known by their moves as well."
    )
    decimals = dict.fromkeys(("rating", "error", "results", "results_error", "moves"), 0)
    return JointRatings(
        said=(),
        head=head,
        shown=Table(rows, columns_of(_COLUMNS, decimals=decimals, below=("note",), titles={"results_error": "error"})),
        estimates=estimates,
        problems=found.problems,
        remarks=[*found.remarks, told_prior("none")],
    )
