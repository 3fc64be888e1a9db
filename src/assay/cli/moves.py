"""The commands of ratings from moves: ipr, posterior, screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import (
    Command,
    OneOf,
    aliases_option,
    analysis_options,
    files_argument,
    game_option,
    is_quiet,
    level_option,
    one_engine,
    player_option,
    plots_option,
    policy_of,
    print_answer,
    say,
    seed_option,
    table_options,
    tell_duplicates,
    tell_turns,
    without_option,
)
from assay.paths import default_store
from assay.table import Answer, Table, columns_of, counted, there_are

if TYPE_CHECKING:
    from assay.engine.turns import Turns
    from assay.moves.calibration import Calibration
    from assay.policy.chances import Network

IPR_GROUPS = ("player", "event", "game", "color", "phase", "year", "speed", "opponent", "all")
SCREEN_PARTS = ("event", "round", "phase", "all")
# Shorter words for the text table; CSV and JSON keep the names.
TITLES = {
    "performance": "perf",
    "mm_expected": "exp",
    "top3_expected": "exp",
    "ad_expected": "exp",
    "likelihood_ratio": "lr",
    "share_low": "low",
    "share_high": "high",
    "expected_beyond": "beyond",
}
_IPR_WIDE = ("mm_expected", "top3", "top3_expected", "ad_expected", "s", "c", "method")
_SCREEN_SHOWN = ("player", "part", "pool", "rating", "z_mm", "z_t3", "z_ae", "z", "q_value", "ipr", "note")


def _turns(
    files: Sequence[str],
    store: Path | None,
    where: str | None,
    calibration: str | None,
    depth: int | None,
    quick: bool,
    deep: bool,
    engines: Sequence[str],
    any_engine: bool,
    policy: str,
    no_analysis: bool,
    workers: int | None,
    aliases: Path | None,
    pool: str | None,
    keep_duplicates: bool,
    one_game: int | None = None,
    check: Callable[[set[str], Mapping[str, str]], None] | None = None,
) -> tuple[Turns, Calibration, Network | bool]:
    """The turns of the games, the calibration and the policy to judge them by; what was left out is told on stderr.

    `check` is told who plays, and the main names of other names, before any engine starts.
    """
    import numpy as np

    from assay.errors import InputError
    from assay.games.duplicates import Seen
    from assay.games.source import read
    from assay.games.split import players_of
    from assay.moves.analysed import analysed_turns
    from assay.moves.calibration import load, preset_depth
    from assay.moves.groups import in_pool, rename
    from assay.players import read_aliases

    if sum(map(bool, (quick, deep, depth))) > 1:
        raise click.UsageError("--quick, --deep and --depth exclude each other.")
    wanted = preset_depth(quick=quick, deep=deep) if quick or deep else depth
    chosen = load(calibration, depth=wanted)
    chosen.usable()
    network = policy_of(policy)
    if calibration and wanted and chosen.depth != wanted:
        raise click.UsageError(f"the calibration {chosen.name} is for depth {chosen.depth}, not {wanted}.")
    given = read(files, where=where)
    games = given.all()
    names = read_aliases(aliases, players_of(games)) if aliases else None
    if check is not None:
        check(players_of(games), names or {})
    if one_game is not None:
        if one_game > len(games):
            raise InputError(f"{there_are(len(games), 'game')} in {given.named}, and no game {one_game}.")
        games = games[one_game - 1 : one_game]
    seen = Seen()
    once = np.array([keep_duplicates or seen.add(game) for game in games], np.bool_)
    turns = analysed_turns(
        games,
        store or default_store(),
        chosen,
        counted=once,
        engine=one_engine(engines),
        any_engine=any_engine,
        no_analysis=no_analysis,
        workers=workers,
        quiet=is_quiet(),
    )
    made = f"Analysed by {turns.identities[0].engine} at depth {turns.depth}; calibration {chosen.name}."
    tell_turns(turns, given.problems, made)
    tell_duplicates(seen.duplicates)
    if not len(turns):
        raise InputError("these games have no turns to judge: all are decided, forced, repeated or not analysed.")
    turns = in_pool(turns, pool)
    return (rename(turns, names) if names else turns), chosen, network


@click.command(cls=Command)
@files_argument
@click.option(
    "--by", type=click.Choice(IPR_GROUPS), default="player", show_default=True, help="One row for each of these."
)
@player_option
@without_option
@click.option("--min-turns", type=click.IntRange(1), default=1, show_default=True, help="Fewer turns: no rating.")
@click.option(
    "--method",
    type=OneOf("assay.moves.performance", "METHOD_NAMES"),
    default="choice",
    show_default=True,
    help="How the rating is found; regan is the papers' way (percentile).",
)
@click.option(
    "--interval",
    type=OneOf("assay.moves.regan.ipr", "INTERVALS"),
    default="clustered",
    show_default=True,
    help="Kind of interval of a fit.",
)
@level_option
@seed_option
@plots_option
@analysis_options
@aliases_option
@table_options
def ipr(
    files: Sequence[str],
    store: Path | None,
    by: str,
    player: str | None,
    without: Sequence[int],
    min_turns: int,
    method: str,
    interval: str,
    level: float,
    seed: int,
    plots: Path | None,
    **analysis: Any,
) -> None:
    """Rate players by their moves: the intrinsic performance rating, with its interval.

    Analyses what the store lacks (from move 9 on; about an eighth of a second a position and core), then prints a row
    per group: games, turns, the rating in the tags, the performance rating of the results, the IPR with its interval,
    matches with the engine's best moves (mm), moves among its first three (top3) and the average scaled error (ad),
    each beside what is expected of the rating in the tags.

    A rating says how well the moves of these games were chosen, on the scale of the calibration's players, and nothing
    else: no tag, no result. Every turn has a curve over ratings; a group's rating is the top of their sum.

    \b
    Examples:
      assay ipr tournament.pgn
      assay ipr tournament.pgn --quick --by phase --player 'Carlsen, Magnus'
      assay ipr games.pgn.zst --store games.db --by year --method regan --interval regan
      assay ipr tournament.pgn --without 17 --format csv > ratings.csv
    """
    from assay.moves.evidence import weigh
    from assay.moves.groups import by_pool
    from assay.moves.performance import COLUMNS, How, rate_groups, sort_rows

    how = How(method, interval, level, min_turns, seed)
    turns, chosen, network = _turns(files, store, **analysis)
    turns = _only_player(_without(turns, without), player)
    groups = by_pool(turns, by)
    rows = rate_groups(weigh(turns, chosen, network), groups, how)
    names = {label: key[0] for label, key in zip(groups.labels, groups.keys, strict=True)}
    if by in ("player", "opponent"):
        rows = sort_rows(rows)
    names_shown = _columns([by, *COLUMNS[1:]], [row.pool for row in rows])
    values = [row.values() | {by: names[row.group], "pool": row.pool} for row in rows]
    whole = {"elo": 0, "performance": 0, "ipr": 0, "low": 0, "high": 0}
    decimals = whole | dict.fromkeys(("ad", "ad_expected", "s", "c"), 3)
    columns = columns_of(names_shown, decimals=decimals, titles=TITLES, wide=_IPR_WIDE, below=("note",))
    print_answer(Answer(shown=Table(values, columns)))
    if plots is not None:
        from assay.reports.plots import plot_ratings

        for path in plot_ratings(rows, by, plots):
            say(f"Written: {path}", err=True)


def _columns(columns: Sequence[str], pools: Sequence[str | None]) -> list[str]:
    """The columns of a table, with one for the pool behind the first where rows are of several."""
    return [columns[0], *(["pool"] if len(set(pools)) > 1 else []), *columns[1:]]


def _without(turns: Turns, games: Sequence[int]) -> Turns:
    """The turns of all games but some; numbers stay as they are."""
    import numpy as np

    from assay.errors import InputError

    if not games:
        return turns
    if max(games) > turns.games.height:
        raise InputError(f"--without {max(games)}: {there_are(turns.games.height, 'game')}.")
    kept = turns.only(~np.isin(turns.game, np.array(games) - 1))
    if not len(kept):
        raise InputError("with these games left out there are no turns to judge.")
    named = ", ".join(str(game) for game in sorted(set(games)))
    say(f"Left out as asked: game {named}; {counted(len(turns) - len(kept), 'turn')}.", err=True)
    return kept


def _only_player(turns: Turns, player: str | None) -> Turns:
    """The moves of one player, or all of them."""
    _check_player(turns, player)
    return turns if player is None else turns.only(turns.player == player)


def _check_player(turns: Turns, player: str | None) -> None:
    """Refuse a name that nobody bears, with the nearest one."""
    from difflib import get_close_matches

    from assay.errors import InputError

    if player is None:
        return
    names = sorted({str(name) for name in turns.player if name is not None})
    if player not in names:
        near = get_close_matches(player, names, n=1, cutoff=0.4)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"nobody called {player!r} moves in these games.{hint}")


@click.command(cls=Command)
@files_argument
@game_option.but(default=1)
@click.option(
    "--prior",
    default="flat",
    show_default=True,
    metavar="flat|tag|MEAN:SD",
    help="Before the first move: all ratings alike, about the tag's rating, or normal.",
)
@level_option
@plots_option
@analysis_options
@aliases_option
@table_options
def posterior(
    files: Sequence[str],
    store: Path | None,
    number: int,
    prior: str,
    level: float,
    plots: Path | None,
    **analysis: Any,
) -> None:
    """Follow the rating through one game: what the moves so far say of both players, after every move.

    The running sum of the moves' curves over ratings, with a prior if one is given; without, the last line is the
    rating of 'ipr --by game'. One game says little: expect intervals of several hundred points.

    \b
    Examples:
      assay posterior match.pgn --game 2
      assay posterior match.pgn --game 6 --prior 2700:150 --plots out
    """
    from assay.errors import InputError
    from assay.moves.evidence import weigh
    from assay.moves.review import running
    from assay.pools import POOLS, is_online, scale_of

    given = _prior(prior)
    turns, chosen, network = _turns(files, store, one_game=number, **analysis)
    where = scale_of(turns.games["pool"][0])
    if is_online(where):
        raise InputError(
            f"game {number} was played elsewhere ({POOLS[where]}), and the scale is that of slow games over the board; "
            "--pool otb-slow takes it for one."
        )
    found = running(weigh(turns, chosen, network), 0, prior=given, level=level)
    if not any(len(side.ply) for side in found):
        raise InputError(f"game {number} has no turns to judge: all are before move 9, decided or repeated.")
    rows = [
        {
            "ply": int(ply) + 1,
            "move": f"{move}{'.' if side.white else '...'}",
            "player": side.player,
            "rating": said.value,
            "low": said.low,
            "high": said.high,
        }
        for side in found
        for ply, move, said in zip(side.ply, side.move, side.estimates, strict=True)
    ]
    rows.sort(key=lambda row: int(str(row["ply"])))
    columns = columns_of(
        ("ply", "move", "player", "rating", "low", "high"), decimals=dict.fromkeys(("rating", "low", "high"), 0)
    )
    print_answer(Answer(shown=Table(rows, columns)))
    if plots is not None:
        from assay.reports.plots import plot_posterior

        say(f"Written: {plot_posterior(found, level, plots)}", err=True)


def _prior(text: str) -> tuple[float, float] | str | None:
    if text in ("flat", "tag"):
        return None if text == "flat" else text
    mean, _, deviation = text.partition(":")
    try:
        pair = float(mean), float(deviation)
    except ValueError:
        raise click.UsageError(f"--prior {text!r} is neither flat, tag nor MEAN:SD, such as 2400:200.") from None
    if pair[1] <= 0:
        raise click.UsageError("the SD of --prior must be positive.")
    return pair


@click.command(cls=Command)
@files_argument
@click.option(
    "--rating",
    "ratings",
    default="tag",
    show_default=True,
    metavar="tag|FILE",
    help="Ratings to compare with: those of the tags, or a CSV file of names and ratings.",
)
@click.option(
    "--null",
    type=click.Choice(["calibrated", "field"]),
    default="calibrated",
    show_default=True,
    help="What honest play looks like: as in the calibration, or as in the middle of this field.",
)
@click.option(
    "--by", type=click.Choice(SCREEN_PARTS), default="event", show_default=True, help="A row per player and ..."
)
@player_option
@without_option
@click.option(
    "--rating-error",
    type=click.FloatRange(0),
    default=0,
    show_default=True,
    metavar="ELO",
    help="Standard error of the ratings, for players whose rating is young or old.",
)
@click.option("--min-turns", type=click.IntRange(5), default=20, show_default=True, help="Fewer turns: no z.")
@analysis_options
@aliases_option
@table_options
def screen(
    files: Sequence[str],
    store: Path | None,
    ratings: str,
    null: str,
    by: str,
    player: str | None,
    without: Sequence[int],
    rating_error: float,
    min_turns: int,
    **analysis: Any,
) -> None:
    """Compare players' moves with what is expected of their ratings.

    A row per player and event (--by round, phase, or all: cumulated over every game), sorted by z: matches, top-3
    moves and error with what was expected, their z's (positive: closer to the engine), the combined z, ROI = 50 + 5 z,
    the IPR with its interval, the likelihood ratio of the best mixture with engine-like play and its share of moves
    with a 95 % interval, the p-value, the q-value (Benjamini-Yekutieli) and how many of the field are expected beyond
    that z.

    All of this is worked out over the whole field; --player shows the rows of one player. The lines above the table
    say what may be concluded. A high z is a reason to look at games, never a finding about a
    person.

    \b
    Examples:
      assay screen tournament.pgn
      assay screen open.pgn --null field --rating current-ratings.csv
      assay screen season.pgn --by all --player 'Doe, John'
    """
    from assay.moves.evidence import weigh
    from assay.moves.groups import by_pool
    from assay.moves.screening import COLUMNS, conclusion, screen_groups
    from assay.players import check_ratings, main_ratings, read_ratings

    given = None if ratings == "tag" else read_ratings(Path(ratings))

    def check(players: set[str], aliases: Mapping[str, str]) -> None:
        nonlocal given
        if given is not None:
            check_ratings(ratings, given, players | {aliases.get(name, name) for name in players})
            given = main_ratings(ratings, given, aliases)

    turns, chosen, network = _turns(files, store, check=check, **analysis)
    turns = _without(turns, without)
    _check_player(turns, player)
    evidence, groups = weigh(turns, chosen, network), by_pool(turns, "player", by)
    # The field is everybody, whoever is shown: a row by itself would pass for the only one that was looked at.
    rows = screen_groups(evidence, groups, ratings=given, null=null, rating_error=rating_error, min_turns=min_turns)
    shown = [row for row in rows if player in (None, row.player)]
    digits = dict.fromkeys(("rating", "ipr", "ipr_low", "ipr_high", "roi"), 0) | {"ad": 3, "ad_expected": 3}
    digits |= {"p_value": 4, "q_value": 3, "expected_beyond": 2, "likelihood_ratio": 1}
    names = _columns(COLUMNS, [row.pool for row in rows])
    wide = [name for name in names if name not in _SCREEN_SHOWN]
    table = Table(
        [row.values() | {"pool": row.pool} for row in shown],
        columns_of(names, decimals=digits, titles=TITLES, wide=wide, below=("note",)),
    )
    print_answer(Answer(shown=table, head=conclusion(rows, len(shown))))
