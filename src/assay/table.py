"""Tables as text that fits a terminal, as CSV, as JSON and as frames; and the answers that are made of them."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from assay.errors import InputError
from assay.paths import File, atomic
from assay.printable import json_text, printable, shorten, spreadsheet
from assay.records import dataclass

if TYPE_CHECKING:
    import polars as pl

    from assay.curve import Estimate

FORMATS = ("table", "csv", "json")
WIDTH = 80  # of text that goes to no terminal
# Longer values lose their middle even where there is room; the last column may hold a remark.
_LONGEST, _LONGEST_LAST = 100, 1000
# To fit, texts are made shorter, down to so many letters; a text in the last column is wrapped instead.
_SHORT, _NARROW = 14, 24
_GAP = "  "


class Bound(str):
    """A text that stands in a column of numbers, such as ">2650": no more than that is known."""

    __slots__ = ()


@dataclass(frozen=True)
class Column:
    """A column: its name in CSV, JSON and frames, and how people see it.

    A `wide` column is shown in text only on demand, the texts of one that is `below` stand under the table; `said`
    makes the text of a value that is more than a number.
    """

    name: str
    title: str = ""
    decimals: int = 2
    wide: bool = False
    below: bool = False
    said: Callable[[Any], str] | None = None

    @property
    def head(self) -> str:
        """What stands above it in text."""
        return self.title or self.name

    def cell(self, value: Any) -> str:
        """A value as people see it."""
        if value is None:
            return ""
        if self.said is not None:
            return self.said(value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:z.{self.decimals}f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Table:
    """Rows of named values, and their columns; a missing value is None or nan.

    >>> columns = Column("name"), Column("elo", decimals=0), Column("note", wide=True)
    >>> table = Table([{"name": "Anand", "elo": 2788.2}, {"name": "N.N.", "elo": None, "note": "unknown"}], columns)
    >>> print(table.text())
    name    elo
    Anand  2788
    N.N.
    >>> print(table.csv())
    name,elo,note
    Anand,2788.2,
    N.N.,,unknown
    """

    rows: Sequence[Mapping[str, Any]]
    columns: Sequence[Column]

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """For people: no line is longer than the width, if there is one; `wide` shows all columns at any width."""
        shown = [column for column in self.columns if wide or not (column.wide or column.below)]
        last = len(shown) - 1
        values = [[_plain(row.get(column.name)) for row in self.rows] for column in shown]
        texts = [
            [printable(column.cell(value), _LONGEST_LAST if at == last else _LONGEST) for value in values[at]]
            for at, column in enumerate(shown)
        ]
        heads = [printable(column.head, _LONGEST) for column in shown]
        right = [_is_number(column) for column in values]
        widths = [max(map(len, (heads[at], *texts[at]))) for at in range(len(shown))]
        if width is not None and not wide:
            kept = _fit(widths, heads, right, width)
            heads, texts, right = ([part[at] for at in kept] for part in (heads, texts, right))  # type: ignore[assignment]
            widths = [kept[at] for at in kept]
        lines = [_line(heads, widths, right)]
        for at in range(len(self.rows)):
            lines += _lines([column[at] for column in texts], widths, right)
        if len(widths) < len(shown) and width is not None:
            left = [column.head for column in shown if column.head not in heads]
            lines += textwrap.wrap(f"(--wide shows {', '.join(left)}, too)", max(width, _SHORT))
        if width is not None and not wide:
            lines += self._below(max(width, _SHORT))
        return "\n".join(lines)

    def _below(self, width: int) -> list[str]:
        """What stands under the table: each text once, with the names of those whom it is about."""
        about: dict[str, list[str]] = {}
        first = self.columns[0]
        for column in (column for column in self.columns if column.below):
            for row in self.rows:
                if text := column.cell(_plain(row.get(column.name))):
                    about.setdefault(text, []).append(first.cell(_plain(row.get(first.name))))
        lines = []
        for text, names in about.items():
            who = "; ".join(dict.fromkeys(names)) if len(names) < max(len(self.rows), 2) else "all"
            told = f"{who}: {text}" if who.strip() else text  # who has no name is told by the text alone
            lines += textwrap.wrap(printable(told, _LONGEST_LAST), width, subsequent_indent="  ")
        return ["", *lines] if lines else []

    def csv(self) -> str:
        """Comma-separated values of full precision; no value can act as a formula of a spreadsheet."""
        import csv

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([spreadsheet(column.name) for column in self.columns])
        writer.writerows([[_csv_cell(row.get(column.name)) for column in self.columns] for row in self.rows])
        return out.getvalue().rstrip("\n")

    def records(self) -> list[dict[str, Any]]:
        """The rows with all columns, as plain values."""
        return [{column.name: _plain(row.get(column.name)) for column in self.columns} for row in self.rows]

    def json(self) -> str:
        """A JSON array of objects, of full precision."""
        return json_text(self.records(), indent=1)

    def frame(self) -> pl.DataFrame:
        """The table as a polars frame."""
        import polars as pl

        names = [column.name for column in self.columns]
        return pl.DataFrame(self.records(), schema=names, infer_schema_length=None, orient="row")

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The table in one of the FORMATS."""
        if format not in FORMATS:
            raise InputError(f"unknown format {format!r}: choose one of {', '.join(FORMATS)}.")
        return self.text(width, wide=wide) if format == "table" else self.csv() if format == "csv" else self.json()


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer:
    """What a function of :mod:`assay` answers and a command prints: a table, texts above and below it, and remarks.

    `str(answer)` is what the command prints; `answer[name]` the estimate of a player, or of what else the rows are;
    `problems` counts by reason what had to be left out, and `remarks` are what the command says beside its output.
    Where people are shown another table than programs, `data` is theirs.

    >>> from assay.curve import Estimate
    >>> rows = [{"player": "Elm", "elo": 2391.3}]
    >>> answer = Answer(shown=Table(rows, (Column("player"), Column("elo", decimals=0))),
    ...                 estimates={"Elm": Estimate(2391.3, 2290.0, 2490.0)})
    >>> print(answer)
    player   elo
    Elm     2391
    >>> answer["Elm"].low, answer.table["elo"].to_list(), answer.to("csv")
    (2290.0, [2391.3], 'player,elo\\nElm,2391.3')
    """

    formats: ClassVar[Sequence[str]] = FORMATS

    shown: Table
    data: Table | None = None
    head: str = ""
    foot: str = ""
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    problems: Mapping[str, int] = field(default_factory=dict)
    remarks: Sequence[str] = ()

    @property
    def table(self) -> pl.DataFrame:
        """All columns as a polars frame."""
        return self.tabulated().frame()

    def tabulated(self) -> Table:
        """The table that programs are given."""
        return self.data or self.shown

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """For people; see :meth:`Table.text`."""
        below = f"\n\n{filled(self.foot, width)}" if self.foot else ""
        return self.head_text(width) + self.shown.text(width, wide=wide) + below

    def head_text(self, width: int | None) -> str:
        """What stands above the table, with an empty line below it; nothing if there is nothing."""
        return f"{filled(self.head, width)}\n\n" if self.head else ""

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The answer in one of the FORMATS; CSV and JSON have all columns."""
        return self.text(width, wide=wide) if format == "table" else self.tabulated().to(format)

    def write_text(self, path: File, format: str | None = None, *, wide: bool = False) -> None:
        """Write the answer into a file, whole or not at all, as the name of the file says or in one of its formats."""
        suffix = Path(path).suffix.lower().removeprefix(".")
        text = self.to(format or (suffix if suffix in self.formats else FORMATS[0]), wide=wide)
        with atomic(Path(path)) as part:
            # Names that were no UTF-8 come out as they came in.
            part.write_bytes(f"{text}\n".encode("utf-8", "surrogateescape"))

    def __str__(self) -> str:
        return printable(self.text(), lines=True)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = Answer.__repr__  # type: ignore[method-assign]  # else each dataclass makes its own

    def __repr__(self) -> str:
        """The text, which is what somebody who names an answer at a prompt or in a notebook wants to see."""
        return str(self)

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.estimates:
            from assay.players import did_you_mean, nearest

            raise InputError(f"there is no {name!r} in this answer.{did_you_mean(nearest(str(name), self.estimates))}")
        return self.estimates[name]

    def __contains__(self, name: object) -> bool:
        return name in self.estimates

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.shown.rows)


def filled(text: str, width: int | None) -> str:
    """A text whose lines are no longer than the width, if there is one."""
    if width is None:
        return text
    return "\n".join(textwrap.fill(line, max(width, _SHORT)) for line in text.split("\n"))


def columns_of(
    names: Sequence[str],
    *,
    titles: Mapping[str, str] | None = None,
    decimals: Mapping[str, int] | None = None,
    wide: Sequence[str] = (),
    below: Sequence[str] = (),
) -> tuple[Column, ...]:
    """Columns by their names; what is not as usual: titles, decimals, and where they are shown."""
    titles, decimals = titles or {}, decimals or {}
    return tuple(
        Column(name, titles.get(name, ""), decimals.get(name, 2), name in wide, name in below) for name in names
    )


def render(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str] | None = None,
    *,
    format: str = "table",
    titles: Mapping[str, str] | None = None,
    decimals: Mapping[str, int] | None = None,
) -> str:
    """Rows of named values as a table of any width, as CSV or as JSON.

    >>> print(render([{"name": "Anand", "elo": 2788.25}, {"name": "N.N.", "elo": None}], decimals={"elo": 1}))
    name      elo
    Anand  2788.2
    N.N.
    """
    names = list(columns) if columns is not None else list(rows[0]) if rows else []
    return Table(rows, columns_of(names, titles=titles, decimals=decimals)).to(format, None)


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "game"), counted(2500, "game"), counted(2, "damaged entry")
    ('1 game', '2,500 games', '2 damaged entries')
    """
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {noun}"


def there_are(count: int, noun: str) -> str:
    """How many there are, as the beginning of a sentence.

    >>> there_are(1, "game"), there_are(0, "game")
    ('there is 1 game', 'there are 0 games')
    """
    return f"there {'is' if count == 1 else 'are'} {counted(count, noun)}"


def said_chance(probability: float) -> str:
    """A probability in per cent; what happened was possible, so that the least is no zero.

    >>> said_chance(0.4), said_chance(0.00001)
    ('40.0 %', '<0.1 %')
    """
    return "<0.1 %" if probability < 0.0005 else f"{100 * probability:.1f} %"


def few(count: float) -> str:
    """How many are expected by chance, as it is said: no nought before the point, two digits.

    >>> few(0.171), few(2.345), few(0.0033), few(0.00004)
    ('.17', '2.3', '.0033', 'fewer than .001')
    """
    return "fewer than .001" if count < 0.001 else f"{count:.2g}".removeprefix("0")


def told_copies(found: object) -> list[str]:
    """What an answer says of games that occur more than once (a sentence, or nothing that is true)."""
    return [f"assay: {found} --keep-duplicates counts them all."] if found else []


def reasons(counts: Mapping[str, int]) -> str:
    """What was counted by reason, the most frequent first.

    >>> reasons({"a variant": 2, "no moves": 1200, "damaged": 0})
    'no moves 1,200, a variant 2'
    """
    most_first = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{reason} {count:,}" for reason, count in most_first if count)


def described(counts: Mapping[str, int]) -> str:
    """Reasons with their counts before them, the most frequent first.

    >>> described({"no Black tag": 1, 'unknown result "0-0"': 1200})
    '1,200 x unknown result "0-0", 1 x no Black tag'
    """
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} x {reason}" for reason, count in ranked)


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _csv_cell(value: Any) -> Any:
    plain = _plain(value)
    return spreadsheet(plain) if isinstance(plain, str) else plain


def _is_number(values: Sequence[Any]) -> bool:
    return any(isinstance(v, int | float) for v in values) and not any(
        isinstance(v, str) and not isinstance(v, Bound) for v in values
    )


def _fit(widths: Sequence[int], heads: Sequence[str], right: Sequence[bool], width: int) -> dict[int, int]:
    """Which columns are shown, and how wide: texts give way first, then columns from the right, but the first stays."""
    last = len(widths) - 1
    least = [
        size if right[at] else min(size, max(len(heads[at]), _NARROW if at == last else _SHORT))
        for at, size in enumerate(widths)
    ]
    kept = list(range(len(widths)))

    def total(sizes: Sequence[int]) -> int:
        return sum(sizes[at] for at in kept) + len(_GAP) * (len(kept) - 1)

    while len(kept) > 1 and total(least) > width:
        kept.pop()
    sizes = list(widths)
    while total(sizes) > width:
        soft = [at for at in kept if sizes[at] > least[at]]
        if not soft:
            break
        sizes[max(soft, key=lambda at: sizes[at])] -= 1
    if len(kept) == 1:
        sizes[kept[0]] = min(sizes[kept[0]], max(width, _SHORT))
    return {at: sizes[at] for at in kept}


def _line(texts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = (
        shorten(text, width).rjust(width) if is_right else shorten(text, width).ljust(width)
        for text, width, is_right in zip(texts, widths, right, strict=True)
    )
    return _GAP.join(cells).rstrip()


def _lines(texts: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    """One row; a text in the last column that does not fit goes on below."""
    if not texts or right[-1] or len(texts[-1]) <= widths[-1]:
        return [_line(texts, widths, right)]
    first, *rest = _wrapped(texts[-1], widths[-1]) or [""]
    blank = [""] * (len(texts) - 1)
    return [_line([*texts[:-1], first], widths, right), *(_line([*blank, more], widths, right) for more in rest)]


def _wrapped(text: str, width: int) -> list[str]:
    """A text in lines; what is a list of short items breaks between them."""
    items = text.split(", ")
    if len(items) < 2 or max(map(len, items)) >= width:
        return textwrap.wrap(text, width)
    joined = ", ".join(item.replace(" ", "\0") for item in items)
    return [line.replace("\0", " ") for line in textwrap.wrap(joined, width)]
