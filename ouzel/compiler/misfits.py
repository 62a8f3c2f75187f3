"""What is told of a value that does not fit the column it is meant for: which field, and what to write."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal

from ouzel.compiler.types import (
    BooleanType,
    BytesType,
    DataType,
    DateType,
    DecimalType,
    Field,
    FloatType,
    IntegerType,
    IntervalType,
    TimestampType,
    VarcharType,
)

WITH_ZONE = (
    "a TIMESTAMP has no time zone: write time.astimezone(UTC).replace(tzinfo=None), "
    "or the field's type as Annotated[datetime, 'TIMESTAMP_LTZ(6)']"
)
_CLASSES: dict[type[DataType], tuple[type, ...]] = {
    VarcharType: (str,), BytesType: (bytes,), IntegerType: (int,), FloatType: (float, int), DecimalType: (Decimal, int),
    BooleanType: (bool,), DateType: (date,), TimestampType: (datetime,), IntervalType: (timedelta,),
}  # fmt: skip
"""Python's classes of each type; of lists, mappings and records nothing is told."""
_WRITE = {
    VarcharType: "str(…)", BytesType: "text.encode()", IntegerType: "int(…)", FloatType: "float(…)", BooleanType: "bool(…)",
    DateType: "date.fromisoformat(…)", TimestampType: "datetime.fromisoformat(…)", IntervalType: "timedelta(seconds=…)",
}  # fmt: skip


def describe_misfit(columns: Iterable[Field], values: Iterable[object]) -> str:
    """Why the first of these values that is of another class than its column's does not fit; empty if none is."""
    told = (_describe(field, value) for field, value in zip(columns, values, strict=False))
    return next(filter(None, told), "")


def _describe(field: Field, value: object) -> str:
    kind, plain = field.type, type(value)
    fitting = _CLASSES.get(type(kind), (object,))
    if isinstance(value, datetime) and isinstance(kind, TimestampType):
        return WITH_ZONE if value.tzinfo is not None and not kind.local else ""
    if isinstance(value, float) and isinstance(kind, DecimalType):
        return f"{field.name} is {kind}, and {value!r} is a float, which is not exact; write Decimal('{value!r}')"
    is_other = (isinstance(value, bool) and bool not in fitting) or (
        isinstance(value, datetime) and datetime not in fitting
    )
    if value is None or (isinstance(value, fitting) and not is_other):
        return _describe_number(field, value)
    shown = f"{value!r:.60}"
    if isinstance(value, datetime) and isinstance(kind, DateType):
        instead = "take its .date()"
    elif isinstance(value, date) and isinstance(kind, TimestampType):
        instead = f"write datetime({value.year}, {value.month}, {value.day})"
    elif isinstance(kind, DecimalType):
        instead = "write Decimal(…)"
    else:
        instead = f"write {_WRITE[type(kind)]}, or declare it as {plain.__name__}"
    return f"{field.name} is {kind}, and {shown} is of type {plain.__name__}; {instead}"


def _describe_number(field: Field, value: object) -> str:
    """Of a number of the right class that has too many digits."""
    kind = field.type
    if (
        isinstance(value, int)
        and isinstance(kind, IntegerType)
        and not -(2 ** (kind.bits - 1)) <= value < 2 ** (kind.bits - 1)
    ):
        return f"{field.name} is {kind}, which has {kind.bits} bits, and {value!s:.60} needs more"
    return ""
