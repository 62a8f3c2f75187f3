"""Records in Python as columns: a dataclass or a named tuple is its fields, a tuple its places, a single value one column.

A type is written as in Python: `str`, `tuple[str, int]`, a dataclass; `Annotated[Decimal, "DECIMAL(10, 2)"]` adds SQL's type.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import reduce
from inspect import get_annotations
from typing import (
    Annotated,
    Any,
    ForwardRef,
    Literal,
    NamedTuple,
    NewType,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

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
    FloatType,
    IntegerType,
    MapType,
    RowType,
    Schema,
    TimestampType,
)
from ouzel.errors import QueryError

Hint = Any
"""A type as Python writes it."""

VALUE, KEY = "value", "key"
"""The column of single values; a pair has a key beside it."""

PLAIN: dict[Hint, DataType] = {
    bool: BOOLEAN, int: BIGINT, float: DOUBLE, str: VARCHAR, bytes: BYTES, date: DATE, datetime: TIMESTAMP, timedelta: INTERVAL,
    Decimal: DecimalType(38, 18),
}  # fmt: skip
"""Python's types that are a column's."""

MIXED = "no column holds both"
"""So begins why values of several types have no type together."""

NO_COLUMN = "no column holds values of the type"
"""So begins why values of a type are no column."""

LOCAL_TIME = Annotated[datetime, "TIMESTAMP_LTZ(6)"]
"""A time that knows its zone."""


def tuple_of(*parts: Hint) -> Hint:
    """The type of tuples of these."""
    return tuple.__class_getitem__(parts)


def origin_of(hint: Hint) -> Any:
    """What a type is an instance of: `list` of `list[int]`; None of a plain one."""
    return get_origin(hint)


class Form(Enum):
    """What a record is in Python."""

    VALUE = "a single value"
    TUPLE = "a tuple"
    CLASS = "a dataclass or a named tuple"


@dataclass(frozen=True)
class RecordType:
    """How a record in Python is columns: of each column the name, SQL's type and Python's, and the class if there is one."""

    form: Form
    columns: tuple[Field, ...]
    hints: tuple[Hint, ...]
    made: Any = None

    @property
    def schema(self) -> Schema:
        """The columns."""
        return Schema(self.columns)

    @property
    def hint(self) -> Hint:
        """The type as Python writes it."""
        match self.form:
            case Form.VALUE:
                return self.hints[0]
            case Form.TUPLE:
                return tuple_of(*self.hints)
        return self.made

    @property
    def is_pair(self) -> bool:
        """Whether it is a key and a value."""
        return self.form is Form.TUPLE and len(self.columns) == 2

    def __str__(self) -> str:
        return spell(self.hint)


def record_of(hint: Hint) -> RecordType:
    """The record that a type means.

    Raises:
        QueryError: no column can hold such values, or there are none.
    """
    hint = _strip_hint(hint)
    if isinstance(hint, type) and (is_dataclass(hint) or _is_named(hint)):
        named = class_fields(hint)
        _check_fields(hint, named)
        made = tuple(Field(name, _field_type(hint, name, each)) for name, each in named.items())
        return RecordType(Form.CLASS, made, tuple(named.values()), hint)
    if origin_of(hint) is tuple and Ellipsis not in get_args(hint):
        parts = get_args(hint)
        _check_fields(hint, parts)
        names = (KEY, VALUE) if len(parts) == 2 else tuple(f"f{place}" for place in range(len(parts)))
        return RecordType(Form.TUPLE, tuple(map(Field, names, map(type_of, parts))), parts)
    return RecordType(Form.VALUE, (Field(VALUE, type_of(hint)),), (hint,))


def pair_of(key: Hint, value: Hint) -> RecordType:
    """A key and a value."""
    return record_of(tuple[key, value])


def row_record(schema: Schema) -> RecordType:
    """Rows as SQL makes them: named tuples with these columns; one whose name Python does not allow is called after its place."""
    hints = [hint_of_type(field.type) for field in schema]
    row = NamedTuple("Row", [(name, hint) for name, hint in zip(python_names(schema.names), hints, strict=True)])  # type: ignore[misc]
    return RecordType(Form.CLASS, schema.fields, tuple(hints), row)


def python_names(names: Iterable[str]) -> list[str]:
    """What the fields of a row are called in Python."""
    from keyword import iskeyword

    return [
        name if name.isidentifier() and not name.startswith("_") and not iskeyword(name) else f"column_{place}"
        for place, name in enumerate(names)
    ]


def type_of(hint: Hint) -> DataType:
    """SQL's type for values of a type of Python's.

    Raises:
        QueryError: there is none.
    """
    origin, parts = origin_of(hint), get_args(hint)
    if origin is Annotated:
        return _read_annotation(parts[0], parts[1])
    hint = _strip_hint(hint)
    origin, parts = origin_of(hint), get_args(hint)
    if isinstance(hint, Mapping | list | set):
        raise QueryError(
            f"a record's type is a class, and {hint!r:.60} is none",
            instead="write a dataclass or a named tuple with these fields, or tuple[int, str]",
        )
    if isinstance(hint, str):
        raise QueryError(
            f"a record's type is a class, and the text {hint!r:.60} is none",
            instead="write the class without quotes: str, tuple[str, int], or a dataclass",
        )
    if hint in PLAIN:
        return PLAIN[hint]
    if origin is list and len(parts) == 1:
        return ArrayType(type_of(parts[0]))
    if origin is dict and len(parts) == 2:
        return MapType(type_of(parts[0]), type_of(parts[1]))
    if origin is tuple and parts and Ellipsis not in parts:
        record = record_of(hint)
        return RowType(tuple((field.name, field.type) for field in record.columns))
    if isinstance(hint, type) and (is_dataclass(hint) or _is_named(hint)):
        return RowType(tuple((name, _field_type(hint, name, each)) for name, each in class_fields(hint).items()))
    raise QueryError(f"{NO_COLUMN} {spell(hint)}", instead=_advise_of_type(hint))


def _advise_of_type(hint: Hint) -> str:
    """What to write in place of a type that no column has."""
    if isinstance(hint, tuple) and hint and all(isinstance(one, type) for one in hint):
        return f"write tuple[{', '.join(one.__name__ for one in hint)}]"
    if hint in PARTS:
        return f"say what is in it: {PARTS[hint]}"
    plain = origin_of(hint) or hint
    if plain in (set, frozenset):
        return "make it a list, which is list[str]"
    if plain in (Union, types.UnionType):
        return f"take one of them, or a field for each: {' | '.join(map(spell, get_args(hint)))} is no one type"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return "make it the type of its values, str or int, and take its .value"
    if is_typeddict(hint):
        return f"write class {spell(hint)}(NamedTuple) with the same fields, or a dataclass; records are read as record.field"
    if (
        isinstance(hint, type)
        and hint.__bases__ == (object,)
        and inspect.get_annotations(hint)
        and "__init__" not in vars(hint)
    ):
        return f"write @dataclass above class {spell(hint)}, with from dataclasses import dataclass"
    return "use str, int, float, bool, bytes, Decimal, date, datetime, timedelta, a list, dict or tuple of such, or a dataclass"


PARTS: Mapping[Hint, str] = {list: "list[str]", dict: "dict[str, int]", tuple: "tuple[str, int]"}
"""Types of containers without those of their parts, and how they are written whole."""


def _field_type(made: Any, name: str, hint: Hint) -> DataType:
    """SQL's type for a field of a class.

    Raises:
        QueryError: there is none; says which field it is.
    """
    try:
        return type_of(hint)
    except QueryError as error:
        raise QueryError(f"the field '{name}' of {spell(made)}: {error.problem}", instead=error.instead) from None


def _read_annotation(hint: Hint, written: object) -> DataType:
    if not isinstance(written, str):
        return type_of(hint)
    from ouzel.compiler.sql.syntax.source import QueryText
    from ouzel.compiler.sql.syntax.type_names import read_type

    source = QueryText(written)
    return read_type(source, source.tokens())


def hint_of_type(kind: DataType) -> Hint:
    """Python's type for a column of SQL's."""
    match kind:
        case IntegerType() | FloatType():
            return Annotated[int if isinstance(kind, IntegerType) else float, str(kind)]
        case DecimalType():
            return Annotated[Decimal, str(kind)]
        case TimestampType(local):
            return LOCAL_TIME if local else datetime
        case ArrayType(element):
            return list[hint_of_type(element)]  # type: ignore[misc]
        case MapType(key, value):
            return dict[hint_of_type(key), hint_of_type(value)]  # type: ignore[misc]
        case RowType(parts):
            return row_record(Schema(tuple(Field(name, part) for name, part in parts))).made
    plain = next((hint for hint, of in PLAIN.items() if of == kind), None)
    return plain if plain is not None else object


def class_fields(made: Any) -> dict[str, Hint]:
    """The fields of a dataclass or a named tuple, with their types."""
    hints = _hints_of(made)
    names = [each.name for each in fields(made) if each.init] if is_dataclass(made) else list(made._fields)
    return {name: _underlying(hints.get(name, object)) for name in names}


_READ_HINTS = "__ouzel_hints__"


def _hints_of(made: Any) -> dict[str, Hint]:
    """The types of a class's fields.

    Those that are texts, as all are after `from __future__ import annotations`, are names of the program that made the class. A process
    that is sent the class has no such program, so what they mean is sent with it.

    Raises:
        QueryError: one that is written as a text cannot be read.
    """
    if (known := vars(made).get(_READ_HINTS)) is not None:
        return dict(known)
    try:
        hints = get_type_hints(made, include_extras=True)
    except AttributeError as error:
        raise QueryError(
            f"the types of {spell(made)}'s fields cannot be read: {error}",
            instead="write each type without quotes, by a name that is imported where the class is",
        ) from None
    written = [hint for each in made.__mro__ for hint in get_annotations(each).values()]
    if any(isinstance(hint, str | ForwardRef) for hint in written):  # NamedTuple wraps them
        setattr(made, _READ_HINTS, hints)
    return hints


def _underlying(hint: Hint) -> Hint:
    """The type that a NewType or a Literal of one type has at run time; any other as it is."""
    if isinstance(hint, NewType):
        return _underlying(hint.__supertype__)
    if origin_of(hint) is Literal:
        kinds = {type(one) for one in get_args(hint)}
        return kinds.pop() if len(kinds) == 1 else hint
    return hint


def _check_fields(hint: Any, named: Collection[object]) -> None:
    """See that a record has fields, and that each has a type."""
    if not named:
        raise QueryError(f"{spell(hint)} has no fields, so a record of it is no row", instead="give it one")
    untyped = [name for name in getattr(hint, "_fields", ()) if name not in _hints_of(hint)]
    if untyped:
        raise QueryError(
            f"the field '{untyped[0]}' of {spell(hint)} has no type",
            instead=f"write class {spell(hint)}(typing.NamedTuple) with a type for each field, or a dataclass",
        )


def _is_named(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")


def _strip_hint(hint: Hint) -> Hint:
    """The type without `| None`, and without what Annotated says of SQL where Python's type is enough."""
    if origin_of(hint) in (Union, types.UnionType):
        left = [part for part in get_args(hint) if part is not types.NoneType]
        if len(left) == 1:
            return _strip_hint(left[0])
    return hint


def spell(hint: Hint) -> str:
    """A type as one would write it."""
    if origin_of(hint) is Annotated:
        return "datetime with a time zone" if hint == LOCAL_TIME else spell(get_args(hint)[0])
    if isinstance(hint, type) and not get_args(hint):
        return hint.__name__
    if origin_of(hint) in (tuple, list, dict):
        return f"{origin_of(hint).__name__}[{', '.join(map(spell, get_args(hint)))}]"
    return str(hint)


def hint_of_values(values: Iterable[object]) -> Hint | None:
    """The type that all these values have; None if there is no such type, or too little to know it by."""
    try:
        return _inside(values)
    except TypeError:
        return None


def why_no_hint(values: Iterable[object]) -> str:
    """Why these values have no type that columns hold; empty if they have one, or show too little of it."""
    try:
        _inside(values)
    except TypeError as error:
        return str(error)
    return ""


def _hint_of(value: object) -> Hint | None:
    """The type of one value, None for None and for what is empty.

    Raises:
        TypeError: it is none that a column holds.
    """
    match value:
        case None:
            return None
        case datetime() if value.tzinfo is not None:
            return LOCAL_TIME
        case list():
            return list[_inside(value)]  # type: ignore[misc]
        case dict():
            return dict[_inside(value), _inside(value.values())]  # type: ignore[misc]
        case tuple() if not hasattr(value, "_fields"):
            return tuple[tuple(map(_hint_of, value))]  # type: ignore[misc]
    if is_dataclass(value) or isinstance(value, tuple):
        return type(value)
    for hint in (bool, int, float, str, bytes, datetime, date, timedelta, Decimal):
        if isinstance(value, hint):
            return hint
    raise TypeError(f"{NO_COLUMN} {type(value).__name__}{_remedy(value)}")


def _remedy(value: object) -> str:
    """What makes it a value that columns hold."""
    if isinstance(value, Enum):
        return ": take its .value"
    if type(value).__module__ == "numpy":
        return ": its .tolist() is Python's own" if hasattr(value, "__len__") else ": its .item() is Python's own"
    return ": make it a list" if isinstance(value, set | frozenset) else ""


def _inside(values: Iterable[object]) -> Hint | None:
    return reduce(_wider, map(_hint_of, values), None)


def _wider(one: Hint | None, other: Hint | None) -> Hint | None:
    if one is None or other is None or one == other:
        return other if one is None else one
    if {one, other} == {int, float}:
        return float
    origin = origin_of(one)
    if origin is not None and origin is origin_of(other) and len(get_args(one)) == len(get_args(other)):
        return origin[tuple(map(_wider, get_args(one), get_args(other)))]
    raise TypeError(f"{MIXED} {spell(one)} and {spell(other)}")


def is_whole(hint: Hint | None) -> bool:
    """Whether a type found from values is complete."""
    return hint is not None and all(map(is_whole, get_args(hint) if origin_of(hint) in (tuple, list, dict) else ()))


Convert = Callable[[Any], Any]


def reader(hint: Hint, kind: DataType) -> Convert | None:
    """The conversion of a column's value to Python's; None if they are the same."""
    match kind:
        case ArrayType(element):
            inner = reader(_part(hint, 0), element)
            return None if inner is None else lambda value: None if value is None else [inner(one) for one in value]
        case MapType():
            key, item = (reader(_part(hint, place), part) or _same for place, part in enumerate((kind.key, kind.value)))
            return lambda value: None if value is None else {key(one["key"]): item(one["value"]) for one in value}
        case RowType(parts):
            record = (
                record_of(hint) if hint is not object else row_record(Schema(tuple(Field(*part) for part in parts)))
            )
            make = record.made or (lambda *given: given)
            each = [(name, reader(of, part) or _same) for of, (name, part) in zip(record.hints, parts, strict=True)]
            return lambda value: None if value is None else make(*(read(value[name]) for name, read in each))
    return None


def writer(hint: Hint, kind: DataType) -> Convert | None:
    """The conversion of Python's value to a column's; None if they are the same."""
    match kind:
        case ArrayType(element):
            inner = writer(_part(hint, 0), element)
            return None if inner is None else lambda value: None if value is None else [inner(one) for one in value]
        case MapType():
            key, item = (writer(_part(hint, place), part) or _same for place, part in enumerate((kind.key, kind.value)))
            return lambda value: (
                None if value is None else [{"key": key(one), "value": item(of)} for one, of in value.items()]
            )
        case RowType(parts):
            record = (
                record_of(hint) if hint is not object else row_record(Schema(tuple(Field(*part) for part in parts)))
            )
            take = taking(record)
            each = [(name, writer(of, part) or _same) for of, (name, part) in zip(record.hints, parts, strict=True)]
            return lambda value: (
                None
                if value is None
                else {name: write(one) for (name, write), one in zip(each, take(value), strict=True)}
            )
    return None


def taking(record: RecordType) -> Callable[[Any], Iterable[Any]]:
    """The values of a record in the order of its columns."""
    if record.form is Form.VALUE:
        return lambda value: (value,)
    if record.form is Form.TUPLE or _is_named(record.made):
        return _same
    names = list(class_fields(record.made))
    return lambda value: [getattr(value, name) for name in names]


def _part(hint: Hint, place: int) -> Hint:
    parts = get_args(_strip_hint(hint))
    return parts[place] if place < len(parts) else object


def _same(value: Any) -> Any:
    return value


def made_of(record: RecordType, row: Mapping[str, Any]) -> Any:
    """A record of the values of its columns, as a data frame gives them."""
    values = [
        (reader(hint, field.type) or _same)(row[field.name])
        for field, hint in zip(record.columns, record.hints, strict=True)
    ]
    if record.form is Form.VALUE:
        return values[0]
    return tuple(values) if record.form is Form.TUPLE else record.made(*values)
