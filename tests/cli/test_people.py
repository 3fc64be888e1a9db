"""What a person could be harmed by, in the commands that rate and screen: on a real event of simulated players."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess.pgn
import pytest
from tests.commands import run

from assay.games.archives import sample
from assay.scales import line_called

Words = tuple[object, ...]


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fifteen games of six players."""
    path = tmp_path_factory.mktemp("people") / "event.pgn"
    path.write_bytes(sample("simulated-event.pgn"))
    return path


@pytest.fixture(scope="module")
def store(event: Path) -> Path:
    """Their analyses at a small depth."""
    path = event.with_name("store.db")
    assert run("analyse", event, "--store", path, "--depth", 6, "--quiet") == 0
    return path


@pytest.fixture
def stored(store: Path) -> Words:
    return ("--store", store, "--depth", 6, "--no-analysis", "--quiet")


def near(one: Any, other: Any) -> bool:
    """Whether two answers are the same, but for the rounding of sums over other numbers of turns."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(near(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(near, one, other))
    return bool(one == pytest.approx(other, rel=1e-6, nan_ok=True)) if isinstance(one, float) else bool(one == other)


def rows(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, dict[str, Any]]:
    """The rows of a table by player."""
    capsys.readouterr()
    assert run(*words, "--format", "json") == 0
    return {row["player"]: row for row in json.loads(capsys.readouterr().out)}


def test_one_player_is_screened_in_the_whole_field(
    event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = rows(capsys, "screen", event, *stored)
    for name in ("Elm", "Cedar"):
        assert rows(capsys, "screen", event, *stored, "--player", name) == {name: whole[name]}
    assert run("screen", event, *stored, "--player", "Elm") == 0
    assert "6 rows (1 shown)" in capsys.readouterr().out
    assert run("screen", event, *stored, "--player", "Elmo") == 1
    assert "Did you mean 'Elm'" in capsys.readouterr().err


def test_no_share_without_an_interval(event: Path, stored: Words, capsys: pytest.CaptureFixture[str]) -> None:
    for row in rows(capsys, "screen", event, *stored).values():
        assert row["share_low"] <= row["share"] <= row["share_high"]


def test_one_game_is_not_drawn_anew(event: Path, stored: Words, capsys: pytest.CaptureFixture[str]) -> None:
    how = ("--by", "all", "--method", "regan", "--interval", "bootstrap")
    text = event.read_text().split("[Event ")
    few = event.with_name("few.pgn")
    few.write_text("[Event " + "[Event ".join(text[1:10]))
    (row,) = _all(capsys, "ipr", few, *stored, *how)
    assert "a bootstrap takes 10 games" in row["note"] and row["high"] - row["low"] > 50
    one = event.with_name("one.pgn")
    one.write_text("[Event " + text[8])
    for row in rows(capsys, "ipr", one, *stored).values():
        assert row["high"] is None or row["low"] is None or row["high"] - row["low"] > 400


def test_notes_are_for_readers(event: Path, stored: Words, capsys: pytest.CaptureFixture[str]) -> None:
    notes = [row["note"] for by in ("player", "game") for row in _all(capsys, "ipr", event, *stored, "--by", by)]
    for note in notes:
        assert "artery" not in note and "at most this" not in note and "at least this" not in note


def _all(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(*words, "--format", "json") == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def report(store: Path, tmp_path: Path) -> Any:
    """Make a report in a format, and read it back as text."""

    def make(games: Path, format: str, *words: object) -> str:
        out = tmp_path / f"report.{format}"
        given = ("--store", store, "--calibration", "stockfish-15.1-d6", "--no-analysis", "--quiet", "-o", out, *words)
        assert run("report", games, *given) == 0
        return out.read_text(encoding="utf-8")

    return make


def test_the_value_told_with_a_move_is_its_own(event: Path, stored: Words, capsys: pytest.CaptureFixture[str]) -> None:
    (store, _, depth) = stored[1:4]
    words = ("show", event, "--store", store, "--depth", depth, "--game", 3)
    for row in _all(capsys, *words):
        own = next(said for said in row["spread"].split(", ") if said.startswith("*"))
        assert own.split()[1] == f"{row['evaluation']:+.2f}"
    assert run(*words) == 0
    assert " 0.0 %" not in capsys.readouterr().out


def test_a_report_tells_the_value_of_the_move_itself(event: Path, report: Any) -> None:
    worse = 0
    for game in json.loads(report(event, "json"))["games"]:
        for move in game["moves"]:
            own = [c["value"] for c in move["candidates"] if c["san"] == move["san"]]
            assert [move["worth"]] == (own or [None])
            worse += bool(own) and own[0] != move["value"]
    assert worse > 50
    assert "p 0.0 %" not in report(event, "pgn")
    page = report(event, "html")
    for quotable in ("assisted", "Likelihood ratio", "artery"):
        assert quotable not in page


RICH = """[Event "Simulated event"]
[Site "Assay"]
[Date "2020.01.02"]
[Round "1"]
[White "Ash"]
[Black "Birch"]
[Result "1-0"]
[ECO "B00"]
[Opening "Nimzowitsch \\"Defence\\""]
[TimeControl "5400+30"]
[WhiteFideId "42"]
[WhiteElo "2400"]
[BlackElo "2300"]

{ Before the game. } 1. e4 { [%clk 1:30:00] } 1... Nc6! $14 {
over two lines [%clk 1:29:00] } (1... d5 2. exd5 {no gambit} (2. e5 ; to the end of the line
2... Bf5) Qxd5) 2. d4 h6 3.Be3 e5 4. d5 Nce7 5. c4?! Ng6 6. Nc3 Nf6 ; why not
7. f3 Bb4 8. Qb3 Bxc3+ 9. bxc3 { [%clk 0:45:00] } O-O 10. Ne2 $1 Nh7 { [%csl Gh7] } 11. Ng3 d6 12. c5 b6 13. c6
Nh4 14. c4 f5 15. exf5 Bxf5 1-0
"""


def nodes(text: str) -> tuple[dict[str, str], list[tuple[str, str, set[int]]]]:
    """Tags, and every move of all variations with its comment and glyphs."""
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None and not game.errors
    found, stack = [("", game.comment, set[int]())], [*reversed(game.variations)]
    while stack:
        node = stack.pop()
        found.append((node.san(), f"{node.starting_comment}{node.comment}", node.nags))
        stack += reversed(node.variations)
    return dict(game.headers), found


def test_an_annotated_game_loses_nothing(event: Path, report: Any) -> None:
    rich = event.with_name("rich.pgn")
    rich.write_text(RICH, encoding="utf-8")
    text = report(rich, "pgn")
    (tags, before), (own, after) = nodes(RICH), nodes(text)
    assert own == tags | {"Annotator": "Assay"}
    assert list(own)[: len(tags)] == list(tags)
    assert [san for san, _, _ in after] == [san for san, _, _ in before]
    # A mark of the report's own stands only where the file has none.
    marks = [(had, nags) for (_, _, had), (_, _, nags) in zip(before, after, strict=True)]
    assert all(nags == had if had else nags <= {2, 4, 6} for had, nags in marks)
    for (_, comment, _), (_, now, _) in zip(before, after, strict=True):
        assert " ".join(comment.split()) in " ".join(now.split())
    assert "[%eval" in text and " p " in text


def test_evaluations_of_the_file_stay_the_only_ones(event: Path, report: Any) -> None:
    rich = event.with_name("valued.pgn")
    rich.write_text(RICH.replace("[%clk 0:45:00]", "[%eval 0.77] [%clk 0:45:00]"), encoding="utf-8")
    text = report(rich, "pgn")
    assert text.count("[%eval") == 1
    assert "[%eval 0.77] [%clk 0:45:00]" in text and " p " in text


def games_of(event: Path) -> list[str]:
    return [f"[Event {game}" for game in event.read_text().split("[Event ")[1:]]


def given(event: Path, name: str, games: list[str]) -> Path:
    path = event.with_name(name)
    path.write_text("".join(games), encoding="utf-8")
    return path


@pytest.mark.parametrize("command", ["ipr", "screen"])
def test_a_game_that_occurs_twice_counts_once(
    command: str, event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    once = rows(capsys, command, event, *stored)
    games = games_of(event)
    again = games[7].replace('"Elm"', '"ELM (GER)"').replace('"Simulated event"', '"Copy"')
    twice = given(event, "twice.pgn", [*games[:8], again, *games[8:], games[9]])
    assert rows(capsys, command, twice, *stored) == once
    assert rows(capsys, command, event, twice, *stored) == once
    assert run(command, twice, *stored) == 0
    said = capsys.readouterr().err
    assert "2 games occur twice and count once: 9 = 8 (" in said
    assert "look like one person" not in said, "who plays in copies alone does not count"
    kept = rows(capsys, command, event, event, *stored, "--keep-duplicates")
    assert {name: row["turns"] for name, row in kept.items()} == {name: 2 * row["turns"] for name, row in once.items()}


def test_a_calibration_counts_a_game_once(
    event: Path, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = [re.sub(r'(WhiteElo|BlackElo) "\d+"', r'\1 "2000"', game) for game in games_of(event)[:4]]
    four = given(event, "four.pgn", games)
    words = ("calibrate", four, four, "--store", store, "--depth", 6, "-o", tmp_path / "c.json")
    assert run(*words) == 1
    said = capsys.readouterr().err
    assert "4 games occur twice and count once: 5 = 1 (" in said and "no mark has 5 analysed games" in said
    run(*words, "--keep-duplicates")
    said = capsys.readouterr().err
    assert "occur twice" not in said and "no mark has 5 analysed games" not in said


def test_numbers_of_games_stay_when_one_occurs_again(
    event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    games = games_of(event)
    twice = given(event, "numbers.pgn", [games[0], games[0], *games[1:]])
    named = [row["game"] for row in _all(capsys, "ipr", twice, *stored, "--by", "game")]
    assert len(named) == 15 and named[0].startswith("1. ") and named[1].startswith("3. ")
    assert run("ipr", twice, *stored, "--without", 16, "--quiet") == 0
    assert "Left out as asked: game 16" in capsys.readouterr().err


def test_a_missing_rating_tag_is_taken_from_other_games(
    event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = rows(capsys, "screen", event, *stored)
    games = games_of(event)
    at = next(i for i, game in enumerate(games) if '[White "Elm"]' in game)
    lacking = re.sub(r"\[WhiteElo .*\n", "", games[at])
    some = given(event, "lacking.pgn", [*games[:at], lacking, *games[at + 1 :]])
    found = rows(capsys, "screen", some, *stored)
    note = f"no rating tag in game {at + 1}: 2000 taken from other games"
    assert note in found["Elm"].pop("note")
    whole["Elm"].pop("note")
    assert found == whole
    assert note in rows(capsys, "ipr", some, *stored)["Elm"]["note"]


def test_of_several_ratings_the_nearest_in_date_is_taken(
    event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    dated = {0: ("2010.05.01", 1800), 1: ("2015.??.??", 2000)}
    games = []
    for at, game in enumerate(g for g in games_of(event) if '[White "Ash"]' in g):
        date, elo = dated.get(at, ("2014.06.01", None))
        tag = f'[WhiteElo "{elo}"]' if elo else '[WhiteElo "?"]'
        games.append(re.sub(r"\[WhiteElo .*\]", tag, game).replace("????.??.??", date))
    found = rows(capsys, "ipr", given(event, "dated.pgn", games[:3]), *stored)["Ash"]
    assert "no rating tag in game 3: 2000 taken from other games" in found["note"]


LICHESS = ('[Site "Assay"]', '[Site "https://lichess.org/abcdefgh"]\n[TimeControl "180+0"]')


def test_online_games_are_rated_on_the_scale_of_their_pool(
    event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    online = given(event, "online.pgn", [game.replace(*LICHESS) for game in games_of(event)])
    assert run("ipr", online, *stored) == 0
    assert "Scale: Lichess, blitz (15 games)." in capsys.readouterr().err
    slow, blitz = rows(capsys, "ipr", event, *stored), rows(capsys, "ipr", online, *stored)
    line = line_called("lichess-blitz@180")
    for name, row in blitz.items():
        if row["ipr"] and slow[name]["ipr"]:
            assert row["ipr"] == pytest.approx(float(line.rating(slow[name]["ipr"])), abs=8)
            assert "no scale of its own" not in row["note"]
    # What is expected of a tag, and with it z, is that of the pool as well.
    assert [row["mm_expected"] for row in blitz.values()] != [slow[name]["mm_expected"] for name in blitz]
    z = {name: row["z"] for name, row in rows(capsys, "screen", online, *stored).items()}
    assert all(z[name] > row["z"] for name, row in rows(capsys, "screen", event, *stored).items() if row["z"])
    assert run("posterior", online, "--game", 8, *stored) == 0
    as_slow = rows(capsys, "ipr", online, *stored, "--pool", "otb-slow")
    assert as_slow == rows(capsys, "ipr", event, *stored)


def test_pools_without_a_scale_are_rated_on_the_nearest_and_say_so(
    event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    place = (LICHESS[0], '[Site "Chess.com"]\n[TimeControl "180+0"]')
    elsewhere = given(event, "elsewhere.pgn", [game.replace(*place) for game in games_of(event)])
    online = given(event, "online.pgn", [game.replace(*LICHESS) for game in games_of(event)])
    own = rows(capsys, "ipr", online, *stored)
    for name, row in rows(capsys, "ipr", elsewhere, *stored).items():
        assert "Chess.com, blitz: no scale of its own, rated on that of Lichess, blitz" in row["note"]
        assert row["ipr"] == own[name]["ipr"] and row["mm_expected"] is None
        if row["low"] and row["high"]:
            assert row["high"] - row["low"] > own[name]["high"] - own[name]["low"]
    for row in rows(capsys, "screen", elsewhere, *stored).values():
        assert row["z"] is row["q_value"] is None and "--null field" in row["note"]
    blitz = given(event, "blitz.pgn", [game.replace('"Simulated event"', '"Blitz Cup"') for game in games_of(event)])
    for row in rows(capsys, "ipr", blitz, *stored).values():
        assert "over the board, blitz: no scale of its own, rated on that of slow games over the board" in row["note"]


def test_ratings_over_the_board_go_by_years(event: Path, stored: Words, capsys: pytest.CaptureFixture[str]) -> None:
    dated = {
        year: given(event, f"{year}.pgn", [game.replace("????.??.??", f"{year}.05.01") for game in games_of(event)])
        for year in (2012, 2018, 2025)
    }
    found = {year: rows(capsys, "ipr", path, *stored) for year, path in dated.items()}
    assert found[2012] == rows(capsys, "ipr", event, *stored)
    for year, name in ((2018, "otb-slow-2015-23"), (2025, "otb-slow-2024")):
        line = line_called(name)
        for player, row in found[year].items():
            if row["ipr"] and found[2012][player]["ipr"]:
                assert row["ipr"] == pytest.approx(float(line.rating(found[2012][player]["ipr"])), abs=8)
        asked = ("--scale-year", 2012)
        assert rows(capsys, "ipr", dated[year], *stored, *asked) == found[2012]
    z = {year: rows(capsys, "screen", path, *stored) for year, path in dated.items()}
    weak = [name for name, row in z[2012].items() if row["z"] is not None and row["rating"] < 2300]
    assert weak and all(z[2025][name]["z"] < z[2012][name]["z"] for name in weak)
    assert run("ipr", dated[2025], *stored) == 0
    assert "Scale: slow games over the board, from March 2024 on (15 games)." in capsys.readouterr().err


def test_a_player_of_two_pools_has_a_row_for_each(
    event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    games = games_of(event)
    mixed = given(event, "mixed.pgn", [*(game.replace(*LICHESS) for game in games[:7]), *games[7:]])
    for command in ("ipr", "screen"):
        found = _all(capsys, command, mixed, *stored)
        elm = {row["pool"]: row for row in found if row["player"] == "Elm"}
        assert set(elm) == {"otb-slow", "lichess-blitz"}
    for pool, some in (("otb-slow", games[7:]), ("lichess-blitz", [game.replace(*LICHESS) for game in games[:7]])):
        alone = rows(capsys, "ipr", given(event, "alone.pgn", some), *stored)
        both = {row["player"]: row for row in _all(capsys, "ipr", mixed, *stored) if row.pop("pool") == pool}
        assert near(both, alone)


def test_a_report_counts_a_game_once(event: Path, report: Any, capsys: pytest.CaptureFixture[str]) -> None:
    games = games_of(event)
    twice = given(event, "reported.pgn", [*games, games[7]])
    whole, found = json.loads(report(event, "json")), json.loads(report(twice, "json"))
    assert "1 game occurs twice and counts once: 16 = 8 (" in capsys.readouterr().err
    assert near(found["players"], whole["players"])
    assert found["games"][15]["note"] == "This game is left out: it is game 8 again."
    assert "16 = 8" in found["provenance"]["duplicates"]
    assert "16 = 8" in report(twice, "html")
    kept = json.loads(report(twice, "json", "--keep-duplicates"))
    assert not near(kept["players"], whole["players"]) and not kept["provenance"]["duplicates"]


def test_an_unfinished_game_of_a_newcomer_empties_no_column(event: Path, report: Any) -> None:
    newcomer = re.sub(r'\[White "\w+"\]', '[White "Nemo"]', games_of(event)[0]).replace("1-0", "*")
    with_him = report(given(event, "newcomer.pgn", [*games_of(event), newcomer]), "json")
    found, before = (
        {player["name"]: player["result"]["value"] for player in json.loads(text)["players"]}
        for text in (with_him, report(event, "json"))
    )
    assert found == before | {"Nemo": None} and sum(value is None for value in before.values()) < 2


def test_a_report_has_tags_by_pool_and_none_of_variants(event: Path, report: Any) -> None:
    def online(game: str, control: str, elo: int, *more: str) -> str:
        site = f'[Site "https://lichess.org/abcdefgh"]\n[TimeControl "{control}"]'
        game = game.replace('[Site "Assay"]', "\n".join([site, *more]))
        return re.sub(r'\[WhiteElo "\d+"\]', f'[WhiteElo "{elo}"]', game)

    own = [game for game in games_of(event) if '[White "Ash"]' in game][:3]
    played = [
        online(own[0], "1800+20", 1900),
        online(own[1], "180+0", 2100),
        online(own[2], "180+0", 9, '[Variant "Crazyhouse"]'),
    ]
    found = json.loads(report(given(event, "pools.pgn", played), "json"))
    ash = {player["name"]: player for player in found["players"] if player["name"].startswith("Ash")}
    assert {name: player["tag"]["value"] for name, player in ash.items()} == {
        "Ash (Lichess, classical)": 1900,
        "Ash (Lichess, blitz)": 2100,
    }
    assert {player["games"] for player in ash.values()} == {1}
    assert any(player["intrinsic"]["value"] for player in found["players"])
    assert "Lichess, classical" in found["provenance"]["settings"]["Scale"]
    assert "variant: Crazyhouse" in found["provenance"]["problems"]
    assert found["games"][2]["note"] == "This game is left out: variant: Crazyhouse."
    assert found["games"][0]["white"] == "Ash"
    moves = [move for game in found["games"] for move in game["moves"]]
    assert any(move["posterior"]["value"] and move["probability"] for move in moves)
    slow = json.loads(report(given(event, "pools.pgn", played), "json", "--pool", "otb-slow"))
    assert {player["tag"]["value"] for player in slow["players"] if player["name"] == "Ash"} == {2000}


def test_a_report_goes_by_aliases(event: Path, report: Any, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text("Slippery Elm,Elm\n")
    found = json.loads(report(event, "json", "--aliases", names))
    called = {player["name"] for player in found["players"]}
    assert "Slippery Elm" in called and "Elm" not in called


def test_a_folder_is_followed_round_by_round(
    event: Path, stored: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each new file is taken in; between looks nothing is printed again; Ctrl-C ends it."""
    folder, games = tmp_path / "rounds", games_of(event)
    folder.mkdir()
    (folder / "1.pgn").write_text("".join(games[:8]))
    waits = 0

    def wait(seconds: float) -> None:
        nonlocal waits
        waits += 1
        if waits == 2:
            (folder / "2.pgn").write_text("".join(games[8:]))
        if waits == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr("assay.fetch.asking.wait", wait)
    assert run("screen", "--live", folder, *stored) == 130
    said = capsys.readouterr()
    assert said.out.count("of 6 players") == 2 and "1 file" in said.err and "2 files" in said.err
    assert "6,000" in said.out and "with a chance of 0.1 % at most" in " ".join(said.out.split())
    found = rows(capsys, "screen", folder, *stored, "--sequential")
    at_once = rows(capsys, "screen", event, *stored, "--sequential")
    first = max(found, key=lambda name: found[name]["e_value"])
    assert near(found, at_once)
    assert all(row["highest"] >= row["e_value"] > 0 for row in found.values())
    careful = rows(capsys, "screen", event, *stored, "--sequential", "--rating-error", 300)
    assert careful[first]["e_value"] < found[first]["e_value"]


def test_a_folder_is_followed_whatever_appears_in_it(
    event: Path, stored: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a file, a damaged one, half an archive, another encoding, bytes, a folder, nothing: by what can be read."""
    folder, text = tmp_path / "rounds", event.read_bytes()
    folder.mkdir()
    at = text.find(b"[Event", len(text) // 2)
    first, second = folder / "1.pgn", folder / "2.pgn"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("../evil\x1b[2J.pgn", text[at:])
    damaged = bytearray(text[at:])
    for place in random.Random(3).sample(range(len(damaged)), 200):
        damaged[place] ^= 1
    appears: list[Callable[[], object]] = [
        lambda: second.write_bytes(text[at : at + 1500]),
        lambda: second.write_bytes(damaged),
        lambda: second.write_bytes(text[at:].decode().encode("utf-16")[:-1]),
        lambda: second.write_bytes(bytes(range(256)) * 40),
        lambda: (folder / "3.zip").write_bytes(archive.getvalue()[:900]),
        lambda: (folder / "3.zip").write_bytes(archive.getvalue()),
        lambda: (first.unlink(), second.unlink(), (folder / "3.zip").unlink()),
        lambda: (folder / "sub.pgn").mkdir(),
        lambda: (folder / "link.pgn").symlink_to("nowhere"),
        lambda: (first.write_bytes(text[:at]), second.write_bytes(text[at:])),
    ]
    first.write_bytes(text[:at])

    def wait(seconds: float) -> None:
        if not appears:
            raise KeyboardInterrupt
        appears.pop(0)()

    monkeypatch.setattr("assay.fetch.asking.wait", wait)
    assert run("screen", "--live", folder, *stored, "--format", "csv") == 130
    said = capsys.readouterr()
    assert "damaged zip data" in said.err and "no PGN file" in said.err
    assert "Traceback" not in said.err and "bug in Assay" not in said.err
    last = said.out[said.out.rindex("player,") :]
    at_once = rows(capsys, "screen", event, *stored, "--sequential")
    assert {row["player"]: float(row["e_value"]) for row in csv.DictReader(io.StringIO(last))} == pytest.approx(
        {name: row["e_value"] for name, row in at_once.items()}
    )


def test_two_spellings_that_look_like_one_person_are_pointed_out(
    event: Path, stored: Words, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    games = [game.replace('"Elm"', '"Elm, Slippery"') for game in games_of(event)]
    games[0] = re.sub(r'\[White "[^"]*"\]\n', '[White "Elm, S."]\n', games[0])
    games[0] = re.sub(r'\[WhiteElo "\d+"\]', '[WhiteElo "2000"]', games[0])
    two = given(event, "spellings.pgn", games)
    said = "These look like one person and count as two: Elm, S. and Elm, Slippery. --aliases joins them."
    for command in ("screen", "ipr"):
        assert run(command, two, *stored) == 0
        assert said in capsys.readouterr().err
    names = tmp_path / "names.csv"
    names.write_text('"Elm, Slippery","Elm, S."\n')
    assert run("screen", two, *stored, "--aliases", names) == 0
    assert "look like one person" not in capsys.readouterr().err


def test_an_unfinished_game_is_not_screened_and_counted_as_such(
    event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    games = games_of(event)
    at = next(i for i, game in enumerate(games) if '[White "Elm"]' in game or '[Black "Elm"]' in game)
    open_game = re.sub(r'\[Result "[^"]*"\]', '[Result "*"]', games[at])
    rest = rows(capsys, "screen", given(event, "rest.pgn", [*games[:at], *games[at + 1 :]]), *stored)
    found = rows(capsys, "screen", given(event, "open.pgn", [*games[:at], open_game, *games[at + 1 :]]), *stored)
    assert {name: row["z"] for name, row in found.items()} == {name: row["z"] for name, row in rest.items()}
    assert run("screen", given(event, "open.pgn", [*games[:at], open_game, *games[at + 1 :]]), *stored) == 0
    assert f"Left out, without a result: 1 game ({at + 1})." in capsys.readouterr().err
    assert run("screen", given(event, "open.pgn", [open_game]), *stored) == 1
    assert "no game here has a result" in capsys.readouterr().err
