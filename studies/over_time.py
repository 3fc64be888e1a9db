"""Ratings over time foretell the next month's games: log-loss and calibration beside static ratings and the tags.

    python studies/over_time.py GAMES... [--months 6] [--beside MODULES] [--games 50000]

For each of the last months, everything before it is rated and the month's games are foretold: wins, draws and losses,
the errors of the ratings being averaged over. `--beside` names a folder that holds the package trueskillthroughtime:
then both rate the same games (of those who played most), side by side, and the times are told.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.optimize import minimize

from assay.games import read
from assay.games.periods import times_of
from assay.results import rate_table
from assay.results.encounters import tabulate
from assay.results.expectancy import LOGISTIC_SCALE, expectancy, slope, win_draw_loss
from assay.results.history import rate_history

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True)
class Played:
    """Games as arrays, in any order."""

    white: Any
    black: Any
    outcome: Any
    month: Any
    white_elo: Any
    black_elo: Any
    months: Any

    def where(self, chosen: Any) -> Played:
        columns = (self.white, self.black, self.outcome, self.month, self.white_elo, self.black_elo)
        return Played(*(column[chosen] for column in columns), self.months)


def load(paths: list[str]) -> Played:
    """The games with a result and a month."""
    found = read(paths).outcomes(tags=("Date", "Event", "Site", "WhiteElo", "BlackElo"))
    times = times_of(found, "month")
    use = found.counted & (times.of_game >= 0)

    def elo(tag: str) -> Any:
        codes, values = found.tags[tag]
        return np.array([*(float(v) if v.strip().isdecimal() else np.nan for v in values), np.nan])[codes][use]

    return Played(
        found.white[use], found.black[use], found.outcome[use], times.of_game[use], elo("WhiteElo"), elo("BlackElo"),
        times.months,
    )  # fmt: skip


def averaged(gap: Any, variance: Any, beta: float, equal: float) -> Any:
    """Chances of loss, draw and win, averaged over what is not known of the difference."""
    total = np.zeros((len(gap), 3))
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        win, draw, loss = win_draw_loss(expectancy(gap + node * np.sqrt(variance), beta), equal)
        total += weight * np.stack((loss, draw, win), axis=1)
    return total


def over_time(before: Played, after: Played, known: dict[str, float]) -> tuple[Any, dict[str, float]]:
    history = rate_history(before.white, before.black, before.outcome, before.month, before.months, **known)
    who, rating, error = history.at(float(after.months[after.month[0]]))
    places = np.full(max(after.white.max(), after.black.max(), who.max()) + 1, -1)
    places[who] = np.arange(len(who))
    a, b = places[after.white], places[after.black]
    gap = rating[a] - rating[b] + history.white_advantage
    found = averaged(gap, error[a] ** 2 + error[b] ** 2, slope(), history.draw_rate)
    return found, {"walk": history.walk, "newcomers": history.newcomers}


def static(before: Played, after: Played, spread: float) -> Any:
    """One rating for all times, with the same spread of players as a prior."""
    players = int(max(before.white.max(), before.black.max(), after.white.max(), after.black.max())) + 1
    names = [str(number) for number in range(players)]
    table = tabulate(before.white, before.black, before.outcome, players)
    fitted = rate_table(names, table, prior=spread, likelihood=True)
    rating, error = fitted.ratings, np.nan_to_num(fitted.deviation)
    gap = rating[after.white] - rating[after.black] + fitted.white_advantage
    variance = error[after.white] ** 2 + error[after.black] ** 2
    return averaged(gap, variance, slope(), fitted.draw_rate)


def by_tags(before: Played, after: Played) -> Any:
    """The Elo in the tags; scale, White's advantage and draw rate are those that fit the games before best."""
    there = before.where(np.isfinite(before.white_elo) & np.isfinite(before.black_elo))
    there = there.where(np.arange(len(there.white)) >= len(there.white) - 200_000)
    gap = there.white_elo - there.black_elo

    def loss(x: Any) -> float:
        chances = np.stack(win_draw_loss(expectancy(gap * x[0] + x[1], slope(LOGISTIC_SCALE)), x[2])[::-1], axis=1)
        return -float(np.mean(np.log(np.maximum(chances[np.arange(len(gap)), there.outcome], 1e-12))))

    best = minimize(loss, [1.0, 35.0, 0.4], method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-6}).x
    ahead = (after.white_elo - after.black_elo) * best[0] + best[1]
    return np.stack(win_draw_loss(expectancy(ahead, slope(LOGISTIC_SCALE)), best[2])[::-1], axis=1)


def through_time(module: Any, before: Played, after: Played, walk: float, newcomers: float) -> Any:
    """TrueSkill through time with the same variances; its unit is about 202 Elo."""
    unit = 202.0
    drawn = float(np.mean(before.outcome == 1))
    order = np.argsort(before.month, kind="stable")
    history = module.History(
        composition=[[[int(a)], [int(b)]] for a, b in zip(before.white[order], before.black[order], strict=True)],
        results=[[float(o), float(2 - o)] for o in before.outcome[order]],
        times=before.months[before.month[order]].tolist(),
        sigma=newcomers / unit, beta=1.0, gamma=walk / unit, p_draw=drawn,
    )  # fmt: skip
    history.convergence(epsilon=0.01, iterations=10, verbose=False)
    curves = history.learning_curves()
    margin = np.sqrt(2.0) * NormalDist().inv_cdf((drawn + 1.0) / 2.0)
    month = float(after.months[after.month[0]])
    rows = []
    for a, b in zip(after.white.tolist(), after.black.tolist(), strict=True):
        (t1, one), (t2, two) = curves[a][-1], curves[b][-1]
        spread = one.sigma**2 + two.sigma**2 + (walk / unit) ** 2 * (2 * month - t1 - t2) + 2.0
        ahead = NormalDist(one.mu - two.mu, spread**0.5)
        loss = ahead.cdf(-margin)
        win = 1.0 - ahead.cdf(margin)
        rows.append((loss, 1.0 - loss - win, win))
    return np.array(rows)


def calibration(chances: Any, outcome: Any) -> tuple[float, float]:
    """The slope of the score against what was foretold (1 is right), and the largest gap in tenths of it."""
    p = np.clip(chances[:, 2] + chances[:, 1] / 2.0, 1e-6, 1 - 1e-6)
    score, logit = outcome / 2.0, np.log(p / (1 - p))

    def loss(x: Any) -> float:
        q = 1.0 / (1.0 + np.exp(-(x[0] + x[1] * logit)))
        return -float(np.mean(score * np.log(q) + (1 - score) * np.log(1 - q)))

    tenth = np.minimum((10 * p).astype(int), 9)
    gaps = [abs(float((score - p)[tenth == k].mean())) for k in range(10) if np.sum(tenth == k) > 200]
    return float(minimize(loss, [0.0, 1.0]).x[1]), max(gaps, default=0.0)


def known_before(before: Played, after: Played) -> Any:
    """Games of the month whose two players have played before and have an Elo in the tag."""
    there = np.zeros(int(max(before.white.max(), before.black.max(), after.white.max(), after.black.max())) + 1, bool)
    there[before.white] = there[before.black] = True
    return there[after.white] & there[after.black] & np.isfinite(after.white_elo) & np.isfinite(after.black_elo)


def show(title: str, found: dict[str, list[Any]], outcomes: list[Any]) -> None:
    outcome = np.concatenate(outcomes)
    print(f"\n{title}: {len(outcome):,} games\n\n| | log-loss | slope | largest gap |\n|---|---|---|---|")
    for name, parts in found.items():
        chances = np.concatenate(parts)
        loss = -np.log(np.maximum(chances[np.arange(len(outcome)), outcome], 1e-12))
        line, gap = calibration(chances, outcome)
        print(f"| {name} | {loss.mean():.4f} | {line:.3f} | {gap:.3f} |", flush=True)


def months_study(games: Played, months: int) -> None:
    known: dict[str, float] = {}
    found: dict[str, list[Any]] = {name: [] for name in ("over time", "static", "Elo in the tags")}
    outcomes = []
    last = int(games.month.max())
    for month in range(last - months + 1, last + 1):
        before, after = games.where(games.month < month), games.where(games.month == month)
        after = after.where(known_before(before, after))
        chances, known = over_time(before, after, known)
        found["over time"].append(chances)
        found["static"].append(static(before, after, known["newcomers"]))
        found["Elo in the tags"].append(by_tags(before, after))
        outcomes.append(after.outcome)
    print(f"walk {known['walk']:.2f} Elo a month, newcomers {known['newcomers']:.0f}")
    show(f"The last {months} months, each foretold by all before", found, outcomes)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    return work(), time.process_time() - begin


def beside_study(games: Played, count: int, module: Any) -> None:
    """The same games rated by both: those among the players with the most games of the last years."""
    last = int(games.month.max())
    played = np.bincount(np.concatenate((games.white, games.black)))
    busiest = np.argsort(-played)
    few = 50
    while True:
        some = np.zeros(len(played), bool)
        some[busiest[:few]] = True
        chosen = games.where(some[games.white] & some[games.black])
        if len(chosen.white) >= count or few >= len(played):
            break
        few = int(few * 1.25)
    month = last - 5
    before, after = chosen.where(chosen.month < month), chosen.where(chosen.month >= month)
    after = after.where(known_before(before, after))
    (chances, known), fitted = timed(lambda: over_time(before, after, {}))
    (chances, _), ours = timed(lambda: over_time(before, after, known))
    theirs_chances, theirs = timed(lambda: through_time(module, before, after, **known))
    print(
        f"\n{len(before.white):,} games of {few:,} players, processor seconds: {ours:.2f} with the variances given, "
        f"{fitted:.2f} with them fitted; TrueSkill through time {theirs:.1f} with them given, {theirs / ours:.0f} times"
    )
    found = {"over time": [chances], "TrueSkill through time": [theirs_chances]}
    found["Elo in the tags"] = [by_tags(before, after)]
    outcomes = [after.outcome]
    show("The half year after them", found, outcomes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="GAMES")
    parser.add_argument("--months", type=int, default=6)
    parser.add_argument("--beside", type=Path, help="folder with the package trueskillthroughtime")
    parser.add_argument("--games", dest="count", type=int, default=50_000, help="how many games both rate")
    args = parser.parse_args()
    games = load(args.files)
    if args.beside:
        sys.path.insert(0, str(args.beside))
        other = importlib.import_module("trueskillthroughtime")

        beside_study(games, args.count, other)
    if args.months:
        months_study(games, args.months)


if __name__ == "__main__":
    main()
