"""One typed row per game, written as Parquet or CSV."""

from __future__ import annotations

import json
import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from assay import manifest
from assay.errors import InputError, OutputError
from assay.games.columns import MOVETEXT, SCHEMA, TEXT, WITH_MOVETEXT, rows
from assay.games.split import Piece, pieces, split_piece
from assay.games.stream import STDIN, Paths, Stream, find_files, is_elsewhere, is_index
from assay.paths import atomic
from assay.printable import FORMULA_CELL
from assay.progress import Progress
from assay.records import dataclass

KIND = "games index"
METADATA = b"assay"  # the key of the manifest among a Parquet file's metadata
_PIECE = 8 << 20
_AHEAD = 8  # pieces in work at a time
_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 64 << 20
_PLAIN = ("start_offset", "end_offset")
_Found = tuple[pa.RecordBatch, Counter[str], int]  # the rows that are chosen, what is wrong, how many games there are


@dataclass(frozen=True)
class IndexedSource:
    """One file that was indexed."""

    source: str
    games: int
    bytes: int  # uncompressed
    size: int  # on disk
    xxh128: str
    damage: str | None  # why the file could not be read to its end, or why it has no games
    problems: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class IndexReport:
    """What was indexed, file by file."""

    output: str
    sources: tuple[IndexedSource, ...]

    @property
    def games(self) -> int:
        """Games in the index."""
        return sum(source.games for source in self.sources)

    @property
    def damaged(self) -> tuple[IndexedSource, ...]:
        """The sources that could not be read to their end."""
        return tuple(source for source in self.sources if source.damage)


def index(
    paths: Paths,
    output: str | Path,
    *,
    where: str | None = None,
    movetext: bool = False,
    threads: int | None = None,
    names: Mapping[str, str] | None = None,
    quiet: bool = True,
) -> IndexReport:
    """Index PGN files (and folders of them, and `-` for stdin) into one `.parquet` or `.csv` file.

    Of other indexes the rows are taken over. `where` is a filter over the columns: only such games are in the index.
    `movetext` keeps the bytes of the games too (Parquet only), so that nothing needs the files later. A damaged file
    is indexed as far as it can be read; the report says so. Files without a single game raise
    :class:`~assay.errors.InputError`, and nothing is written. Games from elsewhere ("lichess:USER") are written into a
    PGN file beside the index. `names` are those of files that are copies of others.
    """
    files = find_files(paths)
    target = Path(output)
    if where is not None:
        from assay.games.where import compile_where

        compile_where(where)  # what is wrong with it is said before anything is read
    if target.suffix not in (".parquet", ".csv"):
        raise OutputError(f"cannot write {target}: an index is a .parquet or a .csv file.")
    if movetext and target.suffix == ".csv":
        raise OutputError("the game text needs a Parquet index: name the output INDEX.parquet.")
    if str(target) in files:
        raise OutputError(f"{target} is both input and output.")
    files = [_beside(target, file) if is_elsewhere(file) else file for file in files]
    done: list[IndexedSource] = []
    with atomic(target) as part:
        writer = (_ParquetWriter if target.suffix == ".parquet" else _CsvWriter)(part, movetext=movetext)
        try:
            workers = threads or os.cpu_count() or 1
            with nullcontext() if workers == 1 else ThreadPoolExecutor(workers) as pool:
                total = sum(0 if file == STDIN else Path(file).stat().st_size for file in files) or None
                with Progress("indexing", total, unit="bytes", quiet=quiet) as progress:
                    for file in files:
                        if is_index(file):
                            done += _taken_over(file, writer, where, movetext)
                            continue
                        name = (names or {}).get(file)
                        done.append(_index_one(file, name, writer, pool, progress, where, movetext=movetext))
            about = manifest.make(KIND, inputs=[_describe(source) for source in done], settings={"movetext": movetext})
            writer.close(about)
        finally:
            writer.abandon()
        report = IndexReport(str(target), tuple(done))
        if not report.games and where is not None:
            raise InputError(f"no game fits --where {where!r}.")
        if not report.games:
            raise InputError(" ".join(f"{source.source}: {source.damage}." for source in done))
    if target.suffix == ".csv":
        manifest.write(manifest_path(target), about)
    return report


def _beside(index: Path, address: str) -> str:
    """Fetch games into a file beside their index: it tells where they are, so that they must stay."""
    from assay.games.source import fetched

    name = re.sub(r"[^A-Za-z0-9]+", "-", address.partition("://")[2] or address).strip("-")
    return fetched(address, index.with_name(f"{name[:100]}.pgn"))


def manifest_path(path: str | Path) -> Path:
    """Where the manifest of a file lies that cannot carry its own."""
    return Path(f"{path}.manifest.json")


def _describe(source: IndexedSource) -> dict[str, Any]:
    return {
        "name": source.source,
        "bytes": source.size,
        "xxh128": source.xxh128,
        "games": source.games,
        "damage": source.damage,
        "problems": dict(source.problems),
    }


def _index_one(
    file: str,
    name: str | None,
    writer: _ParquetWriter | _CsvWriter,
    pool: ThreadPoolExecutor | None,
    progress: Progress,
    where: str | None,
    *,
    movetext: bool,
) -> IndexedSource:
    problems: Counter[str] = Counter()
    games = found_games = length = 0
    before = progress.done
    with Stream(file, hashed=True, name=name) as stream:
        make = partial(_rows, file=stream.name, movetext=movetext, where=where)
        for piece, (batch, found, count) in _in_order(pool, pieces(stream, block=_PIECE), make):
            writer.write(batch)
            problems.update(found)
            games += len(batch)
            found_games += count
            length = piece.end
            progress.update(before + stream.size)
        damage = stream.problem
        if not found_games and not damage:
            damage = "the file is empty" if not length else "there is no game in it (is it PGN?)"
        return IndexedSource(stream.name, games, length, stream.size, stream.xxh128, damage, problems)


def _rows(piece: Piece, *, file: str, movetext: bool, where: str | None) -> _Found:
    problems: Counter[str] = Counter()
    batch = rows(split_piece(piece, problems), file, problems, movetext=movetext)
    if where is None:
        return batch, problems, len(batch)
    from assay.games.where import compile_where, holds

    return batch.filter(pa.array(holds(compile_where(where), batch))), problems, len(batch)


def _taken_over(
    file: str, writer: _ParquetWriter | _CsvWriter, where: str | None, movetext: bool
) -> list[IndexedSource]:
    """Write the rows of another index; the files that it was made from are the sources of this one, too."""
    from assay.games.catalog import collect, open_index
    from assay.games.where import compile_where

    opened = open_index(file)
    if movetext and not opened.has_movetext:
        raise InputError(f"{file} does not hold the text of the games; name the files that it was made from.")
    schema = WITH_MOVETEXT if movetext else SCHEMA
    chosen = opened.rows if where is None else opened.rows.filter(compile_where(where))
    frame = collect(chosen.select(schema.names), [opened])
    for batch in frame.to_arrow().cast(schema).to_batches(_GROUP_ROWS):
        writer.write(batch)
    games = Counter(frame["source"].to_list())
    return [
        IndexedSource(name, games[name], 0, about["bytes"], about["xxh128"], about.get("damage"))
        for name, about in opened.inputs.items()
    ]


def _in_order(
    pool: ThreadPoolExecutor | None, todo: Iterator[Piece], make: Callable[[Piece], _Found]
) -> Iterator[tuple[Piece, _Found]]:
    """Work on a few pieces at a time, so that memory stays bounded, and hand out the results in order."""
    if pool is None:
        for piece in todo:
            yield piece, make(piece)
        return
    waiting: deque[tuple[Piece, Future[_Found]]] = deque()
    for piece in todo:
        waiting.append((piece, pool.submit(make, piece)))
        if len(waiting) > _AHEAD:
            first, result = waiting.popleft()
            yield first, result.result()
    while waiting:
        first, result = waiting.popleft()
        yield first, result.result()


class _ParquetWriter:
    """Writes row groups of a good size; strings with one dictionary per group."""

    def __init__(self, path: Path, *, movetext: bool) -> None:
        self.schema = WITH_MOVETEXT if movetext else SCHEMA
        texts = [f.name for f in self.schema if f.type == TEXT]
        self._path = path
        # Opened here and not by Arrow, whose errors name the temporary file.
        self._file = path.open("wb")
        self._writer = pq.ParquetWriter(
            self._file,
            self.schema,
            # The columns are small either way, and lz4 costs least; text is worth more.
            compression={name: "zstd" if name == MOVETEXT else "lz4" for name in self.schema.names},
            use_dictionary=texts,
            write_statistics=[name for name in self.schema.names if name not in (*texts, MOVETEXT)],
            column_encoding=dict.fromkeys(_PLAIN, "DELTA_BINARY_PACKED"),
            store_schema=False,
        )
        self._open = True
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(batch)
        self._rows += len(batch)
        self._bytes += batch[MOVETEXT].nbytes if MOVETEXT in self.schema.names else 0
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            table = pa.Table.from_batches(self._waiting, self.schema).unify_dictionaries()
            self._writer.write_table(table, row_group_size=len(table) or None)
            self._waiting, self._rows, self._bytes = [], 0, 0

    def close(self, about: dict[str, Any]) -> None:
        self._flush()
        about = {**about, manifest.STAMP: manifest.UNSTAMPED}
        self._writer.add_key_value_metadata({METADATA: json.dumps(about, ensure_ascii=False).encode()})
        self.abandon()
        manifest.stamp(self._path)

    def abandon(self) -> None:
        """Close the file, whatever it holds; without effect the second time."""
        if self._open:
            self._open = False
            self._writer.close()
            self._file.close()


class _CsvWriter:
    """Writes plain CSV; null is an empty field, and no text acts as a formula of a spreadsheet."""

    def __init__(self, path: Path, *, movetext: bool) -> None:
        self.schema = pa.schema([(f.name, pa.string() if f.type == TEXT else f.type) for f in SCHEMA])
        self._file = path.open("wb")
        options = pacsv.WriteOptions(quoting_style="needed", quoting_header="none")
        self._writer = pacsv.CSVWriter(self._file, self.schema, write_options=options)

    def write(self, batch: pa.RecordBatch) -> None:
        plain = batch.cast(self.schema)
        columns = [
            pc.replace_substring_regex(column, f"(?s)^{FORMULA_CELL}", r"'\1") if field.type == pa.string() else column
            for field, column in zip(self.schema, plain.columns, strict=True)
        ]
        self._writer.write_batch(pa.record_batch(columns, schema=self.schema))

    def close(self, about: dict[str, Any]) -> None:
        self.abandon()

    def abandon(self) -> None:
        self._writer.close()
        self._file.close()
