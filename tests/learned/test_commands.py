"""The commands from PGN to a judged model, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def assay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command as the terminal would: its exit code, output and errors."""
    from assay.cli.main import main

    def run(*words: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def test_from_games_to_a_judged_model(assay: Callable[..., tuple[int, str, str]], pgn: Path, tmp_path: Path) -> None:
    data, run, mean = tmp_path / "data", tmp_path / "run", tmp_path / "mean"
    code, out, err = assay("encode", pgn, "-o", data, "--band-width", 250, "--range", "1000:2000", "--format", "json")
    assert code == 0, err
    assert sum(row["count"] for row in json.loads(out)) == 90
    assert "90 games do not name both players and were split by game" in err

    config = tmp_path / "config.toml"
    config.write_text("d-model = 8\nheads = 2\nsquare-width = 2\nmax-plies = 16\nlayers = 1\n")
    code, _, err = assay("train", data, "-o", run, "--config", config, "--epochs", 2, "--balanced")
    assert code == 0, err
    assert {"weights.npz", "run.json", "metrics.csv", "curves.svg", "reliability.svg", "checkpoint.npz"} <= {
        path.name for path in run.iterdir()
    }
    assert assay("train", data, "-o", mean, "--model", "mean")[0] == 0
    odd = tmp_path / "run \udcff"  # a name that is no UTF-8 stands above a picture
    code, _, err = assay("train", data, "-o", odd, "--model", "mean")
    assert code == 0, err
    assert assay("train", data, "-o", run)[0] == 1
    assert assay("train", data, "-o", run, "--resume")[0] == 0

    judge = ("evaluate", run, data, "--split", "train", "--against", mean, "--plots", tmp_path / "plots")
    code, out, err = assay(*judge, "--format", "json")
    assert code == 0, err
    rows = {(row["run"], row["what"]): row for row in json.loads(out)}
    assert {"top1", "within1", "mae", "rmse", "noise", "nll", "ece", "cover50", "cover80", "cover95"} <= set(
        rows["run", "end"]
    )
    assert rows["mean", "end"]["mae"] == pytest.approx(rows["mean", "after 0"]["mae"])
    assert 0 < rows["run", "end"]["mae_se"] < rows["run", "end"]["mae"]
    assert rows["run", "blitz"]["cases"] == rows["run", "end"]["cases"]
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == ["confusion.svg", "reliability.svg"]


def test_a_game_that_occurs_twice_is_encoded_once(
    assay: Callable[..., tuple[int, str, str]], pgn: Path, tmp_path: Path
) -> None:
    named = pgn.read_text().replace('[White "?"]', '[White "Elm"]').replace('[Black "?"]', '[Black "Elm"]')
    # Games of ten moves and more: shorter ones are played twice in earnest.
    games = [f"[Event {game}" for game in named.split("[Event ")[1:] if "\n10. " in game or " 10. " in game][:20]
    once, again = tmp_path / "once.pgn", tmp_path / "again.pgn"
    once.write_text("".join(games))
    again.write_text("".join(game.replace('"Elm"', '"ELM"') for game in games[:7]))

    def counts(name: str, *words: object) -> tuple[dict[str, int], str]:
        code, out, err = assay("encode", *words, "-o", tmp_path / name, "--format", "json")
        assert code == 0, err
        return {row["games"]: row["count"] for row in json.loads(out)}, err

    alone, err = counts("alone", once)
    assert "occur" not in err
    both, err = counts("both", once, again)
    assert both == alone | {"left out: occurs more than once": 7}
    assert "7 games occur twice and count once: 21 = 1 (ELM - ELM" in err
    kept, _ = counts("kept", once, again, "--keep-duplicates")
    assert sum(kept.values()) == sum(both.values()) and "left out: occurs more than once" not in kept


def test_a_filter_chooses_games(assay: Callable[..., tuple[int, str, str]], pgn: Path, tmp_path: Path) -> None:
    code, out, _ = assay("encode", pgn, "-o", tmp_path / "d", "--where", "white_elo >= 1500", "--format", "json")
    assert code == 0
    assert {row["games"]: row["count"] for row in json.loads(out)}["left out: not chosen by the filter"] == 46
    code, _, err = assay("encode", pgn, "-o", tmp_path / "e", "--where", "wite_elo > 1")
    assert (code, "white_elo" in err) == (1, True)


def test_planes_are_listed_and_drawn(assay: Callable[..., tuple[int, str, str]], pgn: Path, tmp_path: Path) -> None:
    code, out, _ = assay("planes", pgn, "--game", 2, "--ply", 1, "--planes", "0,56", "--format", "json")
    assert code == 0
    assert json.loads(out) == [
        {"plane": 0, "name": "P", "squares": "a2 b2 c2 d2 e2 f2 g2 h2"},
        {"plane": 56, "name": "White to move", "squares": "all"},
    ]
    picture = tmp_path / "planes.svg"
    assert assay("planes", pgn, "--ply", 3, "--planes", "36-37", "-o", picture)[0] == 0
    assert "any control White" in picture.read_text()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("planes", "{pgn}", "--ply", "900"), 1, "so there is no ply 900"),
        (("planes", "{pgn}", "--game", "900"), 1, "has no game 900"),
        (("planes", "{pgn}", "--planes", "70"), 2, "'70' is no plane"),
        (("encode", "{pgn}", "-o", "{tmp}/a/b"), 1, "does not exist"),
        (("encode", "{pgn}", "-o", "{tmp}/d", "--range", "3000:600"), 2, "no range of ratings"),
        (("train", "{tmp}", "-o", "{tmp}/r"), 1, "is no dataset"),
        (("evaluate", "{tmp}", "{tmp}"), 1, "is no dataset"),
        (("evaluate", "{tmp}", "{tmp}", "--games", "0"), 2, "--games"),
        (("guess", "{tmp}/none.pgn"), 1, "there is no file"),
    ],
)
def test_mistakes_are_one_sentence(
    assay: Callable[..., tuple[int, str, str]],
    pgn: Path,
    tmp_path: Path,
    words: tuple[str, ...],
    code: int,
    sentence: str,
) -> None:
    found, _, err = assay(*(word.format(pgn=pgn, tmp=tmp_path) for word in words))
    assert found == code
    assert sentence in err
    assert "Traceback" not in err


def test_without_torch_the_sentence_names_the_extra(pgn: Path, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from assay.cli.main import main\n"
        f"try: main(['encode', {str(pgn)!r}, '-o', {str(tmp_path / 'd')!r}, '--quiet'])\n"
        "except SystemExit as done: assert not done.code\n"
        f"main(['train', {str(tmp_path / 'd')!r}, '-o', {str(tmp_path / 'r')!r}])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    assert 'torch is not installed. Install it with: pip install "assay[learn]"' in run.stderr
    assert not (tmp_path / "r").exists()
