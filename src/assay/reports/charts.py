"""Small plots as inline SVG: dots with whiskers, the evaluation, the posterior.

Colours are classes, so that one style sheet serves light and dark; every kind of mark has a shape of its own, so that
nothing depends on colour alone; each plot carries its content in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from markupsafe import Markup, escape

from assay.curve import Estimate
from assay.records import dataclass
from assay.reports.content import GameSection, Move, Part, PlayerSection
from assay.table import said_chance as said_chance

WITNESSES = {"results": "Results", "moves": "Moves", "learned": "Learned", "joint": "Together"}
# The evaluation is drawn up to this many pawns.
PAWNS = 5.0
_WIDTH = 480.0
_STRIP = 220.0
_RIGHT = 30.0  # beside a plot of plies: the bars of the ratings
_BETWEEN = 62.0  # between two labels of a time


@dataclass(frozen=True)
class Axis:
    """A linear map from values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return round(self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start), 1)

    def ticks(self, most: int = 6) -> list[int]:
        """Round numbers along the scale, at most so many.

        >>> Axis(1830, 2710, 0, 100).ticks()
        [2000, 2200, 2400, 2600]
        """
        for step in (50, 100, 200, 250, 500, 1000, 2000):
            first = int(-(-self.low // step)) * step
            found = list(range(first, int(self.high) + 1, step))
            if len(found) <= most:
                return found
        return found


def rating_scale(estimates: Iterable[Estimate], start: float, end: float) -> Axis:
    """A scale that holds these ratings with their intervals; single wild intervals are cut at 1,000 Elo beyond."""
    known = [e for e in estimates if e.known]
    if not known:
        return Axis(1000, 3000, start, end)
    # A rating beyond the end of the scale stands at the end that is known.
    values = [next(v for v in (e.value, e.low, e.high, 0.0) if isfinite(v)) for e in known]
    least, most = min(values), max(values)
    low = max(min([least, *(e.low for e in known if isfinite(e.low))]), least - 1000)
    high = min(max([most, *(e.high for e in known if isfinite(e.high))]), most + 1000)
    margin = max((high - low) * 0.04, 20)
    return Axis(low - margin, high + margin, start, end)


def strip_scale(players: Iterable[PlayerSection]) -> Axis:
    """The common scale of the strips in the table of players."""
    return rating_scale((e for player in players for e in (player.joint, player.tag)), 6, _STRIP - 6)


def strip(player: PlayerSection, scale: Axis, grid: bool = True) -> Markup:
    """The rating of a player with its range, and the one in the file, for a cell of the table."""
    known = [(kind, e) for kind, e in (("joint", player.joint), ("tag", player.tag)) if e.known]
    height = 20
    marks = [_line("grid", scale(t), 0, scale(t), height) for t in (scale.ticks(5) if grid else ())]
    marks += [_whisker(kind, e, scale, height / 2) for kind, e in known]
    words = "; ".join(f"{'file' if kind == 'tag' else 'rating'} {spoken(e)}" for kind, e in known) or "no rating"
    return _svg(_STRIP, height, f"{player.name}: {words}", marks, css="strip")


def witnesses(player: PlayerSection) -> Markup:
    """What each witness says alone, and together, one line each; a vertical line marks the rating in the file."""
    left, row, top, width = 84.0, 26.0, 6.0, 380.0
    lines = {**player.witnesses, "joint": player.joint}
    scale = rating_scale([*lines.values(), player.tag], left, width - 12)
    bottom = top + row * len(lines)
    marks: list[Markup] = []
    for tick in scale.ticks(4):
        marks += [
            _line("grid", scale(tick), top, scale(tick), bottom),
            _text(scale(tick), bottom + 16, str(tick), anchor="middle"),
        ]
    if player.tag.known:
        marks.append(_line("reference", scale(player.tag.value), top, scale(player.tag.value), bottom))
    for at, (kind, rating) in enumerate(lines.items()):
        y = top + row * (at + 0.5)
        marks.append(_text(left - 8, y + 4, WITNESSES[kind], anchor="end", css="label"))
        if rating.known:
            marks.append(_whisker(kind, rating, scale, y))
    said = "; ".join(f"{WITNESSES[kind]}: {spoken(rating)}" for kind, rating in lines.items())
    file = f" The dashed line is the rating in the file, {player.tag.value:.0f}." if player.tag.known else ""
    return _svg(width, bottom + 22, f"{said}.{file}", marks, css="small")


def strip_axis(scale: Axis) -> Markup:
    """The axis above the strips."""
    marks = [_text(scale(t), 11, str(t), anchor="middle") for t in scale.ticks(5)]
    return _svg(_STRIP, 14, "", marks, css="strip")


def legend_mark(kind: str) -> Markup:
    """The mark of one kind of rating, for the legend."""
    return _svg(22, 12, "", [_line(f"whisker {kind}", 1, 6, 21, 6), _mark(kind, 11, 6)], css="mark")


def parts(items: Sequence[Part], *, reference: float | None, title: str) -> Markup:
    """Ratings with whiskers, one line for each part; a vertical line marks the rating in the tags."""
    left, row, top = 152.0, 22.0, 8.0
    extra = [Estimate(reference)] if reference is not None else []
    scale = rating_scale([*(item.rating for item in items), *extra], left, _WIDTH - 12)
    bottom = top + row * len(items)
    marks: list[Markup] = []
    for tick in scale.ticks():
        marks += [
            _line("grid", scale(tick), top, scale(tick), bottom),
            _text(scale(tick), bottom + 16, str(tick), anchor="middle"),
        ]
    if reference is not None:
        marks.append(_line("reference", scale(reference), top, scale(reference), bottom))
    for at, item in enumerate(items):
        y = top + row * (at + 0.5)
        marks.append(_text(left - 10, y + 4, _short(item.label, 18), anchor="end", css="label"))
        if item.rating.known:
            marks.append(_whisker("moves", item.rating, scale, y))
        else:
            marks.append(_text(left + 6, y + 4, _short(item.rating.note.partition(";")[0], 50), css="reason"))
    said = "; ".join(f"{item.label}: {spoken(item.rating)}" for item in items)
    tag = f" The dashed line is the rating in the tags, {reference:.0f}." if reference is not None else ""
    return _svg(_WIDTH, bottom + 22, f"{title}. {said}.{tag}", marks)


def over_time(points: Sequence[tuple[str, Estimate]], title: str) -> Markup:
    """A rating through the months or years, with a band for its range."""
    left, top, bottom, width = 44.0, 8.0, 128.0, 380.0
    up = rating_scale([e for _, e in points], bottom, top)
    times = [_year(when) for when, _ in points]
    across = Axis(times[0], max(times[-1], times[0] + 1 / 12), left + 10, width - 28)
    marks: list[Markup] = []
    for tick in up.ticks(5):
        marks.append(_line("grid", left, up(tick), width - 8, up(tick)))
        marks.append(_text(left - 6, up(tick) + 4, str(tick), anchor="end"))
    labelled = left - _BETWEEN
    for at, (when, _) in enumerate(points):
        if across(times[at]) - labelled >= _BETWEEN:
            labelled = across(times[at])
            marks.append(_text(labelled, bottom + 16, when.replace(".", "-"), anchor="middle"))
    band = [(at, max(e.low, up.low)) for at, (_, e) in zip(times, points, strict=True)]
    band += [(at, min(e.high, up.high)) for at, (_, e) in reversed(list(zip(times, points, strict=True)))]
    marks.append(
        Markup('<polygon class="area" points="{}"/>').format(" ".join(f"{across(at):g},{up(v):g}" for at, v in band))
    )
    # A month of which no more than a bound is known has no point of its own.
    told = [(across(at), up(e.value)) for at, (_, e) in zip(times, points, strict=True) if not _is_bound(e)]
    outline = " ".join(f"{x:g},{y:g}" for x, y in told)
    marks.append(Markup('<polyline class="curve" points="{}"/>').format(outline))
    marks += [_mark("moves", x, y) for x, y in told]
    said = "; ".join(f"{when}: {spoken(e)}" for when, e in points)
    return _svg(width, bottom + 22, f"Rating over time, {title}. {said}.", marks, css="small")


def _year(when: str) -> float:
    """The middle of a month or of a year, in years.

    >>> _year("2022"), _year("2022-07"), _year("2022.01")
    (2022.5, 2022.5417, 2022.0417)
    """
    year, _, month = when.replace(".", "-").partition("-")
    return round(int(year) + ((int(month) - 0.5) / 12 if month.isdecimal() else 0.5), 4)


def _is_bound(e: Estimate) -> bool:
    """Whether no more than one end of a rating is known."""
    return isfinite(e.low) != isfinite(e.high)


def evaluation(game: GameSection) -> Markup:
    """The evaluation before each move, White's view, cut at five pawns."""
    left, top, bottom = 44.0, 8.0, 128.0
    across = _ply_scale(game.moves, left)  # as that of the ratings below, so that moves stand above each other
    up = Axis(-PAWNS, PAWNS, bottom, top)
    marks = _ply_axis(game, across, top, bottom)
    for pawns in (-4, -2, 0, 2, 4):
        marks.append(_line("zero" if pawns == 0 else "grid", left, up(pawns), _WIDTH - 12, up(pawns)))
        marks.append(_text(left - 8, up(pawns) + 4, f"{pawns:+d}" if pawns else "0", anchor="end"))
    points = [(across(at), up(pawns_of(m.value))) for at, m in enumerate(game.moves) if m.value is not None]
    if points:
        outline = " ".join(f"{x:g},{y:g}" for x, y in points)
        marks.append(Markup('<polygon class="area" points="{},{} {} {},{}"/>').format(
            f"{points[0][0]:g}", f"{up(0):g}", outline, f"{points[-1][0]:g}", f"{up(0):g}"))  # fmt: skip
        marks.append(Markup('<polyline class="curve" points="{}"/>').format(outline))
    marks.append(_cursor(across, top, bottom))
    return _svg(_WIDTH, bottom + 20, _evaluation_words(game), marks, css="plies", data=f"{left} {_WIDTH - _RIGHT}")


def posterior(game: GameSection) -> Markup:
    """The rating of both players after each of their moves; a bar at the end is the 95 % range of each."""
    left, top, bottom = 44.0, 8.0, 148.0
    seen = [(at, m.posterior) for at, m in enumerate(game.moves) if m.posterior.known]
    sides = {
        "white": [(at, e) for at, e in seen if _is_white(game, at)],
        "black": [(at, e) for at, e in seen if not _is_white(game, at)],
    }
    known = [e for side in sides.values() for _, e in side]
    across = _ply_scale(game.moves, left)
    up = rating_scale(known, bottom, top)
    marks = _ply_axis(game, across, top, bottom)
    for tick in up.ticks(5):
        marks.append(_line("grid", left, up(tick), _WIDTH - 12, up(tick)))
        marks.append(_text(left - 8, up(tick) + 4, str(tick), anchor="end"))
    for number, (side, points) in enumerate(sides.items()):
        if points:  # one bar each, beside one another: two bands over the whole game flood the plot
            last, x = points[-1][1], _WIDTH - 22 + 10 * number
            marks.append(_line(f"range {side}", x, up(last.low), x, up(last.high)))
    for side, points in sides.items():
        outline = " ".join(f"{across(at):g},{up(e.value):g}" for at, e in points)
        marks.append(Markup('<polyline class="curve {}" points="{}"/>').format(side, outline))
    marks.append(_cursor(across, top, bottom))
    return _svg(
        _WIDTH, bottom + 20, _posterior_words(game, sides), marks, css="plies", data=f"{left} {_WIDTH - _RIGHT}"
    )


def pawns_of(value: int | str | None) -> float:
    """A value in pawns for drawing; a mate is beyond the edge.

    >>> pawns_of(35), pawns_of("#-3"), pawns_of("#2")
    (0.35, -100.0, 100.0)
    """
    if isinstance(value, str):
        return -100.0 if value.startswith("#-") else 100.0
    return (value or 0) / 100


def spoken(estimate: Estimate) -> str:
    """A rating in words.

    >>> spoken(Estimate(2500.4, 2410.0, 2590.0)), spoken(Estimate(note="too few moves"))
    ('2500 (2410 to 2590)', 'none, too few moves')
    """
    if not estimate.known:
        return f"none, {estimate.note}" if estimate.note else "none"
    return f"{estimate.value:.0f} ({estimate.low:.0f} to {estimate.high:.0f})" if estimate.bounded else str(estimate)


def _is_white(game: GameSection, at: int) -> bool:
    return (at + game.first_ply) % 2 == 0


def _evaluation_words(game: GameSection) -> str:
    known = [(at, m.value) for at, m in enumerate(game.moves) if m.value is not None]
    if not known:
        return "Evaluation: no move of this game was analysed."
    highest = max(known, key=lambda item: pawns_of(item[1]))
    lowest = min(known, key=lambda item: pawns_of(item[1]))
    best, worst = (f"{said_value(v)} at move {(at + game.first_ply) // 2 + 1}" for at, v in (highest, lowest))
    return (
        f"Evaluation move by move, White's view. Best for White {best}, best for Black {worst}, "
        f"last {said_value(known[-1][1])}."
    )


def _posterior_words(game: GameSection, sides: dict[str, list[tuple[int, Estimate]]]) -> str:
    names = {"white": game.white, "black": game.black}
    said = [f"{names[side]} {spoken(points[-1][1])}" for side, points in sides.items() if points]
    return f"Rating seen in the moves of this game alone, after each move. At the end: {'; '.join(said) or 'none'}."


def said_value(value: int | str | None) -> str:
    """A value as players write it.

    >>> said_value(35), said_value(-120), said_value("#-3"), said_value(None)
    ('+0.35', '-1.20', '#-3', '')
    """
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value / 100:+.2f}"


def percent(share: float) -> str:
    """A share in whole per cent.

    >>> percent(0.617), percent(0.004)
    ('62 %', 'fewer than 1 %')
    """
    return "fewer than 1 %" if share < 0.005 else f"{100 * share:.0f} %"


def _ply_scale(moves: Sequence[Move], left: float) -> Axis:
    return Axis(0, max(len(moves) - 1, 1), left, _WIDTH - _RIGHT)


def _ply_axis(game: GameSection, across: Axis, top: float, bottom: float) -> list[Markup]:
    """Grid lines at White's tenth, twentieth, ... move."""
    step = 20 if len(game.moves) <= 160 else 40
    marks: list[Markup] = []
    for at in range(len(game.moves)):
        if (at + game.first_ply + 2) % step == 0:
            x, number = across(at), (at + game.first_ply) // 2 + 1
            marks += [_line("grid", x, top, x, bottom), _text(x, bottom + 16, str(number), anchor="middle")]
    return marks


def _cursor(across: Axis, top: float, bottom: float) -> Markup:
    return _line("cursor", across.start, top, across.start, bottom)


def _whisker(kind: str, e: Estimate, scale: Axis, y: float) -> Markup:
    """A rating with its range; where only one end is known, a range with an arrow at the other, and no mark."""
    mark = _mark(kind, scale(e.value), y)
    if kind == "tag":
        return mark
    low, high = scale(e.low), scale(e.high)
    line = _line(f"whisker {kind}", low, y, high, y)
    if not _is_bound(e):
        return line + mark
    tip, back, end = (high, -5, low) if isfinite(e.low) else (low, 5, high)
    arrow = Markup('<path class="whisker open {}" d="M{:g},{:g}L{:g},{:g}L{:g},{:g}"/>').format(
        kind, tip + back, y - 4, tip, y, tip + back, y + 4
    )
    return line + arrow + _line(f"whisker {kind}", end, y - 4, end, y + 4)


def _mark(kind: str, x: float, y: float) -> Markup:
    shapes = {
        "joint": f"M{x:g},{y - 5.5:g}l5.5,5.5l-5.5,5.5l-5.5,-5.5z",
        "tag": f"M{x:g},{y - 6:g}v12",
        "results": f"M{x - 3.5:g},{y - 3.5:g}h7v7h-7z",
        "moves": f"M{x - 4:g},{y:g}a4,4 0 1 0 8,0a4,4 0 1 0 -8,0z",
        "learned": f"M{x:g},{y - 4.5:g}l4.5,8h-9z",
    }
    return Markup(f'<path class="dot {kind}" d="{shapes[kind]}"/>')


def _line(css: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup(f'<line class="{css}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>')


def _text(x: float, y: float, text: str, *, anchor: str = "start", css: str = "tick") -> Markup:
    return Markup(f'<text class="{css}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>')


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _svg(
    width: float, height: float, words: str, marks: Iterable[Markup], *, css: str = "plot", data: str = ""
) -> Markup:
    """An SVG with its text alternative; without words it is decoration and hidden from screen readers."""
    head = f'role="img" aria-label="{escape(words)}"' if words else 'aria-hidden="true"'
    extra = f' data-x="{escape(data)}"' if data else ""
    inside = "".join(escape(mark) for mark in marks)  # a mark is markup already, and nothing else gets in
    return Markup(f'<svg class="{css}" viewBox="0 0 {width:g} {height:g}"{extra} {head}>{inside}</svg>')
