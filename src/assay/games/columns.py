"""The columns of an index: their names, types and the tags they come from.

A missing tag, an empty one and PGN's own signs for "unknown" (`?`, and `-` where it can only mean that) are null.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.games.movetext import Movetext, cut, have_command
from assay.games.split import Split
from assay.games.tags import TagColumns
from assay.pools import LEAST_SECONDS, clock_of, time_control

TEXT = pa.dictionary(pa.int32(), pa.string())
MOVETEXT = "movetext"
_CLOCK = (pa.float64(), pa.float64(), pa.string())

TEXT_TAGS = {
    "event": "Event",
    "site": "Site",
    "date": "Date",
    "round": "Round",
    "white": "White",
    "black": "Black",
    "result": "Result",
    "white_title": "WhiteTitle",
    "black_title": "BlackTitle",
    "time_control": "TimeControl",
    "termination": "Termination",
    "eco": "ECO",
    "opening": "Opening",
    "variant": "Variant",
    "fen": "FEN",
    "variation": "Variation",
}
RATING_TAGS = {"white_elo": "WhiteElo", "black_elo": "BlackElo"}
DIFFERENCE_TAGS = {"white_rating_diff": "WhiteRatingDiff", "black_rating_diff": "BlackRatingDiff"}
_TAGS = tuple((TEXT_TAGS | RATING_TAGS | DIFFERENCE_TAGS).values())
_UNKNOWN = pa.array(["", "?", "????.??.??"])
# Here "-" says "none" too.
_NONE_SIGN = {"round", "white_title", "black_title", "eco", "opening", "variant", "variation"}
_NOT_KNOWN_NOR_NONE = pa.array([*_UNKNOWN.to_pylist(), "-"])

SCHEMA = pa.schema(
    [
        ("source", TEXT),
        ("start_offset", pa.int64()),
        ("end_offset", pa.int64()),
        ("event", TEXT),
        ("site", TEXT),
        ("date", TEXT),
        ("round", TEXT),
        ("white", TEXT),
        ("black", TEXT),
        ("result", TEXT),
        ("white_elo", pa.int32()),
        ("black_elo", pa.int32()),
        ("white_title", TEXT),
        ("black_title", TEXT),
        ("white_rating_diff", pa.int32()),
        ("black_rating_diff", pa.int32()),
        ("time_control", TEXT),
        ("base_seconds", pa.float64()),
        ("increment_seconds", pa.float64()),
        ("speed", TEXT),
        ("termination", TEXT),
        ("eco", TEXT),
        ("opening", TEXT),
        ("variant", TEXT),
        ("plies", pa.int32()),
        ("has_clock", pa.bool_()),
        ("has_eval", pa.bool_()),
        ("fen", TEXT),
        ("variation", TEXT),
    ]
)
WITH_MOVETEXT = SCHEMA.append(pa.field(MOVETEXT, pa.binary()))
COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)
# Columns that indexes of earlier versions lack.
LATER = ("fen", "variation")

BEYOND_RATINGS = 5000  # engines come to some 4,000; what says more is a slip of the keyboard
_RATING = re.compile(r"\s*(\d{1,5})(?:\.\d+)?\s*\??\s*")
_SIGNED = re.compile(r"\s*([+-]?\d{1,5})\s*")


@lru_cache(maxsize=100_000)
def rating(text: str) -> int | None:
    """A rating tag as a number; zero means "unrated", which is null, and so is what nobody can be rated.

    >>> rating("2788"), rating("1500?"), rating("0"), rating("-"), rating("22450")
    (2788, 1500, None, None, None)
    """
    match = _RATING.fullmatch(text)
    return number if match and 0 < (number := int(match.group(1))) < BEYOND_RATINGS else None


@lru_cache(maxsize=100_000)
def difference(text: str) -> int | None:
    """A rating difference as a number; zero is one.

    >>> difference("+5"), difference("-12"), difference("0"), difference("?")
    (5, -12, 0, None)
    """
    match = _SIGNED.fullmatch(text)
    return int(match.group(1)) if match else None


def rows(part: Split, source: str, problems: Counter[str], *, movetext: bool = False) -> pa.RecordBatch:
    """One row per game of a buffer."""
    schema = WITH_MOVETEXT if movetext else SCHEMA
    if not len(part):
        return pa.RecordBatch.from_pylist([], schema)
    tags = TagColumns(part, _TAGS, problems)
    columns = {
        "source": pa.DictionaryArray.from_arrays(np.zeros(len(part), np.int32), pa.array([source], pa.string())),
        "start_offset": pa.array(part.starts + part.base),
        "end_offset": pa.array(part.ends + part.base),
        "plies": pa.array(Movetext(part).count_plies()),
        "has_clock": pa.array(have_command(part, b"clk")),
        "has_eval": pa.array(have_command(part, b"eval")),
    }
    for name, tag in TEXT_TAGS.items():
        columns[name] = _known(tags.text(tag), _NOT_KNOWN_NOR_NONE if name in _NONE_SIGN else _UNKNOWN)
    for name, tag in RATING_TAGS.items():
        columns[name] = tags.ratings(tag, rating)
    for name, tag in DIFFERENCE_TAGS.items():
        texts = tags.text(tag)
        numbers = pa.array([difference(text) for text in texts.dictionary.to_pylist()], pa.int32())
        columns[name] = numbers.take(texts.indices)
    control = columns["time_control"]
    read = [time_control(text) for text in control.dictionary.to_pylist()]
    clock = [pa.array([one[k] for one in read], kind).take(control.indices) for k, kind in enumerate(_CLOCK)]
    columns |= zip(("base_seconds", "increment_seconds", "speed"), _closer(clock, columns), strict=True)
    if movetext:
        columns[MOVETEXT] = cut(part.data, part.starts, part.ends)
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _closer(clock: list[pa.Array], columns: Mapping[str, pa.DictionaryArray]) -> list[pa.Array]:
    """Base, increment and speed; where the tag alone does not tell, with what Site and Event tell besides."""
    unclear = pc.fill_null(pc.less(clock[0], LEAST_SECONDS), True).to_numpy(zero_copy_only=False)
    # Lichess writes seconds, gives every game a site of its own, and is not to be looked at game by game.
    plain = pc.match_substring_regex(columns["site"].dictionary, r"lichess\.org/\w{8,}$").take(columns["site"].indices)
    plain = pc.and_(pc.fill_null(plain, False), pc.is_valid(columns["time_control"].indices))
    rows = np.flatnonzero(unclear & ~plain.to_numpy(zero_copy_only=False))
    if not len(rows):
        return [*clock[:2], clock[2].dictionary_encode()]
    tags = [columns[name] for name in ("site", "event", "time_control")]
    texts = [["", *tag.dictionary.to_pylist()] for tag in tags]
    codes = [pc.fill_null(tag.indices, -1).to_numpy(zero_copy_only=False)[rows].astype(np.int64) + 1 for tag in tags]
    sizes = tuple(map(len, texts))
    coded = pa.array(np.ravel_multi_index(codes, sizes)).dictionary_encode()
    kinds = np.unravel_index(coded.dictionary.to_numpy(), sizes)
    found = [clock_of(*map(list.__getitem__, texts, kind)) for kind in zip(*(k.tolist() for k in kinds), strict=True)]
    mask = np.zeros(len(unclear), np.bool_)
    mask[rows] = True
    better = [
        pc.replace_with_mask(values, mask, pa.array([one[k] for one in found], values.type).take(coded.indices))
        for k, values in enumerate(clock)
    ]
    return [*better[:2], better[2].dictionary_encode()]


def _known(column: pa.DictionaryArray, unknown: pa.Array) -> pa.DictionaryArray:
    """The column with null in place of the signs for "unknown"."""
    if not len(column.dictionary):
        return column
    is_unknown = pc.is_in(column.dictionary, unknown)
    if not is_unknown.true_count:
        return column
    indices = pc.if_else(is_unknown.take(column.indices), None, column.indices)
    return pa.DictionaryArray.from_arrays(indices, column.dictionary)
