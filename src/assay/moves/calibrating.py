"""Make a calibration from rated games and their analyses: choice models, and the marks and lines of Regan's way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay import manifest
from assay.engine.choices import Choices, ranked
from assay.engine.identity import Identity
from assay.engine.turns import Turns
from assay.errors import CalibrationError
from assay.moves.calibration import POOL, Calibration, PoolScale
from assay.moves.choice.calibrate import JUDGED, Judgement, Rated, calibrate
from assay.moves.evidence import log_policy
from assay.moves.fits import Fitting
from assay.moves.groups import mileposts
from assay.moves.reference import Reference
from assay.moves.regan.fitting import DEPTHS, depths_to, layered
from assay.moves.regan.marks import Course, Sample, fit_marks
from assay.moves.regan.spread import Floats
from assay.policy.chances import Network

FEWEST_GAMES = 5
FEWEST_MARKS = 3
TOLERATED = 0.05  # analyses made elsewhere leave out positions with one legal move
SAMPLE = "2006-14"  # of the reference set: the ratings of later years are another scale


def rated_turns(turns: Turns, marks: Sequence[int], within: float) -> Rated:
    """The turns of games between players near the same mark (RH11); marks with too few games are left out.

    So are games of which a good part was never analysed: what the store holds of them are openings they share.
    """
    mark = mileposts(turns, marks, within).astype(np.int64)
    if turns.lacking is not None:
        count = np.bincount(turns.game, minlength=turns.games.height)
        mark[(turns.lacking > TOLERATED * (count + turns.lacking))[turns.game]] = 0
    games_at = {m: len(np.unique(turns.game[mark == m])) for m in np.unique(mark[mark > 0])}
    kept = np.isin(mark, [m for m, games in games_at.items() if games >= FEWEST_GAMES])
    if not kept.any():
        raise CalibrationError(
            f"no mark has {FEWEST_GAMES} analysed games with both players within reach of it; "
            "give more games, a wider --within, or other --mileposts."
        )
    part = turns.only(kept)
    names = {name: number for number, name in enumerate(dict.fromkeys(part.player.tolist()))}
    player = np.array([names[name] for name in part.player.tolist()], np.int64)
    return Rated(part.choices, part.rating.astype(np.float64), mark[kept], player, part.game)


def reference_turns(found: Reference) -> Rated:
    """The turns of a reference set that the scale stands on."""
    own = (found.turns["set"] == SAMPLE).to_numpy()
    columns = {name: found.turns[name].to_numpy()[own].astype(np.int64) for name in ("elo", "mark", "player", "game")}
    elo = columns.pop("elo").astype(np.float64)
    return Rated(found.choices.only(own), elo, **columns)


def told_of_reference(found: Reference) -> str:
    """How the games of a reference set that the scale stands on were selected."""
    games = found.turns.filter(pl.col("set") == SAMPLE).unique("game")
    chosen = int(games["selected"].cast(pl.Int64).sum())
    more = f"; {games.height - chosen} more, not so selected, at marks where few are left" * (chosen < games.height)
    return (
        f"{chosen:,} games without team events, without events of more than six players a round, of 20 moves or more"
        f"{more}"
    )


def make_calibration(
    rated: Rated,
    identity: Identity,
    depth: int,
    *,
    name: str,
    network: Network | None,
    choice: bool = True,
    fitting: Fitting | None = None,
    from_move: int = 9,
    settings: Mapping[str, Any] | None = None,
    exclusions: Mapping[str, int] | None = None,
    inputs: Sequence[Mapping[str, Any]] = (),
    seed: int = 1,
    told: Callable[[str], None] = lambda _: None,
) -> tuple[Calibration, Floats]:
    """Calibrate on turns of rated players; the calibration, and the values of Regan's reference set in pawns.

    `fitting` is how Regan's marks are fitted; `network` the policy, without which there is the engine's model alone;
    without `choice` there is no choice model at all, as for the averages of a jury.
    """
    marks = np.unique(rated.mark)
    if len(marks) < FEWEST_MARKS:
        raise CalibrationError(
            f"a calibration needs games at {FEWEST_MARKS} or more marks, and these are at {len(marks)}; "
            "give games of more levels, or a wider --within."
        )
    fitting = fitting or Fitting(method="equations")
    models, figures = {}, {}
    if choice:
        told("values alone")
        plain = calibrate(rated, depth, seed=seed, told=told)
        models, figures = {"engine": plain.model}, {"engine": figures_of(plain.judgement)}
    if choice and network is not None:
        told("with the policy")
        natural = Rated(
            rated.choices, rated.elo, rated.mark, rated.player, rated.game, log_policy(rated.choices, network)
        )
        better = calibrate(natural, depth, seed=seed, plain=plain, told=told)
        models["policy"], figures["policy"] = better.model, figures_of(better.judgement)
    told("Regan's marks")
    sample, rows = regan_sample(rated, depth, fitting)
    course = fit_marks(sample, method=fitting.method, model=fitting.model, curve=fitting.curve)
    settings = {
        "from_move": from_move,
        "limit": JUDGED,
        "k": fitting.k,
        "cap": fitting.cap,
        "tie": fitting.tie,
        "scale": fitting.scale,
        "model": fitting.model,
        "curve": fitting.curve,
        "method": fitting.method,
        "games": len(np.unique(rated.game)),
        "turns": len(rated),
        "seed": seed,
        **(settings or {}),
    }
    calibration = Calibration(
        name=name,
        engine=identity.engine,
        net=identity.net,
        options=identity.options,
        depth=depth,
        lines=identity.lines,
        settings=settings,
        exclusions=dict(exclusions or {}),
        models=models,
        network=network.identity if choice and network is not None else "",
        pools={POOL: PoolScale(low=float(marks[0]), high=float(marks[-1]))},
        figures=figures,
        marks=mark_rows(course),
        line=course.line,
        c_at_2000=course.c_at_2000,
        c_per_100=course.c_per_100,
        scale=course.scale,
        made=manifest.make("calibration", inputs=inputs, settings=settings),
    )
    return calibration, _reference_values(rated.choices.to_depth(depth).only(rows[course.reference_rows]), course)


def regan_sample(rated: Rated, depth: int, fitting: Fitting) -> tuple[Sample, NDArray[np.int64]]:
    """The turns within Regan's limit as a sample, and which they are."""
    rows = np.flatnonzero(np.abs(rated.to_best(depth)) <= JUDGED)
    choices = rated.choices.to_depth(depth).only(rows)
    table = ranked(choices.codes, choices.moves, choices.start)
    values, played = table.values(depth), table.column(choices.chosen)
    deltas, played, elsewhere = fitting.spread(values, played)
    game = np.unique(rated.game[rows], return_inverse=True)[1].reshape(-1)
    layers, depths = None, depths_to(depth) if fitting.method == DEPTHS else ()
    if depths:
        layers = fitting.spread(layered(np.stack([table.values(d) for d in depths], axis=2), depths), played)[0]
    return Sample(deltas, played, elsewhere, game, rated.elo[rows], rated.mark[rows], layers, depths), rows


def _reference_values(choices: Choices, course: Course) -> Floats:
    """The values behind the reference set, without what lies beyond the cap; a spread has two moves at least.

    With weights over depths there is a layer for each depth.
    """
    table = ranked(choices.codes, choices.moves, choices.start)
    values = table.values(choices.depth)
    needed = np.isfinite(course.reference[:, : values.shape[1]])
    needed[:, :2] = True
    if course.layers is None:
        return np.where(needed, values, np.nan)
    depths = course.layers.depths
    every = layered(np.stack([table.values(depth) for depth in depths], axis=2), depths)
    return np.where(needed[:, :, None], every, np.nan)


def figures_of(judged: Judgement) -> dict[str, Any]:
    """What held-out players said of a model, as plain values."""
    return {
        "turns": judged.turns,
        "sides": judged.sides,
        "log_likelihood": round(judged.log_likelihood, 5),
        "top1": round(judged.top1, 4),
        "noise": round(judged.noise.value, 1),
        "noise_error": round(judged.noise.error, 1),
        "slope": round(judged.slope.value, 4),
        "slope_error": round(judged.slope.error, 4),
        "marks": [
            {"elo": mark, "turns": turns, "offset": round(offset, 1), "error": round(error, 1)}
            for mark, turns, offset, error in judged.marks
        ],
    }


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
