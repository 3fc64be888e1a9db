"""Tables of results: CSV, Parquet and frames with White, Black and Result, as games without moves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.games.stream import INDEX_SUFFIXES
from assay.games.trf import written
from assay.paths import note_input

if TYPE_CHECKING:
    import polars as pl

NEEDED = ("white", "black", "result")
# What White scored, however people write it, beside the texts of PGN.
_WINS = frozenset({"1", "1.0", "1.", "w", "win", "white", "1:0", "won"})
_DRAWS = frozenset(
    {"0.5", ".5", "0,5", ",5", "1/2", "½", "½-½", "d", "draw", "drawn", "=", "0.5-0.5", "½:½", "r", "remis"}
)
_LOSSES = frozenset({"0", "0.0", "0.", "l", "loss", "black", "b", "0:1", "lost"})
_RESULTS = dict.fromkeys(_WINS, "1-0") | dict.fromkeys(_DRAWS, "1/2-1/2") | dict.fromkeys(_LOSSES, "0-1")
_NONE = frozenset({"", "none", "null", "nan", "na", "n/a", "?", "*"})
# Names of columns besides the plain ones, and the tags that all of them become.
_ALSO = {
    "white_player": "white",
    "white_name": "white",
    "black_player": "black",
    "black_name": "black",
    "score": "result",
    "outcome": "result",
    "white_rating": "white_elo",
    "black_rating": "black_elo",
    "tournament": "event",
}
_TAGS = {
    "event": "Event",
    "site": "Site",
    "date": "Date",
    "round": "Round",
    "white": "White",
    "black": "Black",
    "result": "Result",
    "white_elo": "WhiteElo",
    "black_elo": "BlackElo",
    "white_fide_id": "WhiteFideId",
    "black_fide_id": "BlackFideId",
}
# Only an index of games has these.
_INDEXED = ("start_offset", "end_offset")


def result_of(value: Any) -> str:
    """A result as PGN writes it, whatever it is; what says nothing is "*", and what is unknown stays as it is.

    >>> [result_of(each) for each in ("1-0", 1, 0.5, ".5", "W", "Draw", None, "2-1")]
    ['1-0', '1-0', '1/2-1/2', '1/2-1/2', '1-0', '1/2-1/2', '*', '2-1']
    """
    text = "" if value is None else re.sub(r"\s", "", str(value)).lower().replace("–", "-")
    if text in _NONE:
        return "*"
    if text in ("1-0", "0-1", "1/2-1/2"):
        return text
    return _RESULTS.get(text, str(value).strip())


def is_table(path: str | Path) -> bool:
    """Whether a .csv or .parquet file is a table of results and no index."""
    if not str(path).lower().endswith(INDEX_SUFFIXES):
        return False
    names = _columns(path)
    return names is not None and set(NEEDED) <= set(names.values()) and not set(_INDEXED) & set(names)


def _columns(path: str | Path) -> dict[str, str] | None:
    """The columns of a file, by their names there, in our words; None if it cannot be read."""
    try:
        if str(path).lower().endswith(".parquet"):
            import pyarrow.parquet as pq

            return _known(pq.read_schema(path).names)
        with Path(path).open("rb") as file:
            head = file.readline(1 << 16)
        return _known(re.split(r"[,;\t]", head.decode("utf-8", "replace").lstrip("\ufeff").strip()))
    except Exception:  # whoever reads it next says what is wrong with it
        return None


def _known(names: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in names:
        plain = re.sub(r"[\s-]+", "_", str(name).strip().strip('"').strip())
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain).lower()
        plain = re.sub(r"^(white|black)(elo|rating|player|name|fideid|fide_id)$", r"\1_\2", plain)
        plain = plain.replace("fideid", "fide_id")
        found[str(name)] = _ALSO.get(plain, plain)
    return found


def read_table(path: str | Path) -> pl.DataFrame:
    """A table of results as a frame."""
    import polars as pl

    note_input(path)
    try:
        if str(path).lower().endswith(".parquet"):
            return pl.read_parquet(path)
        head = Path(path).read_bytes()[: 1 << 16].partition(b"\n")[0]
        comma = max(b",;\t", key=lambda sign: head.count(bytes([sign])))
        return pl.read_csv(
            path, separator=chr(comma), infer_schema=False, encoding="utf8-lossy", truncate_ragged_lines=True
        )
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {str(error).splitlines()[0]}.") from error


def games_of(frame: Any) -> Iterator[bytes]:
    """The rows of a frame as games without moves; InputError if it has no White, Black and Result."""
    names = _known(str(name) for name in frame.columns)
    if lacking := [name for name in NEEDED if name not in names.values()]:
        raise InputError(
            f"the table has no column {', '.join(lacking)}: it needs white, black and result, and may have date, "
            "round, event, white_elo and black_elo."
        )
    wanted = {ours: name for name, ours in reversed(names.items()) if ours in _TAGS}
    columns = {ours: list(frame[name]) for ours, name in wanted.items()}
    for row in zip(*(columns[ours] for ours in columns), strict=True):
        yield f"{written(_tags(dict(zip(columns, row, strict=True))))}\n".encode()


def _tags(row: Mapping[str, Any]) -> dict[str, str]:
    tags = {}
    for ours, tag in _TAGS.items():
        value = row.get(ours)
        if ours == "result":
            tags[tag] = result_of(value)
        elif value is not None and value == value and (text := _text(ours, value)):
            tags[tag] = text
    return tags


def _text(column: str, value: Any) -> str:
    if column == "date":
        return str(value)[:10].replace("-", ".").replace("/", ".")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
