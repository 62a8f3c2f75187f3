"""Rows from Polars to Spark: Arrow record batches in exactly the types that Spark's schema says."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from ouzel.compiler.types import ArrayType, BytesType, DataType, MapType, RowType, Schema, VarcharType, to_polars


def polars_types(schema: pa.Schema) -> dict[str, pl.DataType]:
    """What a connector is asked for, so that its rows fit the schema; a map is a list of keys and values there."""
    plain = pa.schema([field.with_type(_without_maps(field.type)) for field in schema])
    frame = pl.from_arrow(plain.empty_table())
    assert isinstance(frame, pl.DataFrame)
    return dict(frame.schema)


def _without_maps(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_map(kind):
        entries = (("key", _without_maps(kind.key_type)), ("value", _without_maps(kind.item_type)))
        return pa.list_(pa.struct(entries))
    if pa.types.is_list(kind):
        return pa.list_(_without_maps(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_maps(field.type)) for field in kind])
    return kind


def arrow_schema(schema: Schema) -> pa.Schema:
    """Columns as Spark has them in Arrow."""
    return pa.schema([pa.field(field.name, _arrow_type(field.type)) for field in schema])


def _arrow_type(kind: DataType) -> pa.DataType:
    match kind:
        case ArrayType(element):
            return pa.list_(_arrow_type(element))
        case MapType(key, value):
            return pa.map_(_arrow_type(key), _arrow_type(value))
        case RowType(fields):
            return pa.struct([(name, _arrow_type(inner)) for name, inner in fields])
        case VarcharType():
            return pa.string()
        case BytesType():
            return pa.binary()
    return pl.Series([], dtype=to_polars(kind)).to_arrow().type


def record_batches(frame: pl.DataFrame, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows in the schema's types."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest()).combine_chunks()
    columns = [_fit(column, field.type) for column, field in zip(table.itercolumns(), schema, strict=True)]
    yield from pa.Table.from_arrays(columns, schema=schema).to_batches()


def _fit(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if not _has_map(kind):
        return column.cast(kind)
    return pa.chunked_array([_shape(chunk, kind) for chunk in column.chunks], kind)


def _has_map(kind: pa.DataType) -> bool:
    return pa.types.is_map(kind) or any(_has_map(kind.field(place).type) for place in range(kind.num_fields))


def _shape(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The array as `kind`, which holds a map somewhere: Arrow has no cast that makes one of a list of structs."""
    if pa.types.is_map(kind):
        offsets, entries = _lists(array)
        keys, items = (_shape(entries.field(place), part) for place, part in enumerate((kind.key_type, kind.item_type)))
        return pa.MapArray.from_arrays(offsets, keys, items, kind, mask=array.is_null())
    if pa.types.is_list(kind) and _has_map(kind):
        offsets, values = _lists(array)
        return pa.ListArray.from_arrays(offsets, _shape(values, kind.value_type), kind, mask=array.is_null())
    if pa.types.is_struct(kind) and _has_map(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        inner = [_shape(array.field(place), field.type) for place, field in enumerate(fields)]
        return pa.StructArray.from_arrays(inner, fields=fields, mask=array.is_null())
    return array.cast(kind)


def _lists(array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Where each list starts, in 32 bits, and the values of all of them."""
    return array.offsets.cast(pa.int32()), array.values
