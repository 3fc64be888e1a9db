"""What is installed on this machine, whether it works, and what to do where it does not."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from assay import __version__
from assay.engine.analysis import cores
from assay.engine.identity import find, installed
from assay.errors import AssayError
from assay.learned.run import SHIPPED, shipped
from assay.moves.calibrated import engine_rows
from assay.moves.calibration import load
from assay.moves.calibration import shipped as calibrations
from assay.paths import data_folder, find_browser, need_browser, store_place
from assay.policy.chances import shipped as shipped_policy
from assay.records import dataclass
from assay.table import Answer, Table, columns_of, counted

GOOD, LACKS, BROKEN = "ok", "lacks", "broken"
# What each extra is for, and the modules that it brings.
EXTRAS = {
    "web": ("the page in the browser, 'assay serve'", ("starlette", "uvicorn", "multipart")),
    "learn": ("training, 'assay train'", ("torch", "sklearn")),
    "cluster": ("analyses on many machines, 'assay analyse --cluster'", ("distributed",)),
}
ROOM_NEEDED = 200 << 20  # bytes; the analyses of a thousand games


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: `state` is ok, lacks (something is not possible without it) or broken."""

    what: str
    state: str
    found: str
    do: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Checkup(Answer):
    """What was looked at, a row each; what is broken, and what lacks."""

    broken: Sequence[str]
    lacking: Sequence[str]

    def refuse_damage(self) -> None:
        """Raise what is broken, if anything is."""
        if self.broken:
            raise AssayError(f"{counted(len(self.broken), 'thing')} broken: {', '.join(self.broken)}.")


def doctor() -> Checkup:
    """Say what is installed, whether it works, and what to do where it does not, as `assay doctor` does.

    >>> import assay
    >>> assay.doctor().table["what"].to_list()[:3]
    ['assay', 'python', 'cores']
    """
    found = list(checkup())
    rows = [asdict(one) for one in found]
    named = {state: [one.what for one in found if one.state == state] for state in (BROKEN, LACKS)}
    told = f"Lacks: {', '.join(named[LACKS])}; all else works." if named[LACKS] else "All is there, and works."
    return Checkup(
        shown=Table(rows, columns_of(("what", "state", "found", "do"), below=("do",))),
        broken=named[BROKEN],
        lacking=named[LACKS],
        remarks=[] if named[BROKEN] else [told],
    )


def checkup() -> Iterator[Finding]:
    """Look at everything that Assay uses, one after the other."""
    yield Finding("assay", GOOD, f"{__version__}, in {Path(__file__).parents[1]}")
    yield Finding("python", GOOD, f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    yield Finding("cores", GOOD, f"{counted(cores(), 'core')}: as many engines at a time")
    yield from _engines()
    yield _tried("calibrations", lambda: counted(len([load(name) for name in calibrations()]), "calibration"))
    yield _tried("models", lambda: ", ".join(name for name in SHIPPED if shipped(name)))
    yield _tried("policy", lambda: f"network {shipped_policy().identity[:8]}")
    yield from (_extra(name) for name in EXTRAS)
    yield _browser()
    yield _folder()


def _engines() -> Iterator[Finding]:
    rows = engine_rows(installed())
    for row in rows:
        if row["engine"] is None:
            yield Finding("engine", BROKEN, row["program"], row["note"])
        elif row["off"] is None:
            yield Finding("engine", GOOD, f"{row['engine']}, {row['program']}; calibration {row['calibration']}")
        else:
            off = f"{row['calibration']}, which may be off by {row['off']:.0f}"
            yield Finding(
                "engine",
                GOOD,
                f"{row['engine']}, {row['program']}; calibration {off}",
                f"For its own: assay calibrate --engine {row['program']} --transfer",
            )
    if not any(row["engine"] for row in rows):
        try:
            find()
        except AssayError as error:
            yield Finding("engine", LACKS, "none: ratings from results, evaluations and learned only", str(error))


def _tried(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what, GOOD, look())
    except (AssayError, OSError, ValueError, KeyError) as error:
        return Finding(what, BROKEN, str(error), "Install Assay again: pip install --force-reinstall assay")


def _extra(name: str) -> Finding:
    what, modules = EXTRAS[name]
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        return Finding(f"[{name}]", LACKS, f"{what}: without {', '.join(missing)}", f'pip install "assay[{name}]"')
    versions = " ".join(f"{module} {_version(module)}" for module in modules)
    return Finding(f"[{name}]", GOOD, f"{what}: {versions}")


def _version(module: str) -> str:
    names = metadata.packages_distributions().get(module)
    return metadata.version(names[0]) if names else "?"


def _browser() -> Finding:
    if found := find_browser():
        return Finding("browser", GOOD, f"{found}, for reports as PDF")
    try:
        need_browser()
    except AssayError as error:
        return Finding("browser", LACKS, "none", str(error))
    raise AssertionError("a browser that is there and is not found")


def _folder() -> Finding:
    folder, store = data_folder(), store_place()
    made = folder
    while not made.exists():
        made = made.parent
    if not os.access(made, os.W_OK):
        return Finding("data", BROKEN, f"{folder} cannot be written", "Set ASSAY_HOME to a folder that can.")
    free = shutil.disk_usage(made).free
    size = f"; {store.name} {_bytes(store.stat().st_size)}" if store.is_file() else "; no analyses stored yet"
    told = f"{folder}{size}; {_bytes(free)} free"
    if free < ROOM_NEEDED:
        return Finding("data", LACKS, told, "Make room, or set ASSAY_HOME to a folder that has it.")
    return Finding("data", GOOD, told)


def _bytes(size: float) -> str:
    """A size as people write it.

    >>> _bytes(831), _bytes(2_400_000), _bytes(71e9)
    ('831 bytes', '2.4 MB', '71.0 GB')
    """
    if size < 1e6:
        return f"{size:.0f} bytes" if size < 1e3 else f"{size / 1e3:.1f} kB"
    return f"{size / 1e6:.1f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"
