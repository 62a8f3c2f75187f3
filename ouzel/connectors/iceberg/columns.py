"""Which of a file's columns is which of the table's: by Iceberg's field ids, as names may change (spec, "Column Projection")."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pyiceberg.io.pyarrow import pyarrow_to_schema
from pyiceberg.schema import Schema
from pyiceberg.table.name_mapping import NameMapping
from pyiceberg.types import IcebergType, ListType, MapType, NestedField, StructType

from ouzel.connectors.file.parquet import read_footer
from ouzel.connectors.iceberg.places import first_line
from ouzel.errors import ConnectorError


def find_fields(names: Iterable[str], fields: Iterable[NestedField]) -> dict[str, NestedField]:
    """The field of each name that there is one of; names match whatever their case."""
    there = {field.name.lower(): field for field in fields}
    return {name: there[name.lower()] for name in names if name.lower() in there}


def file_columns(
    path: str,
    fields: Mapping[str, NestedField],
    mapping: NameMapping | None,
    fixed: Mapping[str, str | None],
    unknown: Collection[int],
) -> dict[str, str]:
    """The file's name of each column that it has.

    `fixed` are values of columns, by field id, that it need not have; `unknown` are ids of those whose values may be known otherwise.

    Raises:
        ConnectorError: it cannot be told, or is a part of a column.
    """
    held = {field.field_id: field for field in _schema_of(path, mapping).fields}
    for name, field in fields.items():
        if field.field_id in held:
            _check_parts(name, field.field_type, held[field.field_id].field_type, path)
        elif field.field_id in unknown:
            raise ConnectorError(
                f"{path} has no column '{name}', by which the table is partitioned: Ouzel reads such values of whole numbers, texts, dates "
                "and BOOLEAN from the table's metadata, and others from the file; rewrite the table's data files first"
            )
        elif field.initial_default is not None and str(field.field_id) not in fixed:
            raise ConnectorError(
                f"{path} was written before column '{name}' was added with a default value, which Ouzel does not fill in; rewrite the "
                "table's data files first"
            )
    return {name: held[field.field_id].name for name, field in fields.items() if field.field_id in held}


def _schema_of(path: str, mapping: NameMapping | None) -> Schema:
    try:
        return pyarrow_to_schema(read_footer(path).schema.to_arrow_schema(), name_mapping=mapping, format_version=3)
    except (TypeError, ValueError) as error:
        raise ConnectorError(f"the columns of {path} cannot be matched with the table's: {first_line(error)}") from None


def _check_parts(name: str, wanted: IcebergType, held: IcebergType, path: str) -> None:
    """What a column is made of is read by name, so the names must be those of now."""
    match wanted, held:
        case ListType(), ListType():
            _check_parts(name, wanted.element_type, held.element_type, path)
        case MapType(), MapType():
            _check_parts(name, wanted.key_type, held.key_type, path)
            _check_parts(name, wanted.value_type, held.value_type, path)
        case StructType(), StructType():
            there = {field.field_id: field for field in held.fields}
            for field in wanted.fields:
                if field.field_id not in there or there[field.field_id].name != field.name:
                    raise ConnectorError(
                        f"{path} was written before field '{field.name}' of column '{name}' was added or renamed, and Ouzel finds such "
                        "fields by name; rewrite the table's data files first"
                    )
                _check_parts(f"{name}.{field.name}", field.field_type, there[field.field_id].field_type, path)


def fixed_by_name(fields: Mapping[str, NestedField], fixed: Mapping[str, str | None]) -> dict[str, str | None]:
    """Values that all rows of a file have, by the names that their columns have in the query."""
    return {name: fixed[key] for name, field in fields.items() if (key := str(field.field_id)) in fixed}
