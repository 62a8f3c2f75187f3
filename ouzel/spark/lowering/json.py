"""JSON in a job's text: Spark goes by the case of fields' names, and SQL does not.

The rule is that of connectors/formats/json_names.py, in Spark's terms; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ouzel.compiler.types import ArrayType, DataType, MapType, RowType, Schema
from ouzel.spark.lowering.text import quote

SPELL, READ_JSON = "spell", "read_json"
"""The functions to call: of records as text, and the names of columns; of a session, a path, the columns in DDL, and their names."""

_SPELL = r'''def spell(text: Column, names: list[str], exact: Sequence[str] = ()) -> Column:
    """JSON records with their fields written as these columns are: Spark goes by their case, SQL does not."""
    keys, large, small = F.json_object_keys(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"

    def put(record: Column, name: Column) -> Column:
        alike = F.translate(name, large, small)
        others = F.filter(keys, lambda key: (F.translate(key, large, small) == alike) & ~key.isin(*names, *exact))
        field = F.concat(F.lit(r'"\Q'), F.get(others, 0), F.lit(r'\E"\s*:'))
        spelt = F.replace(record, F.regexp_substr(text, field), F.concat(F.lit('"'), name, F.lit('":')))
        why = F.concat(F.lit("more than one field may be column "), name, F.lit(" of "), text)
        return (
            F.when(F.array_contains(keys, name) | (F.size(others) == 0), record)
            .when((F.size(others) == 1) & (F.regexp_count(text, field) == 1), spelt)
            .otherwise(F.raise_error(why))
        )

    folded = [name.lower() for name in names]
    odd = F.exists(keys, lambda key: F.lower(key).isin(*folded) & ~key.isin(*names, *exact))
    return F.when(odd, F.aggregate(F.array(*map(F.lit, names)), text, put)).otherwise(text)
'''

_READ = '''def read_json(spark: SparkSession, path: str, schema: str, names: list[str], exact: Sequence[str] = ()) -> DataFrame:
    """The columns of JSON records, by Spark's own reader unless there are fields whose names differ from a column's in case."""
    reader, strictly = spark.read.schema(schema), {"mode": "FAILFAST", "allowSingleQuotes": False}
    lines, spelt = spark.read.text(path), spell(F.col("value"), names, exact)
    if lines.where(spelt != F.col("value")).isEmpty():
        return reader.json(path, **strictly)
    records = lines.select(F.from_json(spelt, schema, strictly).alias("_record"))
    return records.where("_record IS NOT NULL").select("_record.*")
'''


def json_reader(names: Iterable[str]) -> str:
    """The functions of a job that reads JSON, of those it calls by name."""
    called = {SPELL, READ_JSON} & set(names)
    return "\n\n".join([*([_SPELL] if called else []), *([_READ] if READ_JSON in called else [])])


def shown_names(columns: Schema, options: Mapping[str, str]) -> list[str]:
    """Arguments: the columns that find their fields in any case, and those that do not if there are any; nothing if all are such."""
    said = _said(options)
    exact = [name for name in columns.names if name in said or "*" in said]
    names = [name for name in columns.names if name not in exact]
    return [f"[{', '.join(map(quote, part))}]" for part in (names, exact) if part] if names else []


def has_fields_in_any_case(columns: Schema, options: Mapping[str, str]) -> bool:
    """Whether a field inside a ROW is to be found whatever its case, which Spark cannot do."""
    said = _said(options)
    inside = (f"{column.name}.{field}" for column in columns for field in _fields(column.type))
    return "*" not in said and any(path not in said for path in inside)


def _said(options: Mapping[str, str]) -> set[str]:
    return {name.strip() for name in options.get("json.exact", "").split(",")}


def _fields(kind: DataType) -> Iterator[str]:
    """The names of all fields inside a type."""
    match kind:
        case RowType(fields):
            for name, part in fields:
                yield name
                yield from _fields(part)
        case ArrayType(element):
            yield from _fields(element)
        case MapType(key, value):
            yield from _fields(key)
            yield from _fields(value)
