"""The layouts of Ordo 1.2.6: text table, CSV, matrices, groups, expectancies. Text only, no files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.printable import printable, shorten
from assay.records import dataclass
from assay.results.encounters import Bools, Components, Floats, PairTable, results_by_player
from assay.results.expectancy import slope
from assay.results.levels import UNPLAYED
from assay.results.listing import LONGEST_NAME, Errors, Listing, OrdoColumn
from assay.results.ratings import REASON, SYMBOL, Standings, likelihood_of_superiority
from assay.table import WIDTH, Answer, Table, columns_of, counted

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
_NOTHING = 1e-8
_NONE = '"-"'
_AROUND_NAMES, _SHORTEST_NAME = 10, 10


def text_table(listing: Listing) -> str:
    """The list as text, with the white advantage and the draw rate below it."""
    style = listing.style
    columns = list(style.columns)
    if listing.errors is None and OrdoColumn.ERROR in columns:
        columns.remove(OrdoColumn.ERROR)
    if style.cfs and OrdoColumn.CFS not in columns:
        columns.append(OrdoColumn.CFS)
    numbers: dict[int, list[str]] = {}
    for column in columns:
        if column != OrdoColumn.PLAYER:
            cells = list(_cells(listing, column, csv=False))
            width = max(style.width(column), max(map(len, [style.header(column), *cells])) + 1)
            numbers[column] = [f" {cell:>{width}}" for cell in (style.header(column), *cells)]
    names, taken = listing.names, sum(len(cells[0]) for cells in numbers.values()) + _AROUND_NAMES
    if style.longest is not None:
        names = [shorten(name, max(style.longest - taken, _SHORTEST_NAME)) for name in names]
    longest = min(max((style.length(name) for name in names), default=0), LONGEST_NAME)
    longest = max(longest, len(style.header(OrdoColumn.PLAYER)))
    head, body = "", []
    for column in columns:
        if column == OrdoColumn.PLAYER:
            head += f"\n   # {style.pad(style.header(column), longest)}    :"
            body.append(_name_cells(listing, names, longest))
        else:
            head += numbers[column][0]
            body.append(numbers[column][1:])
    rows = ["".join(row) for row in zip(*body, strict=True)]
    for begin, title in reversed(listing.sections):
        rows[begin:begin] = ["", title] if begin else [title]
    lines = [head, *rows]
    white, draws = listing.ratings.white_advantage, 100.0 * listing.ratings.draw_rate
    errors = listing.errors
    lines.append("")
    lines.append(f"White advantage = {white:.2f}" + (f" +/- {errors.white:.2f}" if errors else ""))
    for one in listing.ratings.advantages:
        error = f" +/- {one.error:.2f}" if errors else ""
        lines.append(f"- {printable(one.kind)} ({counted(one.games, 'game')}) = {one.value:.2f}{error}")
    lines.append(
        f"Draw rate (equal opponents) = {draws:.2f} %" + (f" +/- {100.0 * errors.draws:.2f}" if errors else "")
    )
    return "\n".join(lines) + "\n\n"


def _name_cells(listing: Listing, names: list[str], longest: int) -> list[str]:
    status = listing.ratings.status
    cells = []
    for (rank, shown), name, player in zip(listing.ranks, names, listing.players.tolist(), strict=True):
        symbol = SYMBOL[int(status[player])] or " "
        cells.append(f"{rank if shown else '':>4} {listing.style.pad(name, longest + 1)} {symbol} :")
    return cells


def _cells(listing: Listing, column: int, *, csv: bool) -> Iterator[str]:
    """The values of a column; the CSV file has its own decimals and signs for "none"."""
    ratings, style, players = listing.ratings, listing.style, listing.players
    # Ordo's CSV has texts where there is nothing; columns of ours are numbers.
    empty = _NONE if style.bytes_wide else ""
    nothing = empty if csv else "----"

    def error(deviation: Floats) -> Iterator[str]:
        for value in deviation[players].tolist():
            known = listing.errors is not None and value > _NOTHING
            yield f"{_round(value * style.factor, style.decimals):.{style.decimals}f}" if known else nothing

    def numbers(values: NDArray[np.generic], decimals: int) -> Iterator[str]:
        return (f"{value:.{decimals}f}" for value in values[players].tolist())

    if column == OrdoColumn.RATING:
        values = ratings.ratings[players].tolist()
        rounded = values if csv else [_round(value, style.decimals) for value in values]
        return (f"{value:.{style.decimals}f}" for value in rounded)
    if column == OrdoColumn.POINTS:
        return numbers(ratings.points, 2 if csv else 1)
    if column == OrdoColumn.PLAYED:
        return numbers(ratings.played, 0)
    if column == OrdoColumn.PERCENT:
        percent = 100.0 * ratings.points / np.maximum(ratings.played, 1)
        return numbers(percent, 2 if csv else style.score_decimals)
    if column in (OrdoColumn.WINS, OrdoColumn.DRAWS, OrdoColumn.LOSSES, OrdoColumn.DRAWN):
        sides = results_by_player(ratings.encounters)
        if column == OrdoColumn.DRAWN:
            percent = 100.0 * sides.draws / np.maximum(ratings.played, 1)
            return numbers(percent, 1 if csv else style.score_decimals)
        counts: dict[int, Floats] = {
            OrdoColumn.WINS: sides.wins,
            OrdoColumn.DRAWS: sides.draws,
            OrdoColumn.LOSSES: sides.losses,
        }
        return numbers(counts[column], 0)
    if column == OrdoColumn.CFS:
        dash = empty if csv else "---"
        return (dash if math.isnan(value) else f"{value:.0f}" for value in listing.cfs.tolist())
    if column == OrdoColumn.ERROR:
        none = np.zeros(len(ratings.players))
        return error(none if listing.errors is None else listing.errors.ratings)
    opponents = listing.opponents
    if column == OrdoColumn.OPP_AVG:
        return numbers(opponents.average, style.decimals)
    if column == OrdoColumn.OPP_ERR:
        return error(opponents.error)
    if column == OrdoColumn.OPP_N:
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
    """The list as comma-separated values; players and headers are quoted. Several pools are told in a last column."""
    style = listing.style
    columns = list(style.columns)
    if style.cfs and OrdoColumn.CFS not in columns:
        columns.append(OrdoColumn.CFS)
    head = [('"#",' if column == OrdoColumn.PLAYER else "") + quoted(style.header(column)) for column in columns]
    names = listing.cells
    cells = [
        [f"{rank},{quoted(name)}" for (rank, _), name in zip(listing.ranks, names, strict=True)]
        if column == OrdoColumn.PLAYER
        else list(_cells(listing, column, csv=True))
        for column in columns
    ]
    if listing.sections:
        head.append(quoted("POOL"))
        cells.append([str(pool + 1) for pool in listing.ratings.pool[listing.players].tolist()])
    return "\n".join([",".join(head), *(",".join(row) for row in zip(*cells, strict=True))]) + "\n"


def error_matrix(listing: Listing) -> str:
    """Errors of the differences between all players of the list: the lower triangle."""
    errors, players = _errors_of(listing), listing.players
    lines = [_matrix_head(len(players))]
    for row, name in enumerate(_matrix_names(listing)):
        sigma = errors.differences(np.repeat(players[row], row), players[:row])
        cells = [_NONE if math.isnan(value) else f"{value * listing.style.factor:.1f}" for value in sigma.tolist()]
        lines.append(",".join([f'{row},"{name:>21}"', *cells]))
    return "\n".join(lines) + "\n"


def superiority_matrix(listing: Listing) -> str:
    """Confidence that the player of the row is stronger than that of the column, in percent."""
    names = _matrix_names(listing)
    lines = [_matrix_head(len(names))]
    for row, (name, chance) in enumerate(zip(names, _superiority_rows(listing), strict=True)):
        cells = [_NONE if math.isnan(value) else f"{value:.1f}" for value in chance.tolist()]
        cells[row] = ""
        lines.append(",".join([f'{row},"{name:>21}"', *cells]))
    return "\n".join(lines) + "\n"


def superiority_text(listing: Listing) -> str:
    """The same matrix for people: percents, columns numbered like the rows."""
    most = listing.style.longest
    names = listing.names if most is None else [shorten(name, most // 3) for name in listing.names]
    longest = max(map(len, names))
    rows = list(_superiority_rows(listing))
    across = len(names) if most is None else max((most - longest - 5) // 5, 1)
    lines = ["Likelihood of superiority (%)", ""]
    for first in range(0, len(names), across):
        block = slice(first, first + across)
        lines += [""] if first else []
        lines.append(" " * (longest + 5) + "".join(f"{column + 1:>5}" for column in range(len(names))[block]))
        for row, chances in enumerate(rows):
            cells = "".join("    -" if math.isnan(value) else f"{value:5.0f}" for value in chances[block].tolist())
            lines.append(f"{row + 1:>4} {names[row]:<{longest}}{cells}")
    return "\n".join(lines) + "\n\n"


def _superiority_rows(listing: Listing) -> Iterator[Floats]:
    errors, players, ratings = _errors_of(listing), listing.players, listing.ratings.ratings
    for row, player in enumerate(players.tolist()):
        this = np.full(len(players), player)
        chance = 100.0 * likelihood_of_superiority(ratings[this] - ratings[players], errors.differences(this, players))
        chance[row] = np.nan
        yield chance


def listing_data(listing: Listing, *, superiority: bool = False) -> dict[str, Any]:
    """Everything the table holds, by name; nothing rounded, None where there is nothing."""
    ratings, errors = listing.ratings, listing.errors
    sides, opponents = results_by_player(ratings.encounters), listing.opponents

    def plain(value: Any) -> float | None:
        return float(value) if math.isfinite(value) else None

    players = []
    for (rank, shown), player, cfs in zip(listing.ranks, listing.players.tolist(), listing.cfs.tolist(), strict=True):
        played = int(ratings.played[player])
        players.append(
            {
                "rank": rank if shown else None,
                "player": ratings.players[player],
                "rating": float(ratings.ratings[player]),
                "error": None if errors is None else plain(errors.ratings[player] * listing.style.factor),
                "symbol": SYMBOL[int(ratings.status[player])],
                "reason": REASON.get(int(ratings.status[player])),
                "pool": int(ratings.pool[player]) + 1,
                "points": float(ratings.points[player]),
                "played": played,
                "percent": 100.0 * float(ratings.points[player]) / played,
                "cfs": plain(cfs),
                "wins": int(sides.wins[player]),
                "draws": int(sides.draws[player]),
                "losses": int(sides.losses[player]),
                "draw_percent": 100.0 * float(sides.draws[player]) / played,
                "opponents_average": plain(opponents.average[player]),
                "opponents_error": None if errors is None else plain(opponents.error[player] * listing.style.factor),
                "opponents": int(opponents.number[player]),
                "opponents_diversity": plain(opponents.diversity[player]),
            }
        )
    data = {
        "players": players,
        "unrated": [
            {"player": ratings.players[player], "reason": REASON[int(ratings.status[player])]}
            for player in np.flatnonzero(~np.isfinite(ratings.ratings)).tolist()
        ],
        "pools": [
            {"pool": pool + 1, "players": int((ratings.pool == pool).sum()), "level": ratings.level(pool)}
            for pool in ratings.pools.tolist()
        ],
        "white_advantage": ratings.white_advantage,
        "white_advantage_error": None if errors is None else errors.white,
        "draw_model": ratings.fit.settings.model,
        "draw_rate": ratings.draw_rate,
        "draw_rate_error": None if errors is None else errors.draws,
    }
    if ratings.advantages:
        data["white_advantage_by"] = [
            {"kind": one.kind, "games": one.games, "white_advantage": one.value, "error": one.error}
            for one in ratings.advantages
        ]
    if ratings.pairs is not None:
        data["pentanomial"] = ratings.pairs.counts.tolist()
    if superiority:
        data["superiority"] = [[plain(value) for value in row.tolist()] for row in _superiority_rows(listing)]
    return data


def _errors_of(listing: Listing) -> Errors:
    if listing.errors is None:
        raise ValueError("a matrix of errors needs errors")
    return listing.errors


def _matrix_names(listing: Listing) -> list[str]:
    return [name.replace('"', '""') for name in listing.cells]


def _matrix_head(count: int) -> str:
    return ",".join(['"N"', '"NAME"', *map(str, range(count))])


def ranked_groups(players: Sequence[str], groups: Components) -> list[tuple[int, list[str]]]:
    """The number and the players of each group, the largest first."""
    order = np.argsort(groups.label, kind="stable")
    starts = np.searchsorted(groups.label[order], np.arange(groups.count + 1))
    members = [sorted(players[i] for i in order[starts[g] : starts[g + 1]].tolist()) for g in range(groups.count)]
    return sorted(enumerate(members), key=lambda group: (-len(group[1]), group[1]))


def group_report(players: Sequence[str], table: PairTable, groups: Components) -> str:
    """Which players can be compared with which, and how the groups hang together."""
    label = groups.label
    between = label[table.white] != label[table.black]
    linked: Bools = np.zeros(groups.count, np.bool_)
    linked[label[table.white[between]]] = True
    linked[label[table.black[between]]] = True
    lines = [f"Group connectivity: {'**OK**' if groups.count == 1 else '**FAILED**'}", ""]
    for place, (group, members) in enumerate(ranked_groups(players, groups), 1):
        lines.append(f"Group {place}")
        lines += [f" | {printable(name)}" for name in members]
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Expectancies(Answer):
    """The difference in rating for each score, in per cent; as text the table of Ordo."""

    scale: float

    @classmethod
    def of(cls, scale: float) -> Expectancies:
        """Those of a scale: the difference that scores 76 %."""
        beta = slope(scale)
        rows = [{"percent": p, "difference": math.log(p / (100 - p)) / beta} for p in range(50, 100)]
        return cls(shown=Table(rows, columns_of(("percent", "difference"))), scale=scale)

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """As Ordo prints it."""
        return expectancy_table(self.scale).removesuffix("\n")


def summary(table: PairTable, read: int, level: str, loose_anchors: str | None, relations: str | None) -> str:
    """What Ordo says of the games before it rates them; `level` is what the ratings rest on."""
    wins, draws, losses = (int(counts.sum()) for counts in (table.wins, table.draws, table.losses))
    rated = wins + draws + losses
    return (
        f"Total games            {read:8}\n"
        f" - White wins          {wins:8}\n"
        f" - Draws               {draws:8}\n"
        f" - Black wins          {losses:8}\n"
        f" - Truncated/Discarded {read - rated:8}\n"
        f"Unique head to head    {100.0 * len(table.white) / rated:8.2f}%\n"
        f"Reference rating    {level}\n"
        f"\nLoose Anchors = {loose_anchors or 'none'}\n"
        f"Relative Anchors = {relations or 'none'}\n\n"
    )


def account(standings: Standings, read: int, level: str, loose_anchors: str | None, relations: str | None) -> str:
    """What Ordo says before it rates, with how many players have no games, only wins, only losses."""
    played, points = standings.played, standings.points
    some = played > 0
    return (
        f"{summary(standings.encounters, read, level, loose_anchors, relations)}\n"
        f"players with no games = {int(np.count_nonzero(standings.status == UNPLAYED))}\n"
        f"players with all wins = {int(np.count_nonzero(some & (points == played)))}\n"
        f"players w/ all losses = {int(np.count_nonzero(some & (points == 0)))}"
    )


def convergence(standings: Standings) -> str:
    """How the ratings were found, step by step, and the rates."""
    steps = "\n".join(f"{step:5} {change:19.9f}" for step, change in enumerate(standings.fit.solution.trace, 1))
    return (
        f"\nConvergence rating calculation (Newton's method)\n\n step      largest change\n{steps}\ndone\n\n"
        f"White Advantage = {standings.white_advantage:.1f}\nDraw Rate (eq.) = {100 * standings.draw_rate:.1f} %\n"
    )


def connections(table: PairTable, groups: Components) -> str:
    """How many groups there are, and how many encounters within and between them."""
    within = int(np.count_nonzero(groups.label[table.white] == groups.label[table.black]))
    total = len(table.white)
    return (
        f"Groups={groups.count}\n"
        f"Encounters: Total={total}, within groups={within}, @ interface between groups={total - within}"
    )
