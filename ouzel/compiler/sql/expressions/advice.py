"""Advice in errors: what to write instead, where the types alone do not tell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ouzel.compiler.coercion import can_cast
from ouzel.compiler.expressions import Expression, Literal
from ouzel.compiler.sql.expressions.series import of_series
from ouzel.compiler.types import (
    BOOLEAN,
    DATE,
    VARCHAR,
    ArrayType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    MapType,
    RowType,
    TimestampType,
)

WrittenExpression = tuple[str, Expression]
"""An operand as it was written, and what it is."""

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_NUMBERS = (IntegerType, FloatType, DecimalType)


def of_operator(sign: str, left: WrittenExpression, right: WrittenExpression) -> str:
    """Advice for operands whose types an operator does not take; empty if there is none."""
    (text, value), (other_text, other) = left, right
    if sign in ("AND", "OR") and value.type == BOOLEAN:
        return _of_half_condition(sign, text, other_text, isinstance(other, Literal))
    if sign in ("+", "-") and isinstance(value.type, IntervalType) and isinstance(other.type, _NUMBERS):
        count, unit = other_text if other_text.isdigit() else "1", "MONTH" if value.type.months else "MINUTE"
        return f"say what the number counts: write {sign} INTERVAL '{count}' {unit}"
    if sign == "+" and value.type == other.type == VARCHAR:
        return f"write {text} || {other_text}"
    if sign == "DIV" and isinstance(value.type, _NUMBERS) and isinstance(other.type, _NUMBERS):
        return f"write CAST({text} / {other_text} AS BIGINT)"
    if sign == "||" and isinstance(value.type, ArrayType):
        joined = isinstance(other.type, ArrayType)
        return f"write {'ARRAY_CONCAT' if joined else 'ARRAY_APPEND'}({text}, {other_text})"
    if sign == "||":
        shown = (part if of.type == VARCHAR else f"CAST({part} AS VARCHAR)" for part, of in (left, right))
        return f"write {' || '.join(shown)}"
    if sign in ("+", "-") and isinstance(value.type, TimestampType | DateType) and isinstance(other.type, IntegerType):
        count, said = (
            other_text if other_text.isdigit() else "1",
            "" if value.type == DATE else "say what the number counts: ",
        )
        return f"{said}write {text} {sign} INTERVAL '{count}' DAY{' or SECOND' if said else ''}"
    is_span = re.fullmatch(r"(?i)'\d+ *(?:second|minute|hour|day|week|month|year)s?'", other_text)
    if sign in ("+", "-") and isinstance(value.type, TimestampType | DateType) and is_span:
        return f"write {text} {sign} INTERVAL {other_text}"
    if isinstance(value.type, TimestampType | DateType) and isinstance(other.type, IntegerType):
        day = re.search(r"\d{4}-\d\d-\d\d", other_text)  # without quotes it is a difference of numbers
        meant = day[0] if day else "2013-01-01"
        return "write a time: " + (f"DATE '{meant}'" if value.type == DATE else f"TIMESTAMP '{meant} 00:00:00'")
    if sign in _COMPARISONS and isinstance(value.type, IntervalType) and isinstance(other.type, _NUMBERS):
        count, unit = other_text if other_text.isdigit() else "1", "MONTH" if value.type.months else "MINUTE"
        return f"say what the number counts: write INTERVAL '{count}' {unit}"
    if sign in _COMPARISONS and value.type == BOOLEAN and (parts := _CHAINED.fullmatch(text)):
        return f"write {text} AND {parts[1]} {sign} {other_text}"
    if sign in _COMPARISONS and value.type == other.type and isinstance(value.type, RowType | ArrayType):
        return "a MAP in it has no order: compare what it has: a.x < b.x, a[1] < b[1]"
    if sign in ("+", "-") and value.type == VARCHAR and (moved := _of_text_as_time(sign, left, right)):
        return moved
    usual = "compare values of one type" if sign in _COMPARISONS else ""
    return _of_text_and_number(sign, left, right) or _of_cast(left, right) or usual


_CHAINED = re.compile(r"(?s)[^<>=]+(?:<=|>=|<|>|=)\s*([^<>=]+)")
"""`10 < amount`, of which more is compared."""


_TIME_TEXT = re.compile(r"\d{4}-\d\d?-\d\d?(?P<clock>[ T].*)?")
"""`2024-01-31`, and `2024-01-31 23:59:59`."""


def _of_text_as_time(sign: str, left: WrittenExpression, right: WrittenExpression) -> str:
    """Advice for a text to which days or an interval are added; empty if the text is no time, or what is added no span."""
    (text, value), (added, other) = left, right
    found = _TIME_TEXT.fullmatch(str(value.value)) if isinstance(value, Literal) else None
    span = added if isinstance(other.type, IntervalType) else ""
    if found and isinstance(other.type, IntegerType):
        span = f"INTERVAL '{added}' DAY" if added.isdigit() else f"{added} * INTERVAL '1' DAY"
    if not span or (isinstance(value, Literal) and not found):
        return ""
    if found:
        return f"write {'TIMESTAMP' if found['clock'] else 'DATE'} {text} {sign} {span}"
    return f"write CAST({text} AS TIMESTAMP(3)) {sign} {span}"


def _of_half_condition(sign: str, condition: str, value: str, is_constant: bool) -> str:
    """Advice for `a = 1 OR 2`: each side is a condition of its own."""
    parts = re.match(r"(?is)(.+?)\s*(=|<>|!=|<=|>=|<|>|\b(?:NOT\s+)?I?LIKE\b)", condition)
    if parts is None or not is_constant:
        return f"write a condition behind {sign}: {value} = ..."
    also = f", or {parts[1]} IN (...)" if sign == "OR" and parts[2] == "=" else ""
    return f"write a whole condition behind {sign}: {parts[1]} {parts[2]} {value}{also}"


def of_cast(text: str, kind: DataType, to: DataType) -> str:
    """Advice for a cast that there is not; empty if there is none."""
    if isinstance(kind, TimestampType) and isinstance(to, _NUMBERS):
        return f"write UNIX_SECONDS({text}), or UNIX_MILLIS({text})"
    if isinstance(kind, DateType) and isinstance(to, _NUMBERS):
        return f"write DATEDIFF({text}, DATE '1970-01-01') for days"
    if isinstance(kind, _NUMBERS) and isinstance(to, TimestampType):
        return f"write TO_TIMESTAMP_LTZ({text}, 0) of seconds, with 3 of milliseconds"
    if isinstance(kind, _NUMBERS) and isinstance(to, DateType):
        return f"write TO_DATE(CAST({text} AS VARCHAR), 'yyyyMMdd') of a number like 20130131"
    if isinstance(kind, _NUMBERS) and isinstance(to, IntervalType):
        return f"write {text} * INTERVAL '1' SECOND"
    return ""


def _of_text_and_number(sign: str, left: WrittenExpression, right: WrittenExpression) -> str:
    """Advice for a text compared with a number: if the text is no number, the comparison is what is wrong."""
    (text, value), (number, other) = (left, right) if left[1].type == VARCHAR else (right, left)
    if not isinstance(other.type, _NUMBERS) or value.type != VARCHAR:
        return ""
    if sign in _COMPARISONS and isinstance(other, Literal) and not isinstance(value, Literal):
        return f"{text} is {VARCHAR}: write '{number}' to compare texts, or CAST({text} AS {other.type}) to compare numbers"
    if not isinstance(value, Literal):
        return ""
    if _is_number(str(value.value)):
        return f"a number stands without quotes: write {value.value}"
    if sign == "+":
        shown = (part if of.type == VARCHAR else f"CAST({part} AS VARCHAR)" for part, of in (left, right))
        return f"write {' || '.join(shown)}"
    if sign not in _COMPARISONS:
        return f"{text} is no number: write one"
    return f"{number} is {other.type} and {text} is no number: write a number, or CAST({number} AS VARCHAR)"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _of_cast(left: WrittenExpression, right: WrittenExpression) -> str:
    """Text becomes what it meets; otherwise the right side becomes what the left is."""
    (text, value), (_, other) = (left, right) if left[1].type == VARCHAR else (right, left)
    if value.type == other.type or not can_cast(value.type, other.type):
        return ""
    return f"CAST one of them, for example CAST({text} AS {other.type})"


def of_aggregate(name: str, text: str, kind: DataType) -> str:
    """Advice for an aggregate of a value that it does not take; empty if there is none."""
    if kind == BOOLEAN and name == "sum":
        return f"write COUNT_IF({text})"
    if name == "string_agg":
        return f"write STRING_AGG(CAST({text} AS VARCHAR), ', ')"
    if kind == BOOLEAN and name == "avg":
        return f"write AVG(CASE WHEN {text} THEN 1e0 ELSE 0e0 END)"
    return ""


_LENGTHS = ("length", "char_length", "character_length", "len")
_JSON = ("json_value", "get_json_object", "json_exists", "json_query")
_ITEM_SECOND = ("array_contains", "array_position", "array_remove", "array_append", "array_prepend")


def of_arguments(name: str, texts: Sequence[str], values: Sequence[Expression]) -> str:
    """Advice for a call of a function that we have, whose arguments are of types or in an order that it does not take; else empty."""
    kinds = [value.type for value in values]
    match kinds:
        case [DateType() | TimestampType(), *_] if name == "sequence" and (series := of_series(texts, are_times=True)):
            return f"write {series}"
        case [ArrayType() | MapType()] if name in _LENGTHS:
            return f"write CARDINALITY({texts[0]})"
        case [ArrayType(), _] if name == "contains":
            return f"write ARRAY_CONTAINS({', '.join(texts)})"
        case [first, ArrayType()] if name in _ITEM_SECOND and not isinstance(first, ArrayType):
            return f"the array comes first: write {name.upper()}({texts[1]}, {texts[0]})"
        case [TimestampType() | DateType()] if name in ("to_date", "to_timestamp"):
            return f"it is a time already: write CAST({texts[0]} AS {name.removeprefix('to_').upper()})"
        case [IntegerType() | FloatType() | DecimalType()] if name in ("to_timestamp", "to_timestamp_ltz"):
            return (
                f"say what the number counts: write TO_TIMESTAMP_LTZ({texts[0]}, 3) of milliseconds, with 0 of seconds"
            )
        case [RowType() | ArrayType() | MapType() as whole, *_] if name in _JSON:
            path = values[1].value if len(values) > 1 and isinstance(values[1], Literal) else ""
            return _of_path(texts[0], re.sub(r"^\$\.?", "", str(path)), whole)
    return ""


def _of_path(text: str, path: str, whole: DataType) -> str:
    """How a part of what is no JSON text is written."""
    match whole:
        case RowType():
            return f"{text} is a ROW, and no JSON text: write {text}.{path or 'field'}"
        case MapType():
            return f"{text} is a MAP, and no JSON text: write {text}['{path or 'key'}']"
    return f"{text} is an ARRAY, and no JSON text: write {text}[1]"


def of_field(operand: Expression, field: str) -> str:
    """Advice for a field of what has no fields; empty if there is none."""
    shown = operand.written.part if operand.written else str(operand)
    match operand.type:
        case MapType():
            return f"write {shown}['{field}']"
        case ArrayType():
            return f"write {shown}[1].{field}" if isinstance(operand.type.element, RowType) else f"write {shown}[1]"
        case kind if kind == VARCHAR:
            return f"write JSON_VALUE({shown}, '$.{field}') if it is JSON"
    return ""


def as_text(number: str) -> str:
    """How a number stands where all others are texts."""
    return f"write '{number}' or CAST({number} AS VARCHAR)"
