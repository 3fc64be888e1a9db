"""From files to a report: read, analyse what the store lacks, assemble, show the games that are asked for; and publish
it while it grows.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np

from assay.engine.analysis import Analysis
from assay.errors import EngineError, InputError, NoTurns
from assay.games import Game, Games, read
from assay.games.duplicates import Duplicates
from assay.games.split import players_of
from assay.games.stream import Paths
from assay.moves.asked import Analysing, Asked
from assay.moves.calibration import Calibration, for_engine
from assay.moves.evals import with_evals
from assay.moves.evals_rating import NO_EVALS
from assay.paths import File, check_place
from assay.players import guessed
from assay.policy.chances import Network
from assay.progress import Progress
from assay.records import dataclass
from assay.reports.assemble import assemble, assemble_evals
from assay.reports.content import GameSection, Report
from assay.reports.exports import COLUMNS, PAPERS, player_rows, write
from assay.reports.me import CASUAL, casual, spelled
from assay.reports.origin import Input
from assay.reports.second_look import looking
from assay.table import Answer, Table, columns_of, counted, there_are, told_copies

# A growing report is made anew at most so often, and never takes more than a fifth of the time.
LEAST_PAUSE = 2.0
PAUSE_FACTOR = 4.0
WITHOUT = "'assay rate' and 'assay guess' need none: they tell what results and a learned model say of these games."
ALL, BESIDE, NONE = "all", "beside", "none"


def make(
    files: Paths | Games,
    asked: Asked,
    *,
    name: str = "",
    player: str | None = None,
    me: bool = False,
    without: Sequence[int] = (),
    evals: bool = False,
    guess: bool = True,
    progress: Progress | None = None,
    publish: Callable[[Report], None] | None = None,
) -> Report:
    """Make the report of some files; `publish` gets it as it grows, and at the end.

    `name` takes the place of the name of a single file. Where one player is in nearly all games, it
    is that player's report, unless nobody is to be guessed. The rest is that of :func:`assay.report`.
    """
    calibration, network = asked.calibrated(), asked.network
    given = read_input(files, name, where=asked.where, keep_duplicates=asked.keep_duplicates)
    given = replace(given, pool=asked.pool, scale_year=asked.scale_year, aliases=asked.names(given.games))
    given = _of_one(replace(given, without=frozenset(without)), player, me, guess)
    _check(given)
    named = calibration if asked.calibration else None
    growing = _Growing(given, named, network, publish) if publish else nullcontext()
    report = _by_evals(given) if evals else None
    if report is None:
        try:
            with growing as each:
                analysis = asked.analysed(given.games, calibration, given.counted, progress=progress, each=each)
            with analysis:
                judge = for_engine(analysis.identity, analysis.depth, named)
                report = assemble(given, analysis, judge, network, looking(analysis, asked))
        except (EngineError, NoTurns) as error:
            # As `assay rate` does: without an engine the evaluations in the games speak.
            if not with_evals(given.games):
                if isinstance(error, EngineError):
                    raise EngineError(f"{error} {WITHOUT}") from error
                raise
            report = _by_evals(given, f"{str(error).rstrip('.')}. The evaluations in the games are used instead.")
    if publish:
        publish(report)
    return report


def _by_evals(given: Input, why: str = "") -> Report:
    if not any(b"[%eval" in game.data for game in given.games):
        raise InputError(NO_EVALS)
    report = assemble_evals(given)
    made = report.provenance
    return replace(report, provenance=replace(made, notes=(why, *made.notes))) if why else report


def _check(given: Input) -> None:
    """Refuse a number that no game has, and a name that nobody bears."""
    if beyond := [number for number in given.without if not 1 <= number <= len(given.games)]:
        raise InputError(f"--without {max(beyond)}: {there_are(len(given.games), 'game')}.")
    if not given.counted.any():
        raise InputError("with these games left out there is nothing to report on.")


def _of_one(given: Input, asked: str | None, me: bool, guess: bool) -> Input:
    """Whose report it is, if one player's: as asked, or guessed from who plays; casual games then do not count."""
    if asked is not None:
        names = {given.aliases.get(name, name) for name in players_of(given.games)}
        player: str | None = spelled(asked, names)
    elif not guess:
        player = None
    else:
        pairs = [(_named(given, game, "White"), _named(given, game, "Black")) for game in given.games]
        player = guessed(pairs, one=me)
        if player is None and me:
            often = Counter(name for pair in pairs for name in dict.fromkeys(pair) if name.strip("? ")).most_common(3)
            told = ", ".join(f'"{name}"' for name, _ in often)
            raise InputError(f"nobody alone plays in nearly all of these games: say --player and who you are ({told}).")
    if player is None:
        return given
    left = casual(given.games) - given.without
    if len(left) + len(given.without) >= len(given.games):
        left = frozenset()  # there are no others
    problems = {**given.problems, **({CASUAL: len(left)} if left else {})}
    return replace(given, player=player, you=me, without=given.without | left, problems=problems)


def _named(given: Input, game: Game, side: str) -> str:
    name = game.tags.get(side, "").strip()
    return given.aliases.get(name, name)


def read_input(
    files: Paths | Games, name: str = "", *, where: str | None = None, keep_duplicates: bool = False
) -> Input:
    """Read the games, and note where they come from and which occur again."""
    read_from = read(files, where=where)
    found = read_from.counted(keep_duplicates=keep_duplicates)
    sources = read_from.sources
    if name and len(sources) == 1:
        sources = (replace(sources[0], name=name),)
    title = sources[0].name if len(sources) == 1 else f"{len(sources)} files"
    return Input(found.games, name or title, sources, read_from.problems, len(found.games), found.duplicates)


class _Growing:
    """While the block runs, publish a report of the games that are analysed whole, as often as is cheap."""

    def __init__(
        self, given: Input, calibration: Calibration | None, policy: Network | bool, publish: Callable[[Report], None]
    ) -> None:
        self.given, self.calibration, self.policy, self.publish = given, calibration, policy, publish
        self.whole = np.zeros(len(given.games), np.bool_)
        self.analysis: Analysis | None = None
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._grow, name="growing")

    def __enter__(self) -> Callable[[Analysis, int], None]:
        self.thread.start()
        return self._note

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def _note(self, analysis: Analysis, game: int) -> None:
        self.analysis, self.whole[game] = analysis, True

    def _grow(self) -> None:
        shown, pause = 0, LEAST_PAUSE
        while not self.done.wait(pause):
            begun = time.monotonic()
            ready = len(self.whole) if self.whole.all() else int(np.argmin(self.whole))
            try:
                if ready > shown and self.analysis is not None:
                    self.publish(self._part(self.analysis, ready))
                    shown = ready
            except Exception:
                # The whole report says what is wrong, if anything is; a part is only a courtesy.
                traceback.print_exc()
                return
            pause = max(LEAST_PAUSE, PAUSE_FACTOR * (time.monotonic() - begun))

    def _part(self, analysis: Analysis, games: int) -> Report:
        """The report of the first games."""
        found = [each for each in self.given.duplicates.found if each.number <= games]
        part = replace(self.given, games=self.given.games[:games], duplicates=Duplicates(found))
        with analysis.first(games) as first:
            return assemble(part, first, for_engine(first.identity, first.depth, self.calibration), self.policy)


KINDS = ("html", "pdf", "csv", "json", "pgn")


@dataclass(frozen=True, eq=False, kw_only=True)
class WrittenReport(Answer):
    """A report; its table is that of the players at a glance."""

    report: Report
    beside: bool = False

    def write(self, path: File, format: str | None = None, paper: str = PAPERS[0]) -> int:
        """Write it, as the name of the file says or as html, pdf, csv, json or pgn; how many bytes it has.

        A PDF is on A4, or on letter if that is the `paper`.
        """
        place = Path(path)
        suffix = place.suffix.lower().removeprefix(".")
        kind = format or (suffix if suffix in KINDS else "html")
        check_place(place, kind)
        return write(self.report, place, kind, beside=self.beside and kind == "html", paper=paper)


def report(
    what: Paths | Games,
    *,
    player: str | None = None,
    me: bool = False,
    without: Sequence[int] = (),
    evals: bool = False,
    games: str | int = "all",
    **analysing: Unpack[Analysing],
) -> WrittenReport:
    """Everything about some games: `.write("event.html")` makes the file of `assay report`, PDF and JSON, too.

    The table is that of the players at a glance, `[name]` the one rating; `.report` holds all the rest.
    `without` leaves games out, by their numbers. The report of one `player` (or of `me`, the one name that is in nearly
    all games) has his games alone, with strength over time, where the points go and the most instructive mistakes.
    With `evals` moves are judged by the evaluations in the games; so they are where no engine is found.
    `games` says which are shown: "all", those with the gravest mistakes (a number), "none", or all in files "beside" an
    HTML report; it speaks of all of them in any case.

    >>> import assay
    >>> assay.report(assay.SAMPLE, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    asked = Asked(**analysing)
    shown_as = asked_games(games)
    told: tuple[str, ...] = ()
    if asked.rating == "fide":
        lists = asked.read(what)
        what, asked, told = lists.games, replace(asked, where=None), lists.remarks
    made = shown_games(make(what, asked, player=player, me=me, without=without, evals=evals), shown_as)
    whole = dict.fromkeys(("tag", "rating", "low", "high", "result", "ipr", "learned"), 0) | {"points": 1}
    shown = ("player", "games", "points", "tag", "rating", "low", "high", "z")
    return WrittenReport(
        report=made,
        beside=shown_as == BESIDE,
        head=made.summary,
        shown=Table(
            player_rows(made),
            columns_of(COLUMNS, decimals=whole, wide=[name for name in COLUMNS if name not in shown]),
        ),
        estimates={player.name: player.joint for player in made.players},
        problems=made.provenance.problems,
        remarks=[
            *told_copies(made.provenance.duplicates),
            *told,
            *(made.provenance.notes if not made.provenance.engine else ()),
        ],
    )


def asked_games(text: str | int) -> str | int:
    """What is asked for: "all", "beside", "none" or a number of games.

    >>> asked_games("none"), asked_games("20"), asked_games(3)
    ('none', 20, 3)
    """
    if text in (ALL, BESIDE, NONE):
        return text
    if str(text).isdecimal():
        return int(text) or NONE
    raise InputError(f"{text!r} are no games to show: say {ALL}, {BESIDE}, {NONE}, or how many.")


def shown_games(report: Report, games: str | int) -> Report:
    """A report that shows these games alone; everything that it says of all of them stays."""
    total = len(report.games)
    if games == NONE:
        return replace(report, games=(), selection=f"{counted(total, 'game')} looked at, and none shown.")
    if not isinstance(games, int) or games >= total:
        return report
    gravest = sorted(report.games, key=_lost, reverse=True)[:games]
    chosen = tuple(sorted(gravest, key=lambda game: game.number))
    return replace(report, games=chosen, selection=f"Of {total:,} games the {games:,} with the gravest mistakes.")


def _lost(game: GameSection) -> float:
    """The win chances that the marked moves of a game lost."""
    return sum(move.lost for move in game.moves if move.mark)
