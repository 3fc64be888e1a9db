"""What lists are published as: the texts of files, by what the file is for and how it is called; and the list as one
HTML file that needs nothing else: sortable, everybody with the results against others or a curve.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.printable import printable
from assay.results import matches, ordo
from assay.results.encounters import results_by_player
from assay.results.listing import Listing
from assay.results.matches import Encounters
from assay.results.ratings import SYMBOL
from assay.results.timeline import Timeline
from assay.table import counted

if TYPE_CHECKING:
    from assay.results.listing import Listing
    from assay.results.rated import RatingList
    from assay.results.timeline import Timeline


# A page with more rows is no page any more; what is left out is said.
MOST_ROWS = 5_000
_CSS, _JS = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("lists.css", "lists.js"))
_PAGES = (".html", ".htm")


def list_page(listing: Listing, games: Mapping[str, Any] | None = None) -> str:
    """A list with its pools; a click on a player shows the results against each opponent."""
    ratings, style, errors = listing.ratings, listing.style, listing.errors
    sides = results_by_player(ratings.encounters)
    meetings = Encounters(ratings)
    head = ("#", "Player", "Rating", "Error", "Points", "Played", "%", "W", "D", "L", "Opponents")
    by_pool: dict[int, list[str]] = {}
    shown = listing.players.tolist()[:MOST_ROWS]
    for (rank, has_rank), player in zip(listing.ranks[:MOST_ROWS], shown, strict=True):
        played = int(ratings.played[player])
        error = np.nan if errors is None else float(errors.ratings[player]) * style.factor
        cells = [
            rank if has_rank else "",
            "",
            f"{ratings.ratings[player]:.{style.decimals}f}{SYMBOL[int(ratings.status[player])]}",
            f"{error:.{style.decimals}f}" if np.isfinite(error) and error > 0 else "",
            f"{ratings.points[player]:g}",
            played,
            f"{100.0 * ratings.points[player] / max(played, 1):.1f}",
            *(int(count[player]) for count in (sides.wins, sides.draws, sides.losses)),
            f"{listing.opponents.average[player]:.0f}",
        ]
        row = _row(player, ratings.players[player], cells)
        by_pool.setdefault(int(ratings.pool[player]), []).append(row)
    wanted = set(shown) | {int(other) for player in shown for other in meetings.of(player)[0].tolist()}
    data = {
        "names": {player: printable(ratings.players[player]) for player in wanted},
        "ratings": {player: round(float(ratings.ratings[player]), 2) for player in wanted},
        "pools": {player: int(ratings.pool[player]) for player in wanted},
        "met": {player: _met(*meetings.of(player)) for player in shown},
    }
    several = len(ratings.pools) > 1
    body = "".join(
        (f"<h2>Pool {pool + 1}</h2>" if several else "") + f"<p>{_safe(listing.about(pool))}</p>{_table(head, rows)}"
        for pool, rows in by_pool.items()
    )
    listed = f"{len(listing.players):,} of " if len(listing.players) < len(ratings.players) else ""
    about = [
        f"{listed}{counted(len(ratings.players), 'player')}, {counted(int(ratings.encounters.games.sum()), 'game')}",
        f"White advantage {ratings.white_advantage:.1f}, draw rate between equals {100 * ratings.draw_rate:.1f} %",
    ]
    if errors is not None:
        about.append(f"errors: {style.factor:.2f} standard errors")
    if several:
        about.append("no games connect the pools: ratings compare within a pool alone")
    if len(listing.players) > MOST_ROWS:
        about.append(f"the first {MOST_ROWS:,} are shown")
    if games and games.get("skipped"):
        about.append(f"left out: {sum(games['skipped'].values()):,} games")
    return _page("Ratings from results", about, body, data)


def timeline_page(timeline: Timeline, rows: Sequence[Mapping[str, Any]]) -> str:
    """Ratings over time: a list that can be asked for any time, peaks, and a curve for each player."""
    history, moments = timeline.history, timeline.history.moments
    head = ("#", "Player", "Rating", "Error", "Games", "Last", "Peak", "Peak error", "Peak time")
    names = ("rank", "", "rating", "error", "games", "last", "peak", "peak_error", "peak_time")
    starts = np.searchsorted(moments.player, np.arange(len(timeline.players) + 1))
    curves: dict[int, Any] = {}
    by_pool: dict[int, list[str]] = {}
    for row in rows[:MOST_ROWS]:
        player = timeline.number(row["player"])
        own = slice(starts[player], starts[player + 1])
        errors = history.deviation[own] * timeline.factor
        curves[player] = [
            [when, round(rating, 1), round(error, 1)]
            for when, rating, error in zip(
                moments.bin[own].tolist(), history.ratings[own].tolist(), errors.tolist(), strict=True
            )
        ]
        cells = [f"{row[name]:.1f}" if isinstance(row.get(name), float) else row.get(name, "") for name in names]
        by_pool.setdefault(int(row["pool"]), []).append(_row(player, row["player"], cells))
    when = np.zeros(len(timeline.times))
    when[moments.bin] = moments.months
    data = {
        "moments": curves,
        "times": [printable(name) for name in timeline.times],
        "when": when.tolist(),
        "walk": history.walk * timeline.factor,
    }
    last = len(timeline.times) - 1
    choices = "".join(
        f'<option value="{at}"{" selected" if at == last else ""}>{_safe(name)}</option>'
        for at, name in enumerate(timeline.times)
    )
    body = f'<p><label>Who stood where: <select id="day">{choices}</select></label></p>'
    body += "".join(
        (f"<h2>Pool {pool}</h2>" if len(by_pool) > 1 else "") + _table(head, lines) for pool, lines in by_pool.items()
    )
    about = [timeline.head] if len(rows) <= MOST_ROWS else [timeline.head, f"the first {MOST_ROWS:,} are shown"]
    return _page("Ratings over time", about, body, data)


def _met(others: Any, results: Any) -> list[list[int]]:
    return [[other, *result] for other, result in zip(others.tolist(), results.tolist(), strict=True)]


def _safe(text: str) -> str:
    return html.escape(printable(text))


def _row(player: int, name: str, cells: Sequence[Any]) -> str:
    texts = [f"<td>{_safe(str(cell))}</td>" for cell in cells]
    texts[1] = f'<td data-v="{_safe(name)}"><button type="button">{_safe(name)}</button></td>'
    return f'<tr data-p="{player}">{"".join(texts)}</tr>'


def _table(head: Sequence[str], rows: Sequence[str]) -> str:
    heads = "".join(f'<th scope="col"><button type="button">{_safe(name)}</button></th>' for name in head)
    table = f'<table class="list"><thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f'<div class="wide">{table}</div>'


def _page(title: str, about: Sequence[str], body: str, data: Any) -> str:
    # Nothing of a file that people mail may load or run anything but its own script.
    rules = f"default-src 'none'; script-src '{_hash(_JS)}'; style-src '{_hash(_CSS)}'"
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_CSS}</style></head><body><main><h1>{title}</h1>"
        f"<p>{_safe('; '.join(about))}.</p>{body}</main>"
        f'<script type="application/json" id="data">{told}</script><script>{_JS}</script></body></html>\n'
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def list_texts(
    answer: RatingList,
    *,
    output: str | None = None,
    csv: str | None = None,
    head2head: str | None = None,
    error_matrix: str | None = None,
    cfs_matrix: str | None = None,
    elostat: bool = False,
) -> dict[str, str]:
    """The texts of all files by their paths, made before any is written: what fails leaves no half of them.

    `output` is a page where it is called so. `elostat` adds the three files of Elostat.
    """

    def page_or_table(listing: Listing) -> str:
        if not str(output).lower().endswith(_PAGES):
            return ordo.text_table(listing)
        from assay.results.published import list_page

        return list_page(listing.with_errors(), answer.games)

    makers = (
        (output, page_or_table),
        (csv, ordo.csv_table),
        (head2head, matches.head_to_head),
        (error_matrix, ordo.error_matrix),
        (cfs_matrix, ordo.superiority_matrix),
    )
    texts = {path: make(answer.listing) for path, make in makers if path}
    if elostat:
        texts |= matches.elostat(answer.listing.with_errors(), answer.games["unfinished"])
    return texts


def timeline_texts(answer: Timeline, *, output: str | None = None, csv: str | None = None) -> dict[str, str]:
    """The same of a list over time: the list as text, or as a page where the file is called so, and its columns."""
    texts = {csv: answer.to("csv") + "\n"} if csv else {}
    if output and not output.lower().endswith(_PAGES):
        texts[output] = answer.text() + "\n"
    elif output:
        from assay.results.published import timeline_page

        rows = answer.shown.rows
        if answer.player is not None:
            rows = [row for row in answer.standings().rows if row["player"] == answer.player]
        texts[output] = timeline_page(answer, rows)
    return texts
