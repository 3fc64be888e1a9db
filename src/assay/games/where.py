"""The filter language: a Python-like expression over the columns of an index, made into a polars expression.

The text is parsed with Python's own parser, and every node of the tree must be on a short list. Nothing is evaluated.
Comparisons follow Python's two-valued logic where a value is missing: `white_title != "BOT"` holds for a player
without a title, `white_elo > 2000` does not hold for one without a rating.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from assay.errors import WhereError
from assay.games.columns import SCHEMA, TEXT, rows
from assay.games.split import Split
from assay.records import dataclass

Kind = Literal["number", "text", "truth", "nothing"]

_NUMBERS = {pa.int64(): pl.Int64(), pa.int32(): pl.Int32(), pa.float64(): pl.Float64()}
_POLARS = {**_NUMBERS, pa.bool_(): pl.Boolean(), TEXT: pl.String()}
INDEX_TYPES: dict[str, pl.DataType] = {field.name: _POLARS[field.type] for field in SCHEMA}

AVERAGE = "avg_elo"  # no column of an index, but what many ask for: the mean of both ratings
_MOST = 10_000  # characters: more than anybody types, less than the parser chokes on
_OPERATORS: dict[type[ast.operator], Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_ORDER: dict[type[ast.cmpop], Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}
_SUGGESTION: dict[type[ast.AST], str] = {ast.BitAnd: "and", ast.BitOr: "or", ast.Invert: "not"}


@dataclass(frozen=True)
class _Term:
    """A part of the expression: what it computes, of which kind, and its value if it is a constant."""

    expr: pl.Expr
    kind: Kind
    source: str
    constant: bool = False
    value: Any = None


def compile_where(expression: str, schema: Mapping[str, pl.DataType] | None = None) -> pl.Expr:
    """Make a filter for a frame with this schema; without one, for rows of an index.

    >>> frame = pl.DataFrame({"white_elo": [1850, 1950, None], "result": ["1-0", "1-0", "0-1"]})
    >>> frame.filter(compile_where('1900 <= white_elo < 2000 and result == "1-0"', frame.schema)).height
    1
    >>> compile_where("white_elo > 1900 and blak_elo > 1900")
    Traceback (most recent call last):
    assay.errors.WhereError: there is no column 'blak_elo'; did you mean 'black_elo'?
    """
    columns = INDEX_TYPES if schema is None else schema
    if len(expression) > _MOST:
        raise WhereError(f"the filter is {len(expression):,} characters long; the most is {_MOST:,}.")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        return _Reader(expression.strip(), columns).truth(tree.body).expr
    except SyntaxError as error:
        hint = " Compare with ==." if _assigns(expression) else ""
        raise WhereError(f"the filter does not parse: {error.msg} at character {error.offset}.{hint}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise WhereError(f"the filter does not parse: {str(error) or 'it is nested too deeply'}.") from error


def chooser(expression: str, source: str, problems: Counter[str]) -> Callable[[Split], npt.NDArray[np.bool_]]:
    """A function that tells for which games of a buffer a filter holds; damage of tags is counted."""
    condition = compile_where(expression)

    return lambda part: holds(condition, rows(part, source, problems))


def holds(condition: pl.Expr, batch: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """For which rows of an index a compiled filter holds."""
    frame = pl.DataFrame(pl.from_arrow(batch))
    return frame.with_columns(condition.alias("_holds"))["_holds"].to_numpy()


def _assigns(expression: str) -> bool:
    plain = expression
    for operator in ("==", "<=", ">=", "!="):
        plain = plain.replace(operator, "")
    return "=" in plain


class _Reader:
    """Walks over the tree of one expression."""

    def __init__(self, text: str, schema: Mapping[str, pl.DataType]) -> None:
        self.text, self.schema = text, schema

    def source(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.text, node) or self.text

    def truth(self, node: ast.expr) -> _Term:
        term = self.term(node)
        if term.kind != "truth":
            raise WhereError(f"{term.source!r} is neither true nor false; compare it with something.")
        return term

    def term(self, node: ast.expr) -> _Term:
        match node:
            case ast.BoolOp(op=op, values=values):
                terms = [self.truth(value).expr for value in values]
                joined = pl.all_horizontal(terms) if isinstance(op, ast.And) else pl.any_horizontal(terms)
                return self.made(node, joined, "truth")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.made(node, ~self.truth(operand).expr, "truth")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.number(operand)
                return _Term(-inner.expr, "number", self.source(node), inner.constant, _negative(inner))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                # As floats, so that no product of large numbers wraps around.
                a, b = (self.number(side).expr.cast(pl.Float64) for side in (left, right))
                return self.made(node, _OPERATORS[type(op)](a, b), "number")
            case ast.Compare():
                return self.comparison(node)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self.call(node, name, args)
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=args, keywords=[]):
                return self.call(node, name, [value, *args])
            case ast.Name(id=name):
                return self.column(node, name)
            case ast.Constant(value=value):
                return self.constant(node, value)
        raise WhereError(self.refusal(node))

    def made(self, node: ast.AST, expr: pl.Expr, kind: Kind) -> _Term:
        return _Term(expr, kind, self.source(node))

    def number(self, node: ast.expr) -> _Term:
        return self.of_kind(node, "number", "a number")

    def of_kind(self, node: ast.expr, kind: Kind, name: str) -> _Term:
        term = self.term(node)
        if term.kind != kind:
            raise WhereError(f"{term.source!r} is not {name}.")
        return term

    def column(self, node: ast.Name, name: str) -> _Term:
        ratings = ("white_elo", "black_elo")
        averaged = all(rating in self.schema for rating in ratings)
        if name == AVERAGE and averaged:
            white, black = (pl.col(rating).cast(pl.Float64) for rating in ratings)
            return self.made(node, (white + black) / 2, "number")
        if name not in self.schema:
            names = [*self.schema, *([AVERAGE] if averaged else [])]
            near = get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(names)}."
            raise WhereError(f"there is no column {name!r}; {hint}")
        kind = _kind(self.schema[name])
        column = pl.col(name)
        # Text may come as categories, which know fewer operations.
        expr = {"truth": column.fill_null(False), "text": column.cast(pl.String)}.get(kind, column)
        return self.made(node, expr, kind)

    def constant(self, node: ast.Constant, value: object) -> _Term:
        kind: Kind
        match value:
            case bool():
                kind = "truth"
            case int():
                kind = "number"
                if not -(2**63) <= value < 2**63:
                    raise WhereError(f"the number {self.source(node)} is too large.")
            case float():
                kind = "number"
            case str():
                kind = "text"
            case None:
                kind = "nothing"
            case _:
                raise WhereError(self.refusal(node))
        return _Term(pl.lit(value), kind, self.source(node), constant=True, value=value)

    def comparison(self, node: ast.Compare) -> _Term:
        operands = [node.left, *node.comparators]
        pairs = zip(operands[:-1], node.ops, operands[1:], strict=True)
        links = [self.link(left, op, right) for left, op, right in pairs]
        return self.made(node, links[0] if len(links) == 1 else pl.all_horizontal(links), "truth")

    def link(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> pl.Expr:
        """One link of a chain of comparisons."""
        match op:
            case ast.In() | ast.NotIn():
                found = self.membership(left, right)
                return ~found if isinstance(op, ast.NotIn) else found
            case ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq():
                equal = self.equality(left, right, identity=isinstance(op, ast.Is | ast.IsNot))
                return ~equal if isinstance(op, ast.IsNot | ast.NotEq) else equal
        a, b = self.term(left), self.term(right)
        if a.kind != b.kind or a.kind not in ("number", "text"):
            raise WhereError(f"{a.source!r} and {b.source!r} cannot be ordered: {_a(a.kind)} and {_a(b.kind)}.")
        return _ORDER[type(op)](a.expr, b.expr).fill_null(False)

    def equality(self, left: ast.expr, right: ast.expr, *, identity: bool) -> pl.Expr:
        a, b = self.term(left), self.term(right)
        if a.kind == "nothing":
            a, b = b, a
        if b.kind == "nothing":
            return pl.lit(True) if a.kind == "nothing" else _presence(a).is_null()
        if identity:
            raise WhereError(f"'is' goes with None only; compare {a.source!r} with ==.")
        if a.kind != b.kind:
            raise WhereError(f"{a.source!r} and {b.source!r} are never equal: {_a(a.kind)} and {_a(b.kind)}.")
        return a.expr.eq_missing(b.expr)

    def membership(self, left: ast.expr, right: ast.expr) -> pl.Expr:
        item = self.term(left)
        if not isinstance(right, ast.Tuple | ast.List | ast.Set):
            return self.contains(self.of_kind(right, "text", "text, nor a list of values"), item)
        members = [self.term(element) for element in right.elts]
        for member in members:
            if not member.constant:
                raise WhereError(f"{member.source!r} in a list must be a plain value.")
            if member.kind not in (item.kind, "nothing"):
                raise WhereError(f"{member.source!r} is not {_a(item.kind)}, as {item.source!r} is.")
        values = [member.value for member in members if member.kind != "nothing"]
        if item.kind == "number":  # whole numbers and others side by side
            item = replace(item, expr=item.expr.cast(pl.Float64))
            values = [float(value) for value in values]
        found = item.expr.is_in(values).fill_null(False) if values else pl.lit(False)
        return found | item.expr.is_null() if len(values) < len(members) else found

    def call(self, node: ast.Call, name: str, args: list[ast.expr]) -> _Term:
        wanted = {"abs": 1, "startswith": 2, "contains": 2}
        if name not in wanted:
            near = get_close_matches(name, wanted, n=1)
            hint = f" did you mean {near[0]!r}?" if near else f" there are {', '.join(wanted)}."
            raise WhereError(f"there is no function {name!r};{hint}")
        if len(args) != wanted[name]:
            example = {"abs": "abs(white_elo - black_elo)"}.get(name, f'{name}(opening, "Sicilian")')
            raise WhereError(f"{name} is written {example}.")
        if name == "abs":
            return self.made(node, self.number(args[0]).expr.abs(), "number")
        text, part = self.of_kind(args[0], "text", "text"), self.term(args[1])
        if name == "contains":
            return self.made(node, self.contains(text, part), "truth")
        return self.made(node, text.expr.str.starts_with(self.plain_text(part)).fill_null(False), "truth")

    def contains(self, text: _Term, part: _Term) -> pl.Expr:
        return text.expr.str.contains(self.plain_text(part), literal=True).fill_null(False)

    def plain_text(self, term: _Term) -> str:
        if not (term.constant and isinstance(term.value, str)):
            raise WhereError(f"{term.source!r} must be a text in quotes.")
        return term.value

    def refusal(self, node: ast.expr) -> str:
        operator: object = getattr(node, "op", None)
        for kind, word in _SUGGESTION.items():
            if isinstance(operator, kind):
                return f"{self.source(node)!r}: write {word!r}."
        return (
            f"{self.source(node)!r} is not allowed in a filter: use comparisons, and, or, not, in, is None, "
            "+ - * / // %, abs, startswith, contains."
        )


def _negative(term: _Term) -> Any:
    return -term.value if term.constant else None


def _presence(term: _Term) -> pl.Expr:
    """The column itself for a test of None: truth values are read as False where missing."""
    return pl.col(term.source) if term.kind == "truth" and term.source.isidentifier() else term.expr


def _kind(type_: pl.DataType) -> Kind:
    if type_ == pl.Boolean:
        return "truth"
    return "number" if type_.is_numeric() else "text"


def _a(kind: Kind) -> str:
    return {"number": "a number", "text": "a text", "truth": "a truth value", "nothing": "None"}[kind]
