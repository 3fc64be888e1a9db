"""The rows of indexes without the games that occur more than once.

An index does not hold the moves. So games that share players and length, and have nothing that makes them two, are
looked up in the files that were indexed, or in the index itself if it keeps their text; of nearly all games nothing is
read. Where the files are gone, games are taken for one if players, length, result, date, round and event are all there
and equal.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import polars as pl

from assay.errors import AssayWarning, InputError
from assay.games.catalog import PART, Index, collect, read_rows
from assay.games.columns import TEXT_TAGS
from assay.games.duplicates import (
    UNREAD,
    Codes,
    Column,
    Duplicates,
    Numbers,
    Places,
    duplicates_of,
    instead_of_moves,
    may_be_copies,
    repeats,
    shared_keys,
)
from assay.games.fingerprints import fingerprints_of
from assay.games.reader import batched

_ROW = "_row"
_BATCH = 5_000
_LICHESS = "https://lichess.org/"
_TAGS = {
    tag: name
    for name, tag in TEXT_TAGS.items()
    if name in ("white", "black", "result", "date", "round", "event", "site")
}


def once(indexes: Sequence[Index], rows: pl.LazyFrame) -> tuple[pl.LazyFrame, Duplicates]:
    """These rows (of :func:`assay.games.catalog.rows_of`) without those of games that occur again; and which they are.

    Their numbers are counted among these rows, from 1.
    """
    numbered = rows.with_row_index(_ROW)
    if (places := _same_address(indexes, rows)) is None:
        names = collect(rows.select("white", "black", "plies"), indexes)
        columns = {"White": _column(names["white"]), "Black": _column(names["black"])}
        places = may_be_copies(columns, names["plies"].fill_null(0).to_numpy())
    if not len(places):
        return rows, Duplicates()
    wanted = pl.LazyFrame({_ROW: places}, schema={_ROW: pl.UInt32})
    chosen = collect(numbered.join(wanted, on=_ROW, how="semi", maintain_order="left"), indexes)
    tags = {tag: _column(chosen[name]) for tag, name in _TAGS.items()}
    plies = chosen["plies"].fill_null(0).to_numpy()
    moves = np.where(plies > 0, UNREAD, np.uint64(0))
    first = repeats(tags, moves, plies, lambda at: _look(indexes, chosen, tags, plies, at))
    found = duplicates_of(first, tags, places)
    if not found:
        return rows, found
    dropped = pl.LazyFrame({_ROW: [each.number - 1 for each in found.found]}, schema={_ROW: pl.UInt32})
    return numbered.join(dropped, on=_ROW, how="anti", maintain_order="left").drop(_ROW), found


def _same_address(indexes: Sequence[Index], rows: pl.LazyFrame) -> Places | None:
    """The rows that share their address with another, where every game has one of its own; None if not all have.

    In the archives of Lichess every game has one, so that nothing else of them need be read.
    """
    site = pl.col("site").cast(pl.String)
    own = (site.str.starts_with(_LICHESS) & (site.str.len_bytes() == len(_LICHESS) + 8)).fill_null(False)
    if not collect(rows.select(own.all()), indexes).item():
        return None
    return shared_keys(collect(rows.select(site.hash()), indexes).to_series().to_numpy())


def _column(series: pl.Series) -> Column:
    column = series.to_arrow().dictionary_encode()
    return column.indices.fill_null(-1).to_numpy(zero_copy_only=False), column.dictionary.to_pylist()


def _look(
    indexes: Sequence[Index], rows: pl.DataFrame, tags: dict[str, Column], plies: Codes, places: Places
) -> Numbers:
    """The moves of these of the rows, as numbers."""
    found = np.zeros(len(places), np.uint64)
    asked = rows[places].select(PART, "source", "start_offset", "end_offset").with_row_index(_ROW)
    for number, index in enumerate(indexes):
        mine = asked.filter(pl.col(PART) == number)
        at = mine[_ROW].to_numpy()
        if not len(at):
            continue
        try:
            found[at] = moves_of(index, mine)
        except InputError as error:
            warnings.warn(
                f"moves could not be compared: {str(error).rstrip('.')}. Games count once if players, length, result, "
                "date, round and event are all there and equal.",
                AssayWarning,
                stacklevel=2,
            )
            found[at] = instead_of_moves(tags, plies, places[at])
    return found


def moves_of(index: Index, spans: pl.DataFrame) -> Numbers:
    """The moves of these rows of an index (`source`, `start_offset`, `end_offset`), as numbers, in their order."""
    where = ["source", "start_offset"]
    asked = spans.select(*where, "end_offset")
    found = []
    for games in batched(read_rows(index, asked.unique().sort(where)), _BATCH):
        columns = ([game.source for game in games], [game.start_offset for game in games], fingerprints_of(games).keys)
        schema = {"source": pl.String, "start_offset": pl.Int64, "moves": pl.UInt64}
        found.append(pl.DataFrame(dict(zip(schema, columns, strict=True)), schema=schema))
    read = pl.concat(found).unique(where)
    joined = asked.with_columns(pl.col("source").cast(pl.String)).join(
        read, on=where, how="left", maintain_order="left"
    )
    return joined["moves"].fill_null(0).to_numpy()
