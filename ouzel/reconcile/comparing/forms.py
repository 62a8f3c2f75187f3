"""The form in which values of both answers are compared, whatever type each engine or file has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.types import TIMESTAMP_LTZ, ArrayType, DataType, IntervalType, MapType, RowType

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType as SparkType


def comparable_form(column: Column, kind: DataType, there: SparkType) -> Column:
    """The column, of Spark's type `there`, in a type that Spark can group by and order.

    A MAP becomes its entries in order, an interval of days its microseconds, as files hold it, an instant the wall clock of UTC.
    """
    match kind:
        case MapType():
            return _entries(column, kind, there)
        case ArrayType(element):
            return _each(column, element, there)
        case RowType(fields):
            return _fields(column, fields, there)
        case IntervalType():
            return _microseconds(column, there)
    return column.cast("timestamp_ntz" if kind == TIMESTAMP_LTZ else to_spark_type(kind))


def _entries(column: Column, kind: MapType, there: SparkType) -> Column:
    """A map's entries in order; a file has them as a list."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import MapType as SparkMap
    from pyspark.sql.types import StructField, StructType

    entries = RowType((("key", kind.key), ("value", kind.value)))
    if isinstance(there, SparkMap):
        pair = StructType([StructField("key", there.keyType), StructField("value", there.valueType)])
        return F.array_sort(_form_list(F.map_entries(column), entries, pair))
    return F.array_sort(_each(column, entries, there))


def _each(column: Column, element: DataType, there: SparkType) -> Column:
    from pyspark.sql.types import ArrayType as SparkArray

    assert isinstance(there, SparkArray)
    return _form_list(column, element, there.elementType)


def _form_list(column: Column, element: DataType, there: SparkType) -> Column:
    from pyspark.sql import functions as F

    return F.transform(column, lambda value: comparable_form(value, element, there))


def _fields(column: Column, fields: tuple[tuple[str, DataType], ...], there: SparkType) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    assert isinstance(there, StructType)
    parts = [
        comparable_form(column.getField(inner.name), kind, inner.dataType).alias(name)
        for (name, kind), inner in zip(fields, there.fields, strict=True)
    ]
    return F.when(column.isNotNull(), F.struct(*parts))


def _microseconds(column: Column, there: SparkType) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql.types import DayTimeIntervalType

    if not isinstance(there, DayTimeIntervalType):
        return column.cast("bigint")
    return F.unix_micros((F.lit("1970-01-01").cast("timestamp_ntz") + column).cast("timestamp"))
