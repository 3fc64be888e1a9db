"""The command and function that give the answer: on games with an engine, without one, and with a user's mistakes."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path

import pytest
from tests.commands import run

import assay
from assay.answer.joining import Joint
from assay.errors import InputError

EVENT = Path(assay.__file__).parent / "data" / "simulated-event.pgn"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The event's analyses at the least depth."""
    path = tmp_path_factory.mktemp("answer") / "store.db"
    assert run("analyse", EVENT, "--depth", 6, "--store", path, "--quiet") == 0
    return path


def test_a_row_per_player_with_each_witness_beside_the_answer(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rate", EVENT, "--store", store, "--depth", 6, "--no-analysis", "--format", "json", "--quiet") == 0
    out, err = capsys.readouterr()
    rows = {row["player"]: row for row in json.loads(out)}
    assert "No prior: " in err and "Stockfish" in err
    assert len(rows) == 6
    for row in rows.values():
        assert row["low"] < row["rating"] < row["high"]
        told = [(row[f"{name}_low"], row[f"{name}_high"]) for name in ("results", "moves", "learned")]
        widths = [high - low for low, high in told if low is not None and high is not None]
        assert row["high"] - row["low"] < min(widths)
    # The same figure for the same moves as in ipr.
    alone = assay.rate_moves(EVENT, store=store, depth=6, no_analysis=True)
    for name, row in rows.items():
        value = alone[name].value
        assert row["moves"] == (pytest.approx(value, abs=2) if isfinite(value) else None)


def test_it_fits_eighty_columns(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rate", EVENT, "--store", store, "--depth", 6, "--no-analysis", "--quiet") == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_without_an_engine_the_others_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rate", EVENT, "--engine", "no-such-engine", "--store", tmp_path / "s.db", "--format", "json") == 0
    out, err = capsys.readouterr()
    assert "Moves are not heard: no chess engine 'no-such-engine' found" in err
    rows = json.loads(out)
    assert all(row["rating"] and row["learned"] and row["moves"] is None for row in rows)
    assert any(row["results"] for row in rows)


def test_witnesses_and_priors_are_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    alone = assay.rate(EVENT, witness=["results"])
    assert {one.alone["results"].value for one in alone.said} == {one.joint.value for one in alone.said}
    tagged = assay.rate(EVENT, witness=["results"], prior="tag")
    for one in tagged.said:
        before = alone[one.player]
        if not before.bounded:  # all games lost
            continue
        assert abs(one.joint.value - one.tag) < abs(before.value - one.tag) + 1
        assert one.joint.half_width < before.half_width
    assert any("tags" in line for line in tagged.remarks)
    with pytest.raises(InputError, match="there is no witness 'stars'"):
        assay.rate(EVENT, witness=["stars"])
    assert run("rate", EVENT, "--witness", "stars") == 2
    assert "choose among results, moves, learned" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"nobody called 'Elmm' plays in these games\. Did you mean"):
        assay.rate(EVENT, witness=["results"], player="Elmm")


def test_who_is_not_asked_has_no_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rate", EVENT, "--witness", "results", "--wide") == 0
    out = capsys.readouterr().out
    head, _, names = out.splitlines()[:3]
    assert head == "Ratings with 95% intervals, by results alone."
    assert names == "player   games   tag  rating   low  high  results  results_low  results_high  note"
    both = assay.rate(EVENT, witness=["learned", "results"]).table.columns
    assert [name for name in both if name in ("results", "moves", "learned", "moves_low", "p_agree")] == [
        "results",
        "learned",
        "p_agree",
    ]


def test_results_alone_are_rated_where_there_are_no_moves(tmp_path: Path) -> None:
    table = "white,black,result,white_elo,black_elo\nAnn,Bob,1-0,2100,2000\nBob,Cid,W,2000,1900\nCid,Ann,.5,1900,2100\n"
    (tmp_path / "table.csv").write_text(table)
    (tmp_path / "plain.pgn").write_text(
        '[White "Ann"]\n[Black "Bob"]\n[Result "1/2-1/2"]\n[WhiteElo "2100"]\n[BlackElo "2000"]\n\n1/2-1/2\n'
    )
    for file in ("table.csv", "plain.pgn"):
        found = assay.rate(tmp_path / file, store=tmp_path / "s.db")
        assert found["Bob"].known, file
        assert any("no turns to judge" in line for line in found.remarks)


def test_games_are_left_out_by_their_numbers() -> None:
    whole = assay.rate(EVENT, witness=["results"])
    less = assay.rate(EVENT, witness=["results"], without=[1, 2])
    assert sum(one.games for one in less.said) == sum(one.games for one in whole.said) - 4
    with pytest.raises(InputError, match="--without 99: there are 15 games"):
        assay.rate(EVENT, witness=["results"], without=[99])


def test_by_parts_of_the_games(store: Path) -> None:
    how = {"store": store, "depth": 6, "no_analysis": True}
    whole, phases = assay.rate(EVENT, **how), assay.rate(EVENT, by="phase", player="Elm", **how)
    assert {one.part for one in phases.said} <= {"opening", "middlegame", "endgame"}
    assert all(one.alone["results"].note == "only moves have phases" for one in phases.said)
    events = assay.rate(EVENT, by="event", **how)
    assert {one.player: one.joint.value for one in events.said} == {one.player: one.joint.value for one in whole.said}


def test_months_of_a_player_follow_each_other(tmp_path: Path) -> None:
    games = [
        f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n[Date "2020.0{month}.01"]\n'
        '[WhiteElo "2000"]\n[BlackElo "2000"]\n\n' + result
        for month, (white, black, result) in enumerate(
            [("Ann", "Bob", "0-1"), ("Bob", "Ann", "0-1"), ("Ann", "Bob", "1/2-1/2")], 1
        )
    ]
    (tmp_path / "games.pgn").write_text("\n\n".join(games) + "\n")
    found = assay.rate(tmp_path / "games.pgn", by="month", witness=["results"]).said
    assert [(one.player, one.part) for one in found] == [
        (name, f"2020.0{month}") for name in ("Ann", "Bob") for month in (1, 2, 3)
    ]


def test_a_list_knows_more_than_results_alone(store: Path) -> None:
    found = assay.rate(EVENT, as_list=True, store=store, depth=6, no_analysis=True).table
    assert found["rating"].to_list() == sorted(found["rating"].to_list(), reverse=True)
    assert (found["error"] < found["results_error"].fill_null(2000)).all()
    assert found["from_moves"].is_between(0, 1).all() and (found["from_moves"] > 0).any()


def test_a_list_starts_no_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rate", EVENT, "--list", "--store", tmp_path / "none.db", "--format", "csv") == 0
    out, err = capsys.readouterr()
    assert "Moves are not heard" in err and not (tmp_path / "none.db").exists()
    assert out.startswith("rank,player,games,rating,error,results")
    with pytest.raises(InputError, match="no prior: leave by, prior and fide out"):
        assay.rate(EVENT, as_list=True, by="year")
    with pytest.raises(InputError, match=r"nobody called 'Elmm' plays in these games\. Did you mean"):
        assay.rate(EVENT, as_list=True, player="Elmm", store=tmp_path / "none.db")


def test_a_list_knows_a_person_by_the_fide_id(store: Path, tmp_path: Path) -> None:
    text = EVENT.read_text()
    games = [f"[Event {game}" for game in text.split("[Event ")[1:]]
    named = [game.replace('[White "Fir"]', '[White "Fir"]\n[WhiteFideId "77"]') for game in games]
    named = [game.replace('[Black "Fir"]', '[Black "F. Fir"]\n[BlackFideId "77"]') for game in named]
    (tmp_path / "ids.pgn").write_text("".join(named))
    found = assay.rate(tmp_path / "ids.pgn", as_list=True, store=store, depth=6).table
    plain = assay.rate(EVENT, as_list=True, store=store, depth=6).table
    assert found.height == plain.height == 6
    assert sorted(found["moves"].drop_nulls().round(3)) == sorted(plain["moves"].drop_nulls().round(3))


def test_an_analysis_is_rated_like_its_games(store: Path) -> None:
    with assay.analyse(EVENT, store=store, depth=6, no_analysis=True) as analysis:
        found = assay.rate(analysis)
        less = assay.rate(analysis, without=[1])
    games = assay.rate(EVENT, store=store, depth=6, no_analysis=True)
    assert {one.player: one.joint.value for one in found.said} == {one.player: one.joint.value for one in games.said}
    assert sum(one.games for one in less.said) == sum(one.games for one in found.said) - 2


EVALS = """[Event "Rated Rapid game"]
[Site "https://lichess.org/abcdefgh"]
[White "ann"]
[Black "bob"]
[Result "1-0"]
[WhiteElo "1500"]
[BlackElo "1520"]
[TimeControl "600+0"]
[UTCDate "2022.05.01"]

1. e4 { [%eval 0.3] } 1... e5 { [%eval 0.3] } 2. Nf3 { [%eval 0.2] } 2... Nc6 { [%eval 0.3] } 3. Bc4 { [%eval 0.1] }
3... Nd4 { [%eval 1.0] } 4. Nxe5 { [%eval -1.2] } 4... Qg5 { [%eval -0.9] } 5. Nxf7 { [%eval -2.5] }
5... Qxg2 { [%eval -2.4] } 6. Rf1 { [%eval -2.8] } 6... Qxe4+ { [%eval -2.7] } 7. Be2 { [%eval -9.0] } 1-0
"""


def test_a_name_that_nobody_bears_is_told_before_any_engine_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, names = tmp_path / "none.db", tmp_path / "names.csv"
    names.write_text("Yew,Elm\n")
    for command in (
        ["rate", "--player", "Elmm"],
        ["compare", "--players", "Elm", "--quick"],
        ["rate", "--player", "Elm"],
    ):
        assert run(command[0], EVENT, *command[1:], "--store", store, "--aliases", names) == 1
        assert "nobody called" in capsys.readouterr().err and not store.exists()


def test_evaluations_in_the_games_speak_for_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "evals.pgn"
    file.write_text(EVALS)
    alone = assay.rate(file, witness=["moves"], evals=True)
    assert any("with evaluations in the games" in line for line in alone.remarks)
    by_moves = assay.rate_moves(file, evals=True)
    for name in ("ann", "bob"):
        assert str(alone[name]) == str(by_moves[name]) != "-"
    # Without an engine they do it unasked, and it is said.
    assert (
        run("rate", file, "--engine", "no-such-engine", "--store", tmp_path / "s.db", "--fide", "--format", "csv") == 0
    )
    out, err = capsys.readouterr()
    assert "The evaluations in the games are used instead" in err
    assert "fide" in out.splitlines()[0]
    assert run("rate", file, "--evals", "--fide") == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_pool_without_a_scale_of_its_own_is_named(tmp_path: Path) -> None:
    file = tmp_path / "evals.pgn"
    file.write_text(EVALS)
    near = "Chess.com, blitz: no scale of its own, rated on that of Lichess, blitz, and wider for it."
    assert near in assay.rate(file, evals=True, pool="chess.com-blitz").remarks
    assert not any("no scale of its own" in line for line in assay.rate(file, evals=True).remarks)
    # Also where the moves are not heard: the learned model is of another server's ratings, and less sure for it.
    unheard = {pool: assay.rate(file, witness=["learned"], pool=pool) for pool in ("chess.com-blitz", "lichess-blitz")}
    assert near in unheard["chess.com-blitz"].remarks and near not in unheard["lichess-blitz"].remarks
    strange, own = (unheard[pool].said[0].joint for pool in unheard)
    assert strange.half_width > own.half_width + 1
    assert not any("no scale" in line for line in assay.rate(file, witness=["results"], pool="chess.com-blitz").remarks)


def test_all_witnesses_go_by_the_same_pool(tmp_path: Path) -> None:
    """A game over a board that Lichess broadcasts is none of Lichess's, and --pool says what the tags do not."""
    tags = '[Event "Open"]\n[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n'
    game = tags + "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O O-O 1-0\n"
    tops = {}
    for site in ("Madrid", "https://lichess.org/broadcast/open/1", "https://lichess.org/abcdefgh"):
        file = tmp_path / "game.pgn"
        file.write_text(f'[Site "{site}"]\n{game}')
        tops[site] = assay.rate(file, witness=["learned"]).said[0].joint.value
    board, broadcast, server = tops.values()
    assert board == broadcast != server
    assert assay.rate(file, witness=["learned"], pool="otb-slow").said[0].joint.value == board


def test_players_who_never_met_are_compared_by_their_moves(tmp_path: Path, store: Path) -> None:
    games = EVENT.read_text().split("[Event ")[1:]
    names = {"Ash", "Elm"}
    apart = [game for game in games if sum(f'"{name}"' in game for name in names) != 1]
    (tmp_path / "apart.pgn").write_text("".join(f"[Event {game}" for game in apart))
    found = assay.rate(tmp_path / "apart.pgn", as_list=True, store=store, depth=6, no_analysis=True)
    assert all(found[name].bounded for name in found)


def made_games(*pairs: tuple[str, str, str], white_elo: int = 2000) -> str:
    """Games without moves: White, Black and the result, all rated 2000."""
    return "\n".join(
        f'[White "{white}"]\n[Black "{black}"]\n[Date "2020.01.{day + 1:02}"]\n[Round "{day + 1}"]\n'
        f'[Result "{result}"]\n'
        f'[WhiteElo "{white_elo}"]\n[BlackElo "2000"]\n\n{result}\n'
        for day, (white, black, result) in enumerate(pairs)
    )


def test_the_one_who_plays_all_games_stands_first(tmp_path: Path) -> None:
    mine = tmp_path / "mine.pgn"
    mine.write_text(made_games(*(("Me", f"N{at}", "0-1" if at % 2 else "1/2-1/2") for at in range(8))))
    rows = assay.rate(mine, witness=["results"]).table.rows(named=True)
    assert rows[0]["player"] == "Me" and rows[0]["rating"] < max(row["rating"] or 0 for row in rows[1:])


def test_a_bound_is_told_as_a_bound(tmp_path: Path) -> None:
    lost = tmp_path / "lost.pgn"
    lost.write_text(made_games(("Ann", "Bob", "1-0"), ("Bob", "Ann", "0-1"), ("Ann", "Cid", "1/2-1/2")))
    found = assay.rate(lost, witness=["results"])
    (row,) = (row for row in found.table.rows(named=True) if row["player"] == "Bob")
    assert row["rating"] is None and row["high"] > 1000 and row["note"].startswith("at most")
    (line,) = (line for line in str(found).splitlines() if line.startswith("Bob"))
    assert f"<{row['high']:.0f}" in line and f" {row['high']:.0f}" not in line  # once, and no interval of one end
    assert str(found).endswith("no more than a bound is known.")
    assert "bound" not in found.to("csv")


def test_a_loss_to_somebody_far_above_sets_no_bound_and_a_slip_is_no_rating(tmp_path: Path) -> None:
    lost = tmp_path / "lost.pgn"
    lost.write_text(made_games(("Ann", "Bob", "1-0"), white_elo=4000))
    assert "Bob: what is known sets no bound" in str(assay.rate(lost, witness=["results"]))
    lost.write_text(made_games(("Ann", "Bob", "1-0"), white_elo=22450))
    assert assay.rate(lost, witness=["results"]).table["tag"].to_list() == [None, 2000.0]


def test_a_game_of_a_variant_is_left_out_and_told_once(tmp_path: Path) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(
        made_games(("Ann", "Bob", "1-0"), ("Bob", "Cleo", "1-0")).replace("[W", '[Variant "Atomic"]\n[W', 1)
    )
    found = assay.rate(games, witness=["results"])
    assert {one.player for one in found.said} == {"Bob", "Cleo"}
    assert found.problems == {"variant: Atomic": 1} and "damaged: variant: Atomic 1." in str(found.remarks)


def test_a_single_game_is_summed_as_single_games_ask_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tags = '[White "Ann"]\n[Black "Bob"]\n[WhiteElo "2000"]\n[BlackElo "2000"]\n'
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O O-O 1/2-1/2\n"
    days = [f'{tags}[Date "2020.01.{day:02}"]\n[Result "1/2-1/2"]\n\n{moves}\n' for day in range(1, 10)]
    heights = {}
    for alone in (1.0, 0.25):
        joint = Joint({"results": 1.0, "learned": 1.0}, alone={"results": alone, "learned": alone})
        monkeypatch.setattr("assay.answer.joining.shipped", lambda joint=joint: {"otb": joint, "online": joint})
        for count in (1, 9):
            file = tmp_path / "games.pgn"
            file.write_text("\n".join(days[:count]))
            (ann,) = assay.rate(file, witness=["results", "learned"], player="Ann", keep_duplicates=True).said
            heights[alone, count] = [float(curve.max() - curve.min()) for curve in ann.curves.values()]
    assert heights[0.25, 1] == pytest.approx([height / 4 for height in heights[1.0, 1]])
    assert heights[0.25, 9] == heights[1.0, 9] and len(heights[1.0, 9]) == 2


def test_nobody_is_no_player(tmp_path: Path) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(made_games(("Ann", "?", "1-0"), ("?", "Ann", "1/2-1/2")))
    found = assay.rate(games, witness=["results"])
    assert [one.player for one in found.said] == ["Ann"] and any("without a name" in line for line in found.remarks)
    games.write_text(made_games(("?", "?", "1-0")))
    with pytest.raises(InputError, match="do not say who played: 'assay guess' rates"):
        assay.rate(games, witness=["results"])
