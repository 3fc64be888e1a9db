"""All studies in one run, one after the other, with what each costs; what is there already is not run again.

    python studies/all.py DATA [--out out/validation] [--only NAME ...] [--again] [--list]

DATA is a folder of real games and analyses, by the names that docs/validation.md uses; the reference set is the
repository's own. A study whose files are not in DATA is left out and named. Each writes what it prints to
OUT/NAME.txt, under the command, the version and the CPU seconds of the run; a study whose text is there, of the same
version of the code, is done. Studies that need analyses find them in OUT/analyses (made by the first of them, with
resume). docs/validation.md is written by hand from these texts.
"""

from __future__ import annotations

import argparse
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
REFERENCE = HERE.parent / "reference"


@dataclass(frozen=True)
class Study:
    """A run: its words, in which {data}, {reference} and {work} stand for folders."""

    name: str
    words: str
    before: tuple[str, ...] = ()  # commands whose output it needs; each goes on where it stopped


MARKS = (
    "assay import-analyses {data}/analysis-sf15.1-d10.jsonl.zst --store {work}/marks.db",
    "python studies/analysed_games.py {data}/otb-mileposts-2006-14.pgn.zst {work}/marks.db {work}/marks.pgn",
)
POOLS = (
    "python studies/pool_games.py {data} {work}/pools.pgn",
    "assay analyse {work}/pools.pgn --depth 6 --store {work}/pools.db",
)
EVENTS = (
    "python studies/answer.py draw {data}/otb-all-2010-14.pgn.zst {data}/otb-2018-19.pgn.zst -o {work}/events",
    "python studies/answer.py analyse {work}/events",
)
PERIODS = (
    "python studies/period_games.py {data} {work}/periods.pgn",
    "assay analyse {work}/periods.pgn --store {work}/periods.db",
    *POOLS,
)
MASTERS = (
    "python studies/masters.py pick {data} {work}/masters.pgn",
    "assay analyse {work}/masters.pgn --depth 6 --store {work}/masters.db",
)
LUCKY = (
    "python studies/lucky_results.py pick {data}/otb-all-2010-14.pgn.zst {work}/lucky.pgn",
    "assay analyse {work}/lucky.pgn --depth 6 --store {work}/lucky.db",
)
LICHESS_PLAYERS = (
    "python studies/learned_held.py {data}/lichess-rapid-2022.pgn.zst {data}/lichess-2013-17.pgn.zst"
    " {data}/lichess-leagues.pgn.zst {data}/lichess-rapid-2014-21-evals.pgn.zst -o {work}/lichess-held"
    " --range 600:3000 --players 100",
)
BOARD_PLAYERS = (
    "python studies/learned_held.py {data}/otb-all-2010-14.pgn.zst {data}/otb-all-2006-09.pgn.zst -o {work}/otb-held"
    " --range 1400:2900 --max-plies 160 --players 100",
)
NOISE, MODELS = "studies/learned_noise.py", "src/assay/data/models"
EVERYBODY = "--split all --least 1 --range 600:2999"
STUDIES = (
    Study("choice-8", "studies/choice_model.py {reference} 8"),
    Study("choice-6", "studies/choice_model.py {reference} 6"),
    Study("policy-noise", "studies/policy_noise.py {reference} 6 8"),
    Study("choice-features", "studies/choice_features.py {reference} 8"),
    Study("policy-agents", "studies/policy_agents.py {reference} 6 8"),
    Study("agents", "studies/agents.py {reference}"),
    Study("screening", "studies/screening.py {reference} 8"),
    Study(
        "screening-years", "studies/screening_years.py {reference} {work}/pools.pgn {work}/pools.db --depth 6", POOLS
    ),
    Study(
        "screening-events", "studies/screening_events.py judge {work}/events --depth 8 --reference {reference}", EVENTS
    ),
    Study("deep-screening", "studies/deep_screening.py {reference} --depth 8"),
    Study("phases", "studies/phases.py {reference}"),
    Study(
        "periods",
        "studies/periods.py {reference} {work}/periods.pgn {work}/periods.db {work}/pools.pgn {work}/pools.db",
        PERIODS,
    ),
    Study("masters", "studies/masters.py tell {work}/masters.pgn {work}/masters.db", MASTERS),
    Study("lucky-results", "studies/lucky_results.py tell {work}/lucky.pgn {work}/lucky.db", LUCKY),
    Study("speeds", "studies/speeds.py {data}/fide-lichess-formulas.csv {data}/otb-2024-26-clocks.pgn.zst"),
    Study("review", "studies/review.py {data}/lichess-2026-06.pgn.zst --games 60 --evals"),
    Study("likely-deeper", "studies/likely_deeper.py {reference}"),
    Study("engines", "studies/engines.py"),
    Study("policy-board", "studies/policy.py {data}/analysis-sf15.1-d10.jsonl.zst --pool board"),
    Study("policy-lichess", "studies/policy.py {data}/lichess-2026-06.pgn.zst --pool lichess --band 400"),
    Study("model-2", "studies/model_2_rapid.py {data}/multipv-rapid-2000.jsonl.zst"),
    *(
        Study(f"model-{number}", f"studies/{file}.py {{work}}/marks.pgn {{work}}/marks.db{more}", MARKS)
        for number, file, more in (
            (1, "model_1_published", " 10"),
            (3, "model_3_mileposts", ""),
            (4, "model_4_curves", ""),
            (5, "model_5_recovery", " 1000"),
            (6, "model_6_ties", ""),
            (7, "model_7_scaling", ""),
            (8, "model_8_depths", ""),
        )
    ),
    Study("pools", "studies/pool_lines.py {work}/pools.pgn {work}/pools.db {reference}", POOLS),
    Study("evals", "studies/evals.py {data} --games 30000"),
    Study("clocks", "studies/clocks.py {data}"),
    Study("fide-lichess", "studies/fide_lichess.py {data}"),
    Study("answer", "studies/answer.py judge {work}/events", EVENTS),
    Study("over-time", "studies/over_time.py {data}/otb-all-2006-09.pgn.zst {data}/otb-all-2010-14.pgn.zst"),
    Study("rating-error", "studies/rating_error.py {data}/otb-all-2006-09.pgn.zst {data}/otb-all-2010-14.pgn.zst"),
    Study("planes", "studies/learned_planes.py {data}/lichess-2018-bands.pgn.zst"),
    Study("learned-lichess", f"{NOISE} {MODELS}/lichess {{work}}/lichess-held --games 8000", LICHESS_PLAYERS),
    Study(
        "learned-moves", f"{NOISE} {MODELS}/lichess {{work}}/lichess-held --games 8000 --without evals", LICHESS_PLAYERS
    ),
    Study("learned-board", f"{NOISE} {MODELS}/otb {{work}}/otb-held --range 1700:2799 --games 4000", BOARD_PLAYERS),
    *(
        Study(f"learned-{name}", f"{NOISE} {MODELS}/lichess {{data}}/lichess-{month}.pgn.zst {EVERYBODY}{more}")
        for name, month, more in (
            ("2025-05", "2025-05", " --without evals"),
            ("2026-06", "2026-06", ""),
            ("2026-06-moves", "2026-06", " --without evals"),
        )
    ),
    Study("learned-heads", "studies/learned_heads.py {data}/lichess-rapid-2022.pgn.zst {work}/heads"),
    Study(
        "learned-units",
        "studies/learned_units.py {data}/lichess-rapid-2022.pgn.zst {data}/lichess-2013-17.pgn.zst"
        " {data}/lichess-rapid-2014-21-evals.pgn.zst {data}/lichess-2022-26-mixed.pgn.zst"
        " {data}/lichess-2025-05.pgn.zst {data}/lichess-2026-06.pgn.zst",
    ),
)


def version() -> str:
    """What the code is, by git; `unknown` outside a checkout."""
    found = subprocess.run(
        ["git", "-C", str(HERE), "log", "-1", "--format=%h", "--", "../src", "."], capture_output=True, text=True
    )
    return found.stdout.strip() or "unknown"


def filled(words: str, data: Path, work: Path) -> list[str]:
    """The words of a command, with its folders; studies are run by this Python."""
    told = shlex.split(words.format(data=data, reference=REFERENCE, work=work))
    if told[0] == "assay":
        return told
    told = told[1:] if told[0] == "python" else told
    return [sys.executable, str(HERE.parent / told[0]), *told[1:]]


def lacking(study: Study, data: Path) -> list[str]:
    """The files of DATA that a study names and that are not there."""
    words = " ".join((study.words, *study.before)).split()
    named = [word.removeprefix("{data}/") for word in words if word.startswith("{data}/")]
    return sorted({name for name in named if not (data / name).exists()})


def run(study: Study, data: Path, out: Path, work: Path, code: str) -> str:
    """Run a study, with what it needs before; how it went, in a word."""
    before = [filled(words, data, work) for words in study.before]
    target, part = out / f"{study.name}.txt", out / f"{study.name}.part"
    began, used = time.time(), _cpu()
    with part.open("w", encoding="utf-8") as file:
        for command in [*before, filled(study.words, data, work)]:
            shown = subprocess.DEVNULL if command in before else file
            ended = subprocess.run(command, stdout=shown, cwd=HERE.parent, check=False)
            if ended.returncode:
                return f"failed with {ended.returncode}: {shlex.join(command)}"
    head = f"$ {study.words}\n# version {code}, {_cpu() - used:.0f} s of CPU, {time.time() - began:.0f} s\n\n"
    target.write_text(head + part.read_text(encoding="utf-8"), encoding="utf-8")
    part.unlink()
    return f"{_cpu() - used:.0f} s of CPU"


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def is_done(study: Study, out: Path, code: str) -> bool:
    """Whether the text of this version is there."""
    target = out / f"{study.name}.txt"
    return target.exists() and f"# version {code}," in target.read_text(encoding="utf-8")[:2000]


def main(words: Sequence[str] | None = None) -> int:
    """Run what is asked for; 1 where a study failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=HERE.parent / "out" / "validation")
    parser.add_argument("--only", nargs="+", choices=[study.name for study in STUDIES], metavar="NAME")
    parser.add_argument("--again", action="store_true", help="also those that are done")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    args = parser.parse_args(words)
    data, out, code = args.data.resolve(), args.out.resolve(), version()
    work = out / "analyses"
    work.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    failed = 0
    for study in STUDIES:
        if args.only and study.name not in args.only:
            continue
        if missing := lacking(study, data):
            told = f"left out: {data} has no {', '.join(missing)}"
        elif not args.again and is_done(study, out, code):
            told = "done before"
        elif args.list:
            told = "to be run"
        else:
            print(f"{study.name} ...", end=" ", flush=True)
            told = run(study, data, out, work, code)
            failed += told.startswith("failed")
            print(told, flush=True)
            continue
        print(f"{study.name}: {told}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
