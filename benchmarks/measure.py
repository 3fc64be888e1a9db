"""A measurement as data, and how time and memory are taken: what every benchmark shares."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.table import render

ASSAY = [sys.executable, "-c", "from assay.cli.main import main; main()"]
NOT_THERE = "not on PATH"
KB_OR_BYTES = 1024**2 if sys.platform == "darwin" else 1024  # of getrusage in a MB
# The peak memory that the system tells of a process includes that of the process which started it, so a small one does.
LAUNCHER = [
    sys.executable,
    "-IS",
    "-c",
    """
import json, os, sys, time
began = time.perf_counter()
child = os.fork()
if not child:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - began
print(json.dumps((os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss)))
""",
]


@dataclass(frozen=True)
class Measurement:
    """One line of a benchmark: what Assay reaches, what the alternative does on the same input, what was aimed for.

    >>> Measurement("fit", 0.4, "s", "plain loop", 150.0, target=1.5, wanted=300, less=True).met
    True
    """

    job: str
    value: float
    unit: str
    alternative: str = ""
    other: float | None = None  # what the alternative reaches, in the same unit; None if it could not be run
    target: float | None = None  # for the value
    wanted: float | None = None  # how many times better than the alternative
    less: bool = False  # whether less is better

    @property
    def ratio(self) -> float | None:
        """How many times better than the alternative."""
        if not self.other:
            return None
        return self.other / self.value if self.less else self.value / self.other

    @property
    def met(self) -> bool | None:
        """Whether the targets are reached; None without one, or where the alternative is missing."""
        reached = []
        if self.target is not None:
            reached.append(self.value <= self.target if self.less else self.value >= self.target)
        if self.wanted is not None and self.ratio is not None:
            reached.append(self.ratio >= self.wanted)
        return all(reached) if reached else None

    def row(self) -> dict[str, str]:
        """The line as it is printed."""
        targets = []
        if self.target is not None:
            targets.append(f"{'at most' if self.less else 'at least'} {self.target:g}")
        if self.wanted is not None:
            targets.append("no worse" if self.wanted == 1 else f"{self.wanted:.3g} times")
        met = {True: "yes", False: "no", None: ""}[self.met]
        return {
            "job": self.job,
            "unit": self.unit,
            "assay": figure(self.value),
            "alternative": self.alternative,
            "reaches": figure(self.other) if self.other is not None else NOT_THERE if self.alternative else "",
            "times": "" if self.ratio is None else figure(self.ratio),
            "target": ", ".join(targets),
            "met": met,
        }


def figure(value: float) -> str:
    """A number with three significant digits.

    >>> figure(0.04712), figure(27345.0), figure(1.5)
    ('0.0471', '27,300', '1.5')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def show(rows: Sequence[Measurement], title: str, file: Path | None = None) -> None:
    """Print the measurements as a table; write them as JSON too if a file is given."""
    print(f"{title}\n")
    print(render([row.row() for row in rows]))
    if file:
        file.write_text(json.dumps([as_data(row) for row in rows], indent=1) + "\n", encoding="utf-8")


def as_data(row: Measurement) -> dict[str, Any]:
    return asdict(row) | {"ratio": row.ratio, "met": row.met}


def cpu() -> float:
    """CPU seconds of this process, with all its threads, and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def best(job: Callable[[], object], *, repeat: int = 3, clock: Callable[[], float] = cpu) -> float:
    """The least time of several runs; CPU seconds, or by `time.perf_counter` seconds on the clock."""
    times = []
    for _ in range(repeat):
        began = clock()
        job()
        times.append(clock() - began)
    return min(times)


@dataclass(frozen=True)
class Cost:
    """What a process took."""

    cpu: float  # seconds, user and system
    wall: float  # seconds on the clock
    memory: float  # peak, MB


def of_command(command: Sequence[str], told: str = "") -> Cost:
    """The cost of a whole process, which is told something on its standard input.

    An installed package is compiled once. Where the environment forbids Python to keep what it compiled, every start
    would compile the package anew, and that would be measured.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    ran = subprocess.run([*LAUNCHER, *command], input=told, capture_output=True, text=True, check=True, env=kept)
    code, seconds, wall, memory = json.loads(ran.stdout)
    if code:
        raise SystemExit(f"{' '.join(command)} ended with {code}: {ran.stderr[-500:].strip()}")
    return Cost(seconds, wall, memory / KB_OR_BYTES)


def peak() -> float:
    """Peak memory of this process so far, MB."""
    status = Path("/proc/self/status")
    if status.is_file():
        # getrusage would count the memory of the process that started this one.
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KB_OR_BYTES


def alone(job: str, size: int, warm: int, folder: Path) -> Cost:
    """The cost of a job of `growth.py` in a fresh process, after a run at the size `warm`."""
    script = Path(__file__).with_name("growth.py")
    command = [sys.executable, str(script), job, str(size), str(warm), str(folder)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Cost(**json.loads(said))
