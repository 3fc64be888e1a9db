"""A UCI engine that misbehaves as told; run as a program by the tests.

    fake_engine.py [--fault NAME] [--at TEXT] [--once FILE] [--log FILE] [--seconds S] [--name NAME] [--shift CP]
                   [--lives N]

Values are a checksum of position, move and depth, so they are the same in every run. The fault strikes at positions
whose FEN contains TEXT (default: at all); with --once only as long as FILE does not exist. With --lives it masters so
many searches and dies in the next.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
import zlib
from pathlib import Path

import chess


def command(**told: object) -> str:
    """The command of an engine that does as told: `command(fault="dies", at="Qxg2")`."""
    words = [word for name, value in told.items() for word in (f"--{name}", str(value))]
    return shlex.join([sys.executable, __file__, *words])


def value(fen: str, move: str, depth: int) -> int:
    return zlib.crc32(f"{fen} {move} {depth}".encode()) % 401 - 200


def search(fen: str, depth: int, lines: int, shift: int = 0) -> list[str]:
    """The lines of an honest search, with a bound that is no value before each exact score."""
    moves = [move.uci() for move in chess.Board(fen).legal_moves]
    said = []
    for at in range(1, depth + 1):
        ranked = sorted(moves, key=lambda move: -value(fen, move, at))[:lines]
        for rank, move in enumerate(ranked, 1):
            head = f"info depth {at} seldepth {at} multipv {rank} score"
            said.append(f"{head} cp 999 lowerbound nodes 5 nps 5 pv {move}")
            said.append(f"{head} cp {value(fen, move, at) + shift} nodes {at * 100} nps 5 pv {move} e7e5")
    return said


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", default="")
    parser.add_argument("--at", default="")
    parser.add_argument("--once", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--shift", type=int, default=0)
    parser.add_argument("--lives", type=float, default=float("inf"))
    parser.add_argument("--name", default="Fake 1.0")
    args = parser.parse_args()

    def strikes(fault: str, fen: str) -> bool:
        if args.fault != fault or args.at not in fen:
            return False
        if args.once is None:
            return True
        if args.once.exists():
            return False
        args.once.touch()
        return True

    def say(*said: str) -> None:
        sys.stdout.write("".join(f"{line}\n" for line in said))
        sys.stdout.flush()

    if strikes("dies at start", ""):
        sys.exit(3)
    if strikes("is long in loading", ""):
        while time.process_time() < 3:
            pass
    if strikes("cannot be loaded", ""):
        sys.exit("engine: error while loading shared libraries: libfish.so.1: cannot open shared object file.")
    lines, fen = 1, ""
    for command in sys.stdin:
        words = command.split()
        match words[:1]:
            case ["uci"]:
                again = args.fault == "comes back as another" and args.log.with_suffix(".died").exists()
                name = "Impostor 2.0" if again else args.name
                options = ("Hash type spin default 16 min 1 max 64", "MultiPV type spin default 1 min 1 max 256")
                say(f"id name {name}", *(f"option name {option}" for option in options), "uciok")
            case ["isready"]:
                say("readyok")
            case ["setoption"] if words[2] == "MultiPV":
                lines = int(words[4])
            case ["position"]:
                fen = " ".join(words[2:8])
            case ["quit"]:
                return
            case ["go"]:
                if args.log:
                    with args.log.open("a") as log:
                        log.write(f"{fen}\n")
                time.sleep(args.seconds)
                depth = int(words[words.index("depth") + 1]) if "depth" in words else 2
                said = search(fen, depth, lines, args.shift)
                args.lives -= 1
                if strikes("dies", fen) or args.lives < 0:
                    say(*said[: len(said) // 2])
                    os._exit(1)
                if strikes("hangs", fen):
                    say(*said[:5])
                    time.sleep(3600)
                if strikes("ponders", fen):
                    say(*said[:5])
                    fen = ""  # answers everything, and never ends its search
                    continue
                if strikes("chatters", fen):
                    while True:
                        say("I think, therefore I am")
                        time.sleep(0.01)
                if strikes("gives no scores", fen):
                    said = ["info string who knows", "gibberish \x00\x7f"]
                if strikes("plays illegal moves", fen):
                    said = [line.replace(" pv ", " pv x") for line in said]
                if strikes("leaves moves out", fen):
                    said = said[:-2]
                if strikes("stops early", fen):
                    said = search(fen, depth - 1, lines, args.shift)
                if strikes("comes back as another", fen):
                    args.log.with_suffix(".died").touch()
                    os._exit(1)
                say(*said, "bestmove 0000")


if __name__ == "__main__":
    main()
