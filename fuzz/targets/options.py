"""Option values: every option of every command with values that nobody means; a sentence or a result, never a bug.

A case is a command with good inputs, and some of its options with values from the list below or with the text of the
case. `python -m fuzz.targets.options [CASES]` goes through every option with every value, and then through random
handfuls of them; a second number is the case to start at.
"""

from __future__ import annotations

import atexit
import contextlib
import filecmp
import io
import itertools
import json
import os
import random
import re
import shutil
import signal
import socket
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import chess
import chess.pgn
import click
from fuzz.made import FOLDER, scratch

from assay.cli.main import assay, main
from assay.engine.exchange import import_file
from assay.engine.identity import Search
from assay.engine.store import writing

SECONDS = 10  # then a case is ended: a valid value may ask for a week of work
_KEPT = FOLDER.with_name(FOLDER.name + "-kept")
atexit.register(shutil.rmtree, _KEPT, ignore_errors=True)
_EXITS = {0, 1, 2, 130, 141}
_DEPTH = 6

NUMBERS = (
    "nan", "inf", "-inf", "1e308", "-1e308", "1e400", "-1", "0", "-0.0", "1e-320", "0.5", "1", "2", "3", "7", "100",
    "1e6", str(10**9), str(2**31), str(2**63), str(10**30), str(-(10**30)), "9" * 5000, "0x10", "1_0", "१२", "", " ",
    "abc",
)  # fmt: skip
TEXTS = (
    ",", "=", ":", "%", "%s", "{}", "\x1b[2J", "\udcff", "é", "\u202e", "x" * 5000, "a,b", "1,2", "nan,nan",
    "1:2", "2500:2400", "inf,1", "A=nan", "A=1e308", "=1", "Ann=2000", "Ann,2000", "1-", "-", "*", "[", "\\", '"', "'",
    "all", "15", "0,1,2,99", "Ann", "Nobody", "?", "http://[", "nonsense", "ftp://x", "127.0.0.1:1",
    "white_elo in (1, 2.5)", "1 +", "white_elo >= 0", "white == 'Ann'", "stockfish-15.1-d6", "otb", "uci_elo",
)  # fmt: skip
_FILES = {
    "empty": b"",
    "latin.txt": b"M\xfcller,2000\n\xff\xfe",
    "nested.json": b"[" * 100_000,
    "object.json": b"{}",
    "list.json": b"[1, 2]",
    "nan.json": b'{"depth": NaN, "lr": Infinity, "d_model": -1}',
    "names.csv": b'Ann,2000,nan\n"Bob, C",1e308\n',
    "endless.csv": b'"' + b"x" * 200_000,
    "null.txt": b"\x00" * 100,
    "config.toml": b"lr = nan\nd_model = 'x'\n",
    "tags.pgn": b'[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n1-0\n',
}
PATHS = (  # all within the folder of the cases: options that write are among them
    *_FILES, "nowhere/file", ".", "folder", "out.txt", "out.svg", "out.pdf", "out.csv", "out.parquet", "games.pgn",
    "store.db", "games.parquet", "dataset", "run", "x" * 300, "a\nb",
)  # fmt: skip


class _SlowError(BaseException):
    """A case that takes its time; no command catches it."""


def _games() -> bytes:
    """Six short games of four players, each with a few turns from move 9 on."""
    chance, names = random.Random(1), ("Ann", "Bob", "Cid", "Dee")
    text = []
    for number, (white, black) in enumerate(itertools.combinations(names, 2)):
        board, moves = chess.Board(), []
        while len(moves) < 24 and not board.is_game_over():
            move = chance.choice(list(board.legal_moves))
            moves.append(board.san(move))
            board.push(move)
        result = ("1-0", "1/2-1/2", "0-1")[number % 3]
        body = " ".join(f"{at // 2 + 1}. {san}" if at % 2 == 0 else san for at, san in enumerate(moves))
        text.append(
            f'[Event "E"]\n[Date "2020.01.0{number + 1}"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n'
            f'[WhiteElo "{2000 + 100 * number}"]\n[BlackElo "2100"]\n[TimeControl "300+3"]\n\n{body} {result}\n\n'
        )
    return "".join(text).encode()


def _analyses(games: bytes) -> bytes:
    """Made-up values of all positions of the games, as the quick calibration's engine would sign them."""
    rows = []
    reader = io.StringIO(games.decode())
    while game := chess.pgn.read_game(reader):
        board = game.board()
        for move in game.mainline_moves():
            moves = [legal.uci() for legal in board.legal_moves][:50]
            best = random.Random(board.fen()).randrange(-100, 100)
            scores = {str(depth): [best - 17 * at for at in range(len(moves))] for depth in range(1, _DEPTH + 1)}
            rows.append(
                {
                    "fen": board.fen(),
                    "engine": "Stockfish 15.1",
                    "net": "nn-ad9b42354671.nnue",
                    "options": {"Hash": "16"},
                    "limit": {"depth": _DEPTH, "lines": 50},
                    "moves": moves,
                    "scores": scores,
                }
            )
            board.push(move)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _prepare() -> None:
    """The good inputs, once for all cases; and what takes long to load, lest a case be ended within it."""
    for module in ("torch", "matplotlib.figure", "sklearn.ensemble", "distributed"):
        with contextlib.suppress(ModuleNotFoundError):
            import_module(module)
    games = _games()
    for name, data in {**_FILES, "games.pgn": games, "analyses.jsonl": _analyses(games)}.items():
        scratch(name, data)
    (FOLDER / "folder").mkdir(exist_ok=True)
    with writing(FOLDER / "store.db") as store:
        import_file(FOLDER / "analyses.jsonl", store, search=Search("none"), quiet=True)
    scratch("unnamed.pgn", b"".join(re.sub(rb'(White|Black) ".*"', rb'\1 "?"', games) for _ in range(5)))  # one by one
    for words in (
        "index games.pgn -o games.parquet",
        "encode unnamed.pgn -o dataset --min-plies 1 --quiet",
        "train dataset -o run --model mean --quiet",
    ):
        code, said = run(words.split())
        assert code == 0, said
    shutil.copytree(FOLDER, _KEPT)


def _restore() -> None:
    """Put the good inputs back where a case wrote over them."""
    for kept in _KEPT.rglob("*"):
        path = FOLDER / kept.relative_to(_KEPT)
        if kept.is_file() and not (path.is_file() and filecmp.cmp(kept, path)):
            shutil.rmtree(FOLDER)
            shutil.copytree(_KEPT, FOLDER)
            return


_MOVES = "games.pgn --store store.db --quiet"
BASE = {
    "index": "games.pgn -o made.parquet --quiet",
    "month": "2013-01 -o folder --url http://127.0.0.1:1 --quiet",
    "stats": "games.parquet",
    "filter": "games.parquet --where plies>0",
    "balance": "games.parquet --per-band 1 --out-pgn made.pgn",
    "sample": "-o folder",
    "analyse": f"{_MOVES} --depth 1 --lines 1 --limit 1 --engine no-engine",
    "analyses": "--store store.db",
    "export-analyses": "--store store.db -o made.jsonl --quiet",
    "import-analyses": "analyses.jsonl --store other.db --engine-name X --quiet",
    "fit": f"{_MOVES} --depth 6",
    "show": f"{_MOVES} --depth 6 --game 1 --elo 2000",
    "difference": f"{_MOVES} --depth 6",
    "simulate": "--elo 2000 --elo 2200 --games 1 --engine no-engine -o made.pgn --quiet",
    "ipr": f"{_MOVES} --depth 6 --engine no-engine --interval clustered",
    "posterior": f"{_MOVES} --depth 6 --engine no-engine --game 1",
    "screen": f"{_MOVES} --depth 6 --engine no-engine",
    "calibrate": f"{_MOVES} --depth 6 -o made.json",
    "calibration list": "",
    "calibration show": "--depth 6",
    "results": "games.pgn",
    "prep": "games.pgn",
    "guess": "games.pgn --game 1 --model run",
    "planes": "games.pgn --game 1 --ply 3",
    "encode": "games.pgn -o made-set --min-plies 1 --quiet",
    "train": "dataset -o made-run --model mean --quiet",
    "evaluate": "run dataset --split validation --quiet",
    "policy gather": "games.pgn -o made-positions --quiet",
    "policy label": "made-positions --teacher no-network --quiet",
    "policy train": "made-positions -o made-policy --quiet",
    "policy export": "made-policy -o made.npz --quiet",
    "report": f"{_MOVES} --calibration stockfish-15.1-d6 --no-analysis -o made.html",
    "serve": "--port 0 --jobs jobs --store store.db",
}


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """All commands with their names, those of groups too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, (*path, name))
        elif command is not None:
            yield " ".join((*path, name)), command


# What is no case: help, tracebacks that are asked for, and machines elsewhere, which are waited for.
_LEFT_OUT = ("help", "debug", "cluster")
OPTIONS = {
    name: [param for param in command.params if isinstance(param, click.Option) and param.name not in _LEFT_OUT]
    for name, command in _commands(assay)
}
NAMES = tuple(OPTIONS)


def values_of(option: click.Option) -> tuple[str, ...]:
    """What is tried for an option, by what it takes."""
    if option.is_flag:
        return ("",)
    if isinstance(option.type, click.Choice):
        return (*option.type.choices, "", "nonsense")
    if isinstance(option.type, click.Path):
        return (*PATHS, "", "\udcff")
    if option.type in (click.INT, click.FLOAT) or isinstance(option.type, click.types._NumberRangeBase):
        return NUMBERS
    return (*NUMBERS, *TEXTS, *PATHS)  # texts may be anything


def words_of(name: str, chosen: list[tuple[click.Option, str]]) -> list[str]:
    """The words of a command line."""
    words = [*name.split(), *BASE.get(name, "").split()]
    for option, value in chosen:
        spelled = max(option.opts, key=len)
        if option.is_flag:
            words.append(spelled)
        else:
            # In one word, so that a value that begins with a dash is a value; and `nargs` times where several are due.
            words += [spelled, *[value] * option.nargs] if option.nargs > 1 else [f"{spelled}={value}"]
            if not spelled.startswith("--"):
                words[-1:] = [spelled, value]
    return words


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """No case reaches the network, waits for it, or stays as a server."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError("no network here")

    known = socket.getaddrinfo

    def numbers(host: Any, *more: Any, **how: Any) -> Any:
        return known(host, *more, **how) if host in ("127.0.0.1", "::1", "0.0.0.0") else refuse()

    with contextlib.ExitStack() as stack:
        for where, value in (
            ("socket.create_connection", refuse),
            ("socket.getaddrinfo", numbers),
            ("time.sleep", lambda seconds: None),
            ("uvicorn.Server.run", lambda self, sockets=None: None),
        ):
            with contextlib.suppress(ModuleNotFoundError):
                stack.enter_context(patch(where, value))
        yield


@contextlib.contextmanager
def _for_a_while() -> Iterator[None]:
    """End what takes longer than a case may.

    Where it strikes in a destructor or a callback of the collector, Python drops the exception and goes on: nobody is
    to complain of that, and it strikes again.
    """

    def strike(number: int, frame: FrameType | None) -> None:
        raise _SlowError

    def dropped(what: sys.UnraisableHookArgs) -> None:
        if what.exc_type is not _SlowError:
            told(what)

    if not hasattr(signal, "setitimer"):
        yield
        return
    before, told = signal.signal(signal.SIGALRM, strike), sys.unraisablehook
    sys.unraisablehook = dropped
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = told


def run(words: list[str]) -> tuple[int, str]:
    """Run a command in this process: its exit code and what it said on stderr."""
    out, said = io.StringIO(), io.StringIO()
    before, shown = Path.cwd(), warnings.showwarning
    os.chdir(FOLDER)
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(said),
            warnings.catch_warnings(),
            _alone(),
            _for_a_while(),  # the last: the others must put back what was there, whatever strikes
        ):
            main(words)
    except SystemExit as end:
        return int(end.code or 0), said.getvalue()
    finally:
        os.chdir(before)
        warnings.showwarning = shown
    raise AssertionError("main() returns never")


def attempt(words: list[str]) -> str:
    """Run a case; how it ended. AssertionError if it broke the promise."""
    try:
        code, said = run(words)
    except _SlowError:
        return "ended after a while"
    finally:
        _restore()
    shown = [word if len(word) < 200 else f"{word[:200]}..." for word in words]
    assert code in _EXITS, f"exit code {code}: {shown}"
    assert "bug in Assay" not in said and "Traceback" not in said, f"{shown}: {said[-2000:]}"
    assert code in (0, 130) or said.strip(), f"exit code {code} without a word: {shown}"
    return f"exit {code}"


def decoded(data: bytes) -> list[str]:
    """A case of bytes as a command line: which command, then pairs of which option and which value."""
    name = NAMES[data[0] % len(NAMES)] if data else NAMES[0]
    chosen = []
    for at in range(1, len(data) - 1, 2):
        if not OPTIONS[name] or len(chosen) == 4:
            break
        option = OPTIONS[name][data[at] % len(OPTIONS[name])]
        values = values_of(option)
        if data[at + 1] == 255:  # the rest is the value itself
            chosen.append((option, data[at + 2 :].decode("utf-8", "surrogateescape").replace("\0", "")))
            break
        chosen.append((option, values[data[at + 1] % len(values)]))
    return words_of(name, chosen)


def check(data: bytes) -> None:
    attempt(decoded(data))


SEEDS = tuple(bytes([number, number, 1, number + 5, 3]) for number in range(len(NAMES)))
WORDS = NUMBERS[:-4]


def every() -> Iterator[list[str]]:
    """Every option of every command with every value, those that take numbers first."""
    pairs = [(name, option) for name in NAMES for option in OPTIONS[name]]
    for name, option in sorted(pairs, key=lambda pair: len(values_of(pair[1]))):
        for value in dict.fromkeys(values_of(option)):
            yield words_of(name, [(option, value)])


def handfuls(count: int, chance: random.Random) -> Iterator[list[str]]:
    """Two to four options of a command with values at random."""
    for _ in range(count):
        name = chance.choice([name for name in NAMES if OPTIONS[name]])
        chosen = [chance.choice(OPTIONS[name]) for _ in range(chance.randrange(2, 5))]
        yield words_of(name, [(option, chance.choice(values_of(option))) for option in chosen])


_prepare()


if __name__ == "__main__":
    most, first = (*map(int, sys.argv[1:]), *(20_000, 0)[len(sys.argv) - 1 :])
    ends, found = Counter[str](), 0
    all_of_them = list(every())
    rest = handfuls(max(most - len(all_of_them), 0), random.Random(1))
    for number, words in enumerate(itertools.islice(itertools.chain(all_of_them, rest), first, most), first + 1):
        try:
            ends[attempt(words)] += 1
        except AssertionError as error:
            found += 1
            print(error, flush=True)
        if number % 1000 == 0:
            print(f"{number:,} cases, {found} found: {dict(ends)}", file=sys.stderr, flush=True)
    singles = max(min(most, len(all_of_them)) - first, 0)
    print(f"{ends.total() + found:,} cases, {singles:,} of one option: {dict(ends)}; {found} broke the promise.")
    sys.exit(found > 0)
