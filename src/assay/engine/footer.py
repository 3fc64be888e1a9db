"""How much a Parquet file says that it holds, read from its footer (Thrift's compact protocol).

PyArrow tells the same, but ends the process where the description of a column is damaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
