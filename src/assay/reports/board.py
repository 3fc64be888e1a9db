"""The pieces of the board, drawn once and used by reference; the page's script places them."""

from __future__ import annotations

import re
from functools import cache

import chess.svg
from markupsafe import Markup

_STYLE = re.compile(r' style="([^"]*)"')
_DECLARATION = re.compile(r"\s*([a-z-]+)\s*:\s*([^;]+?)\s*(?:;|$)")
_NAMES = re.compile(r' (?:id|class)="[^"]*"')


@cache
def piece_symbols() -> Markup:
    """The twelve pieces of python-chess as SVG symbols with the ids `wP` to `bK`.

    Style attributes become presentation attributes: the page's security policy allows no inline style.
    """
    symbols = []
    for letter, drawing in chess.svg.PIECES.items():
        name = ("w" if letter.isupper() else "b") + letter.upper()
        plain = _STYLE.sub(_as_attributes, _NAMES.sub("", drawing))
        symbols.append(f'<symbol id="{name}" viewBox="0 0 45 45">{plain}</symbol>')
    return Markup("".join(symbols))


def _as_attributes(style: re.Match[str]) -> str:
    declared = dict(_DECLARATION.findall(style.group(1)))
    return "".join(f' {name}="{value}"' for name, value in declared.items())
