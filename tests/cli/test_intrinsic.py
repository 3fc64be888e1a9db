"""The commands fit, difference, show and simulate, as a user calls them."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import chess
import polars as pl
import pytest
from tests.commands import told as run
from tests.moves.test_simulation import material

from assay.engine.identity import Identity
from assay.engine.store import Store, writing
from assay.engine.uci import Valued
from assay.moves.simulation import Entrant, as_stored, play


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with eight simulated games and a store of the values they were played by."""
    folder = tmp_path_factory.mktemp("event")
    kept: dict[bytes, Valued] = {}

    def look(fen: str) -> Valued:
        valued = material(fen)
        return kept.setdefault(valued.key, valued)

    alice, bob = Entrant("Alice", 0.2, 0.5, 2000), Entrant("Bob", 0.4, 0.5, 1995)
    games = [play(*((alice, bob) if i % 2 else (bob, alice)), look, seed=i, round_number=i + 1) for i in range(8)]
    (folder / "games.pgn").write_text("\n\n".join(game.pgn("Test") for game in games) + "\n")
    with writing(folder / "store.db") as store:
        store.add(store.number_of(Identity("Fake 1", "", (), 0, 50)), [as_stored(valued) for valued in kept.values()])
    return folder


def on(event: Path) -> tuple[object, ...]:
    return event / "games.pgn", "--store", event / "store.db", "--depth", 1, "--limit", 10


def test_fit_prints_the_papers_table(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "fit", *on(event), "--by", "player", "--format", "csv")
    assert code == 0, err
    rows = {row["player"]: row for row in csv.DictReader(io.StringIO(out))}
    assert set(rows) == {"Alice", "Bob"}
    assert float(rows["Alice"]["s"]) < float(rows["Bob"]["s"])
    columns = "elo s c c_fit s_fit mm_predicted mm_actual ad_predicted ad_actual qfit turns games s_error c_error"
    assert set(columns.split()) <= set(rows["Alice"])
    assert "8 games" in err
    assert "before move 9" in err


def test_fit_by_milepost_appends_and_plots(event: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--by", "milepost", "--append", tmp_path / "fits.csv", "--plots", tmp_path / "plots", "--format", "json")
    code, out, err = run(capsys, "fit", *on(event), *words)
    assert code == 0, err
    (row,) = json.loads(out)
    assert (row["milepost"], row["games"]) == ("2000", 8)
    assert (tmp_path / "fits.csv").read_text().count("\n") == 2
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {"percentiles.png", "ranks.png", "scaling.png"}


def test_events_can_be_left_out(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "fit", *on(event), "--exclude-team", "--max-swiss", 6, "--fix-c")
    assert code == 0, err
    assert "Left out: 0 team games." in err
    assert "Left out: 0 games of crowded events." in err


def test_difference(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "difference", *on(event), "--by", "player", "--format", "json")
    assert code == 0, err
    alice, bob = sorted(json.loads(out), key=lambda row: row["player"])
    assert alice["raw"] < bob["raw"]
    assert run(capsys, "difference", *on(event), "--by", "evaluation")[0] == 0


@pytest.mark.parametrize("command", ["fit", "difference"])
def test_a_game_that_occurs_twice_is_fitted_once(command: str, event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    once = run(capsys, command, *on(event), "--format", "csv")[1]
    code, out, err = run(capsys, command, event / "games.pgn", *on(event), "--format", "csv")
    assert (code, out) == (0, once)
    assert "8 games occur twice and count once: 9 = 1 (" in err
    _, kept, err = run(capsys, command, event / "games.pgn", *on(event), "--format", "json", "--keep-duplicates")
    assert json.loads(kept)[0]["games"] == 16
    assert "occur twice" not in err


def test_show(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "show", *on(event), "--game", 2, "--s", 0.2, "--c", 0.5)
    assert code == 0, err
    assert out.splitlines()[0].split() == [
        "move",
        "played",
        "engine",
        "eval",
        "rank",
        "delta",
        "prob",
        "spread",
    ]
    assert "*" in out


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("show", "--s", 0.2), 2, "--s and --c go together"),
        (("show", "--game", 99, "--s", 0.2, "--c", 0.5), 1, "there are 8 games"),
        (("fit", "--depth", 9), 1, "holds no analyses at depth 9"),
        (("fit", "--by", "colour"), 2, "colour"),
        (("fit", "--engine", "Rybka"), 1, "no analyses by 'Rybka'"),
    ],
)
def test_mistakes_are_sentences(
    event: Path, capsys: pytest.CaptureFixture[str], words: tuple[object, ...], code: int, sentence: str
) -> None:
    found, _, err = run(capsys, words[0], *on(event), *words[1:])
    assert found == code
    assert sentence in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--s", 0.1), 2, "--s and --c for each"),
        (("--s", 0.1, "--c", 0.5), 1, "at least two players"),
        (("--s", 0.1, "--c", 0.5, "--s", 0.1, "--c", 0.5, "--assist", "Eve:0.3"), 1, "nobody is called 'Eve'"),
        (("--s", 0.0, "--c", 0.5, "--s", 0.1, "--c", 0.5), 1, "s must be a positive number"),
    ],
)
def test_a_tournament_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[object, ...], code: int, sentence: str
) -> None:
    found, _, err = run(capsys, "simulate", *words, "-o", tmp_path / "out.pgn")
    assert found == code
    assert sentence in err
    assert not list(tmp_path.iterdir()), "nothing half-written"


def test_show_lists_deltas_and_how_open_a_turn_is(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("show", *on(event), "--s", 0.2, "--c", 0.5, "--candidates", 3)
    code, out, err = run(capsys, *words, "--format", "delta")
    assert code == 0, err
    first = out.split("\n\n")[0].splitlines()
    assert [line.partition(": ")[0].partition(" = ")[0] for line in first] == [
        "Move played",
        "Engine move",
        "Eval",
        "Delta",
    ]
    assert first[-1].startswith("Delta = (") and "*" in first[-1]
    rows = json.loads(run(capsys, *words, "--format", "json")[1])
    assert all(row["entropy"] >= 0 and row["critical"] in (True, False) for row in rows)


@pytest.mark.parametrize("name", ["turns.parquet", "turns.jsonl"])
def test_turns_are_exported(event: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "export-turns", *on(event), "-o", tmp_path / name, "--format", "json")
    assert code == 0, err
    (said,) = json.loads(out)
    path = tmp_path / name
    frame = pl.read_parquet(path) if name.endswith("parquet") else pl.read_ndjson(path)
    assert (said["turns"], said["games"]) == (frame.height, frame["game"].n_unique())
    for row in frame.head(5).iter_rows(named=True):
        board = chess.Board(row["fen"])
        assert chess.Move.from_uci(row["played"]) in board.legal_moves
        assert {chess.Move.from_uci(move) for move in row["moves"]} <= set(board.legal_moves)
        assert row["values"] == sorted(row["values"], reverse=True) and len(row["values"]) == len(row["moves"])
        assert row["value"] == row["values"][row["moves"].index(row["played"])]
        assert row["player"] == (row["white"] if board.turn else row["black"])
    code, _, err = run(capsys, "export-turns", *on(event), "-o", tmp_path / "turns.txt")
    assert code == 1 and "neither .parquet nor .jsonl" in err


def test_a_line_of_c_is_told_or_taken(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "fit", *on(event), "--by", "player")
    assert code == 0 and "c_fit is the c of all turns together" in err
    words = ("--by", "player", "--c-line", "0.45,0.01", "--format", "json")
    code, out, err = run(capsys, "fit", *on(event), *words)
    assert code == 0 and "c_fit = 0.4500 at 2000, +0.0100 per 100 Elo, given" in err
    assert sorted(row["c_fit"] for row in json.loads(out)) == pytest.approx([0.4495, 0.45])
    assert run(capsys, "fit", *on(event), "--c-line", "steep")[0] == 2


def test_periods_on_the_command_line(event: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games.pgn"
    texts = (event / "games.pgn").read_text().split("[Event ")[1:]
    dated = [f'[Date "{1977 if at < 4 else 2008}.01.02"]\n[Event {text}' for at, text in enumerate(texts)]
    games.write_text("".join(text.replace('[Date "????.??.??"]\n', "") for text in dated))
    words = (games, *on(event)[1:], "--periods", "2006-2009,1976-1979", "--format", "json")
    code, out, err = run(capsys, "fit", *words, "--by", "milepost")
    assert code == 0, err
    rows = json.loads(out)
    assert [(row["period"], row["milepost"], row["games"]) for row in rows] == [
        ("1976-1979", "2000", 4),
        ("2006-2009", "2000", 4),
    ]
    assert run(capsys, "fit", *words[:-4], "--periods", "once", "--by", "milepost")[0] == 2


def test_the_grid_says_why_its_c_is_another(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "fit", *on(event), "--method", "grid", "--format", "json")
    assert code == 0, err
    assert 1 <= json.loads(out)[0]["c"] <= 5
    assert "it cannot be the one that was used" in err.replace("\n", " ")


def narrowed(event: Path, lines: int, path: Path) -> Path:
    """A store of the same analyses with no more than so many moves of each position."""
    with Store(event / "store.db") as wide, writing(path) as store:
        number = store.number_of(Identity("Fake 1", "", (), 0, lines))
        every = wide.all_valued(wide.kept()[0].id)
        store.add(
            number,
            [replace(one, moves=one.moves[: 2 * lines], scores=one.scores[: 2 * lines]) for one in every],
        )
    return path


def test_moves_that_the_engine_did_not_list_are_told(
    event: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (event / "games.pgn", "--store", narrowed(event, 2, tmp_path / "two.db"), "--depth", 1, "--limit", 10)
    code, _, err = run(capsys, "difference", *words, "--cap", 3)
    assert code == 0 and "played moves that the engine did not list: each counts as a loss of 3 pawns." in err
    assert "did not list" not in run(capsys, "difference", *on(event))[2]
    out = run(capsys, "show", *words, "--s", 0.2, "--c", 0.5, "--format", "delta", "--candidates", 3)[1]
    turn = next(turn for turn in out.split("\n\n") if turn.endswith(", ---) *"))
    assert "Eval: ---" in turn and re.search(r"Move played: \d+\.(\.\.)? \S+\n", turn)


def test_one_line_a_position_is_no_spread(event: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (event / "games.pgn", "--store", narrowed(event, 1, tmp_path / "one.db"), "--depth", 1, "--limit", 10)
    for command in (("fit",), ("show", "--s", 0.2, "--c", 0.5)):
        code, _, err = run(capsys, command[0], *words, *command[1:])
        assert code == 1 and "these analyses hold one line per position" in err
    code, _, err = run(capsys, "difference", *words)
    assert code == 0 and "One line per position: a played move is worth what the next position says" in err
