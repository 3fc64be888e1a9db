"""A broadcast is watched: answers renew themselves as moves come in, and what is finished is analysed once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.commands import run
from tests.fetch.services import Services, status

from assay.fetch import asking
from assay.games.archives import sample
from assay.games.split import split

LINK = "https://lichess.org/broadcast/some-event/round-1/AbCdEfGh"
PATH = "/api/broadcast/round/AbCdEfGh.pgn"


def games() -> list[str]:
    data = sample("simulated-event.pgn")
    part = split(data)
    return [data[a:b].decode() for a, b in zip(part.starts, part.ends, strict=True)][:2]


def under_way(text: str) -> str:
    """The same game, halfway."""
    head, _, moves = text.partition("\n\n")
    words = moves.split()
    return re.sub(r'\[Result "[^"]*"\]', '[Result "*"]', head) + (
        "\n\n" + " ".join(words[: 3 * len(words) // 4]) + " *"
    )


def test_a_round_is_watched_until_all_games_have_ended(
    services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = games()
    services.links[PATH] = f"{first}\n\n{under_way(second)}\n".encode()
    store = tmp_path / "store.db"
    counts: list[int] = []

    def wait(seconds: float) -> None:
        assert seconds == 15
        counts.append(len(services.asked))
        if len(counts) == 1:
            pass  # nothing is new
        elif len(counts) == 2:
            services.next = [status(404)]  # it cannot be had for once
        elif len(counts) == 3:
            services.links[PATH] = f"{first}\n\n{second}\n".encode()

    monkeypatch.setattr(asking, "wait", wait)
    words = ["--quick", "--store", str(store), "--policy", "none", "--watch", "--every", "15", "--pool", "otb-slow"]
    assert run("ipr", LINK, *words, "--format", "csv") == 0
    told = capsys.readouterr()
    assert told.out.count("player,") == 2  # once at first, and once when moves had come in
    assert "1 game under way" in told.err and "0 games under way" in told.err
    assert "Trying again in 15 s" in told.err
    assert run("ipr", LINK, *words[:5], "--no-analysis") == 0  # all of it is in the store


def test_only_a_broadcast_can_be_watched(services: Services, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("ipr", "screen", "report"):
        assert run(command, "lichess:alice", "--watch") == 1
        assert "--watch is for a broadcast" in capsys.readouterr().err
    assert services.asked == []


def test_a_report_renews_itself(services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, second = games()
    services.links[PATH] = f"{first}\n\n{under_way(second)}\n".encode()
    out, sizes = tmp_path / "live.json", []

    def wait(seconds: float) -> None:
        sizes.append(out.read_bytes())
        services.links[PATH] = f"{first}\n\n{second}\n".encode()

    monkeypatch.setattr(asking, "wait", wait)
    words = ["--quick", "--store", str(tmp_path / "store.db"), "--policy", "none", "--watch"]
    assert run("report", LINK, "-o", str(out), *words) == 0
    assert sizes and out.read_bytes() != sizes[0]
