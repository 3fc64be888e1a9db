"""From games to ratings by their results: a list, a list over time, a match of two; and the files of a list."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from assay.errors import AssayWarning, InputError, RatingError, Unconnected
from assay.games.outcomes import KIND_TAGS, TERMINATION, GameKind, Outcomes, columns_given, the_two
from assay.games.source import Games, read
from assay.games.stream import Paths
from assay.paths import File, atomic
from assay.players import given_rows, read_start
from assay.progress import Progress
from assay.results import ordo, rate_table
from assay.results.encounters import tabulate
from assay.results.expectancy import DrawModel, scale_of
from assay.results.listing import Style
from assay.results.rated import NO_RESULT, RatingList, rated
from assay.table import Answer, described

if TYPE_CHECKING:
    from assay.games.periods import Period
    from assay.results.duel import Duel, Pairing
    from assay.results.sprt import Scale
    from assay.results.timeline import Timeline


class Counting(TypedDict, total=False):
    """Which results count, and how names are read: the keywords of all functions on results."""

    where: str | None
    aliases: File | None
    include: File | None  # only games between players named there
    exclude: File | None  # no games of players named there
    exclude_termination: Sequence[str]
    ignore_draws: bool
    keep_duplicates: bool
    strict: bool  # what cannot be read is an error, and not counted
    lenient: bool  # names among the aliases that nobody bears are a warning alone
    quiet: bool


def results_of(
    what: Paths | Games,
    *,
    tags: Sequence[str] = (),
    openings: bool = False,
    where: str | None = None,
    aliases: File | None = None,
    include: File | None = None,
    exclude: File | None = None,
    exclude_termination: Sequence[str] = (),
    ignore_draws: bool = False,
    keep_duplicates: bool = False,
    strict: bool = False,
    lenient: bool = False,
    quiet: bool = True,
) -> Outcomes:
    """The results of games as arrays: those that count, with these tags and, where asked for, their openings."""
    found = read(columns_given(what), where=where).outcomes(
        aliases=aliases,
        openings=openings,
        tags=(*tags, TERMINATION),
        keep_duplicates=keep_duplicates,
        strict=strict,
        lenient=lenient,
        quiet=quiet,
    )
    found = found.between(include, True) if include is not None else found
    found = found.between(exclude, False) if exclude is not None else found
    found = found.without_endings(exclude_termination)
    return found.without_draws() if ignore_draws else found


def rate_results(
    what: Paths | Games,
    *,
    average: float | None = None,
    anchors: Mapping[str, float] | File | None = None,
    loose_anchors: Mapping[str, tuple[float, float]] | File | None = None,
    relations: Sequence[tuple[str, str, float, float]] | File | None = None,
    remove_older: bool = False,
    white: float | Literal["fit"] = 0.0,
    white_error: float = 0.0,
    white_by: GameKind | None = None,
    draws: float | Literal["fit"] = 0.5,
    draws_error: float = 0.0,
    prior: float | None = None,
    likelihood: bool = False,
    draw_model: DrawModel = "ordo",
    perfect: Literal["program", "manual"] = "program",
    scale: float | Literal["logistic"] | None = None,
    start: Mapping[str, float] | File | None = None,
    relative_to: Literal["anchor", "pool"] = "anchor",
    pairs: bool = False,
    errors: bool = True,
    simulations: int = 0,
    processes: int = 1,
    level: float = 0.95,
    least: int = 0,
    connected: bool = False,
    force: bool = False,
    matrix: bool = False,
    superiority: bool = False,
    style: Mapping[str, Any] | None = None,
    warn: bool = True,
    told: Callable[[str], None] | None = None,
    **counting: Unpack[Counting],
) -> RatingList:
    """Rate players from the results of their games, as `assay results` does.

    The level is an `average` of 2300, that of `anchors` (held exactly) or of `loose_anchors` (rating, uncertainty);
    `white` and `draws` are the advantage of White in Elo and the draw rate between equals, or "fit"; `white_by` fits
    White's advantage in each pool, speed or time control. Errors are those of the covariance, of game `pairs`, or of
    `simulations` as Ordo's (in some `processes`). docs/results.md explains the rest.

    `what` may also be columns: a frame, a mapping or a tuple of White, Black and result ("1-0", or White's score).
    What limits the list is in `remarks` and, unless `warn` is off, a warning.

    >>> import assay
    >>> ratings = assay.rate_results(assay.SAMPLE, white="fit", average=2800)
    >>> print(ratings["Deep Blue"])
    2840 (2720-2960)
    >>> ratings.table["player"].to_list(), ratings.games["counted"]
    (['Deep Blue', 'Kasparov, Garry'], 6)
    """
    asked = None if style is None else Style(**style)
    found = results_of(what, tags=KIND_TAGS if white_by else (), openings=pairs, **counting)
    if told:
        told("read")
    kinds, names = found.kinds(white_by) if white_by else (None, [])
    table = tabulate(*found.finished(), len(found.players), None if kinds is None else kinds[found.counted])
    unfinished = {NO_RESULT: found.unfinished} if found.unfinished else {}
    if not len(table.white):
        why = dict(found.skipped) | unfinished
        raise RatingError("the input contains no games to rate." + (f" Left out: {described(why)}." if why else ""))
    if pairs and found.openings is None:
        raise RatingError("--pairs needs to know the openings, but no game has a FEN, ECO, Opening or Variation tag.")
    met = None
    if found.openings is not None:
        from assay.results.gamepairs import count_pairs

        use = found.counted
        met = count_pairs(found.white[use], found.black[use], found.outcome[use] / 2.0, found.openings[use])
        if not len(met.first):
            raise RatingError("--pairs found no two games of the same players and opening with the colours reversed.")
    endings = found.endings()
    del what  # the columns of a million games are no longer needed
    found = found.summed_up()
    present = {name for name, played in zip(found.players, table.played.tolist(), strict=True) if played}

    def named(given: Any, names: int, numbers: int) -> list[tuple[Any, ...]]:
        return given_rows(given, names, numbers, present, found.aliases)

    related = named(relations, 2, 2)
    standings = rate_table(
        found.players,
        table,
        average=2300.0 if average is None else average,
        white_advantage="fit" if white_by else white,
        white_advantage_error=white_error,
        draw_rate=draws,
        draw_rate_error=draws_error,
        anchors=dict(named(anchors, 1, 1)),
        priors={name: (value, error) for name, value, error in named(loose_anchors, 1, 2)},
        relations=related,
        prior=prior,
        likelihood=likelihood,
        draw_model=draw_model,
        perfect=perfect,
        scale=scale_of(scale),
        start=dict(start) if isinstance(start, Mapping) else read_start(start),
        errors_from=relative_to,
        pairs=met,
        skipped=found.skipped,
        kinds=names,
    )
    if connected and (pools := len(standings.pools)) > 1:
        raise Unconnected(
            f"no games connect {pools:,} pools of players.",
            lambda *words: ordo.account(standings, len(found.outcome), *words),
            ordo.UNCONNECTED.format(groups=standings.fit.groups.count),
        )
    games: dict[str, Any] = {"read": len(found.outcome), "counted": int(found.counted.sum())}
    games |= {"unfinished": found.unfinished, "skipped": dict(found.skipped)}
    games |= {"duplicates": len(found.duplicates.found) if found.duplicates else 0, "terminations": endings}
    with Progress("simulations", simulations, quiet=counting.get("quiet", True) or simulations < 2) as progress:
        answer = rated(
            standings,
            style=asked,
            level=level,
            least=least,
            older=[row[1] for row in related],
            hide_older=remove_older,
            errors=errors,
            simulations=simulations,
            processes=processes,
            matrix=matrix or superiority,
            superiority=superiority,
            advance=progress.advance,
            problems=dict(found.skipped) | unfinished,
            duplicates=found.duplicates or "",
            warn_groups=not force,
            games=games,
        )
    if told:
        told("rate")
    for remark in answer.remarks if warn else ():
        warnings.warn(remark.removeprefix("assay: ").removeprefix("warning: "), AssayWarning, stacklevel=2)
    return answer


def rate_over_time(
    what: Paths | Games,
    *,
    by: Period = "month",
    player: str | None = None,
    on: str | None = None,
    peak: bool = False,
    average: float | None = None,
    walk: float | None = None,
    newcomers: float | None = None,
    white: float | Literal["fit"] = "fit",
    draws: float | Literal["fit"] = "fit",
    scale: float | Literal["logistic"] | None = None,
    level: float = 0.95,
    least: int = 0,
    chart: bool = False,
    told: Callable[[str], None] | None = None,
    **counting: Unpack[Counting],
) -> Timeline:
    """Rate players over time, as `assay results --over-time` does: a rating and an error for each player and time.

    `by` is month, year or event. The answer lists everybody at the end, `on` a day, by `peak`, or the times of one
    `player`; `.moments()` has them all, `.standings(...)` any list. `walk` (Elo in a month) and the spread of
    `newcomers` are fitted unless given. docs/results.md has the model.

    >>> import assay
    >>> answer = assay.rate_over_time(assay.SAMPLE, by="year", average=2800)
    >>> [(row["player"], row["time"], row["games"]) for row in answer.moments().rows]
    [('Kasparov, Garry', '1997', 6), ('Deep Blue', '1997', 6)]
    """
    from assay.games.periods import NO_DATE, NO_YEAR, TAGS_OF_TIME, day_of, times_of
    from assay.results.history import connected_players, rate_history
    from assay.results.timeline import timeline

    day = None if on is None else day_of(on, by)
    found = results_of(what, tags=TAGS_OF_TIME, **counting)
    if told:
        told("read")
    times = times_of(found, by)
    use = found.counted & (times.of_game >= 0)
    problems = dict(found.skipped)
    if undated := int((found.counted & (times.of_game < 0)).sum()):
        problems[NO_DATE if by == "month" else NO_YEAR] = undated
    if found.unfinished:
        problems[NO_RESULT] = found.unfinished
    if not use.any():
        time = {"month": "a date with its month", "year": "a date with its year", "event": "an event with its year"}[by]
        raise RatingError(f"no game has a result and {time}: ratings over time by {by} need both.")
    whites, blacks = found.white[use], found.black[use]
    history = rate_history(
        whites,
        blacks,
        found.outcome[use],
        times.of_game[use],
        times.months,
        average=2300.0 if average is None else average,
        walk=walk,
        newcomers=newcomers,
        scale=scale_of(scale),
        white_advantage=None if white == "fit" else white,
        draw_rate=None if draws == "fit" else draws,
    )
    answer = timeline(
        history,
        found.players,
        times.names,
        connected_players(whites, blacks, len(found.players)),
        level=level,
        player=player,
        on=day,
        peak=peak,
        least=least,
        chart=chart,
        problems=problems,
        duplicates=found.duplicates or "",
        games={"read": len(found.outcome), "counted": int(use.sum())},
    )
    if told:
        told("rate")
    return answer


def match(
    what: Paths | Games | None = None,
    *,
    players: tuple[str, str] | None = None,
    wdl: Sequence[int] | None = None,
    penta: Sequence[int] | None = None,
    sprt: tuple[float, float] | None = None,
    bounds: Scale = "normalised",
    alpha: float = 0.05,
    beta: float = 0.05,
    level: float = 0.95,
    pairs: Pairing = "auto",
    exclude_termination: Sequence[str] = (),
    aliases: File | None = None,
    keep_duplicates: bool = False,
    where: str | None = None,
    quiet: bool = True,
) -> Duel:
    """Tell how a match of two players stands, as `assay match` does: Elo, normalised Elo, superiority, pairs, SPRT.

    The match is in games of two players, is that of two `players` among others, or is given by counts: `wdl` wins,
    draws and losses, `penta` pairs with 0, 1/2, 1, 1 1/2 and 2 points. `sprt` are the two strengths of a
    sequential test.

    >>> import assay
    >>> print(assay.match(penta=(379, 10170, 21828, 10640, 343), sprt=(0, 2)))
    First - second: 86,720 games
    <BLANKLINE>
    Score             43559.0 of 86,720 (50.23 %)
    Elo               +1.59 +- 1.21 (+0.39 to +2.80, 95 %)
    Normalised Elo    +3.05 +- 2.31
    Superiority       99.5 %
    Pairs             43,360: 379 x 0, 10170 x 1/2, 21828 x 1, 10640 x 1 1/2,
                      343 x 2
    SPRT pentanomial  LLR 2.946 (-2.94, 2.94): H1 accepted: 2 Elo
    Bounds            0 and 2 Elo, normalised
    """
    from assay.results.duel import counts_of, duel, play_of

    test: dict[str, Any] = {"level": level, "bounds": sprt, "scale": bounds, "alpha": alpha, "beta": beta}
    if what is None:
        if wdl is None and penta is None:
            raise InputError("there is no match: name a file of games, or give counts (wdl, penta).")
        return duel(players or ("First", "second"), counts_of(wdl, penta), **test)
    if wdl is not None or penta is not None:
        raise InputError("games and counts are two matches: leave out one of them.")
    found = results_of(what, openings=True, where=where, aliases=aliases, keep_duplicates=keep_duplicates, quiet=quiet)
    two = the_two(found, players)
    found = found.of_two(*two).without_endings(exclude_termination)
    use = found.counted
    openings = None if found.openings is None else found.openings[use]
    first, score = found.white[use] == found.players.index(two[0]), found.outcome[use] / 2.0
    played = play_of(first, score, openings, pairs, found.endings())
    unfinished = {NO_RESULT: found.unfinished} if found.unfinished else {}
    return duel(two, played, problems=dict(found.skipped) | unfinished, duplicates=found.duplicates or "", **test)


def expectancies(scale: float | Literal["logistic"] | None = None) -> Answer:
    """The differences for scores from 50 to 99 %, as `assay results -T` prints them.

    >>> import assay
    >>> assay.expectancies().table.row(0)
    (50, 0.0)
    """
    return ordo.Expectancies.of(scale_of(scale))


def publish(
    answer: RatingList | Timeline,
    *,
    output: File | None = None,
    csv: File | None = None,
    head2head: File | None = None,
    error_matrix: File | None = None,
    cfs_matrix: File | None = None,
    elostat: bool = False,
) -> list[Path]:
    """Write a list into files, as the switches of `assay results` do; which files there are now.

    `output` is the list, a page where the name ends in .html; `csv` its columns; `head2head` the results against each
    opponent; the matrices are the errors and the confidence of superiority of all pairs; `elostat` adds the three files
    of Elostat. All texts are made before the first is written. A list over time has `output` and `csv` alone.

    >>> import assay, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ratings = assay.rate_results(assay.SAMPLE)
    ...     [path.name for path in assay.publish(ratings, output=f"{folder}/list.html", csv=f"{folder}/list.csv")]
    ['list.html', 'list.csv']
    """
    from assay.results.published import list_texts, timeline_texts

    named = {"output": output, "csv": csv, "head2head": head2head, "error_matrix": error_matrix}
    files = {name: str(path) for name, path in (named | {"cfs_matrix": cfs_matrix}).items() if path is not None}
    if isinstance(answer, RatingList):
        texts = list_texts(answer, **files, elostat=elostat)
    elif elostat or not set(files) <= {"output", "csv"}:
        raise InputError("a list over time is written as output and csv; the other files belong to a plain list.")
    else:
        texts = timeline_texts(answer, **files)
    for path, text in texts.items():
        with atomic(path) as part:
            # Names that were no UTF-8 come out as they came in.
            part.write_bytes(text.encode("utf-8", "surrogateescape"))
    return [Path(path) for path in texts]
