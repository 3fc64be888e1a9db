"""The exchange format as Parquet: a row per position, scores as nested lists, built without a loop over moves.

Columns are those of the JSON lines, flat: `limit` becomes `depth`, `lines`, `node_limit`, and `scores` becomes `cp` and
`mate`, for each depth from 1 on a list in the order of `moves`; of the two exactly one is set for a value, and neither
where the engine gave none.

How much a file says that it holds is read from its footer (Thrift's compact protocol): PyArrow tells the same, but ends
the process where the description of a column is damaged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from assay import manifest
from assay.engine import score
from assay.engine.identity import NO_DEPTH
from assay.engine.store import Kept, LeftOut, Store
from assay.engine.uci import Valued
from assay.errors import InputError
from assay.games.packed import decode_move, to_fen
from assay.progress import Progress
from assay.records import dataclass

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_DEEPEST = 16
_ROW_GROUPS, _COLUMNS, _META_DATA, _NUM_ROWS, _NUM_VALUES, _UNCOMPRESSED = 4, 1, 3, 3, 5, 6


@dataclass(frozen=True)
class Group:
    """What the footer says of a group of rows."""

    rows: int
    values: int  # of all its columns
    largest: int  # bytes of its largest column, unpacked


def groups(path: Path) -> list[Group]:
    """The groups of rows of a file; ValueError if the footer is damaged."""
    with path.open("rb") as file:
        file.seek(-8, 2)
        tail = file.read(8)
        size = int.from_bytes(tail[:4], "little")
        file.seek(-8 - size, 2)
        footer = file.read(size)
    try:
        found = _Compact(footer).struct()
        return [_group(one) for one in found[_ROW_GROUPS]]
    except (IndexError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("its footer is damaged") from error


def _group(described: dict[int, Any]) -> Group:
    columns = [column[_META_DATA] for column in described[_COLUMNS]]
    values = [int(column[_NUM_VALUES]) for column in columns]
    sizes = [int(column[_UNCOMPRESSED]) for column in columns]
    return Group(int(described[_NUM_ROWS]), sum(values), max(sizes, default=0))


class _Compact:
    """Thrift's compact protocol: structs as dictionaries by field number."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        value = shift = 0
        while (byte := self.byte()) & 0x80:
            value |= (byte & 0x7F) << shift
            shift += 7
        return value | byte << shift

    def integer(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def struct(self, deep: int = 0) -> dict[int, Any]:
        found: dict[int, Any] = {}
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.integer()
            found[field] = self.value(head & 15, deep)
        return found

    def value(self, kind: int, deep: int, *, within: bool = False) -> Any:
        if deep > _DEEPEST:
            raise ValueError("its footer is nested too deep")
        if kind in (_TRUE, _FALSE):
            return self.byte() == _TRUE if within else kind == _TRUE
        if kind == _BYTE:
            return self.byte()
        if kind in (_I16, _I32, _I64):
            return self.integer()
        if kind in (_DOUBLE, _BINARY):
            size = 8 if kind == _DOUBLE else self.varint()
            self.at += size
            if self.at > len(self.data):
                raise IndexError
            return self.data[self.at - size : self.at]
        if kind in (_LIST, _SET):
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15, deep + 1, within=True) for _ in range(count)]
        if kind == _MAP:
            count = self.varint()
            kinds = self.byte() if count else 0
            return [(self.value(kinds >> 4, deep + 1), self.value(kinds & 15, deep + 1)) for _ in range(count)]
        if kind == _STRUCT:
            return self.struct(deep + 1)
        raise ValueError("its footer has a field of no known kind")


_ROWS = 5_000
_MOST_ROWS = 500
_MOST_VALUES = 24_000_000  # of a group of rows: two for every depth of every move; read, they take 20 bytes each
_MOST_BYTES = 256 << 20
_VALUES_AT_ONCE = 1_000_000
_MOST_AT_ONCE = 8 << 20  # bytes; as objects of Python it is many times that
_LONGEST_TEXT = 1 << 16
_NESTED = pa.list_(pa.list_(pa.int16()))
SCHEMA = pa.schema(
    [
        ("fen", pa.string()),
        ("engine", pa.string()),
        ("net", pa.string()),
        ("options", pa.string()),
        ("depth", pa.int16()),
        ("lines", pa.int16()),
        ("node_limit", pa.int64()),
        ("legal", pa.int16()),
        ("nodes", pa.int64()),
        ("milliseconds", pa.int32()),
        ("moves", pa.list_(pa.string())),
        ("cp", _NESTED),
        ("mate", _NESTED),
        ("ends_game", pa.bool_()),
        ("skipped", pa.string()),
        ("pre_cp", pa.int16()),
        ("pre_mate", pa.int16()),
    ]
)


def write_parquet(store: Store, path: Path, progress: Progress) -> None:
    """Write every position of the store."""
    # Opened here and not by Arrow, whose errors name the temporary file.
    with (
        path.open("wb") as file,
        pq.ParquetWriter(file, SCHEMA, compression="zstd", write_page_checksum=True) as writer,
    ):
        for kept in store.kept():
            valued, games = store.all_valued(kept.id), store.games(kept.id)
            while batch := list(islice(valued, _ROWS)):
                writer.write_table(_valued_table(batch, kept, games))
                progress.advance(len(batch))
            left_out = store.all_left_out(kept.id)
            while out := list(islice(left_out, _ROWS)):
                writer.write_table(_left_out_table(out, kept))
                progress.advance(len(out))
        # Pages have checksums of their own, what tells of them has none: one of the whole file guards both.
        writer.add_key_value_metadata({"assay": json.dumps({manifest.STAMP: manifest.UNSTAMPED})})
    manifest.stamp(path)


def _head(kept: Kept, rows: int) -> dict[str, Any]:
    identity = kept.identity
    fixed = {
        "engine": identity.engine,
        "net": identity.net,
        "options": json.dumps(dict(identity.options)),
        "lines": identity.lines,
        "node_limit": identity.nodes or None,
    }
    return {name: [value] * rows for name, value in fixed.items()}


def _valued_table(batch: list[Valued], kept: Kept, games: set[bytes]) -> pa.Table:
    widths = np.array([len(result.moves) // 2 for result in batch])
    depths = np.array([result.reached for result in batch])
    codes = np.frombuffer(b"".join(result.scores for result in batch), "<i2")
    moves = np.frombuffer(b"".join(result.moves for result in batch), "<u2")
    inner, outer = _offsets(np.repeat(widths, depths)), _offsets(depths)
    cp, mate = _split(codes)
    columns = _head(kept, len(batch)) | {
        "fen": [to_fen(result.key) for result in batch],
        "ends_game": [True if result.key in games else None for result in batch],
        "depth": [result.depth if result.depth < NO_DEPTH else None for result in batch],
        "legal": [result.legal for result in batch],
        "nodes": [result.nodes for result in batch],
        "milliseconds": [result.milliseconds for result in batch],
        "moves": pa.ListArray.from_arrays(_offsets(widths), pa.array([decode_move(code) for code in moves.tolist()])),
        "cp": pa.ListArray.from_arrays(outer, pa.ListArray.from_arrays(inner, cp)),
        "mate": pa.ListArray.from_arrays(outer, pa.ListArray.from_arrays(inner, mate)),
    }
    return _table(columns, len(batch))


def _left_out_table(batch: list[LeftOut], kept: Kept) -> pa.Table:
    cp, mate = _split(np.array([result.value for result in batch], np.int16))
    columns = _head(kept, len(batch)) | {
        "fen": [to_fen(result.key) for result in batch],
        "depth": [kept.depth if kept.depth < NO_DEPTH else None] * len(batch),
        "skipped": [result.reason for result in batch],
        "pre_cp": cp,
        "pre_mate": mate,
    }
    return _table(columns, len(batch))


def _table(columns: dict[str, Any], rows: int) -> pa.Table:
    return pa.table([pa.array(columns.get(field.name, [None] * rows), field.type) for field in SCHEMA], schema=SCHEMA)


def _offsets(lengths: NDArray[np.int64]) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def _split(codes: NDArray[np.int16]) -> tuple[pa.Array, pa.Array]:
    """Score codes as centipawns and mates, each null where the other holds or neither is known."""
    wide = codes.astype(np.int32)
    is_mate = (np.abs(wide) > score.LIMIT) & (wide != score.MISSING)
    mates = np.where(wide > 0, score.MATE - wide, -score.MATE - wide)
    return (
        pa.array(codes, pa.int16(), mask=is_mate | (wide == score.MISSING)),
        pa.array(np.where(is_mate, mates, 0).astype(np.int16), pa.int16(), mask=~is_mate),
    )


def parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file; :func:`as_object` makes objects of the JSON lines of them."""
    try:
        manifest.check_stamp(path, "export the analyses again")
        about = pq.read_metadata(path)
        if missing := {"fen", "moves", "cp", "mate"} - set(about.schema.to_arrow_schema().names):
            raise InputError(f"{path} is no file of analyses: it has no column {', '.join(sorted(missing))}.")
        columns = [about.schema.column(at) for at in range(about.num_columns)]
        # As a dictionary a long text that stands in every row is held once. (Arrow cannot do so within lists.)
        texts = [c.path for c in columns if c.physical_type == "BYTE_ARRAY" and not c.max_repetition_level]
        with pq.ParquetFile(path, metadata=about, read_dictionary=texts, page_checksum_verification=True) as file:
            for batch in file.iter_batches(batch_size=_rows_at_once(path)):
                if batch.nbytes > _MOST_AT_ONCE or any(map(_has_endless_text, batch.columns)):
                    raise InputError(f"{path} has a row that is longer than any analysis.")
                yield from batch.to_pylist()
    except (OSError, pa.ArrowException, ValueError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}.") from error


def _rows_at_once(path: Path) -> int:
    """How many rows to hold at a time; InputError if a part of the file is larger than anybody means, as it tells."""
    most = 1.0
    for group in groups(path):
        if group.values > _MOST_VALUES or group.largest > _MOST_BYTES:
            raise InputError(
                f"{path} unpacks to more than is held at a time: write it in groups of at most {_ROWS:,} rows."
            )
        most = max(most, group.values / max(group.rows, 1))
    return max(1, min(_MOST_ROWS, int(_VALUES_AT_ONCE / most)))


def _has_endless_text(column: pa.Array) -> bool:
    """Whether a column holds a text that is longer than anybody means."""
    if not pa.types.is_dictionary(column.type) or not len(column.dictionary):
        return False
    return bool(pc.max(pc.binary_length(column.dictionary)).as_py() > _LONGEST_TEXT)


def as_object(row: dict[str, Any]) -> dict[str, Any]:
    """A row as an object of the JSON lines."""
    row["options"] = json.loads(row.get("options") or "{}")
    row["limit"] = {"depth": row.get("depth"), "lines": row.get("lines"), "nodes": row.get("node_limit")}
    if row.get("skipped"):
        row["pre"] = _joined(row.get("pre_cp"), row.get("pre_mate"))
    else:
        row["scores"] = {
            depth: [_joined(cp, mate) for cp, mate in zip(cps, mates, strict=True)]
            for depth, (cps, mates) in enumerate(zip(row["cp"], row["mate"], strict=True), 1)
        }
    return row


def _joined(cp: int | None, mate: int | None) -> int | str | None:
    return cp if mate is None else f"#{mate}"
