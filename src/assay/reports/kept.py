"""A report kept as data, to be shown later as it was made: nothing is read, analysed or judged for it again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from assay.reports.content import Report

_DIGITS = 5


def keep(report: Report) -> bytes:
    """A report as packed JSON, its figures to five digits behind the point."""
    text = json.dumps(_rounded(asdict(report)), ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def _rounded(data: Any) -> Any:
    if isinstance(data, float):
        return round(data, _DIGITS)
    if isinstance(data, dict):
        return {name: _rounded(value) for name, value in data.items()}
    return [_rounded(value) for value in data] if isinstance(data, list | tuple) else data


def kept(data: bytes) -> Report:
    """The report that was kept."""
    report: Report = _revived(Report, json.loads(gzip.decompress(data)))
    return report


@cache
def _fields(kind: type) -> list[tuple[str, Any]]:
    return list(get_type_hints(kind).items())


def _revived(kind: Any, data: Any) -> Any:
    """A value of a type from what JSON has of it."""
    if data is None or isinstance(data, str | int | float):
        return data
    if is_dataclass(kind) and isinstance(kind, type):
        return kind(**{name: _revived(of, data[name]) for name, of in _fields(kind) if name in data})
    origin, inside = get_origin(kind), get_args(kind)
    if origin is tuple:
        several = inside if inside[-1] is not ... else (inside[0],) * len(data)
        return tuple(_revived(one, value) for one, value in zip(several, data, strict=True))
    if origin is Mapping:
        return {name: _revived(inside[1], value) for name, value in data.items()}
    return _revived(next(one for one in inside if one is not type(None)), data)  # of a type or None
