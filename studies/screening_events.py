"""Screening of honest players in real events, with the ratings they had: mean, spread and tails of z, by band.

    python studies/screening_events.py draw ARCHIVE... -o FOLDER [--a-band 12] [--games 5 9]
    python studies/screening_events.py analyse FOLDER [--depth 6]
    python studies/screening_events.py judge FOLDER... [--depth 6] [--shipped | --reference REFERENCE --write FILE]

`draw` takes player-events (all games of a player in one event, every one rated and with a result) evenly over years and
bands of 200, nobody twice; games between players of one century mark, of which the reference set is made, are not among
them. `analyse` values the turns of these players alone, years and bands in turn, and goes on where it stopped. `judge`
takes folders of `draw` and of studies/answer.py alike and prints what z is like: where ratings are taken for true, and
by the null of honest player-events (how far ratings are off by level, where the middle of each band lies), fitted on
one half of the players and judged on the other, both ways. With `--reference` single sides of the reference set's games
of 2018-19 tell where bands of those years lie. `--shipped` looks at events that the null which ships has not seen, and
fits nothing. `--write` writes what ships (src/assay/data/screening.json), fitted on all.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from deep_screening import BANDS, shrunk
from numpy.typing import NDArray
from pool_lines import of_reference
from scipy.optimize import minimize

from answer import analyse, elo
from assay.engine.store import Store
from assay.engine.turns import turns
from assay.games import Game, read
from assay.games.outcomes import score_of
from assay.moves.calibration import load
from assay.moves.evidence import Evidence, weigh
from assay.moves.field import HonestNull, NullBand, shipped_null
from assay.moves.screening import screen
from assay.paths import atomic
from assay.players import player_id
from assay.pools import SLOW, line_of, pool_of, scale_of
from assay.scales import line_called

Floats = NDArray[np.float64]
BAND, LOW, HIGH = 200, 1200, 2800
NEAR_MARK = 20
STEP, LEAST, STEEP = 100.0, 10, 0.655
FINE = tuple((low, low + BAND) for low in range(LOW, HIGH, BAND))


def at_mark(white: int, black: int) -> bool:
    """Whether both are near one century mark, as in the games that calibrations are made of."""
    mark = round(white / 100) * 100
    return abs(white - mark) <= NEAR_MARK and abs(black - mark) <= NEAR_MARK


def draw(archives: Sequence[str], folder: Path, a_band: int, least: int, most: int) -> None:
    """Player-events of so many games, for each line of years and band of ratings."""
    events: dict[tuple[str, str], list[int]] = defaultdict(list)
    games: list[Game] = []
    spoilt = set()
    for game in read(*archives):
        tags = game.tags
        pool = pool_of(tags.get("Site", ""), tags.get("Event", ""), tags.get("TimeControl", ""))
        if scale_of(pool) != SLOW:
            continue
        ratings = [elo(tags.get(name, "")) for name in ("WhiteElo", "BlackElo")]
        sound = all(ratings) and score_of(tags.get("Result")) is not None and not at_mark(*ratings)
        for side in ("White", "Black"):
            key = tags.get(side, ""), f"{tags.get('Event', '')} {tags.get('Date', '')[:4]}"
            if player_id(key[0]) is not None:
                (events[key].append(len(games)) if sound else spoilt.add(key))
        if sound:
            games.append(game)
    keys = [key for key, own in events.items() if least <= len(own) <= most and key not in spoilt]
    chosen: dict[tuple[str, int], list[tuple[str, list[int]]]] = defaultdict(list)
    seen: set[str] = set()
    for at in np.random.default_rng(24).permutation(len(keys)).tolist():
        name, own = keys[at][0], events[keys[at]]
        tags = [games[game].tags for game in own]
        tag = float(
            np.mean([elo(one.get(f"{'White' if one.get('White') == name else 'Black'}Elo", "")) for one in tags])
        )
        line = line_of(SLOW, tags[0].get("Date"))
        cell = line, int(tag // BAND * BAND)
        if name not in seen and LOW <= tag < HIGH and len(chosen[cell]) < a_band:
            chosen[cell].append((name, own))
            seen.add(name)
    plan: list[dict[str, Any]] = []
    data: list[bytes] = []
    rank = []
    for cell in sorted(chosen):
        print(f"{cell[0]} {cell[1]}: {len(chosen[cell])}")
        for number, (name, own) in enumerate(chosen[cell]):
            plan.append({"player": name, "first": len(data), "games": len(own)})
            data += [games[game].data.strip() for game in own]
            rank.append(number)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "events.pgn").write_bytes(b"\n\n".join(data) + b"\n")
    order = np.argsort(rank, kind="stable").tolist()
    (folder / "plan.json").write_text(json.dumps({"plan": plan, "order": order}, indent=1))


def evidence_of(folder: Path, depth: int) -> tuple[Evidence, NDArray[np.intp]]:
    """The turns of the players whose events are analysed whole, and the number of the event of each."""
    plan = json.loads((folder / "plan.json").read_text())["plan"]
    games = read(folder / "events.pgn").all()
    model = load(depth=depth)
    with Store(folder / "store.db") as store:
        found = turns(games, store, depth=depth, limit=float(model.settings["limit"]))
    of_game = np.repeat(np.arange(len(plan)), [one["games"] for one in plan])
    name = np.array([one["player"] for one in plan], object)
    event = of_game[found.game]
    mine = np.asarray(found.player == name[event])
    # Of an event that the engine has not come to, or is at, some games have no turns.
    there = np.zeros(len(games), np.bool_)
    there[found.game[mine]] = True
    whole = np.bincount(of_game, ~there, len(plan)) <= 1
    mine &= whole[event]
    return weigh(found.only(mine), model, True), event[mine]


@dataclass(frozen=True)
class Found:
    """Player-events: z where the rating is taken for true, and by how much it moves with the rating (for one point)."""

    player: NDArray[np.object_]
    line: NDArray[np.object_]
    rating: Floats
    turns: Floats
    z: Floats
    slope: Floats

    def __len__(self) -> int:
        return len(self.z)

    def only(self, some: NDArray[np.bool_]) -> Found:
        return Found(*(getattr(self, field.name)[some] for field in fields(self)))


def judged(folders: Sequence[Path], depth: int) -> Found:
    """The player-events of folders; nobody twice."""
    rows: dict[str, tuple[Any, ...]] = {}
    for folder in folders:
        evidence, event = evidence_of(folder, depth)
        tag = evidence.sides.rating[evidence.sides.of]
        for one in np.unique(event):
            own = np.flatnonzero(event == one)
            part = evidence.only(own)
            found = screen(part, tag[own], rating_error=STEP)
            z = found.combined * np.hypot(1, found.shift)
            name = str(part.turns.player[0])
            rows.setdefault(name, (name, part.lines[0].name, tag[own].mean(), len(own), z, found.shift / STEP))
    columns = list(zip(*rows.values(), strict=True))
    return Found(*(np.array(one, object) for one in columns[:2]), *(np.array(one, float) for one in columns[2:]))


def sides_of(folder: Path, depth: int) -> Found:
    """Single sides of the reference set's games of 2018-19, for the middle of bands of those years."""
    model, name = load(depth=depth), "otb-slow-2015-23"
    sides, line = of_reference(str(folder), model, "2018-19", name), line_called(name)
    z = sides.z(line, model) / line.z
    higher = replace(sides, rating=sides.rating + STEP).z(line, model) / line.z
    count = np.bincount(sides.code, minlength=len(sides)).astype(np.float64)
    good = np.isfinite(z) & np.isfinite(higher)
    return Found(sides.cluster.astype(object), sides.line, sides.rating, count, z, (z - higher) / STEP).only(good)


def shift_of(found: Found, null: HonestNull) -> Floats:
    return found.slope * np.array([null.rating_error(float(rating)) for rating in found.rating])


def against(found: Found, null: HonestNull) -> Floats:
    """z as `assay screen` has it."""
    shift = shift_of(found, null)
    rows = zip(found.z / np.hypot(1, shift), found.line, found.rating, found.turns, shift, strict=True)
    return np.array([null.centred(z, str(line), rating, int(turns), off) for z, line, rating, turns, off in rows])


def fitted(found: Found, sides: Found | None) -> HonestNull:
    """The error of ratings with which z is as it should be, by level; then where the middle of every band lies."""

    def loss(x: Floats) -> float:
        variance = 1 + shift_of(found, HonestNull(float(np.exp(x[0])), float(x[1]), 1.0, ())) ** 2
        # A steepness of some half is known of ratings' errors (answer.json); few events cannot tell it for themselves.
        return float(np.sum(found.z**2 / variance + np.log(variance)) / 2 + (x[1] - STEEP) ** 2 / 2 / 0.2**2)

    best = minimize(loss, [np.log(70.0), STEEP], method="Nelder-Mead").x
    bands = [*bands_of(found, BANDS), *(bands_of(sides, FINE) if sides else ())]
    null = HonestNull(round(float(np.exp(best[0])), 1), round(float(best[1]), 3), 1.0, tuple(bands))
    return replace(null, spread=round(max(1.0, float(against(found, null).std(ddof=1))), 4))


def bands_of(found: Found, bands: Sequence[tuple[int, int]]) -> Iterator[NullBand]:
    """The middle of every band of every line, drawn to 0 by as much as chance may explain."""
    for name in np.unique(found.line):
        for low, high in bands:
            here = (found.line == name) & (found.rating >= low) & (found.rating < high)
            if here.sum() >= LEAST:
                turns = round(float(found.turns[here].mean()), 1)
                yield NullBand(str(name), low, high, round(shrunk(found.z[here])[0], 4), turns, int(here.sum()))


def shown(z: Floats) -> str:
    error = z.std(ddof=1) / np.sqrt(len(z))
    tails = ", ".join(f"beyond {bound:g}: {(z > bound).sum()} ({(z > bound).mean():.1%})" for bound in (2, 3, 4.5))
    return f"{len(z)} player-events, mean {z.mean():+.2f} +- {error:.2f}, SD {z.std(ddof=1):.2f}; {tails}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("draw", "analyse", "judge"))
    parser.add_argument("what", nargs="+")
    parser.add_argument("-o", type=Path)
    parser.add_argument("--a-band", type=int, default=12)
    parser.add_argument("--games", type=int, nargs=2, default=(5, 9))
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--shipped", action="store_true")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    if given.step == "draw":
        draw(given.what, given.o, given.a_band, *given.games)
        return
    if given.step == "analyse":
        analyse(Path(given.what[0]), given.depth)
        return
    found = judged([Path(folder) for folder in given.what], given.depth)
    sides = sides_of(given.reference, given.depth) if given.reference else None
    print(f"rating taken for true: {shown(found.z)}")
    print(f"by the null that ships: {shown(against(found, shipped_null()))}")
    if given.shipped:
        by_band(found, against(found, shipped_null()), BANDS)
        return
    half, of_side = halves(found), halves(sides) if sides else None
    z, later = np.empty(len(found)), np.empty(len(sides) if sides else 0)
    for one in (0, 1):
        null = fitted(found.only(half != one), sides.only(of_side != one) if sides else None)
        z[half == one] = against(found.only(half == one), null)
        if sides:
            later[of_side == one] = against(sides.only(of_side == one), null)
        said = f"ratings off by {null.error:.0f} at 2200, {np.exp(null.steep):.2f} times that 400 below"
        print(f"fitted on {(half != one).sum()}: {said}, spread {null.spread}")
    print(f"players that the null has not seen: {shown(z)}")
    by_band(found, z, BANDS)
    if sides:
        print(f"single sides of 2018-19, players that the null has not seen: {shown(later)}")
        by_band(sides, later, FINE)
    if given.write:
        null = fitted(found, sides)
        with atomic(given.write) as part:
            said = {"kind": "assay honest player-events", "format": 1, "events": len(found), "null": null.to_json()}
            part.write_text(json.dumps(said, indent=1) + "\n")
        print(f"written: {null}")


def halves(found: Found) -> NDArray[np.int64]:
    """0 or 1 for every player."""
    return np.array(
        [name % 2 if isinstance(name, int) else (player_id(name) or 0) % 2 for name in found.player.tolist()]
    )


def by_band(found: Found, z: Floats, bands: Sequence[tuple[int, int]]) -> None:
    for name in np.unique(found.line):
        for low, high in bands:
            here = (found.line == name) & (found.rating >= low) & (found.rating < high)
            if here.sum() >= LEAST:
                print(f"  {name} {low}-{high}: {shown(z[here])}; rating taken for true {found.z[here].mean():+.2f}")


if __name__ == "__main__":
    main()
