"""A local server in the place of the services, and a data folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fetch.services import Services, running

from assay.fetch import asking


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LICHESS_TOKEN", raising=False)
    monkeypatch.delenv("ASSAY_CONTACT", raising=False)
    with running() as state:
        monkeypatch.setattr(asking, "wait", state.rests.append)
        yield state
