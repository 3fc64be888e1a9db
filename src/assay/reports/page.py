"""A report as one HTML file that needs nothing else: no network, no folder beside it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from dataclasses import replace
from functools import cache
from itertools import chain
from math import floor, isfinite, isinf, log10
from pathlib import Path
from typing import Any

import chess.svg
import jinja2
from markupsafe import Markup

from assay.curve import Estimate
from assay.records import dataclass
from assay.reports import charts
from assay.reports.content import CONCLUSION, LEVEL, MEANINGS, WAYS, GameSection, Report
from assay.reports.sentences import player_sentence

TEMPLATES = Path(__file__).parent / "templates"
MOST_BYTES = 2_000_000
# How many candidates of each move are kept; the first that lets the file stay small enough is taken. -1 is no moves, -2
# neither the moves nor the players one by one.
DETAIL = (12, 6, 4, 2, 0, -1, -2)
EACH = 40  # players or games in a file beside the report
MOST_GAMES = 40  # of a player whose games are drawn one by one


@dataclass(frozen=True)
class Places:
    """Where the players and the games of a report stand: on the page itself, in files beside it, or nowhere."""

    folder: str = ""
    games: frozenset[int] = frozenset()
    ordered: tuple[int, ...] = ()
    players: bool = True
    inside: bool = False

    def player(self, number: int) -> str:
        """The address of a player, by his place in the table."""
        if self.folder:
            return f"{self.folder}/{beside_name('players', number - 1)}#player-{number}"
        return f"#player-{number}" if self.players else ""

    def game(self, number: int) -> str:
        """The address of a game, by its number; nothing if it is not shown."""
        if number not in self.games:
            return ""
        if self.folder:
            return f"{self.folder}/{beside_name('games', self.ordered.index(number))}#game-{number}"
        return f"#game-{number}"


def beside_name(kind: str, at: int) -> str:
    """The name of the file beside a report that has the player or the game at this place, from 0.

    >>> beside_name("games", 0), beside_name("games", 40)
    ('games-1.html', 'games-2.html')
    """
    return f"{kind}-{at // EACH + 1}.html"


@cache
def asset(name: str) -> str:
    """The text of the style sheet or the script."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


@cache
def policy() -> str:
    """The Content-Security-Policy of a report: its own script and style by hash, and nothing from anywhere."""
    return (
        f"default-src 'none'; script-src '{hash_of(asset('report.js'))}'; style-src '{hash_of(asset('report.css'))}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def hash_of(text: str) -> str:
    """What the policy says of a script or a style that it allows."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def render(report: Report, *, most_bytes: int = MOST_BYTES) -> str:
    """The report as HTML, at most so many bytes: where that is too few, candidates of moves are left out first.

    What was left out is said in the report itself.
    """
    places = Places(games=report.numbers)
    parts = _page("report.html", report, DETAIL[0], places, game_data=_later, detail=_later()).split(_LATER)
    size = sum(len(part.encode()) for part in parts)
    for candidates in DETAIL[: DETAIL.index(-1)]:  # these differ in the data of the games alone, and in a sentence
        data = [str(game_data(game, candidates)) for game in report.games if game.moves]
        if size + sum(len(one.encode()) for one in data) + _ROOM <= most_bytes:
            told = [_detail(candidates), *data]
            return "".join(chain.from_iterable(zip(parts, [*told, ""], strict=True)))
    for candidates in DETAIL[DETAIL.index(-1) :]:
        places = Places(games=report.numbers, players=candidates > -2)
        html = _page("report.html", report, candidates, places)
        if len(html.encode()) <= most_bytes:
            break
    return html


_LATER = f"later {secrets.token_hex(16)}"  # nobody can have it in a name
_ROOM = 300  # bytes for the sentence about what was left out


def _later(*_: object) -> Markup:
    return Markup(_LATER)


def _detail(candidates: int) -> str:
    """What is said of candidates that are left out."""
    if candidates == DETAIL[0]:
        return ""
    most = f"at most {candidates} candidates of each move are shown" if candidates else "candidates are left out"
    return f'<p class="note">To keep this file small, {most}; the JSON export has them all.</p>'


def render_beside(report: Report, folder: str, main: str) -> dict[str, str]:
    """The report as several files: under "" the summary, then players and games in files of a folder, by their names.

    `main` is the name of the first, for the way back.
    """
    ordered = tuple(game.number for game in report.games)
    out = Places(folder, report.numbers, ordered)
    inside = replace(out, folder=".", inside=True)
    found = {"": _page("report.html", report, DETAIL[0], out)}
    if len(found[""].encode()) > MOST_BYTES:
        found[""] = _page("report.html", report, DETAIL[0], out, pictures=False)
    for kind, parts in (("players", list(enumerate(report.players, 1))), ("games", list(enumerate(report.games, 1)))):
        for at in range(0, len(parts), EACH):
            name, some = beside_name(kind, at), parts[at : at + EACH]
            more: dict[str, Any] = {"kind": kind, "parts": some, "main": main, "name": name}
            found[name] = _page("beside.html", report, DETAIL[0], inside, **more)
    return found


def _page(template: str, report: Report, candidates: int, places: Places, pictures: bool = True, **more: Any) -> str:
    scale = charts.strip_scale(report.players)
    return (
        environment()
        .get_template(template)
        .render(
            report=report,
            candidates=candidates,
            places=places,
            scale=scale,
            pictures=pictures,
            level=LEVEL,
            missing=_missing(report),
            ways=WAYS,
            meanings=MEANINGS,
            conclusion=CONCLUSION,
            policy=policy(),
            css=Markup(asset("report.css")),
            js=Markup(asset("report.js")),
            pieces=piece_symbols(),
            **{"game_data": game_data, "detail": Markup(_detail(candidates)) if candidates >= 0 else "", **more},
        )
    )


def _missing(report: Report) -> dict[str, str]:
    """The ways of rating that give nobody a rating, each with the reason if it is the same for all."""
    found = {}
    for kind in WAYS:
        estimates = [player.ratings[kind] for player in report.players]
        if not any(estimate.known for estimate in estimates):
            notes = {estimate.note for estimate in estimates}
            found[kind] = notes.pop() if len(notes) == 1 else ""
    return found


@cache
def environment() -> jinja2.Environment:
    """Templates that escape everything: names and comments in a PGN are data."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.globals.update(charts=charts, player_sentence=player_sentence, most_games=MOST_GAMES)
    env.filters.update(
        elo=_elo,
        rounded=_rounded,
        signed=_signed,
        capital=_capital,
        interval=_interval,
        z=_z,
        small=_small,
        points=_points,
        sentence=_sentence,
        brief=_brief,
        plain_moves=plain_moves,
        tight=_tight,
    )
    env.tests["infinite"] = isinf
    return env


def game_data(game: GameSection, candidates: int) -> Markup:
    """The moves of a game for the page's script, as compact JSON that cannot end the element it stands in.

    `m` moves and `s` SAN, joined by blanks; `e` what each move is worth; `q` posteriors; `c` candidates as flat
    triples of SAN, value and probability in hundredths of a per cent, then the number and probability of the others;
    `k` marks of moves, `b` what was better; `w` reasons why a move does not count; `f` and `p` the position set up and
    the half-moves before it.
    """
    moves = game.moves
    reasons = sorted({move.left_out for move in moves})
    data: dict[str, Any] = {
        "n": [game.white, game.black],
        "r": [_whole(game.white_rating), _whole(game.black_rating)],
        "m": " ".join(move.uci for move in moves),
        "s": " ".join(move.san for move in moves),
        "e": [move.worth for move in moves],
        "q": [_triple(move.posterior) for move in moves],
        "w": [reasons.index(move.left_out) for move in moves],
        "why": reasons,
    }
    if any(move.mark for move in moves):
        data |= {"k": [move.mark for move in moves], "b": [move.better for move in moves]}
    if game.start:
        data |= {"f": game.start, "p": game.first_ply}
    if candidates:
        spreads = []
        for move in moves:
            flat: list[Any] = []
            others, rest = move.others, move.others_probability
            for at, c in enumerate(move.candidates):
                if at < candidates or c.san == move.san:  # the played move is always told
                    flat += (c.san, c.value, _share(c.probability))
                else:
                    others, rest = others + 1, rest + (c.probability or 0.0)
            spreads.append([*flat, others, _share(rest)] if flat else 0)
        data["c"] = spreads
    return script_json(data)


def script_json(data: Any) -> Markup:
    """JSON that may stand inside a script element: no character of markup is left in it.

    >>> print(script_json("</script><!--"))
    "\\u003c/script\\u003e\\u003c!--"
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def plain_moves(game: GameSection) -> str:
    """The moves as text, for paper and for browsers without script."""
    words = []
    for at, move in enumerate(game.moves, start=game.first_ply):
        if at % 2 == 0:
            words.append(f"{at // 2 + 1}.")
        elif at == game.first_ply:
            words.append(f"{at // 2 + 1}…")
        words.append(move.san)
    return " ".join(words)


def _share(probability: float | None) -> int | None:
    return None if probability is None else round(probability * 10_000)


def _whole(value: float | None) -> int | None:
    return None if value is None or not isfinite(value) else round(value)


def _triple(estimate: Estimate) -> list[int | None] | int:
    return [_whole(estimate.value), _whole(estimate.low), _whole(estimate.high)] if estimate.known else 0


def _elo(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


def _signed(value: float) -> str:
    """A difference in whole numbers with its sign.

    >>> _signed(-12.6), _signed(3.2), _signed(-0.2)
    ('−13', '+3', '0')
    """
    whole = round(value)
    return f"{whole:+d}".replace("-", "−") if whole else "0"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _rounded(estimate: Estimate) -> str:
    """A rating, or where no more is known the bound that it lies beyond.

    >>> _rounded(Estimate(2500.4)), _rounded(Estimate(float("inf"), low=2650.0)), _rounded(Estimate(924.0, high=1338.0))
    ('2500', '≥2650', '≤1338')

    Where nothing bounds it, there is none.

    >>> _rounded(Estimate(float("-inf")))
    '–'
    """
    if estimate.bounded or (isfinite(estimate.value) and isinf(estimate.low) and isinf(estimate.high)):
        return f"{estimate.value:.0f}"
    if isfinite(estimate.low):
        return f"≥{estimate.low:.0f}"
    return f"≤{estimate.high:.0f}" if isfinite(estimate.high) else "–"


def _interval(estimate: Estimate) -> Markup:
    """The range behind a rating, small; nothing where it has no two ends."""
    return Markup(f" <small>{estimate.low:.0f}–{estimate.high:.0f}</small>" if estimate.bounded else "")


def _tight(html: str) -> Markup:
    """Markup without the blanks at the ends of its lines: a table of a thousand rows is a third smaller.

    >>> print(_tight("<tr>\\n    <td>\\n\\n  1</td>"))
    <tr>
    <td>
    1</td>
    """
    return Markup(re.sub(r"[ \t]*\n\s*", "\n", html))


def _z(value: float | None) -> str:
    """A z with its sign.

    >>> _z(2.161), _z(-0.001), _z(None)
    ('+2.16', '0.00', '–')
    """
    return "–" if value is None else f"{round(value, 2) or 0.0:+.2f}".replace("+0.00", "0.00").replace("-", "−")


def _small(value: float | None) -> str:
    """A probability for people, to two digits, with no nought before the point.

    >>> _small(0.25), _small(0.00003), _small(1.6), _small(1e-9), _small(None)
    ('.25', '.000030', '1.6', '<.000001', '–')
    """
    if value is None:
        return "–"
    if value < 1e-6:
        return "<.000001"
    digits = max(1 - floor(log10(value)), 0)
    return f"{value:.{digits}f}".removeprefix("0")


def _brief(text: str) -> str:
    """The first part of a note, for a cell of a table.

    >>> _brief("9 turns are too few for a rating; it takes at least 20")
    '9 turns are too few for a rating'
    """
    return text.partition(";")[0]


def _sentence(text: str) -> str:
    """A note as a sentence.

    >>> _sentence("few turns: drawn towards 2795")
    'Few turns: drawn towards 2795.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _points(value: float) -> str:
    """Points as players write them.

    >>> _points(3.5), _points(0.5), _points(2.0), _points(0.0)
    ('3½', '½', '2', '0')
    """
    whole, half = divmod(value, 1)
    return f"{int(whole) if whole or not half else ''}{'½' if half else ''}"


_STYLE = re.compile(r' style="([^"]*)"')
_DECLARATION = re.compile(r"\s*([a-z-]+)\s*:\s*([^;]+?)\s*(?:;|$)")
_NAMES = re.compile(r' (?:id|class)="[^"]*"')


@cache
def piece_symbols() -> Markup:
    """The twelve pieces of python-chess as SVG symbols with the ids `wP` to `bK`.

    Style attributes become presentation attributes: the page's security policy allows no inline style.
    """
    symbols = []
    for letter, drawing in chess.svg.PIECES.items():
        name = ("w" if letter.isupper() else "b") + letter.upper()
        plain = _STYLE.sub(_as_attributes, _NAMES.sub("", drawing))
        symbols.append(f'<symbol id="{name}" viewBox="0 0 45 45">{plain}</symbol>')
    return Markup("".join(symbols))


def _as_attributes(style: re.Match[str]) -> str:
    declared = dict(_DECLARATION.findall(style.group(1)))
    return "".join(f' {name}="{value}"' for name, value in declared.items())
