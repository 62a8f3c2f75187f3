"""A constant text that can never be of the type it is cast to."""

from __future__ import annotations

from ouzel.compiler.expressions import Cast, Expression, Literal
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.types import (
    VARCHAR,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    TimestampType,
)

_WRITTEN: tuple[tuple[type[DataType], str], ...] = (
    (DateType, "write DATE '2024-01-31'"),
    (TimestampType, "write TIMESTAMP '2024-01-31 23:59:59'"),
    (BooleanType, "write TRUE or FALSE"),
)
"""How a value of a type is written; of the others it is a number."""
_READ = (BooleanType, DateType, DecimalType, FloatType, IntegerType, TimestampType)


def note_unreadable(source: QueryText, span: Span, shown: str, value: Expression, kind: DataType) -> None:
    """Add a note where the cast of a constant text fails every row that reaches it."""
    if not isinstance(kind, _READ) or not isinstance(value, Literal) or value.type != VARCHAR or value.value is None:
        return
    if _is_failing(Cast(kind, value)):
        advice = next((written for of, written in _WRITTEN if isinstance(kind, of)), "write a number")
        problem = f"{shown} is no {kind}, so that each row fails which this is computed for"
        source.note(problem, span, f"{advice}; TRY_CAST would make it NULL")


def _is_failing(cast: Cast) -> bool:
    import polars as pl

    from ouzel.compiler.functions.kernel import evaluate, lower

    _, failed = evaluate(pl.DataFrame({"$row": [0]}), [("$value", lower(cast))])
    return failed is not None
