"""What `assay results` does with the games: rate them, tell what happened, print and write the list."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.cli.options import say, width
from assay.errors import AssayWarning, RatingError
from assay.table import counted

if TYPE_CHECKING:
    from assay.games.outcomes import Outcomes
    from assay.results import Standings
    from assay.results.listing import Errors, Listing, Style

MOST_COLUMN = 14
WIDEST_COLUMN = 1000
MATRICES = ("error_matrix", "cfs_matrix", "los")
# Ordo's words where no games connect some players.
UNCONNECTED = """

********************[ WARNING ]**********************
*     Database is not well connected by games       *
* Run switch -g to find what groups need more games *
*****************************************************
 ====> Groups detected: {groups}




*************************[ WARNING ]*************************
*       Database is not well connected by games...          *
* ...even after purging players with all-wins/all-losses    *
*                                                           *
*    Run switch -g to find what groups need more games      *
*   Run switch -G to ignore warnings and force calculation  *
*   (Attempting it may be very slow and may not converge)   *
*************************************************************
"""


def why_none(found: Outcomes) -> str:
    """Why no game can be rated, for the end of a sentence."""
    from assay.games.outcomes import describe

    reasons = dict(found.skipped)
    if found.unfinished:
        reasons['without a result ("*")'] = found.unfinished
    return f" Left out: {describe(reasons)}." if reasons else ""


def summary(talk: Callable[[str], None], found: Outcomes, table: Any, switches: Mapping[str, Any]) -> None:
    """Ordo's summary of the games read."""
    wins, draws, losses = (int(counts.sum()) for counts in (table.wins, table.draws, table.losses))
    counted = wins + draws + losses
    talk(
        f"Total games            {len(found.outcome):8}\n"
        f" - White wins          {wins:8}\n"
        f" - Draws               {draws:8}\n"
        f" - Black wins          {losses:8}\n"
        f" - Truncated/Discarded {len(found.outcome) - counted:8}\n"
        f"Unique head to head    {100.0 * len(table.white) / counted:8.2f}%"
    )
    average = 2300.0 if switches["average"] is None else switches["average"]
    if switches["anchor"] is not None:
        talk(f'Reference rating    {average:8.1f} (set to "{switches["anchor"]}")')
    elif switches["loose_anchors"] or switches["multi_anchors"]:
        talk("Reference rating     --> not fixed, determined by anchors")
    else:
        talk(f"Reference rating    {average:8.1f} (average of the pool)")
    for title, switch in (("\nLoose Anchors", "loose_anchors"), ("Relative Anchors", "relations")):
        talk(f"{title} = {switches[switch] or 'none'}")
    talk("\n")


def write_groups(talk: Callable[[str], None], found: Outcomes, table: Any, path: str) -> None:
    """Write which players games connect (-g)."""
    import numpy as np

    from assay.results.encounters import connect
    from assay.results.ordo import group_report

    groups = connect(table)
    _write(path, group_report(found.players, table, groups))
    within = int(np.count_nonzero(groups.label[table.white] == groups.label[table.black]))
    total = len(table.white)
    talk(f"Groups={groups.count}")
    talk(f"Encounters: Total={total}, within groups={within}, @ interface between groups={total - within}")


def scale_of(switches: Mapping[str, Any]) -> float:
    """The difference that scores 76 %."""
    from assay.results.expectancy import LOGISTIC_SCALE, SCALE

    if switches["scale_logistic"]:
        return LOGISTIC_SCALE
    return SCALE if switches["scale"] is None else float(switches["scale"])


def rate_results(found: Outcomes, table: Any, switches: Mapping[str, Any]) -> Standings:
    """Rate the games as the switches say."""
    from assay.players import did_you_mean, nearest, number, read_rows, read_start
    from assay.results import rate_table
    from assay.results.gamepairs import count_pairs

    present = {name for name, played in zip(found.players, table.played.tolist(), strict=True) if played}

    def player(name: str, where: str) -> str:
        main = found.aliases.get(name, name)
        if main not in present:
            hint = did_you_mean(nearest(name, present)) or " Check spelling, capitals and spaces."
            raise RatingError(f'{where}: no games of "{name}".{hint}')
        return main

    def rows(switch: str, names: int, numbers: int) -> list[tuple[Any, ...]]:
        path = switches[switch]
        return [] if path is None else [
            (
                *(player(cell, f"{path}, line {line}") for cell in cells[:names]),
                *(number(path, line, cell) for cell in cells[names : names + numbers]),
            )
            for line, cells in read_rows(path, names + numbers)
        ]  # fmt: skip

    average = 2300.0 if switches["average"] is None else float(switches["average"])
    anchors = dict(rows("multi_anchors", 1, 1))
    if switches["anchor"] is not None:
        anchors[player(switches["anchor"], "-A")] = average
    pairs = None
    if found.openings is not None:
        use = found.counted
        score = found.outcome[use] / 2.0
        pairs = count_pairs(found.white[use], found.black[use], score, found.openings[use])
        if not len(pairs.first):
            raise RatingError("--pairs found no two games of the same players and opening with the colours reversed.")
    return rate_table(
        found.players,
        table,
        average=average,
        white_advantage="fit" if switches["white_auto"] else (switches["white"] or 0.0),
        white_advantage_error=switches["white_error"] or 0.0,
        draw_rate="fit" if switches["draw_auto"] else (50.0 if switches["draw"] is None else switches["draw"]) / 100.0,
        draw_rate_error=(switches["draw_error"] or 0.0) / 100.0,
        anchors=anchors,
        priors={name: (value, error) for name, value, error in rows("loose_anchors", 1, 2)},
        relations=rows("relations", 2, 2),
        prior=switches["prior"],
        likelihood=switches["ml"],
        scale=scale_of(switches),
        start=read_start(switches["start"]),
        errors_from="pool" if switches["pool_relative"] else "anchor",
        pairs=pairs,
        skipped=found.skipped,
    )


def connected(talk: Callable[[str], None], ratings: Standings, switches: Mapping[str, Any], ordo_way: bool) -> bool:
    """Whether the list may be made: not if pools never met, where Ordo gives up or where it is asked to."""
    if len(ratings.pools) < 2 or switches["force"] or not (ordo_way or switches["require_connected"]):
        return True
    _tell_perfect(talk, ratings)
    say(UNCONNECTED.format(groups=ratings.fit.groups.count), err=True)
    return False


def _tell_perfect(talk: Callable[[str], None], ratings: Standings) -> None:
    import numpy as np

    from assay.results.levels import UNPLAYED

    played, points = ratings.played, ratings.points
    perfect = played > 0
    talk(f"players with no games = {int(np.count_nonzero(ratings.status == UNPLAYED))}")
    talk(f"players with all wins = {int(np.count_nonzero(perfect & (points == played)))}")
    talk(f"players w/ all losses = {int(np.count_nonzero(perfect & (points == 0)))}")


def tell_fit(talk: Callable[[str], None], ratings: Standings) -> None:
    """Ordo's lines on the fit."""
    _tell_perfect(talk, ratings)
    talk("\nConvergence rating calculation (Newton's method)\n\n step      largest change")
    for step, change in enumerate(ratings.fit.solution.trace, 1):
        talk(f"{step:5} {change:19.9f}")
    talk(
        f"done\n\nWhite Advantage = {ratings.white_advantage:.1f}\nDraw Rate (eq.) = {100 * ratings.draw_rate:.1f} %\n"
    )


def warn(found: Outcomes, ratings: Standings, switches: Mapping[str, Any], ordo_way: bool) -> None:
    """Warn about what limits the list: games left out, pools, perfect scores."""
    import numpy as np

    from assay.games.outcomes import describe
    from assay.results.levels import ABOVE, BELOW

    reasons = dict(found.skipped)
    if found.unfinished and not ordo_way:
        reasons['without a result ("*")'] = found.unfinished
    if reasons:
        warnings.warn(f"left out: {describe(reasons)}.", AssayWarning, stacklevel=2)
    if switches["force"]:
        return
    pools = len(ratings.pools)
    if pools > 1:
        sentence = f"no games connect {pools:,} pools of players; each has its own level and ranks ('-g' lists them)."
        warnings.warn(sentence, AssayWarning, stacklevel=2)
    placed = int(np.count_nonzero((ratings.status == ABOVE) | (ratings.status == BELOW)))
    if placed:
        sentence = (
            f"{counted(placed, 'player')} {'has' if placed == 1 else 'have'} only wins or only losses against the "
            "rest; their ratings (> and <) are bounds."
        )
        warnings.warn(sentence, AssayWarning, stacklevel=2)


def _errors(ratings: Standings, switches: Mapping[str, Any], ordo_way: bool) -> Errors | None:
    from assay.progress import Progress
    from assay.results.listing import Errors

    runs = switches["simulations"]
    if runs is not None and runs > 1:
        with Progress("simulations", runs, quiet=switches["quiet"]) as progress:
            simulation = ratings.simulate(runs, advance=progress.advance)
        if simulation.redrawn:
            warnings.warn(
                f"{counted(simulation.redrawn, 'simulation')} fell apart into groups and had to be drawn again.",
                AssayWarning,
                stacklevel=2,
            )
        return Errors(
            simulation.deviation,
            simulation.difference_deviation,
            simulation.white_deviation,
            simulation.draws_deviation,
        )
    asked = any(switches[name] for name in ("error_matrix", "cfs_matrix", "cfs_show", "los", "pairs"))
    wanted = switches["errors"]
    if wanted is None:
        wanted = asked or not ordo_way or switches["format"] == "json"
    if not wanted:
        return None
    return Errors(ratings.deviation, ratings.difference_deviation, ratings.white_deviation, ratings.draws_deviation)


def make_listing(ratings: Standings, found: Outcomes, switches: Mapping[str, Any], ordo_way: bool) -> Listing:
    """The list that is printed and written, with the columns and errors asked for."""
    from assay.players import read_rows
    from assay.results.information import check_matrix
    from assay.results.listing import Listing

    older: frozenset[int] = frozenset()
    if switches["relations"]:
        index = {name: i for i, name in enumerate(found.players)}
        rows = read_rows(switches["relations"], 2)
        older = frozenset(index[found.aliases.get(cells[1], cells[1])] for _, cells in rows)
    style = _style(switches, ordo_way)
    listing = Listing(ratings, None, style, switches["threshold"], older, switches["remove_older"])
    if not len(listing.players):
        raise RatingError(
            f"no player has {switches['threshold']:,} games (-t): the most are {int(ratings.played.max()):,}."
        )
    # Before anything is computed that is as large as the matrix.
    if any(switches[name] for name in MATRICES):
        check_matrix(len(listing.players))
    return replace(listing, errors=_errors(ratings, switches, ordo_way))


def _style(switches: Mapping[str, Any], ordo_way: bool) -> Style:
    from assay.players import number, read_rows
    from assay.results.listing import DEFAULT_COLUMNS, Style
    from assay.results.ratings import confidence_factor

    decimals = _whole_numbers("-N", switches["decimals"], 9) or [1, 0]
    if len(decimals) > 2:
        raise RatingError("-N takes one or two numbers: decimals of ratings, and of scores.")
    headers, widths = {}, {}
    if switches["column_format"]:
        for line, cells in read_rows(switches["column_format"], 3):
            column = int(number(switches["column_format"], line, cells[0]))
            if not 0 <= column <= MOST_COLUMN:
                raise RatingError(f"{switches['column_format']}, line {line}: there is no column {column} (0-14).")
            widths[column] = int(number(switches["column_format"], line, cells[1]))
            if not 0 <= widths[column] <= WIDEST_COLUMN:
                raise RatingError(f"{switches['column_format']}, line {line}: a column is 0 to {WIDEST_COLUMN} wide.")
            headers[column] = cells[2]
    usual = tuple(range(MOST_COLUMN + 1)) if switches["wide"] else DEFAULT_COLUMNS
    chosen = _whole_numbers("-U", switches["columns"], MOST_COLUMN)
    return Style(
        columns=chosen or usual,
        headers=headers,
        widths=widths,
        decimals=decimals[0],
        # The program prints one decimal where -N names only those of the ratings.
        score_decimals=decimals[1] if len(decimals) > 1 else 1,
        factor=confidence_factor(switches["confidence"] / 100.0),
        cfs=switches["cfs_show"],
        bytes_wide=ordo_way,
        longest=None if ordo_way or chosen or switches["wide"] else width(),
    )


def _whole_numbers(switch: str, text: str | None, most: int) -> list[int]:
    if text is None:
        return []
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        raise RatingError(f'{switch} takes whole numbers with commas between them, not "{text}".') from None
    if wrong := [value for value in values if not 0 <= value <= most]:
        raise RatingError(f"{switch} takes numbers from 0 to {most}, not {wrong[0]}.")
    return values


def write_output(talk: Callable[[str], None], listing: Listing, found: Outcomes, switches: Mapping[str, Any]) -> None:
    """Make all texts first, then write: what fails leaves no half of the files."""
    from assay.results import matches, ordo

    makers: Sequence[tuple[str, Callable[[Listing], str]]] = (
        ("output", ordo.text_table),
        ("csv", ordo.csv_table),
        ("head2head", matches.head_to_head),
        ("error_matrix", ordo.error_matrix),
        ("cfs_matrix", ordo.superiority_matrix),
    )
    texts = {switches[name]: make(listing) for name, make in makers if switches[name]}
    if switches["elostat"]:
        texts |= matches.elostat(listing, found.unfinished)
    if not switches["output"]:
        if switches["format"] == "json":
            say(_json(listing, found, switches))
        elif switches["format"] == "csv":
            say(ordo.csv_table(listing), nl=False)
        else:
            say(ordo.text_table(listing), nl=False)
            if switches["los"]:
                say(ordo.superiority_text(listing), nl=False)
    for path, text in texts.items():
        _write(path, text)
    if switches["elostat"]:
        talk(
            "\nOutput (Elostat format):\ngeneral file = general.dat\n"
            "rating file = rating.dat\nprograms file = programs.dat"
        )


def _write(path: str, text: str) -> None:
    from assay.paths import atomic

    with atomic(path) as part:
        # Names that were no UTF-8 come out as they came in.
        part.write_bytes(text.encode("utf-8", "surrogateescape"))


def _json(listing: Listing, found: Outcomes, switches: Mapping[str, Any]) -> str:
    from assay.printable import json_text
    from assay.results.ordo import listing_data

    data = listing_data(listing, superiority=switches["los"])
    data["games"] = {
        "read": len(found.outcome),
        "counted": int(found.counted.sum()),
        "unfinished": found.unfinished,
        "skipped": dict(found.skipped),
        "duplicates": 0 if found.duplicates is None else len(found.duplicates),
    }
    return json_text(data, indent=1)
