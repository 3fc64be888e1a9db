"""The progress line."""

from __future__ import annotations

import io
import sys

import pytest

from assay.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_tells_share_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 100.0, 110.0, 110.0])
    monkeypatch.setattr("assay.progress.time.monotonic", lambda: next(clock))
    with Progress("Indexing", 1000, unit="games") as progress:
        progress.update(200)
        progress.note = "busy 98%"
        assert progress.line() == "Indexing: 200 of 1,000 games (20%), 20/s, 40 s left, busy 98%"


def test_it_writes_to_a_terminal_and_ends_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    clock = iter(float(t) for t in range(100))
    monkeypatch.setattr("assay.progress.time.monotonic", lambda: next(clock))
    with Progress("Indexing", 2) as progress:
        progress.advance()
        progress.advance()
    assert "\rIndexing: 2 of 2 (100%)" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")


@pytest.mark.parametrize(("stream", "quiet"), [(io.StringIO(), False), (Terminal(), True)])
def test_it_is_silent_when_asked_or_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, quiet: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    clock = iter(float(t) for t in range(100))
    monkeypatch.setattr("assay.progress.time.monotonic", lambda: next(clock))
    with Progress("Indexing", 2, quiet=quiet) as progress:
        progress.advance(2)
    assert stream.getvalue() == ""
