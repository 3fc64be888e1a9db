"""One answer from three witnesses, on players whom no model has seen: player-events of nine games.

    python studies/answer.py draw ARCHIVE... -o FOLDER [--without GAMES] [--a-band 14] [--everybody | --lichess]
        [--analysed STORE]
    python studies/answer.py analyse FOLDER [--depth 8]
    python studies/answer.py results FOLDER [--fit FILE]
    python studies/answer.py judge FOLDER... [--depth 8] [--evals] [--fit FILE] [--games 9] [--spread FOLDER]
    python studies/answer.py pools ARCHIVE... [--fit FILE]
    python studies/answer.py draws ARCHIVE [--lichess] [--fit FILE]

`draw` takes player-events of nine games, every opponent rated, evenly over the bands of ratings (with `--analysed` of
those alone of which a store has every turn: the same ones again, also where an archive has changed since); players who
were in the training of the learned model or play in the games given with `--without` (those of the reference set) are
left out, unless everybody will do (for results alone, which nothing was trained for). With `--lichess` nine games of a
player that follow each other, of players who were neither in that training nor in the fit of evaluations. `analyse`
values the turns of these players alone, and goes on where it stopped.

`results` tells how far performances by results lie from the tags and fits the error of the tags: what is left when
chance is taken away. `judge` fits how witnesses are taken on half of the players and judges on the other half, both
ways: for each witness, each pair and all three the scatter around the tag, how wide the intervals are and how often
they hold; with `--games 1` of the first game of each event alone, whose powers `--fit` keeps beside the others; with
`--spread` also as it would be if tags were spread as in another draw. `pools` counts who plays,
`draws` how often equals draw and what White is worth. `--fit` writes what ships (src/assay/data/answer.json), fitted
on all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from evals_fit import is_held_out
from numpy.typing import NDArray
from scipy.optimize import minimize

from assay.answer.joining import (
    CENTRE,
    EVALS,
    FALSE_ALARMS,
    LEARNED,
    MOVES,
    RESULTS,
    UNIT,
    Joint,
    TagError,
    agreement,
    joint_from,
    shipped,
)
from assay.answer.rating import gather
from assay.answer.voices import (
    Units,
    evals_voice,
    learned_voice,
    moves_voice,
    performance_error,
    results_voice,
    units_of,
    worth_games,
)
from assay.curve import GRID, Curve, spline_matrix
from assay.engine.analysis import value
from assay.engine.identity import Search
from assay.engine.parsed import Wanted, read_plies
from assay.engine.store import Store
from assay.games import Game, read
from assay.games.outcomes import score_of
from assay.moves.asked import Asked
from assay.players import player_id, split_of
from assay.pools import SLOW, pool_of, scale_of
from assay.presets import ALL_LINES

GAMES = 9
LOW, HIGH, BAND = 1600, 2700, 100
Floats = NDArray[np.float64]
FINE = np.arange(GRID[0], GRID[-1] + 1, 20.0)
TO_FINE = spline_matrix(GRID, FINE)
FACTOR = NormalDist().inv_cdf(0.975)


def elo(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def draw(
    archives: Sequence[str],
    folder: Path,
    without: Sequence[str],
    a_band: int,
    everybody: bool,
    lichess: bool,
    analyses: Path | None,
) -> None:
    known = {game.tags.get(side) for game in read(*without) for side in ("White", "Black")} if without else set()
    events: dict[tuple[str, str], list[int]] = defaultdict(list)
    games: list[Game] = []
    spoilt = set()
    for game in read(*archives):
        tags = game.tags
        pool = scale_of(pool_of(tags.get("Site", ""), tags.get("Event", ""), tags.get("TimeControl", "")))
        if pool != ("lichess-rapid" if lichess else SLOW):
            continue
        rated = all(elo(tags.get(name, "")) for name in ("WhiteElo", "BlackElo"))
        sound = rated and score_of(tags.get("Result")) is not None
        for side in ("White", "Black"):
            name, where = tags.get(side, ""), f"{tags.get('Event', '')} {tags.get('Date', '')[:4]}"
            number = player_id(name)
            if number is None or name in known:
                continue
            if not everybody and not (is_unseen(name) if lichess else split_of(number) == "test"):
                continue
            where = "" if lichess else where
            (events[name, where].append(len(games)) if sound else spoilt.add((name, where)))
        if sound:
            games.append(game)
    if lichess:
        events = {
            (name, str(at)): own[at : at + GAMES]
            for (name, _), own in events.items()
            for at in range(0, len(own) - GAMES + 1, GAMES)
        }
        spoilt = set()
    rng = np.random.default_rng(2310)
    chosen: dict[int, list[tuple[str, list[int]]]] = defaultdict(list)
    keys = [key for key, own in events.items() if len(own) == GAMES and key not in spoilt]
    seen: set[str] = set()
    order = rng.permutation(len(keys)).tolist()
    if analyses is not None:
        with Store(analyses) as store:
            there = [is_analysed(store, [games[game] for game in events[keys[at]]], keys[at][0]) for at in order]
        order = [at for at, one in zip(order, there, strict=True) if one]
    for at in order:
        name, own = keys[at][0], events[keys[at]]
        if name in seen and not lichess:
            continue
        side = ["White" if games[game].tags["White"] == name else "Black" for game in own]
        tag = float(np.mean([elo(games[game].tags[f"{one}Elo"]) for game, one in zip(own, side, strict=True)]))
        band = int(tag // BAND * BAND)
        if (lichess or LOW <= tag <= HIGH) and len(chosen[band]) < a_band:
            chosen[band].append((name, own))
            seen.add(name)
    folder.mkdir(parents=True, exist_ok=True)
    plan: list[dict[str, Any]] = []
    data = []
    for band in sorted(chosen):
        print(f"{band}: {len(chosen[band])} of them")
        for name, own in chosen[band]:
            plan.append({"player": name, "first": len(data), "games": len(own)})
            data += [games[game].data.strip() for game in own]
    # Bands in turn, so that what is analysed first is of all of them.
    order = sorted(range(len(plan)), key=lambda at: (at % a_band, at))
    (folder / "events.pgn").write_bytes(b"\n\n".join(data) + b"\n")
    (folder / "plan.json").write_text(json.dumps({"plan": plan, "order": order}, indent=1))


def is_unseen(name: str) -> bool:
    """Whether neither the learned model was trained on games of this Lichess player nor the model of evaluations."""
    number = player_id(name)
    return number is not None and split_of(number) != "train" and is_held_out(name)


def wanted_keys(own: Sequence[Game], player: str) -> list[bytes]:
    plies = read_plies(own, 9)
    white = np.array([game.tags["White"] == player for game in own])
    mine = plies.white == white[plies.game]
    return list(dict.fromkeys(name for name, is_mine in zip(plies.names, mine, strict=True) if is_mine))


def analyse(folder: Path, depth: int) -> None:
    """Value the turns of the players, not those of their opponents, one event after the other."""
    told = json.loads((folder / "plan.json").read_text())
    games = read(folder / "events.pgn").all()
    with Store(folder / "store.db", create=True) as store:
        for count, at in enumerate(told["order"], 1):
            one = told["plan"][at]
            keys = wanted_keys(games[one["first"] : one["first"] + one["games"]], one["player"])
            value(Wanted(keys=keys), store, Search(depth=depth, lines=ALL_LINES), workers=1, quiet=True)
            print(f"{count} of {len(told['plan'])}: {one['games']} games, {len(keys)} positions", flush=True)


def is_analysed(store: Store, own: Sequence[Game], player: str, depth: int = 8) -> bool:
    """Whether a store has every turn of a player that is wanted of some games."""
    keys, identity = wanted_keys(own, player), store.choose(depth=depth)
    held = store.holds(identity, depth, keys)
    rest = [key for key in keys if key not in held]
    return len(store.out(identity, rest)) == len(rest)


def analysed_whole(folder: Path, plan: Sequence[Mapping[str, Any]], games: Sequence[Game], depth: int) -> list[bool]:
    """Whether the store has every turn of the player that is wanted of each event."""
    with Store(folder / "store.db") as store:
        return [
            is_analysed(store, games[one["first"] : one["first"] + one["games"]], one["player"], depth) for one in plan
        ]


@dataclass(frozen=True)
class Case:
    """A player-event: the tag, and honest curves by witness."""

    player: str
    tag: float
    curves: Mapping[str, Floats]


def _shipped_models() -> str:
    """A name for the learned models as they ship: their weights, lines and powers."""
    models = files("assay") / "data" / "models"
    parts = [models / name / part for name in ("lichess", "otb") for part in ("run.json", "weights.npz")]
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:8]


def cases_of(folder: Path, names: Sequence[str], depth: int, count: int) -> list[Case]:
    """The player-events of a folder, or the first games of each; moves only of those that are analysed whole."""
    plan = json.loads((folder / "plan.json").read_text())["plan"]
    games = read(folder / "events.pgn").all()
    with_moves = MOVES in names and (folder / "store.db").exists()
    asked = Asked(keep_duplicates=True)
    if with_moves:
        asked = replace(asked, store=folder / "store.db", depth=depth, no_analysis=True)
    found = gather(read(folder / "events.pgn"), asked, with_moves or EVALS in names, evals=EVALS in names)
    units = units_of(found.frame, found.counted)
    keys = tuple((one["player"], units.keys[0][1], str(number)) for number, one in enumerate(plan))
    of = np.full((len(games), 2), -1, np.intp)
    for number, one in enumerate(plan):
        for at in range(one["first"], one["first"] + min(count, one["games"])):
            for side, column in enumerate(("white", "black")):
                if found.frame[column][at] == one["player"]:
                    of[at, side] = number
    known = of >= 0
    many = np.bincount(of[known], minlength=len(keys))
    tag = np.bincount(of[known], units.tags[known], minlength=len(keys)) / np.maximum(many, 1)
    # Two events may hold the same game, each for its own player; so each event has rows of its own.
    own = Units(keys, of, units.scores, units.tags, many, tag)
    voices = [results_voice(found.frame, own, 0.95)]
    kept = folder / f"learned-{count}-{_shipped_models()}.npz"  # what the learned models say takes the longest
    if LEARNED in names and not kept.exists():
        voices.append(learned_voice(found.games, found.arrays, own, 0.95))
        np.savez(kept, curves=voices[-1].curves)
    whole = [True] * len(keys)
    if with_moves:
        voices.append(moves_voice(found.evidence, own, None, 0.95)[0])
        whole = analysed_whole(folder, plan, games, depth)
    elif EVALS in names:
        voices.append(evals_voice(found.evidence, own, None, 0.95)[0])
    rows = {voice.kind: voice.curves for voice in voices}
    if LEARNED in names:
        with np.load(kept) as stored:
            rows[LEARNED] = stored["curves"]
    cases = []
    for at, (name, _, _) in enumerate(keys):
        curves = {
            kind: row[at] for kind, row in rows.items() if np.ptp(row[at]) > 1e-9 and (kind != MOVES or whole[at])
        }
        cases.append(Case(name, float(tag[at]), curves))
    return cases


# Fits.


def rows_of(cases: Sequence[Case], kind: str) -> Floats:
    """The curves of a witness in fine steps."""
    return np.stack([one.curves[kind] for one in cases]) @ TO_FINE


def score(rows: Floats, tag: Floats, error: Floats) -> float:
    """The mean logarithm of the chance of the tags, each tag as far from the truth as its error says."""
    chance = np.exp(rows - rows.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    bell = np.exp(-0.5 * ((tag[:, None] - FINE) / error[:, None]) ** 2) / error[:, None] / np.sqrt(2 * np.pi)
    return float(np.log(np.maximum((chance * bell).sum(axis=1), 1e-12)).mean())


def best(function: Any, start: Sequence[float], low: float = 0.02, high: float = 3.0) -> list[float]:
    """Where a function of positive numbers is greatest."""
    found = minimize(
        lambda x: -function(np.clip(np.exp(x), low, high)),
        np.log(start),
        method="Nelder-Mead",
        options={"xatol": 0.01, "fatol": 1e-5, "maxiter": 200},
    )
    return np.clip(np.exp(found.x), low, high).tolist()  # type: ignore[no-any-return]


def fit_tag(cases: Sequence[Case]) -> TagError:
    """The error of tags with which results alone say what is so."""
    tag, rows = np.array([one.tag for one in cases]), rows_of(cases, RESULTS)
    error, steep = best(lambda x: score(rows, tag, TagError(x[0] * 70, np.log(x[1]))(tag)), (1.0, 1.3), 0.1, 4.0)
    return TagError(round(error * 70, 1), round(float(np.log(steep)), 3))


def tops(rows: Floats) -> Floats:
    return FINE[np.argmax(rows, axis=1)]


def has_top(one: Case) -> bool:
    """Whether results set a rating: not all games were won, or lost."""
    return LOW_END < float(tops(one.curves[RESULTS][None] @ TO_FINE)[0]) < HIGH_END


LOW_END, HIGH_END = GRID[0] + 20, GRID[-1] - 20


def fit_joint(cases: Sequence[Case], tag_error: TagError, kinds: Sequence[str]) -> Joint:
    """How witnesses are joined: the powers of the sums, and the drops that few honest players pass."""
    sums = []
    for size in (2, 3):
        for names in combinations(kinds, size):
            some = [one for one in cases if all(name in one.curves for name in names)]
            if some:
                tag = np.array([one.tag for one in some])
                sums.append((names, tag, tag_error(tag), {name: rows_of(some, name) for name in names}))

    def whole(powers: Floats) -> float:
        by = dict(zip(kinds, powers.tolist(), strict=True))
        each = [
            len(tag) * score(sum(by[name] * rows[name] for name in names), tag, error)
            for names, tag, error, rows in sums
        ]
        return float(np.sum(each))

    powers = {kind: round(power, 3) for kind, power in zip(kinds, best(whole, [0.8] * len(kinds)), strict=True)}
    joint = Joint(powers, {}, tag_error, events=len(cases), players=len({one.player for one in cases}))
    alarm = {}
    for names in heard_together(kinds):
        drops = drops_of(cases, names, joint)
        if len(drops):
            alarm["+".join(names)] = round(limit_of(drops), 3)
    return replace(joint, alarm=alarm)


def limit_of(drops: Floats) -> float:
    """The drop that the next honest player passes with the stated chance.

    By Weibull's plotting positions: numpy's own quantile of 75 drops is passed by 6.2 % of others, not by 5.
    """
    return float(np.quantile(drops, 1 - FALSE_ALARMS, method="weibull"))


def heard_together(kinds: Sequence[str]) -> list[tuple[str, ...]]:
    return [names for size in (2, 3) for names in combinations(kinds, size)]


def called(names: Iterable[str]) -> str:
    return "+".join(MOVES if name == EVALS else name for name in names)


def drops_of(cases: Sequence[Case], names: Sequence[str], joint: Joint) -> Floats:
    some = [one for one in cases if all(name in one.curves for name in names)]
    found = [agreement({name: one.curves[name] for name in names}, joint) for one in some]
    return np.array([one.drop for one in found if one is not None])


# Judging.


@dataclass
class Judged:
    """What a sum of witnesses says of cases that it was not fitted on."""

    off: list[float]
    low: list[float]
    high: list[float]
    tag: list[float]
    error: list[float]
    alarm: list[bool]
    player: list[str]
    open: int = 0


def judge_half(cases: Sequence[Case], names: Sequence[str], joint: Joint, into: Judged) -> None:
    for one in cases:
        if not all(name in one.curves for name in names):
            continue
        curves = {name: one.curves[name] for name in names}
        powers = {name: 1.0 if len(names) == 1 else joint.power(name) for name in names}
        row = np.sum([powers[name] * curves[name] for name in names], axis=0)
        (made,) = Curve(row[None], GRID).estimates()
        if not np.isfinite(made.value) or not made.bounded:
            into.open += 1
            continue
        into.off.append(made.value - one.tag)
        into.low.append(made.value - made.low)
        into.high.append(made.high - made.value)
        into.tag.append(one.tag)
        into.error.append(float(joint.tag(one.tag)))
        into.player.append(one.player)
        if len(names) > 1:
            told = agreement(curves, joint)
            into.alarm.append(told is not None and told.alarm)


def halves(cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """The cases of one half of the players, and of the other."""
    of = [(player_id(one.player) or 0) // 7 % 2 for one in cases]
    return [one for one, half in zip(cases, of, strict=True) if half], [
        one for one, half in zip(cases, of, strict=True) if not half
    ]


def bootstrapped(judged: Judged, figure: Any) -> float:
    """The error of a figure, players drawn anew."""
    rng = np.random.default_rng(1)
    names, code = np.unique(judged.player, return_inverse=True)
    drawn = []
    for _ in range(300):
        weight = np.bincount(rng.integers(len(names), size=len(names)), minlength=len(names))[code]
        drawn.append(figure(np.repeat(np.arange(len(code)), weight)))
    return float(np.std(drawn))


def spread_of(folder: Path) -> dict[int, float]:
    """The share of player-events in each band of 200 points."""
    plan, games = json.loads((folder / "plan.json").read_text())["plan"], read(folder / "events.pgn").all()
    bands: dict[int, float] = defaultdict(float)
    for one in plan:
        tags = games[one["first"]].tags
        bands[elo(tags["WhiteElo" if tags["White"] == one["player"] else "BlackElo"]) // 200] += 1 / len(plan)
    return bands


def judge(folders: Sequence[Path], depth: int, evals: bool, fit: Path | None, count: int, like: Path | None) -> None:
    kinds = (RESULTS, EVALS if evals else MOVES, LEARNED)
    cases: list[Case] = []
    for folder in folders:  # who was in an earlier one is not taken again
        before = {case.player for case in cases}
        cases += [case for case in cases_of(folder, kinds, depth, count) if case.player not in before]
    name = "online" if evals else "otb"
    known = joint_from(json.loads(fit.read_text())["joined"][name]) if fit else shipped()[name]
    # Games of the Lichess samples were chosen by their players for analysis: their results scatter by more than chance
    # and tags, all witnesses together by less than results alone would have the tags err. So what holds over the board
    # in the middle of the scale is taken.
    tag_error = TagError() if evals else known.tag
    tag = np.array([one.tag for one in cases])
    moves = sum(kinds[1] in one.curves for one in cases)
    print(
        f"{len(cases)} player-events of {count} games, {len({one.player for one in cases})} players, tags "
        f"{tag.min():.0f} to {tag.max():.0f}; moves ({'evaluations' if evals else f'depth {depth}'}) of {moves}"
    )
    print(f"error of the tags: {', '.join(f'{tag_error(x):.0f} at {x}' for x in (1600, 2000, 2400))}")
    one, other = halves(cases)
    fits = fit_joint(one, tag_error, kinds), fit_joint(other, tag_error, kinds)
    for each in fits:
        print(f"fitted on half: powers {dict(each.powers)}")
    whole = [case for case in cases if all(kind in case.curves for kind in kinds)]
    table(cases, kinds, fits, whole, spread_of(like) if like else {}, count)
    fitted = fit_joint(cases, tag_error, kinds)
    false_alarms(cases, kinds, fitted)
    if fit and count == 1:
        print(f"fitted on all: powers of a single game {dict(fitted.powers)}")
        data = json.loads(fit.read_text())
        data["joined"][name]["alone"] = dict(fitted.powers)
        write(fit, data)
    elif fit:
        print(f"fitted on all: powers {dict(fitted.powers)}, alarms beyond {dict(fitted.alarm)}")
        data = json.loads(fit.read_text())
        if evals:  # an engine's moves online were not measured: those over the board stand for them
            over_the_board = data["joined"]["otb"]["powers"].get(MOVES, 1.0)
            fitted = replace(fitted, powers={**fitted.powers, MOVES: over_the_board})
        data["joined"][name] |= asdict(replace(fitted, usual=known.usual, alone=known.alone))
        write(fit, data)


def false_alarms(cases: Sequence[Case], kinds: Sequence[str], joint: Joint) -> None:
    """How often the test alarms when its limit is set on half of the players and judged on the other half.

    One halving says little: the limit rests on the few drops beyond it. So the mean of many halvings is told; its error
    is that of the share of so many players.
    """
    rng = np.random.default_rng(7)
    print(f"false alarms at {FALSE_ALARMS:.0%}, limits set on half of the players, {HALVINGS} halvings; of theory:")
    for names in heard_together(kinds):
        some = [one for one in cases if all(name in one.curves for name in names)]
        players, code = np.unique([one.player for one in some], return_inverse=True)
        drops, shares = drops_of(some, names, joint), []
        for _ in range(HALVINGS):
            half = (rng.permutation(len(players)) < len(players) / 2)[code]
            shares.append(np.mean(drops[~half] > limit_of(drops[half])))
        mean, of_theory = np.mean(shares), np.mean(drops > Joint().limit(names))
        error = np.sqrt(mean * (1 - mean) / len(players))
        print(f"{called(names):24s} {len(some):5d} events {mean:8.1%} +- {error:.1%} {of_theory:10.1%}")


HALVINGS = 400


def write(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")
    print(f"written: {path}")


def table(
    cases: Sequence[Case],
    kinds: Sequence[str],
    fits: tuple[Joint, Joint],
    whole: Sequence[Case],
    like: Mapping[int, float],
    games: int,
) -> None:
    """Each witness, pair and all three, on the half of the players that the fit has not seen; cases with all three."""
    one, other = halves(whole)
    print(f"of {len(whole)} with all three, held out:")
    head = "witnesses                 bias    SD          95 % half-width  error   holds          false alarms  open"
    print(f"{head}{'  as spread: SD, half-width' * bool(like)}")
    noise = {}
    for size in (1, 2, 3):
        for names in combinations(kinds, size):
            judged = Judged([], [], [], [], [], [], [])
            judge_half(other, names, fits[0], judged)
            judge_half(one, names, fits[1], judged)
            noise[names] = describe(names, judged, like)
    print("with results and learned alone heard:")
    first, second = halves(cases)
    for names in ((RESULTS,), (LEARNED,), (RESULTS, LEARNED)):
        judged = Judged([], [], [], [], [], [], [])
        judge_half(second, names, fits[0], judged)
        judge_half(first, names, fits[1], judged)
        describe(names, judged, like)
    alone, all_three = noise[kinds[:1]], noise[tuple(kinds)]
    print(
        f"without the tags' error: results {alone:.0f}, all three {all_three:.0f}; {games} games say as much as "
        f"{games * (alone / all_three) ** 2:.0f} of a performance rating (which by chance alone would be off by "
        f"{performance_error(games):.0f}; {worth_games(all_three):.0f} games against equals)"
    )


def describe(names: Sequence[str], judged: Judged, like: Mapping[int, float]) -> float:
    off, error = np.array(judged.off), np.array(judged.error)
    low, high = np.array(judged.low), np.array(judged.high)
    holds = np.where(off > 0, off < np.hypot(low, FACTOR * error), -off < np.hypot(high, FACTOR * error))
    half = (low + high) / 2
    spread = bootstrapped(judged, lambda at: off[at].std(ddof=1))
    alarms = f"{np.mean(judged.alarm):12.1%}" if judged.alarm else " " * 12
    share = bootstrapped(judged, lambda at: holds[at].mean())
    own = np.sqrt(((half / FACTOR) ** 2).mean())
    print(
        f"{called(names):24s} {off.mean():+5.0f} {off.std(ddof=1):5.0f} +- {spread:3.0f} {half.mean():12.0f} "
        f"{own:10.0f} {holds.mean():9.1%} +- {share:.1%} {alarms} {judged.open:6d}"
        f"{spread_like(off, half, judged.tag, like)}"
    )
    return float(np.sqrt(max(off.var(ddof=1) - (error**2).mean(), 1.0)))


def spread_like(off: Floats, half: Floats, tag: Sequence[float], like: Mapping[int, float]) -> str:
    """Scatter and half-width as they would be if tags were spread like this."""
    if not like:
        return ""
    band = (np.array(tag) // 200).astype(int)
    weight = np.array([like.get(one, 0.0) for one in band]) / np.bincount(band)[band]
    mean = weight @ off / weight.sum()
    return f"{np.sqrt(weight @ (off - mean) ** 2 / weight.sum()):10.0f} {weight @ half / weight.sum():8.0f}"


def results(folder: Path, fit: Path | None, lichess: bool) -> None:
    cases = [one for one in cases_of(folder, (RESULTS,), 8, GAMES) if RESULTS in one.curves]
    cases = [one for one in cases if has_top(one)]
    rows = rows_of(cases, RESULTS)
    tag, off = np.array([one.tag for one in cases]), tops(rows) - np.array([one.tag for one in cases])
    half = np.array(
        [one.half_width for one in Curve(np.stack([one.curves[RESULTS] for one in cases]), GRID).estimates()]
    )
    error = fit_tag(cases)
    print(f"{len(cases)} player-events of {GAMES} games, {len({one.player for one in cases})} players: results alone")
    print("tag          events  bias   SD    by chance  tag's error   holds")

    def line_of(word: str, here: NDArray[np.bool_]) -> None:
        own, tags = half[here] / FACTOR, error(tag[here])
        holds = np.abs(off[here]) < np.hypot(half[here], FACTOR * tags)
        print(
            f"{word:12s} {here.sum():6d} {off[here].mean():+5.0f} {off[here].std():6.0f} "
            f"{np.sqrt((own**2).mean()):9.0f} {np.sqrt((tags**2).mean()):11.0f} {holds.mean():11.1%}"
        )

    for low in range(int(tag.min() // 200 * 200), int(tag.max()) + 1, 200):
        here = (tag >= low) & (tag < low + 200)
        if here.sum() >= 10:
            line_of(f"{low}-{low + 199}", here)
    line_of("all", np.ones(len(tag), np.bool_))
    print(f"error of tags: {error.error:.0f} at {CENTRE:.0f}, times {np.exp(error.steep):.2f} for 400 points less")
    if fit:
        data = json.loads(fit.read_text())
        data["joined"]["online" if lichess else "otb"]["tag"] = asdict(error)
        write(fit, data)


def pools(archives: Sequence[str], fit: Path | None) -> None:
    """Count who plays where: every player once, by the mean of his ratings in a pool."""
    ratings: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for game in read(*archives):
        tags = game.tags
        pool = pool_of(tags.get("Site", ""), tags.get("Event", ""), tags.get("TimeControl", ""))
        for side in ("White", "Black"):
            if player_id(tags.get(side)) is not None and (own := elo(tags.get(f"{side}Elo", ""))):
                ratings[pool][tags[side]].append(own)
    found = {}
    for pool, of in sorted(ratings.items()):
        means = np.array([np.mean(own) for own in of.values()])
        if len(means) >= FEWEST_PLAYERS:
            found[pool] = {"mean": round(means.mean()), "spread": round(means.std()), "players": len(means)}
            print(f"{pool:20s} {means.mean():6.0f} +- {means.std():4.0f}, {len(means)} players")
    if fit:
        data = json.loads(fit.read_text())
        data["populations"] |= found
        write(fit, data)


FEWEST_PLAYERS = 200
EQUALS = 60  # apart at most


def draws(archive: str, fit: Path | None, lichess: bool) -> None:
    """The share of draws among equals by their rating, and the advantage of White."""
    found = []
    for game in read(archive):
        tags = game.tags
        pool = scale_of(pool_of(tags.get("Site", ""), tags.get("Event", ""), tags.get("TimeControl", "")))
        white, black, points = (
            elo(tags.get("WhiteElo", "")),
            elo(tags.get("BlackElo", "")),
            score_of(tags.get("Result")),
        )
        if white and black and points is not None and abs(white - black) <= EQUALS and (lichess or pool == SLOW):
            found.append(((white + black) / 2, points))
    level, points = np.array(found).T
    for low in range(int(level.min() // 200 * 200), int(level.max()) + 1, 200):
        here = (level >= low) & (level < low + 200)
        if here.sum() >= 200:
            drawn = np.mean(points[here] == 0.5)
            print(f"{low}: {here.sum():6d} games, draws {drawn:.3f}, White {points[here].mean():.3f}")
    steep, share = np.polyfit((level - CENTRE) / UNIT, points == 0.5, 1)
    mean = points.mean()
    usual = {
        "white": round(400 * float(np.log10(mean / (1 - mean)))),
        "draws": round(float(share), 3),
        "steep": round(float(steep), 3),
    }
    print(usual)
    if fit:
        data = json.loads(fit.read_text())
        data["joined"]["online" if lichess else "otb"]["usual"] = usual
        write(fit, data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    step = parser.add_subparsers(dest="step", required=True)
    one = step.add_parser("draw")
    one.add_argument("archives", nargs="+")
    one.add_argument("-o", "--out", type=Path, required=True)
    one.add_argument("--without", nargs="*", default=[])
    one.add_argument("--a-band", type=int, default=14)
    one.add_argument("--everybody", action="store_true")
    one.add_argument("--lichess", action="store_true")
    one.add_argument("--analysed", type=Path)
    one = step.add_parser("analyse")
    one.add_argument("folder", type=Path)
    one.add_argument("--depth", type=int, default=8)
    one = step.add_parser("results")
    one.add_argument("folder", type=Path)
    one.add_argument("--lichess", action="store_true")
    one.add_argument("--fit", type=Path)
    one = step.add_parser("judge")
    one.add_argument("folders", type=Path, nargs="+")
    one.add_argument("--depth", type=int, default=8)
    one.add_argument("--evals", action="store_true")
    one.add_argument("--games", type=int, default=GAMES)
    one.add_argument("--spread", type=Path)
    one.add_argument("--fit", type=Path)
    one = step.add_parser("pools")
    one.add_argument("archives", nargs="+")
    one.add_argument("--fit", type=Path)
    one = step.add_parser("draws")
    one.add_argument("archive")
    one.add_argument("--lichess", action="store_true")
    one.add_argument("--fit", type=Path)
    given = parser.parse_args()
    if given.step == "draw":
        draw(given.archives, given.out, given.without, given.a_band, given.everybody, given.lichess, given.analysed)
    elif given.step == "analyse":
        analyse(given.folder, given.depth)
    elif given.step == "results":
        results(given.folder, given.fit, given.lichess)
    elif given.step == "judge":
        judge(given.folders, given.depth, given.evals, given.fit, given.games, given.spread)
    elif given.step == "pools":
        pools(given.archives, given.fit)
    else:
        draws(given.archive, given.fit, given.lichess)


if __name__ == "__main__":
    main()
