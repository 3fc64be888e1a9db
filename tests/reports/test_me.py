"""The report of one player: whose it is, strength over time, where the points go, instructive mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.cli.main import main
from assay.errors import InputError
from assay.games import Game
from assay.games.archives import write_samples
from assay.players import guessed
from assay.reports.me import CASUAL, casual, spelled
from assay.reports.page import render


def tagged(text: str, number: int) -> str:
    """A game as it would come from Lichess, in one of two months; the last is casual."""
    kind = "Casual" if number == 5 else "Rated"
    rest = "".join(line + "\n" for line in text.splitlines() if not line.startswith(("[Event", "[Site", "[Date")))
    month = 3 + number % 2
    return (
        f'[Event "{kind} rapid game"]\n[Site "https://lichess.org/game{number}"]\n[Date "2024.0{month}.10"]\n'
        f'[TimeControl "600+5"]\n{rest}'
    )


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The five games of a player, and one of them again with another ending, casual."""
    folder = tmp_path_factory.mktemp("me")
    event = next(path for path in write_samples(folder) if path.name == "simulated-event.pgn")
    own = [game.text for game in assay.read(event) if "Elm" in (game.tags["White"], game.tags["Black"])]
    own.append(own[0].replace("1-0", "*"))
    (folder / "mine.pgn").write_text("\n\n".join(tagged(text, at) for at, text in enumerate(own)) + "\n")
    return folder / "mine.pgn"


@pytest.fixture(scope="module")
def mine(games: Path) -> assay.Answer:
    return assay.report(games, me=True, store=games.with_name("store.db"), depth=6)


def test_whose_games_they_are_is_seen_from_the_names(mine: assay.Answer, games: Path) -> None:
    report = mine.report  # type: ignore[attr-defined]
    assert report.me is not None and report.me.name == "Elm" and report.me.you
    assert report.summary.startswith("You played like ") and "your rating in the file is 2000" in report.summary
    assert [player.name for player in report.players] == ["Elm"]
    assert len(report.games) == 5 and report.provenance.problems[CASUAL] == 1
    assert report.whole and report.summary.endswith("Left out: 1 casual.")
    stored = {"store": games.with_name("store.db"), "depth": 6, "no_analysis": True}
    other = assay.report(games, **stored).report
    assert other.me is not None and not other.me.you and other.summary.startswith("Elm played like")
    assert assay.report(games, player="ELM", **stored).report.me == other.me


LINE = "1. e4 { [%eval 0.3] } e5 { [%eval 0.3] } 2. Nf3 { [%eval 0.3] } Nc6 { [%eval 0.3] }"
OTHERS = {
    "Rated Rapid game": ("Standard", "", LINE),
    "Casual Rapid game": ("Standard", "", LINE),
    "Rated Chess960 game": ("Chess960", "bqnb1rkr/pppppppp/8/8/8/8/PPPPPPPP/BQNB1RKR w HFhf - 0 1", "1. e4 e5"),
    "Rated Crazyhouse game": ("Crazyhouse", "", "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 4. P@d5"),
    "Rated Antichess game": ("Antichess", "", "1. e3 b5 2. Bxb5 Na6 3. Bxa6 Bxa6"),
}


def test_variants_and_casual_games_are_named_and_left_out(tmp_path: Path) -> None:
    """As Lichess exports them, the player's name in another spelling."""
    texts = []
    for number, (event, (variant, fen, moves)) in enumerate(OTHERS.items()):
        tags = {"Event": event, "Site": f"https://lichess.org/game000{number}", "Date": "2024.05.01"}
        tags |= {"White": "Elm_77", "Black": f"N{number}", "Result": "1-0", "WhiteElo": "1600", "BlackElo": "1500"}
        tags |= {"TimeControl": "600+0", "Variant": variant} | ({"FEN": fen, "SetUp": "1"} if fen else {})
        texts.append("".join(f'[{name} "{value}"]\n' for name, value in tags.items()) + f"\n{moves} 1-0\n")
    (tmp_path / "mine.pgn").write_text("\n".join(texts))
    for asked in ({"me": True}, {"player": "elm_77"}, {"player": "ELM_77"}):
        report = assay.report(tmp_path / "mine.pgn", evals=True, **asked).report
        assert report.summary.endswith("Left out: 1 casual, 1 Chess960, 1 Crazyhouse, 1 Antichess.")
        assert report.whole and [player.games for player in report.players] == [1]
        html = render(report)
        assert "games so far" not in html and "variant: Antichess" in html


def test_parts_of_the_play_make_up_the_whole(mine: assay.Answer, games: Path) -> None:
    me = mine.report.me  # type: ignore[attr-defined]
    assert {part.label for part in me.by_phase} <= {"opening", "middlegame", "endgame"}
    for parts in (me.by_phase, me.by_opening, me.by_month):
        assert sum(part.moves for part in parts) == sum(part.moves for part in me.by_phase)
        assert sum(part.cost for part in parts) == pytest.approx(0, abs=1e-6)
        assert all(part.margin >= 0 for part in parts)
        assert all(0 <= part.accuracy <= 100 and 0 <= part.usual <= 100 for part in parts)
    tags = [game.tags for game in assay.read(games)][:5]  # the last is casual
    wins = sum(one["Result"] == ("1-0" if one["White"] == "Elm" else "0-1") for one in tags)
    points = wins + sum(one["Result"] == "1/2-1/2" for one in tags) / 2
    assert sum(part.points for part in me.by_opening) == points and sum(part.results for part in me.by_month) == 5
    assert [part.label for part in me.by_month] == ["2024-03", "2024-04"]
    assert {pool: [when for when, _ in points] for pool, points in me.over_time.items()} == {
        "Lichess, rapid": ["2024.03", "2024.04"]
    }
    assert not me.by_clock  # there are no clocks
    assert len(me.mistakes) <= 5 and len({mistake.game for mistake in me.mistakes}) == len(me.mistakes)
    assert all("of winning chances" in mistake.text for mistake in me.mistakes)


def test_the_page_and_the_json_have_it(mine: assay.Answer, tmp_path: Path) -> None:
    page = render(mine.report)  # type: ignore[attr-defined]
    assert "<h1>Elm</h1>" in page and "(Lichess, rapid)" in page and "±" in page
    assert "Your play" in page and "Where the points go" in page and "Rating over time: Lichess, rapid" in page
    mine.write(tmp_path / "me.json")  # type: ignore[attr-defined]
    data = json.loads((tmp_path / "me.json").read_text())
    assert data["me"]["name"] == "Elm" and data["summary"].startswith("You played like")


def test_a_name_in_any_spelling_is_understood_or_told(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = {"Kasparov, Garry", "Kasparov, Sergey", "Deep Blue"}
    assert spelled("garry KASPAROV", names) == "Kasparov, Garry"
    with pytest.raises(InputError, match="It may be Kasparov, Garry or Kasparov, Sergey"):
        spelled("kasparov", names)
    assert spelled("GarryKasparov", {"garry_kasparov", "Deep Blue"}) == "garry_kasparov"
    with pytest.raises(InputError, match="nobody called 'Karpov'"):
        spelled("Karpov", names)
    with pytest.raises(SystemExit) as end:
        main(["report", str(assay.SAMPLE), "--me", "--store", str(games.with_name("none.db"))])
    assert end.value.code == 1
    assert 'say --player and who you are ("' in capsys.readouterr().err


def test_two_who_play_each_other_are_nobody_in_particular() -> None:
    assert guessed([("A", "B")] * 9) is None
    assert guessed([("A", "?")] * 9) == "A"
    assert guessed([("A", f"N{n}") for n in range(3)]) is None


def test_casual_games_are_told_by_their_event() -> None:
    texts = ('[Event "Casual Blitz game"]', '[Event "Rated Blitz game"]', '[Event "Casual Cup 2019"]')
    assert casual(Game("", 0, 0, text.encode()) for text in texts) == {1, 3}
