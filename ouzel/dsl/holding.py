"""Which values the type of a column holds, in plain Python: by none of the code that the engines have."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Context, Decimal
from typing import Any

from ouzel.compiler.records import Form, RecordType
from ouzel.compiler.types import (
    ArrayType,
    BooleanType,
    BytesType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    MapType,
    RowType,
    TimestampType,
    VarcharType,
)
from ouzel.dsl.shapes import as_tuples

NUMBER_CLASSES = (bool, int, float, Decimal)
"""Of other numbers, as NumPy's are, nothing is said here."""


EXACT = Context(prec=200)
"""Precise enough that no decimal of a column is rounded."""


def holds_record(record: RecordType, given: Any) -> bool:
    """Whether the columns hold what the record has for them."""
    plain = as_tuples(given)
    if record.form is Form.VALUE:
        return holds(record.columns[0].type, plain)
    return _holds_each([field.type for field in record.columns], plain)


def holds(kind: DataType, value: Any) -> bool:
    """Whether a column of this type holds a value, in which records are tuples."""
    match kind:
        case _ if value is None:
            return True
        case ArrayType(element):
            return all(holds(element, one) for one in value)
        case MapType(key, inner):
            return isinstance(value, Mapping) and all(holds(key, k) and holds(inner, v) for k, v in value.items())
        case RowType(parts):
            return _holds_each([part for _, part in parts], value)
        case VarcharType() | BytesType():
            return isinstance(value, str if isinstance(kind, VarcharType) else bytes)
        case DateType():
            return isinstance(value, date) and not isinstance(value, datetime)
        case TimestampType(local=local):
            return isinstance(value, datetime) and (local or value.tzinfo is None)
        case _ if type(value) in NUMBER_CLASSES:
            return _holds_number(kind, value)
    return not isinstance(value, str | bytes)


def _holds_each(kinds: list[DataType], values: Any) -> bool:
    return isinstance(values, tuple | list) and len(values) == len(kinds) and all(map(holds, kinds, values))


def _holds_number(kind: DataType, value: bool | float | Decimal) -> bool:
    match kind:
        case BooleanType():
            return isinstance(value, bool)
        case IntegerType(bits=bits):
            return isinstance(value, int) and -(2 ** (bits - 1)) <= value < 2 ** (bits - 1)
        case DecimalType(precision=precision, scale=scale):
            if not Decimal(value).is_finite():
                return False
            units = Decimal(value).scaleb(scale, EXACT)
            return units == units.to_integral_value() and abs(units) < 10**precision
        case FloatType():
            return not isinstance(value, Decimal)
    return True
