"""Fit the lines of pools: python studies/pool_lines.py GAMES.pgn STORE REFERENCE [--depth 6] [--write LINES.json].

GAMES.pgn comes from `studies/pool_games.py` and STORE holds its analyses (`studies/pool_values.py`); REFERENCE is the
reference set, whose games of 2018-19 give the line of 2015-23 (with those of 2023 among GAMES). Games of which the
store lacks a part are left out, so that the study can be run while the analysis goes on; with --only some lines are
fitted, and the others stay as they ship.

A line is inner = alpha + beta x (rating - middle), most likely on the sides' moves, with bands of a hundred points
counting alike. Errors are clustered by player (by game where the players have no names). Where
the games of a pool are quick and slow, the line has what a doubling of the time is worth; bullet of today takes it
from the years before, since nearly all its games are 60+0.

Games from histories of single users (the users do not count) tell whether a pool of today is another than before:
printed is how far a line of theirs lies from that of the pool. Where it is another, as in bullet, they make a line of
their own; in blitz and rapid no line has them. Printed for each pool: the
line, what a rating near its middle is on the inner scale, the noise of one side of a game, the offset of every band of
200 points with its error, and how many of the 95 % intervals of single games hold the tag when the players were not in
the fit. Then the same for the months that no line has seen: the common offset by speed, and the intervals.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pool_values import LINES as VALUED
from pool_values import counting
from two_models import TwoModels, joined_models, two_models

from assay import manifest
from assay.curve import GRID, Curve, Honesty
from assay.engine.choices import Choices
from assay.engine.store import Store
from assay.engine.turns import turns
from assay.games import read
from assay.held_out import noise_per_turn
from assay.moves import reference
from assay.moves.calibration import Calibration, load
from assay.moves.choice.measures import measure, scores
from assay.moves.choice.model import log_chances, strength
from assay.pools import FIRST, LATER, LINES, split_line
from assay.scales import UNIT, PoolLine, line_called, shipped_lines

Floats = NDArray[np.float64]
TAGGED = ("rating", "cluster", "game", "sample", "line", "kind", "seconds")
SHORT, LONG = 0.02, 0.98  # of the games whose time is told: beyond, nothing is known of what time is worth
CHECKS = ("lichess-2025-05", "lichess-2026-06")
HISTORIES = "lichess-2022-26-mixed"
BAND, SHOWN = 100, 200
MOST_WEIGHT = 3.0  # of a side: a band with few must not rule the line
LEVEL = 0.95
FEWEST_OF_A_KIND = 15
TAGS = 70.0  # how far a rating in a tag is from the player's strength, whatever the pool
# Beyond, players of bullet live by the clock: their moves look like those of 2150, and no line holds them.
HIGHEST = {"lichess-bullet": 2500.0, "lichess-bullet-2013-19": 2500.0}
TEMPI = ("lichess-bullet-2013-19", "lichess-blitz", "lichess-rapid")
TEMPO_OF = {"lichess-bullet": "lichess-bullet-2013-19"}


@dataclass(frozen=True)
class Sides:
    """Sides of games: how all their turns are judged, and for each turn its side; tags of the sides."""

    choices: Choices
    by: TwoModels
    code: NDArray[np.intp]
    rating: Floats  # of each side
    cluster: NDArray[np.intp]  # of each side: the player
    game: NDArray[np.intp]
    sample: NDArray[np.object_]
    line: NDArray[np.object_]
    kind: NDArray[np.object_]  # sample and time control: a pool is not one thing
    seconds: Floats  # base + 40 increments, nan where it is not told

    def __len__(self) -> int:
        return len(self.rating)

    def only(self, sides: NDArray[np.bool_]) -> Sides:
        place = np.cumsum(sides) - 1
        kept = sides[self.code]
        rows = kept[self.choices.turn]
        tags = {name: getattr(self, name)[sides] for name in TAGGED}
        return Sides(self.choices.only(kept), self.by.only(kept, rows), place[self.code[kept]], **tags)

    def curves(self, line: PoolLine) -> Curve:
        """The curve of each side on the scale of a line."""
        table = np.zeros((len(self.code), len(GRID)))
        of_turn = line.doublings(self.seconds)[self.code]
        for times in np.unique(of_turn):
            own = of_turn == times
            rows = own[self.choices.turn]
            at = line.inside(GRID) + line.tempo * times
            table[own] = self.by.only(own, rows).curve(self.choices.only(own), at).table
        return Curve(table, GRID).sum(self.code, len(self))

    def z(self, line: PoolLine, model: Calibration) -> Floats:
        """The combined z of each side at its tag."""
        inner = strength((line.inside(self.rating) + line.tempo * line.doublings(self.seconds))[self.code])
        chances = np.exp(
            log_chances(self.by.g0 + inner[self.choices.turn] * self.by.g1, self.choices.start, self.choices.turn)
        )
        sums = measure(scores(self.choices), chances, self.choices).sum(self.code, len(self))
        scatter = model.model().scatter
        return np.asarray(scatter.z(sums) @ scatter.mix)


def of_games(path: str, store: str, model: Calibration) -> Sides:
    """The sides of the games that the store holds whole."""
    games = list(read(path))
    with Store(store) as opened:
        whole = counting(games, opened, model.depth)
        found = turns(games, opened, depth=model.depth, limit=float(model.settings["limit"]), lines=VALUED)
    user = np.array([{"White": 1, "Black": 0}.get(game.tags.get("User", ""), -1) for game in games])
    found = found.only(whole[found.game] & (user[found.game] != found.white))
    print(f"{int(whole.sum())} of {len(games)} games, {len(found)} turns")
    samples = np.array([game.tags["Sample"] for game in games], object)
    _, first, code = np.unique(found.choices.unit, return_index=True, return_inverse=True)
    names: dict[str, int] = {}
    own = [
        str(name) if name not in (None, "?") else f"game {game}"
        for name, game in zip(found.player[first], found.game[first], strict=True)
    ]
    code = code.reshape(-1)
    return Sides(
        found.choices,
        two_models(model, found.choices, code),
        code,
        found.rating[first],
        np.array([names.setdefault(name, len(names)) for name in own], np.intp),
        found.game[first],
        samples[found.game[first]],
        np.array([split_line(name)[0] for name in found.column("line")[first]], object),
        np.array([f"{samples[game]} {found.games['time_control'][int(game)]}" for game in found.game[first]], object),
        np.array([split_line(found.games["line"][int(game)])[1] for game in found.game[first]], np.float64),
    )


def of_reference(folder: str, model: Calibration, sample: str, line: str) -> Sides:
    """The sides of the reference set that are of one sample, those that count."""
    found = reference.read(folder, model.depth)
    best = np.abs(found_best(found.choices)) <= float(model.settings["limit"])
    own = (found.turns["set"] == sample).to_numpy() & (found.choices.width > 1) & best
    table, choices = found.turns.filter(own), found.choices.only(own)
    _, first, code = np.unique(choices.unit, return_index=True, return_inverse=True)
    code = code.reshape(-1)
    columns = {name: table[name].to_numpy()[first] for name in ("elo", "player", "game")}
    return Sides(
        choices,
        two_models(model, choices, code),
        code,
        columns["elo"].astype(np.float64),
        columns["player"].astype(np.intp) + 1_000_000,
        columns["game"].astype(np.intp) + 1_000_000,
        np.full(len(first), f"reference {sample}", object),
        np.full(len(first), line, object),
        np.full(len(first), f"reference {sample}", object),
        np.full(len(first), np.nan),
    )


def found_best(choices: Choices) -> Floats:
    from assay.engine.choices import pawns

    return np.asarray(np.fmax.reduceat(pawns(choices.codes[:, -1]), choices.start[:-1]), np.float64)


def joined(parts: Sequence[Sides]) -> Sides:
    from assay.engine.choices import joined as joined_choices

    before = np.cumsum([0, *(len(part) for part in parts)])
    values = {name: np.concatenate([getattr(part, name) for part in parts]) for name in TAGGED}
    code = np.concatenate([part.code + shift for part, shift in zip(parts, before, strict=False)])
    by = joined_models([part.by for part in parts])
    return Sides(joined_choices([part.choices for part in parts]), by, code, **values)


def even(rating: Floats) -> Floats:
    """Weights that make bands count alike, within bounds."""
    _, code, count = np.unique(rating // BAND, return_inverse=True, return_counts=True)
    weight = np.minimum(len(rating) / len(count) / count, MOST_WEIGHT)[code.reshape(-1)]
    return np.asarray(weight / weight.mean())


def fitted(name: str, sides: Sides, before: PoolLine | None = None) -> PoolLine:
    """The most likely line of some sides, with its error; with what time is worth where quick and slow are told.

    Where the line of the years `before` is given, time is worth what it was then.
    """
    middle = round(float(np.median(sides.rating)), -2)
    told = np.isfinite(sides.seconds)
    tempo = name in TEMPI and len(np.unique(sides.seconds[told])) > 1
    line = PoolLine(name, middle=middle)
    if tempo:
        short, long = np.quantile(sides.seconds[told], (SHORT, LONG))
        line = replace(line, seconds=float(np.median(sides.seconds[told])), quickest=float(short), slowest=float(long))
    if before is not None:
        kept = ("seconds", "quickest", "slowest", "tempo", "tempo_error", "untold")
        line = replace(line, **{name: getattr(before, name) for name in kept})
    times = line.doublings(sides.seconds)
    given = (line.tempo / UNIT * times)[sides.code]
    # Untold, a game is as quick as the middle of those told, and may be any of them.
    each_x = [np.ones(len(sides)), (sides.rating - middle) / UNIT, *([times] if tempo else [])]
    x = np.stack(each_x, axis=1)[sides.code]
    weight = even(sides.rating)[sides.code]
    choices, first = sides.choices, sides.choices.start[:-1]
    theta = np.array([float(strength(middle)), 1.0, 0.0])[: x.shape[1]]
    for _ in range(50):
        z = x @ theta + given - sides.by.shift
        off, variance = np.zeros(len(z)), np.zeros(len(z))
        for g0, g1, share in sides.by.voices():
            p = np.exp(log_chances(g0 + z[choices.turn] * g1, choices.start, choices.turn))
            mean = np.add.reduceat(p * g1, first)
            variance += share * (np.add.reduceat(p * g1**2, first) - mean**2)
            off += share * (g1[choices.chosen] - mean)
        gradient = (weight * off) @ x
        hessian = (x * (weight * variance)[:, None]).T @ x
        step = np.linalg.solve(hessian, gradient)
        theta = theta + np.clip(step, -0.5, 0.5)
        if np.abs(step).max() < 1e-7:
            break
    each = (weight * off)[:, None] * x
    groups = np.unique(sides.cluster, return_inverse=True)[1].reshape(-1)[sides.code]
    sums = np.stack([np.bincount(groups, column) for column in each.T], axis=1)
    bread = np.linalg.inv(hessian)
    covariance = bread @ (sums.T @ sums) @ bread * UNIT**2
    if tempo:
        apart = float(UNIT * theta[2] * times[told].std() / theta[1])
        line = replace(
            line, tempo=float(UNIT * theta[2]), tempo_error=math.sqrt(covariance[2, 2]), untold=round(abs(apart), 1)
        )
    return replace(
        line,
        inner=float(2200 + UNIT * theta[0]),
        slope=float(theta[1]),
        covariance=(float(covariance[0, 0]), float(covariance[0, 1]), float(covariance[1, 1])),
        sides=len(sides),
        low=float(np.floor(np.quantile(sides.rating, 0.02) / BAND) * BAND),
        high=float(np.ceil(np.quantile(sides.rating, 0.98) / BAND) * BAND),
    )


def judged(line: PoolLine, sides: Sides, model: Calibration) -> PoolLine:
    """The line with its noise, power, spread and offsets by band, by the curves of these sides."""
    curves = sides.curves(line)
    band = (sides.rating // SHOWN * SHOWN).astype(np.int64)
    names = np.unique(band)
    tops = curves.sum(np.searchsorted(names, band), len(names)).tops()
    at = tops[np.searchsorted(names, band)]
    score, bend = curves.slopes(at)
    rows = []
    for name, top in zip(names.tolist(), tops.tolist(), strict=True):
        here = band == name
        error = float(np.sqrt((score[here] ** 2).sum()) / max(-bend[here].sum(), 1e-9))
        offset = float(top - sides.rating[here].mean())
        rows.append({"band": name, "sides": int(here.sum()), "offset": round(offset, 1), "error": round(error, 1)})
    enough = [row for row in rows if row["sides"] >= 10]
    # Bands are shares of one whole, whose offset is known to be none: weigh them by their sides.
    weight = np.array([min(row["sides"], 60) for row in enough], float)
    excess = np.array([row["offset"] ** 2 - row["error"] ** 2 for row in enough])
    spread = math.hypot(math.sqrt(max(float(weight @ excess / weight.sum()), 0.0)), between(curves, sides), TAGS)
    true_score, true_bend = curves.slopes(sides.rating)
    power = min(float(-true_bend.sum() / (true_score**2).sum()), 1.0)
    ones = np.ones(len(sides))
    noise, _ = noise_per_turn(score, -bend, ones, band, sides.rating, at, sides.cluster)
    z = sides.z(line, model)
    return replace(
        line,
        noise=round(noise.value, 0),
        power=round(power, 3),
        spread=round(spread, 1),
        z=round(float(np.nanstd(z)), 3),
        bands=tuple(rows),
    )


def between(curves: Curve, sides: Sides) -> float:
    """How far samples and time controls of one pool lie apart beyond chance."""
    excess, number = [], []
    for kind in np.unique(sides.kind):
        own = np.flatnonzero(sides.kind == kind)
        if len(own) < FEWEST_OF_A_KIND:
            continue
        score, bend = curves[own].slopes(np.clip(sides.rating[own], GRID[0], GRID[-1]))
        shift, error = score.sum() / -bend.sum(), np.sqrt((score**2).sum()) / -bend.sum()
        excess.append(float(shift**2 - error**2))
        number.append(len(own))
    return math.sqrt(max(float(np.average(excess, weights=number)), 0.0)) if number else 0.0


def covered(line: PoolLine, sides: Sides, model: Honesty) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Floats]:
    """Of single sides: whether the interval holds the tag, whether it lies below it, and its width."""
    curves = sides.curves(line)
    tops = curves.tops()
    found = curves.estimates([line.honesty(float(top), model) for top in tops], LEVEL)
    low, high = np.array([one.low for one in found]), np.array([one.high for one in found])
    return (low <= sides.rating) & (sides.rating <= high), high < sides.rating, high - low


def held_out(name: str, sides: Sides, model: Calibration, before: PoolLine | None, folds: int = 4) -> str:
    """Coverage of single sides whose players were not in the fit."""
    fold = np.random.default_rng(1).permutation(int(sides.cluster.max()) + 1)[sides.cluster] % folds
    inside, below = [], []
    for one in range(folds):
        rest = sides.only(fold != one)
        line = judged(fitted(name, rest, before), rest, model)
        hold, under, _ = covered(line, sides.only(fold == one), model.model().honesty)
        inside.append(hold)
        below.append(under)
    hold, under = np.concatenate(inside), np.concatenate(below)
    return f"95 % intervals of single games hold {hold.mean():.3f} of {len(hold)}, below {under.mean():.3f}"


def z_of(line: PoolLine, sides: Sides, model: Calibration) -> str:
    """The mean z of sides of games, over the board of those below 2300, also on the scale of 2006-14."""
    own = sides.only(sides.rating < 2300) if line.name.startswith("otb") else sides
    before, after = own.z(PoolLine(FIRST), model), own.z(line, model) / line.z
    told = f"mean z of {len(own)} sides {np.nanmean(after):+.2f}, SD {np.nanstd(after):.2f}"
    return told + (f"; on the scale of 2006-14 {np.nanmean(before):+.2f}" if line.name.startswith("otb") else "")


def offset_of(line: PoolLine, sides: Sides) -> tuple[float, float, float]:
    """The common shift that these sides' moves ask for, its error, and the slope on the tags."""
    own = fitted(line.name, sides, line if line.seconds else None)
    flat = joint_shift(line, sides)
    return (*flat, own.slope / line.slope)


def joint_shift(line: PoolLine, sides: Sides) -> tuple[float, float]:
    shift = 0.0
    curves = sides.curves(line)
    for _ in range(30):
        score, bend = curves.slopes(np.clip(sides.rating + shift, GRID[0], GRID[-1]))
        step = float(score.sum() / max(-bend.sum(), 1e-9))
        shift += float(np.clip(step, -200, 200))
        if abs(step) < 0.01:
            break
    clusters = np.bincount(np.unique(sides.cluster, return_inverse=True)[1].reshape(-1), score)
    return shift, float(np.sqrt((clusters**2).sum()) / -bend.sum())


def since(before: PoolLine, sides: Sides) -> str:
    """How far the line of these sides lies from that of the pool, on the inner scale."""
    line = fitted(before.name, sides, before)
    at = line.middle
    off = float(line.inside(at) - before.inside(at))
    error = math.hypot(line.error(at) * line.slope, before.error(at) * before.slope)
    steep = math.hypot(*(math.sqrt(one.covariance[2]) / UNIT for one in (line, before)))
    return (
        f"{before.name}: {len(sides)} sides of histories, {at:.0f} is {float(line.inside(at)):.0f}, {off:+.0f} ± "
        f"{error:.0f} from before; slope {line.slope:.3f}, {line.slope - before.slope:+.3f} ± {steep:.3f} from before"
    )


def told(line: PoolLine) -> str:
    own, _, steep = line.covariance
    bands = " ".join(f"{row['band']:.0f}:{row['offset']:+.0f}±{row['error']:.0f}({row['sides']})" for row in line.bands)
    errors = ", ".join(f"{line.error(at):.0f}" for at in (line.low, line.middle, line.high))
    return (
        f"{line.name}: {line.sides} sides, {line.low:.0f}-{line.high:.0f}; {line.middle:.0f} is {line.inner:.0f} "
        f"± {math.sqrt(own):.0f} inside, slope {line.slope:.3f} ± {math.sqrt(steep) / UNIT:.3f}; "
        f"error at low, middle, high {errors}; noise {line.noise:.0f} a side, "
        f"power {line.power}, spread {line.spread}, z {line.z}\n  {bands}"
    ) + (
        f"\n  {line.tempo:+.0f} ± {line.tempo_error:.0f} for each doubling of {line.seconds:.0f} s, told from "
        f"{line.quickest:.0f} to {line.slowest:.0f}; untold {line.untold:.0f}"
        if line.seconds
        else ""
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("games")
    parser.add_argument("store")
    parser.add_argument("reference")
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--only", nargs="+", choices=[*LINES], help="fit these lines; the others stay as they ship")
    parser.add_argument("--at-depth", type=int, help="how the lines that ship do, at this depth")
    args = parser.parse_args()
    if args.at_depth:
        at_depth(args.games, args.store, args.reference, args.at_depth)
        return
    model = load(depth=args.depth)
    every = of_games(args.games, args.store, model)
    later = of_reference(args.reference, model, "2018-19", LATER)
    is_check = np.isin(every.sample, CHECKS)
    lines = []
    for name in LINES:
        if name == FIRST:
            continue
        if args.only and name not in args.only:
            lines.append(shipped_lines()[name])
            continue
        before = next((line for line in lines if line.name == TEMPO_OF.get(name)), None)
        own = (every.line == name) & ~is_check & (every.rating < HIGHEST.get(name, np.inf))
        sides = every.only(own & ((every.sample != HISTORIES) | (name in TEMPO_OF)))
        sides = joined([sides, later]) if name == LATER else sides
        line = judged(fitted(name, sides, before), sides, model)
        lines.append(line)
        print(told(line))
        print("  " + held_out(name, sides, model, before))
        print("  " + z_of(line, sides, model))
        for sample in np.unique(sides.sample):
            own = sides.only(sides.sample == sample)
            shift, error, steep = offset_of(line, own)
            print(f"  {sample}: {len(own)} sides, offset {shift:+.0f} ± {error:.0f}, slope {steep:.2f}")
        for kind in np.unique(sides.kind[np.isfinite(sides.seconds)]):
            own = sides.only(sides.kind == kind)
            if line.seconds and len(own) >= FEWEST_OF_A_KIND:
                shift, error = joint_shift(line, own)
                print(f"  {kind}: {len(own)} sides, offset {shift:+.0f} ± {error:.0f}")
    print("\nToday and before")
    by_name = {line.name: line for line in lines}
    for name in ("lichess-bullet", "lichess-blitz", "lichess-rapid"):
        own = (every.line == name) & (every.sample == HISTORIES) & (every.rating < HIGHEST.get(name, np.inf))
        if own.any():
            print("  " + since(by_name[TEMPO_OF.get(name, name)], every.only(own)))
    print("\nMonths that no line has seen")
    for line in lines:
        for sample in CHECKS:
            own = every.only((every.line == line.name) & (every.sample == sample))
            if len(own) < 10:
                continue
            shift, error, steep = offset_of(line, own)
            hold, under, _ = covered(line, own, model.model().honesty)
            print(
                f"{line.name} {sample}: {len(own)} sides, mean tag {own.rating.mean():.0f}, offset {shift:+.0f} ± "
                f"{error:.0f}, slope {steep:.2f}, intervals hold {hold.mean():.3f}, below {under.mean():.3f}"
            )
        if (both := every.only((every.line == line.name) & is_check)).rating.size >= 10:
            print("  " + z_of(line, both, model))
    if args.write:
        noise = shipped_lines()[FIRST].noise if args.only else noise_of_first(args.reference, model)
        first = PoolLine(FIRST, noise=noise, sides=0)
        plain = [asdict(line) | {"bands": list(line.bands)} for line in (first, *lines)]
        inputs = list(manifest.describe_inputs([Path(args.games)]))
        made = manifest.make("lines of pools", inputs=inputs, settings={"calibration": model.name, "depth": args.depth})
        data = {"kind": "assay lines", "format": 1, "lines": plain, "made": made}
        args.write.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def at_depth(games: str, store: str, folder: str, depth: int) -> None:
    """How the lines that ship do with the model that ships, at this depth: on the games of lines, and on months."""
    model = load(depth=depth)
    parts = [of_reference(folder, model, "2018-19", LATER), of_games(games, store, model)]
    for name in LINES:
        chosen = [part.only(part.line == name) for part in parts if (part.line == name).any()]
        if not chosen or name == FIRST:
            continue
        line, every = line_called(name), joined(chosen)
        for sample in ("", *CHECKS):
            own = every.only(every.sample == sample if sample else ~np.isin(every.sample, CHECKS))
            if len(own) < 10:
                continue
            shift, error, steep = offset_of(line, own)
            hold, _, _ = covered(line, own, model.model().honesty)
            told = f"{len(own)} sides, offset {shift:+.0f} ± {error:.0f}, slope {steep:.2f}, hold {hold.mean():.3f}"
            print(f"{name} {sample or 'all but months'}: {told}")


def noise_of_first(folder: str, model: Calibration) -> float:
    """The noise of a side where the model itself was fitted."""
    sides = of_reference(folder, model, "2006-14", FIRST)
    line = judged(PoolLine(FIRST), sides, model)
    print(told(line))
    return line.noise


if __name__ == "__main__":
    main()
