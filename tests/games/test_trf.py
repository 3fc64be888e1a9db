"""Tournament reports, record by record; games completed by them; tables of results."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.commands import run
from tests.games.made import game_text
from tests.games.trf_made import OPEN, player, report

import assay
from assay.errors import AssayWarning, InputError
from assay.games.tabled import result_of
from assay.games.trf import parse_trf


@pytest.fixture
def trf(tmp_path: Path) -> Path:
    path = tmp_path / "open.trf"
    path.write_text(OPEN, newline="")
    return path


def test_players_pairings_and_the_head_are_read() -> None:
    found = parse_trf(OPEN)
    ada = found.players[1]
    assert (ada.name, ada.title, ada.rating, ada.federation, ada.fide_id) == ("Elm, Ada", "GM", 2400, "SUI", 1300001)
    assert (ada.birth, ada.points, ada.rank, ada.sex) == (1990, 2.5, 1, "m")
    assert (found.name, found.city, found.federation, found.start, found.end) == (
        "Test Open", "Geneva", "SUI", "2026.01.10", "2026.01.12",
    )  # fmt: skip
    assert found.dates == {1: "2026.01.10", 2: "2026.01.11", 3: "2026.01.12"}
    assert found.players[4].rating is None and found.players[4].fide_id is None


def test_forfeits_byes_and_unplayed_rounds_are_no_games() -> None:
    found = parse_trf(OPEN)
    assert [(game.round, game.white, game.black, game.result) for game in found.games] == [
        (1, 1, 2, "1-0"), (1, 3, 4, "0-1"), (2, 3, 1, "1/2-1/2"), (2, 2, 4, "1-0"),
    ]  # fmt: skip
    assert found.unplayed == {"a bye": 1, "not paired": 1, "a forfeit": 1}
    assert not found.problems


@pytest.mark.parametrize("code", ["+", "-", "H", "F", "U", "Z", "W", "D", "L", "h", "f", "u", "z", "w", "d", "l"])
def test_every_code_that_is_no_game(code: str) -> None:
    found = parse_trf(report(player(1, "Elm", 2400, f"2 w {code}"), player(2, "Oak", 2200, "1 b 0")))
    assert found.games == () and sum(found.unplayed.values()) == 1


LEFT_OUT = pytest.mark.filterwarnings("ignore:left out")  # what is left out is said, too

RECORDS = [
    "### a remark", "062 4", "072 3", "082 0", "092 Swiss", "102 Arbiter, A", "112 Deputy", "142 3", "152 W",
    "162 W 3.0    D 1.0", "172 SUI FIDE", "182 Some program", "192 FIDE_DUTCH", "202 BH,SB", "212 PTS,BH",
    "222 5400+30", "352 WBWB", "362 TW 2.0", "013 Team One                           1    2",
    "310   1 Team One                         ONE     2486   15.0   28.0  11     1    2", "240 H 003  001",
    "250 00.0 02.0 001 003 0001 0090", "260 001 002  001  002", "299 W  01.0        001  001", "300 001   1   2    1",
    "320 01.0 01.0 000", "330 +- 001 001 002", "801 x", "802 x", "XXR 9", "XXC white1", "BBW 1.0",
    "DAT 0001 EMAIL x", "SUI    1                                        2450",
]  # fmt: skip


@pytest.mark.parametrize("line", RECORDS, ids=lambda line: line[:3])
def test_every_other_record_is_known_and_changes_no_game(line: str) -> None:
    found = parse_trf(OPEN + line + "\r\n")
    assert not found.problems
    assert found.games == parse_trf(OPEN).games


BROKEN = {
    "a line of no known kind": "99 x",
    "a player without a number": player(0, "Nobody", 2000),
    "a player without a name": player(9, "", 2000),
    "a number that two players have": player(1, "Elm again", 2000),
    "a player's line that is broken": player(9, "Yew", 2000, "2 x 1"),
}


@pytest.mark.parametrize("why", sorted(BROKEN))
def test_broken_lines_are_counted_by_reason_and_named(why: str) -> None:
    found = parse_trf(OPEN + BROKEN[why] + "\r\n")
    assert found.problems == {why: 1}
    assert found.named[0].startswith("line 12: ") and len(found.games) == 4


def test_games_that_the_two_report_differently_do_not_count() -> None:
    found = parse_trf(report(player(1, "Elm", 2400, "2 w 1"), player(2, "Oak", 2200, "1 b =")))
    assert found.games == () and found.problems == {"a game that the two report differently": 1}
    found = parse_trf(report(player(1, "Elm", 2400, "2 w 1"), player(2, "Oak", 2200)))
    assert found.problems == {"a game that only one of the two reports": 1}


def test_ratings_from_a_report(trf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert assay.rate_results(trf, force=True).games["counted"] == 4
    assert run("results", str(trf)) == 0
    assert "Elm, Ada" in capsys.readouterr().out
    tags = next(iter(assay.read(trf))).tags
    assert tags["WhiteElo"] == "2400" and tags["WhiteFideId"] == "1300001" and tags["Date"] == "2026.01.10"
    assert tags["TimeControl"] == "90+30" and tags["BlackTitle"] == "FM"


def test_a_report_called_txt_is_known_by_how_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "open.txt"
    path.write_text(OPEN)
    assert len(list(assay.read(path))) == 4


def test_what_is_no_report_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.trf"
    for text in ("", "nonsense\n", '[Event "x"]\n\n1. e4 *'):
        path.write_text(text)
        assert run("results", str(path)) == 1
        assert "is no tournament report" in capsys.readouterr().err
    path.write_text(report(player(1, "Elm", 2400, "0000 - U")))
    assert run("results", str(path)) == 1
    assert "there is no game in" in capsys.readouterr().err


def test_a_report_completes_the_games_beside_it(trf: Path, tmp_path: Path) -> None:
    pgn = tmp_path / "open.pgn"
    games = [
        game_text(1, White="Elm, Ada", Black="Bob Oak", result="*"),  # by name, in another order
        game_text(2, White="C. Ash", Black="FIR, DEE", WhiteFideId="1300003", result="0-1"),  # by id, and by name
        game_text(3, White="Ash, Cy", Black="Elm, Ada", Round="2", WhiteElo="2150", result="1-0"),  # it differs
        game_text(4, White="Oak, Bob", Black="Ash, Cy", Round="3", result="0-1"),  # a forfeit
        game_text(5, White="Oak, Bob", Black="Yew, Stranger", result="1-0"),  # who is that?
    ]
    pgn.write_text("\n\n".join(games))
    with pytest.warns(AssayWarning) as told:
        found = [game.tags for game in assay.read([pgn, trf])]
    said = " ".join(str(each.message) for each in told)
    assert found[0]["Result"] == "1-0" and found[0]["Round"] == "1" and found[0]["BlackElo"] == "2200"
    assert found[1]["Round"] == "1" and found[1]["WhiteElo"] == "2100"
    assert found[2]["Result"] == "1-0" and found[2]["WhiteElo"] == "2150"
    assert found[3]["Result"] == "*"
    assert len(found) == 6 and found[5]["White"] == "Oak, Bob" and found[5]["Black"] == "Fir, Dee"
    assert "Results that differ" in said and "1/2-1/2" in said
    assert "Ratings that differ" in said and "2150, there 2100" in said
    assert "round 3 is a forfeit" in said
    assert "Yew, Stranger" in said


def test_the_table_of_an_event(trf: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = {row["player"]: row for row in assay.event(trf).table.to_dicts()}
    ada = rows["Elm, Ada"]
    assert (ada["rank"], ada["points"], ada["games"], ada["k"]) == (1, 2.5, 2, 10)
    assert ada["expected"] == pytest.approx(0.76 + 0.85)  # 200 and 300 points
    assert ada["change"] == pytest.approx(10 * (1.5 - 1.61))
    assert (ada["opponents"], ada["performance"]) == (2150.0, 2150.0 + 193)
    assert (ada["r1"], ada["r2"], ada["r3"]) == ("3w1", "2b=", "U")
    assert rows["Ash, Cy"]["k"] == 40  # under 18
    assert rows["Fir, Dee"]["expected"] is None and rows["Fir, Dee"]["performance"] == 2150.0
    assert run("event", str(trf)) == 0
    assert "3w1" in capsys.readouterr().out
    for kind in ("csv", "json", "html"):
        assert run("event", str(trf), "-o", str(tmp_path / f"event.{kind}")) == 0
    assert "Elm, Ada" in (tmp_path / "event.html").read_text()
    assert json.loads((tmp_path / "event.json").read_text())[0]["player"] == "Elm, Ada"
    assert (tmp_path / "event.csv").read_text().startswith("rank,number,player,")


def test_points_that_are_not_those_of_the_rounds_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.trf"
    path.write_text(report(player(1, "Elm", 2400, "2 w 1", points=3.0), player(2, "Oak", 2200, "1 b 0")))
    found = assay.event(path)
    assert any("Elm 3, by the rounds 1" in remark for remark in found.remarks)
    assert found.table["points"].to_list() == [3.0, 0.0]


def test_a_page_of_an_event_holds_no_code_of_strangers(tmp_path: Path) -> None:
    path = tmp_path / "x.trf"
    path.write_text(report(player(1, "<script>alert(1)</script>", 2400, "2 w 1"), player(2, "Oak", 2200, "1 b 0")))
    assert "<script" not in assay.event(path).to("html")


TABLE = "white,black,result,date,round,event\nElm,Oak,{},2024-03-01,1,Cup\nOak,Elm,0,2024-03-02,2,Cup\n"


@pytest.mark.parametrize("written", ["1-0", "1", "1.0", "W", "win", "white", "1:0"])
def test_a_win_however_it_is_written(tmp_path: Path, written: str) -> None:
    path = tmp_path / "results.csv"
    path.write_text(TABLE.format(written))
    found = assay.rate_results(path, force=True)
    assert found.games["counted"] == 2 and found.table["player"][0] == "Elm"


def test_results_in_all_their_forms() -> None:
    assert [result_of(each) for each in (0.5, ".5", "0,5", "½", "D", "draw", "=", "1/2")] == ["1/2-1/2"] * 8
    assert [result_of(each) for each in (0, "0", "L", "0-1", "black")] == ["0-1"] * 5
    assert [result_of(each) for each in (None, "", "*", float("nan"))] == ["*"] * 4


@LEFT_OUT
def test_tables_as_parquet_and_as_frames(tmp_path: Path) -> None:
    frame = pl.DataFrame({"White": ["Elm", "Oak", "Elm"], "Black": ["Oak", "Elm", "Ash"], "Score": [1.0, 0.5, None]})
    frame.write_parquet(tmp_path / "results.parquet")
    for what in (frame, tmp_path / "results.parquet", [frame]):
        found = assay.rate_results(what, force=True)
        assert (found.games["counted"], found.games["unfinished"]) == (2, 1)
    assert assay.read(frame).frame["white"].to_list() == ["Elm", "Oak", "Elm"]
    with pytest.raises(InputError, match="no column black"):
        assay.rate_results(frame.drop("Black"))


class PandasLike(dict[str, list[object]]):
    """What is used of a frame of pandas, which need not be installed."""

    @property
    def columns(self) -> list[str]:
        return list(self)

    def itertuples(self) -> None:
        """Pandas has it, and polars has not."""


@LEFT_OUT
def test_a_frame_like_those_of_pandas() -> None:
    frame = PandasLike(white=["Elm", "Oak"], black=["Oak", "Elm"], result=["1-0", float("nan")])
    found = assay.rate_results(frame, force=True)  # type: ignore[arg-type]
    assert (found.games["counted"], found.games["unfinished"]) == (1, 1)


@LEFT_OUT
def test_results_that_nobody_knows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("White;Black;Result\nElm;Oak;1-0\nElm;Oak;+\n")
    found = assay.rate_results(path, force=True)
    assert found.games["counted"] == 1 and found.problems == {'unknown result "+"': 1}


def test_an_index_is_still_an_index(tmp_path: Path) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.write_text(game_text(1) + "\n\n" + game_text(2))
    for name in ("games.parquet", "games.csv"):
        assert run("index", str(pgn), "-o", str(tmp_path / name)) == 0
        assert len(next(iter(assay.read(tmp_path / name))).text) > 100
