"""The types of SQL and of the Python DSL, and their Arrow and Polars forms.

TIMESTAMP is Spark's TIMESTAMP_NTZ and TIMESTAMP_LTZ its TIMESTAMP; both are held in microseconds whatever precision was declared.
MAP is held as list<struct<key, value>>, since Polars has no map of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from polars._typing import PolarsDataType


@dataclass(frozen=True)
class DataType:
    """Base of all types; `str()` is its canonical SQL spelling."""

    def __str__(self) -> str:
        return type(self).__name__.removesuffix("Type").upper()


@dataclass(frozen=True)
class BooleanType(DataType):
    """true, false."""


@dataclass(frozen=True)
class IntegerType(DataType):
    """A signed integer of 8, 16, 32 or 64 bits."""

    bits: int

    def __str__(self) -> str:
        return {8: "TINYINT", 16: "SMALLINT", 32: "INT", 64: "BIGINT"}[self.bits]


@dataclass(frozen=True)
class FloatType(DataType):
    """An IEEE number of 32 (FLOAT) or 64 (DOUBLE) bits."""

    bits: int

    def __str__(self) -> str:
        return {32: "FLOAT", 64: "DOUBLE"}[self.bits]


@dataclass(frozen=True)
class DecimalType(DataType):
    """Exact; precision 1 to 38, scale 0 to precision."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True)
class VarcharType(DataType):
    """Text; of a column a declared length is documentation only, as in Spark's STRING, and no part of the type. CAST cuts to `longest`,
    and to `padded` it would have to fill up."""

    longest: int | None = field(default=None, compare=False, repr=False)
    padded: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True)
class BytesType(DataType):
    """Raw bytes."""


@dataclass(frozen=True)
class DateType(DataType):
    """A calendar day."""


@dataclass(frozen=True)
class TimestampType(DataType):
    """A point in time in microseconds: without zone (TIMESTAMP) or, if `local`, an instant (TIMESTAMP_LTZ)."""

    local: bool = False
    digits: int = field(default=6, compare=False, repr=False)
    """How many of a second it is written with, which CAST cuts to; no part of the type."""

    def __str__(self) -> str:
        return "TIMESTAMP_LTZ(6)" if self.local else "TIMESTAMP(6)"


@dataclass(frozen=True)
class IntervalType(DataType):
    """A span of time: of months (YEAR TO MONTH) or of microseconds (DAY TO SECOND)."""

    months: bool = False

    def __str__(self) -> str:
        return "INTERVAL YEAR TO MONTH" if self.months else "INTERVAL DAY TO SECOND"


@dataclass(frozen=True)
class ArrayType(DataType):
    """A list of one element type."""

    element: DataType

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True)
class MapType(DataType):
    """Keys to values; keys are unique and never null."""

    key: DataType
    value: DataType

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True)
class RowType(DataType):
    """Named fields, in order."""

    fields: tuple[tuple[str, DataType], ...]

    def __str__(self) -> str:
        return "ROW<" + ", ".join(f"{name} {kind}" for name, kind in self.fields) + ">"


@dataclass(frozen=True)
class NullType(DataType):
    """The type of a bare NULL, before its context gives it one."""


BOOLEAN, TINYINT, SMALLINT, INT, BIGINT = (
    BooleanType(),
    IntegerType(8),
    IntegerType(16),
    IntegerType(32),
    IntegerType(64),
)
FLOAT, DOUBLE, VARCHAR, BYTES, DATE = FloatType(32), FloatType(64), VarcharType(), BytesType(), DateType()
TIMESTAMP, TIMESTAMP_LTZ = TimestampType(False), TimestampType(True)
INTERVAL, INTERVAL_MONTHS, NULL = IntervalType(False), IntervalType(True), NullType()


@dataclass(frozen=True)
class Field:
    """One column: its name, its type, and whether it may be NULL."""

    name: str
    type: DataType
    nullable: bool = True

    def __str__(self) -> str:
        return f"{self.name} {self.type}" + ("" if self.nullable else " NOT NULL")


@dataclass(frozen=True)
class Schema:
    """Columns in order; names are unique."""

    fields: tuple[Field, ...]

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __contains__(self, name: str) -> bool:
        return any(field.name == name for field in self.fields)

    def __getitem__(self, name: str) -> Field:
        for one in self.fields:
            if one.name == name:
                return one
        raise KeyError(name)

    def __str__(self) -> str:
        return ", ".join(map(str, self.fields))

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(field.name for field in self.fields)

    def select(self, names: tuple[str, ...]) -> Schema:
        """The named columns, in the order of `names`."""
        return Schema(tuple(self[name] for name in names))

    def polars(self) -> dict[str, pl.DataType]:
        """Name to Polars type, in order."""
        return {field.name: to_polars(field.type) for field in self.fields}


def walk_type(kind: DataType) -> Iterator[DataType]:
    """The type itself and all types inside it."""
    yield kind
    match kind:
        case ArrayType(element):
            yield from walk_type(element)
        case MapType(key, value):
            yield from (*walk_type(key), *walk_type(value))
        case RowType(fields):
            for _, field in fields:
                yield from walk_type(field)


def to_polars(kind: DataType) -> pl.DataType:
    """The Polars type that holds values of `kind`.

    Raises:
        TypeError: for a type that no column can have (an interval of months).
    """
    import polars as pl

    match kind:
        case IntegerType(bits):
            return {8: pl.Int8, 16: pl.Int16, 32: pl.Int32, 64: pl.Int64}[bits]()
        case FloatType(bits):
            return pl.Float32() if bits == 32 else pl.Float64()
        case DecimalType(precision, scale):
            return pl.Decimal(precision, scale)
        case TimestampType(local):
            return pl.Datetime("us", "UTC" if local else None)
        case IntervalType(False):
            return pl.Duration("us")
        case ArrayType(element):
            return pl.List(to_polars(element))
        case MapType(key, value):
            return pl.List(pl.Struct({"key": to_polars(key), "value": to_polars(value)}))
        case RowType(fields):
            return pl.Struct({name: to_polars(inner) for name, inner in fields})
    simple: dict[type[DataType], pl.DataType] = {
        BooleanType: pl.Boolean(), VarcharType: pl.String(), BytesType: pl.Binary(), DateType: pl.Date(), NullType: pl.Null(),
    }  # fmt: skip
    if type(kind) not in simple:
        raise TypeError(f"no column can have the type {kind}")
    return simple[type(kind)]


def from_arrow(kind: pa.DataType) -> DataType:
    """The type that has room for every value of an Arrow type; VARCHAR for that of NULL alone.

    Raises:
        TypeError: no type of ours has.
    """
    import polars as pl
    import pyarrow as pa

    if pa.types.is_map(kind):
        return MapType(from_arrow(kind.key_type), from_arrow(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return ArrayType(from_arrow(kind.value_type))
    if pa.types.is_struct(kind):
        return RowType(tuple((field.name, from_arrow(field.type)) for field in kind))
    if pa.types.is_dictionary(kind):
        return from_arrow(kind.value_type)
    if pa.types.is_unsigned_integer(kind):
        return {8: SMALLINT, 16: INT, 32: BIGINT, 64: DecimalType(20, 0)}[kind.bit_width]
    if pa.types.is_null(kind):
        return VARCHAR
    made = from_polars(pl.Schema(pa.schema([("x", kind)]))["x"])
    if isinstance(made, IntervalType):
        raise TypeError(f"no column can have the type {made}")
    return made


def from_polars(kind: PolarsDataType) -> DataType:
    """The type whose values a column of the Polars type `kind` holds.

    Raises:
        TypeError: no type of ours has that form.
    """
    import polars as pl

    dtype = kind() if isinstance(kind, type) else kind
    match dtype:
        case pl.Datetime():
            return TimestampType(dtype.time_zone is not None)
        case pl.Decimal():
            return DecimalType(dtype.precision or 38, dtype.scale)
        case pl.List():
            return ArrayType(from_polars(dtype.inner))
        case pl.Struct():
            return RowType(tuple((field.name, from_polars(field.dtype)) for field in dtype.fields))
    for known in (BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, VARCHAR, BYTES, DATE, INTERVAL):
        if to_polars(known) == dtype:
            return known
    raise TypeError(f"no SQL type has the form {dtype}")
