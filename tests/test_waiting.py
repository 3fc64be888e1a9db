"""No test waits for a fixed time: a sleep stands in a loop that asks whether it is time, or strikes at random."""

from __future__ import annotations

import ast
from pathlib import Path

HERE = Path(__file__).parent
# Engines, workers and checks that are slow on purpose: tests wait for what they do.
SLOW = {"engine/fake_engine.py", "web/made_up_worker.py", "web/test_api.py: look"}


def sleeps(tree: ast.AST, inside: tuple[ast.AST, ...] = ()) -> list[tuple[ast.Call, tuple[ast.AST, ...]]]:
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sleep":
            found.append((node, inside))
        found += sleeps(node, (*inside, node))
    return found


def test_nothing_waits_for_a_fixed_time() -> None:
    fixed = []
    for file in sorted(HERE.rglob("*.py")):
        name = file.relative_to(HERE).as_posix()
        for call, inside in sleeps(ast.parse(file.read_text(encoding="utf-8"))):
            functions = [
                f"{name}: {one.name}" for one in inside if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            asked = any(isinstance(one, ast.While) for one in inside)
            random = "chance" in ast.unparse(call.args[0])
            yields = ast.unparse(call.args[0]) == "0"
            if not (asked or random or yields or name in SLOW or SLOW & set(functions)):
                fixed.append(f"{name}:{call.lineno}")
    assert not fixed
