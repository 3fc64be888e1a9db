"""The frame of the command line: sections, errors as sentences, exit codes."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import click
import pytest

from assay import __version__
from assay.cli import main as frame
from assay.errors import InputError

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ending:
            frame.main(args)
        out, err = capsys.readouterr()
        return int(ending.value.code or 0), out, err

    return call


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Put a command `fail` in place that raises what it is given."""

    def install(error: BaseException) -> None:
        @click.command()
        @click.option("--debug", is_flag=True)
        def fail(debug: bool) -> None:
            raise error

        monkeypatch.setattr(frame.Sections, "get_command", lambda *_: fail)
        monkeypatch.setattr(frame.Sections, "list_commands", lambda *_: ["fail"])

    return install


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"assay, version {__version__}\n", "")


def test_every_command_is_there_and_helps(run: Run) -> None:
    for section in frame.COMMANDS.values():
        for name, (module, function, _) in section.items():
            assert isinstance(getattr(importlib.import_module(f"assay.cli.{module}"), function), click.Command)
            code, out, _ = run(name, "--help")
            assert code == 0, name
            assert out, name


def test_an_unknown_command_is_wrong_usage(run: Run) -> None:
    code, _, err = run("indx")
    assert code == 2
    assert "there is no command 'indx'" in err


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (InputError("games.pgn is empty."), 1, "assay: games.pgn is empty.\n"),
        (
            PermissionError(13, "Permission denied", "out.csv"),
            1,
            "assay: the system refused out.csv: Permission denied.\n",
        ),
        (MemoryError(), 1, "assay: not enough memory for this job on this machine.\n"),
        (KeyboardInterrupt(), 130, "\nassay: interrupted.\n"),
    ],
)
def test_a_failure_is_one_sentence(
    run: Run, failing: Callable[[BaseException], None], error: BaseException, code: int, sentence: str
) -> None:
    failing(error)
    assert run("fail") == (code, "", sentence)


def test_debug_shows_the_traceback(run: Run, failing: Callable[[BaseException], None]) -> None:
    failing(InputError("games.pgn is empty."))
    code, _, err = run("fail", "--debug")
    assert code == 1
    assert "Traceback" in err


def test_a_bug_says_that_it_is_one(run: Run, failing: Callable[[BaseException], None]) -> None:
    failing(ZeroDivisionError("division by zero"))
    code, _, err = run("fail")
    assert code == 1
    assert "this is a bug in Assay: ZeroDivisionError" in err
