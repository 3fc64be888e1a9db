"""The tools start: what they import is still there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "tools"
TOOLS = [tool for tool in sorted(FOLDER.glob("*.py")) if "argparse" in tool.read_text(encoding="utf-8")]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.stem)
def test_a_tool_says_what_it_does(tool: Path) -> None:
    done = subprocess.run([sys.executable, str(tool), "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and tool.name in done.stdout, done.stderr
