"""Index files, opened and checked; the very bytes of their games, to read and to write; games that occur again.

An index does not hold the moves. So games that share players and length, and have nothing that makes them two, are
looked up in the files that were indexed, or in the index itself if it keeps their text; of nearly all games nothing is
read. Where the files are gone, games are taken for one if players, length, result, date, round and event are all there
and equal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from polars import selectors

from assay import manifest
from assay.errors import InputError
from assay.games.columns import COLUMNS, LATER, MOVETEXT, TEXT_TAGS
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
    places_in,
    repeats,
    shared_keys,
    warn_without_moves,
)
from assay.games.indexing import KIND, METADATA, manifest_path
from assay.games.movetext import fingerprints_of
from assay.games.split import Game, batched, pick
from assay.games.stream import STDIN, Stream, is_index
from assay.games.where import INDEX_TYPES, compile_where
from assay.paths import atomic, note_input
from assay.printable import FORMULA_CELL
from assay.progress import Progress
from assay.records import dataclass

PART = "_index"  # which of several index files a row comes from
SPAN = (PART, "source", "start_offset", "end_offset")


@dataclass(frozen=True)
class Index:
    """One index file: its rows, still on disk, and what it was made from."""

    path: Path
    rows: pl.LazyFrame
    inputs: Mapping[str, Mapping[str, Any]]  # by source: bytes and hash of the file that was indexed
    places: Mapping[str, Path] = field(default_factory=dict)  # where sources lie that have moved

    @property
    def has_movetext(self) -> bool:
        """Whether the index holds the text of the games."""
        return MOVETEXT in self.rows.collect_schema()


def open_index(path: str | Path, places: Mapping[str, Path] | None = None) -> Index:
    """Open an index file; a file that is none is refused. `places` says where sources lie that have moved."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no index {file}; make one with: assay index FILE... -o {file}")
    if not is_index(file):
        raise InputError(
            f"{file} is not an index (.parquet or .csv); make one with: assay index {file} -o INDEX.parquet"
        )
    with reading([file]):
        if file.suffix == ".parquet":
            manifest.check_stamp(file)
        about = _about(file)
        rows = pl.scan_parquet(file, glob=False) if file.suffix == ".parquet" else _scan_csv(file)
        columns = rows.collect_schema()
        missing = [name for name in COLUMNS if name not in columns and name not in LATER]
    if missing:
        raise InputError(f"{file} is not an index of games: it has no column {missing[0]}.")
    try:
        inputs = {str(item["name"]): dict(item) for item in about.get("inputs", [])}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file} does not tell what it is an index of; index the games again.") from error
    return Index(file, _as_now(rows, columns), inputs, places or {})


def _as_now(rows: pl.LazyFrame, columns: Mapping[str, pl.DataType]) -> pl.LazyFrame:
    """The rows of an index as they are made now: those of earlier versions lack columns and have whole seconds."""
    older = [pl.lit(None, INDEX_TYPES[name]).alias(name) for name in LATER if name not in columns]
    clocks = [name for name in ("base_seconds", "increment_seconds") if columns[name] != INDEX_TYPES[name]]
    older += [pl.col(name).cast(INDEX_TYPES[name]) for name in clocks]
    return rows.with_columns(*older) if older else rows


@contextmanager
def reading(files: Sequence[Path]) -> Iterator[None]:
    """While the block reads these files, damage in them is an InputError."""
    try:
        yield
    except (pa.ArrowException, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        named = files[0] if len(files) == 1 else f"one of these {len(files)} indexes"
        why = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(f"cannot read {named}: {why}. If it is damaged, index the games again.") from error


def collect(frame: pl.LazyFrame, indexes: Sequence[Index], **how: Any) -> pl.DataFrame:
    """Compute a frame made of the rows of these indexes; InputError if one of them is damaged."""
    with reading([index.path for index in indexes]):
        found: pl.DataFrame = frame.collect(**how)
    return found


def open_indexes(paths: str | Path | Sequence[str | Path], places: Mapping[str, Path] | None = None) -> list[Index]:
    """Open several indexes; neither they nor the files they are made from can be written over meanwhile."""
    opened = [open_index(path, places) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    for index in opened:
        note_index(index)
    return opened


def note_index(index: Index) -> None:
    """Remember that an index is read: neither it nor the files that it is made from can be written over then."""
    for path in (index.path, *(path for source in index.inputs for path in _places(index, source))):
        note_input(path)


def contents_of(index: Index) -> dict[str, str]:
    """The hashes of the files that an index was made from, as far as it tells them."""
    return {source: about["xxh128"] for source, about in index.inputs.items() if about.get("xxh128")}


def rows_of(indexes: Sequence[Index], expression: str | None = None) -> pl.LazyFrame:
    """The rows of all these indexes that the filter lets through; `_index` tells from which each comes."""
    frames = [index.rows.select(*COLUMNS, pl.lit(number, pl.Int32).alias(PART)) for number, index in enumerate(indexes)]
    rows = pl.concat(frames)
    return rows.filter(compile_where(expression)) if expression else rows


def _about(file: Path) -> dict[str, Any]:
    """The manifest of an index."""
    if file.suffix == ".parquet":
        found = (pq.read_metadata(file).metadata or {}).get(METADATA)
        if found is None:
            raise InputError(f"{file} was not made by 'assay index': it does not say what it is an index of.")
        about: dict[str, Any] = json.loads(found)
        return about
    beside = manifest_path(file)
    return manifest.read(beside, KIND) if beside.is_file() else {}


def _scan_csv(file: Path) -> pl.LazyFrame:
    rows = pl.scan_csv(file, schema_overrides=INDEX_TYPES, glob=False)
    return rows.with_columns(selectors.string().str.replace(f"(?s)^'{FORMULA_CELL}", "${1}"))


def read_rows(index: Index, spans: pl.DataFrame) -> Iterator[Game]:
    """The games of these rows (`source`, `start_offset`, `end_offset`, in file order), byte for byte.

    They come from the index itself if it holds the text, else from the indexed files, which must not have changed
    since: their size is checked first, and their hash as they are read.
    """
    if index.has_movetext:
        yield from _from_text(index, spans)
        return
    for source in spans["source"].unique(maintain_order=True):
        yield from _from_source(index, source, spans.filter(pl.col("source") == source))


def _from_text(index: Index, spans: pl.DataFrame) -> Iterator[Game]:
    key = ["source", "start_offset"]
    texts = index.rows.select(*key, "end_offset", MOVETEXT)
    chosen = texts.join(spans.lazy().select(key), on=key, how="semi", maintain_order="left")
    for row in collect(chosen, [index], engine="streaming").iter_rows():
        yield Game(*row)


def _from_source(index: Index, source: str, spans: pl.DataFrame) -> Iterator[Game]:
    about = index.inputs.get(source)
    path = _find_source(index, source)
    if about is None:
        raise InputError(f"{index.path} does not tell what {source} was when it was indexed; index it again.")
    changed = InputError(
        f"{path} is not the file that {index.path} was made from (its size or content has changed); index it again."
    )
    if not {"bytes", "xxh128"} <= set(about):
        raise InputError(f"{index.path} does not tell the size of {source}; index it again.")
    if path.stat().st_size != about["bytes"]:
        raise changed
    with Stream(path, hashed=True) as stream:
        pairs = zip(spans["start_offset"].to_list(), spans["end_offset"].to_list(), strict=True)
        yield from pick(stream, source, list(pairs))
        stream.drain()
        if stream.xxh128 != about["xxh128"]:
            raise changed


def _places(index: Index, source: str) -> tuple[Path, Path]:
    """Where an indexed file may be: where it was, or beside the index."""
    return index.places.get(source, Path(source)), index.path.parent / Path(source).name


def _find_source(index: Index, source: str) -> Path:
    """The file that was indexed: where it was, or beside the index."""
    if source == STDIN and source not in index.places:
        raise InputError(
            f"the games of {index.path} came from stdin and are gone; index with --movetext to keep their text."
        )
    for path in _places(index, source):
        if path.is_file():
            return path
    raise InputError(
        f"{source}, from which {index.path} was made, is not there (nor beside the index): put it there, or index the "
        "games again (with --movetext an index needs nothing else)."
    )


def games_of(indexes: Sequence[Index], spans: pl.DataFrame) -> Iterator[Game]:
    """The games of these rows (see SPAN), index after index, each in file order."""
    for number, index in enumerate(indexes):
        mine = spans.filter(pl.col(PART) == number)
        if mine.height:
            yield from read_rows(index, mine.sort("source", "start_offset", maintain_order=True))


def write_games(games: Iterable[Game], path: str | Path, *, total: int | None = None, quiet: bool = True) -> int:
    """Write games as PGN, byte for byte as they were found, an empty line between them; how many there were."""
    count = 0
    with (
        atomic(path) as part,
        part.open("wb") as file,
        Progress("writing games", total, unit="games", quiet=quiet) as progress,
    ):
        for game in games:
            file.write(game.data)
            file.write(b"\r\n\r\n" if b"\r\n" in game.data else b"\n\n")
            count += 1
            progress.update(count)
    return count


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
    contents = [contents_of(index) for index in indexes]
    listed = Counter(content for each in contents for content in set(each.values()))
    if max(listed.values(), default=0) > 1:  # two indexes of one file
        _, lies = _whence(collect(rows.select(PART, "source", "start_offset"), indexes), contents)
        again = shared_keys(lies)
        places = np.union1d(places, again[lies[again] != 0])
    if not len(places):
        return rows, Duplicates()
    wanted = pl.LazyFrame({_ROW: places}, schema={_ROW: pl.UInt32})
    chosen = collect(numbered.join(wanted, on=_ROW, how="semi", maintain_order="left"), indexes)
    tags = {tag: _column(chosen[name]) for tag, name in _TAGS.items()}
    plies = chosen["plies"].fill_null(0).to_numpy()
    moves = np.where(plies > 0, UNREAD, np.uint64(0))
    look = partial(_look, indexes, chosen, tags, plies)
    first = repeats(tags, moves, plies, look, *_whence(chosen, contents))
    found = duplicates_of(first, tags, places)
    if not found:
        return rows, found
    dropped = pl.LazyFrame({_ROW: [each.number - 1 for each in found.found]}, schema={_ROW: pl.UInt32})
    return numbered.join(dropped, on=_ROW, how="anti", maintain_order="left").drop(_ROW), found


def _whence(rows: pl.DataFrame, contents: Sequence[Mapping[str, str]]) -> tuple[Numbers, Numbers]:
    """From which file each row comes and where it lies there, as :func:`repeats` takes them."""
    codes, names = _column(rows["source"])
    listed = [*names, None]
    kinds, files = np.unique(
        rows[PART].to_numpy().astype(np.int64) * len(listed) + codes % len(listed), return_inverse=True
    )
    known = [contents[kind // len(listed)].get(listed[kind % len(listed)] or "", "") for kind in kinds.tolist()]
    return files.astype(np.uint64), places_in(known, files, rows["start_offset"].fill_null(-1).to_numpy())


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
            warn_without_moves(error)
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
