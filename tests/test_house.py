"""The house itself: imports run one way, the command line starts light, errors become sentences."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

import assay

PACKAGE = Path(assay.__file__).parent

# Which rooms each room may import. What stands at the top of the package (errors, bands, ...) is open to all.
MAY_IMPORT = {
    "fetch": set(),
    "games": {"fetch"},
    "lists": {"games"},
    "engine": {"games"},
    "policy": {"games"},
    "results": set(),
    "moves": {"games", "lists", "engine", "policy"},
    "learned": {"games", "engine"},
    "answer": {"games", "lists", "engine", "policy", "moves", "learned", "results"},
    "reports": {"games", "lists", "engine", "policy", "moves", "learned", "results", "answer"},
    "web": {"fetch", "games", "engine", "moves", "learned", "results", "reports"},
    "cli": {"games", "web"},  # for types alone
}
HEAVY = {
    "numpy",
    "scipy",
    "polars",
    "pyarrow",
    "matplotlib",
    "torch",
    "chess",
    "jinja2",
    "distributed",
}


def imports_of(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute here"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_imports_run_one_way(room: str) -> None:
    for file in (PACKAGE / room).rglob("*.py"):
        rooms = {name.split(".")[1] for name in imports_of(file) if name.startswith("assay.")}
        wrong = {r for r in rooms if (PACKAGE / r).is_dir()} - MAY_IMPORT[room] - {room}
        assert not wrong, f"{file.relative_to(PACKAGE)} imports {wrong}"


# Rooms that know arrays and nothing else: no games, no files, no engine.
OPEN_TO_ARRAYS = ("assay.errors", "assay.curve", "assay.records", "numpy", "scipy")
ARRAYS_ONLY = {
    "moves/regan": ("assay.moves.regan", *OPEN_TO_ARRAYS),
    "results": ("assay.results", "assay.printable", "assay.table", *OPEN_TO_ARRAYS),
}


@pytest.mark.parametrize("room", sorted(ARRAYS_ONLY))
def test_rooms_of_arrays_know_nothing_else(room: str) -> None:
    for file in (PACKAGE / room).rglob("*.py"):
        for name in imports_of(file):
            known = any(name == may or name.startswith(f"{may}.") for may in ARRAYS_ONLY[room])
            assert known or name.split(".")[0] in sys.stdlib_module_names, f"{file.relative_to(PACKAGE)} imports {name}"


def twice(names: Iterable[str]) -> set[str]:
    return {name for name, times in Counter(names).items() if times > 1}


def test_no_module_name_stands_for_two_things() -> None:
    files = [file for file in PACKAGE.rglob("*.py") if file.parent.name != "cli"]  # cli has a file for each room
    assert twice(file.stem for file in files if file.stem != "__init__") == set()


def test_no_class_name_stands_for_two_things() -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in PACKAGE.rglob("*.py")]
    classes = [node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    assert twice(name for name in classes if not name.startswith("_")) == set()


@pytest.mark.parametrize("package", sorted(file.parent for file in PACKAGE.rglob("__init__.py")), ids=lambda p: p.name)
def test_no_module_is_called_like_a_name_of_its_package(package: Path) -> None:
    # `import assay.x.fit` would put the module where the function was.
    name = ".".join(["assay", *package.relative_to(PACKAGE).parts])
    own = set(getattr(importlib.import_module(name), "__all__", ()))
    modules = {file.stem for file in package.glob("*.py")} | {
        file.parent.name for file in package.glob("*/__init__.py")
    }
    assert not own & modules


def test_the_top_of_the_package_imports_no_room() -> None:
    for file in set(PACKAGE.glob("*.py")) - {PACKAGE / "__init__.py", PACKAGE / "api.py"}:
        rooms = {name.split(".")[1] for name in imports_of(file) if name.startswith("assay.")}
        assert not {r for r in rooms if (PACKAGE / r).is_dir()}, file.name
    # `assay.chances` is the one name of a room that the package itself has; it is loaded when first used.
    lazily = "import sys, assay; assert not {name for name in sys.modules if name.startswith('assay.policy')}"
    subprocess.run([sys.executable, "-c", lazily], check=True)


def called_in_rooms(file: Path) -> set[str]:
    """The modules of rooms that a file imports when it runs; what is imported for types alone does not count."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not HEAVY & {name.split(".")[0] for name in names}, f"{file.name}: arrays and tables belong to the rooms"
    inside = {name.removeprefix("assay.") for name in names if name.startswith("assay.")}
    return {name for name in inside if (PACKAGE / name.split(".")[0]).is_dir() and not name.startswith("cli.")}


def test_commands_call_the_front_door() -> None:
    """A command parses, calls one function of the front door and prints."""
    called = {file.stem: called_in_rooms(file) for file in (PACKAGE / "cli").glob("*.py")}
    assert not {name: found for name, found in called.items() if found}


def test_all_that_commands_print_goes_through_one_guard() -> None:
    for file in (PACKAGE / "cli").glob("*.py"):
        if file.name != "options.py":
            text = file.read_text(encoding="utf-8")
            assert "click.echo(" not in text, f"{file.name}: print with assay.cli.options.say"
            assert " print(" not in text.replace(">>> print(", ""), f"{file.name}: print with assay.cli.options.say"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from assay.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({m.split('.')[0] for m in sys.modules}), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: assay" in run.stdout
    assert not HEAVY & set(ast.literal_eval(run.stderr))


def test_a_small_list_imports_numpy_alone(tmp_path: Path) -> None:
    """Games that share players, so that their moves are compared."""
    file = tmp_path / "games.pgn"
    games = (f'[White "{w}"]\n[Black "{b}"]\n[Result "1-0"]\n\n1. e4 1-0\n\n' for w, b in ("AB", "BA", "AB"))
    file.write_text("".join(games))
    code = (
        "import sys; from assay.cli.main import main\n"
        f"try: main(['results', {str(file)!r}])\n"
        "except SystemExit: pass\n"
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(run.stderr.splitlines()[-1])
    assert "numpy" in loaded
    assert not {"numpy.ma", "pyarrow", "shutil", *(HEAVY - {"numpy"})} & set(loaded)


def test_dataclasses_are_made_quickly() -> None:
    for file in PACKAGE.rglob("*.py"):
        usual = any(
            line.startswith("from dataclasses import") and "dataclass" in line.split(" import ")[1].split(", ")
            for line in file.read_text(encoding="utf-8").splitlines()
        )
        assert not usual, f"{file.relative_to(PACKAGE)}: take dataclass from assay.records"
