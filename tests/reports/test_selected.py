"""Which games a report shows, and where; and a report that is kept as data."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.errors import InputError
from assay.games.archives import sample
from assay.reports.content import Report
from assay.reports.exports import keep, kept, to_json, write
from assay.reports.growing import asked_games, shown_games
from assay.reports.page import EACH, render
from assay.web.app import sample_report


@pytest.fixture(scope="module")
def report() -> Report:
    return sample_report()


def test_the_sample_is_of_the_event_that_ships(report: Report) -> None:
    """Where this fails: python tools/sample_report.py."""
    (source,) = report.provenance.sources
    assert source.sha256 == hashlib.sha256(sample("simulated-event.pgn")).hexdigest()
    assert len(report.games) == 15 and report.provenance.depth == 8


def test_a_kept_report_comes_back_as_it_was(report: Report) -> None:
    again = kept(keep(report))
    assert again.games == report.games and to_json(again) == to_json(report)
    assert str(again.players) == str(report.players)  # some bounds are not numbers, and those never equal
    assert render(again) == render(report)


def test_none_or_those_with_the_gravest_mistakes(report: Report) -> None:
    none = shown_games(report, "none")
    assert none.games == () and none.whole and none.summary == report.summary and none.players == report.players
    page = render(none)
    assert "15 games looked at, and none shown." in page and 'href="#game-' not in page
    few = shown_games(report, 3)
    lost = {game.number: sum(m.loss or 0 for m in game.moves if m.mark) for game in report.games}
    assert [game.number for game in few.games] == sorted(sorted(lost, key=lambda n: -lost[n])[:3])
    page = render(few)
    assert "Of 15 games the 3 with the gravest mistakes." in page
    assert {int(n) for n in re.findall(r'href="#game-(\d+)"', page)} == few.numbers
    assert shown_games(report, "all") is report and shown_games(report, 99) is report


@pytest.mark.parametrize("wrong", ["some", "-3", "1.5", ""])
def test_what_is_no_choice_of_games_is_a_sentence(wrong: str) -> None:
    with pytest.raises(InputError, match="are no games to show"):
        asked_games(wrong)


def many(report: Report, games: int) -> Report:
    """The same report with so many games and three players for each two."""
    some = tuple(replace(report.games[n % 15], number=n + 1) for n in range(games))
    players = tuple(
        replace(report.players[n % 6], name=f"Player {n}", played=(n % games + 1,)) for n in range(3 * games // 2)
    )
    return replace(report, games=some, players=players, games_expected=games)


def test_games_in_files_beside_the_report(report: Report, tmp_path: Path) -> None:
    large = many(report, 2 * EACH + 5)
    (tmp_path / "an event-games").mkdir()
    (tmp_path / "an event-games" / "games-9.html").write_text("of an earlier report")
    (tmp_path / "an event-games" / "own.html").write_text("not ours")
    size = write(large, tmp_path / "an event.html", "html", beside=True)
    page = (tmp_path / "an event.html").read_text()
    files = sorted(path.name for path in (tmp_path / "an event-games").iterdir())
    assert files == [
        "games-1.html", "games-2.html", "games-3.html", "own.html",
        "players-1.html", "players-2.html", "players-3.html", "players-4.html",
    ]  # fmt: skip
    assert size < 400_000 and "<script" in page and 'class="card game"' not in page
    for link, target in re.findall(r'href="([^"#]*)#((?:game|player)-\d+)"', page):
        assert link.startswith("an%20event-games/")
        assert f'id="{target}"' in (tmp_path / link.replace("%20", " ")).read_text()
    inside = (tmp_path / "an event-games" / "players-2.html").read_text()
    assert 'href="../an%20event.html"' in inside
    for link, target in re.findall(r'href="\./([^"#]*)#(game-\d+)"', inside):
        assert f'id="{target}"' in (tmp_path / "an event-games" / link).read_text()


def test_a_file_stays_small_whatever_is_in_it(report: Report) -> None:
    large = many(report, 60)
    sizes = [len(render(large, most_bytes=most).encode()) for most in (10**8, 2_000_000, 900_000, 300_000)]
    assert sizes == sorted(sizes, reverse=True) and sizes[1] <= 2_000_000 and sizes[3] <= 300_000
    least = render(large, most_bytes=300_000)
    assert "players one by one" in least and 'href="#player-' not in least and 'id="player-1"' not in least
    assert "To keep this file small" not in render(report, most_bytes=10**8)
    assert "at most 6 candidates of each move are shown" in render(report, most_bytes=len(render(report)) - 1)


def test_beside_is_for_html_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "event.pgn"
    path.write_bytes(sample("simulated-event.pgn"))
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["report", str(path), "--games", "beside", "-o", str(tmp_path / "x.pdf")])
    assert "--games beside is for HTML" in capsys.readouterr().err
    with pytest.raises(SystemExit, match=r"^1$"):
        main(["report", str(path), "--games", "few", "-o", str(tmp_path / "x.html")])
    assert "'few' are no games to show" in capsys.readouterr().err


def test_json_has_what_is_shown(report: Report) -> None:
    data = json.loads(to_json(shown_games(report, 2)))
    assert len(data["games"]) == 2 and data["selection"] and len(data["players"]) == 6
