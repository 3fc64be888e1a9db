"""What a review says of a game, and how it is written: for people, as JSON, as rows, as annotated PGN."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from assay.games import Game
from assay.printable import json_text
from assay.records import dataclass
from assay.reports.accuracy import GLYPHS, NAMES
from assay.reports.annotation import annotate, arrow, evaluation, head_of, is_evaluated, judged, signed, words_of, wrap
from assay.reports.charts import percent, said_value
from assay.reports.thinking import Clock
from assay.table import FORMATS, WIDTH, Answer, counted

Value = int | str | None  # centipawns or "#n", White's view


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
