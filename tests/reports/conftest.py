"""A small made-up report with everything that a report can hold."""

from __future__ import annotations

import math

import chess
import pytest

from assay.curve import Estimate
from assay.games.source import Source
from assay.reports.content import (
    Candidate,
    GameSection,
    Measure,
    Move,
    Part,
    PlayerSection,
    Provenance,
    Report,
    Screening,
)

# The immortal game, Anderssen - Kieseritzky, London 1851.
IMMORTAL = (
    "e4 e5 f4 exf4 Bc4 Qh4+ Kf1 b5 Bxb5 Nf6 Nf3 Qh6 d3 Nh5 Nh4 Qg5 Nf5 c6 g4 Nf6 Rg1 cxb5 h4 Qg6 h5 Qg5 Qf3 Ng8 Bxf4 "
    "Qf6 Nc3 Bc5 Nd5 Qxb2 Bd6 Bxg1 e5 Qxa1+ Ke2 Na6 Nxg7+ Kd8 Qf6+ Nxf6 Be7#"
)


def around(value: float, half: float, note: str = "") -> Estimate:
    return Estimate(value, value - half, value + half, note=note)


def moves(line: str = IMMORTAL) -> tuple[Move, ...]:
    board = chess.Board()
    found = []
    for at, san in enumerate(line.split()):
        move = board.parse_san(san)
        counts = at >= 16
        others = sorted(board.san(other) for other in board.legal_moves if other != move)[:7]
        chances = [0.4, 0.22, 0.12, 0.08, 0.05, 0.04, 0.02, 0.01]
        value = round(60 * math.sin(at / 5) + 5 * at)
        found.append(
            Move(
                san,
                move.uci(),
                value if counts else None,
                "" if counts else "one of the first eight moves",
                0.4 if counts else None,
                tuple(
                    Candidate(name, value - 12 * i, chance)
                    for i, (name, chance) in enumerate(zip([san, *others], chances, strict=False))
                )
                if counts
                else (),
                9 if counts else 0,
                0.06 if counts else 0.0,
                around(2300 + 4 * at, 420 - 5 * at) if counts else Estimate(),
            )
        )
        board.push(move)
    return tuple(found)


def screening(z: float) -> Screening:
    return Screening(z, z + 0.2, z - 0.1, z - 0.3, 50 + 5 * z, 0.02, 0.09, 0.4, "Within what is usual.")


def player(name: str, tag: float, intrinsic: Estimate, played: tuple[int, ...], z: float = 0.5) -> PlayerSection:
    return PlayerSection(
        name=name,
        games=len(played),
        points=1.5,
        turns=96,
        tag=Estimate(tag),
        result=around(tag + 40, 140),
        intrinsic=intrinsic,
        learned=around(tag - 70, 180),
        joint=around(intrinsic.value - 10, 90),
        p_agree=0.4 if z > 0 else 0.01,
        disagree=z < 0,
        method="c on the artery",
        measures=(
            Measure("First-choice matches", 0.541, 0.512, 1.1, percent=True),
            Measure("Average error", 0.071, 0.08, 0.9),
        ),
        by_game=tuple(Part(f"Game {n}", 32, around(tag + 60 * (-1) ** n, 320), n) for n in played),
        by_phase=(
            Part("Opening", 20, around(tag + 30, 380)),
            Part("Middlegame", 50, around(tag - 30, 260)),
            Part("Endgame", 6, Estimate(note="too few moves")),
        ),
        screening=screening(z),
        played=played,
    )


@pytest.fixture
def report() -> Report:
    return make_report()


def make_report(games_done: int = 3, white: str = "Anderssen, Adolf") -> Report:
    games = tuple(
        GameSection(
            number=n,
            white=white if n % 2 else "Kieseritzky, Lionel",
            black="Kieseritzky, Lionel" if n % 2 else white,
            result="1-0",
            event="London",
            date="1851.06.21",
            round=str(n),
            white_elo=2600,
            black_elo=2480,
            white_rating=2600.0,
            black_rating=2480.0,
            moves=moves(),
        )
        for n in range(1, games_done + 1)
    )
    played = tuple(game.number for game in games)
    players = (
        player(white, 2600, around(2655, 120), played),
        player("Kieseritzky, Lionel", 2480, around(2210, 150), played, z=-1.2),
    )
    return Report(
        title="London 1851",
        players=players,
        games=games,
        provenance=Provenance(
            version="0.1.0",
            made="2026-01-01T12:00:00+00:00",
            sources=(Source("london.pgn", 2048, "ab" * 32),),
            engine="Stockfish 15.1",
            depth=10,
            calibration="stockfish-15.1-d10",
            turns=192,
            left_out={"one of the first eight moves": 48, "position repeated": 3},
            problems={"game without moves": 1},
            notes=("The learned rating is of the shipped model.",),
        ),
        site="London",
        dates="1851",
        games_expected=3,
        summary="3 games, 2 players. Nobody's play is unusual for the rating; the highest z is 0.50.",
    )
