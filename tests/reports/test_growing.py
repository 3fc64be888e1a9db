"""From a PGN to a report with a real engine, at the least depth that has a calibration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import rust_pgn_reader_python_binding as rust

import assay
from assay.cli.main import main
from assay.engine.store import Store
from assay.engine.turns import REPEATED
from assay.errors import InputError
from assay.moves import evidence
from assay.moves.asked import Asked
from assay.progress import Progress
from assay.reports.content import Report
from assay.reports.growing import make
from assay.reports.page import render

# Morphy - Duke of Brunswick and Count Isouard, Paris 1858; the same start with a repetition and no ratings; a game with
# an illegal move; an endgame that was set up, Black to move.
PGN = """\
[Event "Opera"]
[Site "Paris"]
[Date "1858.??.??"]
[White "Morphy, Paul"]
[Black "Allies"]
[Result "1-0"]
[WhiteElo "2600"]
[BlackElo "2000"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 10. Nxb5 cxb5
11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0

[Event "Opera"]
[White "Morphy, Paul"]
[Black "<b>Nobody</b>"]
[Result "1/2-1/2"]
[WhiteElo "2600"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 h6 10. Bh4 g5 11. Bg3 Kd8
12. Be2 Ke8 13. Bc4 Kd8 14. Be2 Ke8 1/2-1/2

[Event "Opera"]
[White "Morphy, Paul"]
[Black "Allies"]
[Result "0-1"]

1. e4 Ke4 0-1

[Event "Opera"]
[White "Allies"]
[Black "Morphy, Paul"]
[Result "0-1"]
[SetUp "1"]
[FEN "8/8/4k3/8/8/3PK3/8/8 b - - 0 40"]

40... Kd5 41. Kd2 Kd4 42. Ke2 0-1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("make")


@pytest.fixture(scope="module")
def grown(folder: Path) -> list[Report]:
    """Every report that was published on the way; the last is whole."""
    file = folder / "opera.pgn"
    sample = resources.files("assay.data").joinpath("kasparov-deep-blue-1997.pgn").read_text(encoding="utf-8")
    first_game = sample[: sample.index("[Event", 1)]
    file.write_text(f"{PGN}\n{first_game}", encoding="utf-8")
    published: list[Report] = []
    make(
        [file],
        Asked(store=folder / "store.db", depth=6, workers=1),
        progress=Progress("", quiet=True),
        publish=published.append,
    )
    return published


@pytest.fixture(scope="module")
def made(grown: list[Report]) -> Report:
    return grown[-1]


def test_players_have_ratings_or_reasons(made: Report) -> None:
    players = {player.name: player for player in made.players}
    assert set(players) == {"Morphy, Paul", "Allies", "<b>Nobody</b>", "Kasparov, Garry", "Deep Blue"}
    kasparov, blue, morphy = players["Kasparov, Garry"], players["Deep Blue"], players["Morphy, Paul"]
    assert made.players[0] in (kasparov, blue), "those with a rating come first"
    assert kasparov.intrinsic.low is not None
    assert kasparov.intrinsic.value is not None
    assert kasparov.intrinsic.low < kasparov.intrinsic.value
    assert kasparov.screening is not None
    assert blue.intrinsic.known
    assert blue.tag.note == "none in the tags"
    assert "no rating in the tags" in blue.screening_note
    assert (morphy.games, morphy.points, morphy.tag.value) == (4, 2.5, 2600)
    assert morphy.intrinsic.known or "at " in morphy.intrinsic.note
    for player in made.players:
        assert all(rating.known or rating.note for rating in player.ratings.values())


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many games are parsed, how often turns are judged and a store is opened, while a test runs."""
    found: Counter[str] = Counter()

    def counting(owner: Any, name: str, what: str, weight: Callable[..., int] = lambda *_, **__: 1) -> None:
        real = getattr(owner, name)

        def counted(*args: Any, **more: Any) -> Any:
            found[what] += weight(*args, **more)
            return real(*args, **more)

        monkeypatch.setattr(owner, name, counted)

    counting(rust, "parse_games", "games parsed", lambda texts, **_: len(texts))
    counting(evidence, "exponents", "judgings")
    counting(Store, "__init__", "stores opened")
    counting(Store, "read_bytes", "readings of the store")
    return found


def test_games_are_left_out_and_one_player_is_shown(folder: Path, made: Report) -> None:
    stored: Any = {"store": folder / "store.db", "depth": 6, "no_analysis": True}
    file = folder / "opera.pgn"
    alone = assay.report(file, player="Deep Blue", **stored).report
    assert [player.name for player in alone.players] == ["Deep Blue"]
    assert [{game.white, game.black} for game in alone.games] == [{"Deep Blue", "Kasparov, Garry"}]
    whole = next(player for player in made.players if player.name == "Deep Blue")
    assert alone.players[0].intrinsic == whole.intrinsic
    last = made.games[-1].number
    less = assay.report(file, without=[last], **stored).report
    assert last not in {game.number for game in less.games} and len(less.games) == len(made.games) - 1
    assert "Deep Blue" not in {player.name for player in less.players}
    with pytest.raises(InputError, match=r"there (is|are) .* game"):
        assay.report(file, without=[99], **stored)
    with pytest.raises(InputError, match="nobody called 'Deep Blu' plays in these games"):
        assay.report(file, player="Deep Blu", **stored)


def test_a_report_walks_through_its_games_once(folder: Path, made: Report, counts: Counter[str]) -> None:
    making = Asked(store=folder / "store.db", depth=6, no_analysis=True)
    again = make([folder / "opera.pgn"], making)
    assert counts == {
        "games parsed": len(made.games),
        "judgings": 1,
        "stores opened": 1,
        "readings of the store": 2,  # the values of all moves, and the second look at those that are marked
    }
    assert again.players == made.players


def test_a_rating_walks_through_its_games_once(folder: Path, made: Report, counts: Counter[str]) -> None:
    words = ["ipr", str(folder / "opera.pgn"), "--quick", "--no-analysis", "--store", str(folder / "store.db")]
    with pytest.raises(SystemExit, match=r"^0$"):
        main(words)
    assert counts == {"games parsed": len(made.games), "judgings": 1, "stores opened": 1, "readings of the store": 1}


def test_a_report_that_needs_the_engine_opens_the_store_once(
    folder: Path, made: Report, counts: Counter[str], tmp_path: Path
) -> None:
    file = tmp_path / "one.pgn"
    file.write_text(made.games[0].text, encoding="utf-8")
    make([file], Asked(store=tmp_path / "own.db", depth=6, workers=1), progress=Progress("", quiet=True))
    assert (counts["games parsed"], counts["judgings"], counts["stores opened"]) == (1, 1, 1)


def test_measures_are_shares_of_the_turns(made: Report) -> None:
    measures = {player.name: player.measures for player in made.players}
    match, top3, error = measures["Kasparov, Garry"]
    assert 0 < match.actual <= top3.actual <= 1
    assert match.expected is not None
    assert 0 < match.expected < 1
    assert error.actual >= 0
    assert measures["Deep Blue"][0].expected is None, "without a rating there is no expectation"


def test_moves_carry_values_and_chances(made: Report) -> None:
    moves = made.games[0].moves
    assert [move.san for move in moves[-2:]] == ["Nxb8", "Rd8#"]
    assert moves[0].left_out == "before move 9"
    assert moves[0].value is None
    counted = [move for move in moves if not move.left_out]
    assert counted
    for move in counted:
        chances = [c.probability for c in move.candidates if c.probability is not None]
        assert sum(chances) + move.others_probability == pytest.approx(1, abs=1e-6)
        assert move.san in [candidate.san for candidate in move.candidates]
    assert any(move.posterior.known for move in made.games[-1].moves)
    # Values are White's view: White is ahead from the sacrifice on, and mates.
    assert moves[-1].value == "#1"


def test_the_order_of_candidates_is_the_movers(made: Report) -> None:
    for at, move in enumerate(made.games[0].moves):
        values = [c.value for c in move.candidates if isinstance(c.value, int)]
        assert values == sorted(values, reverse=at % 2 == 0)


def test_repetitions_are_left_out(made: Report) -> None:
    assert REPEATED in [move.left_out for move in made.games[1].moves]
    assert made.provenance.left_out[REPEATED] == [move.left_out for move in made.games[1].moves].count(REPEATED)


def test_a_broken_game_is_told_and_the_rest_goes_on(made: Report) -> None:
    assert made.games[2].moves == ()
    assert "illegal move" in made.games[2].note
    assert made.provenance.problems == {"illegal move": 1}


def test_a_position_that_was_set_up(made: Report) -> None:
    game = made.games[3]
    assert (game.first_ply, [move.san for move in game.moves]) == (79, ["Kd5", "Kd2", "Kd4", "Ke2"])


def test_it_says_how_it_was_made(made: Report) -> None:
    how = made.provenance
    assert how.engine.startswith("Stockfish")
    assert how.depth == 6
    assert how.calibration == "stockfish-15.1-d6"
    assert how.sources[0].name == "opera.pgn"
    assert how.turns == sum(player.turns for player in made.players)
    assert made.title == "opera.pgn", "several events go by the name of the file"
    assert made.whole


def test_growing_reports_hold_whole_games_from_the_first(grown: list[Report]) -> None:
    for report in grown:
        assert [game.number for game in report.games] == list(range(1, len(report.games) + 1))
        assert report.games_expected == 5


def test_the_page_of_it_has_no_markup_of_players(made: Report) -> None:
    assert "<b>Nobody" not in render(made)


def test_a_second_time_nothing_is_analysed(folder: Path, made: Report) -> None:
    again = make([folder / "opera.pgn"], Asked(store=folder / "store.db", depth=6, engine="no-such-engine"))
    assert [player.intrinsic for player in again.players] == [player.intrinsic for player in made.players]


def test_a_file_without_games(folder: Path) -> None:
    empty = folder / "empty.pgn"
    empty.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="there is no game in"):
        make([empty], Asked(store=folder / "store.db", depth=6))
