"""All studies in one run, one after the other, with what each costs; what is there already is not run again.

    python studies/all.py DATA [--out out/validation] [--only NAME ...] [--most MINUTES] [--again] [--list]

DATA is a folder of real games and analyses, by the names that docs/validation.md uses; the reference set is the
repository's own. A study whose files are not in DATA is left out and named. The cheapest come first; with `--most`
those that cost more CPU minutes, with what they need, are left out and named too. Each writes what it prints to
OUT/NAME.txt, under the command, the version and the CPU seconds of the run; a study whose text is there, of the same
version of the code, is done. Studies that need analyses find them in OUT/analyses (made by the first of them, with
resume). docs/validation.md is written by hand from these texts.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
REFERENCE, KEPT = HERE.parent / "reference", HERE / "analyses"
SHIPPED = HERE.parent / "src" / "assay" / "data"


@dataclass(frozen=True)
class Before:
    """Commands whose output studies need, run once; each goes on where it stopped."""

    name: str
    minutes: float  # of CPU, all of them
    words: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """A run: its words, in which {data}, {reference}, {kept}, {shipped} and {work} stand for folders; what it costs."""

    name: str
    minutes: float  # of CPU, without what it needs
    words: str
    before: Before | None = None

    @property
    def cost(self) -> float:
        return self.minutes + (self.before.minutes if self.before else 0)


POOLS = Before(
    "pools",
    5,
    (
        "python studies/pool_games.py {data} {work}/pools.pgn",
        "assay import-analyses {kept}/pools-d6.parquet {kept}/months-d6.parquet --store {work}/pools.db",
        "python studies/pool_values.py {work}/pools.pgn {work}/pools.db",
    ),
)
EVENTS = Before(
    "events",
    2,
    (
        "assay import-analyses {kept}/events-d8.parquet --store {work}/events/store.db",
        "python studies/answer.py draw {data}/otb-all-2010-14.pgn.zst {data}/otb-2018-19.pgn.zst -o {work}/events"
        " --without {data}/reference-games.pgn.zst --analysed {work}/events/store.db",
        "python studies/answer.py analyse {work}/events",
    ),
)
PERIODS = Before(
    "periods",
    POOLS.minutes + 1,
    (
        "python studies/period_games.py {data} {work}/periods.pgn",
        "assay import-analyses {kept}/periods-d8.parquet --store {work}/periods.db",
        "assay analyse {work}/periods.pgn --store {work}/periods.db",
        *POOLS.words,
    ),
)
MASTERS = Before(
    "masters",
    20,
    (
        "python studies/masters.py pick {data} {work}/masters.pgn",
        "assay analyse {work}/masters.pgn --depth 6 --store {work}/masters.db",
    ),
)
LUCKY = Before(
    "lucky",
    20,
    (
        "python studies/lucky_results.py pick {data}/otb-all-2006-09.pgn.zst {work}/lucky.pgn",
        "assay analyse {work}/lucky.pgn --depth 6 --store {work}/lucky.db",
    ),
)
LICHESS_PLAYERS = Before(
    "lichess-players",
    15,
    (
        "python studies/learned_held.py {data}/lichess-rapid-2022.pgn.zst {data}/lichess-2013-17.pgn.zst"
        " {data}/lichess-leagues.pgn.zst {data}/lichess-rapid-2014-21-evals.pgn.zst -o {work}/lichess-held"
        " --range 600:3000 --players 100",
    ),
)
BOARD_PLAYERS = Before(
    "board-players",
    30,
    (
        "python studies/learned_held.py {data}/otb-all-2010-14.pgn.zst {data}/otb-all-2006-09.pgn.zst"
        " -o {work}/otb-held --range 1400:2900 --max-plies 160 --players 100",
    ),
)
NOISE, MODELS = "studies/learned_noise.py", "src/assay/data/models"
EVERYBODY = "--split all --least 1 --range 600:2999"
ARCHIVES = "{data}/otb-all-2006-09.pgn.zst {data}/otb-all-2010-14.pgn.zst"
FITTED_ON = ("rapid-2022", "2013-17", "rapid-2014-21-evals", "2022-26-mixed", "2025-05", "2026-06")
STUDIES = sorted(
    (
        Study("fide-lichess", 0.1, "studies/fide_lichess.py {data}"),
        Study("speeds", 0.1, "studies/speeds.py {data}/fide-lichess-formulas.csv {data}/otb-2024-26-clocks.pgn.zst"),
        *(
            Study(f"model-{number}", minutes, f"studies/{file}.py {{reference}}{more}")
            for number, minutes, file, more in (
                (1, 0.5, "model_1_published", ""),
                (3, 1, "model_3_mileposts", ""),
                (4, 2, "model_4_curves", ""),
                (5, 10, "model_5_recovery", " 400"),
                (6, 1, "model_6_ties", ""),
                (7, 0.5, "model_7_scaling", ""),
                (8, 2, "model_8_depths", ""),
            )
        ),
        Study("model-2", 2, "studies/model_2_rapid.py {data}/multipv-rapid-2000.jsonl.zst"),
        Study("choice-8", 5, "studies/choice_model.py {reference} 8"),
        Study("choice-6", 4, "studies/choice_model.py {reference} 6"),
        Study("choice-features", 60, "studies/choice_features.py {reference} 8"),
        Study("policy-noise", 5, "studies/policy_noise.py {reference} 6 8"),
        Study("policy-agents", 10, "studies/policy_agents.py {reference} 6 8"),
        Study("policy-board", 2, "studies/policy.py {data}/analysis-sf15.1-d10.jsonl.zst --pool board"),
        Study("policy-lichess", 2, "studies/policy.py {data}/lichess-2026-06.pgn.zst --pool lichess --band 400"),
        Study(
            "first-moves", 1, "studies/first_moves.py {data}/lichess-2026-06.pgn.zst {data}/otb-2018-19.pgn.zst --judge"
        ),
        Study("agents", 3, "studies/agents.py {reference}"),
        Study("screening", 3, "studies/screening.py {reference} 8"),
        Study(
            "screening-years",
            3,
            "studies/screening_years.py {reference} {work}/pools.pgn {work}/pools.db --depth 6",
            POOLS,
        ),
        Study(
            "screening-events",
            5,
            "studies/screening_events.py judge {work}/events --depth 8 --reference {reference}",
            EVENTS,
        ),
        Study("deep-screening", 10, "studies/deep_screening.py {reference} --depth 8"),
        Study("phases", 2, "studies/phases.py {reference}"),
        Study(
            "periods",
            5,
            "studies/periods.py {reference} {work}/periods.pgn {work}/periods.db {work}/pools.pgn {work}/pools.db",
            PERIODS,
        ),
        Study("masters", 1, "studies/masters.py tell {work}/masters.pgn {work}/masters.db", MASTERS),
        Study("lucky-results", 1, "studies/lucky_results.py tell {work}/lucky.pgn {work}/lucky.db", LUCKY),
        Study("review", 3, "studies/review.py {data}/lichess-2026-06.pgn.zst --games 60 --evals"),
        Study("marks", 1, "studies/marks.py {reference} --store {work}/looks.db"),
        Study("likely-deeper", 20, "studies/likely_deeper.py {reference}"),
        Study("engines", 5, "studies/engines.py"),
        Study("pools", 1, "studies/pool_lines.py {work}/pools.pgn {work}/pools.db {reference}", POOLS),
        Study("evals", 10, "studies/evals.py {data} --games 30000"),
        Study("clocks", 5, "studies/clocks.py {data}"),
        Study("answer", 10, "studies/answer.py judge {work}/events", EVENTS),
        Study("halves", 3, "studies/compare.py halves {work}/events", EVENTS),
        Study("pairs", 3, "studies/compare.py pairs {work}/events", EVENTS),
        Study("over-time", 10, f"studies/over_time.py {ARCHIVES}"),
        Study("rating-error", 5, f"studies/rating_error.py {ARCHIVES}"),
        Study("planes", 10, "studies/learned_planes.py {data}/lichess-2018-bands.pgn.zst"),
        Study("learned-lichess", 10, f"{NOISE} {MODELS}/lichess {{work}}/lichess-held --games 8000", LICHESS_PLAYERS),
        Study(
            "learned-moves",
            10,
            f"{NOISE} {MODELS}/lichess {{work}}/lichess-held --games 8000 --without evals",
            LICHESS_PLAYERS,
        ),
        Study(
            "learned-board", 10, f"{NOISE} {MODELS}/otb {{work}}/otb-held --range 1700:2799 --games 4000", BOARD_PLAYERS
        ),
        *(
            Study(f"learned-{name}", 1, f"{NOISE} {MODELS}/lichess {{data}}/lichess-{month}.pgn.zst {EVERYBODY}{more}")
            for name, month, more in (
                ("2025-05", "2025-05", " --without evals"),
                ("2026-06", "2026-06", ""),
                ("2026-06-moves", "2026-06", " --without evals"),
            )
        ),
        Study("learned-heads", 60, "studies/learned_heads.py {data}/lichess-rapid-2022.pgn.zst {work}/heads"),
        Study(
            "learned-units",
            20,
            f"studies/learned_units.py {' '.join(f'{{data}}/lichess-{name}.pgn.zst' for name in FITTED_ON)}",
        ),
    ),
    key=lambda study: study.cost,
)


def version(*where: str) -> str:
    """What the code is, by git's last commit to these paths; `unknown` outside a checkout."""
    found = subprocess.run(
        ["git", "-C", str(HERE), "log", "-1", "--format=%h", "--", *(where or ("../src", "."))],
        capture_output=True,
        text=True,
    )
    return found.stdout.strip() or "unknown"


def filled(words: str, data: Path, work: Path) -> list[str]:
    """The words of a command, with its folders; studies and Assay itself are run by this Python."""
    told = shlex.split(words.format(data=data, reference=REFERENCE, kept=KEPT, shipped=SHIPPED, work=work))
    if told[0] == "assay":
        return [sys.executable, "-c", "from assay.cli.main import main; main()", *told[1:]]
    told = told[1:] if told[0] == "python" else told
    return [sys.executable, str(HERE.parent / told[0]), *told[1:]]


def lacking(study: Study, data: Path) -> list[str]:
    """The files of DATA that a study names and that are not there."""
    words = " ".join((study.words, *(study.before.words if study.before else ()))).split()
    named = [word.removeprefix("{data}/") for word in words if word.startswith("{data}/")]
    return sorted({name for name in named if not (data / name).exists()})


def prepared(before: Before, data: Path, work: Path) -> str:
    """Run what studies need, once; what went wrong, if anything did."""
    ready, told = work / f"{before.name}.ready", "\n".join(before.words)
    if ready.exists() and ready.read_text(encoding="utf-8") == told:
        return ""
    for words in before.words:
        command = filled(words, data, work)
        if ended := subprocess.run(command, stdout=subprocess.DEVNULL, cwd=HERE.parent, check=False).returncode:
            return f"failed with {ended}: {shlex.join(command)}"
    ready.write_text(told, encoding="utf-8")
    return ""


def told_by(commands: Sequence[str], before: Sequence[Before], target: Path, head: str, data: Path, work: Path) -> str:
    """Run commands, what they need before them, and keep what they print under the head; how it went, in a word."""
    for needed in before:
        if failed := prepared(needed, data, work):
            return failed
    part = target.with_suffix(".part")
    began, used = time.time(), cpu()
    with part.open("w", encoding="utf-8") as file:
        for words in commands:
            file.write(f"$ {words}\n")
            file.flush()
            command = filled(words, data, work)
            if ended := subprocess.run(command, stdout=file, cwd=HERE.parent, check=False).returncode:
                return f"failed with {ended}: {shlex.join(command)}"
    told = f"{cpu() - used:.0f} s of CPU, {time.time() - began:.0f} s"
    target.write_text(f"{head}\n# {told}\n\n{part.read_text(encoding='utf-8')}", encoding="utf-8")
    part.unlink()
    return told


def cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def is_done(target: Path, head: str) -> bool:
    """Whether the text is there, and of this head."""
    return target.exists() and target.read_text(encoding="utf-8").startswith(f"{head}\n")


def main(words: Sequence[str] | None = None) -> int:
    """Run what is asked for; 1 where a study failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out" / "validation")
    parser.add_argument("--only", nargs="+", choices=[study.name for study in STUDIES], metavar="NAME")
    parser.add_argument("--most", type=float, default=math.inf, metavar="MINUTES", help="of CPU, for a study")
    parser.add_argument("--again", action="store_true", help="also those that are done")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    args = parser.parse_args(words)
    data, out, head = args.data.resolve(), args.out.resolve(), f"# version {version()}"
    work = out / "analyses"
    work.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    failed = 0
    for study in STUDIES:
        if args.only and study.name not in args.only:
            continue
        if missing := lacking(study, data):
            told = f"left out: {data} has no {', '.join(missing)}"
        elif not args.again and is_done(out / f"{study.name}.txt", head):
            told = "done before"
        elif study.cost > args.most:
            told = f"left out: some {study.cost:g} minutes of CPU"
        elif args.list:
            told = f"to be run, some {study.cost:g} minutes of CPU"
        else:
            print(f"{study.name} ...", end=" ", flush=True)
            needed = (study.before,) if study.before else ()
            told = told_by((study.words,), needed, out / f"{study.name}.txt", head, data, work)
            failed += told.startswith("failed")
            print(told, flush=True)
            continue
        print(f"{study.name}: {told}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
