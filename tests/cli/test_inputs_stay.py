"""No command writes over what it reads, by whatever name: the file stays, a sentence says why, exit code 1."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.commands import told
from tests.games.made import game_text

from assay.cli.main import main

Run = Callable[..., tuple[int, str]]
GAMES = "\n\n".join(game_text(i, 40, WhiteElo=str(1500 + i), BlackElo="1510") for i in range(3)) + "\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*args: str | Path) -> tuple[int, str]:
        code, _, err = told(capsys, *args)
        return code, err

    return call


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games and an analysis store."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "a.pgn").write_text(GAMES)
    with pytest.raises(SystemExit):
        main(
            [
                "analyse",
                str(folder / "a.pgn"),
                "--store",
                str(folder / "r.db"),
                *["--depth", "1", "--limit", "3", "--workers", "1"],
            ]
        )
    return folder


@pytest.fixture
def here(run: Run, made: Path, tmp_path: Path) -> Path:
    """The same in a folder of its own, and indexes with and without text."""
    for name in ("a.pgn", "r.db"):
        shutil.copy(made / name, tmp_path)
    assert run("index", "a.pgn", "-o", "a.parquet")[0] == 0
    assert run("index", "a.pgn", "-o", "text.parquet", "--movetext")[0] == 0
    return tmp_path


WAYS = ("plain", "hard link", "symlink", "dotted")
COMMANDS = [
    ("filter a.parquet --where True --out-pgn OUT", "a.pgn"),
    ("filter text.parquet --where True --out-pgn OUT", "a.pgn"),
    ("filter a.parquet --where True --out-pgn OUT", "a.parquet"),
    ("balance a.parquet --per-band 1 --out-pgn OUT", "a.pgn"),
    ("prep a.pgn -o OUT", "a.pgn"),
    ("prep a.pgn --groups OUT -o b.pgn", "a.pgn"),
    ("results a.pgn -o OUT", "a.pgn"),
    ("results a.pgn -c OUT", "a.pgn"),
    ("results a.parquet -o OUT", "a.parquet"),
    ("results a.parquet -o OUT", "a.pgn"),
    ("results text.parquet -c OUT", "a.pgn"),
    ("prep a.parquet -o OUT", "a.pgn"),
    ("results -m OUT a.pgn -o OUT", "anchors.csv"),
    ("report a.pgn --store r.db -o OUT --format json", "a.pgn"),
    ("report a.pgn --store OUT -o OUT --format json", "r.db"),
    ("export-analyses --store r.db -o OUT", "r.jsonl"),
    ("index a.csv -o OUT", "a.csv"),
    ("index . -o OUT", "a.pgn.csv"),
]


@pytest.mark.parametrize(
    ("command", "file", "way"),
    # Every command by one way, and one command by every way: all go through the same place.
    [(*each, WAYS[number % len(WAYS)]) for number, each in enumerate(COMMANDS)]
    + [(*COMMANDS[0], way) for way in WAYS[1:]],
)
def test_inputs_stay(run: Run, here: Path, command: str, file: str, way: str) -> None:
    target = here / file
    if file == "r.jsonl":  # an export goes by its name, a store by its content
        (here / "r.db").rename(target)
        command = command.replace("r.db", file)
    elif file in ("a.csv", "a.pgn.csv"):
        target.write_text(GAMES)
        if file == "a.pgn.csv":  # the folder holds the same file under a name that is looked for
            os.link(target, here / "same.pgn")
    elif file == "anchors.csv":
        target.write_text('"W0",2300\n')
    name = file
    if way == "dotted":
        name = f"./{here.name}/../{file}"
        (here / here.name).mkdir()
    elif way != "plain":
        name = f"other{target.suffix}"
        (os.symlink if way == "symlink" else os.link)(target, here / name)
    before = target.read_bytes()
    code, err = run(*command.replace("OUT", name).split())
    assert code == 1 and "choose another name" in err, err
    assert target.read_bytes() == before
    assert not [path for path in here.iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize(
    "command",
    [
        "results - -o OUT",
        "filter - --where plies<30 --out-pgn OUT",
        "prep - -o OUT",
        "event - -o OUT",
        "index - -o OUT",
    ],
)
def test_what_stdin_comes_from_stays(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    target = (here / "a.pgn").rename(here / "a.csv")
    with target.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        code, err = run(*command.replace("OUT", "a.csv").split())
    assert code == 1 and "choose another name" in err, err
    assert target.read_text() == GAMES


def test_outputs_are_replaced_as_ever(run: Run, here: Path) -> None:
    """What a run wrote, and what was an input of an earlier one, can be written anew."""
    for _ in range(2):
        assert run("filter", "a.parquet", "--where", "True", "--out-pgn", "b.pgn")[0] == 0
        assert run("index", "b.pgn", "-o", "b.parquet")[0] == 0
        assert run("results", "b.pgn", "-c", "list.csv")[0] == 0
    assert run("results", "b.pgn", "--start", "list.csv", "-c", "list.csv")[0] == 0
