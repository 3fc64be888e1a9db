"""Index files, opened and checked, and the very bytes of their games, to read and to write."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from assay import manifest
from assay.errors import InputError
from assay.games import stamp
from assay.games.columns import COLUMNS, MOVETEXT
from assay.games.indexing import KIND, METADATA, manifest_path
from assay.games.reader import Game, pick
from assay.games.stream import STDIN, Stream, is_index
from assay.games.where import INDEX_TYPES, compile_where
from assay.paths import atomic, note_input
from assay.progress import Progress

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
            stamp.check(file)
        about = _about(file)
        rows = pl.scan_parquet(file, glob=False) if file.suffix == ".parquet" else _scan_csv(file)
        missing = [name for name in COLUMNS if name not in rows.collect_schema()]
    if missing:
        raise InputError(f"{file} is not an index of games: it has no column {missing[0]}.")
    try:
        inputs = {str(item["name"]): dict(item) for item in about.get("inputs", [])}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file} does not tell what it is an index of; index the games again.") from error
    return Index(file, rows, inputs, places or {})


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


def open_indexes(paths: Sequence[str | Path], places: Mapping[str, Path] | None = None) -> list[Index]:
    """Open several indexes; neither they nor the files they are made from can be written over meanwhile."""
    opened = [open_index(path, places) for path in paths]
    for index in opened:
        note_index(index)
    return opened


def note_index(index: Index) -> None:
    """Remember that an index is read: neither it nor the files that it is made from can be written over then."""
    for path in (index.path, *(path for source in index.inputs for path in _places(index, source))):
        note_input(path)


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
    return pl.scan_csv(file, schema_overrides=INDEX_TYPES, glob=False)


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
