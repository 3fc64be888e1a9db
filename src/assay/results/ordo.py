"""The layouts of Ordo 1.2.6: text table, CSV, matrices, groups, expectancies. Text only, no files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.results.listing import LONGEST_NAME, Column, Errors, Listing
from assay.results.model import slope
from assay.results.rate import SYMBOL, likelihood_of_superiority, results_by_player
from assay.results.table import Bools, Floats, Groups, PairTable

_NOTHING = 1e-8


def text_table(listing: Listing) -> str:
    """The list as text, with the white advantage and the draw rate below it."""
    style = listing.style
    columns = list(style.columns)
    if listing.errors is None and Column.ERROR in columns:
        columns.remove(Column.ERROR)
    if style.cfs and Column.CFS not in columns:
        columns.append(Column.CFS)
    names = [listing.ratings.players[player] for player in listing.players.tolist()]
    longest = min(max((style.length(name) for name in names), default=0), LONGEST_NAME)
    longest = max(longest, len(style.header(Column.PLAYER)))
    cells = {column: _text_cells(listing, column, names, longest) for column in columns}
    lines = []
    head = ""
    for column in columns:
        if column == Column.PLAYER:
            head += f"\n   # {style.pad(style.header(Column.PLAYER), longest)}    :"
        else:
            widest = max(map(len, [style.header(column), *cells[column]]))
            width = max(style.width(column), widest + 1)
            head += f" {style.header(column):>{width}}"
            cells[column] = [f" {cell:>{width}}" for cell in cells[column]]
    lines.append(head)
    lines += ["".join(row) for row in zip(*(cells[column] for column in columns), strict=True)]
    white, draws = listing.ratings.white_advantage, 100.0 * listing.ratings.draw_rate
    errors = listing.errors
    lines.append("")
    lines.append(f"White advantage = {white:.2f}" + (f" +/- {errors.white:.2f}" if errors else ""))
    lines.append(
        f"Draw rate (equal opponents) = {draws:.2f} %" + (f" +/- {100.0 * errors.draws:.2f}" if errors else "")
    )
    return "\n".join(lines) + "\n\n"


def _text_cells(listing: Listing, column: int, names: list[str], longest: int) -> list[str]:
    if column != Column.PLAYER:
        return list(_cells(listing, column, csv=False))
    status = listing.ratings.status
    cells = []
    for (rank, shown), name, player in zip(listing.ranks, names, listing.players.tolist(), strict=True):
        symbol = SYMBOL[int(status[player])] or " "
        cells.append(f"{rank if shown else '':>4} {listing.style.pad(name, longest + 1)} {symbol} :")
    return cells


def _cells(listing: Listing, column: int, *, csv: bool) -> Iterator[str]:
    """The values of a column; the CSV file has its own decimals and signs for "none"."""
    ratings, style, players = listing.ratings, listing.style, listing.players
    nothing = '"-"' if csv else "----"

    def error(deviation: Floats) -> Iterator[str]:
        for value in deviation[players].tolist():
            known = listing.errors is not None and value > _NOTHING
            yield f"{_round(value * style.factor, style.decimals):.{style.decimals}f}" if known else nothing

    def numbers(values: NDArray[np.generic], decimals: int) -> Iterator[str]:
        return (f"{value:.{decimals}f}" for value in values[players].tolist())

    if column == Column.RATING:
        values = ratings.ratings[players].tolist()
        rounded = values if csv else [_round(value, style.decimals) for value in values]
        return (f"{value:.{style.decimals}f}" for value in rounded)
    if column == Column.POINTS:
        return numbers(ratings.points, 2 if csv else 1)
    if column == Column.PLAYED:
        return numbers(ratings.played, 0)
    if column == Column.PERCENT:
        percent = 100.0 * ratings.points / np.maximum(ratings.played, 1)
        return numbers(percent, 2 if csv else style.score_decimals)
    if column in (Column.WINS, Column.DRAWS, Column.LOSSES, Column.DRAWN):
        sides = results_by_player(ratings.encounters)
        if column == Column.DRAWN:
            percent = 100.0 * sides.draws / np.maximum(ratings.played, 1)
            return numbers(percent, 1 if csv else style.score_decimals)
        return numbers({Column.WINS: sides.wins, Column.DRAWS: sides.draws, Column.LOSSES: sides.losses}[column], 0)
    if column == Column.CFS:
        dash = '"-"' if csv else "---"
        return (dash if math.isnan(value) else f"{value:.0f}" for value in listing.cfs.tolist())
    if column == Column.ERROR:
        none = np.zeros(len(ratings.players))
        return error(none if listing.errors is None else listing.errors.ratings)
    opponents = listing.opponents
    if column == Column.OPP_AVG:
        return numbers(opponents.average, style.decimals)
    if column == Column.OPP_ERR:
        return error(opponents.error)
    if column == Column.OPP_N:
        return numbers(opponents.number, 0)
    return numbers(opponents.diversity, 1)


def _round(value: float, decimals: int) -> float:
    """Round half up, as the program does where it prints ratings.

    >>> _round(2500.25, 1), _round(-0.25, 1)
    (2500.3, -0.2)
    """
    scale = 10**decimals
    return float(math.floor(value * scale + 0.5) / scale)


def quoted(text: str) -> str:
    """A name as a field of a CSV file.

    >>> print(quoted('The "Turk", 1770'))
    "The ""Turk"", 1770"
    """
    return '"' + text.replace('"', '""') + '"'


def csv_table(listing: Listing) -> str:
    """The list as comma-separated values; players and headers are quoted."""
    style = listing.style
    columns = list(style.columns)
    if style.cfs and Column.CFS not in columns:
        columns.append(Column.CFS)
    head = [('"#",' if column == Column.PLAYER else "") + quoted(style.header(column)) for column in columns]
    names = [listing.ratings.players[player] for player in listing.players.tolist()]
    cells = [
        [f"{rank},{quoted(name)}" for (rank, _), name in zip(listing.ranks, names, strict=True)]
        if column == Column.PLAYER
        else list(_cells(listing, column, csv=True))
        for column in columns
    ]
    return "\n".join([",".join(head), *(",".join(row) for row in zip(*cells, strict=True))]) + "\n"


def error_matrix(listing: Listing) -> str:
    """Errors of the differences between all players of the list: the lower triangle."""
    errors, names = _matrix_of(listing)
    players = listing.players
    lines = [_matrix_head(len(players))]
    for row, name in enumerate(names):
        sigma = errors.differences(np.repeat(players[row], row), players[:row])
        cells = ["" if math.isnan(value) else f"{value * listing.style.factor:.1f}" for value in sigma.tolist()]
        lines.append(",".join([f'{row},"{name:>21}"', *cells]))
    return "\n".join(lines) + "\n"


def superiority_matrix(listing: Listing) -> str:
    """Confidence that the player of the row is stronger than that of the column, in percent."""
    errors, names = _matrix_of(listing)
    players, ratings = listing.players, listing.ratings.ratings
    lines = [_matrix_head(len(players))]
    for row, name in enumerate(names):
        this = np.repeat(players[row], len(players))
        chance = 100.0 * likelihood_of_superiority(ratings[this] - ratings[players], errors.differences(this, players))
        chance[row] = np.nan
        cells = ["" if math.isnan(value) else f"{value:.1f}" for value in chance.tolist()]
        lines.append(",".join([f'{row},"{name:>21}"', *cells]))
    return "\n".join(lines) + "\n"


def _matrix_of(listing: Listing) -> tuple[Errors, list[str]]:
    if listing.errors is None:
        raise ValueError("a matrix of errors needs errors")
    names = [listing.ratings.players[player].replace('"', '""') for player in listing.players.tolist()]
    return listing.errors, names


def _matrix_head(count: int) -> str:
    return ",".join(['"N"', '"NAME"', *map(str, range(count))])


def group_report(players: Sequence[str], table: PairTable, groups: Groups) -> str:
    """Which players can be compared with which, and how the groups hang together."""
    label = groups.label
    between = label[table.white] != label[table.black]
    linked: Bools = np.zeros(groups.count, np.bool_)
    linked[label[table.white[between]]] = True
    linked[label[table.black[between]]] = True
    lines = [f"Group connectivity: {'**OK**' if groups.count == 1 else '**FAILED**'}", ""]
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(groups.count + 1))
    for group in range(groups.count):
        lines.append(f"Group {group + 1}")
        members = sorted(order[starts[group] : starts[group + 1]].tolist(), key=lambda player: players[player])
        lines += [f" | {players[player]}" for player in members]
        if groups.count == 1:
            lines.append(" \\---> there are no other groups")
        elif linked[group]:
            lines.append(" \\---> this group has incomplete links with the rest (only wins or losses)")
        else:
            lines.append(" \\---> this group is isolated from the rest")
        lines.append("")
    return "\n".join(lines) + "\n"


def expectancy_table(scale: float) -> str:
    """Rating differences for expectancies from 50 % to 99 %."""
    beta = slope(scale)
    rule = "-" * 58
    lines = [
        "",
        "  p%: Performance expected (%)",
        "Rtng: Rating difference",
        "",
        " p%  Rtng   " * 5,
        rule,
    ]
    for row in range(10):
        percents = range(50 + row, 100, 10)
        lines.append("".join(f"{p:3d} {math.log(p / (100 - p)) / beta:5.1f}   " for p in percents))
    return "\n".join([*lines, rule, ""]) + "\n"
