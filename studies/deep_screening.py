"""Screening by deep choices, on players that the fit has not seen: python studies/deep_screening.py REFERENCE [...].

    --depth 8           of the lists
    --write FILE        the weights and the null that ship (src/assay/data/deep-choice.json); may be there already
    --pictures FOLDER   the field, the QQ plot and the curves of power

REFERENCE is the folder of the reference set with deep-choice.parquet and helpers.parquet (studies/deep_choice.py). The
exponents of the lists are those of the shipped model, which has seen the games of 2006-14 (not those of 2018-19); the
weights of the deep choice are of players held out (four folds), those of helpers of other engines than the one tried.
Printed: how often the deep choice is played and expected, by band and by how steady it is; honest sides and players by
years and band; how often z passes 4 by games and share of moves when the move played is replaced by the helper's choice
in the position of the game, from move 12 on (the game goes on as it did: new games would have to be analysed); the same
for the z of the list alone, with what the other engines choose beside the deep choice, and for a judge who knows in
advance what the helper would play at every turn: no test can be better. Ratings are off in these events by as much as
in those of real players, anew in each.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine.choices import Choices, joined, pawns, rows_of
from assay.moves import reference
from assay.moves.calibration import load
from assay.moves.choice.calibrate import folds_of
from assay.moves.choice.deep import DeepChoices, DeepTaste, Taste, fit_helper, fit_honest, names
from assay.moves.choice.measures import SIGNS, measure, scores
from assay.moves.choice.model import log_chances, strength
from assay.moves.choice.ratio import best, ratios
from assay.moves.deepchoice import rows_of_moves
from assay.moves.evidence import log_policy
from assay.moves.field import HonestNull, NullBand, shipped_null
from assay.paths import atomic
from assay.policy.chances import shipped
from assay.scales import line_called

Floats = NDArray[np.float64]
FOLDS, DEEP = 4, 16
GAMES, TURNS_A_GAME = (1, 3, 9, 27), 25  # turns at which no move is obvious, counted over the reference set
SHARES = (0.1, 0.2, 0.3, 0.5)
BANDS = ((1200, 1950), (1950, 2350), (2350, 2900))
LINES = {"2006-14": "otb-slow-2006-14", "2018-19": "otb-slow-2015-23"}
HONEST_EVENTS, EVENTS, FROM_PLY, LEAST, LEAST_TURNS, LEAST_ASKED = 12_000, 2_000, 22, 3, 40, 180
OWN = "the judge's own engine"
THOUGHT = "150k nodes"  # of the engines that are asked beside the deep choice; help may think longer
Rows: TypeAlias = NDArray[np.int64]
Lessons: TypeAlias = Sequence[tuple[Rows, Sequence[Rows]]]


@dataclass(frozen=True)
class Known:
    """Turns whose deep choice is known, with all that is worked out of them."""

    choices: Choices
    elo: Floats
    inner: Floats
    slope: Floats
    player: NDArray[np.int64]
    line: NDArray[np.object_]
    deep: DeepChoices
    natural: NDArray[np.float32]
    g0: Floats
    g1: Floats

    def chances(self, g0: Floats, g1: Floats) -> Floats:
        inner = strength(self.inner)[self.choices.turn]
        return np.exp(log_chances(g0 + inner * g1, self.choices.start, self.choices.turn))

    def only(self, keep: NDArray[np.bool_], others: Sequence[Rows] = ()) -> Known:
        """Some turns alone, with what further engines choose there."""
        rows, _ = rows_of(self.choices.start, keep)
        moved = self.moved(keep)
        return Known(
            choices=self.choices.only(keep),
            elo=self.elo[keep],
            inner=self.inner[keep],
            slope=self.slope[keep],
            player=self.player[keep],
            line=self.line[keep],
            deep=DeepChoices(moved(self.deep.row), self.deep.stays[keep], tuple(map(moved, others))),
            natural=self.natural[rows],
            g0=self.g0[rows],
            g1=self.g1[rows],
        )

    def moved(self, keep: NDArray[np.bool_]) -> Callable[[Rows], Rows]:
        """What turns rows of one move a turn into those of some turns alone."""
        rows, _ = rows_of(self.choices.start, keep)
        place = np.full(len(self.choices.moves) + 1, -1, np.int64)  # the last is that of rows that are not known
        place[rows] = np.arange(len(rows))
        return lambda row: place[row[keep]]

    def score(self, g1: Floats) -> Floats:
        """The slope of the log chance of every move over the rating, but for what is the same for all of a turn."""
        step = strength(np.array([2201.0])) - strength(np.array([2200.0]))
        return np.asarray(g1 * (step * self.slope)[self.choices.turn])


def known(folder: Path, depth: int) -> Known:
    """The turns within three pawns whose deep choice is there, with the depths at which it was the first."""
    found = reference.read(folder, max(depth, 8))
    choices, turns = found.choices.to_depth(depth), found.turns
    table = pl.read_parquet(folder / "deep-choice.parquet", columns=["key", "move", "stays"]).drop_nulls()
    deep = {key: (move, stays) for key, move, stays in table.iter_rows()}
    best = np.fmax.reduceat(pawns(choices.codes[:, -1]), choices.start[:-1])
    own = np.array([bytes(key) in deep for key in choices.keys]) & (np.abs(best) <= 3)
    choices, turns = choices.only(own), turns.filter(pl.Series(own))
    said = [deep[bytes(key)] for key in choices.keys]
    row = rows_of_moves(choices, [move for move, _ in said])
    natural = log_policy(choices, shipped())
    g0, g1 = load(depth=depth).model().exponents(choices, natural)
    elo = turns["elo"].to_numpy().astype(np.float64)
    line = np.array([LINES[name] for name in turns["set"]], object)
    lines = [line_called(name) for name in line]
    inner = np.array([float(of.inside(one)) for of, one in zip(lines, elo, strict=True)])
    slope = np.array([of.slope for of in lines])
    player = turns["player"].to_numpy().astype(np.int64)
    first = DeepChoices(row, np.array([stays for _, stays in said], np.uint32))
    return Known(choices, elo, inner, slope, player, line, first, natural, g0, g1)


def helpers(folder: Path, of: Known) -> dict[str, Rows]:
    """The rows that other engines choose, -1 where they were not asked, by engine and how long it thought."""
    table = pl.read_parquet(folder / "helpers.parquet").with_columns(pl.col("engine").str.strip_suffix(" WASM"))
    out = {}
    for (engine, depth, nodes), some in table.group_by("engine", "depth", "nodes", maintain_order=True):
        choice = dict(some.select("key", "move").iter_rows())
        how = f"{nodes // 1000}k nodes" if nodes else f"depth {depth}"
        out[f"{engine}, {how}"] = rows_of_moves(of.choices, [choice.get(bytes(key)) for key in of.choices.keys])
    return dict(sorted(out.items()))


def engine_of(name: str) -> str:
    return name.split(",")[0]


def helper_taste(of: Known, lessons: Lessons) -> Floats:
    """What engines choose, given the deep choice and what others choose: all lessons together."""
    parts, chosen = [], []
    for rows, others in lessons:
        asked = np.all([each >= 0 for each in (rows, of.deep.row, *others)], axis=0)
        parts.append(of.only(asked, others))
        chosen.append(of.moved(asked)(rows))
    before = np.cumsum([0, *(len(part.choices.moves) for part in parts)])[:-1]

    def together(each: Sequence[Rows]) -> Rows:
        return np.concatenate([row + shift for row, shift in zip(each, before, strict=True)])

    others = tuple(map(together, zip(*(part.deep.others for part in parts), strict=True)))
    stays = np.concatenate([part.deep.stays for part in parts])
    deep = DeepChoices(together([part.deep.row for part in parts]), stays, others)
    return fit_helper(joined([part.choices for part in parts]), deep, together(chosen))


def lessons_of(thinking: Mapping[str, Rows], votes: bool) -> Lessons:
    """What to learn from: each engine's choices, beside those of all the others."""
    return [
        (rows, [other for key, other in thinking.items() if votes and key != name]) for name, rows in thinking.items()
    ]


def held_out(of: Known) -> tuple[Floats, Floats, Taste]:
    """g0 and g1 that know of the deep choice, of players that the weights have not seen; and the weights of all."""
    fold, weight = folds_of(of.player, FOLDS), np.ones(len(of.choices))
    g0, g1 = of.g0.copy(), of.g1.copy()
    whole = fit_honest(of.choices, of.deep, of.natural, of.g0, of.g1, of.inner, weight)
    for one in range(FOLDS):
        mine = np.where(fold == one, 0.0, weight)
        taste = fit_honest(of.choices, of.deep, of.natural, of.g0, of.g1, of.inner, mine)
        made = DeepTaste(of.choices.depth, DEEP, taste, np.empty(0))
        rows = (fold == one)[of.choices.turn]
        own0, own1 = made.exponents(of.choices, of.deep, of.natural, of.g0, of.g1)
        g0[rows], g1[rows] = own0[rows], own1[rows]
    return g0, g1, whole


@dataclass(frozen=True)
class Test:
    """A test as sums over turns: what the moves played and the helper's choices score (ratio and slope), its moments.

    All are of each guess whose engine is followed. Turns of which `tells` is not true do not count.
    """

    honest: Floats
    helped: Floats
    moments: Floats
    between: Floats
    tells: NDArray[np.bool_]


@dataclass(frozen=True)
class Judge:
    """All that judges by the deep choices, and by what further engines choose there; `own` is of players held out."""

    of: Known
    own: Floats
    g1: Floats
    made: DeepTaste

    @cached_property
    def engines(self) -> Floats:
        return self.made.helped(self.of.choices, self.of.deep)

    def test(self, helper: Rows, engines: Floats | None = None) -> Test:
        """The test as sums; `helper` has the rows that the helper plays, -1 where that is not known."""
        choices = self.of.choices
        found = ratios(self.own, self.engines if engines is None else engines, self.of.score(self.g1), choices)
        rows = np.where(helper >= 0, helper, choices.chosen)
        return Test(found.told(choices.chosen), found.told(rows), found.moments, found.between, found.counts)

    def knowing(self, helper: Rows) -> Test:
        """The test of somebody who knows what the helper would play."""
        return self.test(helper, DeepChoices(helper, self.of.deep.stays).marks(len(self.own))[:, None])


def judge_of(of: Known, lessons: Lessons) -> Judge:
    """A judge who has learned from these turns how honest players choose, and from the lessons how engines do."""
    g0, g1, taste = held_out(of)
    return Judge(of, of.chances(g0, g1), g1, DeepTaste(of.choices.depth, DEEP, taste, helper_taste(of, lessons)))


def judge_beside(of: Known, engines: Mapping[str, Rows], asked: NDArray[np.bool_]) -> Judge:
    """A judge by what these engines choose as well, of the turns at which all were asked."""
    moved = of.moved(asked)
    lessons = lessons_of({name: moved(rows) for name, rows in engines.items()}, votes=True)
    return judge_of(of.only(asked, list(engines.values())), lessons)


def list_test(of: Known, helper: Rows) -> Test:
    """Today's z, of the list alone, as one sum: the three measures mixed by their weights."""
    scatter = load(depth=of.choices.depth).model().scatter
    scored, own = scores(of.choices), of.chances(of.g0, of.g1)
    sums = measure(scored, own, of.choices)
    deviation = scatter.factors * np.sqrt(np.einsum("nii->i", sums.covariance) / len(of.choices))
    weight = SIGNS * scatter.mix / deviation
    first, none = of.choices.start[:-1], np.zeros(len(of.choices))
    value = scored @ weight
    value = value - np.add.reduceat(own * value, first)[of.choices.turn]
    # Ratings that are off shift it, and nothing can be weighed against that: it is a measure of strength itself.
    shared = np.add.reduceat(own * value * of.score(of.g1), first)
    moments = np.stack([np.ones(len(of.choices)), shared] + [none] * 7, axis=1)[:, None]
    rows = np.where(helper >= 0, helper, of.choices.chosen)
    told, helped = (np.stack([value[each], none], axis=1)[:, None] for each in (of.choices.chosen, rows))
    return Test(told, helped, moments, moments[:, :, :1], np.ones(len(of.choices), np.bool_))


def z_of(test: Test, code: NDArray[np.integer], error: Floats) -> tuple[Floats, Floats]:
    """z of each group of turns, and how many turns tell."""
    groups = int(code.max()) + 1

    def sums(values: Floats) -> Floats:
        flat = values.reshape(len(values), -1)
        each = [np.bincount(code, column * test.tells, groups) for column in flat.T]
        return np.stack(each, axis=1).reshape(groups, *values.shape[1:])

    tells = np.bincount(code, test.tells, groups)
    off = np.bincount(code, error * test.tells, groups) / np.maximum(tells, 1)
    return best(sums(test.honest), sums(test.moments), sums(test.between), off), tells


def band_of(elo: Floats) -> NDArray[np.intp]:
    return np.searchsorted([high for _, high in BANDS], elo, side="right")


def events(
    of: Known, test: Test, null: HonestNull, games: int, share: float, where: NDArray[np.bool_], seed: int
) -> Floats:
    """z of events put together from turns of one band, so many games each; helped at a share of the turns `where`.

    The turns of a band are few, and come round again and again: the mean of honest moves is taken from all scores.
    The rating of each event is off by its error.
    """
    out, band, rng = [], band_of(of.elo), np.random.default_rng(seed)
    for one in np.unique(band):
        here = np.flatnonzero(test.tells & (band == one))
        if len(here) < LEAST_TURNS:
            continue
        drawn = rng.integers(0, len(here), ((EVENTS if share else HONEST_EVENTS) // len(BANDS), games * TURNS_A_GAME))
        helped = (rng.random(drawn.shape) < share) & where[here][drawn]
        # How often each turn occurs in each event, helped and not, does for all sums.
        own, by_help = (occurring(drawn, mask, len(here)) for mask in (~helped, helped))
        mean = test.honest[here].mean(axis=0)
        told = summed(own, test.honest[here] - mean) + summed(by_help, test.helped[here] - mean)
        moments, between = (summed(own + by_help, each[here]) for each in (test.moments, test.between))
        error = np.array([null.rating_error(elo) for elo in of.elo[here][drawn].mean(axis=1)])
        told += (rng.standard_normal(len(told)) * error)[:, None, None] * moments[..., 1:3]
        out.append(best(told, moments, between, error))
    return np.concatenate(out)


def occurring(drawn: NDArray[np.int64], mask: NDArray[np.bool_], turns: int) -> Floats:
    """How often each of some turns occurs in each event (a row), where the mask is true."""
    place = np.arange(len(drawn))[:, None] * turns + drawn
    return np.bincount(place[mask], minlength=len(drawn) * turns).reshape(len(drawn), turns).astype(np.float64)


def summed(times: Floats, values: Floats) -> Floats:
    """Sums of values of turns, by how often each occurs."""
    return np.asarray((times @ values.reshape(len(values), -1)).reshape(len(times), *values.shape[1:]))


def critical(of: Known, own: Floats) -> NDArray[np.bool_]:
    """The fifth of the turns at which most is at stake for a player of the rating: the greatest expected error."""
    loss = np.add.reduceat(own * scores(of.choices)[:, 2], of.choices.start[:-1])
    return np.asarray(loss >= np.quantile(loss, 0.8))


def shrunk(z: Floats) -> tuple[float, float]:
    """The mean of some z's, drawn to 0 by as much as chance may explain; and its error."""
    mean, error = float(z.mean()), float(z.std(ddof=1) / np.sqrt(len(z)))
    return mean * max(0.0, 1 - (error / mean) ** 2) if mean else 0.0, error


STEADY = (("1-2", 0, 2), ("3-5", 2, 5), ("6-7", 5, 7), ("all", 7, 8))


def told_of_choices(of: Known, own: Floats, listed: Floats) -> None:
    """How often the deep choice is played, and what is expected; ratings with it and without."""
    has, row = of.deep.row >= 0, of.deep.row
    steady = of.deep.steady()
    kinds = [(f"{low}-{high}", (of.elo >= low) & (of.elo < high)) for low, high in BANDS]
    kinds += [
        (f"first at {name} of the last 8 depths", (steady > low / 8) & (steady <= high / 8))
        for name, low, high in STEADY
    ]
    print("                                     turns  deep choice played  expected by the list  with the deep choice")
    for name, here in kinds:
        here = here & has
        if here.any():
            played = (row == of.choices.chosen)[here].mean()
            before, after = listed[row[here]].mean(), own[row[here]].mean()
            print(f"{name:36} {here.sum():6}  {played:18.3f}  {before:20.3f}  {after:20.3f}")


def honest_null(of: Known, test: Test, told: Callable[[str], None] = print) -> tuple[HonestNull, Floats, Floats]:
    """The null of the test from honest players (all turns of one in the same years), their z's and ratings."""
    error = np.array([shipped_null().rating_error(elo) for elo in of.elo])
    whose = of.player * 2 + (of.line == LINES["2006-14"])
    _, first, code = np.unique(whose, return_index=True, return_inverse=True)
    z, tells = z_of(test, code.reshape(-1), error)
    elo, line = of.elo[first], of.line[first]
    good = np.isfinite(z) & (tells >= LEAST)
    left = z.copy()
    bands = []
    for name in LINES.values():
        for low, high in BANDS:
            here = good & (line == name) & (elo >= low) & (elo < high)
            if here.sum() < 10:
                continue
            centre, off = shrunk(z[here])
            turns = float(tells[here].mean())
            left[here] -= centre * np.sqrt(tells[here] / turns)
            bands.append(NullBand(name, low, high, round(centre, 4), round(turns, 2), int(here.sum())))
            said = f"mean {z[here].mean():+.2f} +- {off:.2f}, SD {z[here].std(ddof=1):.2f}; centre {centre:+.2f}"
            told(f"  {name} {low}-{high}: {here.sum()} players, {said}")
    # Who has more turns counts for more: it is events of many turns that are to be judged.
    spread = max(1.0, float(np.sqrt(np.average(left[good] ** 2, weights=tells[good]))))
    base = shipped_null()
    null = HonestNull(base.error, base.steep, spread, tuple(bands))
    # Turns of many players put together as events scatter a little more than players where chances are less exact.
    spread = round(max(spread, float(events(of, test, null, 9, 0.0, test.tells, 2).std(ddof=1))), 4)
    return replace(null, spread=spread), left[good] / spread, elo[good]


def power_of(
    alone: Judge, null: HonestNull, several: tuple[Judge, HonestNull], others: Mapping[str, Rows]
) -> dict[tuple[str, str, float | None], list[float]]:
    """How often z passes 4, by helper, test and share (None: critical moves only), for each number of games.

    `several` judges by the choices of all engines that think.
    """
    of, power = alone.of, {}
    thinking = {name: rows for name, rows in others.items() if name.endswith(THOUGHT)}
    asked = np.all([rows >= 0 for rows in thinking.values()], axis=0)
    flat, moved = rows_of(of.choices.start, asked)[0], of.moved(asked)
    panels = {tuple(thinking): several}

    def beside(names: tuple[str, ...]) -> tuple[Judge, HonestNull]:
        """Who judges by the choices of these engines, too, and what honest players are like to him."""
        if names not in panels:
            made = judge_beside(of, {name: thinking[name] for name in names}, asked)
            panels[names] = made, honest_null(made.of, made.test(made.of.deep.row), silent)[0]
        return panels[names]

    for name, rows in {OWN: of.deep.row, **others}.items():
        # How other engines choose is learned from engines that are not tried.
        rest = {key: other for key, other in thinking.items() if engine_of(key) != engine_of(name)}
        if (asked & (rows >= 0)).sum() < LEAST_ASKED:
            continue
        some, helper = of.only(asked), moved(rows)
        unseen = replace(alone.made, helper=helper_taste(of, lessons_of(rest, votes=False)))
        held = Judge(some, alone.own[flat], alone.g1[flat], unseen)
        further, wider = beside(tuple(rest))
        tests = {
            "deep choice": (held.test(helper), null.spread),
            "with others": (further.test(helper), wider.spread),
            "list alone": (list_test(some, helper), 1.0),
        }
        thinks = "nodes" in name
        if thinks:
            tests["it among them"] = several[0].test(helper), several[1].spread
        if thinks or name == OWN:
            tests["choice known"] = held.knowing(helper), 1.0
        for label, (one, scale) in tests.items():
            one = replace(one, tells=one.tells & (helper >= 0))
            for share in (*SHARES, None):
                where = some.choices.ply >= FROM_PLY
                where = where & critical(some, held.own) if share is None else where
                found = [events(some, one, null, count, share or 1.0, where, 1) for count in GAMES]
                power[name, label, share] = [float((each / scale > 4).mean()) for each in found]
                kind = "critical" if share is None else f"{share:.0%}"
                print(f"  {name:28} {label:13} {kind:9}" + "".join(f"{one:8.1%}" for one in power[name, label, share]))
    return power


def silent(line: str) -> None:
    """For what is not to be printed."""


def told_of_null(judge: Judge, null: HonestNull) -> None:
    """Honest events put together from turns of one band, by this judge."""
    print("honest events of turns of one band: games, mean, SD, beyond 3, beyond 4.5")
    test = judge.test(judge.of.deep.row)
    for count in GAMES:
        found = events(judge.of, test, null, count, 0.0, judge.of.deep.row >= 0, 2) / null.spread
        tails = "  ".join(f"{(found > bound).mean():.4f}" for bound in (3, 4.5))
        print(f"  {count:3}  {found.mean():+.2f}  {found.std(ddof=1):.2f}  {tails}")


def told_of_fewer(judge: Judge, null: HonestNull) -> None:
    """Honest players by the weights and the null that ship, where fewer engines were asked."""
    of, made = judge.of, judge.made
    for count in range(1, len(of.deep.others) + 1):
        every = []
        for others in combinations(of.deep.others, count):
            fewer = replace(of, deep=replace(of.deep, others=others))
            g0, g1 = made.exponents(of.choices, fewer.deep, of.natural, of.g0, of.g1)
            own = Judge(fewer, of.chances(g0, g1), g1, made)
            found, z, _ = honest_null(fewer, own.test(of.deep.row), silent)
            every.append((z.mean(), z.std(ddof=1) * found.spread / null.spread))
        mean, spread = np.mean(every, axis=0)
        print(f"  {count} asked: mean {mean:+.2f}, SD {spread:.2f} by the spread that ships")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    of = known(given.reference, given.depth)
    others = helpers(given.reference, of)
    thinking = {name: rows for name, rows in others.items() if name.endswith(THOUGHT)}
    # What is followed is an engine that thinks: lists of depth 8 are tried, but nothing is learned from them.
    alone = judge_of(of, lessons_of(thinking, votes=False))
    listed, own = of.chances(of.g0, of.g1), alone.own
    games = len(np.unique(of.choices.unit // 2))
    print(f"{len(of.choices)} turns of {games} games, {len(np.unique(of.player))} players; depth {given.depth}")
    told_of_choices(of, own, listed)
    told_of_gain(of, listed, own, alone.g1)
    for name, rows in others.items():
        asked = (rows >= 0) & (of.deep.row >= 0)
        print(f"{name}: {asked.sum()} turns, the judge's deep choice in {(rows == of.deep.row)[asked].mean():.3f}")
    told_of_engines(of, thinking)
    print("\nhonest players, all turns of one together")
    null, z, elo = honest_null(of, alone.test(of.deep.row))
    print(f"  {len(z)}: spread {null.spread}; then beyond 2: {(z > 2).mean():.3f}, beyond 3: {(z > 3).sum()}")
    told_of_null(alone, null)

    asked = np.all([rows >= 0 for rows in thinking.values()], axis=0)
    several = judge_beside(of, thinking, asked)
    print(f"\nwith what {len(thinking)} further engines choose: {asked.sum()} turns; honest players")
    told_of_gain(several.of, listed[rows_of(of.choices.start, asked)[0]], several.own, several.g1)
    wider, of_several, _ = honest_null(several.of, several.test(several.of.deep.row))
    print(f"  {len(of_several)}: spread {wider.spread}; then beyond 3: {(of_several > 3).sum()}")
    told_of_fewer(several, wider)
    told_of_null(several, wider)
    for judge in (alone, several):
        of_honest, of_helper = names(judge.made.votes)
        weights = zip(of_honest, judge.made.honest.a, judge.made.honest.b, strict=True)
        print("weights: " + ", ".join(f"{name} {a:+.2f} {b:+.2f}" for name, a, b in weights))
        print("helpers: " + ", ".join(f"{name} {a:+.2f}" for name, a in zip(of_helper, judge.made.helper, strict=True)))

    print("\nz > 4 by share (and critical moves only), for " + ", ".join(f"{g} games" for g in GAMES))
    power = power_of(alone, null, (several, wider), others)
    if given.write:
        write(given.write, [(alone, null), (several, wider)])
    if given.pictures:
        draw(given.pictures, z, elo, power)


def told_of_gain(of: Known, listed: Floats, own: Floats, g1: Floats) -> None:
    """What the deep choice tells of honest moves, and of ratings."""
    chosen, first = of.choices.chosen, of.choices.start[:-1]
    gain = np.log(own[chosen]) - np.log(listed[chosen])
    print(f"ln p of the move played: {gain.mean():+.4f} +- {gain.std() / np.sqrt(len(gain)):.4f} by the deep choice")
    told = [
        np.add.reduceat(p * g**2, first) - np.add.reduceat(p * g, first) ** 2 for p, g in ((listed, of.g1), (own, g1))
    ]
    print(f"ratings: noise of a turn with it / without {np.sqrt(told[0].mean() / told[1].mean()):.3f}, by the curves")


def told_of_engines(of: Known, thinking: Mapping[str, Rows]) -> None:
    """How often engines that think choose alike."""
    steady, same = of.deep.steady(), np.array([rows == of.deep.row for rows in thinking.values()])
    asked = np.array([rows >= 0 for rows in thinking.values()])
    for name, low, high in STEADY:
        here = asked & (steady > low / 8) & (steady <= high / 8)
        print(f"  first at {name} of the last 8 depths: theirs, too, in {same[here].mean():.3f} of {here.sum()}")
    for name, rows in thinking.items():
        rest = [of.deep.row, *(other for key, other in thinking.items() if key != name)]
        here = np.all([each >= 0 for each in (rows, *rest)], axis=0)
        alike = here & np.all([each == rest[0] for each in rest], axis=0)
        among = np.any([each == rows for each in rest], axis=0)
        print(
            f"  {name}: the others agree in {alike[here].mean():.3f} of {here.sum()}, it with them in "
            f"{(rows == rest[0])[alike].mean():.3f} of these; what one of them plays in {among[here].mean():.3f}"
        )


def write(file: Path, judges: Sequence[tuple[Judge, HonestNull]]) -> None:
    """Put the tests for lists of this depth into the file, beside those of others."""
    tests = json.loads(file.read_text())["tests"] if file.exists() else []
    for judge, null in judges:
        of, taste = judge.of, judge.made.to_json()
        games = len(np.unique(of.choices.unit // 2))
        said = {
            "taste": taste,
            "engine": "Stockfish 15.1",
            "null": null.to_json(),
            "turns": len(of.choices),
            "games": games,
        }
        same = ("depth", "votes")
        tests = [one for one in tests if any(one["taste"].get(key) != taste[key] for key in same)] + [said]
    tests.sort(key=lambda one: (one["taste"]["depth"], one["taste"]["votes"]))
    with atomic(file) as part:
        part.write_text(json.dumps({"kind": "assay deep choices", "format": 3, "tests": tests}, indent=1) + "\n")


def draw(folder: Path, z: Floats, elo: Floats, power: dict[tuple[str, str, float | None], list[float]]) -> None:
    """The field, the QQ plot and the curves of power."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from scipy.special import ndtri

    plt.rcParams.update({"font.size": 9, "svg.hashsalt": "assay"})
    folder.mkdir(parents=True, exist_ok=True)
    figure, (field, normal) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    field.scatter(elo, z, s=10, color="#3465a4")
    field.axhline(0, color="#888", lw=0.8)
    field.axhline(2.75, color="#c4a000", lw=0.8, ls="--")
    field.axhline(4, color="#a40000", lw=0.8, ls="--")
    field.set(xlabel="rating", ylabel="z of a player's turns", title=f"Honest players ({len(z)})", ylim=(-4, 5))
    expected = ndtri((np.arange(len(z)) + 0.5) / len(z))
    normal.plot([-3, 3], [-3, 3], color="#888", lw=0.8)
    normal.plot(expected, np.sort(z), ".", ms=4, color="#3465a4")
    normal.set(xlabel="standard normal", ylabel="z", title="Quantiles")
    figure.savefig(folder / "screening-field.png", dpi=110)
    tried = [name for name in dict.fromkeys(name for name, _, _ in power) if name == OWN or name.endswith(THOUGHT)]
    panels = {
        "list alone": "the list alone",
        "deep choice": "the deep choice",
        "with others": "with further engines",
        "it among them": "its engine among three",
        "choice known": "its choices known",
    }
    figure, axes = plt.subplots(1, len(panels), figsize=(10, 3), layout="constrained", sharey=True)
    for axis, (label, title) in zip(axes, panels.items(), strict=True):
        for number, name in enumerate(tried):
            if (name, label, SHARES[0]) in power:
                drawn = [100 * power[name, label, share][GAMES.index(9)] for share in SHARES]
                axis.plot([100 * share for share in SHARES], drawn, marker="o", ms=3, color=f"C{number}", label=name)
        axis.set(xlabel="% of moves helped", title=title, ylim=(-2, 102))
    axes[0].set_ylabel("% of nine games with z > 4")
    axes[0].legend(fontsize=7, loc="upper left")
    figure.savefig(folder / "screening-power.png", dpi=110)


if __name__ == "__main__":
    main()
