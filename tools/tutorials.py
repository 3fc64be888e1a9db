#!/usr/bin/env python3
"""Follow pages word by word, the tutorials if none is named, and compare what commands print with what the pages say.

    python tools/tutorials.py [PAGE...]            compare; exit code 1 if a page is not true
    python tools/tutorials.py --write [PAGE...]    put what the commands print now into the pages

A page is followed in a fresh folder with an empty data folder, from top to bottom. Its blocks:

    ```console            `$ command` (its lines end with a backslash but for the last), then exactly what it prints
    ```console figures    the same, but figures may differ: those of another calibration, model or machine; the words
                          before the first figure of each line must agree, in any order
    ```console slow       the same again; left out by the tests, which must be quick
    ```python             a `>>>` session, run as a doctest
    any other block       is not run

One line `...` in an output stands for lines left out. stdout and stderr are shown as a terminal shows them.
`tests/test_tutorials.py` runs the same comparison.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

PAGES = Path(__file__).resolve().parents[1] / "docs" / "tutorials"
_BLOCK = re.compile(r"^```(console(?: figures| slow)?|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LEFT_OUT = "..."


@dataclass(frozen=True)
class Step:
    """A command of a page with what the page says it prints."""

    command: str
    output: list[str]
    exact: bool


def steps(block: str, *, exact: bool) -> Iterator[Step]:
    r"""The commands of a block.

    >>> list(steps("$ echo a\na\n$ true\n", exact=True))
    [Step(command='echo a', output=['a'], exact=True), Step(command='true', output=[], exact=True)]
    >>> next(steps("$ echo \\\n    a\na\n", exact=True)).output
    ['a']
    """
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, output = re.match(r"((?:.*\\\n)*.*)\n?((?s:.*))", part.rstrip("\n")).groups()
        yield Step(command, output.split("\n") if output else [], exact)


def run(command: str, folder: Path) -> list[str]:
    """What a command prints in this folder, as a terminal shows it."""
    environment = os.environ | {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"], "/usr/games")),
        "ASSAY_HOME": str(folder / ".assay"),
        "COLUMNS": "100",
        "PYTHONIOENCODING": "utf-8",
    }
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    printed = done.stdout.decode("utf-8").replace(str(folder) + os.sep, "").rstrip("\n")
    if done.returncode:
        raise SystemExit(f"$ {command}\n{printed}\nends with exit code {done.returncode}.")
    return printed.split("\n") if printed else []


def shown(printed: list[str], output: list[str]) -> list[str]:
    """The lines that the page shows of what was printed: all, or those before and after `...`."""
    if _LEFT_OUT not in output:
        return printed
    before = output.index(_LEFT_OUT)
    after = len(output) - before - 1
    return [*printed[:before], _LEFT_OUT, *printed[len(printed) - after :]]


def agree(page: list[str], now: list[str], *, exact: bool) -> bool:
    """Whether two outputs say the same.

    >>> agree(["player  ipr", "Ash    2412"], ["player  ipr", "Ash    2398"], exact=False)
    True
    >>> agree(["player  ipr", "Ash    2412"], ["player  ipr", "Ash    2398"], exact=True)
    False
    """
    if exact:
        return [line.rstrip() for line in page] == [line.rstrip() for line in now]
    return sorted(map(_words, page)) == sorted(map(_words, now))


def _words(line: str) -> str:
    return " ".join(re.split(r"[-+<>]?\d", line)[0].split())


def follow(page: Path, folder: Path, *, slow: bool = True) -> tuple[str, list[str]]:
    """Run a page in a folder, its slow blocks only if asked; its text with what was printed now, and what differs."""
    wrong: list[str] = []
    names: dict[str, object] = {}

    def renewed(found: re.Match[str]) -> str:
        kind, block = found.groups()
        if kind == "console slow" and not slow:
            return found.group()
        if kind == "python":
            wrong.extend(_python(block, names, page.name, folder))
            return found.group()
        lines = []
        for step in steps(block, exact=kind == "console"):
            now = shown(run(step.command, folder), step.output)
            if not agree(step.output, now, exact=step.exact):
                wrong.append("\n".join([f"$ {step.command}", "the page says:", *step.output, "now it is:", *now]))
            lines += [f"$ {step.command}", *(line.rstrip() for line in now)]
        return "\n".join([f"```{kind}", *lines, "```"])

    return _BLOCK.sub(renewed, page.read_text(encoding="utf-8")), wrong


def _python(block: str, names: dict[str, object], page: str, folder: Path) -> list[str]:
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
    with contextlib.chdir(folder):
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE")
    parser.add_argument("--write", action="store_true", help="put what is printed now into the pages")
    asked = parser.parse_args()
    failed = False
    for page in asked.pages or sorted(PAGES.glob("*.md")):
        with tempfile.TemporaryDirectory() as folder:
            text, wrong = follow(page, Path(folder))
        failed |= bool(wrong)
        print(f"{page.name}: {len(wrong)} outputs differ.")
        print("\n\n".join(wrong))
        if asked.write:
            lines = sum(old != new for old, new in zip_longest(page.read_text("utf-8").splitlines(), text.splitlines()))
            page.write_text(text, encoding="utf-8")
            print(f"{page.name}: {lines} lines renewed.")
    sys.exit(failed and not asked.write)


if __name__ == "__main__":
    main()
