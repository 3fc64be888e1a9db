"""What a report says of its players is what `assay rate` says: one answer, its witnesses, one test of agreement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import assay
from assay.reports.content import GameSection, Me, Move, PlayerSection, Provenance, Report, Screening, Slice
from assay.reports.growing import WrittenReport
from assay.reports.sentences import field_sentence, game_sentence, player_sentence, summary_of


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Six games of the simulated event, analysed at a small depth."""
    folder = tmp_path_factory.mktemp("witnesses")
    from assay.games.archives import write_samples

    event = next(path for path in write_samples(folder) if path.name == "simulated-event.pgn")
    games = [game.text for game in assay.read(event)][:6]
    (folder / "six.pgn").write_text("\n\n".join(games) + "\n")
    return {"what": folder / "six.pgn", "store": folder / "store.db", "depth": 6}


@pytest.fixture(scope="module")
def written(stored: dict[str, object]) -> WrittenReport:
    return assay.report(**stored)  # type: ignore[arg-type]


def test_a_report_says_of_each_player_what_rate_says(written: WrittenReport, stored: dict[str, object]) -> None:
    answer = {one.player: one for one in assay.rate(**stored).said}  # type: ignore[arg-type]
    assert {player.name for player in written.report.players} == set(answer)
    for player in written.report.players:
        said = answer[player.name]
        # Other turns are judged with those that count, and sums of them are rounded otherwise.
        assert player.joint.value == said.joint.value and player.joint.low == pytest.approx(said.joint.low, rel=1e-6)
        for name, rating in player.witnesses.items():
            assert rating.value == pytest.approx(said.alone[name].value, nan_ok=True)
        assert player.disagree == bool(said.agreement and said.agreement.alarm)
    values = [player.joint.value for player in written.report.players if player.joint.known]
    assert values == sorted(values, reverse=True)


def test_disagrees_stands_only_where_the_one_test_says_so(written: WrittenReport, tmp_path: Path) -> None:
    written.write(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("disagrees</span>") == sum(player.disagree for player in written.report.players)


def test_the_sentence_comes_first_everywhere(written: WrittenReport, tmp_path: Path) -> None:
    assert str(written).startswith("6 games,")
    assert written.report.summary == written.head
    assert " ".join(str(written).split()).startswith(written.head)
    written.write(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index('class="summary"') < page.index("<table")


def someone(name: str, z: float | None, **more: object) -> PlayerSection:
    line = None if z is None else Screening(z, z, z, z, 50.0, 0.1, 0.2, 0.17, "Usual.")
    around = assay.Estimate(1740.0, 1600.0, 1880.0)
    return PlayerSection(
        name, 9, 5.0, 250, assay.Estimate(1655.0), around, around, around, around, screening=line, **more
    )  # type: ignore[arg-type]


def test_sentences_of_events() -> None:
    def said(*players: PlayerSection) -> str:
        return field_sentence(Report("t", players, (), None))  # type: ignore[arg-type]

    assert said(someone("Elm", 2.35), someone("Oak", 0.1)) == (
        "Nobody's play is unusual for the rating; the highest z is 2.35, .17 such expected."
    )
    assert said(someone("Elm", 2.35), someone("Oak", None)).startswith("Of 1 who can be compared, nobody's play is")
    assert said(someone("Elm", 3.1), someone("Oak", 0.0)).startswith("Elm played closer to the engine")
    assert said(someone("Elm", 3.1), someone("Oak", 2.6)).startswith("2 players played closer")
    elm = someone("Elm", 2.51)
    many = replace(elm, screening=replace(elm.screening, expected_beyond=5.4))  # type: ignore[type-var]
    assert said(many, someone("Oak", 0.0)) == (
        "Nobody's play is unusual for the rating among so many; the highest z is 2.51, 5.4 such expected."
    )
    assert "can be compared" in said(someone("Oak", None))


def test_sentences_of_players_and_games() -> None:
    assert player_sentence(someone("Elm", 0.0)) == (
        "Elm played like 1740 (1600-1880) in 9 games; the rating in the file is 1655."
    )
    assert "your rating in the file" in player_sentence(someone("Elm", 0.0), "You")
    assert "disagree" in player_sentence(someone("Elm", 0.0, disagree=True))
    moves = (Move("e4", "e2e4", loss=0.0), Move("g5", "g7g5", loss=22.0, mark="??"))
    game = GameSection(1, "Elm", "Oak", "1-0", moves=moves, white_accuracy=99.7, black_accuracy=31.0, opening="Grob")
    assert game_sentence(game) == "Grob. Accuracy: Elm 100 %, Oak 31 %. The game turned at 1...g5??."
    mine = Me("Elm", True, {}, (), (Slice("endgame", 9, 99, 80.0, 82.0, 21.0),), (), (), (), ())
    made = Provenance("0", "today", (), problems={"variant: Chess960": 2, "a casual game": 1})
    assert summary_of(Report("t", (someone("Elm", 0.0),), (), made, me=mine)) == (
        "You played like 1740 (1600-1880) in 9 games; your rating in the file is 1655. "
        "Endgames cost you most: 21 Elo a game. Left out: 2 Chess960, 1 casual."
    )
    # What may be chance is not told as a finding; where all games are of one kind, it is.
    parts = tuple(replace(mine.by_phase[0], label=name, margin=35.0) for name in ("opening", "endgame"))
    chance = replace(mine, by_phase=parts, by_pool=(Slice("Lichess, rapid", 9, 99, 80.0),))
    told = summary_of(Report("t", (someone("Elm", 0.0),), (), replace(made, problems={}), me=chance))
    assert "in 9 games (Lichess, rapid); your" in told
    assert told.endswith(" 1655. No phase of the game costs clearly more than the others.")
