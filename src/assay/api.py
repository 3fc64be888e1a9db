"""The front door: what Assay does, a function each. `import assay` has them all; nothing is loaded before it is used.

`what` is a path, several, or the :class:`Games` that :func:`read` gives. What comes back is an :class:`Answer`: it
prints as the command of the same purpose does, has a polars frame as `.table`, and an `Estimate` for each `[name]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from assay.paths import SAMPLE as SAMPLE
from assay.paths import File

if TYPE_CHECKING:
    from assay.answer.rating import JointRatings
    from assay.engine.analysis import Analysis
    from assay.games.source import Games
    from assay.games.split import Game
    from assay.learned.guess import Guesses
    from assay.moves.answers import CalibrationTable, Followed, MoveRatings
    from assay.moves.asked import Analysing, Reading
    from assay.moves.fits import FitTable
    from assay.moves.screened import RunningField, ScreenedField
    from assay.reports.growing import WrittenReport
    from assay.reports.reviewed import Review
    from assay.table import Answer

What: TypeAlias = "File | Games | Sequence[File]"
Moves: TypeAlias = "What | Analysis"


def rate_learned(
    what: What,
    *,
    game: int | None = None,
    player: str | None = None,
    model: str | None = None,
    prior: File | Mapping[float, float] | None = None,
    evals: bool = True,
    level: float = 0.8,
    keep_duplicates: bool = False,
    where: str | None = None,
) -> Guesses:
    """Guess ratings from the moves alone, as `assay guess` does: no engine, no results, no tags.

    Of one game (the only one, or `game`) the answer follows the guess move by move, of several it has the last one of
    each; `[name]` adds up the games of a player, `.curve(name)` is the curve that it is the top of, and `.curves` has
    those of all games. `model` is "lichess", "otb" or the folder of a training. `prior` ("pool", a file, or weights
    such as {1500: 0.3, 1700: 0.7}) makes posteriors of them. Evals that the games have are read by a model that can,
    unless `evals` is False.

    >>> guesses = rate_learned(SAMPLE, game=2)
    >>> print(guesses["Deep Blue"])
    at least 2277
    >>> guesses.table.height, guesses.guesses[0].moves[0]
    (90, 'e4')
    """
    from assay.learned.guess import answer, guess_games

    guesses, problems = guess_games(
        what,
        model=model,
        number=game,
        player=player,
        prior=prior,
        evals=evals,
        keep_duplicates=keep_duplicates,
        where=where,
    )
    return answer(guesses, problems, player, level)


def rate(
    what: Moves,
    *,
    by: str | None = None,
    witness: Sequence[str] | None = None,
    prior: str = "none",
    level: float = 0.95,
    player: str | None = None,
    without: Sequence[int] = (),
    as_list: bool = False,
    evals: bool = False,
    fide: bool = False,
    **analysing: Unpack[Analysing],
) -> JointRatings:
    """Rate players by results, moves and the learned model together, as `assay rate` does: `[name]` is the answer.

    Each witness gives a curve over ratings; the answer is the top of their sum. `by` makes a row for each event, year,
    month, pool or phase of a player; `witness` chooses who is heard, all three by default; `prior` is "none", "tag" or
    "pool"; `without` leaves games out, by their numbers. `as_list` solves all players at once, by results and moves
    unless `witness` says more. With `evals` moves are judged by the evaluations in the games; `fide` adds what ratings
    would be in FIDE's. Without an engine the other witnesses go on, and the remarks say so.

    >>> answer = rate(SAMPLE, witness=["results", "learned"])
    >>> sorted(answer)
    ['Deep Blue', 'Kasparov, Garry']
    >>> answer["Kasparov, Garry"].bounded
    True
    """
    from assay.moves.asked import Asked

    asked = Asked(**analysing)
    if as_list:
        from assay.answer.together import rate_list
        from assay.errors import InputError

        if by is not None or prior != "none" or fide:
            raise InputError("a list has a row for each player and no prior: leave by, prior and fide out.")
        heard = witness or ("results", "moves")
        return rate_list(what, asked, witness=heard, level=level, player=player, without=without, evals=evals)
    from assay.answer.rating import rate_players

    return rate_players(
        what,
        asked,
        by=by,
        witness=("results", "moves", "learned") if witness is None else witness,
        prior=prior,
        level=level,
        player=player,
        without=without,
        evals=evals,
        fide=fide,
    )


def rate_moves(
    what: Moves,
    *,
    by: str = "player",
    player: str | None = None,
    without: Sequence[int] = (),
    evals: bool = False,
    fide: bool = False,
    method: str = "choice",
    interval: str = "clustered",
    level: float = 0.95,
    min_turns: int = 1,
    seed: int = 0,
    reference: File | None = None,
    jury: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    periods: Sequence[str] = (),
    weights: Sequence[str] = (),
    **analysing: Unpack[Analysing],
) -> MoveRatings:
    """Rate players by their moves, as `assay ipr` does: `[name]` is the intrinsic performance rating of a player.

    For Regan's way there are `reference` (rated games, or the folder of a reference set, to fit its line on), a `jury`
    of several engines whose analyses are stored, and `settings`: model, curve, k, cap, tie, scale.

    `by` makes other groups of the turns (game, phase, event, year, ...). Positions that the store lacks are analysed
    first, unless `no_analysis`; two calls on one :class:`Analysis` value them once. With `evals` the evaluations that
    the games carry are all that counts, and no engine runs. `periods`, such as "1976-1979", part the rows by time;
    `weights` make turns count less, as 'speed == "rapid": 0.5' does. `fide` adds what Lichess ratings would be there.
    docs/rating.md explains the rest.

    >>> rate_moves(SAMPLE, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.errors import ModelError
    from assay.moves.answers import rate_by
    from assay.moves.asked import Asked
    from assay.moves.by_fit import ByFit
    from assay.moves.performance import CHOICE, How

    how = How(method, interval, level, min_turns, seed)
    by_fit = ByFit(method, settings or {}, reference, jury) if method != CHOICE else None
    if by_fit is None and (settings or reference or jury):
        raise ModelError("settings, a reference set and a jury are for fits of s and c: give method='regan' with them.")
    return rate_by(
        what,
        Asked(**analysing),
        by=by,
        player=player,
        without=without,
        evals=evals,
        fide=fide,
        how=how,
        by_fit=by_fit,
        periods=periods,
        weights=weights,
    )


def posterior(
    what: Moves,
    game: int = 1,
    *,
    prior: tuple[float, float] | str | None = None,
    level: float = 0.95,
    **analysing: Unpack[Analysing],
) -> Followed:
    """Follow the rating through one game, as `assay posterior` does: what the moves so far say of both players.

    `prior` is flat, about the rating of the tag, or normal: mean and standard deviation.

    >>> posterior(SAMPLE, 7, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.InputError: there are 6 games in ...kasparov-deep-blue-1997.pgn, and no game 7.
    """
    from assay.moves.answers import follow
    from assay.moves.asked import Asked

    return follow(what, Asked(**analysing), game, prior=prior, level=level)


def screen(
    what: Moves,
    *,
    by: str = "event",
    ratings: Mapping[str, float] | File | None = None,
    null: str = "calibrated",
    player: str | None = None,
    without: Sequence[int] = (),
    rating_error: float = 0.0,
    min_turns: int = 20,
    deep_choice: int | None = None,
    helpers: Sequence[str] = (),
    **analysing: Unpack[Analysing],
) -> ScreenedField:
    """Compare players' moves with what is expected of their ratings, as `assay screen` does.

    `ratings` are those of the tags, or given by name. `deep_choice` is a depth, such as 16: then z is the test of who
    plays what a single line prefers there; `helpers` are further engines whose choices sharpen it. A high z is a reason
    to look at games, never a finding about a person: docs/screening.md.

    >>> screen(SAMPLE, ratings={"Deep Blue": 2800.0}, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.moves.asked import Asked
    from assay.moves.screened import screen_field

    return screen_field(
        what,
        Asked(**analysing),
        by=by,
        ratings=ratings,
        null=null,
        player=player,
        without=without,
        rating_error=rating_error,
        min_turns=min_turns,
        deep_choice=deep_choice,
        helpers=helpers,
    )


def screen_running(
    what: Moves,
    *,
    ratings: Mapping[str, float] | File | None = None,
    player: str | None = None,
    without: Sequence[int] = (),
    rating_error: float = 0.0,
    alpha: float = 0.001,
    deep_choice: int | None = None,
    helpers: Sequence[str] = (),
    **analysing: Unpack[Analysing],
) -> RunningField:
    """The same comparison as a test that goes on while games come in, as `assay screen --sequential` does.

    A row per player with an e-value over all the games, in the order of date and round. In honest play anybody at all
    passes the bound, at any time, with a chance of `alpha` at most.

    >>> screen_running(SAMPLE, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.moves.asked import Asked
    from assay.moves.screened import screen_running as follow

    return follow(
        what,
        Asked(**analysing),
        ratings=ratings,
        player=player,
        without=without,
        rating_error=rating_error,
        alpha=alpha,
        deep_choice=deep_choice,
        helpers=helpers,
    )


def analyse(what: What, **analysing: Unpack[Analysing]) -> Analysis:
    """Games with the values of all their moves: what the store lacks is analysed, what it has costs nothing.

    The analysis holds the store open: use it in a `with` block. `rate_moves`, `posterior` and `screen` take it in the
    place of games, so that these are parsed and valued once for all of them.

    >>> analyse(SAMPLE, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.moves.answers import analyse_games
    from assay.moves.asked import Asked

    return analyse_games(what, Asked(**analysing))


def fit(
    what: What,
    *,
    by: str = "all",
    method: str = "percentile",
    settings: Mapping[str, Any] | None = None,
    within: float = 10.0,
    fix_c: bool = False,
    periods: Sequence[str] = (),
    c_line: tuple[float, float] | None = None,
    **reading: Unpack[Reading],
) -> FitTable:
    """Fit the model of Regan and Haworth to games that are analysed already, as `assay fit` does: their table.

    A row per group of turns: s and c, c on a line through the groups and s with it, matches and errors, projected and
    actual. `periods`, such as "1976-1979", part the groups by time; `c_line` (c at 2000, and per 100 Elo) takes the
    line from elsewhere; `settings` are model, curve, k, cap, tie and scale. docs/model.md explains the rest.

    >>> fit(SAMPLE, store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.moves.fits import fit_games
    from assay.moves.regan.settings import Fitting

    how = Fitting(method=method, **settings or {})  # type: ignore[arg-type]
    return fit_games(what, by=by, how=how, within=within, fix_c=fix_c, periods=periods, c_line=c_line, **reading)


def players(what: What, *, where: str | None = None, keep_duplicates: bool = False) -> Answer:
    """Who plays in some games, as `assay players` lists it: ids, spellings, games, ratings, and who looks alike.

    A game that occurs again is not counted, but the spellings and ratings in it are told.

    >>> players(SAMPLE).table.select("player", "games").rows()
    [('Deep Blue', 6), ('Kasparov, Garry', 6)]
    """
    from assay.games import read
    from assay.games.duplicates import Seen
    from assay.games.people import people_in
    from assay.table import Answer, Table, columns_of, told_copies

    games, seen = read(what, where=where), Seen()
    rows = [
        {
            "player": person.name,
            "fide_id": person.fide_id,
            "games": person.games,
            "lowest": person.lowest,
            "highest": person.highest,
            "spellings": "; ".join(person.spellings) if person.spellings != (person.name,) else None,
            "like": "; ".join(person.like) or None,
        }
        for person in people_in(games, None if keep_duplicates else seen.add)
    ]
    if not rows:
        raise games.no_games()
    names = ("player", "fide_id", "games", "lowest", "highest", "spellings", "like")
    shown = Table(rows, columns_of(names, titles={"like": "looks like"}))
    return Answer(shown=shown, problems=games.problems, remarks=told_copies(seen.duplicates))


def report(
    what: What,
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

    >>> report(SAMPLE, store="nowhere.db", no_analysis=True)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.moves.asked import Asked
    from assay.reports.growing import report_on

    return report_on(what, Asked(**analysing), player=player, me=me, without=without, evals=evals, games=games)


def review(what: What | Game, game: int = 1, *, evals: bool = False, **analysing: Unpack[Analysing]) -> Review:
    """Review one game, as `assay review` does: accuracy, marks, critical moments, and what the ratings' players do.

    `what` are games, of which `game` is the number, or a single :class:`assay.games.Game`. `evals` judges by the
    evaluations in the file alone. The table has a row for each move; `.white` and `.black` have the sides, `.moments`
    what decided; `.to("pgn")` is the game with marks and better lines, `.to("json")` everything.

    >>> review(SAMPLE, 7)
    Traceback (most recent call last):
        ...
    assay.errors.InputError: there are 6 games in ...kasparov-deep-blue-1997.pgn, and no game 7.
    """
    from assay.moves.asked import Asked
    from assay.reports.reviewing import review_game

    return review_game(what, Asked(**analysing), game, evals=evals)


def calibration(name: str | None = None, *, depth: int | None = None) -> CalibrationTable:
    """A calibration as a table, as `assay calibration show` prints it; without a name that of the depth.

    >>> calibration("rybka-3-d13").calibration.depth
    13
    """
    from assay.moves.answers import calibrated
    from assay.moves.calibration import load

    return calibrated(load(name, depth=depth))


def train(
    dataset: File,
    folder: File,
    *,
    inputs: Sequence[str] = ("board",),
    config: File | None = None,
    start: File | None = None,
    resume: bool = False,
    quiet: bool = True,
    **options: Any,
) -> Answer:
    """Train a model of ratings on a dataset, as `assay train` does; `options` are the fields of its settings.

    >>> train("no-dataset", "run", epochs=1)
    Traceback (most recent call last):
        ...
    assay.errors.InputError: no-dataset is no dataset: ...
    """
    from assay.reports.learning import train_run

    return train_run(
        dataset, folder, options=options, inputs=inputs, config=config, start=start, resume=resume, quiet=quiet
    )


def sheet(answer: ScreenedField, player: str, path: File, what: What = (), *, where: str | None = None) -> Path:
    """Write the sheet on one player of a screening for the tournament director, as `assay screen -o` does.

    `what` are the games that were screened, for their clocks. The file is .pdf or .html.

    >>> sheet(..., "Elm", "sheet.txt")
    Traceback (most recent call last):
        ...
    assay.errors.OutputError: sheet.txt is neither .pdf nor .html: give the sheet one of these endings.
    """
    from assay.games import read
    from assay.reports.dossier import write_sheet

    return write_sheet(answer, player, Path(path), read(what, where=where).all() if what else ())


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    store: File | None = None,
    token: str | None = None,
    jobs: File | None = None,
    depth: int | None = None,
    engine: str = "stockfish",
    workers: int | None = None,
    max_mb: float = 10.0,
    max_games: int = 500,
    allow_fetch: bool = False,
    told: Callable[[str], None] = print,
) -> None:
    """Open the page in the browser until it is interrupted, as `assay serve` does; `told` gets its address.

    Another host than this machine needs a `token`: the one that is given, or one that is made. docs/web.md has the
    page, its limits and the JSON API behind it.

    >>> serve(host="no such host", jobs="jobs")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: cannot listen on ...
    """
    import sys

    from assay.errors import MissingExtra
    from assay.paths import data_folder, store_place

    try:
        from assay.web.serve import serve as run
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "starlette").partition(".")[0], "web") from None
    from assay.web.jobs import Limits

    worker = [sys.executable, "-m", "assay.web.worker", "--store", str(store_place(store).absolute())]
    worker += ["--engine", engine, *(["--workers", str(workers)] if workers else [])]
    run(
        host=host,
        port=port,
        jobs=Path(jobs or data_folder() / "jobs").absolute(),
        worker=worker,
        limits=Limits(bytes=int(max_mb * 1024 * 1024), games=max_games),
        token=token,
        depth=depth,
        allow_fetch=allow_fetch,
        tell=told,
    )
