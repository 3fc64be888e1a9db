"""Text from files, as it is read and as it may be printed: no name takes over a terminal, a line, or a spreadsheet.

Names, tags and file names are written by strangers. A terminal obeys what follows an escape character, a carriage
return or a backspace; characters that turn the direction of writing make a line read as another one; a spreadsheet
calculates what begins like a formula.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

# Controls of both halves of Latin-1, and what Unicode has to format, to turn and to hide: category Cf without the two
# joiners that Persian and Hindi need, line and paragraph separators, halves of characters.
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001-\U000e007f"
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # the wide forms too: some spreadsheets take them for the narrow ones

# What begins like a formula, or like one that is guarded, for files that are read again as they were: an apostrophe
# before it guards it, and taking one away from what then begins so gives it back. In the words of RE2 and Rust.
FORMULA_CELL = f"('*[ \t\n\r\f\v\u00a0\u2000-\u200a\u3000]*[{''.join(map(re.escape, _FORMULA))}].)"


def decode(data: bytes) -> str:
    """Bytes as text: UTF-8, or Latin-1 where they are not.

    >>> decode(b"Gr\\xc3\\xbcnfeld"), decode(b"Gr\\xfcnfeld")
    ('Grünfeld', 'Grünfeld')
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def printable(text: str, longest: int | None = None, *, lines: bool = False) -> str:
    r"""The text with its controls and hidden characters written as escapes; line ends and tabs stay where `lines`.

    What is longer than `longest` loses its middle.

    >>> print(printable("\x1b[31mRed\r"), printable("a\tb\u202e"), printable("abcdefghij", 7))
    \x1b[31mRed\r a\tb\u202e abc…hij
    """
    plain = text.replace("\n", "").replace("\t", "") if lines else text
    if not (plain.isascii() and plain.isprintable()):
        text = _hidden(lines).sub(_escape, text)
    return shorten(text, longest)


@cache
def _hidden(lines: bool) -> re.Pattern[str]:
    """What must be escaped; made when it is needed, for that takes as long as reading a small list."""
    return re.compile(f"[{_HIDDEN}]" if lines else f"[{_HIDDEN}\t\n]")


def shorten(text: str, longest: int | None) -> str:
    """The text without its middle if it has more than `longest` characters."""
    if longest is None or len(text) <= longest:
        return text
    head = longest // 2
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if "\udc80" <= character <= "\udcff":  # a byte that was no UTF-8 (PEP 383)
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def spreadsheet(text: str) -> str:
    """A text as a cell of a CSV file that people open: printable, and no formula; plain numbers stay as they are.

    >>> spreadsheet("=1+1"), spreadsheet("@x"), spreadsheet("-12.5"), spreadsheet("-"), spreadsheet("Anand")
    ("'=1+1", "'@x", '-12.5', '-', 'Anand')
    """
    bare = text.lstrip()
    guarded = bare.startswith(_FORMULA) and len(bare) > 1 and not _NUMBER.fullmatch(bare)
    return ("'" if guarded else "") + printable(text)


def json_text(value: Any, **how: Any) -> str:
    r"""JSON that can be printed: what a terminal must not see is escaped, and reads back as it was.

    >>> print(json_text({"name": "Müller\x9b"}))
    {"name": "Müller\u009b"}
    """
    import json

    return _hidden(lines=True).sub(
        lambda match: json.dumps(match.group())[1:-1], json.dumps(value, ensure_ascii=False, **how)
    )
