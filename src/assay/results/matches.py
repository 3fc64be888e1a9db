"""Who met whom with which results: Ordo's head-to-head file and the three files of Elostat. Text only, no files."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from assay.printable import printable
from assay.results.encounters import PairTable, results_by_player
from assay.results.levels import ABOVE, BELOW
from assay.results.listing import LONGEST_NAME, Listing
from assay.results.ratings import Standings, likelihood_of_superiority, ranks_within


def head_to_head(listing: Listing) -> str:
    """For each player the results against each opponent, from the strongest down."""
    ratings, style, errors = listing.ratings, listing.style, listing.errors
    names, values = [printable(name) for name in ratings.players], ratings.ratings
    longest = min(max(map(style.length, names)), LONGEST_NAME)
    indent = len(str(len(names) + 1))
    rating_width, difference_width = 5 + style.decimals, 6 + style.decimals
    sides = results_by_player(ratings.encounters)
    meetings = Encounters(ratings)
    lines = ["Head to head statistics:", ""]
    for rank, player in _ranked(ratings):
        won, drawn, lost = (int(side[player]) for side in (sides.wins, sides.draws, sides.losses))
        total = won + drawn + lost
        width = max(6, 1 + len(str(total)))
        w, d, b = (len(str(count)) for count in (won, drawn, lost))
        name = style.pad(names[player], longest)
        lines.append(
            f"{rank:>{indent}}) {name} {values[player]:{rating_width}.{style.decimals}f} : {total:>{width}} "
            f"(+{won},={drawn},-{lost}), {100.0 * (won + drawn / 2) / total:5.1f} %"
        )
        lines.append("")
        blank = " " * (indent + 2)
        field_width = longest + 1 + rating_width
        head = f"{blank}{'vs.':<{field_width}} : {'games':>{width}} ( {'+':>{w}}, {'=':>{d}}, {'-':>{b}}),   (%) :"
        head += f" {'Diff':>{difference_width}}" + (",    SD, CFS (%)" if errors else "")
        lines.append(head)
        opponents, results = meetings.of(player)
        gaps = values[player] - values[opponents]
        sigma = np.full(len(opponents), np.nan)
        if errors is not None:
            sigma = errors.differences(np.repeat(player, len(opponents)), opponents)
        chances = 100.0 * likelihood_of_superiority(gaps, sigma)
        for other, (win, draw, loss), gap, sd, cfs in zip(
            opponents.tolist(), results.tolist(), gaps.tolist(), sigma.tolist(), chances.tolist(), strict=True
        ):
            met = win + draw + loss
            percent = 100.0 * (win + draw / 2) / met
            line = f"{blank}{style.pad(names[other], field_width)} : {met:>{width}} "
            line += (
                f"( {win:>{w}}, {draw:>{d}}, {loss:>{b}}), {percent:5.1f} : {gap:+{difference_width}.{style.decimals}f}"
            )
            if errors is not None:
                line += f", {'-':>5}, {'-':>6}" if math.isnan(sd) else f", {sd:5.1f}, {cfs:6.1f}"
            lines.append(line)
        lines.append("")
    lines += _removed(listing, longest)
    return "\n".join(lines) + "\n"


def _removed(listing: Listing, longest: int) -> list[str]:
    """Lines for the players that could not be rated."""
    ratings = listing.ratings
    rest = np.flatnonzero(~np.isfinite(ratings.ratings)).tolist()
    first = len(ratings.order) + 1
    pad = listing.style.pad
    return [
        f"{rank:>4} {pad(printable(ratings.players[player]), longest + 6)} :Removed from calculation"
        for rank, player in enumerate(rest, first)
    ]


def _ranked(ratings: Standings) -> list[tuple[int, int]]:
    """Rank and number of each player, pool by pool; ranks are those within the pool."""
    order = ratings.order
    return list(zip(ranks_within(ratings.pool[order]), order.tolist(), strict=True))


class Encounters:
    """The opponents of each player with wins, draws and losses against them, from the strongest down."""

    def __init__(self, ratings: Standings) -> None:
        table = ratings.encounters.without_self()
        own = np.concatenate((table.white, table.black))
        other = np.concatenate((table.black, table.white))
        counts = np.stack(
            (
                np.concatenate((table.wins, table.losses)),
                np.concatenate((table.draws, table.draws)),
                np.concatenate((table.losses, table.wins)),
            ),
            axis=1,
        )
        key = own * table.players + other
        edge, index = np.unique(key, return_inverse=True)
        self._results = np.zeros((len(edge), 3), np.int64)
        np.add.at(self._results, index, counts)
        self._own, self._other = edge // table.players, edge % table.players
        self._starts = np.searchsorted(self._own, np.arange(table.players + 1))
        rank = np.zeros(table.players, np.int64)
        rank[ratings.order] = np.arange(len(ratings.order))
        self._rank = rank

    def of(self, player: int, *, newest_first: bool = False) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The opponents of a player, and wins, draws and losses against each."""
        rows = slice(self._starts[player], self._starts[player + 1])
        other, results = self._other[rows], self._results[rows]
        order = np.argsort(-other) if newest_first else np.argsort(self._rank[other], kind="stable")
        return other[order], results[order]


def elostat(listing: Listing, unfinished: int) -> dict[str, str]:
    """The three files of Elostat: general.dat, rating.dat, programs.dat."""
    return {
        "general.dat": _elostat_general(listing.ratings.encounters, unfinished),
        "rating.dat": _elostat_rating(listing),
        "programs.dat": _elostat_programs(listing),
    }


def _elostat_general(table: PairTable, unfinished: int) -> str:
    white, draws, black = (int(counts.sum()) for counts in (table.wins, table.draws, table.losses))
    total = white + draws + black
    score = 100.0 * (white + draws / 2) / total
    return (
        f"\nGames        : {total} (finished)\n\n"
        f"White Wins   : {white} ({100.0 * white / total:.1f} %)\n"
        f"Black Wins   : {black} ({100.0 * black / total:.1f} %)\n"
        f"Draws        : {draws} ({100.0 * draws / total:.1f} %)\n"
        f"Unfinished   : {unfinished}\n\n"
        f"White Score  : {score:.1f} %\n"
        f"Black Score  : {100.0 - score:.1f} %\n\n"
    )


def _elostat_rating(listing: Listing) -> str:
    ratings, style = listing.ratings, listing.style
    longest = min(max(style.length(printable(name)) for name in ratings.players), LONGEST_NAME)
    sides = results_by_player(ratings.encounters)
    head = f"     {'Program':<{longest}}     {'Elo':>6} {'+':>6} {'-':>6} {'Games':>7} {'Score':>7}"
    head += f" {'Av.Op.':>8} {'Draws':>6}"
    lines = ["", "", head, ""]
    deviation = np.zeros(len(ratings.players)) if listing.errors is None else np.nan_to_num(listing.errors.ratings)
    for rank, player in _ranked(ratings):
        played = ratings.played[player]
        error = deviation[player] * style.factor
        symbol = {ABOVE: ">", BELOW: "<"}.get(int(ratings.status[player]), " ")
        lines.append(
            f"{rank:>4} {style.pad(printable(ratings.players[player]), longest + 1)} {symbol} :"
            f"{ratings.ratings[player]:7.1f}{error:7.1f}{error:7.1f} {int(played):>5} "
            f"{100.0 * ratings.points[player] / played:7.1f} % {listing.opponents.average[player]:6.0f} "
            f"{100.0 * sides.draws[player] / played:6.1f} %"
        )
    return "\n".join(lines) + "\n"


def _elostat_programs(listing: Listing) -> str:
    ratings, style = listing.ratings, listing.style
    longest = min(max(style.length(printable(name)) for name in ratings.players), LONGEST_NAME)
    meetings = Encounters(ratings)
    lines = ["Individual statistics:", ""]
    for rank, player in _ranked(ratings):
        opponents, results = meetings.of(player, newest_first=True)
        name = style.pad(f"{rank} {printable(ratings.players[player])}", longest + 3)
        lines += [f"{name} :{ratings.ratings[player]:6.1f} {_elostat_results(results.sum(axis=0))}", ""]
        for other, result in zip(opponents.tolist(), results, strict=True):
            lines.append(f"{style.pad(printable(ratings.players[other]), longest + 3)} : {_elostat_results(result)}")
        lines.append("")
    lines += _removed(listing, longest)
    return "\n".join(lines) + "\n"


def _elostat_results(result: NDArray[np.int64]) -> str:
    won, drawn, lost = result.tolist()
    total = won + drawn + lost
    return f"{total} (+{won:3},={drawn:3},-{lost:3}), {100.0 * (won + drawn / 2) / total:4.1f} %"
