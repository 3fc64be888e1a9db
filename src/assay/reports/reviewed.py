"""What a review says of a game, and how it is written: for people, as JSON, as rows, as annotated PGN.

Time on the clock belongs to it. Broadcasts often do not tell the time control, or tell an increment that begins with
move 41: there the clocks themselves show it, for they rise by what a quick move brings back.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.games import Game, GameArrays
from assay.pools import clock_of, is_online
from assay.printable import json_text
from assay.records import dataclass
from assay.reports.annotation import annotate, arrow, evaluation, head_of, is_evaluated, judged, signed, words_of, wrap
from assay.reports.charts import percent, said_value
from assay.reports.judged import GLYPHS, NAMES
from assay.table import FORMATS, WIDTH, Answer, counted

Value = int | str | None  # centipawns or "#n", White's view
_TROUBLE_SHARE, _TROUBLE_LEAST = 20, 10.0  # a twentieth of the base time, and ten seconds at least
_INCREMENTS = np.array([0.0, 1, 2, 3, 5, 10, 12, 15, 20, 30, 45, 60])
_FIRST_PERIOD = 40  # moves
_MOST_RISE = 60.0  # a clock that rises by more is given the time of another period


@dataclass(frozen=True)
class ReviewedMove:
    """A move of a game: what it is worth (White's view), what it lost of the mover's win chances, in per cent.

    `chance` is how many players of the mover's rating play it, `best_chance` how many find the best one; `expected` is
    what they lose here on average. `line` begins with the best move. `clock` and `spent` are seconds.
    `lost_again` is the loss by a second, deeper look at a move that seemed to lose much; the mark is for the smaller of
    both, and value, best move and line are those of this look.
    """

    ply: int
    number: str
    white: bool
    san: str
    uci: str
    phase: str
    value: Value = None
    loss: float | None = None
    lost_again: float | None = None
    centipawns: float | None = None
    accuracy: float | None = None
    mark: str = ""
    best: str | None = None
    best_uci: str | None = None
    best_value: Value = None
    line: tuple[str, ...] = ()
    chance: float | None = None
    best_chance: float | None = None
    expected: float | None = None
    clock: float | None = None
    spent: float | None = None

    @property
    def name(self) -> str:
        """The move as people write it: `27...Qc7?`."""
        return f"{self.number}{self.san}{self.mark}"

    @property
    def lost(self) -> float:
        """What the move lost of the win chances, in per cent, as far as both looks agree."""
        return min(one for one in (self.loss or 0.0, self.lost_again) if one is not None)


@dataclass(frozen=True)
class ReviewedSide:
    """One side of a game. `expected` is the accuracy that players of this rating reach in these positions.

    Nine of ten of them lie between `expected_low` and `expected_high`. `rated_by` is "tag", or "moves" where the file
    has no rating.
    """

    player: str
    rating: int | None
    rated_by: str
    moves: int
    accuracy: float | None
    expected: float | None
    expected_low: float | None
    expected_high: float | None
    acpl: float | None
    inaccuracies: int
    mistakes: int
    blunders: int
    by_phase: Mapping[str, float]
    clock: Clock | None = None


@dataclass(frozen=True)
class Moment:
    """A critical moment: the ply, and what is to be said of it."""

    ply: int
    move: str
    text: str
    line: str = ""


@dataclass(frozen=True, eq=False, kw_only=True)
class Review(Answer):
    """A game reviewed; the table has a row for each move, `sides` and `moments` what the text says."""

    formats: ClassVar[Sequence[str]] = (*FORMATS, "pgn")

    game: int
    white: ReviewedSide
    black: ReviewedSide
    result: str
    opening: str
    eco: str
    judge: str
    moves: Sequence[ReviewedMove]
    moments: Sequence[Moment]
    source: Game

    def __len__(self) -> int:
        return len(self.moves)

    @property
    def sides(self) -> tuple[ReviewedSide, ReviewedSide]:
        """White and Black."""
        return self.white, self.black

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The sentence, both sides, the critical moments, the moves with their marks; `wide` has a table of moves."""
        size = 10_000 if width is None else width
        parts = [self.head_text(width) + self.shown.text(width)]
        if self.moments:
            parts.append("\n".join(["Critical moments", *self._moments(size)]))
        if phases := [f"{side.player}: {_phases(side)}." for side in self.sides if side.by_phase]:
            parts.append(
                "\n".join(["Accuracy by phase", *(shorter for one in phases for shorter in textwrap.wrap(one, size))])
            )
        if clocks := [f"{side.player}: {told_clock(side.clock)}" for side in self.sides if side.clock]:
            parts.append("\n".join(["Clock", *_wrapped(clocks, size)]))
        if wide and self.data is not None:
            parts.append(self.data.text(width, wide=True))
        else:
            parts.append(textwrap.fill(" ".join(_told(self.moves)), size))
        return "\n\n".join(parts)

    def _moments(self, size: int) -> Iterator[str]:
        for number, moment in enumerate(self.moments, 1):
            yield from textwrap.wrap(f"{number}. {moment.text}", size, subsequent_indent="   ")
            if moment.line:
                yield from textwrap.wrap(f"   {moment.line}", size, initial_indent="   ", subsequent_indent="   ")

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """Text, CSV (a row for each move), JSON (everything) or "pgn": the game as it was, with marks and lines."""
        if format == "json":
            return json_text(self.content())
        return self.pgn().rstrip("\n") if format == "pgn" else super().to(format, width, wide=wide)

    def content(self) -> dict[str, Any]:
        """Everything as plain values."""
        names = ("game", "result", "opening", "eco", "judge")
        return {
            **{name: getattr(self, name) for name in names},
            "summary": self.head,
            "white": asdict(self.white),
            "black": asdict(self.black),
            "moments": [asdict(moment) for moment in self.moments],
            "moves": [asdict(move) for move in self.moves],
        }

    def pgn(self) -> str:
        """The game as it stands in the file, with marks, arrows, evaluations, comments and the better lines."""
        tags = dict(self.source.tags)
        given = words_of(self.source.text, tags)
        critical = {moment.ply: moment.text for moment in self.moments}
        evaluated, theirs = is_evaluated(given), judged(given, len(self.moves))
        first = (2 * int(self.moves[0].number.rstrip(".")) - 2 + (not self.moves[0].white)) if self.moves else 0
        words = annotate(
            given,
            [
                _comment(move, evaluated, critical.get(move.ply, ""), marked)
                for move, marked in zip(self.moves, theirs, strict=True)
            ],
            first,
            self.result,
            glyphs=[GLYPHS.get(move.mark, "") for move in self.moves],
            variations=[_variation(move) for move in self.moves],
        )
        if words is None:
            return f"{self.source.text.strip()}\n"
        if self.opening:
            tags.setdefault("Opening", self.opening)
        return f"{head_of(signed(tags))}\n{wrap(words)}\n"


def _wrapped(texts: Sequence[str], size: int) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(text, size)]


def _phases(side: ReviewedSide) -> str:
    return ", ".join(f"{phase} {value:.0f} %" for phase, value in side.by_phase.items())


def _told(moves: Sequence[ReviewedMove]) -> Iterator[str]:
    for at, move in enumerate(moves):
        yield f"{move.number if move.white or at == 0 else ''}{move.san}{move.mark}"


def _comment(move: ReviewedMove, evaluated: bool, critical: str, judged: bool) -> str:
    """What to say behind a move; where somebody has given it a glyph, ours is not told either."""
    parts = []
    if move.value is not None and not evaluated and not move.san.endswith("#"):
        parts.append(evaluation(move.value))
    if move.mark and move.best_uci:
        parts.append(arrow(move.best_uci))
    if critical:
        parts.append(critical.replace(move.name, f"{move.number}{move.san}", 1) if judged else critical)
    elif move.mark:
        best = f"{move.best} was best." if move.best else ""
        parts += [] if judged else [f"{NAMES[move.mark].capitalize()}."]
        parts += [best] if best else []
    return " ".join(parts)


def _variation(move: ReviewedMove) -> str:
    return f"({numbered(move.number, move.line)})" if move.mark and move.line else ""


def numbered(number: str, line: Sequence[str]) -> str:
    """A line with its numbers, from the number of its first move.

    >>> numbered("27...", ["Rd8", "Qe2", "h6"])
    '27... Rd8 28. Qe2 h6'
    """
    words = list[str]()
    at, black = int(number.rstrip(".")), number.endswith("...")
    for san in line:
        if not black or not words:
            words.append(f"{at}{'...' if black else '.'}")
        words.append(san)
        at, black = at + black, not black
    return " ".join(words)


def told_clock(clock: Clock) -> str:
    """What is to be said of a clock.

    >>> told_clock(Clock(8.4, 61.0, "23.Qh5", 0, 30.0, None))
    '8 s a move, longest 61 s for 23.Qh5; no time trouble.'
    """
    told = f"{seconds(clock.mean)} a move, longest {seconds(clock.longest)} for {clock.longest_move}; "
    if not clock.trouble:
        return f"{told}no time trouble."
    own = "" if clock.trouble_accuracy is None else f", at {clock.trouble_accuracy:.0f} % accuracy"
    return f"{told}{counted(clock.trouble, 'move')} with less than {seconds(clock.trouble_below)} left{own}."


def seconds(value: float) -> str:
    """A time for people.

    >>> seconds(8.4), seconds(270), seconds(60)
    ('8 s', '4:30 min', '60 s')
    """
    whole = round(value)
    return f"{whole} s" if whole < 100 else f"{whole // 60}:{whole % 60:02} min"


def told_moment(move: ReviewedMove, rating: int | None) -> Moment:
    """What is to be said of a critical moment: what a move lost, or what a hard one kept."""
    players = f"of players rated {rating}"
    if move.mark or move.lost >= 3:
        text = f"{move.name} lost {move.lost:.0f} % of winning chances"
        if move.best and move.best_chance is not None and rating is not None:
            text += f"; {percent(move.best_chance)} {players} find {move.best}"
        elif move.best:
            text += f"; {move.best} was best"
        elif move.expected is not None and rating is not None:
            text += f"; players rated {rating} lose {move.expected:.0f} % here"
    else:
        text = f"{move.name} was needed"
        if move.chance is not None and rating is not None:
            text = f"{move.name} is found by {percent(move.chance)} {players}"
        if move.expected is not None:
            text += f", who lose {move.expected:.0f} % of winning chances here on average"
    line = ""
    if move.mark and move.line:
        worth = f" ({said_value(move.best_value)})" if move.best_value is not None else ""
        line = f"{numbered(move.number, move.line)}{worth}"
    return Moment(move.ply, move.name, f"{text}.", line)


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Clock:
    """What the clock says of one side: seconds for a move on average, the longest think, moves in time trouble."""

    mean: float
    longest: float
    longest_move: str
    trouble: int
    trouble_below: float
    trouble_accuracy: float | None


@dataclass(frozen=True)
class Thought:
    """A move with a clock: its name, seconds spent and left, its accuracy."""

    name: str
    spent: float
    left: float
    accuracy: float | None


@dataclass(frozen=True)
class Control:
    """The time control of a game: seconds at the start, as told or as the clocks show it, and those for each ply."""

    base: float
    spent: Floats


def control_of(arrays: GameArrays, site: str, event: str, control: str, pool: str) -> Control:
    """The time control of one game and the seconds for each of its plies, nan where clocks do not tell."""
    clock = arrays.clock.astype(np.float64)
    base, told, _ = clock_of(site, event, control)
    before = np.full(arrays.plies, np.nan)
    before[2:] = clock[:-2]
    rise = clock - before
    if base is not None:
        before[:2] = base
    if told or is_online(pool):
        plus = np.full(arrays.plies, told or 0.0)
    else:
        late = arrays.fullmove > _FIRST_PERIOD
        plus = np.where(late, _increment(rise[late]), _increment(rise[~late]))
    spent = before - clock + np.where(np.arange(arrays.plies) < 2, 0.0, plus)
    spent = np.where((rise > _MOST_RISE) | np.isnan(spent), np.nan, np.maximum(spent, 0.0))
    known = clock[np.isfinite(clock)]
    return Control(base or (_rounded(float(known.max())) if len(known) else 0.0), spent)


def _increment(rises: Floats) -> float:
    """The increment behind these rises of clocks: the least usual one that explains them."""
    most = rises[np.isfinite(rises) & (rises <= _MOST_RISE)].max(initial=0.0)
    return float(_INCREMENTS[np.searchsorted(_INCREMENTS, max(most, 0.0))])


def _rounded(seconds: float) -> float:
    """The base time behind the highest clock of a game.

    >>> _rounded(5456.0), _rounded(7197.0), _rounded(178.0), _rounded(20.0)
    (5400.0, 7200.0, 180.0, 20.0)
    """
    step = 300 if seconds >= 540 else 60
    return float(round(seconds / step) * step) or seconds


def clock_said(moves: Iterable[Thought], base: float) -> Clock | None:
    """What the clock says of one side's moves; None where it says next to nothing."""
    timed = list(moves)
    if len(timed) < 2:
        return None
    below = max(base / _TROUBLE_SHARE, _TROUBLE_LEAST)
    hasty = [move for move in timed if move.left < below]
    own = [move.accuracy for move in hasty if move.accuracy is not None]
    longest = max(timed, key=lambda move: move.spent)
    return Clock(
        mean=float(np.mean([move.spent for move in timed])),
        longest=longest.spent,
        longest_move=longest.name,
        trouble=len(hasty),
        trouble_below=below,
        trouble_accuracy=float(np.mean(own)) if own else None,
    )
