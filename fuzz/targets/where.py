"""Filter expressions: a filter or a WhereError, the same when it is written out again, and never anything evaluated."""

from __future__ import annotations

import ast
import sys
import unicodedata  # noqa: F401 - Python's own parser imports it when it first meets such a letter
import zlib
from typing import Any

import polars as pl

from assay.errors import WhereError
from assay.games.where import INDEX_TYPES, compile_where

SEEDS = tuple(
    text.encode()
    for text in (
        '1900 <= white_elo < 2000 and result == "1-0"',
        'abs(white_elo - black_elo) < 50 and speed in ("blitz", "rapid")',
        'startswith(opening, "Sicilian") or opening.contains("French") and not has_clock',
        'white_title != "BOT" and (plies // 2 + 1) % 10 == 0 and white_elo * 1.5 > -3 / black_elo',
        'variant is None or eco not in ["A00", None, "B12"]',
        'white == black and event is not None and "Open" in event and has_eval == True',
        '__import__("os").system("true")',
        "(lambda: 0)() or [x for x in (1, 2)] or open.__class__",
        "1 if white_elo else 2; white_elo := 3",
    )
)
WORDS = (
    *INDEX_TYPES,
    *(" and ", " or ", "not ", " in ", " is ", "None", "True", "==", "!=", "<=", "//", "%", "**", "(", ")", "[", "]"),
    *(
        "abs(",
        "startswith(",
        ".contains(",
        '"x"',
        "1e308",
        "9223372036854775807",
        "0x1F",
        "lambda: ",
        "__class__",
        "f'{",
    ),
)
_FRAME = pl.DataFrame(
    {name: [None, *_some] for name, kind in INDEX_TYPES.items() for _some in [{
        pl.String(): ["", "1-0", "Sicilian"], pl.Boolean(): [True, False, True]}.get(kind, [0, 1900, -7])]},
    schema=INDEX_TYPES,
)  # fmt: skip
# What Python tells when somebody runs, imports or opens something.
_ACTS = {"exec", "import", "open", "os.system", "subprocess.Popen", "socket.connect", "ctypes.dlopen"}
_watching: list[str] = []
_acted: list[str] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event in _ACTS:
        _acted.append(f"{event} {arguments[:1]}")


def check(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    _acted.clear()
    _watching.append(text)
    try:
        condition = compile_where(text)
    except WhereError:
        return
    finally:
        _watching.clear()
        assert not _acted, f"the filter acted: {_acted}"
    found = _FRAME.select(condition.alias("is"))["is"]
    assert found.dtype == pl.Boolean and not found.null_count(), "neither true nor false"
    if zlib.crc32(data) % 4:
        return
    again = compile_where(ast.unparse(ast.parse(text.strip(), mode="eval")))
    assert _FRAME.select(again.alias("is"))["is"].equals(found), "written out, it means something else"


for _seed in SEEDS:  # what polars imports when it is first used is no act of a filter
    check(_seed)
sys.addaudithook(_watch)
