"""Tables whose folders are named by values of columns, in a job's text: Spark's own partition discovery, held to the topology's rules.

Spark infers the columns' types from what it finds; a job has it read texts, and casts them. It passes over files beside the folders, and is
given folders that are known to be alike. Those that a WHERE excludes are left out before any of their files is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ouzel.compiler.expressions import Call, Column, Expression, Literal, columns_of, conjunction, conjuncts
from ouzel.compiler.functions.spark import column_name, to_spark
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import Scan, scans_in
from ouzel.compiler.types import FloatType
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.push_filters_to_sources import tell_sources
from ouzel.spark.lowering.columns import parse_text
from ouzel.spark.lowering.text import call, folder_columns, join_columns, quote, select

READ_PARTITIONS = "read_partitions"
"""The function to call: session, path, a column for each that folders are named by, the other columns in DDL, and what is asked for."""

READER = r'''def read_partitions(
    spark: SparkSession, path: str, keys: dict[str, Column], *columns: str, where: Column | None = None
) -> DataFrame:
    """The files' columns by name, in types that lose nothing, and the columns that their folders are named by."""
    rows = [(folder, *values) for folder, values in folders_in(spark, path, [*keys]).items()]
    texts = ", ".join(f"`{key.replace('`', '``')}` string" for key in keys)
    folders = spark.createDataFrame(rows, f"`$folder` string, {texts}").withColumns(keys)
    asked = [row[0] for row in (folders if where is None else folders.where(where)).collect()]
    schema = ", ".join([*columns, texts])
    if not asked:
        return spark.createDataFrame([], schema).withColumns(keys)
    if columns:
        read_parquet(spark, asked, *columns)  # which looks at their types
    return spark.read.option("basePath", path).schema(schema).parquet(*asked).withColumns(keys)


def folders_in(spark: SparkSession, path: str, keys: list[str]) -> dict[str, list[str | None]]:
    """The folders that hold the files, each with its values, once it is known that all are alike: Spark passes over others."""
    found: dict[str, list[str | None]] = {}
    tables = {path.rstrip("/").rpartition("/")[2]}
    for file in map(unquote, spark.read.option("recursiveFileLookup", True).text(path).inputFiles()):
        table, *parts = file.rpartition("/")[0].rsplit("/", len(keys))
        names, values = [part.partition("=")[0] for part in parts], [part.partition("=")[2] for part in parts]
        tables.add(table.rpartition("/")[2])
        if [unquote(name).lower() for name in names] != [key.lower() for key in keys] or len(tables) > 1:
            raise ValueError(f"{file} lies in other folders than {'/'.join(f'{key}=...' for key in keys)} below {path}")
        if re.search("%[89A-Fa-f]", "".join(values)):
            raise ValueError(f"the letters of {file} are escaped as Spark does not read them; rename its folders")
        folder = "/".join([table, *(re.sub(r"[][{}*?\\]", r"\\\g<0>", part) for part in parts)])
        found[folder] = [None if value == "NULL" else unquote(value) for value in values]
    return found
'''.replace("NULL", "__HIVE_DEFAULT_PARTITION__")


def tell_folders(dag: Dag) -> Dag:
    """The plan whose tables with such folders are told what rows are asked for."""
    connectors = {scan.connector for scan in scans_in(dag.nodes()) if folder_columns(dict(scan.options))}
    if not connectors:
        return dag
    return replace(tell_sources(replace(dag, filters=frozenset(connectors))), filters=dag.filters)


def partition_filters(scan: Scan) -> list[str]:
    """What rows are asked for by values of folders, for our own reader, as far as it is a comparison with constants: tuples of texts."""
    return [shown for part in _list_asked(scan) if (shown := _comparison(part))]


def _list_asked(scan: Scan) -> Iterator[Expression]:
    """The conjuncts that read no other columns than those that folders are named by."""
    names = {name.lower() for name in folder_columns(dict(scan.options))}
    for part in conjuncts(scan.predicate) if scan.predicate else ():
        if columns_of(part) and {name.lower() for name in columns_of(part)} <= names:
            yield part


def _comparison(part: Expression) -> str:
    match part:
        case Call(function=function, arguments=(Column(type=kind, name=name), *others)) if function in SIGNS:
            values = [other.value for other in others if isinstance(other, Literal)]
            if len(values) == len(others) and None not in values and not isinstance(kind, FloatType):
                return f"({', '.join(map(quote, (name, SIGNS[function], *map(str, values))))})"
    return ""


SIGNS = {
    "eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "in": "IN", "between": "BETWEEN", "is_null": "IS NULL",
    "is_not_null": "IS NOT NULL",
}  # fmt: skip
"""Comparisons that our own reader passes over folders by, as they stand in a job."""


def partitioned_parquet(scan: Scan, path: str) -> list[str]:
    """Lines that read such a table of Parquet by Spark's own reader."""
    keys = _keys(scan)
    own = [field for field in scan.columns if field.name not in keys]
    columns = join_columns(f"{column_name(field.name)} {to_spark_type(field.type)}" for field in own)
    shown = "{" + ", ".join(f"{quote(name)}: {value}" for name, value in keys.items()) + "}"
    where = [f"where={to_spark(conjunction(asked))}"] if (asked := [*_list_asked(scan)]) else []
    return [
        call(READ_PARTITIONS, ["spark", path, shown, *map(quote, columns), *where]),
        select(quote(column_name(name)) for name in scan.columns.names),
    ]


def _keys(scan: Scan) -> dict[str, str]:
    """A column of each name of folders, made of its text; as the table spells it, if the query reads it."""
    spelt = {field.name.lower(): field for field in scan.columns}
    keys = dict[str, str]()
    for name in folder_columns(dict(scan.options)):
        field = spelt.get(name.lower())
        value = f"F.col({quote(column_name(field.name if field else name))})"
        keys[field.name if field else name] = parse_text(value, field.type) if field else value
    return keys
