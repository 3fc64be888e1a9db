"""Fit what clocks tell of strength; does it sharpen ratings? python studies/clocks.py DATA [--write CLOCKS.json].

On sides of games that carry evaluations and clocks (`lichess-45-45`, slow games of `otb-2024-26-clocks`): the facts of
`assay.moves.clock_curves`, normal about a line in the rating. Printed, each side judged by a fit on other players (five
folds): the noise of one side from the evaluations alone and with the clocks, the scatter of the tops about the tags,
how many of the 95 % intervals hold, for one game and for three and nine of one player. Then what becomes of it under
time controls that a fit has not seen: over the board those that the tags tell, and from one file to the other and to
rapid and blitz games (`lichess-2022-26-mixed`, `lichess-2026-06`).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay import manifest
from assay.curve import GRID, Curve, Honesty
from assay.games import read
from assay.held_out import noise_per_turn
from assay.moves.clock_curves import CENTRE, UNIT, ClockHabits, clock_facts
from assay.moves.evals import GRID as INNER
from assay.moves.evals import eval_turns, shipped_evals
from assay.moves.evals_rating import on_pool, own_line
from assay.moves.evidence import sides_of
from assay.pools import split_line

Floats = NDArray[np.float64]
FILES = {"lichess-45+45": ("lichess-45-45", "lichess"), "otb-slow": ("otb-2024-26-clocks", "otb-slow")}
OTHERS = {"rapid of histories": ("lichess-2022-26-mixed", "lichess-rapid")} | {
    f"{fast} of June 2026": ("lichess-2026-06", f"lichess-{fast}") for fast in ("rapid", "blitz")
}
FOLDS = 5
BAND, FEWEST_IN_A_BAND = 100, 15
MOST_OF_ONE, OF_A_HISTORY = 40, 8


@dataclass(frozen=True)
class Timed:
    """Sides of games with evaluations and clocks: curves over the pool's ratings, facts of the clocks, tags."""

    table: Floats
    facts: Floats
    rating: Floats
    player: NDArray[np.object_]
    line: NDArray[np.object_]
    control: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.rating)

    def only(self, chosen: NDArray[np.bool_]) -> Timed:
        return Timed(**{name: getattr(self, name)[chosen] for name in self.__dataclass_fields__})


def timed(path: Path, pool: str) -> Timed:
    """The sides of a file's games that have both."""
    turns = eval_turns(read(path, where="has_eval and has_clock"))
    turns = turns.only(np.array([str(own).startswith(pool) for own in turns.column("pool")]))
    sides = sides_of(turns)
    curve = shipped_evals().curve(turns).sum(sides.of, len(sides.game))
    line = np.array([split_line(name)[0] for name in turns.games["line"].to_list()], object)[sides.game]
    table = np.zeros((len(sides.game), len(GRID)))
    for name in dict.fromkeys(line.tolist()):
        table[line == name] = on_pool(Curve(curve.table[line == name], INNER), name).table
    facts = clock_facts(turns.plies.arrays, turns.games)[2 * sides.game + ~sides.white]
    tags = [turns.games[side].to_numpy()[sides.game] for side in ("white", "black")]
    control = np.array([text or "" for text in turns.games["time_control"].to_list()], object)[sides.game]
    every = Timed(table, facts, sides.rating, np.where(sides.white, *tags).astype(str).astype(object), line, control)
    return every.only(np.isfinite(sides.rating) & np.isfinite(facts).all(axis=1))


def fitted(name: str, sides: Timed) -> ClockHabits:
    """The normal about a line that these sides' facts make."""
    x = np.column_stack([np.ones(len(sides)), (sides.rating - CENTRE) / UNIT])
    line = np.linalg.lstsq(x, sides.facts, rcond=None)[0]
    rest = sides.facts - x @ line
    precision = np.linalg.inv(rest.T @ rest / (len(rest) - 2))
    low, high = np.quantile(sides.rating, (0.01, 0.99))
    return ClockHabits(
        name,
        tuple(line[0].tolist()),
        tuple(line[1].tolist()),
        tuple(map(tuple, precision.tolist())),
        sides=len(sides),
        low=float(np.floor(low / BAND) * BAND),
        high=float(np.ceil(high / BAND) * BAND),
    )


def noise_of(table: Floats, sides: Timed) -> str:
    """The noise of one side and the slope, pooled over bands that have enough."""
    band = (sides.rating // BAND).astype(int)
    names, count = np.unique(band, return_counts=True)
    enough = np.isin(band, names[count >= FEWEST_IN_A_BAND])
    if len(np.unique(band[enough])) < 3:
        return "noise not told"
    names = np.unique(band[enough])
    code = np.searchsorted(names, band[enough])
    curve = Curve(table[enough], GRID)
    at = np.clip(curve.sum(code, len(names)).tops(), GRID[0] + 50, GRID[-1] - 50)[code]
    score, bend = curve.slopes(at)
    players = np.unique(sides.player[enough], return_inverse=True)[1].reshape(-1)
    noise, slope = noise_per_turn(score, -bend, np.ones(len(score)), code, sides.rating[enough], at, players)
    return f"noise {noise.value:.0f} ± {noise.error:.0f}, slope {slope.value:.2f} ± {slope.error:.2f}"


def told(table: Floats, sides: Timed, games: int) -> str:
    """How far sets of so many games of one player come out from their tags, and how many intervals hold."""
    order: dict[str, list[int]] = {}
    for at, name in enumerate(sides.player.tolist()):
        order.setdefault(name, []).append(at)
    sets = [
        own[begin : begin + games]
        for own in order.values()
        for begin in range(0, min(len(own), MOST_OF_ONE) - games + 1, games)
    ]
    if len(sets) < 20:
        return ""
    curve = Curve(np.array([table[some].sum(axis=0) for some in sets]), GRID)
    tag, tops = np.array([sides.rating[some].mean() for some in sets]), curve.tops()
    model = Honesty(shipped_evals().power, shipped_evals().spread)
    honesty = [own_line(sides.line[some[0]]).honesty(float(top), model) for some, top in zip(sets, tops, strict=True)]
    found = curve.estimates(honesty)
    hold = np.mean([one.low <= own <= one.high for one, own in zip(found, tag, strict=True)])
    half = np.median([one.half_width for one in found if one.bounded])
    off = tops - tag
    return (
        f"    {games} of one player: {len(sets)} sets, mean error {off.mean():+.0f}, root mean square "
        f"{np.sqrt((off**2).mean()):.0f}, hold {hold:.3f}, half-width {half:.0f}"
    )


def by_others(sides: Timed) -> Floats:
    """The curves of the clocks, each side by a fit on other players."""
    fold = np.unique(sides.player, return_inverse=True)[1].reshape(-1) % FOLDS
    out = np.zeros_like(sides.table)
    for one in range(FOLDS):
        out[fold == one] = fitted("", sides.only(fold != one)).curves(sides.facts[fold == one])
    return out


def across(words: str, habits: ClockHabits, sides: Timed) -> None:
    """What another file's habits make of these sides."""
    both = sides.table + habits.curves(sides.facts)
    off = [Curve(table, GRID).tops() - sides.rating for table in (sides.table, both)]
    means = " to ".join(f"{one.mean():+.0f}" for one in off)
    squares = " to ".join(f"{np.sqrt((one**2).mean()):.0f}" for one in off)
    noises = "; to ".join(noise_of(table, sides) for table in (sides.table, both))
    print(f"  {words}: {len(sides)} sides, mean error {means}, root mean square {squares}, {noises}", flush=True)


def few_of_one(sides: Timed) -> Timed:
    seen: dict[str, int] = {}
    kept = []
    for name in sides.player.tolist():
        seen[name] = seen.get(name, 0) + 1
        kept.append(seen[name] <= OF_A_HISTORY)
    return sides.only(np.array(kept))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()

    def of(file: str, pool: str) -> Timed:
        return timed(args.data / f"{file}.pgn.zst", pool)

    found = {name: of(*where) for name, where in FILES.items()}
    habits = {name: fitted(name, sides) for name, sides in found.items()}
    for name, sides in found.items():
        print(f"{name}: {len(sides)} sides, tags {sides.rating.mean():.0f} ± {sides.rating.std():.0f}")
        for words, table in (("evaluations", sides.table), ("and clocks", sides.table + by_others(sides))):
            print(f"  {words:11} {noise_of(table, sides)}", flush=True)
            print("\n".join(filter(None, (told(table, sides, games) for games in (1, 3, 9)))))
    print("Time controls that the fit has not seen")
    board = found["otb-slow"]
    controls, count = np.unique(board.control, return_counts=True)
    for control in controls[count >= 50].tolist():
        own = board.control == control
        across(f"over the board, {control[:40] or 'not told'}", fitted("", board.only(~own)), board.only(own))
    across("45+45 by those over the board", habits["otb-slow"], found["lichess-45+45"])
    across("over the board by 45+45", habits["lichess-45+45"], board)
    others = {words: of(*where) for words, where in OTHERS.items()}
    users = few_of_one(others["rapid of histories"])
    for words in ("rapid of June 2026", "blitz of June 2026"):
        across(f"{words} by 45+45", habits["lichess-45+45"], others[words])
        across(f"{words} by {len(users)} sides of rapid histories", fitted("", users), others[words])
    if args.write:
        made = manifest.make("habits of clocks", inputs=[], settings={"folds": FOLDS})
        data = {"kind": "assay clocks", "habits": [asdict(one) for one in habits.values()], "made": made}
        args.write.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
