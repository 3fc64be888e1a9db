"""Do the intervals of differences hold? python studies/compare.py halves FOLDER | pairs FOLDER | agents GAMES STORE

`halves`: the player-events of `studies/answer.py draw` (analysed), the games of each taken in turn into two halves: one
player against himself, so that there is nothing to find. `pairs`: two different players of these events, beside the
difference of their tags, whose error is known. `agents`: all pairs of players of `assay simulate` (--depth), whose
truth stands beside the games; their results follow moves and no law of Elo, so that it is the truth of moves alone.

For each witness and for several together: how far differences scatter about the truth, half the width of the 95 %
intervals, how often these hold, how often equals or the weaker side are called stronger with 97.5 % and more, and, for
comparison, width and holding of an interval that adds up those of both ratings as if they shared nothing.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from assay.answer.comparing import TOGETHER, Difference, Opposed, compare, difference_of
from assay.answer.joining import WITNESSES, joint_of
from assay.answer.rating import gather
from assay.answer.voices import Units, Voice, learned_voice, moves_voice, results_voice, units_of
from assay.curve import GRID
from assay.games import read
from assay.moves.asked import Asked

HEARD = (("results",), ("moves",), ("learned",), ("results", "moves"), ("results", "learned"), WITNESSES)
NOTHING = np.zeros(2 * int((GRID[-1] - GRID[0]) / 10) + 1)  # no games with each other
PAIRS = 1000
POWERS = tuple(np.round(np.arange(0.3, 1.01, 0.05), 2).tolist())


def voices_by(folder: Path, depth: int, parts: int) -> tuple[Units, list[Voice], int]:
    """The games of each player-event in so many parts, taken in turn, and what each witness says of them."""
    plan = json.loads((folder / "plan.json").read_text())["plan"]
    asked = Asked(keep_duplicates=True, store=folder / "store.db", depth=depth, no_analysis=True)
    found = gather(read(folder / "events.pgn"), asked)
    whole = units_of(found.frame, found.counted)
    keys = tuple((one["player"], whole.keys[0][1], str(part)) for one in plan for part in range(parts))
    of = np.full(whole.of.shape, -1, np.intp)
    for number, one in enumerate(plan):
        for turn, at in enumerate(range(one["first"], one["first"] + one["games"])):
            for side, column in enumerate(("white", "black")):
                if found.frame[column][at] == one["player"]:
                    of[at, side] = parts * number + turn % parts
    games = np.bincount(of[of >= 0], minlength=len(keys))
    tag = np.bincount(of[of >= 0], whole.tags[of >= 0], minlength=len(keys)) / games
    units = Units(keys, of, whole.scores, whole.tags, games, tag)
    voices = [
        results_voice(found.frame, units, 0.95),
        moves_voice(found.evidence, units, None, 0.95)[0],  # type: ignore[arg-type]
        learned_voice(found.games, found.arrays, units, 0.95),
    ]
    print(f"{len(plan)} player-events, {found.remarks[0]}")
    return units, voices, len(plan)


def pairs(folder: Path, depth: int) -> None:
    units, voices, count = voices_by(folder, depth, 1)
    order = np.random.default_rng(7).permutation([(a, b) for a, b in combinations(range(count), 2)])[:PAIRS].tolist()
    error = joint_of(units.keys[0][1]).tag
    for heard in HEARD:
        some = [voice for voice in voices if voice.name in heard]
        chosen = [pair for pair in order if all(any(voice.says(at) for voice in some) for at in pair)]
        rows = [
            difference_of(units, some, some, Opposed((a,), (b,), "line"), 0.95, NOTHING, ("a", "b")) for a, b in chosen
        ]
        truth = np.array([units.tag[a] - units.tag[b] for a, b in chosen])
        tell(heard, rows, truth, np.array([math.hypot(error(units.tag[a]), error(units.tag[b])) for a, b in chosen]))


def halves(folder: Path, depth: int) -> None:
    units, voices, count = voices_by(folder, depth, 2)

    def rows_of(heard: Sequence[str], together: float, chosen: Sequence[int]) -> list[Difference]:
        some = [voice for voice in voices if voice.name in heard]
        rows = []
        for number in chosen:
            sides = Opposed((2 * number,), (2 * number + 1,), "player")
            if all(any(voice.says(at) for voice in some) for at in (2 * number, 2 * number + 1)):
                rows.append(difference_of(units, some, some, sides, 0.95, NOTHING, ("odd", "even"), together))
        return rows

    everybody = list(range(count))
    for heard in HEARD:
        rows = rows_of(heard, 1.0, everybody)
        tell(heard, rows, np.zeros(len(rows)))
    # One power for sums of several witnesses: chosen on half of the players, judged on the other half, both ways.
    for heard in [heard for heard in HEARD if len(heard) > 1]:
        judged: list[Difference] = []
        fitted = []
        for begin in (0, 1):
            held = {power: holds(rows_of(heard, power, everybody[begin::2])) for power in POWERS}
            fitted.append(min(POWERS, key=lambda power: (abs(held[power] - 0.95), -power)))
            judged += rows_of(heard, fitted[-1], everybody[1 - begin :: 2])
        print(f"{'+'.join(heard)} to one power, by halves of the players: {fitted}, judged on the other half:")
        tell(heard, judged, np.zeros(len(judged)))
        rows = rows_of(heard, TOGETHER, everybody)
        print(f"as it ships ({TOGETHER}):")
        tell(heard, rows, np.zeros(len(rows)))


def holds(rows: Sequence[Difference]) -> float:
    return float(np.mean([row.gap.low <= 0 <= row.gap.high for row in rows]))


def agents(path: str, store: str, depth: int) -> None:
    truth = json.loads(Path(path).with_suffix(".manifest.json").read_text())
    elo = {one["name"]: float(one["elo"]) for one in truth["truth"]["players"]}
    print(f"{len(elo)} agents, {len(list(read(path)))} games")
    for heard in (("moves",), ("results",)):
        rows, real = [], []
        for pair in combinations(elo, 2):
            made = compare(path, players=pair, witness=heard, store=store, depth=depth, no_analysis=True)
            rows.append(made.differences[0])
            real.append(elo[pair[0]] - elo[pair[1]])
        tell(heard, rows, np.array(real))


def tell(heard: Sequence[str], rows: Sequence[Difference], truth: np.ndarray, error_of_truth: Any = 0.0) -> None:
    sure = np.array([row.gap.bounded for row in rows])
    gap = np.array([row.gap.value for row in rows])
    low, high = np.array([row.gap.low for row in rows]), np.array([row.gap.high for row in rows])
    spare = 1.96 * np.broadcast_to(error_of_truth, truth.shape)
    inside = np.where(
        truth < gap, gap - truth <= np.hypot(gap - low, spare), truth - gap <= np.hypot(high - gap, spare)
    )
    inside |= (low <= truth) & (truth <= high)
    off = (gap - truth)[sure]
    stronger = np.array([row.stronger for row in rows])
    wrong = ((stronger >= 0.975) & (truth <= 0)) | ((stronger <= 0.025) & (truth >= 0))
    apart = [abs(row.ratings[0].value - row.ratings[1].value - real) for row, real in zip(rows, truth, strict=True)]
    sums = [math.hypot(*(one.half_width for one in row.ratings)) for row in rows]
    each = zip(apart, sums, spare.tolist(), sure, strict=True)
    usual = np.array([d <= math.hypot(s, more) for d, s, more, ok in each if ok])
    error = math.sqrt(inside.mean() * (1 - inside.mean()) / len(rows))
    width, both = ((high - low)[sure] / 2).mean(), np.mean([s for s, ok in zip(sums, sure, strict=True) if ok])
    print(
        f"{'+'.join(heard):22} {len(rows):4} pairs ({int((~sure).sum())} without two bounds): mean {off.mean():+.0f}, "
        f"scatter {off.std():.0f}, half-width {width:.0f}, holds {100 * inside.mean():.1f} +- {100 * error:.1f} %, "
        f"called wrongly {100 * wrong.mean():.1f} %; if nothing were shared: {both:.0f}, {100 * usual.mean():.1f} %"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("halves", "pairs", "agents"))
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--depth", type=int, default=8)
    args = parser.parse_args()
    if args.what == "halves":
        halves(Path(args.paths[0]), args.depth)
    elif args.what == "pairs":
        pairs(Path(args.paths[0]), args.depth)
    else:
        agents(args.paths[0], args.paths[1], args.depth)


if __name__ == "__main__":
    main()
