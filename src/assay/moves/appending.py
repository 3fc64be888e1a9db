"""Fits added to a table on disk, one file after another: in columns of our own, or in those of the seed's program.

The program that re-implements the papers keeps one line per file of games. Its columns are names of a promise: a table
that was begun with it goes on here, and the other way round.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import InputError
from assay.moves.fits import FitRow
from assay.paths import atomic
from assay.printable import spreadsheet

APPENDED = (
    "file", "group", "games", "turns", "elo_mean", "elo_least", "elo_greatest", "s", "c", "ad_predicted", "ad_actual",
    "mm_predicted", "mm_actual", "qfit", "qfit_root", "qfit_mean", "first_year", "last_year",
)  # fmt: skip
REGAN_COLUMNS = (
    "filename", "Games", "Moves", "AvgElo", "MinElo", "MaxElo", "s", "c", "AE_e", "AE_a", "Match_e", "Match_a", "Qfit",
    "FirstYear", "LastYear",
)  # fmt: skip
FORMATS = {"assay": APPENDED, "regan": REGAN_COLUMNS}


def append_rows(path: Path, file: str, rows: Iterable[FitRow], fix_c: bool = False, *, format: str = "assay") -> int:
    """Add the rows to a cumulative CSV, made if it is not there; the number of rows added.

    A table that has fewer of the columns, from an earlier version, keeps those that it has.
    """
    if format not in FORMATS:
        raise InputError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}.")
    columns = FORMATS[format]
    make = _regan_row if format == "regan" else _own_row
    new = [make(file, row, fix_c) for row in rows if row.shown(fix_c) is not None]
    try:
        before = path.read_bytes().decode("utf-8") if path.exists() else ""
    except UnicodeDecodeError:
        before = "\n"
    end = "\r\n" if "\r\n" in before else "\n"
    if before:
        header = tuple(before.splitlines()[0].split(","))
        if not header or any(name not in columns for name in header) or header[0] != columns[0]:
            raise InputError(f"{path} is not a table of fits: its first line should be {','.join(columns)}.")
        columns = header
        before += "" if before.endswith("\n") else end
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator=end, extrasaction="ignore")
    if not before:
        writer.writeheader()
    writer.writerows(new)
    with atomic(path) as part:
        part.write_bytes((before + out.getvalue()).encode("utf-8"))
    return len(new)


def _own_row(file: str, row: FitRow, fix_c: bool) -> Mapping[str, Any]:
    found = row.shown(fix_c)
    first, last = row.years or (None, None)
    elo = {"elo_mean": row.elo, "elo_least": row.elo_range[0], "elo_greatest": row.elo_range[1]}
    return {
        **{name: getattr(found, name) for name in APPENDED if hasattr(found, name)},
        "file": spreadsheet(file),
        "group": spreadsheet(row.label),
        "games": row.games,
        **(elo if np.isfinite(row.elo) else {}),
        "first_year": first,
        "last_year": last,
    }


def _regan_row(file: str, row: FitRow, fix_c: bool) -> Mapping[str, Any]:
    """As the seed's program writes it: shares in per cent, Qfit = sqrt(S / 19), 0 and N/A for what is not known."""
    found = row.shown(fix_c)
    assert found is not None
    first, last = row.years or ("N/A", "N/A")
    elos = (row.elo, *row.elo_range)
    average, least, most = (int(elo) if np.isfinite(elo) else 0 for elo in elos)
    return {
        "filename": spreadsheet(file if row.label == "all" else f"{file}: {row.label}"),
        "Games": row.games,
        "Moves": row.turns,
        "AvgElo": average,
        "MinElo": least,
        "MaxElo": most,
        "s": round(found.s, 4),
        "c": round(found.c, 4),
        "AE_e": round(found.ad_predicted, 6),
        "AE_a": round(found.ad_actual, 6),
        "Match_e": round(100 * found.mm_predicted, 2),
        "Match_a": round(100 * found.mm_actual, 2),
        "Qfit": round(found.qfit_root, 5),
        "FirstYear": first,
        "LastYear": last,
    }
