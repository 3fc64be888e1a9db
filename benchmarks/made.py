"""Games for benchmarks where no data is at hand: agents play some, and copies with new tags make any number of them.

A copy has its own players, ratings, date and (in Lichess's layout) clocks, and the moves of one of the played games:
reading costs what it costs on real games, while nothing about chess should be concluded from them.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from string import ascii_letters

import chess

from assay.games import read
from assay.moves.simulation import Entrant, Played, tournament

DEPTH = 3
BASE = 100_000  # copies that differ; larger files repeat them
WIDTH = 80


def play(games: int, workers: int, seed: int = 1) -> list[Played]:
    """Games between agents that see three plies deep and are seldom careless: some 70 plies each."""
    entrants = [Entrant(f"Agent {number}", s=0.03 + 0.01 * number, c=0.5) for number in range(4)]
    return list(tournament(entrants, games, depth=DEPTH, workers=workers, seed=seed))


def sans(played: Played) -> list[str]:
    board = chess.Board()
    return [board.san_and_push(chess.Move.from_uci(move)) for move in played.moves]


def as_tournament(played: list[Played], copies: int, seed: int = 1) -> Iterator[str]:
    """PGN as tournaments publish it: ten tags, moves in lines of 80 characters."""
    dice = random.Random(seed)
    texts = [_wrapped(f"{_numbered(sans(game))} {game.result}") for game in played]
    players = [f"{_name(dice)}, {_name(dice)}" for _ in range(max(copies // 20, 10))]
    for number in range(copies):
        which = dice.randrange(len(played))
        white, black = dice.sample(players, 2)
        yield (
            f'[Event "Open {number // 400 + 1}"]\n[Site "Somewhere"]\n[Date "{_date(dice)}"]\n'
            f'[Round "{number % 9 + 1}"]\n[White "{white}"]\n[Black "{black}"]\n'
            f'[Result "{played[which].result}"]\n[WhiteElo "{dice.randint(1000, 2800)}"]\n'
            f'[BlackElo "{dice.randint(1000, 2800)}"]\n[ECO "{dice.choice("ABCDE")}{dice.randrange(100):02}"]\n\n'
            f"{texts[which]}\n\n"
        )


def as_lichess(played: list[Played], copies: int, seed: int = 1) -> Iterator[str]:
    """PGN as Lichess's archives have it: seventeen tags, a clock after each move, one long line."""
    dice = random.Random(seed)
    stems = [_before_clocks(sans(game)) for game in played]
    players = [_name(dice) for _ in range(max(copies // 20, 10))]
    for _ in range(copies):
        which = dice.randrange(len(played))
        white, black = dice.sample(players, 2)
        seconds = sorted((dice.randrange(300) for _ in stems[which]), reverse=True)
        moves = " ".join(
            [f"{move}0:{t // 60:02}:{t % 60:02}] }}" for move, t in zip(stems[which], seconds, strict=True)]
        )
        date = _date(dice)
        yield (
            f'[Event "Rated Blitz game"]\n[Site "https://lichess.org/{_name(dice)}"]\n[Date "{date}"]\n[Round "-"]\n'
            f'[White "{white}"]\n[Black "{black}"]\n[Result "{played[which].result}"]\n'
            f'[UTCDate "{date}"]\n[UTCTime "{dice.randrange(24):02}:{dice.randrange(60):02}:{dice.randrange(60):02}"]\n'
            f'[WhiteElo "{dice.randint(700, 2700)}"]\n[BlackElo "{dice.randint(700, 2700)}"]\n'
            f'[WhiteRatingDiff "+{dice.randrange(10)}"]\n[BlackRatingDiff "-{dice.randrange(10)}"]\n'
            f'[ECO "{dice.choice("ABCDE")}{dice.randrange(100):02}"]\n[Opening "Made-up Opening"]\n'
            f'[TimeControl "300+0"]\n[Termination "Normal"]\n\n{moves} {played[which].result}\n\n'
        )


def write(file: Path, games: Iterator[str], count: int) -> None:
    """Write so many games; beyond the first BASE, which are all different, they repeat."""
    different = list(islice(games, min(count, BASE)))
    whole, rest = divmod(count, len(different))
    text = "".join(different)
    with file.open("w", encoding="utf-8") as out:
        for _ in range(whole):
            out.write(text)
        out.writelines(different[:rest])


def write_head(data: Path, file: Path, most_bytes: int) -> None:
    """Copy the first games of a PGN file, packed or not, up to a size."""
    size = 0
    with file.open("wb") as out:
        for game in read(data):
            size += out.write(game.data.strip() + b"\n\n")
            if size >= most_bytes:
                break


def _numbered(moves: list[str]) -> str:
    return " ".join(move if ply % 2 else f"{ply // 2 + 1}. {move}" for ply, move in enumerate(moves))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)


def _before_clocks(moves: list[str]) -> list[str]:
    return [f"{ply // 2 + 1}{'...' if ply % 2 else '.'} {move} {{ [%clk " for ply, move in enumerate(moves)]


def _name(dice: random.Random) -> str:
    """Eight letters at random: a name, or what Lichess calls a game."""
    return "".join(dice.choices(ascii_letters, k=8))


def _date(dice: random.Random) -> str:
    return f"{dice.randint(2000, 2025)}.{dice.randint(1, 12):02}.{dice.randint(1, 28):02}"
