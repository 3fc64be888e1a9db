"""Games as the papers choose them: none between teams, none of Swisses with too many players for their rounds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.commands import told as run

from assay.errors import InputError
from assay.games import Game, read
from assay.games.selection import GameSelection, is_team_event


def text(white: str, black: str, **tags: str) -> str:
    lines = {"White": white, "Black": black, **tags}
    return "".join(f'[{name} "{value}"]\n' for name, value in lines.items()) + "\n1. e4 *\n"


def game(white: str, black: str, **tags: str) -> Game:
    data = text(white, black, **tags).encode()
    return Game("-", 0, len(data), data)


def kept(games: list[Game], **how: object) -> list[Game]:
    return GameSelection(**how).of(games)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "tags",
    [{"WhiteTeam": "Berlin"}, {"Event": "39th Olympiad"}, {"Event": "Bundesliga 2008"}, {"Event": "EU Team"}],
)
def test_team_games_go(tags: dict[str, str]) -> None:
    single = game("A", "B", Event="Steamboat Open", WhiteTeam="?")
    assert kept([game("A", "B", **tags), single], exclude_team=True) == [single]


@pytest.mark.parametrize(
    "name",
    [
        "TCh-FRA 2009",
        "ch-ESP Teams",
        "22nd ECC Open",
        "4NCL 2007-8",
        "Mitropa Cup",
        "Schachbundesliga",
        "AUT-chT",
        "Meesterklasse 2010-11",
        "Extraliga 0809",
        "TCh-SUI Nationalliga A",
        "Serie A1 Squadre",
        "Interclubs FRB",
        "RUS-CHN",
        "Allsvenskan 2008-2009",
        "12th World U16 Ol",
        "Pan-Am Intercollegiate 2012",
        "130th Varsity Match",
    ],
)
def test_teams_are_known_by_the_names_of_their_events(name: str) -> None:
    assert is_team_event(name)


@pytest.mark.parametrize("name", ["Dutch Open", "Candidates Match", "ch-GER", "Manhattan Chess Club ch", "World Cup"])
def test_single_players_meet_elsewhere(name: str) -> None:
    assert not is_team_event(name)


SWISS = [game(f"P{i}", f"P{i + 1}", Event="Open", Round=f"1.{i}") for i in range(0, 20, 2)]
ROBIN = [game("A", "B", Event="Robin", Round="1"), game("B", "C", Event="Robin", Round="2")]


def test_a_swiss_is_crowded_and_a_round_robin_is_not() -> None:
    unknown = [game(f"Q{i}", f"R{i}", Event="Simul") for i in range(20)]
    assert kept(SWISS + ROBIN + unknown, max_swiss=6) == ROBIN + unknown
    assert kept(SWISS, max_swiss=20) == SWISS


def test_the_field_is_counted_in_the_archive(tmp_path: Path) -> None:
    archive = tmp_path / "all.pgn"
    archive.write_text("\n".join(one.text for one in SWISS + ROBIN))
    few = [SWISS[0], ROBIN[0]]
    assert kept(few, max_swiss=6) == few, "two of the players are no crowd"
    assert kept(few, max_swiss=6, archive=[archive]) == ROBIN[:1]
    left, why = GameSelection(True, 6.0, [archive]).of(few)
    assert (left, dict(why)) == (ROBIN[:1], {"team game": 0, "game of crowded events": 1})
    elsewhere = game("P0", "P1", Event="Open", Round="1", Date="2008.01.02")
    assert kept([elsewhere], max_swiss=6, archive=[archive]) == [elsewhere], "the Open of another year"


def test_an_archive_alone_tells_nothing() -> None:
    with pytest.raises(InputError, match="--max-swiss"):
        GameSelection(archive=["all.parquet"])


def test_filter_selects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive, chosen, out = (tmp_path / name for name in ("all.pgn", "some.pgn", "left.pgn"))
    team = game("A", "C", Event="TCh-FRA", Round="1")
    archive.write_text("\n".join(one.text for one in [*SWISS, *ROBIN, team]))
    chosen.write_text("\n".join(one.text for one in (SWISS[0], *ROBIN, team)))
    words = ("filter", chosen, "--exclude-team", "--max-swiss", 6, "--archive", archive)
    code, said, err = run(capsys, *words, "--count-only", "--out-pgn", out)
    assert (code, said) == (0, "2\n"), err
    assert "1 x left out: team game" in err and "1 x left out: game of crowded events" in err
    assert [one.tags["Event"] for one in read(out)] == ["Robin", "Robin"]
    assert run(capsys, "filter", chosen)[0] == 2
    code, _, err = run(capsys, "filter", chosen, "--archive", archive, "--exclude-team")
    assert code == 2 and "--max-swiss" in err


def test_rows_of_an_index_are_selected_alike(tmp_path: Path) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.write_text("\n".join(one.text for one in SWISS + ROBIN))
    games = read(pgn)
    rows, why = GameSelection(max_swiss=6.0).rows(games.rows(keep_duplicates=True)[0], games.indexes)
    assert rows.select(pl.len()).collect().item() == 2
    assert why["game of crowded events"] == 10
