"""One person under several spellings, and two people of one name, are told by FIDE ids."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import told
from tests.games.made import game_text

import assay
from assay.api import players
from assay.cli.main import main


@pytest.fixture
def season(tmp_path: Path) -> Path:
    games = [
        game_text(
            1, White="Elm, Ada", WhiteFideId="11", WhiteElo="2400", Black="Wang, Li", BlackFideId="21", result="1-0"
        ),
        game_text(
            2, White="Elm,A", WhiteFideId="11", WhiteElo="2410", Black="Wang, Li", BlackFideId="22", result="0-1"
        ),
        game_text(3, White="Wang, Li", WhiteFideId="21", Black="Elm, Ada", BlackElo="2390", result="1/2-1/2"),
        game_text(4, White="Wang, Li", WhiteFideId="22", Black="Oak, Bob", BlackElo="1900", result="1-0"),
        game_text(5, White="Oak,B", WhiteElo="1910", Black="Elm, Ada", BlackFideId="11", result="0-1"),
    ]
    path = tmp_path / "season.pgn"
    path.write_text("\n\n".join(games))
    return path


NAMES = {"Elm, Ada", "Wang, Li (21)", "Wang, Li (22)", "Oak, Bob", "Oak,B"}


@pytest.mark.parametrize("keep", [False, True])
def test_results_go_by_ids(season: Path, keep: bool) -> None:
    found = assay.rate_results(season, keep_duplicates=keep, force=True)
    assert set(found.table["player"]) == NAMES
    played = dict(zip(found.table["player"], found.table["played"], strict=True))
    assert played["Elm, Ada"] == 4


def test_moves_and_events_go_by_ids(season: Path) -> None:
    assert {name for game in assay.read(season).all() for name in (game.tags["White"], game.tags["Black"])} == NAMES
    assert set(assay.event(season).table["player"]) == NAMES


def test_the_list_of_players(season: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["player"]: row for row in players(season).table.to_dicts()}
    assert set(rows) == NAMES
    ada = rows["Elm, Ada"]
    assert (ada["fide_id"], ada["games"], ada["lowest"], ada["highest"]) == (11, 4, 2390, 2410)
    assert ada["spellings"] == "Elm, Ada; Elm,A"
    assert rows["Oak, Bob"]["like"] == "Oak,B" and rows["Oak,B"]["like"] == "Oak, Bob"
    with pytest.raises(SystemExit) as ended:
        main(["players", str(season)])
    assert ended.value.code == 0
    assert "looks like" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["event", "players"])
def test_games_that_occur_twice_are_named(season: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    copy = season.with_name("copy.pgn")
    copy.write_text(season.read_text().replace("Elm, Ada", "ELM, ADA").replace('FideId "11"', 'FideId "0"'))
    code, once, told_once = told(capsys, command, season, "--format", "csv")
    found = told(capsys, command, season, copy, "--format", "csv")
    assert code == found[0] == 0 and "occur" not in told_once
    assert "5 games occur twice and count once" in found[2] and "6 = 1" in found[2]
    if command == "event":
        assert found[1] == once
    else:  # the other spelling is listed, though nobody played a game under it
        both = assay.read(season, copy)
        assert {row["player"]: row["games"] for row in players(both).table.to_dicts()} == {
            row["player"]: row["games"] for row in players(season).table.to_dicts()
        } | {"ELM, ADA": 0}
        assert sum(players(both, keep_duplicates=True).table["games"]) == 20
    kept = told(capsys, command, season, copy, "--format", "csv", "--keep-duplicates")
    assert kept[1] != found[1] and "occur" not in kept[2]


def test_games_without_ids_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(game_text(1, White="Elm,A", Black="Oak") + "\n\n" + game_text(2, White="Elm, Ada", Black="Oak"))
    assert set(assay.rate_results(path, force=True).table["player"]) == {"Elm,A", "Elm, Ada", "Oak"}
