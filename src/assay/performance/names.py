"""Files about players: aliases, and ratings that take the place of the tags'."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from assay.errors import InputError


def _pairs(path: Path, what: str) -> list[tuple[int, str, str]]:
    """The rows of a CSV file with two columns, numbered; blank lines and lines that begin with # are passed over."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), 1)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}.") from error
    out = []
    for number, row in rows:
        if not row or not "".join(row).strip() or row[0].startswith("#"):
            continue
        if len(row) != 2:
            raise InputError(f"{path}, line {number}: expected {what} (two columns), and there are {len(row)}.")
        out.append((number, row[0].strip(), row[1].strip()))
    return out


def read_aliases(path: Path) -> dict[str, str]:
    """Names by alias from a CSV file: another name, then the name it stands for."""
    return {alias: name for _, alias, name in _pairs(path, "another name and the name it stands for")}


def read_ratings(path: Path) -> dict[str, float]:
    """Ratings by player from a CSV file of names and ratings; a header is passed over."""
    ratings = {}
    rows = _pairs(path, "a name and a rating")
    for place, (number, name, text) in enumerate(rows):
        try:
            rating = float(text)
        except ValueError:
            rating = math.nan
        if math.isfinite(rating):
            ratings[name] = rating
        elif place:
            raise InputError(f"{path}, line {number}: {text!r} is not a rating.")
    if not ratings:
        raise InputError(f"{path} holds no ratings: it needs lines with a name and a rating.")
    return ratings
