"""Judge ratings from evaluations alone: python studies/evals.py DATA [--games 20000] [--write LINES.json].

On players of `lichess-rapid-2022` that the fit has not seen (studies/evals_fit.py): the noise of one side, the slope,
and how many of the 95 % intervals hold the tag, for one game and for three, nine and twenty games of one player. Then
the lines of other pools (`lichess-2013-17`, `lichess-45-45`, `otb-2024-26-clocks`), and games of other years that
nothing was fitted on (`lichess-rapid-2014-21-evals`, `lichess-2022-26-mixed`, `lichess-2025-05`, `lichess-2026-06`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from evals_fit import batches, is_held_out
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from assay import manifest
from assay.curve import Curve, Honesty
from assay.games import read
from assay.held_out import noise_per_turn
from assay.moves.evals import GRID, eval_turns, shipped_evals
from assay.pools import BEFORE, LAST, has_line, split_line
from assay.scales import UNIT, PoolLine

Floats = NDArray[np.float64]
BAND, MOST_OF_ONE = 100, 40
LOW, HIGH = 900, 2600
OTHERS = ("lichess-rapid-2014-21-evals", "lichess-2022-26-mixed", "lichess-2025-05", "lichess-2026-06")


@dataclass(frozen=True)
class Judged:
    """Sides of games: their curves, tags, players, turns, lines of their pools and ratings of the opponents."""

    curve: Curve
    rating: Floats
    player: NDArray[np.object_]
    line: NDArray[np.object_]
    loss: Floats

    def __len__(self) -> int:
        return len(self.rating)

    def only(self, chosen: NDArray[np.bool_]) -> Judged:
        names = ("curve", "rating", "player", "line", "loss")
        return Judged(*(getattr(self, name)[chosen] for name in names))


def sides_of(
    path: Path, most: int, *, where: str | None = None, held_out: bool = False
) -> tuple[Judged, dict[int, str]]:
    """The sides of a file's games that carry evaluations; of `held_out` players alone, if asked."""
    parts, units = [], {}
    for games in batches(islice(read(path, where=where), most)):
        turns = eval_turns(games)
        tags = turns.games
        each = zip(tags["year"].to_list(), turns.unit.tolist(), strict=True)
        units |= {year: f"{small:.2f} to {large:.2f}" for year, (small, large) in each if year}
        code = turns.game * 2 + ~turns.white
        unit, inverse = np.unique(code, return_inverse=True)
        if held_out:
            names = np.where(turns.white, tags["white"].to_numpy()[turns.game], tags["black"].to_numpy()[turns.game])
            kept = np.array([is_held_out(str(name)) for name in names])
            turns = turns.only(kept)
            unit, inverse = np.unique(code[kept], return_inverse=True)
        curve = shipped_evals().curve(turns).sum(inverse.reshape(-1), len(unit))
        game, black = unit // 2, unit % 2
        elo = np.where(black, tags["black_elo"].to_numpy()[game], tags["white_elo"].to_numpy()[game])
        name = np.where(black, tags["black"].to_numpy()[game], tags["white"].to_numpy()[game])
        # A pool without a line of its own is nobody's here.
        pools = zip(tags["pool"].to_list(), tags["line"].to_list(), strict=True)
        line = np.array([split_line(own)[0] if has_line(pool) else pool for pool, own in pools], object)[game]
        loss = np.bincount(inverse.reshape(-1), turns.loss) / np.bincount(inverse.reshape(-1))
        known = np.isfinite(elo.astype(float)) & (np.bincount(inverse.reshape(-1)) >= 8)
        parts.append(Judged(curve, elo.astype(float), name, line, loss).only(known))
    table = np.concatenate([part.curve.table for part in parts])
    rest = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rating", "player", "line", "loss"))
    return Judged(Curve(table, GRID), *rest), units


def slopes(curve: Curve, at: Floats) -> tuple[Floats, Floats]:
    """First and second derivative of each row at its own rating."""
    c = CubicSpline(curve.grid, curve.table, axis=1).c
    k = np.clip(np.searchsorted(curve.grid, at, side="right") - 1, 0, len(curve.grid) - 2)
    x, rows = at - curve.grid[k], np.arange(len(at))
    a, b, d = c[0, k, rows], c[1, k, rows], c[2, k, rows]
    return 3 * a * x**2 + 2 * b * x + d, 6 * a * x + 2 * b


def tops(curve: Curve) -> Floats:
    return curve.tops() if len(curve) < 20_000 else np.concatenate([curve[:20_000].tops(), tops(curve[20_000:])])


def few_of_one(sides: Judged, most: int) -> Judged:
    """At most so many sides of a player."""
    seen: dict[str, int] = {}
    kept = np.zeros(len(sides), np.bool_)
    for at, name in enumerate(sides.player.tolist()):
        seen[name] = seen.get(name, 0) + 1
        kept[at] = seen[name] <= most
    return sides.only(kept)


def noise_of(sides: Judged) -> str:
    """The pooled noise of one side and the slope, bands alike."""
    some = few_of_one(sides.only((sides.rating >= LOW) & (sides.rating < HIGH)), 8)
    band = (some.rating // BAND).astype(int)
    names = np.unique(band)
    top = tops(some.curve.sum(np.searchsorted(names, band), len(names)))
    at = top[np.searchsorted(names, band)]
    score, bend = slopes(some.curve, at)
    codes = np.unique(some.player, return_inverse=True)[1].reshape(-1)
    noise, slope = noise_per_turn(score, -bend, np.ones(len(some)), band, some.rating, at, codes)
    told = f"noise {noise.value:.0f} ± {noise.error:.0f} a side, slope {slope.value:.3f} ± {slope.error:.3f}"
    return f"{len(some)} sides: {told}"


def together(sides: Judged, games: int) -> Judged:
    """Sets of so many games of one player; the tag is their mean."""
    rows, rating, player, line, loss = [], [], [], [], []
    order: dict[tuple[str, str], list[int]] = {}
    for at, who in enumerate(zip(sides.player.tolist(), sides.line.tolist(), strict=True)):
        order.setdefault(who, []).append(at)
    for (name, where), own in order.items():
        for begin in range(0, min(len(own), MOST_OF_ONE) - games + 1, games):
            some = own[begin : begin + games]
            rows.append(sides.curve.table[some].sum(axis=0))
            rating.append(sides.rating[some].mean())
            player.append(name)
            line.append(where)
            loss.append(sides.loss[some].mean())
    table = np.array(rows).reshape(len(rows), len(GRID))
    return Judged(
        Curve(table, GRID), np.array(rating), np.array(player, object), np.array(line, object), np.array(loss)
    )


def on_line(sides: Judged, line: PoolLine) -> Judged:
    """The same with curves over the pool's ratings (those of the line's range and beyond)."""
    spline = CubicSpline(GRID, sides.curve.table, axis=1)
    inner = np.clip(line.inside(GRID), GRID[0], GRID[-1])
    return replace(sides, curve=Curve(np.asarray(spline(inner)), GRID))


def covered(sides: Judged, line: PoolLine | None, honesty: Honesty) -> str:
    own = sides if line is None else on_line(sides, line)
    at = tops(own.curve)
    each = [honesty if line is None else line.honesty(float(one), honesty) for one in at]
    found = own.curve.estimates(each)
    low, high = np.array([one.low for one in found]), np.array([one.high for one in found])
    hold, below = (low <= own.rating) & (own.rating <= high), high < own.rating
    fit = np.polyfit(own.rating, at, 1)
    rest = at - np.polyval(fit, own.rating)
    return (
        f"{len(own)} sets: hold {hold.mean():.3f}, below {below.mean():.3f}; top: slope {fit[0]:.2f}, "
        f"scatter / slope {rest.std() / fit[0]:.0f}, mean error {(at - own.rating).mean():+.0f}"
    )


def fitted(name: str, sides: Judged) -> PoolLine:
    """The most likely line of some sides."""
    middle = round(float(np.median(sides.rating)), -2)
    x = (sides.rating - middle) / UNIT
    _, code, count = np.unique(sides.rating // BAND, return_inverse=True, return_counts=True)
    weight = np.minimum(len(x) / len(count) / count, 3.0)[code.reshape(-1)]
    theta = np.array([middle, UNIT])
    for _ in range(40):
        score, bend = slopes(sides.curve, np.clip(theta[0] + theta[1] * x, GRID[0] + 1, GRID[-1] - 1))
        weighed, curved = weight * score, -weight * bend
        gradient = np.array([weighed.sum(), weighed @ x])
        hessian = np.array([[curved.sum(), curved @ x], [curved @ x, curved @ x**2]])
        step = np.clip(np.linalg.solve(hessian, gradient), -100, 100)
        theta = theta + step
        if np.abs(step).max() < 1e-4:
            break
    groups = np.unique(sides.player, return_inverse=True)[1].reshape(-1)
    sums = np.stack([np.bincount(groups, weighed), np.bincount(groups, weighed * x)], axis=1)
    bread = np.linalg.inv(hessian)
    covariance = bread @ (sums.T @ sums) @ bread
    return PoolLine(
        name=name,
        middle=middle,
        inner=float(theta[0]),
        slope=float(theta[1] / UNIT),
        covariance=(float(covariance[0, 0]), float(covariance[0, 1]), float(covariance[1, 1])),
        sides=len(sides),
        low=float(np.floor(np.quantile(sides.rating, 0.02) / BAND) * BAND),
        high=float(np.ceil(np.quantile(sides.rating, 0.98) / BAND) * BAND),
    )


def hash_of(name: str) -> int:
    return hashlib.blake2b(name.encode(), digest_size=2).digest()[1]


def spread_for(line: PoolLine, sides: Judged, honesty: Honesty) -> PoolLine:
    """The line with the least spread, 200 or more, with which 95 % of the intervals of single games hold."""
    some = sides.only(np.arange(len(sides)) % max(1, len(sides) // 1500) == 0)
    for spread in range(200, 500, 25):
        line = replace(line, spread=float(spread), power=honesty.power)
        if share(some, line, honesty) >= 0.95:
            break
    return line


def share(sides: Judged, line: PoolLine, honesty: Honesty) -> float:
    own = on_line(sides, line)
    found = own.curve.estimates([line.honesty(float(one), honesty) for one in tops(own.curve)])
    inside = [one.low <= tag <= one.high for one, tag in zip(found, own.rating.tolist(), strict=True)]
    return float(np.mean(inside))


def told(line: PoolLine) -> str:
    errors = ", ".join(f"{line.error(at):.0f}" for at in (line.low, line.middle, line.high))
    return (
        f"{line.name}: {line.sides} sides {line.low:.0f}-{line.high:.0f}; {line.middle:.0f} is {line.inner:.0f} "
        f"± {math.sqrt(line.covariance[0]):.0f}, slope {line.slope:.3f} ± {math.sqrt(line.covariance[2]) / UNIT:.3f}; "
        f"spread {line.spread:.0f}; error at low, middle, high {errors}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--power", type=float, default=shipped_evals().power)
    parser.add_argument("--spread", type=float, default=shipped_evals().spread)
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    honesty = Honesty(args.power, args.spread)
    sides, units = sides_of(args.data / "lichess-rapid-2022.pgn.zst", args.games, held_out=True)
    print("rapid 2022, players held out, unit", units)
    print("as learned:", noise_of(sides))
    half = np.array([hash_of(name) % 2 == 0 for name in sides.player.tolist()])
    some = few_of_one(sides.only(half & (sides.rating >= LOW) & (sides.rating < HIGH)), 8)
    rapid = spread_for(fitted("lichess-rapid", some), some, honesty)
    print(told(rapid))
    rest = sides.only(~half)
    print("on the line, other players:", noise_of(on_line(rest, rapid)))
    even = few_of_one(rest.only((rest.rating >= LOW) & (rest.rating < HIGH)), 8)
    print("1 game ", covered(even, rapid, honesty))
    for games in (3, 9, 20):
        print(f"{games} games", covered(together(rest, games), rapid, honesty))
    lines = [rapid]
    files = (("lichess-2013-17", "has_eval"), ("lichess-45-45", None), ("otb-2024-26-clocks", "has_eval"))
    for name, where in files:
        own, units = sides_of(args.data / f"{name}.pgn.zst", 20_000, where=where)
        print(name, len(own), "sides; unit by year", units)
        for pool in ("lichess-bullet" + BEFORE, "lichess-blitz", "lichess-classical", LAST):
            of_pool = few_of_one(own.only(own.line == pool), 8)
            if len(of_pool) < 300 or (pool == "lichess-classical" and name == "lichess-2013-17"):
                continue
            line = spread_for(fitted(pool, of_pool), of_pool, honesty)
            print(" ", told(line))
            print("   ", covered(of_pool, line, honesty))
            lines.append(line)
    by_name = {line.name: line for line in lines}
    for name in OTHERS:
        own, units = sides_of(args.data / f"{name}.pgn.zst", 4_000, where="has_eval")
        print(name, "unit", units)
        for pool, line in by_name.items():
            some = own.only(own.line == pool)
            if len(some) >= 20:
                print(" ", pool, covered(some, line, honesty))
                print("    pooled:", noise_of(on_line(some, line)))
    if args.write:
        made = manifest.make("lines of evaluations", inputs=[], settings={"power": args.power, "spread": args.spread})
        plain = [asdict(line) | {"bands": []} for line in lines]
        args.write.write_text(json.dumps({"kind": "assay lines", "lines": plain, "made": made}, indent=1) + "\n")


if __name__ == "__main__":
    main()
