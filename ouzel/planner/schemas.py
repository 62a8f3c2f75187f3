"""What a component declares of the rows that it emits: columns by name, with types of Python or of SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import NoneType, UnionType
from typing import Union, get_args, get_origin

from ouzel.compiler.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTERVAL,
    TIMESTAMP,
    VARCHAR,
    ArrayType,
    DataType,
    DecimalType,
    Field,
    MapType,
    Schema,
)
from ouzel.errors import PlanError
from ouzel.planner.topology import DEFAULT_STREAM, Output

_PYTHON_TYPES: dict[object, DataType] = {
    str: VARCHAR, int: BIGINT, float: DOUBLE, bool: BOOLEAN, bytes: BYTES, date: DATE, datetime: TIMESTAMP, timedelta: INTERVAL,
    Decimal: DecimalType(38, 18),
}  # fmt: skip


def schema(*unnamed: object, **columns: object) -> Schema:
    """A schema: `schema(word=str, at=datetime, price="DECIMAL(10, 2)", tags=list[str])`.

    A column's type is a Python type (str, int, float, bool, bytes, date, datetime, timedelta, Decimal, list[...], dict[..., ...]), the text
    of an SQL type, or an Ouzel type.

    Raises:
        PlanError: one is none of these.
        QueryError: the text is no SQL type.
    """
    if unnamed:
        shown = ", ".join(f"{one if isinstance(one, str) and one.isidentifier() else 'word'}=str" for one in unnamed)
        raise PlanError(
            f"a schema has types by the names of columns, not {unnamed[0]!r:.60}; write ouzel.schema({shown})"
        )
    return Schema(tuple(Field(name, _type_of(name, kind)) for name, kind in columns.items()))


def _type_of(column: str, kind: object) -> DataType:
    if isinstance(kind, DataType):
        return kind
    if isinstance(kind, str):
        from ouzel.compiler.sql.syntax.source import QueryText
        from ouzel.compiler.sql.syntax.type_names import read_type

        source = QueryText(kind)
        return read_type(source, source.tokens())
    if get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind):
        plain = " | ".join(_spell_type(one) for one in get_args(kind) if one is not NoneType)
        raise PlanError(
            f"column '{column}' cannot be {_spell_type(kind)}; write {column}={plain}: a row may have None in any column"
        )
    inner = [_type_of(column, part) for part in get_args(kind)]
    if get_origin(kind) is list:
        return ArrayType(*inner)
    if get_origin(kind) is dict:
        return MapType(*inner)
    if kind not in _PYTHON_TYPES:
        known = ", ".join(one.__name__ for one in _PYTHON_TYPES if isinstance(one, type))
        raise PlanError(
            f"column '{column}' cannot be {_spell_type(kind)}; write {known}, list[...], dict[..., ...] or an SQL type as text"
        )
    return _PYTHON_TYPES[kind]


def _spell_type(kind: object) -> str:
    """A type as a program has it."""
    return kind.__name__ if isinstance(kind, type) and not get_args(kind) else f"{kind!r:.60}"


def declared_outputs(component: str, declared: Schema | dict[str, Schema]) -> tuple[Output, ...]:
    """The streams that a component is said to emit.

    Raises:
        PlanError: it is no schema.
    """
    streams = {DEFAULT_STREAM: declared} if isinstance(declared, Schema) else declared
    if not isinstance(streams, dict) or not all(isinstance(one, Schema) for one in streams.values()):
        raise PlanError(
            f"the outputs of '{component}' are {declared!r:.60}, and no schema; write ouzel.schema({_spell_meant(declared)})"
        )
    return tuple(Output(columns, stream=stream) for stream, columns in streams.items())


def _spell_meant(declared: object) -> str:
    """The columns that somebody means who gives their names, or their types by name."""
    if isinstance(declared, Mapping) and declared:
        kinds = {str(name): _spell_type(kind) if isinstance(kind, type) else "str" for name, kind in declared.items()}
        return ", ".join(f"{name}={kind}" for name, kind in kinds.items() if name.isidentifier()) or "word=str, n=int"
    names = declared if isinstance(declared, list | tuple) else ()
    return (
        ", ".join(f"{name}=str" for name in names if isinstance(name, str) and name.isidentifier()) or "word=str, n=int"
    )
