"""Make a calibration from rated games and their analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay import manifest
from assay.engine.turns import Turns
from assay.errors import CalibrationError
from assay.moves.calibration import Calibration
from assay.moves.evidence import deltas_with
from assay.moves.groups import mileposts
from assay.moves.regan.calibrate import Measured, calibrate
from assay.moves.regan.difficulty import lesser_depths, traits
from assay.moves.regan.marks import Course, Sample
from assay.moves.regan.problem import MethodName
from assay.moves.regan.spread import CAP, TIE, Floats

K = 1.0
FEWEST_GAMES = 5


def sample_of(turns: Turns, mark: np.ndarray[tuple[int], np.dtype[np.intp]]) -> tuple[Turns, Sample]:
    """The turns at a mark as a sample to calibrate on; marks with too few games are left out."""
    games_at = {m: len(np.unique(turns.game[mark == m])) for m in np.unique(mark[mark > 0])}
    kept = turns.only(np.isin(mark, [m for m, games in games_at.items() if games >= FEWEST_GAMES]))
    mark = mark[np.isin(mark, [m for m, games in games_at.items() if games >= FEWEST_GAMES])]
    if not len(kept):
        raise CalibrationError(
            f"no mark has {FEWEST_GAMES} analysed games with both players within reach of it; "
            "give more games, a wider --within, or other --mileposts."
        )
    spreads = deltas_with(kept, k=K, cap=CAP, tie=TIE)
    game = np.unique(kept.game, return_inverse=True)[1]
    side = np.unique(2 * kept.game + kept.white, return_inverse=True)[1]
    looks = traits(kept.values, kept.ply, kept.at_depths(lesser_depths(kept.depth)), k=K, cap=CAP, tie=TIE)
    return kept, Sample(spreads.deltas, spreads.played, spreads.elsewhere, looks, game, side, kept.rating, mark)


def make_calibration(
    turns: Turns,
    *,
    name: str,
    marks: Sequence[int],
    within: float,
    method: MethodName,
    from_move: int,
    limit: float,
    inputs: Sequence[Mapping[str, Any]],
    seed: int = 0,
) -> tuple[Calibration, Floats]:
    """Calibrate on the turns of the marks' games; the calibration, and the values of its reference set in pawns."""
    if len(turns.identities) != 1:
        raise CalibrationError("a calibration is for one engine; these turns are of a jury.")
    identity = turns.identities[0]
    kept, sample = sample_of(turns, mileposts(turns, marks, within))
    found = calibrate(sample, method=method, seed=seed)
    settings = {
        "from_move": from_move,
        "limit": limit,
        "k": K,
        "cap": CAP,
        "tie": TIE,
        "model": "power",
        "curve": "invexp",
        "method": method,
        "lesser": list(lesser_depths(turns.depth)),
        "within": within,
        "mileposts": list(marks),
        "seed": seed,
    }
    calibration = Calibration(
        name=name,
        engine=identity.engine,
        net=identity.net,
        options=identity.options,
        depth=turns.depth,
        lines=identity.lines,
        settings=settings,
        exclusions={**turns.excluded, "not at a mark": len(turns) - len(kept)},
        marks=mark_rows(found.course),
        line=found.scale.line,
        c_at_2000=found.scale.c_at_2000,
        c_per_100=found.scale.c_per_100,
        scale=found.scale,
        coverage=found.power.coverage.tolist(),
        made=manifest.make("calibration", inputs=inputs, settings=settings),
    )
    return calibration, _reference_values(kept, found)


def _reference_values(kept: Turns, found: Measured) -> Floats:
    """The values behind the reference set, without what lies beyond the cap; a spread has two moves at least."""
    values = kept.values[found.course.reference_rows]
    needed = np.isfinite(found.course.reference)
    needed[:, :2] = True
    return np.where(needed, values, np.nan)


def mark_rows(course: Course) -> list[dict[str, Any]]:
    """The table of the paper, a row per mark."""
    return [
        {
            "elo": mark.elo,
            "mean_elo": round(mark.mean_elo, 1),
            "games": mark.free.games,
            "turns": mark.free.turns,
            "s": mark.free.s,
            "s_error": mark.free.s_error,
            "c": mark.free.c,
            "c_error": mark.free.c_error,
            "c_fit": mark.fixed.c,
            "s_fit": mark.fixed.s,
            "s_fit_error": mark.fixed.s_error,
            "mm_predicted": mark.fixed.mm_predicted,
            "mm_actual": mark.fixed.mm_actual,
            "ad_predicted": mark.fixed.ad_predicted,
            "ad_actual": mark.fixed.ad_actual,
            "qfit": mark.fixed.qfit,
            "ae_r": mark.average_error,
            "ae_r_error": mark.average_error_error,
            "ipr": course.line.rating(mark.average_error),
            "ipr_error": course.line.slope * mark.average_error_error,
        }
        for mark in course.marks
    ]
