"""Columns of Protobuf's parsed messages: a field of all messages at once, and what is inside it by the same means."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from ouzel.connectors.formats.conversion import sql_name
from ouzel.errors import ConnectorError

MakeColumn = Callable[[Sequence[Any], np.ndarray, dict[int, str]], pl.Series]
"""From values to a column; `places` say which record each value is of, and records found bad get their reason."""

_SCALARS: dict[int, pl.DataType] = {
    FieldDescriptor.CPPTYPE_INT32: pl.Int32(),
    FieldDescriptor.CPPTYPE_INT64: pl.Int64(),
    FieldDescriptor.CPPTYPE_UINT32: pl.Int64(),
    FieldDescriptor.CPPTYPE_DOUBLE: pl.Float64(),
    FieldDescriptor.CPPTYPE_FLOAT: pl.Float32(),
    FieldDescriptor.CPPTYPE_BOOL: pl.Boolean(),
}
_WELL_KNOWN = "google.protobuf."
WRAPPERS = frozenset(
    f"{_WELL_KNOWN}{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
_GIVEN = "$given"  # no field's name
_MOST = 2**63 - 1
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_NANOSECONDS = 10**9


@dataclass(frozen=True, slots=True)
class Taken:
    """A field that is read: the type of its column, and what makes the column of messages."""

    name: str
    kind: pl.DataType
    read: MakeColumn


def take_fields(message: Any, columns: Mapping[str, Any]) -> list[Taken]:
    """Those fields of the message that are columns, whose types `columns` has; names match in any case.

    Raises:
        ConnectorError: a column is no field or two, or its field is a message and it is no ROW.
    """
    wanted = {name.lower(): kind for name, kind in columns.items()}
    fields = [field for field in message.fields if field.name.lower() in wanted]
    found = [field.name.lower() for field in fields]
    for name in columns:
        if name.lower() not in found:
            names = [field.name for field in message.fields]
            raise ConnectorError(f"the message {message.full_name} has no field '{name}'; {name_near(name, names)}")
        if found.count(name.lower()) > 1:
            raise ConnectorError(
                f"the message {message.full_name} has two fields '{name}', which SQL cannot tell apart"
            )
    return [_take(field, instance(wanted[field.name.lower()])) for field in fields]


def name_near(name: str, names: Sequence[str]) -> str:
    """What may have been meant: the same name in a package, or one written almost like it."""
    same = [full for full in names if full.lower().endswith(f".{name.lower()}")]
    near = same or difflib.get_close_matches(name, names, 2)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"it has {', '.join(names)}"


def _take(field: FieldDescriptor, wanted: pl.DataType) -> Taken:
    if not field.is_repeated:
        return _take_one(field, wanted)
    inner = instance(wanted.inner) if isinstance(wanted, pl.List) else wanted  # what is no ARRAY is refused later
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return _take_map(field, inner)
    kind, make = _values(field, inner, field.name)
    get = attrgetter(field.name)

    def read(messages: Sequence[Any], places: np.ndarray, bad: dict[int, str]) -> pl.Series:
        lists = list(map(get, messages))
        sizes = np.fromiter(map(len, lists), np.int64, len(lists))
        elements = make(list(chain.from_iterable(lists)), np.repeat(places, sizes), bad)
        return make_lists(elements, sizes, field.name)

    return Taken(field.name, pl.List(kind), read)


def instance(kind: Any) -> pl.DataType:
    """An inner type as an instance: Polars may give the class."""
    made: pl.DataType = kind() if isinstance(kind, type) else kind
    return made


def _take_one(field: FieldDescriptor, wanted: pl.DataType) -> Taken:
    kind, make = _values(field, wanted, field.name)
    assert field.containing_type is not None
    get, has = (
        attrgetter(field.name),
        GetMessageClass(field.containing_type).HasField,
    )  # messages may have a field of that name

    def read(messages: Sequence[Any], places: np.ndarray, bad: dict[int, str]) -> pl.Series:
        made = make(list(map(get, messages)), places, bad).alias(field.name)
        if not field.has_presence:
            return made
        given = pl.Series(_GIVEN, map(has, messages, repeat(field.name)), pl.Boolean())
        return pl.DataFrame([made, given]).select(pl.when(_GIVEN).then(pl.first())).to_series()

    return Taken(field.name, kind, read)


def _take_map(field: FieldDescriptor, wanted: pl.DataType) -> Taken:
    wants = {part.name: part.dtype for part in wanted.fields} if isinstance(wanted, pl.Struct) else {}
    key, value = _message_of(field).fields
    key_kind, make_keys = _values(key, pl.Null(), field.name)
    value_kind, make_values = _values(value, instance(wants.get("value", pl.Null())), field.name)
    get = attrgetter(field.name)

    def read(messages: Sequence[Any], places: np.ndarray, bad: dict[int, str]) -> pl.Series:
        maps = list(map(get, messages))
        keys = _sorted_keys(maps, places, bad, field.name)
        sizes = np.fromiter(map(len, keys), np.int64, len(keys))
        values = [held[key] for held, own in zip(maps, keys, strict=True) for key in own]
        spread = np.repeat(places, sizes)
        columns = [
            make_keys(list(chain.from_iterable(keys)), spread, bad).alias("key"),
            make_values(values, spread, bad).alias("value"),
        ]
        return make_lists(pl.DataFrame(columns).to_struct(), sizes, field.name)

    return Taken(field.name, pl.List(pl.Struct({"key": key_kind, "value": value_kind})), read)


def _sorted_keys(maps: Sequence[Any], places: np.ndarray, bad: dict[int, str], name: str) -> list[list[Any]]:
    """Each map's keys, as it keeps no order; of proto2 what is not UTF-8 comes as bytes, which cannot be looked up."""
    if bytes not in set(map(type, chain.from_iterable(maps))):
        return list(map(sorted, maps))
    keys = [[key for key in held if not isinstance(key, bytes)] for held in maps]
    short = [index for index, own in enumerate(keys) if len(own) < len(maps[index])]
    bad.update({int(places[index]): _not_text(name) for index in short})
    return list(map(sorted, keys))


def _not_text(name: str) -> str:
    return f"its field '{name}' is not UTF-8"


def make_lists(elements: pl.Series, sizes: np.ndarray, name: str) -> pl.Series:
    """Elements side by side as lists of these sizes."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    lists = pa.LargeListArray.from_arrays(offsets, elements.to_arrow(compat_level=pl.CompatLevel.oldest()))
    return pl.Series(name, lists, pl.List(elements.dtype))


def _values(field: FieldDescriptor, wanted: pl.DataType, name: str) -> tuple[pl.DataType, MakeColumn]:
    """The type of the field's values, each for itself, and how they become a column; `name` is what reasons call it."""
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_MESSAGE:
            return _messages(field, wanted, name)
        case FieldDescriptor.CPPTYPE_ENUM:
            assert field.enum_type is not None
            names = symbols_of(field.enum_type)
            return pl.String(), lambda values, _places, _bad: make_symbols(values, names)
        case FieldDescriptor.CPPTYPE_UINT64:
            return pl.Int64(), lambda values, places, bad: make_unsigned(values, places, bad, name)
        case FieldDescriptor.CPPTYPE_STRING if field.type == FieldDescriptor.TYPE_BYTES:
            return pl.Binary(), lambda values, _places, _bad: pl.Series(values, dtype=pl.Binary())
        case FieldDescriptor.CPPTYPE_STRING:
            return pl.String(), lambda values, places, bad: _texts(values, places, bad, name)
    kind = _SCALARS[field.cpp_type]
    return kind, lambda values, _places, _bad: pl.Series(values, dtype=kind)


def _messages(field: FieldDescriptor, wanted: pl.DataType, name: str) -> tuple[pl.DataType, MakeColumn]:
    message = _message_of(field)
    if is_timestamp(message):
        return pl.Datetime("us", "UTC"), lambda values, places, bad: _take_times(values, places, bad, name)
    if message.full_name in WRAPPERS:
        kind, make = _values(message.fields_by_name["value"], wanted, name)
        get = attrgetter("value")
        return kind, lambda values, places, bad: make(list(map(get, values)), places, bad)
    if not isinstance(wanted, pl.Struct):
        raise ConnectorError(
            f"the field {field.full_name} is the message {message.full_name}; declare it {_outline(message)}"
        )
    fields = take_fields(message, {part.name: part.dtype for part in wanted.fields})

    def make_rows(values: Sequence[Any], places: np.ndarray, bad: dict[int, str]) -> pl.Series:
        return pl.DataFrame([part.read(values, places, bad) for part in fields]).to_struct()

    return pl.Struct({part.name: part.kind for part in fields}), make_rows


def _message_of(field: FieldDescriptor) -> Any:
    assert field.message_type is not None
    return field.message_type


def _outline(message: Any) -> str:
    """The ROW that a message is; messages in it stay dots."""
    return f"ROW<{', '.join(f'{field.name} {_outline_of(field)}' for field in message.fields)}>"


def _outline_of(field: FieldDescriptor) -> str:
    is_row = field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE
    name = "…" if is_row else sql_name(_values(field, pl.Null(), field.name)[0])
    return f"ARRAY<{name}>" if field.is_repeated else name


def is_timestamp(message: Any) -> bool:
    """Whether it is Protobuf's own for a time."""
    return bool(message.full_name == f"{_WELL_KNOWN}Timestamp")


def symbols_of(enum: Any) -> dict[int, str]:
    """The first name of each number."""
    return {value.number: value.name for value in reversed(enum.values)}


def make_symbols(values: Sequence[int] | np.ndarray, names: Mapping[int, str]) -> pl.Series:
    """Names of an enum's numbers; the number where it has none."""
    numbers = pl.Series(values, dtype=pl.Int32())
    return numbers.replace_strict([*names], [*names.values()], default=numbers.cast(pl.String), return_dtype=pl.String)


def make_unsigned(values: Sequence[int] | np.ndarray, places: np.ndarray, bad: dict[int, str], name: str) -> pl.Series:
    """BIGINTs; what is too large for one is bad."""
    numbers = pl.Series(values, dtype=pl.UInt64())
    for index in (numbers > _MOST).arg_true().to_list():
        bad.setdefault(int(places[index]), f"its field '{name}' is {values[index]}, more than BIGINT holds")
    return numbers.cast(pl.Int64, strict=False)


def _texts(values: Sequence[str | bytes], places: np.ndarray, bad: dict[int, str], name: str) -> pl.Series:
    """Texts; of proto2 the library hands out as bytes what is not UTF-8."""
    try:
        return pl.Series(values, dtype=pl.String())
    except TypeError:
        odd = [index for index, value in enumerate(values) if isinstance(value, bytes)]
        bad.update({int(places[index]): _not_text(name) for index in odd})
        return pl.Series([None if isinstance(value, bytes) else value for value in values], dtype=pl.String())


def _take_times(values: Sequence[Any], places: np.ndarray, bad: dict[int, str], name: str) -> pl.Series:
    seconds = np.fromiter(map(attrgetter("seconds"), values), np.int64, len(values))
    nanoseconds = np.fromiter(map(attrgetter("nanos"), values), np.int64, len(values))
    return make_instants(seconds, nanoseconds, places, bad, name)


def make_instants(
    seconds: np.ndarray, nanoseconds: np.ndarray, places: np.ndarray, bad: dict[int, str], name: str
) -> pl.Series:
    """Times of whole microseconds; what is outside of the years 1 to 9999 is bad."""
    odd = (seconds < _FIRST_SECOND) | (seconds > _LAST_SECOND) | (nanoseconds < 0) | (nanoseconds >= _NANOSECONDS)
    for index in np.flatnonzero(odd).tolist():
        found = f"{seconds[index]} s and {nanoseconds[index]} ns"
        bad.setdefault(int(places[index]), f"its field '{name}' is no time of the years 1 to 9999 ({found})")
    whole = np.where(odd, 0, seconds) * 1_000_000 + np.where(odd, 0, nanoseconds) // 1_000
    return pl.Series(whole).cast(pl.Datetime("us", "UTC"))
