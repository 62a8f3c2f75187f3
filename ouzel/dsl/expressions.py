"""Expressions over columns, in Python: `col("price") * 2`, `fn.upper(col("name"))`. They are SQL's, by the same registry of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ouzel.compiler.expressions import Cast, Column, Expression, Literal
from ouzel.compiler.functions import lookup
from ouzel.compiler.functions.operands import decimal_of_digits
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.records import PLAIN, Hint, type_of
from ouzel.compiler.sql.queries.scope import near
from ouzel.compiler.types import INT, NULL, TIMESTAMP_LTZ, DataType, Schema
from ouzel.errors import QueryError, TypeMismatch

ELSEWHERE = {
    "alias": "write select(name=expression)", "isin": "write (a == 1) | (a == 2)", "is_in": "write (a == 1) | (a == 2)",
    "between": "write (a >= low) & (a <= high)", "isNull": "call is_null()", "isNotNull": "write ~a.is_null()",
    "astype": "call cast(type)", "sum": "map to pairs, and call sum_by_key(monoid.Sum())",
    "count": "map to pairs, and call sum_by_key(monoid.Count())",
    **dict.fromkeys(("apply", "map", "map_elements", "pipe", "transform"), "call map(lambda record: …) of the stream"),
    **dict.fromkeys(("mean", "avg", "max", "min", "agg", "nunique"), "map to pairs, and call sum_by_key(monoid.Mean()), or another monoid"),
    **dict.fromkeys(("over", "shift", "lag", "diff", "rank", "rolling", "cumsum"), "call sql('SELECT …, LAG(x) OVER (…) FROM this')"),
    **dict.fromkeys(("contains", "str", "rlike", "match"), "write fn.regexp_like(col('name'), 'pattern')"),
    **dict.fromkeys(("dt", "year", "month", "day", "hour"), "write fn.date_trunc('DAY', col('ts'))"),
    **dict.fromkeys(("fillna", "fill_null", "fill_nan"), "write fn.coalesce(col('name'), value)"),
    **dict.fromkeys(("isna", "isnull", "is_none"), "call is_null()"),
    **dict.fromkeys(("notna", "notnull", "is_not_null"), "write ~a.is_null()"),
    **dict.fromkeys(("asc", "desc", "sort"), "call sql('SELECT … ORDER BY … LIMIT n')"),
    **dict.fromkeys(("when", "otherwise", "where"), "write fn.iff(condition, a, b)"), "getItem": "write fn.element_at(a, 1)",
}  # fmt: skip
"""What other libraries' expressions have, and what to write here."""


PATTERN = "'U%'"
"""What LIKE takes, as an example."""


@dataclass(frozen=True, eq=False, repr=False)
class Expr:
    """An expression; `bind` gives it types, once it is known what columns there are."""

    bind: Callable[[Schema], Expression]
    shown: str

    def __str__(self) -> str:
        return self.shown

    __repr__ = __str__

    def __add__(self, other: object) -> Expr:
        return _call("add", self, other)

    def __radd__(self, other: object) -> Expr:
        return _call("add", other, self)

    def __sub__(self, other: object) -> Expr:
        return _call("subtract", self, other)

    def __rsub__(self, other: object) -> Expr:
        return _call("subtract", other, self)

    def __mul__(self, other: object) -> Expr:
        return _call("multiply", self, other)

    def __rmul__(self, other: object) -> Expr:
        return _call("multiply", other, self)

    def __truediv__(self, other: object) -> Expr:
        return _call("divide", self, other)

    def __rtruediv__(self, other: object) -> Expr:
        return _call("divide", other, self)

    def __mod__(self, other: object) -> Expr:
        return _call("modulo", self, other)

    def __neg__(self) -> Expr:
        return _call("negate", self)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        self._refuse_none(other)
        return _call("eq", self, other)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        self._refuse_none(other)
        return _call("ne", self, other)

    def __lt__(self, other: object) -> Expr:
        return _call("lt", self, other)

    def __le__(self, other: object) -> Expr:
        return _call("le", self, other)

    def __gt__(self, other: object) -> Expr:
        return _call("gt", self, other)

    def __ge__(self, other: object) -> Expr:
        return _call("ge", self, other)

    def __and__(self, other: object) -> Expr:
        return _call("and", self, other)

    def __or__(self, other: object) -> Expr:
        return _call("or", self, other)

    if not TYPE_CHECKING:

        def __rand__(self, other: object) -> object:
            raise _without_parentheses("&", self, other)

        def __ror__(self, other: object) -> object:
            raise _without_parentheses("|", self, other)

    def __invert__(self) -> Expr:
        return _call("not", self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"whether {self.shown} is true is known of each record only; "
            "write (a > 1) & (b > 2) for and, | for or, ~ for not, with parentheses around each part, "
            "and fn.iff(condition, a, b) for a if condition else b"
        )

    __hash__ = object.__hash__

    @property
    def _written(self) -> str:
        """The expression as a program writes it."""
        return f"col({self.shown!r})" if self.shown.isidentifier() else f"({self.shown})"

    if not TYPE_CHECKING:

        def __pow__(self, other: object) -> object:
            raise TypeError(f"write fn.power({self._written}, {other!r:.60})")

        def __abs__(self) -> object:
            raise TypeError(f"write fn.abs({self._written})")

        def __round__(self, places: int = 0) -> object:
            raise TypeError(f"write fn.round({self._written}, {places!r:.60})")

        def __len__(self) -> int:
            raise TypeError(
                f"{self.shown} has a length in each record; write fn.char_length({self._written}), or fn.cardinality of an array"
            )

        def __int__(self) -> int:
            raise TypeError(f"{self.shown} has a value in each record; write {self._written}.cast(int)")

        def __float__(self) -> float:
            raise TypeError(f"{self.shown} has a value in each record; write {self._written}.cast(float)")

        def __getitem__(self, place: object) -> object:
            raise TypeError(
                f"parts of {self.shown} are of each record; write map(lambda record: …), or sql() with {self.shown}[1]"
            )

        def __getattr__(self, name: str) -> object:
            if name.startswith("_") or name in ("bind", "shown"):
                raise AttributeError(name)
            told = (
                f"write fn.{name}({_written(self)}, {PATTERN if name.endswith('like') else '...'})"
                if lookup(name)
                else "see docs/functions.md, and write fn.name(...)"
            )
            raise AttributeError(f"an expression has no {name}; {ELSEWHERE.get(name) or told}")

    def _refuse_none(self, other: object) -> None:
        """See that it is not compared with None, which equals nothing in SQL, so that no record would ever be taken."""
        if other is None:
            shown = _written(self)
            raise TypeError(
                f"{self.shown} is compared with None, which equals nothing; write {shown}.is_null(), or ~{shown}.is_null()"
            )

    def is_null(self) -> Expr:
        """Whether there is no value."""
        return _call("is_null", self)

    def cast(self, to: Hint) -> Expr:
        """The value as another type: Python's, or SQL's as a text."""
        from typing import Annotated

        kind = type_of(Annotated[object, to] if isinstance(to, str) else to)
        return Expr(lambda schema: _cast(self.bind(schema), kind), f"CAST({self.shown} AS {kind})")


def col(name: str) -> Expr:
    """A column of the record.

    Raises:
        QueryError: its name is no text.
    """
    if not isinstance(name, str):
        raise QueryError(f"a column goes by its name, and {name!r:.60} is no text", instead="write col('amount')")

    def bind(schema: Schema) -> Expression:
        if name not in schema:
            raise QueryError(f"there is no column {name}", instead=near(name, schema.names))
        return Column(schema[name].type, name)

    return Expr(bind, name)


def lit(value: object) -> Expr:
    """A constant."""
    return Expr(lambda schema: Literal(_type(value), value), repr(value))


class RegistryFunctions:
    """SQL's functions by name, and those of `ouzel.function`: `fn.substring(col("word"), 1, 3)`."""

    def __getattr__(self, name: str) -> Callable[..., Expr]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *arguments: _call(name, *arguments)


fn = RegistryFunctions()
"""SQL's functions."""


AGGREGATES = {
    "sum": "Sum()", "count": "Count()", "avg": "Mean()", "mean": "Mean()", "min": "Min()", "max": "Max()", "first": "First()",
    "last": "Last()", "collect_list": "ListOf()", "collect_set": "SetOf()", "array_agg": "ListOf()", "count_distinct": "HyperLogLog()",
    "approx_count_distinct": "HyperLogLog()", "median": "Quantile(0.5)", "max_by": "MaxBy()", "min_by": "MinBy()",
}  # fmt: skip
"""Aggregates, and the monoids that add up so."""


SIGNS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=", "and": "&", "or": "|",
}  # fmt: skip
"""How a program writes calls of two operands."""


def _written(expression: Expr) -> str:
    """A column as a program writes it; of any other expression only its place, for it is shown as SQL."""
    return f"col({expression.shown!r})" if expression.shown.isidentifier() else "(…)"


def _without_parentheses(sign: str, right: Expr, left: object) -> TypeError:
    """The error for `col("a") > 1 & col("b")`, which Python reads as `col("a") > (1 & col("b"))`."""
    return TypeError(
        f"{sign} binds tighter than a comparison, so this is {left!r} {sign} {right}; "
        f"put parentheses around each comparison: (a > {left!r}) {sign} ({_written(right)} == b)"
    )


def _call(function: str, *arguments: object) -> Expr:
    parts = [one if isinstance(one, Expr) else lit(one) for one in arguments]
    if function in SIGNS and len(parts) == 2:
        shown = f" {SIGNS[function]} ".join(f"({part.shown})" if " " in part.shown else part.shown for part in parts)
    else:
        shown = f"{function.upper()}({', '.join(part.shown for part in parts)})"

    def bind(schema: Schema) -> Expression:
        if function not in SIGNS:
            _check_names(function, arguments, schema)
        bound = [part.bind(schema) for part in parts]
        if lookup(function) is None and function in AGGREGATES:
            raise QueryError(
                f"fn.{function}(…) adds records up, and an expression is of one record",
                instead=f"map to pairs, and call sum_by_key(monoid.{AGGREGATES[function]})",
            )
        try:
            return resolve_call(function, bound)
        except TypeMismatch as error:
            if function not in SIGNS:
                raise
            types = f" {SIGNS[function]} ".join(str(one.type) for one in bound)
            raise TypeMismatch(
                f"{shown} is {types}, which is not possible", instead="cast one of them, as col(...).cast(int)"
            ) from error

    return Expr(bind, shown)


def _check_names(function: str, arguments: Sequence[object], schema: Schema) -> None:
    """See that no text is given first, or without any column, where a column has that name: `fn.upper("city")` is 'CITY'.

    Raises:
        QueryError: one is.
    """
    lone = not any(isinstance(one, Expr) for one in arguments)
    for place, given in enumerate(arguments):
        if isinstance(given, str) and given in schema and (lone or place == 0):
            rest = ", …" if len(arguments) > 1 else ""
            raise QueryError(
                f"fn.{function}({given!r}{rest}) is of the text {given!r}, and there is a column of that name",
                instead=f"write fn.{function}(col({given!r})) for the column, or lit({given!r}) for the text",
            )


def _cast(value: Expression, kind: DataType) -> Expression:
    """As in SQL: a constant that is cast has its type's digits beside a DECIMAL, and not those that it is written with."""
    return value if value.type == kind else Cast(kind, value)


def _type(value: Any) -> DataType:
    if value is None:
        return NULL
    if isinstance(value, Decimal) and value.is_finite():
        return decimal_of_digits(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return TIMESTAMP_LTZ
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31:
        return INT  # as a number in SQL is
    for kind in (bool, int, float, str, bytes, datetime, date, timedelta):
        if isinstance(value, kind):
            return PLAIN[kind]
    raise QueryError(f"{value!r} is no constant of SQL", instead="use a text, a number, a time, or None")
