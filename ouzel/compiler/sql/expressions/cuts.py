"""CAST to a type that is written with a length: what the value is cut to."""

from __future__ import annotations

from ouzel.compiler.expressions import Expression, Literal
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.sql.syntax.source import QueryText, Span
from ouzel.compiler.types import INT, VARCHAR, DataType, TimestampType, VarcharType
from ouzel.errors import NotSupported

_NO_LIMIT = (1 << 31) - 1
"""Flink's VARCHAR(2147483647) is STRING."""
_MICROSECONDS = 6
"""Digits of a second that are held."""
_UNITS = {0: "SECOND", 3: "MILLISECOND"}


def cut(source: QueryText, span: Span, value: Expression, kind: DataType) -> Expression:
    """The value, as `span` casts it, without what its type as it is written has no place for.

    Raises:
        NotSupported: the type is filled up with spaces.
    """
    match kind:
        case VarcharType(longest=int(longest), padded=True):
            advice = f"write RPAD(CAST(value AS STRING), {longest}, ' ')"
            raise source.error(f"CAST to CHAR({longest}) is not supported", span, advice, NotSupported)
        case VarcharType(longest=int(longest)) if longest < _NO_LIMIT:
            return resolve_call("left", [value, Literal(INT, longest)])
        case TimestampType(digits=digits) if digits < _MICROSECONDS:
            if digits not in _UNITS:
                raise source.error(
                    f"CAST to TIMESTAMP({digits}) is not supported",
                    span,
                    "write TIMESTAMP(0), (3) or (6)",
                    NotSupported,
                )
            return resolve_call("date_trunc", [Literal(VARCHAR, _UNITS[digits]), value])
    return value
