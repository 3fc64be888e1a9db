"""One answer from three witnesses, on players whom no model has seen: events of nine games over the board.

    python studies/answer.py draw ARCHIVE... -o FOLDER [--without GAMES] [--a-band 14]
    python studies/answer.py analyse FOLDER [--depth 8]
    python studies/answer.py judge FOLDER [--depth 8] [--fit FILE]

`draw` takes player-events of nine games, every opponent rated, evenly over the bands of ratings; players who were in
the training of the learned model or play in the games given with `--without` (those of the reference set) are left
out. `analyse` values the turns of these players alone, and goes on where it stopped. `judge` prints for each witness,
each pair and all three the scatter around the tag, how wide the intervals are and how often they hold; `--fit` writes
the powers with which the sum holds, and the drops that five in a hundred honest players pass.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.answer.joining import WITNESSES, Joint, agreement, joined, shipped
from assay.answer.rating import gather, voices_of
from assay.answer.voices import Units, units_of
from assay.curve import GRID, Curve, Honesty
from assay.engine.analysis import value
from assay.engine.identity import ALL_LINES, Search
from assay.engine.parsed import Wanted, read_plies
from assay.engine.store import Store
from assay.games import read
from assay.games.outcomes import score_of
from assay.players import player_id, split_of
from assay.pools import SLOW, pool_of, scale_of

GAMES = 9
LOW, HIGH, BAND = 1600, 2700, 100
Floats = NDArray[np.float64]


def elo(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def draw(archives: Sequence[str], folder: Path, without: Sequence[str], a_band: int) -> None:
    known = (
        {tags.get(side) for game in read(*without) for tags in [game.tags] for side in ("White", "Black")}
        if without
        else set()
    )
    events: dict[tuple[str, str], list[int]] = defaultdict(list)
    games, spoilt = [], set()
    for game in read(*archives):
        tags = game.tags
        if scale_of(pool_of(tags.get("Site", ""), tags.get("Event", ""), tags.get("TimeControl", ""))) != SLOW:
            continue
        rated = all(elo(tags.get(name, "")) for name in ("WhiteElo", "BlackElo"))
        sound = rated and score_of(tags.get("Result")) is not None
        for side in ("White", "Black"):
            name, where = tags.get(side, ""), f"{tags.get('Event', '')} {tags.get('Date', '')[:4]}"
            number = player_id(name)
            if number is None or split_of(number) != "test" or name in known:
                continue
            (events[name, where].append(len(games)) if sound else spoilt.add((name, where)))
        if sound:
            games.append(game)
    rng = np.random.default_rng(2310)
    chosen: dict[int, list[tuple[str, list[int]]]] = defaultdict(list)
    keys = [key for key, own in events.items() if len(own) == GAMES and key not in spoilt]
    seen: set[str] = set()
    for at in rng.permutation(len(keys)).tolist():
        name, own = keys[at][0], events[keys[at]]
        if name in seen:
            continue
        side = ["White" if games[game].tags["White"] == name else "Black" for game in own]
        tag = float(np.mean([elo(games[game].tags[f"{one}Elo"]) for game, one in zip(own, side, strict=True)]))
        band = int(tag // BAND * BAND)
        if LOW <= tag <= HIGH and len(chosen[band]) < a_band:
            chosen[band].append((name, own))
            seen.add(name)
    folder.mkdir(parents=True, exist_ok=True)
    plan, data = [], []
    for band in sorted(chosen):
        print(f"{band}: {len(chosen[band])} of them")
        for name, own in chosen[band]:
            plan.append({"player": name, "first": len(data), "games": len(own)})
            data += [games[game].data.strip() for game in own]
    # Bands in turn, so that what is analysed first is of all of them.
    order = sorted(
        range(len(plan)), key=lambda at: (sum(one["player"] != "" for one in plan[:at]) * 0 + at % a_band, at)
    )
    (folder / "events.pgn").write_bytes(b"\n\n".join(data) + b"\n")
    (folder / "plan.json").write_text(json.dumps({"plan": plan, "order": order}, indent=1))


def analyse(folder: Path, depth: int) -> None:
    """Value the turns of the players, not those of their opponents, one event after the other."""
    told = json.loads((folder / "plan.json").read_text())
    games = read(folder / "events.pgn").all()
    with Store(folder / "store.db", create=True) as store:
        for count, at in enumerate(told["order"], 1):
            one = told["plan"][at]
            own = games[one["first"] : one["first"] + one["games"]]
            plies = read_plies(own, 9)
            white = np.array([game.tags["White"] == one["player"] for game in own])
            mine = plies.white == white[plies.game]
            keys = dict.fromkeys(name for name, is_mine in zip(plies.names, mine, strict=True) if is_mine)
            value(Wanted(keys=list(keys)), store, Search(depth=depth, lines=ALL_LINES), workers=1, quiet=True)
            print(f"{count} of {len(told['plan'])}: {one['games']} games, {len(keys)} positions", flush=True)


def sides_of(folder: Path, depth: int) -> tuple[list[Mapping[str, Floats]], Floats]:
    """The honest curves of each player-event that is analysed whole, and his tag."""
    told = json.loads((folder / "plan.json").read_text())
    games = read(folder / "events.pgn").all()
    found = gather(
        read(folder / "events.pgn"),
        True,
        store=folder / "store.db",
        depth=depth,
        no_analysis=True,
        keep_duplicates=True,
    )
    part = np.empty(len(games), object)
    for number, one in enumerate(told["plan"]):
        part[one["first"] : one["first"] + one["games"]] = str(number)
    units = units_of(found.frame, found.counted)
    keys = [(one["player"], str(number)) for number, one in enumerate(told["plan"])]
    place = {key: at for at, key in enumerate(keys)}
    of = np.full((len(games), 2), -1, np.intp)
    for side, column in enumerate(("white", "black")):
        for at, name in enumerate(found.frame[column]):
            of[at, side] = place.get((name, part[at]), -1)
    known = of >= 0
    tag = np.bincount(of[known], units.tags[known], minlength=len(keys)) / np.bincount(of[known], minlength=len(keys))
    own = Units(
        tuple((name, "otb-slow", part) for name, part in keys),
        of,
        units.scores,
        units.tags,
        np.bincount(of[known], minlength=len(keys)),
        tag,
    )
    own, voices = voices_of(found, own, None, WITNESSES, 0.95)
    whole = [all(voice.says(at) for voice in voices) for at in range(len(keys))]
    curves = [{voice.name: voice.curves[at] for voice in voices} for at in np.flatnonzero(whole).tolist()]
    return curves, tag[whole]


def tops(curves: Sequence[Mapping[str, Floats]], names: Sequence[str], joint: Joint) -> Curve:
    rows = [joined({name: one[name] for name in names}, joint) for one in curves]
    return Curve(np.stack(rows), GRID)


def judge(folder: Path, depth: int, fit: Path | None) -> None:
    curves, tag = sides_of(folder, depth)
    joint = shipped()["otb"]
    print(f"{len(tag)} player-events of {GAMES} games, tags {tag.min():.0f} to {tag.max():.0f}; depth {depth}")
    print("witnesses                     bias   SD  half-width  SD of own  holds (tag error 70)")
    for size in (1, 2, 3):
        for names in combinations(WITNESSES, size):
            whole = tops(curves, names, joint)
            made = whole.estimates(Honesty(), 0.95)
            good = np.array([one.bounded and np.isfinite(one.value) for one in made])
            off = np.array([one.value for one in made])[good] - tag[good]
            half = np.array([one.half_width for one in made])[good]
            own = half / 1.96
            wide = np.hypot(half, 1.96 * 70.0)
            spread = off.std(ddof=1)
            held, error = np.mean(np.abs(off - off.mean()) < wide), spread / np.sqrt(2 * good.sum())
            print(
                f"{'+'.join(names):28s} {off.mean():+5.0f} {spread:5.0f} +- {error:2.0f} {half.mean():8.0f}"
                f" {np.sqrt((own**2).mean()):10.0f}   {held:.3f}  ({good.sum()} of {len(tag)})"
            )
    offs = []
    for name in WITNESSES:
        made = tops(curves, (name,), joint).tops()
        offs.append(made - tag)
    print("correlations of errors:", np.corrcoef(np.array(offs)).round(2).tolist())
    drops = {2: [], 3: []}
    for one in curves:
        for size in (2, 3):
            for names in combinations(WITNESSES, size):
                found = agreement({name: one[name] for name in names}, joint)
                if found:
                    drops[size].append(found.drop)
    print("drops that 5 % pass:", {size: round(float(np.quantile(each, 0.95)), 2) for size, each in drops.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    step = parser.add_subparsers(dest="step", required=True)
    one = step.add_parser("draw")
    one.add_argument("archives", nargs="+")
    one.add_argument("-o", "--out", type=Path, required=True)
    one.add_argument("--without", nargs="*", default=[])
    one.add_argument("--a-band", type=int, default=14)
    for name in ("analyse", "judge"):
        one = step.add_parser(name)
        one.add_argument("folder", type=Path)
        one.add_argument("--depth", type=int, default=8)
        if name == "judge":
            one.add_argument("--fit", type=Path)
    given = parser.parse_args()
    if given.step == "draw":
        draw(given.archives, given.out, given.without, given.a_band)
    elif given.step == "analyse":
        analyse(given.folder, given.depth)
    else:
        judge(given.folder, given.depth, given.fit)


if __name__ == "__main__":
    main()
