"""FIDE's lists are taken in, and tell the rating that was in force on the day of a game."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.commands import run
from tests.games.made import game_text
from tests.games.trf_made import OPEN
from tests.lists.made import OLD, combined, standard, xml, zipped

import assay
from assay.errors import InputError
from assay.lists.inforce import InForce, add, filled, folder, months

SLOW = {"Site": "Geneva SUI", "Event": "Geneva Open", "TimeControl": "5400+30"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return tmp_path


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


FORMS = {
    "standard_mar24frl.txt": standard,
    "players_list_2024-03.txt": combined,
    "players_list_xml_2024-03.xml": xml,
}


@pytest.mark.parametrize("name", sorted(FORMS))
@pytest.mark.parametrize("packed", [False, True])
def test_a_list_in_every_form(home: Path, name: str, packed: bool) -> None:
    text = FORMS[name]()
    path = zipped(home / "list.zip", name, text) if packed else put(home / name, text)
    made = add(path)
    assert (made.month, made.players, made.problems) == ("2024-03", 5, {"no rating": 1})
    row = pl.read_parquet(made.path).filter(pl.col("fide_id") == 1300001).to_dicts()[0]
    assert (row["name"], row["federation"], row["title"], row["birth"]) == ("Elm, Ada", "SUI", "GM", 1990)
    assert (row["standard"], row["standard_games"], row["standard_k"]) == (2410, 9, 10)
    assert row["rapid"] == (None if name.startswith("standard") else 2390)


def test_an_old_list(home: Path) -> None:
    line = f"{'1300001':10}{'Elm, Ada':33}{'g':5}{'SUI':5}{'2410':7}{'9':6}{'1990':6}"
    made = add(put(home / "list.txt", f"{OLD}\n{line}\n"))
    row = pl.read_parquet(made.path).to_dicts()[0]
    assert (made.month, row["title"], row["standard"], row["standard_k"]) == ("2006-07", "GM", 2410, None)


def test_lists_of_one_month_go_together(home: Path) -> None:
    add(put(home / "standard_mar24.txt", standard()))
    rapid = [
        {"id": 1300002, "name": "Oak, Bob", "fed": "GER", "rapid": 2111, "k": 20},
        {"id": 1300009, "name": "New, N", "rapid": 1500},
    ]
    made = add(put(home / "rapid_mar24.txt", standard(rapid, kind="rapid")))
    assert (made.kinds, made.players) == (("standard", "rapid"), 6)
    listed = pl.read_parquet(made.path).filter(pl.col("fide_id") == 1300002).to_dicts()[0]
    assert (listed["standard"], listed["rapid"], listed["birth"]) == (2205, 2111, 1980)


BAD = {
    "": "is empty",
    "nonsense\nmore\n": "no list of FIDE",
    "<html><body>Not found</body></html>": "no list of FIDE",
    "ID Number Name Rating\n": "no list of FIDE",
}


@pytest.mark.parametrize("text", sorted(BAD))
def test_what_is_no_list_is_a_sentence(home: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ratings", "add", str(put(home / "list_2024-03.txt", text))) == 1
    assert BAD[text] in capsys.readouterr().err
    assert months() == []


def test_a_damaged_archive_is_a_sentence(home: Path) -> None:
    path = zipped(home / "list.zip", "standard_mar24frl.txt", standard())
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="damaged archive"):
        add(path)


def test_a_list_without_a_month_asks_for_it(home: Path) -> None:
    path = put(home / "players_list_xml.xml", xml())
    with pytest.raises(InputError, match="--month"):
        add(path)
    assert run("ratings", "add", str(path), "--month", "2024-03") == 0
    assert run("ratings", "add", str(path), "--month", "03/2024") == 1
    assert run("ratings", "list") == 0
    assert months() == ["2024-03"]


def test_broken_lines_are_counted_by_reason(home: Path) -> None:
    odd = standard() + "x" * 5000 + "\r\n" + f"{'':15}{'Nobody':61}\r\n" + f"{'77':15}{'':61}{'':37}2000\r\n"
    odd += standard().splitlines()[1] + "\r\n"
    made = add(put(home / "standard_mar24.txt", odd))
    assert made.problems == {
        "a line that is far too long": 1, "no id": 1, "no name": 1, "no rating": 1, "an id that occurs again": 1,
    }  # fmt: skip


def test_people_of_one_name_are_told_by_federation(home: Path) -> None:
    add(put(home / "standard_mar24.txt", standard()))
    lists = InForce("2024-03", [1300003], ["Fir, Dee", "Bob Oak"])
    assert lists.find(None, "Fir, Dee", None, "standard") is None
    found = lists.find(None, "Fir, Dee", "ESP", "standard")
    assert found is not None and found.fide_id == 1300005
    assert lists.find(None, "Bob Oak", "FRA", "standard") is None
    assert lists.find(None, "Bob Oak", None, "standard").rating == 2205  # type: ignore[union-attr]
    assert lists.find(1300003, "?", None, "rapid") is None


def games(home: Path) -> Path:
    texts = [
        game_text(1, 60, White="Elm, Ada", Black="Bob Oak", Date="2024.03.09", WhiteElo="2400", **SLOW),
        game_text(
            2, 60, White="A. Cy", BlackFideId="1300002", Black="O.", WhiteFideId="1300003", Date="2024.03.10", **SLOW
        ),
        game_text(3, White="Elm, Ada", Black="Stranger, A", Date="2024.04.10", **SLOW),
        game_text(4, White="Elm, Ada", Black="Stranger, A", Date="2024.03.11", WhiteElo="2410", **SLOW),
        game_text(5, White="Elm, Ada", Black="Oak, Bob", Date="2024.03.11", Event="Geneva Blitz", Site="Geneva"),
        game_text(6, White="Elm, Ada", Black="Oak, Bob", Date="2024.03.11", Site="https://lichess.org/abcdefgh"),
    ]
    return put(home / "games.pgn", "\n\n".join(texts))


def test_missing_ratings_are_filled_and_others_named(home: Path) -> None:
    add(put(home / "players_list_2024-03.txt", combined()))
    found = filled(assay.read(games(home)))
    tags = [game.tags for game in found.games]
    assert (tags[0]["WhiteElo"], tags[0]["BlackElo"], tags[0]["WhiteTitle"]) == ("2410", "2205", "GM")
    assert (tags[1]["WhiteElo"], tags[1]["BlackElo"]) == ("1950", "2205")
    assert "WhiteElo" not in tags[2] and "WhiteElo" not in tags[5]
    assert (tags[4]["WhiteElo"], tags[4].get("BlackElo")) == ("2350", None)
    said = " ".join(found.remarks)
    assert "Elm, Ada 2400, on the list 2410" in said
    assert "No list of 2024-04 is here: 1 game" in said
    assert "Not over the board: 1 game" in said
    assert "Stranger, A" in said
    assert {name: found.errors[name] for name in ("Bob Oak", "A. Cy")} == {"Bob Oak": 49.0, "A. Cy": 108.0}
    assert found.errors["Elm, Ada"] == (33 + 33 + 49) / 3  # the last one at blitz, with another K


def test_without_a_list_it_says_what_to_do(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("screen", str(games(home)), "--rating", "fide", "--no-analysis") == 1
    assert "assay ratings add" in capsys.readouterr().err


def test_the_table_of_an_event_with_the_list(home: Path) -> None:
    add(put(home / "standard.txt", standard()), month="2026-01")
    trf = put(home / "open.trf", OPEN)
    plain = {row["player"]: row for row in assay.event(trf).table.to_dicts()}
    listed = {row["player"]: row for row in assay.event(trf, rating="fide").table.to_dicts()}
    assert (plain["Oak, Bob"]["rating"], listed["Oak, Bob"]["rating"]) == (2200, 2205)
    assert (plain["Fir, Dee"]["rating"], listed["Fir, Dee"]["rating"]) == (None, 1800)  # by the federation


def test_a_damaged_file_of_ours_is_a_sentence(home: Path) -> None:
    add(put(home / "standard_mar24.txt", standard()))
    (folder() / "2024-03.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(InputError, match="is damaged"):
        filled(assay.read(games(home)))
