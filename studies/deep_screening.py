"""Screening by deep choices, on players that the fit has not seen: python studies/deep_screening.py REFERENCE [...].

    --depth 8           of the lists
    --write FILE        the weights and the null that ship (src/assay/data/deep-choice.json); may be there already
    --pictures FOLDER   the field, the QQ plot and the curves of power

REFERENCE is the folder of the reference set with deep-choice.parquet and helpers.parquet (studies/deep_choice.py). The
exponents of the lists are those of the shipped model, which has seen the games of 2006-14 (not those of 2018-19); the
weights of the deep choice are of players held out (four folds), those of helpers of other engines than the one tried.
Printed: how often the deep choice is played and expected; honest sides and events by years and band; how often z passes
4 by games and share of moves when the move played is replaced by the helper's choice in the position of the game, from
move 12 on (the game goes on as it did: new games would have to be analysed); the same for today's z of the list alone.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine.choices import Choices, joined, pawns, rows_of
from assay.moves import reference
from assay.moves.calibration import load
from assay.moves.choice.calibrate import folds_of
from assay.moves.choice.deep import HELPER, HONEST, DeepTaste, Taste, fit_helper, fit_honest
from assay.moves.choice.logit import log_chances
from assay.moves.choice.measures import SIGNS, measure, scores
from assay.moves.choice.model import strength
from assay.moves.choice.ratio import ratios
from assay.moves.deepchoice import rows_of_moves
from assay.moves.evidence import log_policy
from assay.paths import atomic
from assay.policy.chances import shipped
from assay.scales import line_called

Floats = NDArray[np.float64]
FOLDS, DEEP, TAG_ERROR = 4, 16, 70.0
GAMES, TURNS_A_GAME = (1, 3, 9, 27), 27
SHARES = (0.1, 0.2, 0.3, 0.5)
BANDS = ((1200, 1950), (1950, 2350), (2350, 2900))
LINES = {"2006-14": "otb-slow-2006-14", "2018-19": "otb-slow-2015-23"}
EVENTS, FROM_PLY = 2_000, 22
NONE = np.zeros(len(HELPER))


@dataclass(frozen=True)
class Known:
    """Turns whose deep choice is known, with all that is worked out of them."""

    choices: Choices
    elo: Floats
    inner: Floats
    player: NDArray[np.int64]
    line: NDArray[np.object_]
    row: NDArray[np.int64]
    natural: NDArray[np.float32]
    g0: Floats
    g1: Floats

    def chances(self, g0: Floats, g1: Floats, off: float = 0.0) -> Floats:
        inner = strength(self.inner + off)[self.choices.turn]
        return np.exp(log_chances(g0 + inner * g1, self.choices.start, self.choices.turn))


def known(folder: Path, depth: int) -> Known:
    """The turns within three pawns whose deep choice is there."""
    found = reference.read(folder, max(depth, 8))
    choices, turns = found.choices.to_depth(depth), found.turns
    deep = dict(pl.read_parquet(folder / "deep-choice.parquet", columns=["key", "move"]).iter_rows())
    best = np.fmax.reduceat(pawns(choices.codes[:, -1]), choices.start[:-1])
    own = np.array([bytes(key) in deep for key in choices.keys]) & (np.abs(best) <= 3)
    choices, turns = choices.only(own), turns.filter(pl.Series(own))
    row = rows_of_moves(choices, [deep[bytes(key)] for key in choices.keys])
    natural = log_policy(choices, shipped())
    g0, g1 = load(depth=depth).model().exponents(choices, natural)
    elo = turns["elo"].to_numpy().astype(np.float64)
    line = np.array([LINES[name] for name in turns["set"]], object)
    inner = np.array([float(line_called(name).inside(one)) for name, one in zip(line, elo, strict=True)])
    return Known(choices, elo, inner, turns["player"].to_numpy().astype(np.int64), line, row, natural, g0, g1)


def helpers(folder: Path, of: Known) -> dict[str, NDArray[np.int64]]:
    """The rows that other engines choose, -1 where they were not asked, by engine and how long it thought."""
    table = pl.read_parquet(folder / "helpers.parquet")
    out = {}
    for (engine, depth, nodes), some in table.group_by("engine", "depth", "nodes", maintain_order=True):
        choice = dict(some.select("key", "move").iter_rows())
        how = f"{nodes // 1000}k nodes" if nodes else f"depth {depth}"
        out[f"{engine}, {how}"] = rows_of_moves(of.choices, [choice.get(bytes(key)) for key in of.choices.keys])
    return dict(sorted(out.items()))


def helper_taste(of: Known, chosen: list[NDArray[np.int64]]) -> Floats:
    """What several engines choose, all their turns together."""
    parts = []
    for rows in chosen:
        asked = (rows >= 0) & (of.row >= 0)
        flat, _ = rows_of(of.choices.start, asked)
        place = np.full(len(of.choices.moves), -1, np.int64)
        place[flat] = np.arange(len(flat))
        parts.append((of.choices.only(asked), place[of.row[asked]], of.natural[flat], place[rows[asked]]))
    before = np.cumsum([0, *(len(part[0].moves) for part in parts)])[:-1]
    return fit_helper(
        joined([part[0] for part in parts]),
        np.concatenate([part[1] + shift for part, shift in zip(parts, before, strict=True)]),
        np.concatenate([part[2] for part in parts]),
        np.concatenate([part[3] + shift for part, shift in zip(parts, before, strict=True)]),
    )


def held_out(of: Known) -> tuple[Floats, Floats, Taste]:
    """g0 and g1 that know of the deep choice, of players that the weights have not seen; and the weights of all."""
    fold, weight = folds_of(of.player, FOLDS), np.ones(len(of.choices))
    g0, g1 = of.g0.copy(), of.g1.copy()
    whole = fit_honest(of.choices, of.row, of.natural, of.g0, of.g1, of.inner, weight)
    for one in range(FOLDS):
        mine = np.where(fold == one, 0.0, weight)
        taste = fit_honest(of.choices, of.row, of.natural, of.g0, of.g1, of.inner, mine)
        made = DeepTaste(of.choices.depth, DEEP, taste, NONE)
        rows = (fold == one)[of.choices.turn]
        own0, own1 = made.exponents(of.choices, of.row, of.natural, of.g0, of.g1)
        g0[rows], g1[rows] = own0[rows], own1[rows]
    return g0, g1, whole


@dataclass(frozen=True)
class Test:
    """A test as sums over turns: what the moves played score, what honest play would, and its variance.

    `shift` is what an error of the rating adds, `helped` what the helper's choices score.
    """

    told: Floats
    expected: Floats
    variance: Floats
    shift: Floats
    helped: Floats

    def z(self, sums: Floats) -> Floats:
        """The z of events from their sums of off, variance and shift."""
        deviation = np.sqrt(np.where(sums[1] > 0, sums[1], np.nan))
        return sums[0] / deviation / np.hypot(1.0, sums[2] / deviation)

    def of(self, event: NDArray[np.intp], count: int) -> Floats:
        off = self.told - self.expected
        return self.z(np.stack([np.bincount(event, one, count) for one in (off, self.variance, self.shift)]))


def ratio_test(of: Known, own: Floats, higher: Floats, engine: Floats, helper: NDArray[np.int64]) -> Test:
    found = ratios(own, engine, of.choices)
    shift = np.add.reduceat((higher - own) * found.mixed, of.choices.start[:-1])
    helped = found.mixed[np.where(helper >= 0, helper, of.choices.chosen)]
    return Test(found.told, found.expected, found.variance, shift, helped)


def list_test(of: Known, helper: NDArray[np.int64]) -> Test:
    """Today's z, of the list alone, as one sum: the three measures mixed by their weights."""
    scatter = load(depth=of.choices.depth).model().scatter
    scored, own = scores(of.choices), of.chances(of.g0, of.g1)
    sums = measure(scored, own, of.choices)
    deviation = scatter.factors * np.sqrt(np.einsum("nii->i", sums.covariance) / len(of.choices))
    weight = SIGNS * scatter.mix / deviation
    value = scored @ weight
    first = of.choices.start[:-1]
    variance = np.full(len(of.choices), 1.0)
    helped = value[np.where(helper >= 0, helper, of.choices.chosen)]
    # It takes the rating for true.
    return Test(
        value[of.choices.chosen], np.add.reduceat(own * value, first), variance, np.zeros(len(of.choices)), helped
    )


def sides(of: Known, test: Test) -> tuple[Floats, Floats, NDArray[np.object_], Floats]:
    """z of each side, its rating, its line and its turns that tell."""
    _, first, code = np.unique(of.choices.unit, return_index=True, return_inverse=True)
    code = code.reshape(-1)
    tells = np.bincount(code, test.variance > 0, len(first))
    return test.of(code, len(first)), of.elo[first], of.line[first], tells


def events(
    of: Known, test: Test, games: int, share: float, where: NDArray[np.bool_], rng: np.random.Generator
) -> Floats:
    """z of events put together from turns of one band, so many games each; helped at a share of the turns `where`.

    The turns of a band are few, and come round again and again: their own mean is taken from what honest moves score.
    """
    out = []
    band = np.searchsorted([high for _, high in BANDS], of.elo, side="right")
    for one in np.unique(band):
        here = np.flatnonzero((test.variance > 0) & (band == one))
        if len(here) < 100:
            continue
        drawn = here[rng.integers(0, len(here), (EVENTS // len(BANDS), games * TURNS_A_GAME))]
        honest = test.told - test.expected
        honest = honest - honest[here].mean()
        helped = (rng.random(drawn.shape) < share) & where[drawn]
        off = np.where(helped, (test.helped - test.expected)[drawn], honest[drawn])
        out.append(test.z(np.stack([off.sum(axis=1), test.variance[drawn].sum(axis=1), test.shift[drawn].sum(axis=1)])))
    return np.concatenate(out)


def critical(of: Known, own: Floats) -> NDArray[np.bool_]:
    """The fifth of the turns at which most is at stake for a player of the rating: the greatest expected error."""
    loss = np.add.reduceat(own * scores(of.choices)[:, 2], of.choices.start[:-1])
    return np.asarray(loss >= np.quantile(loss, 0.8))


def shrunk(z: Floats) -> tuple[float, float]:
    """The mean of some z's, drawn to 0 by as much as chance may explain; and its error."""
    mean, error = float(z.mean()), float(z.std(ddof=1) / np.sqrt(len(z)))
    return mean * max(0.0, 1 - (error / mean) ** 2) if mean else 0.0, error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    of = known(given.reference, given.depth)
    g0, g1, taste = held_out(of)
    listed, own, higher = of.chances(of.g0, of.g1), of.chances(g0, g1), of.chances(g0, g1, TAG_ERROR)
    has = of.row >= 0
    games = len(np.unique(of.choices.unit // 2))
    print(f"{len(of.choices)} turns of {games} games, {len(np.unique(of.choices.unit))} sides; depth {given.depth}")
    print("band         turns  deep choice played  expected by the list  with the deep choice")
    for low, high in BANDS:
        here = has & (of.elo >= low) & (of.elo < high)
        played = (of.row == of.choices.chosen)[here].mean()
        print(
            f"{low}-{high}  {here.sum():7}  {played:18.3f}  {listed[of.row[here]].mean():20.3f}  "
            f"{own[of.row[here]].mean():20.3f}"
        )
    chosen = of.choices.chosen
    print(
        f"ln p of the move played: list {np.log(listed[chosen]).mean():.4f}, with it {np.log(own[chosen]).mean():.4f}"
    )
    told = [
        np.add.reduceat(p * g**2, of.choices.start[:-1]) - np.add.reduceat(p * g, of.choices.start[:-1]) ** 2
        for p, g in ((listed, of.g1), (own, g1))
    ]
    print(f"ratings: noise of a turn with it / without {np.sqrt(told[0].mean() / told[1].mean()):.3f}, by the curves")
    print(
        "weights: "
        + ", ".join(f"{name} {a:+.2f} {b:+.2f}" for name, a, b in zip(HONEST, taste.a, taste.b, strict=True))
    )
    others = helpers(given.reference, of)
    for name, rows in others.items():
        asked = (rows >= 0) & has
        print(f"{name}: {asked.sum()} turns, the judge's deep choice in {(rows == of.row)[asked].mean():.3f}")
    # What is followed is an engine that thinks: lists of depth 8 are tried, but nothing is learned from them.
    thinking = {name: rows for name, rows in others.items() if "nodes" in name} or others
    everybody = helper_taste(of, list(thinking.values()))
    print("helpers: " + ", ".join(f"{name} {a:+.2f}" for name, a in zip(HELPER, everybody, strict=True)))
    made = DeepTaste(given.depth, DEEP, taste, everybody)
    test = ratio_test(of, own, higher, made.helped(of.choices, of.row, of.natural), of.row)
    z, elo, line, tells = sides(of, test)
    good = np.isfinite(z) & (tells >= 5)
    spread = float(z[good].std(ddof=1))
    print(
        f"\nhonest sides: {good.sum()}, mean {z[good].mean():+.2f} +- {spread / np.sqrt(good.sum()):.2f}, "
        f"SD {spread:.2f}; "
        f"beyond 2: {(z[good] / spread > 2).mean():.3f}, beyond 3: {(z[good] / spread > 3).mean():.3f}"
    )
    null = []
    for name in LINES.values():
        for low, high in BANDS:
            here = good & (line == name) & (elo >= low) & (elo < high)
            if here.sum() < 5:
                continue
            centre, error = shrunk(z[here])
            turns = float(tells[here].mean())
            null.append(
                {
                    "line": name,
                    "low": low,
                    "high": high,
                    "centre": round(centre, 4),
                    "spread": round(spread, 4),
                    "turns": round(turns, 2),
                    "events": int(here.sum()),
                }
            )
            print(
                f"  {name} {low}-{high}: {here.sum()} sides, mean {z[here].mean():+.2f} +- {error:.2f}, SD "
                f"{z[here].std(ddof=1):.2f}; centre {centre:+.2f}"
            )
    rng = np.random.default_rng(1)
    print("\nhonest events of turns of one band: games, mean, SD, beyond 3, beyond 4")
    for count in GAMES:
        found = events(of, test, count, 0.0, has, rng) / spread
        print(
            f"  {count:3}  {found.mean():+.2f}  {found.std(ddof=1):.2f}  "
            f"{(found > 3).mean():.4f}  {(found > 4).mean():.4f}"
        )
    print("\nz > 4 by share (and critical moves only), for " + ", ".join(f"{g} games" for g in GAMES))
    power = {}
    tried = {"the judge's own engine": of.row, **others}
    for name, rows in tried.items():
        rest = [other for key, other in thinking.items() if key.split(",")[0] != name.split(",")[0]]
        q = replace(made, helper=helper_taste(of, rest) if rest else everybody)
        asked = rows >= 0
        if asked.sum() < 200:
            continue
        mine = ratio_test(of, own, higher, q.helped(of.choices, of.row, of.natural), rows)
        mine = replace(mine, variance=np.where(asked, mine.variance, 0.0))
        before = list_test(of, rows)
        before = replace(before, variance=np.where(asked, before.variance, 0.0))
        for label, one, scale in (("deep choice", mine, spread), ("list alone", before, 1.0)):
            for share in (*SHARES, None):
                where = of.choices.ply >= FROM_PLY
                where = where & critical(of, own) if share is None else where
                found = [events(of, one, count, 1.0 if share is None else share, where, rng) for count in GAMES]
                row = [float((each / scale > 4).mean()) for each in found]
                power[name, label, share] = row
                kind = "critical" if share is None else f"{share:.0%}"
                print(f"  {name:32} {label:12} {kind:9}" + "".join(f"{value:8.1%}" for value in row))
    if given.write:
        said = {
            "taste": made.to_json(),
            "engine": "Stockfish 15.1",
            "null": null,
            "turns": len(of.choices),
            "rating_error": TAG_ERROR,
        }
        kept = json.loads(given.write.read_text())["tests"] if given.write.exists() else []
        tests = sorted(
            [*(one for one in kept if one["taste"]["depth"] != given.depth), said],
            key=lambda one: one["taste"]["depth"],
        )
        with atomic(given.write) as part:
            part.write_text(json.dumps({"kind": "assay deep choices", "format": 1, "tests": tests}, indent=1) + "\n")
    if given.pictures:
        draw(given.pictures, z[good] / spread, elo[good], power)


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
    field.set(xlabel="rating", ylabel="z of a side of a game", title=f"Honest sides ({len(z)})", ylim=(-4, 5))
    expected = ndtri((np.arange(len(z)) + 0.5) / len(z))
    normal.plot([-3, 3], [-3, 3], color="#888", lw=0.8)
    normal.plot(expected, np.sort(z), ".", ms=4, color="#3465a4")
    normal.set(xlabel="standard normal", ylabel="z", title="Quantiles")
    figure.savefig(folder / "screening-field.png", dpi=110)
    names = list(dict.fromkeys(name for name, _, _ in power))
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharey=True)
    for axis, label in zip(axes, ("deep choice", "list alone"), strict=True):
        for name in names:
            at = GAMES.index(9)
            axis.plot(
                [100 * share for share in SHARES],
                [100 * power[name, label, share][at] for share in SHARES],
                marker="o",
                ms=3,
                label=name,
            )
        axis.set(xlabel="% of moves helped, nine games", title=label, ylim=(-2, 102))
    axes[0].set_ylabel("% of events with z > 4")
    axes[1].legend(fontsize=7)
    figure.savefig(folder / "screening-power.png", dpi=110)


if __name__ == "__main__":
    main()
