"""Columns of the tables that Spark's own readers read: in their types, made of text, and never NULL where the table says so."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.types import (
    TIMESTAMP,
    TIMESTAMP_LTZ,
    VARCHAR,
    ArrayType,
    BytesType,
    DataType,
    Field,
    MapType,
    RowType,
    Schema,
    TimestampType,
    VarcharType,
    walk_type,
)  # fmt: skip
from ouzel.spark.lowering.text import quote, select, with_columns

JSON_READER = {"mode": '"FAILFAST"', "allowSingleQuotes": "False"}
"""How Spark reads JSON as strictly as our format does: options, in Python."""


def from_csv(schema: Schema, options: Mapping[str, str], ready: Container[str] = ()) -> list[str]:
    """Steps to the columns in their types, of fields that are text but for those that are `ready`."""
    fields = [field for field in schema if field.name not in ready]
    items = [
        quote(column_name(field.name))
        if isinstance(field.type, VarcharType) or field.name in ready
        else f"{parse_text(_column(field.name), field.type)}.alias({quote(field.name)})"
        for field in schema
    ]
    nulls = _csv_nulls(fields, options) if has_empty_texts(schema, options) else []
    return [*nulls, *_note(schema), select(items)]


def has_empty_texts(schema: Schema, options: Mapping[str, str]) -> bool:
    """Whether empty texts are to be told from NULL, which takes steps: Spark's reader makes NULL of both."""
    may_be = any(isinstance(field.type, MAY_BE_EMPTY) for field in schema)
    return bool(options.get("csv.null") or (may_be and options.get("csv.quote", '"')))


MAY_BE_EMPTY = (VarcharType, BytesType)
"""What an empty field is a value of."""


def _csv_nulls(fields: Iterable[Field], options: Mapping[str, str]) -> list[str]:
    """Steps that tell NULL from empty texts, where `csv_reader` has left that to them."""
    texts, others = list[str](), list[str]()
    for field in fields:
        (texts if isinstance(field.type, MAY_BE_EMPTY) else others).append(quote(column_name(field.name)))
    null = options.get("csv.null", "")
    steps = ["# An empty field is NULL where it is no text."] if others else []
    steps += [f'.replace("", None, [{", ".join(others)}])'] if others else []
    if null:
        steps += [f'.fillna("", [{", ".join(texts)}])'] if texts else []
        steps += [f".replace({quote(null)}, None, [{', '.join(texts + others)}])"]
    return steps


def parse_text(value: str, kind: DataType) -> str:
    """An expression of the type, of one that is text; BYTES are base64, and a zone in a TIMESTAMP counts: the time is UTC."""
    if isinstance(kind, VarcharType):
        return value
    if isinstance(kind, BytesType):
        return f'F.to_binary({value}, F.lit("base64"))'
    return value + _cast(kind)


def json_schema(schema: Schema) -> str:
    """The columns in DDL, as Spark's JSON reader is to give them: times as text, for a time without zone must not have one there."""
    return ", ".join(f"{column_name(field.name)} {to_spark_type(_times(field.type, VARCHAR))}" for field in schema)


def read_json_times(schema: Schema) -> list[str]:
    """A step that makes times of their text, which `json_schema` has asked for; none if there are no times."""
    items = {
        field.name: f"{_column(field.name)}{_cast(field.type)}"
        for field in schema
        if any(isinstance(kind, TimestampType) for kind in walk_type(field.type))
    }
    return [*_note(schema), with_columns(items)] if items else []


def _note(schema: Schema) -> list[str]:
    zoned = any(TIMESTAMP in walk_type(field.type) for field in schema)
    return ["# A zone in the text of a time counts: the time is UTC."] if zoned else []


def _cast(kind: DataType) -> str:
    """Text cast to the type: a TIMESTAMP by way of one with a zone, which Spark would pass over otherwise."""
    zoned = _times(kind, TIMESTAMP_LTZ)
    return "".join(f".cast({_type_text(step)})" for step in dict.fromkeys((zoned, kind)))


def _times(kind: DataType, instead: DataType) -> DataType:
    """The type with another instead of each TIMESTAMP and TIMESTAMP_LTZ in it."""
    match kind:
        case TimestampType():
            return instead
        case ArrayType(element):
            return ArrayType(_times(element, instead))
        case MapType(key, value):
            return MapType(_times(key, instead), _times(value, instead))
        case RowType(fields):
            return RowType(tuple((name, _times(of, instead)) for name, of in fields))
    return kind


def _column(name: str) -> str:
    return f"F.col({quote(column_name(name))})"


def _type_text(kind: DataType) -> str:
    return quote(to_spark_type(kind))


def not_null(table: str, schema: Schema) -> list[str]:
    """A step that fails at a NULL in a column that is NOT NULL, for Spark's own readers take every column to be nullable.

    It is a value that fails and no filter: Spark would move a filter of the query before it, and the row would be gone unseen.
    """
    return refuse_null(
        {
            field.name: f"table '{table}': column '{field.name}' may not be NULL"
            for field in schema
            if not field.nullable
        }
    )


def refuse_null(columns: Mapping[str, str]) -> list[str]:
    """A step that fails at a NULL in one of these columns with its message; none if there are no columns."""
    items = {
        name: f"F.coalesce({quote(column_name(name))}, F.raise_error(F.lit({quote(why)})))"
        for name, why in columns.items()
    }
    return [with_columns(items)] if items else []
