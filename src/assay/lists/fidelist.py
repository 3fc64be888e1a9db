"""A list as FIDE offers it for download: text by columns or XML, in a zip or not; standard, rapid, blitz or combined.

The columns of a text are told by its first line. What cannot be a player is counted by reason. A list is read in parts,
so that it takes little memory, however long it is.
"""

from __future__ import annotations

import lzma
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from assay.errors import InputError
from assay.paths import note_input
from assay.printable import decode
from assay.records import dataclass

if TYPE_CHECKING:
    import polars as pl

KINDS = ("standard", "rapid", "blitz")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PART = 8 << 20
_MOST_BYTES = 4 << 30  # unpacked; the largest of today has 0.9
_LONGEST_LINE = 4096
_SHORT_MONTH = re.compile(rf"({'|'.join(MONTHS)})_?-?(\d\d)(?!\d)", re.IGNORECASE)
_LONG_MONTH = re.compile(r"((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])(?!\d)")
# What the columns of a text are called, by year; those of ratings are K, games and rating of one or of three kinds.
_HEADS = {
    "fide_id": r"ID[ _]?Number|ID_?NUMBER|\bID\b",
    "name": r"Name",
    "title": r"(?<![WO])Titl?e?(?![a-z])",
    "federation": r"Fed|Country",
    "sex": r"Sex",
    "women": r"WTit",
    "other": r"OTit",
    "arena": r"FOA",
    "standard": r"SRtng",
    "standard_games": r"SGm",
    "standard_k": r"\bSK\b",
    "rapid": r"RRtng",
    "rapid_games": r"RGm",
    "rapid_k": r"\bR[Kk]\b",
    "blitz": r"BRtng",
    "blitz_games": r"BGm",
    "blitz_k": r"\bB[Kk]\b",
    "rating": rf"(?:{'|'.join(MONTHS)})_?\d\d|\bRating\b|\bRtng\b",
    "games": r"Gms|Games|\bGm\b",
    "k": r"(?<![A-Za-z])K(?![A-Za-z])",
    "birth": r"B-?day|Born|Birthday|Birth",
    "flag": r"Flag",
}
_XML = {
    "fide_id": "fideid",
    "name": "name",
    "federation": "country",
    "title": "title",
    "birth": "birthday",
    "flag": "flag",
    "rating": "rating",
    "games": "games",
    "k": "k",
    "rapid": "rapid_rating",
    "rapid_games": "rapid_games",
    "rapid_k": "rapid_k",
    "blitz": "blitz_rating",
    "blitz_games": "blitz_games",
    "blitz_k": "blitz_k",
}
_TITLES = {"g": "GM", "m": "IM", "f": "FM", "c": "CM", "wg": "WGM", "wm": "WIM", "wf": "WFM", "wc": "WCM"}
NUMBERS = tuple(f"{kind}{part}" for kind in KINDS for part in ("", "_games", "_k"))


@dataclass(frozen=True)
class FideList:
    """The rated players of a list, by FIDE id; `problems` counts the lines that are no players, by reason."""

    players: pl.DataFrame
    month: str | None  # "2024-01", if the list says it, or its name
    kinds: tuple[str, ...]
    problems: Counter[str] = field(default_factory=Counter)


def read_list(path: str | Path, *, kind: str | None = None) -> FideList:
    """Read a downloaded list; `kind` is what its one rating is, if neither the list nor its name tells it."""
    import polars as pl

    note_input(path)
    problems: Counter[str] = Counter()
    with _opened(path) as (file, name):
        head = file.read(1 << 16)
        if not head.strip():
            raise InputError(f"{path} is empty.")
        is_xml = head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<")
        told = f"{name} {Path(path).name}".lower()
        kind = kind or next((each for each in KINDS[1:] if each in told), KINDS[0])
        if is_xml:
            month = _month(told)
            parts = [_from_xml(part, kind, problems) for part in _blocks(file, head, b"</player>", path)]
        else:
            first, _, rest = head.lstrip(b"\xef\xbb\xbf").partition(b"\n")
            columns = _columns(decode(first), path)
            month = _month(decode(first)) or _month(told)
            parts = [_from_text(part, columns, kind, problems) for part in _blocks(file, rest, b"\n", path)]
    found = pl.concat([part for part in parts if part.height] or parts[:1], how="vertical")
    if not found.height:
        raise InputError(f"{path} is no list of FIDE: no player with an id and a rating is in it.")
    before = found.height
    found = found.unique("fide_id", keep="first", maintain_order=True).sort("fide_id")
    if found.height < before:
        problems["an id that occurs again"] += before - found.height
    kinds = tuple(each for each in KINDS if found[each].is_not_null().any())
    return FideList(found, month, kinds, problems)


@contextmanager
def _opened(path: str | Path) -> Iterator[tuple[IO[bytes], str]]:
    """The bytes of a list, unpacked, and the name of what is inside."""
    place = Path(path)
    try:
        with place.open("rb") as file:
            if file.read(4) != b"PK\x03\x04":
                file.seek(0)
                yield file, ""
                return
            with zipfile.ZipFile(file) as archive:
                inside = [member for member in archive.infolist() if member.filename.lower().endswith((".txt", ".xml"))]
                if len(inside) != 1:
                    raise InputError(f"{path} holds {len(inside)} texts or XML files, and one list is expected.")
                with archive.open(inside[0]) as member:
                    yield member, inside[0].filename
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, UnicodeError, RuntimeError, EOFError) as error:
        raise InputError(f"{path} is a damaged archive ({error}).") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def _blocks(file: IO[bytes], held: bytes, end: bytes, path: str | Path) -> Iterator[bytes]:
    """The bytes in parts that end where a player does."""
    size = len(held)
    while True:
        block = file.read(_PART)
        size += len(block)
        if size > _MOST_BYTES:
            raise InputError(f"{path} is longer than any list.")
        held += block
        cut = held.rfind(end) + len(end) if block else len(held)
        if block and cut < len(end):
            if len(held) > 4 * _PART:
                raise InputError(f"{path} is no list of FIDE: its lines have no end.")
            continue
        yield held[:cut]
        held = held[cut:]
        if not block:
            return


def _month(text: str) -> str | None:
    """The month that a name or a first line tells.

    >>> _month("standard_jan24frl.txt"), _month("players_list_2023-11.xml"), _month("list.txt")
    ('2024-01', '2023-11', None)
    """
    if found := _LONG_MONTH.search(text):
        return f"{found[1]}-{found[2]}"
    if found := _SHORT_MONTH.search(text):
        year = int(found[2])
        return f"{1900 + year if year > 70 else 2000 + year}-{MONTHS.index(found[1].lower()) + 1:02}"
    return None


def _columns(head: str, path: str | Path) -> dict[str, tuple[int, int | None]]:
    """Where each column of a text begins and how long it is, by its first line."""
    starts = {name: found.start() for name, said in _HEADS.items() if (found := re.search(said, head, re.IGNORECASE))}
    if "name" not in starts or not {"standard", "rapid", "blitz", "rating"} & set(starts):
        raise InputError(
            f"{path} is no list of FIDE: its first line must name the columns, such as ID Number, Name, Fed and Rating."
        )
    starts.setdefault("fide_id", 0)
    order = sorted(set(starts.values()) | {0})
    ends = dict(zip(order, [*order[1:], None], strict=True))
    return {name: (start, None if ends[start] is None else ends[start] - start) for name, start in starts.items()}  # type: ignore[operator]


def _from_text(
    data: bytes, columns: dict[str, tuple[int, int | None]], kind: str, problems: Counter[str]
) -> pl.DataFrame:
    import polars as pl

    lines = pl.Series("line", [line for line in decode(data).splitlines() if line.strip()], dtype=pl.String)
    long = lines.str.len_bytes() > _LONGEST_LINE
    if long.any():
        problems["a line that is far too long"] += int(long.sum())
        lines = lines.filter(~long)
    cells = lines.to_frame().select(
        pl.col("line").str.slice(start, size).str.strip_chars().alias(name) for name, (start, size) in columns.items()
    )
    return _players(cells, kind, problems)


def _from_xml(data: bytes, kind: str, problems: Counter[str]) -> pl.DataFrame:
    import polars as pl

    blocks = decode(data).split("</player>")
    rest = blocks.pop()
    if "<player>" in rest:
        problems["a player whose entry is cut"] += 1
    lines = pl.Series("line", blocks, dtype=pl.String)
    cells = lines.to_frame().select(
        pl.col("line").str.extract(rf"<{tag}>\s*([^<]*?)\s*</{tag}>").alias(name) for name, tag in _XML.items()
    )
    cells = cells.with_columns(
        pl.col("name", "federation").str.replace_all("&apos;", "'").str.replace_all("&quot;", '"')
        .str.replace_all("&lt;", "<").str.replace_all("&gt;", ">").str.replace_all("&amp;", "&")
    )  # fmt: skip
    return _players(cells, kind, problems)


def _players(cells: pl.DataFrame, kind: str, problems: Counter[str]) -> pl.DataFrame:
    """Rows of texts as rows of players, those without an id, a name or a rating left out."""
    import polars as pl

    def number(name: str, most: int) -> pl.Expr:
        if name not in cells.columns:
            return pl.lit(None, pl.Int64)
        value = pl.col(name).str.extract(r"(\d+)").cast(pl.Int64, strict=False)
        return pl.when((value > 0) & (value <= most)).then(value)

    own = {"": "rating", "_games": "games", "_k": "k"}
    numbers = {}
    for each in KINDS:
        for part, plain in own.items():
            most, name = {"": 4000, "_games": 255, "_k": 100}[part], f"{each}{part}"
            numbers[name] = number(name, most) if each != kind else pl.coalesce(number(name, most), number(plain, most))
    text = {name: pl.col(name) if name in cells.columns else pl.lit(None, pl.String) for name in ("title", "flag")}
    rows = cells.select(
        fide_id=number("fide_id", 2**31 - 1),
        name=pl.col("name"),
        federation=(pl.col("federation") if "federation" in cells.columns else pl.lit("")).str.to_uppercase(),
        title=text["title"].str.to_lowercase().replace(_TITLES).str.to_uppercase(),
        birth=pl.when(number("birth", 10**8).is_not_null()).then(
            pl.col("birth" if "birth" in cells.columns else "name").str.extract(r"((?:18|19|20)\d\d)").cast(pl.Int64)
        ),
        inactive=text["flag"].str.to_lowercase().str.contains("i").fill_null(False),
        **numbers,
    )
    no_id = rows["fide_id"].is_null()
    no_name = ~no_id & (rows["name"].fill_null("").str.len_chars() == 0)
    rated = rows.select(pl.any_horizontal(pl.col(each).is_not_null() for each in KINDS)).to_series()
    for why, which in (("no id", no_id), ("no name", no_name), ("no rating", ~no_id & ~no_name & ~rated)):
        if count := int(which.sum()):
            problems[why] += count
    kept = rows.filter(~no_id & ~no_name & rated)
    return kept.with_columns(
        pl.col("fide_id").cast(pl.Int32),
        pl.col("birth", *KINDS).cast(pl.Int16),
        pl.col([name for name in NUMBERS if name not in KINDS]).cast(pl.Int16),
        pl.when(pl.col("title").is_in(["GM", "IM", "FM", "CM", "WGM", "WIM", "WFM", "WCM"])).then("title"),
    )
