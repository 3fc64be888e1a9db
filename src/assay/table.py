"""One table, printed as text, CSV or JSON."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from assay.printable import json_text, printable, spreadsheet

FORMATS = ("table", "csv", "json")
# Longer values lose their middle in text; the last column pushes no other aside and may hold a remark.
_LONGEST, _LONGEST_LAST = 100, 1000


def render(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str] | None = None,
    *,
    format: str = "table",
    titles: Mapping[str, str] | None = None,
    decimals: Mapping[str, int] | None = None,
) -> str:
    """Render rows of named values; CSV and JSON keep the names and full precision, the text table is for people.

    Missing values (None, nan) are empty in text and CSV and null in JSON. No value can act on a terminal or, in CSV, as
    a formula of a spreadsheet (:mod:`assay.printable`).

    >>> print(render([{"name": "Anand", "elo": 2788.25}, {"name": "N.N.", "elo": None}], decimals={"elo": 1}))
    name      elo
    Anand  2788.2
    N.N.
    """
    names = list(columns) if columns is not None else list(rows[0]) if rows else []
    if format == "json":
        return json_text([{name: _plain(row.get(name)) for name in names} for row in rows], indent=1)
    if format == "csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([spreadsheet(name) for name in names])
        writer.writerows([[_csv_cell(row.get(name)) for name in names] for row in rows])
        return out.getvalue().rstrip("\n")
    if format != "table":
        raise ValueError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}")
    return _text(rows, names, titles or {}, decimals or {})


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _csv_cell(value: Any) -> Any:
    plain = _plain(value)
    return spreadsheet(plain) if isinstance(plain, str) else plain


def _text(
    rows: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    titles: Mapping[str, str],
    decimals: Mapping[str, int],
) -> str:
    plain = {name: [_plain(row.get(name)) for row in rows] for name in names}
    right = {
        name: any(isinstance(v, (int, float)) for v in values) and not any(isinstance(v, str) for v in values)
        for name, values in plain.items()
    }
    longest = {name: _LONGEST_LAST if name == names[-1] else _LONGEST for name in names}
    cells = {
        name: [printable(_cell(v, decimals.get(name)), longest[name]) for v in values] for name, values in plain.items()
    }
    head = {name: printable(titles.get(name, name), longest[name]) for name in names}
    width = {name: max(len(head[name]), *(len(c) for c in cells[name]), 0) for name in names}

    def line(texts: Mapping[str, str]) -> str:
        return "  ".join(texts[n].rjust(width[n]) if right[n] else texts[n].ljust(width[n]) for n in names).rstrip()

    return "\n".join([line(head), *(line({n: cells[n][i] for n in names}) for i in range(len(rows)))])


def _cell(value: Any, decimals: int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{2 if decimals is None else decimals}f}"
    return str(value)
