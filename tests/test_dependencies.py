"""What the package imports and what it declares agree, so that an installation has all that it needs and no more."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import assay

PACKAGE = Path(assay.__file__).parent
ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DISTRIBUTIONS = packages_distributions()
# Which extra brings what only these rooms and files use; the rest of the package lives on the plain dependencies.
EXTRAS = {"learned": "learn", "policy": "learn", "arrays.py": "learn", "web": "web", "engine": "cluster"}
# Declared, though nothing imports it: starlette reads forms with it.
UNSEEN = {"python-multipart"}


def normal(name: str) -> str:
    """The name of a distribution as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: list[str]) -> set[str]:
    return {normal(re.split(r"[\s<>=!~;\[]", requirement, maxsplit=1)[0]) for requirement in requirements}


def imported(folder: Path) -> dict[str, set[str]]:
    """The distributions that the files of a folder import, each with the rooms that do."""
    own = {path.stem for path in folder.rglob("*") if path.suffix == ".py" or path.is_dir()} | {"assay"}
    own |= {path.stem for path in ROOT.iterdir()}
    found: dict[str, set[str]] = {}
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules = [node.module]
            for module in {name.partition(".")[0] for name in modules} - own - sys.stdlib_module_names:
                (distribution, *_) = DISTRIBUTIONS.get(module, [module])
                found.setdefault(normal(distribution), set()).add(file.relative_to(folder).parts[0])
    return found


def test_the_package_imports_what_it_declares_and_declares_what_it_imports() -> None:
    plain, extras = names(DECLARED["dependencies"]), DECLARED["optional-dependencies"]
    used = imported(PACKAGE)
    undeclared = {
        (name, room)
        for name, rooms in used.items()
        for room in rooms
        if name not in plain | names(extras.get(EXTRAS.get(room, ""), []))
    }
    assert not undeclared
    declared = plain | {name for extra in EXTRAS.values() for name in names(extras[extra])}
    assert declared - used.keys() == UNSEEN


def test_what_is_around_the_package_imports_only_what_is_declared() -> None:
    lists = (DECLARED["dependencies"], *DECLARED["optional-dependencies"].values())
    declared = {name for requirements in lists for name in names(requirements)}
    for folder in ("tests", "fuzz", "benchmarks", "studies", "tools"):
        assert imported(ROOT / folder).keys() <= declared, folder
