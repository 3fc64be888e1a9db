"""Functions of the front door that tie rooms together; the others stand in their rooms: `import assay` has them all.

`what` is a path, several, or the :class:`Games` that :func:`read` gives. What comes back is an :class:`Answer`: it
prints as the command of the same purpose does, has a polars frame as `.table`, and an `Estimate` for each `[name]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Unpack

from assay.paths import SAMPLE as SAMPLE
from assay.paths import File

if TYPE_CHECKING:
    from assay.answer.rating import JointRatings
    from assay.engine.analysis import Analysis
    from assay.games.source import Games
    from assay.learned.guess import Guesses
    from assay.moves.asked import Analysing
    from assay.moves.screened import ScreenedField
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
