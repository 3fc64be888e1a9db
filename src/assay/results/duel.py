"""A match of two players as an answer: how strong, how sure, and whether a sequential test has come to an end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assay.curve import Estimate
from assay.errors import RatingError
from assay.printable import json_text
from assay.records import dataclass
from assay.results.gamepairs import count_pairs
from assay.results.sprt import Scale, SequentialTest, Tally, sprt
from assay.table import WIDTH, Answer, Column, Table, columns_of, counted, described, told_copies

Pairing = Literal["auto", "opening", "order", "none"]
PAIRINGS: tuple[Pairing, ...] = ("auto", "opening", "order", "none")
_POINTS = ("0", "1/2", "1", "1 1/2", "2")


@dataclass(frozen=True)
class Record:
    """What two players did against each other, from the side of the first.

    `singles` are the losses, draws and wins of the games without a pair.
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0
    pairs: tuple[int, ...] | None = None
    singles: tuple[int, int, int] = (0, 0, 0)
    white_points: float | None = None
    paired_by: str = ""
    endings: Mapping[str, int] = field(default_factory=dict)

    @property
    def games(self) -> int:
        """Games that were counted one by one."""
        return self.wins + self.draws + self.losses


def play_of(
    first: NDArray[np.bool_],
    score: NDArray[np.float64],
    openings: NDArray[np.int64] | None,
    pairing: Pairing = "auto",
    endings: Mapping[str, int] | None = None,
) -> Record:
    """Count games in their order: whether the first player had White, what White scored, and the opening, if known.

    Pairs are games from one opening with the colours reversed, or (`order`) each two successive games with the colours
    reversed; `auto` takes the openings where they are told, and no pairs where most games would be without one.

    >>> play_of(np.array([True, False, True]), np.array([1.0, 0.5, 0.0]), None).pairs
    (0, 0, 0, 1, 0)
    """
    if pairing not in PAIRINGS:
        raise RatingError(f"pairs are made by {', '.join(PAIRINGS)}, not {pairing!r}.")
    if pairing == "opening" and openings is None:
        raise RatingError("no game tells its opening (FEN, ECO, Opening or Variation): make pairs by order, or none.")
    by = ("order" if openings is None else "opening") if pairing == "auto" else pairing
    own = np.where(first, score, 1.0 - score)
    losses, draws, wins = singles = _counts(own)
    pairs = None
    if by != "none":
        codes = openings if by == "opening" and openings is not None else _successive(first)
        white = np.where(first, 0, 1)
        found = count_pairs(white, 1 - white, score, codes)
        alone = len(found.single_score)
        # Openings that are not assigned meet now and then: such pairs say nothing of the other games.
        if len(found.first) and not (pairing == "auto" and alone > len(own) - alone):
            pairs = tuple(found.counts.tolist())
            singles = _counts(np.where(found.single_white == 0, found.single_score, 1.0 - found.single_score))
    return Record(wins, draws, losses, pairs, singles, float(score.sum()), by if pairs else "", endings or {})


def _counts(own: NDArray[np.float64]) -> tuple[int, int, int]:
    """Losses, draws and wins."""
    losses, draws, wins = (int(np.count_nonzero(own == points)) for points in (0.0, 0.5, 1.0))
    return losses, draws, wins


def _successive(first: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Numbers that two successive games share if the colours are reversed; each game is in one pair at most."""
    numbers = np.arange(len(first), dtype=np.int64)
    at = 0
    while at + 1 < len(first):
        paired = first[at] != first[at + 1]
        if paired:
            numbers[at + 1] = numbers[at]
        at += 2 if paired else 1
    return numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class Duel(Answer):
    """A match: `tally` is what its errors rest on (pairs where there are any), `test` the sequential test, if asked.

    `tests` has the test by pairs (pentanomial) and by games (trinomial), as far as there are such counts.
    """

    players: tuple[str, str]
    played: Record
    tally: Tally
    level: float = 0.95
    tests: Mapping[str, SequentialTest] = field(default_factory=dict)

    @property
    def test(self) -> SequentialTest | None:
        """The test that gives the verdict."""
        return next(iter(self.tests.values()), None)

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """A line for each thing that is known; they need no titles above them."""
        return self.head_text(width) + self.shown.text(width, wide=wide).partition("\n")[2]

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """Text, a row of CSV, or a JSON object."""
        if format == "json":
            return json_text(self.tabulated().records()[0], indent=1)
        return super().to(format, width, wide=wide)


def duel(
    players: tuple[str, str],
    played: Record,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] | None = None,
    scale: Scale = "normalised",
    alpha: float = 0.05,
    beta: float = 0.05,
    problems: Mapping[str, int] | None = None,
    duplicates: object = "",
) -> Duel:
    """The answer about a match; `bounds` are the two strengths of a sequential test."""
    tallies: dict[str, Tally] = {}
    if played.pairs is not None:
        tallies["pentanomial"] = Tally(tuple(played.pairs), played.singles)
    if played.games:
        tallies["trinomial"] = Tally((played.losses, played.draws, played.wins))
    if not tallies:
        raise RatingError("there are no games in this match: one count must be above zero, one game have a result.")
    tests = {} if bounds is None else {
        name: sprt(tally, *bounds, scale=scale, alpha=alpha, beta=beta) for name, tally in tallies.items()
    }  # fmt: skip
    tally = next(iter(tallies.values()))
    row = _row(players, played, tally, level, tests)
    remarks = told_copies(duplicates)
    if problems:
        remarks.append(f"assay: warning: left out: {described(problems)}.")
    value, low, high = tally.elo(level)
    ends = (-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)
    return Duel(
        shown=Table(_lines(row, tests), (Column("what", " "), Column("found", " "))),
        data=Table([row], columns_of(list(row))),
        head=f"{players[0]} - {players[1]}: {counted(row['games'], 'game')}",
        estimates={players[0]: Estimate(value, *ends, level), players[1]: Estimate(-value, -ends[1], -ends[0], level)},
        problems=problems or {},
        remarks=remarks,
        players=players,
        played=played,
        tally=tally,
        level=level,
        tests=tests,
    )


def _row(
    players: tuple[str, str], played: Record, tally: Tally, level: float, tests: Mapping[str, SequentialTest]
) -> dict[str, Any]:
    """Everything by name, as numbers."""
    elo, low, high = tally.elo(level)
    normalised, normalised_error = tally.normalised(level)
    games = played.games or tally.games
    score = (played.wins + played.draws / 2) / games if played.games else tally.score
    row: dict[str, Any] = {
        "player": players[0],
        "opponent": players[1],
        "games": games,
        "wins": played.wins if played.games else None,
        "draws": played.draws if played.games else None,
        "losses": played.losses if played.games else None,
        "score": score,
        "elo": _plain(elo),
        "elo_low": _plain(low),
        "elo_high": _plain(high),
        "elo_error": _plain((high - low) / 2.0),
        "normalised_elo": _plain(normalised),
        "normalised_elo_error": _plain(normalised_error),
        "level": level,
        "los": tally.superiority,
        "draw_ratio": played.draws / games if played.games else None,
        "pairs": None if played.pairs is None else sum(played.pairs),
        "pentanomial": None if played.pairs is None else " ".join(map(str, played.pairs)),
        "pair_draw_ratio": None if played.pairs is None else played.pairs[2] / max(sum(played.pairs), 1),
        "paired_by": played.paired_by or None,
        "games_without_pair": sum(played.singles) if played.games else None,
        "white_score": None if played.white_points is None else played.white_points / games,
        "terminations": described(played.endings) or None,
    }
    for name, test in tests.items():
        row |= {
            f"llr_{name}": test.llr,
            f"verdict_{name}": test.accepted or "goes on",
            f"further_games_{name}": test.further[0],
        }
    if tests:
        test = next(iter(tests.values()))
        row |= {
            "sprt_elo0": test.elo0,
            "sprt_elo1": test.elo1,
            "sprt_bounds": test.scale,
            "sprt_lower": test.lower,
            "sprt_upper": test.upper,
        }
    return row


def _lines(row: Mapping[str, Any], tests: Mapping[str, SequentialTest]) -> list[dict[str, str]]:
    """The same for people, a line each."""
    percent = f"{100 * row['level']:g} %"
    told: list[tuple[str, str | None]] = [
        ("Score", _score(row)),
        ("Elo", _elo(row, percent)),
        (
            "Normalised Elo",
            f"unknown: {_alike(row)}"
            if row["normalised_elo"] is None
            else f"{row['normalised_elo']:+.2f} +- {row['normalised_elo_error']:.2f}",
        ),
        ("Superiority", f"{100 * row['los']:.1f} %"),
        ("Draws", None if row["draw_ratio"] is None else f"{100 * row['draw_ratio']:.1f} %"),
        ("Pairs", _pairs(row)),
        ("White's score", None if row["white_score"] is None else f"{100 * row['white_score']:.1f} %"),
        ("Terminations", row["terminations"]),
    ]
    for name, test in tests.items():
        told.append((f"SPRT {name}", f"LLR {test.llr:.3f} ({test.lower:.2f}, {test.upper:.2f}): {test.verdict}"))
    if tests:
        test = next(iter(tests.values()))
        told.append(("Bounds", f"{test.elo0:g} and {test.elo1:g} Elo, {test.scale}"))
        if test.accepted is None:
            seen, if0, if1 = (f"{_rounded(games):,}" for games in test.further)
            told.append(("Games to come", f"about {seen} (as seen), {if0} (if H0), {if1} (if H1)"))
    return [{"what": name, "found": text} for name, text in told if text is not None]


def _elo(row: Mapping[str, Any], percent: str) -> str:
    if row["elo"] is None:
        return "no bound: all games have the same winner"
    if row["normalised_elo"] is None:
        return f"{row['elo']:+.2f}, error unknown: {_alike(row)}"
    error = "" if row["elo_error"] is None else f" +- {row['elo_error']:.2f}"
    low, high = ("no bound" if row[end] is None else f"{row[end]:+.2f}" for end in ("elo_low", "elo_high"))
    return f"{row['elo']:+.2f}{error} ({low} to {high}, {percent})"


def _alike(row: Mapping[str, Any]) -> str:
    if row["games"] == 1:
        return "one game"
    return "all games are alike" if row["pairs"] is None else "all pairs are alike" if row["pairs"] > 1 else "one pair"


def _plain(value: float) -> float | None:
    """A number, or None where it is none: infinite or unknown."""
    return value if math.isfinite(value) else None


def _score(row: Mapping[str, Any]) -> str:
    points = f"{row['score'] * row['games']:.1f} of {row['games']:,} ({100 * row['score']:.2f} %)"
    return points if row["wins"] is None else f"{points}: +{row['wins']:,} ={row['draws']:,} -{row['losses']:,}"


def _pairs(row: Mapping[str, Any]) -> str | None:
    if row["pairs"] is None:
        return None
    counts = ", ".join(f"{count} x {points}" for count, points in zip(row["pentanomial"].split(), _POINTS, strict=True))
    alone = f"; {counted(row['games_without_pair'], 'game')} without a pair" if row["games_without_pair"] else ""
    by = {"order": ", successive games", "opening": ", by opening"}.get(row["paired_by"] or "", "")
    return f"{row['pairs']:,}{by}: {counts}{alone}"


def _rounded(games: float) -> int:
    """A number of games to two digits: more is not known.

    >>> _rounded(12345.0), _rounded(7.2)
    (12000, 7)
    """
    if games < 10:
        return round(games)
    digits = math.floor(math.log10(games)) - 1
    return int(round(games, -digits))


def counts_of(wdl: Sequence[int] | None, penta: Sequence[int] | None) -> Record:
    """A match that is known by its counts alone: wins, draws, losses, or pairs with 0, 1/2, 1, 1 1/2, 2 points."""
    if wdl is not None and len(wdl) != 3:
        raise RatingError("wdl is three counts: wins, draws, losses.")
    if penta is not None and len(penta) != 5:
        raise RatingError("penta is five counts: pairs with 0, 1/2, 1, 1 1/2 and 2 points.")
    wins, draws, losses = wdl or (0, 0, 0)
    pairs = None if penta is None else tuple(penta)
    if wdl is not None and pairs is not None:
        points = sum(count * at for at, count in enumerate(pairs))
        if 2 * sum(pairs) != wins + draws + losses or points != 2 * wins + draws:
            raise RatingError("wdl and penta are of two matches: the games or the points differ.")
    return Record(wins, draws, losses, pairs)
