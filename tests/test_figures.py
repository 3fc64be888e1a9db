"""Figures of the documentation that ship with Assay are those of the files that ship: calibrations, lines, powers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src" / "assay" / "data"
MINUS = "\u2212"


def shipped(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def calibration(name: str) -> Any:
    return shipped(f"calibrations/stockfish-{name}.json")


def bare(value: float, digits: int) -> str:
    """A number below one as the pages write it.

    >>> bare(0.8742, 3), bare(1.004, 2)
    ('.874', '1.00')
    """
    return f"{value:.{digits}f}".removeprefix("0")


def signed(value: float) -> str:
    """Whole points with their sign.

    >>> signed(-42.1), signed(3.4)
    ('−42', '+3')
    """
    return f"{value:+.0f}".replace("-", MINUS)


def of_calibrations() -> Iterator[tuple[str, str]]:
    powers = []
    for depth in (6, 8, 10):
        found = calibration(f"15.1-d{depth}")
        values, people = (found["figures"][model] for model in ("engine", "policy"))
        powers.append(found["models"]["policy"]["power"])
        noise = [f"{each['noise']:,.0f} ± {each['noise_error']:.0f}" for each in (values, people)]
        ratio = bare(people["noise"] / values["noise"], 3)
        slope = f"{bare(people['slope'], 2)} ± {people['slope_error']:.2f}"
        yield "validation", f"| {depth} | {noise[0]} | {noise[1]} | {ratio} | {slope} |"
        likely = ", ".join(f"{each['log_likelihood']:.3f}" for each in (values, people))
        first = ", ".join(f"{each['top1']:.1%}" for each in (values, people))
        yield "policy", f"| {depth} | {noise[0]} | {noise[1]} | {ratio} | {likely} | {first} |"
        yield "rating", f"| {values['noise']:,.0f} | {people['noise']:,.0f} |"
        if depth == 8:
            for mark in people["marks"]:
                yield "validation", f"| {mark['elo']} | {signed(mark['offset'])} ± {mark['error']:.0f} |"
            lift = f"{found['models']['policy']['lift']:.0f} Elo at depth 8"
            yield "policy", f"({lift}, {calibration('15.1-d6')['models']['policy']['lift']:.0f} at depth 6)"
    yield "rating", f"({bare(min(powers), 2)} to {bare(max(powers), 2)})"


def of_other_engines() -> Iterator[tuple[str, str]]:
    for depth in (8, 6):
        for engine in ("16", "17.1", "18", "19"):
            for model, title in (("policy", "with the policy"), ("engine", "values alone")):
                found = calibration(f"{engine}-d{depth}")["figures"]["transfer"][model]
                parts = [
                    f"{signed(found[name])} ± {found[f'{name}_error']:.0f}"
                    for name in ("untouched", "untouched_per_400", "apart", "apart_per_400")
                ]
                yield (
                    "validation",
                    f"| {depth} | Stockfish {engine} | {title} | {found['turns']:,} | {' | '.join(parts)} |",
                )


def of_lines() -> Iterator[tuple[str, str]]:
    for line in shipped("lines.json")["lines"][1:]:
        level, both, slope = line["covariance"]
        ends = [(rating - line["middle"]) / 400 for rating in (line["low"], line["middle"], line["high"])]
        errors = ", ".join(f"{math.sqrt(level + 2 * at * both + at * at * slope) / line['slope']:.0f}" for at in ends)
        where = f"{line['middle']:.0f} is {line['inner']:.0f} ± {math.sqrt(level):.0f}"
        steep = f"{bare(line['slope'], 3)} ± {bare(math.sqrt(slope) / 400, 3)}"
        yield "validation", f"{line['low']:.0f}-{line['high']:.0f} | {where} | {steep} | {errors} |"
        if line["tempo"]:
            worth = f"{line['tempo']:.0f} ± {line['tempo_error']:.0f}"
            yield "validation", f"| {worth} | {line['seconds']:.0f} s |"


def of_the_answer() -> Iterator[tuple[str, str]]:
    found = shipped("answer.json")
    board, online, people = found["joined"]["otb"], found["joined"]["online"], found["populations"]
    power = {name: bare(value, 2) for name, value in board["powers"].items()}
    told = f"results {power['results']}, moves {power['moves']}, learned {power['learned']}"
    yield "answer", told
    yield "validation", f"on all {power['results']}, {power['moves']}, {power['learned']}"
    tags = f"err by {board['tag']['error']:.0f} at 2200, {math.exp(board['tag']['steep']):.2f} times as much"
    usual = board["usual"]
    draws = f"a chance of {bare(usual['draws'], 2)} at 2200, {bare(usual['steep'], 2)} more for 400 points more"
    yield "validation", tags
    yield "validation", draws
    yield "validation", f"White is worth {usual['white']}; on Lichess rapid {bare(online['usual']['draws'], 2)}"
    online_powers = [bare(online["powers"][name], 2) for name in ("results", "evals", "learned")]
    yield "validation", "Powers {}, {} (evaluations), {}.".format(*online_powers)
    slow = people["otb-slow"]
    yield "answer", f"counted: {slow['players']:,} players over the board"
    for name, words in (("otb-slow", "over the board"), *((f"lichess-{s}", s) for s in ("bullet", "rapid"))):
        who = people[name]
        yield "validation", f"{words} {who['mean']} ± {who['spread']} ({who['players']:,}"


def of_the_null() -> Iterator[tuple[str, str]]:
    found = shipped("screening.json")
    null = found["null"]
    times = bare(math.exp(null["steep"]), 2)
    yield "validation", f"ratings off by {null['error']:.0f} Elo at 2200 and {times} times that 400 below"
    yield "validation", f"a spread of {null['spread']:.2f} left over"


def of_trainings() -> Iterator[tuple[str, str]]:
    for name in ("lichess", "otb"):
        yield "validation", f"{shipped(f'models/{name}/run.json')['settings']['results']['training_games']:,}"


FIGURES = [
    case
    for told in (of_calibrations, of_other_engines, of_lines, of_the_answer, of_the_null, of_trainings)
    for case in told()
]


@pytest.mark.parametrize(("page", "figure"), FIGURES)
def test_a_figure_of_a_page_is_that_of_what_ships(page: str, figure: str) -> None:
    text = " ".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").split())
    assert " ".join(figure.split()) in text
