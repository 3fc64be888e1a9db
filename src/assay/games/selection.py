"""Which games count, as Regan and Haworth choose theirs (RH11, section 5): none between teams, none of large Swisses.

Both are told by tags alone. Whether an event is one of teams is in its name, in many languages; how large its field was
is counted where all of it is, in an archive, since a file of chosen games holds only a few players of each event.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import polars as pl

from assay.errors import InputError
from assay.games.catalog import Index, collect
from assay.games.source import read
from assay.games.split import Game
from assay.games.stream import Paths
from assay.records import dataclass

TEAMS, CROWDED = "team game", "game of crowded events"  # what is left out
_ROW = "_row"
_TAGS = {"event": "Event", "site": "Site", "date": "Date", "round": "Round", "white": "White", "black": "Black"}
_KEY = ("event", "site", "year")
_TEAM_TAGS = ("WhiteTeam", "BlackTeam")
# Words of names of team events: championships and leagues of teams, clubs, cities and nations in many languages. A
# "TCh" is a team championship in the archives, a "CTO" a club championship, "ECC" the European club cup.
_TEAMS = re.compile(
    r"(?<!s)team|\bt-?ch\b|\btch[w\d]|\bch-?t\b|\betcc|\bwtcc|\becc\b|\beccw\b|\bcto\b|\beu-?cup|euro(pean)?[ -]?club"
    r"|olympi(ad|c)|\bol small|\bu\d\d ol\b|lig(a|e|an|aen)\b|ligue|league|liiga|4ncl|mitropa|\bclubs\b|club (cup|team)"
    r"|interclub|collegiate|college chess|varsity"
    r"|\bklubi|klubow|nationale\b|\bnational [123i]+\b|\bnat\d|top ?(12|16)\b|equip[oae]s?\b|squadr[ae]|mannschaft"
    r"|ploeg|divisie|meesterklasse|klasse\b|allsvenskan|elitserien|eliteserien|superettan|divisjon|\bdiv(ision)?\b"
    r"|druzyn|druz?st|csapat|\bnb ?i+\b|scheven|nations\b|\bcities\b|ceclub|landskamp|l(ä|ae)nderkampf"
    r"|(croatian|serbian?|russian?|israeli?|greek) cup|(?-i:\b[A-Z]{3}-[A-Z]{3}\b)|\w vs\.? ",
    re.IGNORECASE,
)


@lru_cache(maxsize=100_000)
def is_team_event(name: str) -> bool:
    """Whether an event is one of teams, by its name.

    >>> [is_team_event(name) for name in ("TCh-FRA Top 16", "4NCL 2008-09", "Bundesliga 0607", "16th ECC", "SVK-chT")]
    [True, True, True, True, True]
    >>> [is_team_event(name) for name in ("Corus A", "Dutch Open", "Candidates Match", "Chess Club Championship")]
    [False, False, False, False]
    """
    return bool(_TEAMS.search(name))


@dataclass(frozen=True)
class GameSelection:
    """What is left out: games between teams, events with more players a round than `max_swiss`.

    The players and rounds of an event are counted in the games themselves and in the `archive`, any games or indexes.

    >>> import assay
    >>> games, why = GameSelection(exclude_team=True).of(assay.read(assay.SAMPLE).all())
    >>> len(games), dict(why)
    (6, {'team game': 0})
    """

    exclude_team: bool = False
    max_swiss: float | None = None
    archive: Paths = ()

    def __post_init__(self) -> None:
        if self.archive and self.max_swiss is None:
            raise InputError("an archive tells how large events were: give --max-swiss N with it, 6 as in the papers.")

    def __bool__(self) -> bool:
        return self.exclude_team or self.max_swiss is not None

    def __str__(self) -> str:
        """How the games were selected, for a manifest."""
        said = ["no team events"] if self.exclude_team else []
        if self.max_swiss is not None:
            where = " of an archive" if self.archive else " of these files"
            said.append(f"no event with more than {self.max_swiss:g} players a round, by the games{where}")
        return ", ".join(said) or "as given"

    def of(self, games: Sequence[Game]) -> tuple[list[Game], Counter[str]]:
        """The games that are left, and how many are not, by reason."""
        tags = [game.tags for game in games]
        columns = {name: [one.get(tag, "") for one in tags] for name, tag in _TAGS.items()}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(_TAGS, pl.String))
        teams = [any(one.get(tag, "").strip("? ") for tag in _TEAM_TAGS) for one in tags]
        kept, why = self._kept(frame, pl.Series(teams, dtype=pl.Boolean))
        return [game for game, keep in zip(games, kept, strict=True) if keep], why

    def rows(self, rows: pl.LazyFrame, indexes: Sequence[Index]) -> tuple[pl.LazyFrame, Counter[str]]:
        """The rows of indexes that are left, and how many are not; an index has no tags of teams."""
        frame = collect(rows.select(pl.col(name).cast(pl.String) for name in _TAGS), indexes)
        kept, why = self._kept(frame, pl.Series([False] * frame.height, dtype=pl.Boolean))
        left = pl.LazyFrame({_ROW: kept.arg_true()}, schema={_ROW: pl.UInt32})
        numbered = rows.with_row_index(_ROW)
        return numbered.join(left, on=_ROW, how="semi", maintain_order="left").drop(_ROW), why

    def _kept(self, frame: pl.DataFrame, teams: pl.Series) -> tuple[pl.Series, Counter[str]]:
        kept, why = pl.Series([True] * frame.height, dtype=pl.Boolean), Counter[str]()
        if self.exclude_team:
            named = [is_team_event(event or "") for event in frame["event"]]
            kept &= ~(teams | pl.Series(named, dtype=pl.Boolean))
            why[TEAMS] = int((~kept).sum())
        if self.max_swiss is not None:
            fields = [_fields(frame.lazy(), [])]
            if self.archive:
                games = read(self.archive)
                fields.append(_fields(games.rows(keep_duplicates=True)[0], games.indexes))
            crowded = _crowded(frame, pl.concat(fields), self.max_swiss)
            why[CROWDED] = int((kept & crowded).sum())
            kept &= ~crowded
        return kept, why


def _year() -> pl.Expr:
    return pl.col("date").cast(pl.String).fill_null("").str.slice(0, 4).alias("year")


def _fields(rows: pl.LazyFrame, indexes: Sequence[Index]) -> pl.DataFrame:
    """Who played in each event, and the highest round: one row per event and player."""
    texts = [pl.col(name).cast(pl.String).fill_null("") for name in ("event", "site")]
    number = pl.col("round").cast(pl.String).str.extract(r"^\s*(\d{1,2})(?:\D|$)").cast(pl.Int32).alias("round")
    sides = [
        rows.select(*texts, _year(), number, pl.col(side).cast(pl.String).alias("player"))
        for side in ("white", "black")
    ]
    return collect(pl.concat(sides).group_by(*_KEY, "player").agg(pl.col("round").max()), indexes)


def _crowded(frame: pl.DataFrame, fields: pl.DataFrame, most: float) -> pl.Series:
    """Which games are of events with more players a round; an event without rounds in its tags is not known to be."""
    sizes = fields.group_by(*_KEY).agg(pl.col("player").n_unique().alias("players"), pl.col("round").max())
    keys = frame.select(pl.col("event").fill_null(""), pl.col("site").fill_null(""), _year())
    found = keys.join(sizes, on=_KEY, how="left", maintain_order="left")
    return found.select((pl.col("players") > most * pl.col("round")).fill_null(False)).to_series()
