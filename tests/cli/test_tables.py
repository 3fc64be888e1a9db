"""Every table that a command prints fits 80 columns where no terminal is, and holds everything as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.cli.test_intrinsic import event, on
from tests.cli.test_rating import games, store
from tests.commands import told

import assay
from assay.cli.main import main
from assay.table import WIDTH

__all__ = ["event", "games", "store"]

SAMPLE = Path(assay.__file__).parent / "data" / "kasparov-deep-blue-1997.pgn"
LONG = "Nepomniachtchi-Mamedyarov y Vachier-Lagrave, Maximilian Alexandrovich"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    code, out, err = told(capsys, *words)
    assert not code, err
    return out


def fits(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Run a command that prints one table: 80 columns of text, more with --wide, the same names in CSV and JSON."""
    text = run(capsys, *words)
    assert max(map(len, text.splitlines())) <= WIDTH, text
    head = next(csv.reader(io.StringIO(run(capsys, *words, "--format", "csv"))))
    rows = json.loads(run(capsys, *words, "--format", "json"))
    assert rows and all(list(row) == head for row in rows)
    wide = run(capsys, *words, "--wide")
    assert max(len(line.split()) for line in wide.splitlines()) >= max(len(line.split()) for line in text.splitlines())
    return text


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The six games of a match, one player with an endless name."""
    path = tmp_path_factory.mktemp("tables") / "long.pgn"
    path.write_text(SAMPLE.read_text().replace("Deep Blue", LONG))
    return path


def test_tables_of_games(named: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = tmp_path / "games.parquet"
    fits(capsys, "index", named, "-o", index)
    fits(capsys, "filter", index, "--where", "plies > 0", "--preview", 3)
    fits(capsys, "filter", index, "--where", "plies > 0")
    fits(capsys, "sample", "-o", tmp_path)
    assert max(map(len, run(capsys, "stats", index).splitlines())) <= WIDTH


def test_tables_of_results(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ((), ("--los",), ("-W", "-D")):
        text = run(capsys, "results", named, *words)
        assert max(map(len, text.splitlines())) <= WIDTH, text
        assert "Kasparov" in text
    assert LONG in run(capsys, "results", named, "--wide") and "OppDiv" in run(capsys, "results", named, "--wide")


def test_tables_of_the_learned_rating(named: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ((), ("--game", 2), ("--player", LONG)):
        fits(capsys, "guess", named, *words)
    fits(capsys, "planes", named, "--ply", 12)


def test_tables_of_the_model(event: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fits(capsys, "fit", *on(event))
    fits(capsys, "fit", *on(event), "--by", "player")
    fits(capsys, "difference", *on(event))
    fits(capsys, "show", *on(event), "--s", 0.2, "--c", 0.5)
    fits(capsys, "analyses", "--store", event / "store.db")


def test_tables_of_ratings_from_moves(games: Path, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = ("--store", store, "--depth", 6, "--no-analysis", "--quiet")
    for by in ("player", "game", "phase"):
        fits(capsys, "ipr", games, *stored, "--by", by)
    fits(capsys, "screen", games, *stored)
    fits(capsys, "posterior", games, *stored)
    fits(capsys, "calibration", "list")
    for words in ((), ("--depth", 8), ("rybka-3-d13",)):
        fits(capsys, "calibration", "show", *words)


def test_one_is_singular(games: Path, store: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = tmp_path / "one.pgn"
    one.write_text("[Event " + games.read_text().split("[Event ")[1])
    with pytest.raises(SystemExit):
        main(["ipr", str(one), "--store", str(store), "--depth", "6", "--no-analysis", "--quiet"])
    assert "1 game, " in capsys.readouterr().err
    assert run(capsys, "index", one, "-o", tmp_path / "one.parquet")
    assert run(capsys, "stats", tmp_path / "one.parquet").startswith("1 game\n")
