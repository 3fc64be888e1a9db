"""The front door: what Assay does, a function each. `import assay` has them all; nothing is loaded before it is used.

`what` is a path, several, or the :class:`Games` that :func:`read` gives. What comes back is an :class:`Answer`: it
prints as the command of the same purpose does, has a polars frame as `.table`, and an `Estimate` for each `[name]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from assay.paths import SAMPLE as SAMPLE
from assay.paths import File

if TYPE_CHECKING:
    from assay.answer.rating import JointRatings
    from assay.engine.analysis import Analysis
    from assay.games.listings import ChosenGames, GameCounts, IndexTable
    from assay.games.selection import GameSelection
    from assay.games.source import Games
    from assay.games.split import Game
    from assay.learned.guess import Guesses
    from assay.moves.answers import CalibrationTable, Followed, MoveRatings
    from assay.moves.asked import Analysing
    from assay.moves.fits import FitTable
    from assay.moves.screened import RunningField, ScreenedField
    from assay.moves.simulation import SimulatedEvent
    from assay.moves.stored import Reading
    from assay.moves.turn_listing import GameListing
    from assay.moves.valuing import ValuedPositions
    from assay.policy.chances import Network
    from assay.reports.foretelling import ForetoldMoves
    from assay.reports.growing import WrittenReport
    from assay.reports.reviewed import Review
    from assay.results.crosstable import EventTable
    from assay.table import Answer

What: TypeAlias = "File | Games | Sequence[File]"
Moves: TypeAlias = "What | Analysis"


def rate_learned(
    what: What,
    *,
    game: int | None = None,
    player: str | None = None,
    model: str | None = None,
    prior: File | None = None,
    evals: bool = True,
    level: float = 0.8,
    keep_duplicates: bool = False,
    where: str | None = None,
) -> Guesses:
    """Guess ratings from the moves alone, as `assay guess` does: no engine, no results, no tags.

    Of one game (the only one, or `game`) the answer follows the guess move by move, of several it has the last one of
    each; `[name]` adds up the games of a player, `.curve(name)` is the curve that it is the top of, and `.curves` has
    those of all games. `model` is "lichess", "otb" or the folder of a training. `prior` ("pool", or a file) makes
    posteriors of them. Evals that the games have are read by a model that can, unless `evals` is False.

    >>> guesses = rate_learned(SAMPLE, game=2)
    >>> print(guesses["Deep Blue"])
    at least 2298
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
    **analysing: Unpack[Analysing],
) -> ScreenedField:
    """Compare players' moves with what is expected of their ratings, as `assay screen` does.

    `ratings` are those of the tags, or given by name. `deep_choice` is a depth, such as 16: then z is the test of who
    plays what a single line prefers there. A high z is a reason to look at games, never a finding about a person:
    docs/screening.md.

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


def difference(
    what: What, *, by: str = "player", cap: float = 4.0, bin: float = 0.5, **reading: Unpack[Reading]
) -> Answer:
    """How much worse moves were than the engine's own, as `assay difference` says: in pawns and scaled.

    By evaluation, `bin` is the width of a bin in pawns. Analyses of one line and of the full width do not compare.

    >>> difference(SAMPLE, store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.moves.differences import difference_of

    return difference_of(what, by=by, cap=cap, bin=bin, **reading)


def show(
    what: What,
    game: int = 1,
    *,
    candidates: int = 4,
    elo: float | None = None,
    s: float | None = None,
    c: float | None = None,
    calibration: str | None = None,
    policy: Network | bool | str = True,
    **reading: Unpack[Reading],
) -> GameListing:
    """Show an analysed game turn by turn, as `assay show` does: moves, values, chances, how open each turn was.

    The chances are those of a player rated as the tags say, of `elo`, or of `s` and `c`. `.to("delta")` is the listing
    of the papers.

    >>> show(SAMPLE, store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.moves.turn_listing import show_game

    return show_game(
        what, game, candidates=candidates, elo=elo, s=s, c=c, calibration=calibration, policy=policy, **reading
    )


def export_turns(what: What, path: File, **reading: Unpack[Reading]) -> Answer:
    """Write the turns of analysed games for other programs, as `assay export-turns` does: .parquet or .jsonl.

    >>> export_turns(SAMPLE, "turns.jsonl", store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.moves.turn_files import export_turns as write

    return write(what, Path(path), **reading)


def calibrate(
    what: What,
    *,
    name: str = "calibration",
    store: File | None = None,
    depth: int | None = None,
    marks: Sequence[int] = range(1600, 2701, 100),
    within: float = 20.0,
    method: str = "equations",
    engine: Sequence[str] | str | None = None,
    policy: Network | bool | str = True,
    seed: int = 1,
    keep_duplicates: bool = False,
    where: str | None = None,
    selection: GameSelection | None = None,
    told: Callable[[str], None] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> CalibrationTable:
    """Calibrate the scale from moves to Elo on rated games that are analysed already, as `assay calibrate` does.

    `method` and `settings` (model, curve, k, cap, tie, scale) are for Regan's part. Several engines are a jury, which
    has Regan's part alone. `selection` leaves out team events and large Swisses, as the papers do.

    `.save(path)` of the answer writes a file that `calibration=` takes elsewhere. docs/rating.md explains the rest.

    >>> calibrate(SAMPLE, store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.moves.answers import calibrate_on
    from assay.moves.regan.settings import Fitting

    return calibrate_on(
        what,
        name=name,
        store=store,
        depth=depth,
        marks=marks,
        within=within,
        fitting=Fitting(method=method, **settings or {}),  # type: ignore[arg-type]
        engine=engine,
        policy=policy,
        seed=seed,
        keep_duplicates=keep_duplicates,
        where=where,
        selection=selection,
        told=told,
    )


def event(what: What, *, rating: str = "tag", where: str | None = None) -> EventTable:
    """The table of an event, as `assay event` prints it: points, expected points, performance by FIDE's table, change
    of rating with K, average of opponents, and the results round by round.

    `what` is a FIDE tournament report (.trf) or games; with `rating="fide"` ratings and K are those of FIDE's lists.
    `.to("html")` is a page.

    >>> event(SAMPLE).table.select("player", "points", "games").rows()
    [('Deep Blue', 3.5, 6), ('Kasparov, Garry', 2.5, 6)]
    """
    from assay.reports.event import event_on

    return event_on(what, rating=rating, where=where)


def players(what: What, *, where: str | None = None) -> Answer:
    """Who plays in some games, as `assay players` lists it: ids, spellings, games, ratings, and who looks alike.

    >>> players(SAMPLE).table.select("player", "games").rows()
    [('Deep Blue', 6), ('Kasparov, Garry', 6)]
    """
    from assay.games import read
    from assay.games.people import people_in
    from assay.table import Answer, Table, columns_of

    games = read(what, where=where)
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
        for person in people_in(games)
    ]
    if not rows:
        raise games.no_games()
    names = ("player", "fide_id", "games", "lowest", "highest", "spellings", "like")
    return Answer(shown=Table(rows, columns_of(names, titles={"like": "looks like"})), problems=games.problems)


def transfer(
    engine: str,
    *,
    reference: File | None = None,
    name: str | None = None,
    store: File | None = None,
    depth: int | None = None,
    turns: int | None = None,
    policy: Network | bool | str = True,
    workers: int | None = None,
    seed: int = 1,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> CalibrationTable:
    """Make a calibration for an engine that has none, as `assay calibrate --engine PATH --transfer` does.

    The engine values 4,320 positions that come with Assay (or a `reference` set; `turns` takes the first of them), what
    the `store` has costs nothing, and the model of Stockfish 15.1 is fitted anew to its values. The table tells how far
    apart the two are on held-out games.

    >>> transfer("no-such-engine", store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.EngineError: no chess engine 'no-such-engine' found: give a path, or a name on PATH.
    """
    from assay.moves.answers import transfer_to

    return transfer_to(
        engine,
        what=reference,
        name=name,
        store=store,
        depth=depth,
        turns=turns,
        policy=policy,
        workers=workers,
        seed=seed,
        quiet=quiet,
        told=told,
    )


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


def index(
    what: What, path: File, *, where: str | None = None, movetext: bool = False, quiet: bool = True
) -> IndexTable:
    """Make an index of games, as `assay index` does: a Parquet or CSV file that every function takes in their place.

    What is damaged is read as far as it goes; `.damage` is a sentence about it, `.refuse_damage()` raises it.

    >>> index(SAMPLE, "games.parquet", where="white_ello > 2000")
    Traceback (most recent call last):
        ...
    assay.errors.WhereError: there is no column 'white_ello'; did you mean 'white_elo'?
    """
    from assay.games.listings import index_games

    return index_games(what, Path(path), where=where, movetext=movetext, quiet=quiet)  # type: ignore[arg-type]


def month(
    month: str,
    folder: File = ".",
    *,
    url: str | None = None,
    movetext: bool = False,
    pgn: bool = False,
    csv: bool = False,
    quiet: bool = True,
) -> IndexTable:
    """Fetch a month of rated games from Lichess and index it, as `assay month` does.

    >>> month("June 2018")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: 'June 2018' is not a month; write it like 2018-06.
    """
    from assay.games.listings import month_of

    return month_of(month, Path(folder), url=url, movetext=movetext, pgn=pgn, csv=csv, quiet=quiet)


def samples(folder: File = ".") -> Answer:
    """Write the sample games that come with Assay into a folder, as `assay sample` does.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     samples(folder).table["bytes"].len()
    3
    """
    from assay.games.listings import samples_in

    return samples_in(Path(folder))


def stats(what: What, *, where: str | None = None, top: int = 20, keep_duplicates: bool = False) -> GameCounts:
    """Count games by rating band and time control, as `assay stats` does; `.counts` has the frames.

    >>> answer = stats(SAMPLE)
    >>> answer.counts.games, dict(answer.problems)
    (6, {'rating missing': 6})
    """
    from assay.games.listings import count_games

    return count_games(what, where=where, top=top, keep_duplicates=keep_duplicates)


def choose(
    what: What,
    *,
    where: str | None = None,
    selection: GameSelection | None = None,
    preview: int | None = None,
    count_only: bool = False,
    out_pgn: File | None = None,
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> ChosenGames:
    """Count, show or write the games for which conditions hold, as `assay filter` does.

    `.games` is their number; `preview` asks for the first of them instead; `out_pgn` writes them byte for byte.

    >>> choose(SAMPLE, where='result == "1-0"').games
    3
    """
    from assay.games.listings import choose_games

    return choose_games(
        what,
        where=where,
        selection=selection,
        preview=preview,
        count_only=count_only,
        out_pgn=None if out_pgn is None else Path(out_pgn),
        keep_duplicates=keep_duplicates,
        quiet=quiet,
    )


def balance(
    what: What,
    per_band: int,
    out_pgn: File,
    *,
    band_width: int = 100,
    where: str | None = None,
    seed: int = 0,
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> Answer:
    """Draw the same number of games from every rating band into a PGN file, as `assay balance` does.

    >>> balance(SAMPLE, 5, "balanced.pgn")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: no game is left to draw from: none has two ratings near enough, ...
    """
    from assay.games.listings import balance_games

    return balance_games(
        what,
        per_band,
        Path(out_pgn),
        band_width=band_width,
        where=where,
        seed=seed,
        keep_duplicates=keep_duplicates,
        quiet=quiet,
    )


def plot(answer: Answer, folder: File) -> list[Path]:
    """Write the pictures of an answer, as `--plots` of its command does; which files there are now.

    A guess of one game is one picture: `folder` is then the name of the file.

    >>> plot(event(SAMPLE), "plots")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: there are no plots of this answer (EventTable).
    """
    from assay.reports.pictures import plots_of

    return plots_of(answer, folder)


def simulate(
    path: File,
    *,
    elo: Sequence[float] = (),
    s: Sequence[float] = (),
    c: Sequence[float] = (),
    games: int = 10,
    names: Sequence[str] = (),
    assist: Sequence[str] = (),
    event: str = "Simulated tournament",
    engine: str = "stockfish",
    depth: int | None = None,
    lines: int = 50,
    calibration: str | None = None,
    policy: Network | bool | str = True,
    seed: int = 0,
    workers: int | None = None,
    store: File | None = None,
    quiet: bool = True,
) -> SimulatedEvent:
    """Play a tournament among agents into a PGN file, as `assay simulate` does: players that are known exactly.

    Each has a rating (`elo`), or Regan's `s` and `c`; `assist`, such as "Player 3:0.3:12", helps one of them. The truth
    stands in `.played` and in a manifest beside the file.

    >>> simulate("games.pgn", elo=[2400, 2200], assist=["Player 3:0.5"])
    Traceback (most recent call last):
        ...
    assay.errors.InputError: nobody is called 'Player 3': the players are Player 1, Player 2.
    """
    from assay.moves.simulation import entrants_of, simulate_event

    return simulate_event(
        path,
        entrants_of(elo, s, c, names, assist),
        games,
        event=event,
        engine=engine,
        depth=depth,
        lines=lines,
        calibration=calibration,
        policy=policy,
        seed=seed,
        workers=workers,
        store=store,
        quiet=quiet,
    )


def calibration(name: str | None = None, *, depth: int | None = None) -> CalibrationTable:
    """A calibration as a table, as `assay calibration show` prints it; without a name that of the depth.

    >>> calibration("rybka-3-d13").calibration.depth
    13
    """
    from assay.moves.answers import calibrated
    from assay.moves.calibration import load

    return calibrated(load(name, depth=depth))


def calibrations() -> Answer:
    """The calibrations that come with Assay, as `assay calibration list` prints them.

    >>> "stockfish-15.1-d8" in calibrations().table["name"]
    True
    """
    from assay.moves.answers import calibrations_here

    return calibrations_here()


def engines(programs: Sequence[str] = ()) -> Answer:
    """The chess engines of this machine, and `programs`, with the calibration each would use: `assay engines`.

    >>> engines(["no-such-engine"]).table["note"][0]
    "no chess engine 'no-such-engine' found: give a path, or a name on PATH."
    """
    from assay.moves.answers import engines_here

    return engines_here(programs)


def store_analyses(
    what: What,
    *,
    store: File | None = None,
    engine: Sequence[str] = (),
    depth: int | None = None,
    lines: int = 50,
    nodes: int | None = None,
    workers: int | None = None,
    hash_mb: int = 16,
    options: Sequence[tuple[str, str]] = (),
    likely: bool = False,
    cluster: str | None = None,
    from_move: int = 9,
    where: str | None = None,
    limit: int | None = None,
    patience: float | None = None,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> ValuedPositions:
    """Value every position of some games with one or several engines into a store, as `assay analyse` does.

    Where one calibration and one engine are meant, :func:`analyse` is simpler. docs/analysis.md explains the rest.

    >>> store_analyses(SAMPLE, engine=["no-such-engine"], store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.EngineError: no chess engine 'no-such-engine' found: give a path, or a name on PATH.
    """
    from assay.moves.valuing import value_games

    return value_games(
        what,
        store=store,
        engine=engine,
        depth=depth,
        lines=lines,
        nodes=nodes,
        workers=workers,
        hash_mb=hash_mb,
        options=options,
        likely=likely,
        cluster=cluster,
        from_move=from_move,
        where=where,
        limit=limit,
        patience=patience,
        quiet=quiet,
        told=told,
    )


def analyses(store: File | None = None, *, mend: bool = False) -> Answer:
    """What a store of analyses holds, as `assay analyses` lists it; `mend` first takes out what is damaged.

    >>> analyses("nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.engine.holdings import analyses_in

    return analyses_in(store, mend=mend)


def foretell(
    what: str,
    levels: Sequence[int] = (1200, 1600, 2000),
    *,
    pool: str = "board",
    top: int | None = None,
    game: int | None = None,
    ply: int | None = None,
    network: File | None = None,
    sharper: bool = False,
    engine: str = "stockfish",
    depth: int | None = None,
    out: File | None = None,
) -> ForetoldMoves:
    """What people of some ratings would play, as `assay chances` does: of a FEN, of a game, of positions in a file.

    :func:`assay.chances` is the same for one position and rating, as plain numbers.

    >>> print(foretell("4k3/8/8/8/8/8/4q3/R3K2R w - - 0 1", [1500]))
    move  1500
    Kxe2  100 %
    """
    from assay.reports.foretelling import foretell as told_of

    return told_of(
        what,
        levels,
        pool=pool,
        top=top,
        game=game,
        ply=ply,
        network=network,
        sharper=sharper,
        engine=engine,
        depth=depth,
        out=out,
    )


def encode(
    what: What,
    folder: File,
    *,
    where: str | None = None,
    bounds: tuple[int, int] = (600, 3100),
    band_width: int = 100,
    max_plies: int = 200,
    min_plies: int = 10,
    share: float = 1.0,
    seed: int = 1,
    analyses: File | None = None,
    depth: int | None = None,
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> Answer:
    """Encode rated games into a dataset for :func:`train`, as `assay encode` does.

    >>> encode("nowhere.pgn", "dataset")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    from assay.reports.learning import encode_dataset

    return encode_dataset(
        what,  # type: ignore[arg-type]
        folder,
        where=where,
        bounds=bounds,
        band_width=band_width,
        max_plies=max_plies,
        min_plies=min_plies,
        share=share,
        seed=seed,
        analyses=analyses,
        depth=depth,
        keep_duplicates=keep_duplicates,
        quiet=quiet,
    )


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


def evaluate(
    run: File,
    dataset: File,
    *,
    against: Sequence[File] = (),
    split: str = "test",
    balanced: bool = False,
    prior: File | None = None,
    games: int | None = None,
    plots: File | None = None,
    analysed: File | None = None,
    analyses: File | None = None,
    quiet: bool = True,
) -> Answer:
    """Judge a trained model on games that it has not seen, as `assay evaluate` does.

    >>> evaluate("no-run", "no-dataset")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: no-dataset is no dataset: ...
    """
    from assay.reports.learning import evaluate_runs

    return evaluate_runs(
        run,
        dataset,
        against=against,
        split=split,
        balanced=balanced,
        prior=prior,
        games=games,
        plots=plots,
        analysed=analysed,
        analyses=analyses,
        quiet=quiet,
    )


def planes(
    what: What,
    game: int = 1,
    ply: int = 1,
    *,
    planes: Sequence[int] = range(64),
    where: str | None = None,
    out: File | None = None,
) -> Answer:
    """The planes that the learned rating reads of a position, as `assay planes` shows them; `out` draws them.

    >>> planes(SAMPLE, ply=20).table.height
    64
    """
    from assay.reports.learning import planes_of

    return planes_of(what, game, ply, planes=planes, where=where, out=out)


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


def export_analyses(path: File, *, store: File | None = None, quiet: bool = True) -> Answer:
    """Write a store of analyses as Parquet or JSON lines, as `assay export-analyses` does.

    >>> export_analyses("all.jsonl", store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    from assay.engine.holdings import export_store

    return export_store(Path(path), store, quiet=quiet)


def import_analyses(
    files: File | Sequence[File],
    *,
    store: File | None = None,
    engine: str = "stockfish",
    engine_name: str | None = None,
    quiet: bool = True,
    told: Callable[[str], None] | None = None,
) -> Answer:
    """Read analyses from Parquet or JSON lines into a store, as `assay import-analyses` does: a row for each file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     import_analyses("no-such-file.jsonl", store=f"{folder}/new.db", engine_name="Rybka 3")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    from assay.engine.holdings import import_into

    return import_into(files, store, engine=engine, engine_name=engine_name, quiet=quiet, told=told)


def add_ratings(files: File | Sequence[File], *, month: str | None = None, kind: str | None = None) -> Answer:
    """Take in FIDE's rating lists, as `assay ratings add` does: a row for each file.

    >>> add_ratings("no-such-list.txt")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    from assay.lists.inforce import take_in

    return take_in([files] if isinstance(files, str | PathLike) else files, month=month, kind=kind)


def rating_lists() -> Answer:
    """The months whose rating lists of FIDE are here, as `assay ratings list` prints them.

    >>> rating_lists().table.columns
    ['month', 'bytes']
    """
    from assay.lists.inforce import lists_here

    return lists_here()


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
