"""Make anew what ships and rests on the network of what people play, or on the rules of the choice model.

    python studies/remake.py DATA [--out out/validation] [--only NAME ...] [--after NAME] [--again] [--list]

DATA is the folder of studies/all.py. A calibration names the network it was made with and refuses another, so after a
training (`assay policy export RUN -o src/assay/data/policy.npz`) all of this is to be made, in this order: calibrations
of 15.1 from the reference set, those of other engines from their values of the turns that come with Assay, lines of
pools, screening, powers of the answer, the sample's report, the pages that print figures. No other engine is asked but
Stockfish 15.1, and that only for the likely moves, which are the network's choice: all else is in `reference` and
`studies/analyses`. What each prints goes to OUT/remade, under its command; a step whose text is there, of the same
network and the same code, is done, so that a run that was cut short goes on. The tests tell what is left to be written
by hand.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from all import EVENTS, HERE, POOLS, Before, is_done, told_by, version
from assay.policy.chances import shipped

ENGINES = Before("engines", 1, ("assay import-analyses {kept}/engines-d8.parquet --store {work}/engines.db",))
MARKS = Before(
    "marks",
    0.5,
    (
        "assay import-analyses {data}/analysis-sf15.1-d10.jsonl.zst --store {work}/marks.db",
        "python studies/analysed_games.py {data}/otb-mileposts-2006-14.pgn.zst {work}/marks.db {work}/marks.pgn",
    ),
)
# Drawn for their results and for how tags are spread, so that nothing is to be analysed.
MORE = Before(
    "more",
    5,
    tuple(
        f"python studies/answer.py draw {archives} -o {{work}}/{folder} {more}"
        for folder, archives, more in (
            (
                "more",
                "{data}/otb-all-2010-14.pgn.zst {data}/otb-2018-19.pgn.zst",
                "--without {data}/reference-games.pgn.zst --a-band 90",
            ),
            ("every-event", "{data}/otb-all-2010-14.pgn.zst", "--a-band 100000 --everybody"),
        )
    ),
)
RAPID = Before(
    "rapid",
    2,
    ("python studies/answer.py draw {data}/lichess-rapid-2022.pgn.zst --lichess -o {work}/rapid --a-band 60",),
)
CODE = ("../src", ":(exclude)../src/assay/data", "*.py")  # what ships is made here, and no reason to make it again
LIKELY = "python tools/likely_calibration.py"
BOARD = "{shipped}/calibrations/stockfish-15.1"


@dataclass(frozen=True)
class Step:
    """Something that ships: the commands that make it, what they need, and some minutes of CPU."""

    name: str
    minutes: float
    commands: tuple[str, ...]
    before: tuple[Before, ...] = ()


STEPS = (
    *(
        Step(f"depth-{depth}", 2, (f"assay calibrate {{reference}} --depth {depth} -o {BOARD}-d{depth}.json",))
        for depth in (8, 6)
    ),
    Step(
        "depth-10",
        2,
        (f"assay calibrate {{work}}/marks.pgn --store {{work}}/marks.db --depth 10 -o {BOARD}-d10.json",),
        (MARKS,),
    ),
    Step(
        "likely",
        10,
        (
            f"{LIKELY} --reference {{reference}} -o {{work}}/likely.json",
            f"{LIKELY} --base {{work}}/likely.json --store {{work}}/likely.db -o {BOARD}-likely-8.json",
        ),
    ),
    Step("engines", 20, ("python studies/engines.py {work}/engines.db --write {shipped}/calibrations",), (ENGINES,)),
    Step(
        "lines",
        30,
        ("python studies/pool_lines.py {work}/pools.pgn {work}/pools.db {reference} --write {shipped}/lines.json",),
        (POOLS,),
    ),
    Step(
        "deep-choice",
        10,
        tuple(
            f"python studies/deep_screening.py {{reference}} --depth {depth} --write {{shipped}}/deep-choice.json{more}"
            for depth, more in ((8, " --pictures docs/images"), (6, ""))
        ),
    ),
    Step(
        "screening",
        5,
        (
            "python studies/screening_events.py judge {work}/events --depth 8 --reference {reference}"
            " --write {shipped}/screening.json",
        ),
        (EVENTS,),
    ),
    Step(
        "answer",
        10,
        (
            "python studies/answer.py judge {work}/events {work}/more --spread {work}/every-event"
            " --fit {shipped}/answer.json",
            "python studies/answer.py judge {work}/events {work}/more --games 1 --fit {shipped}/answer.json",
            "python studies/answer.py judge {work}/rapid --evals --fit {shipped}/answer.json",
        ),
        (EVENTS, MORE, RAPID),
    ),
    Step("sample", 2, ("python tools/sample_report.py --store {work}/sample.db",)),
    Step("pages", 5, ("python tools/tutorials.py --write",)),
)


def heading() -> str:
    """By what something was made."""
    return f"# network {shipped().identity}, version {version(*CODE)}"


def main(words: Sequence[str] | None = None) -> int:
    """Make what is asked for, and stop where something fails; 1 then."""
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out" / "validation", help="as of studies/all.py")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME")
    parser.add_argument("--after", choices=names, metavar="NAME", help="leave out all up to this one")
    parser.add_argument("--again", action="store_true", help="also those that are done")
    parser.add_argument("--list", action="store_true", help="say what would be made")
    args = parser.parse_args(words)
    data, work = args.data.resolve(), args.out.resolve() / "analyses"
    out = args.out.resolve() / "remade"
    for folder in (work, out):
        folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    head = heading()
    for step in STEPS[names.index(args.after) + 1 if args.after else 0 :]:
        if args.only and step.name not in args.only:
            continue
        target = out / f"{step.name}.txt"
        if not args.again and is_done(target, head):
            print(f"{step.name}: done before", flush=True)
        elif args.list:
            print(f"{step.name}: to be made, some {step.minutes:g} minutes of CPU")
        else:
            print(f"{step.name} ...", end=" ", flush=True)
            told = told_by(step.commands, step.before, target, head, data, work)
            print(told, flush=True)
            if told.startswith("failed"):
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
