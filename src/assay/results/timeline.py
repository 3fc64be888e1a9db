"""Ratings over time as an answer: everybody at every time, who stood where on a day, who was best at the peak."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.curve import Estimate
from assay.errors import RatingError
from assay.printable import json_text
from assay.records import dataclass
from assay.results.history import History, Ints
from assay.results.ratings import confidence_factor, ranks_within
from assay.table import WIDTH, Answer, Column, Table, counted, described, told_copies

MOMENT_COLUMNS = ("player", "time", "rating", "error", "games", "points", "pool")
STANDING_COLUMNS = ("rank", "player", "rating", "error", "games", "last", "peak", "peak_error", "peak_time", "pool")
_DECIMALS = {"rating": 1, "error": 1, "peak": 1, "peak_error": 1, "points": 1}
_WIDEST_CHART = 40


@dataclass(frozen=True, eq=False, kw_only=True)
class Timeline(Answer):
    """Ratings over time: `history` has them as arrays; `moments()` a row for each player and time, `standings()` lists.

    `[name]` is the estimate of a player at the end. `pool` tells who has met whom, in a chain: others do not compare.
    """

    history: History
    players: Sequence[str]
    times: Sequence[str]
    pool: NDArray[np.int32]
    level: float = 0.95
    games: Mapping[str, Any] = field(default_factory=dict)
    chart: bool = False
    player: str | None = None  # whose times are shown

    @property
    def factor(self) -> float:
        """Standard errors on each side of an interval."""
        return confidence_factor(self.level)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.players)}

    def moments(self, player: str | None = None) -> Table:
        """A row for each player and time, or for each time of one player."""
        moments, history = self.history.moments, self.history
        chosen: Any = slice(None) if player is None else moments.player == self.number(player)
        names, times, factor = self.players, self.times, self.factor
        rows = [
            {
                "player": names[who],
                "time": times[when],
                "rating": rating,
                "error": error * factor,
                "games": int(games),
                "points": points,
                "pool": int(self.pool[who]) + 1,
            }
            for who, when, rating, error, games, points in zip(
                moments.player[chosen].tolist(),
                moments.bin[chosen].tolist(),
                history.ratings[chosen].tolist(),
                history.deviation[chosen].tolist(),
                history.played[chosen].tolist(),
                history.points[chosen].tolist(),
                strict=True,
            )
        ]
        return Table(rows, _columns(MOMENT_COLUMNS))

    def number(self, player: str) -> int:
        """The number of a player, by name."""
        if player not in self._index:
            from difflib import get_close_matches

            near = get_close_matches(player, self._index, 1)
            raise RatingError(f"there are no games of {player!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
        return self._index[player]

    def standings(self, months: float | None = None, *, peak: bool = False, least: int = 0) -> Table:
        """Who stood where at a time (in months; the last one if None), or by the highest rating ever had.

        Ranks are those within a pool; `least` is the fewest games of a player who is listed.
        """
        history, moments = self.history, self.history.moments
        who, rating, error = history.at(float(moments.months.max()) if months is None else months)
        if not len(who):
            raise RatingError("nobody had played by then.")
        best = self._peaks
        games = np.bincount(moments.player, history.played, len(self.players))
        last = np.zeros(len(self.players), np.int64)
        last[moments.player] = moments.bin
        value = history.ratings[best[who]] if peak else rating
        use = games[who] >= least
        who, rating, error, value = who[use], rating[use], error[use], value[use]
        if not len(who):
            raise RatingError(f"no player has {least:,} games (-t).")
        order = np.lexsort((who, -np.round(value, 6), self.pool[who]))
        ranks = ranks_within(self.pool[who[order]])
        rows = [
            {
                "rank": rank,
                "player": self.players[player],
                "rating": float(rating[at]),
                "error": float(error[at] * self.factor),
                "games": int(games[player]),
                "last": self.times[int(last[player])],
                "peak": float(history.ratings[best[player]]),
                "peak_error": float(history.deviation[best[player]] * self.factor),
                "peak_time": self.times[int(moments.bin[best[player]])],
                "pool": int(self.pool[player]) + 1,
            }
            for rank, at, player in zip(ranks, order.tolist(), who[order].tolist(), strict=True)
        ]
        return Table(rows, _columns(STANDING_COLUMNS, several=int(self.pool.max()) > 0))

    @cached_property
    def _peaks(self) -> Ints:
        """The moment of each player's highest rating."""
        history, moments = self.history, self.history.moments
        order = np.lexsort((-history.ratings, moments.player))
        first = np.concatenate(([True], moments.player[order][1:] != moments.player[order][:-1]))
        best = np.zeros(len(self.players), np.int64)
        best[moments.player[order[first]]] = order[first]
        return best

    def tabulated(self) -> Table:
        """What programs are given: every player and time, unless a list was asked for."""
        return self.moments() if self.data is None else super().tabulated()

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The list or, of one player, the times; with a chart where that was asked for."""
        text = super().text(width, wide=wide)
        return f"{text}\n\n{_chart(self.shown.rows)}" if self.chart else text

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """Text, CSV, or a JSON object of rows, rates and games."""
        if format != "json":
            return super().to(format, width, wide=wide)
        history = self.history
        data = {
            "rows": self.tabulated().records(),
            "level": self.level,
            "average": history.average,
            "white_advantage": history.white_advantage,
            "draw_rate": history.draw_rate,
            "walk": history.walk,
            "newcomers": history.newcomers,
            "games": self.games,
        }
        return json_text(data, indent=1)


def timeline(
    history: History,
    players: Sequence[str],
    times: Sequence[str],
    pool: NDArray[np.int32],
    *,
    level: float = 0.95,
    player: str | None = None,
    on: float | None = None,
    peak: bool = False,
    least: int = 0,
    chart: bool = False,
    problems: Mapping[str, int] | None = None,
    duplicates: object = "",
    games: Mapping[str, Any] | None = None,
) -> Timeline:
    """The answer: a list at a time or by peaks, or the times of one player."""
    answer = Timeline(
        shown=Table((), ()),
        history=history,
        players=players,
        times=times,
        pool=pool,
        level=level,
        games=games or {},
        problems=problems or {},
        remarks=[*told_copies(duplicates), *_remarks(pool, problems or {})],
        estimates=_LastEstimates(history, players, level),
        head=(
            f"{counted(len(players), 'player')}, {counted(int(history.table.games.sum()), 'game')}, "
            f"{times[0]} to {times[-1]}; a strength changes by {history.walk:.1f} Elo in a month; "
            f"White {history.white_advantage:+.1f}, draws {100 * history.draw_rate:.1f} %"
        ),
    )
    if player is not None:
        shown = answer.moments(player)
        return replace(answer, shown=shown, data=shown, chart=chart, player=player)
    shown = answer.standings(on, peak=peak, least=least)
    return replace(answer, shown=shown, data=shown if peak or on is not None else None)


def _remarks(pool: NDArray[np.int32], problems: Mapping[str, int]) -> list[str]:
    remarks = [f"assay: warning: left out: {described(problems)}."] if problems else []
    if (pools := int(pool.max()) + 1) > 1:
        remarks.append(
            f"assay: warning: no games connect {pools:,} pools of players; each has its own ranks, and ratings "
            "compare within a pool alone."
        )
    return remarks


class _LastEstimates(Mapping[str, Estimate]):
    """The estimate of each player at the end, made when it is asked for."""

    def __init__(self, history: History, players: Sequence[str], level: float) -> None:
        self.history, self.players, self.factor, self.level = history, players, confidence_factor(level), level

    @cached_property
    def _places(self) -> dict[str, int]:
        who = self.history.moments.player
        last = np.flatnonzero(np.concatenate((who[1:] != who[:-1], [True])))
        return {self.players[who[at]]: at for at in last.tolist()}

    def __getitem__(self, name: str) -> Estimate:
        at = self._places[name]
        value, half = float(self.history.ratings[at]), float(self.history.deviation[at] * self.factor)
        return Estimate.about(value, half, self.level)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _columns(names: Sequence[str], *, several: bool = True) -> tuple[Column, ...]:
    wide = {"peak_error", *(() if several else ("pool",))}
    return tuple(Column(name, "", _DECIMALS.get(name, 2), name in wide) for name in names)


def _chart(rows: Sequence[Mapping[str, Any]]) -> str:
    """The times of a player as lines: a mark at the rating, dashes as far as the error goes."""
    low: float = min(row["rating"] - row["error"] for row in rows)
    high: float = max(row["rating"] + row["error"] for row in rows)
    scale = (_WIDEST_CHART - 1) / max(high - low, 1.0)

    def place(value: float) -> int:
        return math.floor((value - low) * scale + 0.5)

    longest = min(max(len(row["time"]) for row in rows), 24)
    lines = [f"{'':{longest}}  {low:<{_WIDEST_CHART // 2}.0f}{high:>{_WIDEST_CHART // 2}.0f}"]
    for row in rows:
        begin, end = place(row["rating"] - row["error"]), place(row["rating"] + row["error"])
        bar = list(" " * begin + "-" * (end - begin + 1))
        bar[place(row["rating"])] = "o"
        lines.append(f"{row['time'][:longest]:{longest}}  {''.join(bar)}")
    return "\n".join(lines)
