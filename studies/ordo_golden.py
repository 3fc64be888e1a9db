"""Compare `assay results` with runs of Ordo 1.2.6, run by run.

    python studies/ordo_golden.py GOLDEN

GOLDEN holds `inputs/` and, for each run, `out/<id>/` with the command (`cmd`), what it printed (`stdout`, `stderr`),
its exit code (`rc`) and the files it wrote. Each command is run again with `assay results` in place of `ordo`, in a
folder of its own. Compared are the exit code, what is printed (without the steps of the two different algorithms) and
every file, to the last digit. Players with equal ratings may come in another order: in Ordo rounding decides it.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

# Where Ordo is wrong by its own equations or its own manual; for the white advantage the script tells by how much.
ORDO_WRONG = {
    "p-latin1": "Ordo copies Latin-1 bytes into files that others read as UTF-8",
    "s-X": "Ordo stops before the white advantage has settled",
    "s-z400": "Ordo stops before the white advantage has settled (it is not 400/202 times that of s-W)",
    "e-small": "Ordo writes errors of zero without -s, where ours are those of the fit",
    "x-ties": "Ordo stops before the white advantage has settled",
}
# Texts that are meant to be our own: help, version, and the sentences of errors. The exit code must still tell failure.
OWN_WORDS = {"i-h", "i-H", "i-v", "i-unknown", "s-A-bad", "s-F-bad", "s-m-bad", "x-empty", "x-nogames"}

STEPS = re.compile(r"\nConvergence rating calculation.*?\ndone\n", re.DOTALL)


def rerun(folder: Path, command: str) -> subprocess.CompletedProcess[bytes]:
    words = shlex.split(command)[1:]
    program = "from assay.cli.main import main; main()"
    return subprocess.run([sys.executable, "-c", program, "results", *words], cwd=folder, capture_output=True)


def text(data: bytes) -> str:
    return STEPS.sub("\n", data.decode("utf-8", "surrogateescape"))


def without_ranks(content: str) -> list[str]:
    """Lines without the rank, so that equals may trade places."""
    return sorted(re.sub(r"^\s*\d+[ ,)]", "", line) for line in content.splitlines())


def compare(ours: bytes, theirs: bytes) -> str | None:
    """None if the same, a remark if only equals trade places, or else the first line that differs."""
    a, b = text(ours), text(theirs)
    if a == b:
        return None
    if without_ranks(a) == without_ranks(b):
        return "equals in another order"
    left, right = a.splitlines(), b.splitlines()
    for i in range(max(len(left), len(right))):
        one, other = (lines[i] if i < len(lines) else "(nothing)" for lines in (left, right))
        if one != other:
            return f"DIFFERS: ours {one.strip()!r}, Ordo {other.strip()!r}"
    return "DIFFERS: in its last line break"


def check(golden: Path, run: Path) -> tuple[str, bool]:
    name = run.name
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "inputs").symlink_to((golden / "inputs").resolve())
        (folder / "out" / name).mkdir(parents=True)
        done = rerun(folder, (run / "cmd").read_text())
        failed_there = int((run / "rc").read_text()) != 0
        if name in OWN_WORDS:
            same = (done.returncode != 0) == failed_there
            return ("same exit, words of our own" if same else f"DIFFERS: exit {done.returncode}"), same
        remarks = []
        if (done.returncode != 0) != failed_there:
            remarks.append(f"DIFFERS: exit {done.returncode}, Ordo {int((run / 'rc').read_text())}")
        files = {"stdout": done.stdout}
        for file in sorted(run.iterdir()):
            if file.name in ("cmd", "rc", "stdout", "stderr"):
                continue
            written = folder / "out" / name / file.name
            written = written if written.exists() else folder / file.name
            files[file.name] = written.read_bytes() if written.exists() else b""
        for file_name, content in files.items():
            remark = compare(content, (run / file_name).read_bytes())
            if remark:
                remarks.append(f"{file_name}: {remark}")
    agrees = not any("DIFFERS" in remark for remark in remarks)
    return "; ".join(remarks) or "agrees", agrees


def white_points(golden: Path, run: Path) -> str:
    """What Ordo's own numbers expect White to score, beside what White scored: with -W these must be equal."""
    words = shlex.split((run / "cmd").read_text())
    if "-W" not in words or int((run / "rc").read_text()):
        return ""
    printed = (run / "stdout").read_text()
    rating = {m[1].strip(): float(m[2]) for m in re.finditer(r"^ *\d+ (.*?) *: +([\d.]+)", printed, re.MULTILINE)}
    found = re.search(r"^White advantage = ([-\d.]+)", printed, re.MULTILINE)
    if found is None:
        return ""
    advantage = float(found[1])
    scale = float(words[words.index("-z") + 1]) if "-z" in words else 202.0
    tags = re.findall(r'\[(White|Black|Result) "(.*?)"\]', (golden / words[words.index("-p") + 1]).read_text())
    made = expected = 0.0
    for (_, white), (_, black), (_, result) in zip(*[iter(tags)] * 3, strict=True):
        if "-X" in words and result == "1/2-1/2":
            continue
        made += {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}[result]
        gap = rating[white] + advantage - rating[black]
        expected += 1.0 / (1.0 + (0.24 / 0.76) ** (gap / scale))
    return f"; it expects {expected:.2f} points of White, who made {made:g}"


def main() -> int:
    golden = Path(sys.argv[1])
    unexplained = 0
    runs = sorted(path for path in (golden / "out").iterdir() if path.is_dir())
    agreeing = 0
    for run in runs:
        verdict, agrees = check(golden, run)
        agreeing += agrees
        if not agrees and run.name in ORDO_WRONG:
            verdict = f"ORDO IS WRONG: {ORDO_WRONG[run.name]}{white_points(golden, run)} ({verdict})"
        elif not agrees:
            unexplained += 1
        print(f"{run.name:20} {verdict}", flush=True)
    wrong = sum(run.name in ORDO_WRONG for run in runs)
    print(f"\n{len(runs)} runs: {agreeing} agree, Ordo is wrong in {wrong}, {unexplained} differ without a reason.")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
