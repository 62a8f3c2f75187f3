"""Types in Spark's DDL."""

from __future__ import annotations

from ouzel.compiler.functions.lowering import column_name
from ouzel.compiler.types import (
    ArrayType,
    BooleanType,
    BytesType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntegerType,
    IntervalType,
    MapType,
    NullType,
    RowType,
    TimestampType,
    VarcharType,
)


def to_spark_type(kind: DataType) -> str:
    """The type in Spark's DDL, e.g. `array<timestamp_ntz>`."""
    match kind:
        case IntegerType(bits):
            return {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint"}[bits]
        case FloatType(bits):
            return "float" if bits == 32 else "double"
        case DecimalType(precision, scale):
            return f"decimal({precision},{scale})"
        case TimestampType(local):
            return "timestamp" if local else "timestamp_ntz"
        case IntervalType(months):
            return "interval year to month" if months else "interval day to second"
        case ArrayType(element):
            return f"array<{to_spark_type(element)}>"
        case MapType(key, value):
            return f"map<{to_spark_type(key)},{to_spark_type(value)}>"
        case RowType(fields):
            inner = ",".join(f"{column_name(name)}:{to_spark_type(field)}" for name, field in fields)
            return f"struct<{inner}>"
    return {BooleanType: "boolean", VarcharType: "string", BytesType: "binary", DateType: "date", NullType: "void"}[
        type(kind)
    ]
