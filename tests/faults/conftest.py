"""Small disks for the tests of this room."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


class Disk:
    """A disk of its own, in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def change(self, options: str) -> None:
        """Mount it again with these options, such as `size=1m` or `ro`."""
        subprocess.run(["mount", "-o", f"remount,{options}", str(self.path)], check=True)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.path.rglob("*"))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A disk of 64 kB."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(path)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can only be mounted by root, on Linux")
    yield Disk(path)
    subprocess.run(["umount", "--lazy", str(path)], check=True)
