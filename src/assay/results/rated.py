"""RatingList players as an answer: the list with its errors, what limits it, and everything in it by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

import numpy as np

from assay.curve import Estimate
from assay.errors import RatingError
from assay.printable import json_text
from assay.records import dataclass
from assay.results import ordo
from assay.results.expectancy import score_variance
from assay.results.information import check_matrix
from assay.results.levels import ABOVE, BELOW
from assay.results.listing import DEFAULT_COLUMNS, HEADERS, Errors, Listing, Style
from assay.results.ratings import REASON, Standings, confidence_factor
from assay.results.solve import expected
from assay.table import WIDTH, Answer, Table, columns_of, counted, described, told_copies

# Terminations that say more of a clock, a program or an arbiter than of strength.
ODD = {
    "time forfeit", "forfeit", "abandoned", "stalled connection", "disconnect", "disconnection", "illegal move",
    "adjudication", "rules infraction", "emergency", "death", "unterminated", "crash", "loses on time", "timeout",
}  # fmt: skip
# Standard deviations by which the points of an anchor may be off before that is remarked on.
_CONTRADICTED = 4.0
NO_RESULT = 'without a result ("*")'


@dataclass(frozen=True, eq=False, kw_only=True)
class RatingList(Answer):
    """Ratings from results: `standings` has them as arrays, `listing` as they are printed; `games` counts the games."""

    standings: Standings
    listing: Listing
    games: Mapping[str, Any] = field(default_factory=dict)
    superiority: bool = False
    level: float = 0.95

    def tabulated(self) -> Table:
        """The players of the list with all that is known of them."""
        rows = ordo.listing_data(self.listing)["players"]
        return Table(rows, columns_of(list(rows[0])))

    def __len__(self) -> int:
        return len(self.listing.players)

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The list as Ordo prints it; names give way where a line would be too long."""
        style = self.listing.style
        as_asked = style.bytes_wide or wide or tuple(style.columns) != DEFAULT_COLUMNS
        shown = replace(self.listing, style=replace(style, longest=None if as_asked else width))
        if wide:
            shown = replace(shown, style=replace(shown.style, columns=tuple(range(len(HEADERS)))))
        matrix = ordo.superiority_text(shown) if self.superiority else ""
        text = (ordo.text_table(shown) + matrix).removesuffix("\n")
        if self.difference is None or style.bytes_wide:
            return text
        # The error of each is that to their mean: half of what people want to know of a match.
        gap, error = self.difference
        return f"{text.rstrip()}\nDifference of the two = {gap:.{style.decimals}f} +/- {error:.{style.decimals}f}\n"

    def account(self, level: str, loose_anchors: str | None = None, relations: str | None = None) -> str:
        """What Ordo says of the games and of how the ratings were found; `level` is what they rest on."""
        told = ordo.account(self.standings, self.games["read"], level, loose_anchors, relations)
        return f"{told}\n{ordo.convergence(self.standings)}"

    @property
    def difference(self) -> tuple[float, float] | None:
        """In a list of two players of one pool, by how much the first is ahead, and the error of that."""
        players, errors = self.listing.players, self.listing.errors
        if len(players) != 2 or errors is None:
            return None
        error = float(errors.differences(players[:1], players[1:])[0]) * self.listing.style.factor
        gap = float(self.standings.ratings[players[0]] - self.standings.ratings[players[1]])
        return (gap, error) if np.isfinite(error) else None

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """Text, Ordo's CSV file, or a JSON object of players, pools, rates and games."""
        if format == "csv":
            return ordo.csv_table(self.listing).removesuffix("\n")
        if format != "json":
            return super().to(format, width, wide=wide)
        data = ordo.listing_data(self.listing, superiority=self.superiority) | {"level": self.level}
        if self.difference is not None:
            data |= dict(zip(("difference", "difference_error"), self.difference, strict=True))
        return json_text(data | {"games": self.games}, indent=1)


def rated(
    standings: Standings,
    *,
    style: Style | None = None,
    level: float = 0.95,
    least: int = 0,
    older: Iterable[str] = (),
    hide_older: bool = False,
    errors: bool = True,
    simulations: int = 0,
    processes: int = 1,
    matrix: bool = False,
    superiority: bool = False,
    advance: Callable[[int], None] | None = None,
    problems: Mapping[str, int] | None = None,
    duplicates: object = "",
    warn_groups: bool = True,
    games: Mapping[str, Any] | None = None,
) -> RatingList:
    """The list of rated players, with errors from the covariance, from simulations, or without.

    `least` is the fewest games with which a player is listed; `older` are players that have a newer version. A `matrix`
    of all pairs is refused at once where it would be too large.
    """
    index = {name: at for at, name in enumerate(standings.players)}
    style = replace(style or Style(bytes_wide=False), factor=confidence_factor(level))
    listing = Listing(standings, None, style, least, frozenset(index[name] for name in older), hide_older)
    if not len(listing.players):
        raise RatingError(f"no player has {least:,} games (-t): the most are {int(standings.played.max()):,}.")
    if matrix:
        check_matrix(len(listing.players))
    told = dict(problems or {})
    if style.bytes_wide:  # Ordo says nothing of games without a result
        told.pop(NO_RESULT, None)
    remarks = _remarks(standings, told, warn_groups)
    if odd := {ending: count for ending, count in ((games or {}).get("terminations") or {}).items() if ending in ODD}:
        remarks.append(f"counted by termination: {described(odd)} (--exclude-termination leaves such games out).")
    if simulations > 1:
        drawn = standings.simulate(simulations, processes=processes, advance=advance or (lambda count: None))
        if drawn.redrawn:
            remarks.append(f"{counted(drawn.redrawn, 'simulation')} fell apart into groups and had to be drawn again.")
        found = Errors(drawn.deviation, drawn.difference_deviation, drawn.white_deviation, drawn.draws_deviation)
        listing = replace(listing, errors=found)
    elif errors:
        listing = listing.with_errors()
    return RatingList(
        shown=Table((), ()),
        standings=standings,
        listing=listing,
        estimates=_Estimates(listing, level, index),
        problems=problems or {},
        remarks=[
            *told_copies(duplicates),
            *(f"assay: warning: {remark}" for remark in remarks),
        ],
        games=games or {},
        superiority=superiority,
        level=level,
    )


class _Estimates(Mapping[str, Estimate]):
    """The estimate of each player, made when it is asked for: lists may have a hundred thousand players."""

    def __init__(self, listing: Listing, level: float, index: Mapping[str, int]) -> None:
        self.listing, self.level, self.index = listing, level, index

    def __getitem__(self, name: str) -> Estimate:
        at, standings = self.index[name], self.listing.ratings
        value, note = float(standings.ratings[at]), REASON.get(int(standings.status[at]), "")
        if self.listing.errors is None:
            return Estimate(value, level=self.level, note=note)
        half = float(self.listing.errors.ratings[at] * self.listing.style.factor)
        return Estimate.about(value, half, self.level, note)

    def __iter__(self) -> Iterator[str]:
        return iter(self.index)

    def __len__(self) -> int:
        return len(self.index)


def _remarks(standings: Standings, problems: Mapping[str, int], groups: bool) -> list[str]:
    """What limits the list: games left out, pools, perfect scores."""
    remarks = [f"left out: {described(problems)}."] if problems else []
    remarks += _contradicted(standings)
    if not groups:
        return remarks
    if (pools := len(standings.pools)) > 1:
        remarks.append(
            f"no games connect {pools:,} pools of players; each has its own level and ranks ('-g' lists them)."
        )
    if placed := int(np.count_nonzero((standings.status == ABOVE) | (standings.status == BELOW))):
        have = "has" if placed == 1 else "have"
        remarks.append(
            f"{counted(placed, 'player')} {have} only wins or only losses against the rest; "
            "their ratings (> and <) are bounds."
        )
    return remarks


def _contradicted(standings: Standings) -> list[str]:
    """Anchors held exactly whose points are not those of their ratings: their games contradict them."""
    settings, problem, solution = standings.fit.settings, standings.fit.problem, standings.fit.solution
    if settings.held is None or not settings.held.any():
        return []
    table = problem.table
    p = expected(problem, solution.ratings, solution.white)
    white, black = table.by_side(table.games * p)
    wanted = white + table.by_side(table.games)[1] - black
    sides = table.by_side(table.games * score_variance(p, solution.equal))
    deviation = np.sqrt(np.maximum(sides[0] + sides[1], 1e-9))
    off = (table.points - wanted) / deviation
    remarks = []
    for player in np.flatnonzero(settings.held & (np.abs(off) > _CONTRADICTED)).tolist():
        made = f"{table.points[player]:g} of {table.played[player]:g} points"
        remarks.append(
            f'the anchor "{standings.players[player]}" at {standings.ratings[player]:g} made {made} where '
            f"{wanted[player]:.1f} are expected beside the other anchors: "
            "they contradict each other."
        )
    return remarks
