"""How tests run a command: as a user does, by its words."""

from __future__ import annotations

import pytest

from assay.cli.main import main


def run(*words: object) -> int:
    """Run a command; its exit code."""
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return int(end.value.code or 0)


def told(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run a command; its exit code, and what it printed on stdout and stderr."""
    code = run(*words)
    out, err = capsys.readouterr()
    return code, out, err
