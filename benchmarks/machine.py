"""Where the figures come from: the machine, the versions, the day."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from assay import __version__
from assay.engine.identity import Search
from assay.engine.local import identify

PACKAGES = (
    "numpy",
    "scipy",
    "polars",
    "pyarrow",
    "chess",
    "rust-pgn-reader-python-binding",
    "zstandard",
    "torch",
    "scikit-learn",
)
PROGRAMS = ("pgn-extract", "ordo", "bayeselo")


@dataclass(frozen=True)
class Machine:
    """A machine as a reader wants to know it."""

    processor: str
    cores: int
    memory: float  # GB
    system: str
    load: float  # of other work when the benchmark began
    date: str
    versions: dict[str, str]


def describe() -> Machine:
    """This machine, now."""
    versions = {"Assay": __version__, "Python": platform.python_version()}
    versions |= {"python-chess" if name == "chess" else name: version(name) for name in PACKAGES}
    versions["engine"] = asyncio.run(identify(Search())).engine
    versions |= {name: _program(name) for name in PROGRAMS}
    return Machine(
        processor=_processor(),
        cores=os.cpu_count() or 1,
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9,
        system=f"{platform.system()} {platform.machine()}",
        load=os.getloadavg()[0],
        date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions=versions,
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _program(name: str) -> str:
    """What a program says of its version; Ordo and BayesElo have no switch for it alone."""
    found = shutil.which(name)
    if not found:
        return "not on PATH"
    if name != "pgn-extract":
        return "on PATH"
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    return (said.stdout + said.stderr).strip().removeprefix(f"{name} ")
