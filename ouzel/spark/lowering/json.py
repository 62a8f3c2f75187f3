"""JSON in a job's text: Spark goes by the case of fields' names, and SQL does not.

Files are looked through once, and if there is another case, at any depth, a Python function writes their records anew. Kafka's records come
but once, so there it is Spark's own functions, and the fields of the record only.

The rule is that of connectors/formats/json/names.py, in Spark's terms; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ouzel.compiler.types import ArrayType, DataType, MapType, RowType, Schema
from ouzel.lists import split_list
from ouzel.spark.lowering.text import quote

SPELL, READ_JSON = "spell", "read_json"
"""The functions to call: of records as text, and the names of columns; of a session, a path, the columns in DDL, and whose case counts."""

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

_READ = r'''def read_json(spark: SparkSession, path: str, schema: str, *exact: str) -> DataFrame:
    """The columns of JSON records, by Spark's own reader unless there are fields whose names differ from a column's in case."""
    columns, strictly = spark.createDataFrame([], schema).schema, {"mode": "FAILFAST", "allowSingleQuotes": False}
    names, lines, text = names_in(columns), spark.read.text(path), F.col("value")
    certain = [name for name in names if [fold(other) for other in names].count(fold(name)) == 1]
    alike, same = ("|".join(map(re.escape, some)) for some in (names, certain))
    odd = text.rlike(rf'"(?!(?:{same})")(?i:{alike})"\s*:|\\.[^"\\]*"\s*:')  # a name with an escape may be any
    if lines.where(odd).isEmpty():
        return spark.read.schema(schema).json(path, **strictly)
    spelt = F.when(odd, F.udf(lambda record: spell_record(record, columns, exact))(text)).otherwise(text)
    records = lines.select(F.from_json(spelt, schema, strictly).alias("_record"))
    return records.where("_record IS NOT NULL").select("_record.*")


def names_in(kind: T.DataType) -> set[str]:
    """The names of all fields inside a type."""
    fields = kind.fields if isinstance(kind, T.StructType) else []
    parts = [getattr(kind, part) for part in ("elementType", "valueType") if hasattr(kind, part)]
    return {field.name for field in fields}.union(*map(names_in, [*parts, *(field.dataType for field in fields)]))


def fold(name: str) -> bytes:
    """The name with A to Z small, and its other letters as they are."""
    return name.encode(errors="replace").lower()


def spell_record(text: str, columns: T.StructType, exact: Collection[str]) -> str:
    """A JSON record with its fields written as the columns are: Spark goes by their case, SQL does not."""
    number = "\0number {}".format  # which stay as they are
    try:
        record = json.loads(text, parse_float=number, parse_int=number, parse_constant=number)
    except ValueError:  # Spark says what is wrong with it
        return text
    return re.sub(r'"\\u0000number (.+?)"', r"\1", json.dumps(spell_fields(record, columns, exact)))


def spell_fields(value: Any, kind: T.DataType, exact: Collection[str], column: str = "") -> Any:
    """What a record holds of this type, likewise; `exact` are the columns, and `column.field` inside them, whose case counts."""
    if isinstance(kind, T.ArrayType) and isinstance(value, list):
        return [spell_fields(each, kind.elementType, exact, column) for each in value]
    if isinstance(kind, T.MapType) and isinstance(value, dict):
        return {key: spell_fields(each, kind.valueType, exact, column) for key, each in value.items()}
    if not isinstance(kind, T.StructType) or not isinstance(value, dict):
        return value
    found = {}
    for field in kind:
        loose = (f"{column}.{field.name}" if column else field.name) not in exact
        alike = [key for key in value if loose and key not in kind.names and fold(key) == fold(field.name)]
        keys = [field.name] if field.name in value else alike
        if len(keys) > 1:
            raise ValueError(f"fields {keys[0]!r} and {keys[1]!r} differ in case, and either may be {field.name!r}")
        if keys:
            found[field.name] = spell_fields(value[keys[0]], field.dataType, exact, column or field.name)
    return found
'''


def json_reader(names: Iterable[str]) -> str:
    """The functions of a job that reads JSON, of those it calls by name."""
    functions = {SPELL: _SPELL, READ_JSON: _READ}
    return "\n\n".join(text for name, text in functions.items() if name in names)


def shown_exact(columns: Schema, options: Mapping[str, str]) -> list[str] | None:
    """Arguments: the columns, and `column.field` inside them, that find only fields of their very name; None if all are such."""
    said = _read_exact(options)
    names = [
        name for column in columns for name in (column.name, *(f"{column.name}.{x}" for x in _fields(column.type)))
    ]
    if "*" in said or said.issuperset(names):
        return None
    return [quote(name) for name in dict.fromkeys(names) if name in said]


def shown_names(columns: Schema, options: Mapping[str, str]) -> list[str]:
    """Arguments: the columns that find their fields in any case, and those that do not if there are any; nothing if all are such."""
    said = _read_exact(options)
    exact = [name for name in columns.names if name in said or "*" in said]
    names = [name for name in columns.names if name not in exact]
    return [f"[{', '.join(map(quote, part))}]" for part in (names, exact) if part] if names else []


def has_fields_in_any_case(columns: Schema, options: Mapping[str, str]) -> bool:
    """Whether a field inside a ROW is to be found whatever its case, which SPELL cannot do."""
    said = _read_exact(options)
    inside = (f"{column.name}.{field}" for column in columns for field in _fields(column.type))
    return "*" not in said and any(path not in said for path in inside)


def _read_exact(options: Mapping[str, str]) -> frozenset[str]:
    return frozenset(split_list(options.get("json.exact", "")))


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
