"""Tables to PySpark: how a connector's table is read in batch. One function for each format of files that Spark reads itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ouzel.compiler.catalog import load_named
from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.plan import Scan
from ouzel.compiler.types import MapType, VarcharType, walk_type
from ouzel.errors import NotSupported
from ouzel.spark.lowering.columns import JSON_READER, from_csv, has_empty_texts, json_schema, not_null, read_json_times
from ouzel.spark.lowering.csv import CLOSED, READ_CSV
from ouzel.spark.lowering.json import READ_JSON, shown_exact
from ouzel.spark.lowering.kafka import read_kafka
from ouzel.spark.lowering.parquet import READ_PARQUET
from ouzel.spark.lowering.partitions import partition_filters, partitioned_parquet
from ouzel.spark.lowering.text import (
    Range,
    call,
    csv_names,
    csv_reader,
    folder_columns,
    identifier,
    is_lenient,
    is_relative,
    join_columns,
    path_text,
    quote,
    show_options,
)


def lower_scan(scan: Scan) -> list[str]:
    """A frame with the table's columns, and calls on it.

    Files are read by Spark; what else there is, METADATA columns and tables that leave bad records out, by Ouzel's own reader.

    Raises:
        NotSupported: its connector or format cannot be read in batch.
    """
    if not scan.traits.shared:
        raise NotSupported(
            f"table '{scan.table}': a Spark job cannot read connector '{scan.connector}', which lives in one process",
            instead="use 'file'",
        )
    _refuse_maps_of_changelog(scan)
    refuse_unkept(scan)
    return _read_by_spark(scan, None) or [_read_by_ouzel(scan)]


def _refuse_maps_of_changelog(scan: Scan) -> None:
    """See that Spark can tell which rows of a changelog are left.

    Raises:
        NotSupported: Spark cannot compare two of its rows.
    """
    maps = [field.name for field in scan.columns if any(isinstance(part, MapType) for part in walk_type(field.type))]
    if scan.traits.changelog and maps:
        raise NotSupported(
            f"table '{scan.table}': its rows may be taken back, and Spark cannot tell which, for it does not compare maps ({maps[0]})",
            instead="declare the column VARCHAR",
        )


def refuse_unkept(scan: Scan) -> None:
    """See that what the table has given is still there to be read.

    Raises:
        NotSupported: it is a queue, and nothing keeps what a run has handled.
    """
    if not scan.traits.kept:
        raise NotSupported(
            f"table '{scan.table}': connector '{scan.connector}' hands out each item once, and nothing keeps what was handled",
            instead="add 'items.path' = 'DIR' to its WITH: what a run has handled is kept there, and a batch reads that",
        )


def read_files(scan: Scan, parts: Range | None) -> list[str] | None:
    """Files by Spark's own readers; None for what these cannot do: ranges, lists of paths, METADATA columns, leaving bad records out,
    files that are one JSON array, and text in folders that are named by values of columns, of which they would look at all.

    Raises:
        NotSupported: the format cannot be read in batch.
    """
    options = dict(scan.options)
    if folder_columns(options) and (options["format"] != "parquet" or {*"{}"} & {*options["path"]}):
        return None
    ours = is_lenient(options) or NOT_OF_SPARK.search(options["path"]) or options.get("json.array") == "true"
    if parts is not None or scan.metadata or ours:
        return None
    shape = options.get("format", "")
    if shape not in FORMATS:
        raise NotSupported(
            f"table '{scan.table}': a Spark job cannot read format '{shape}'",
            instead=f"use one of {', '.join(FORMATS)}",
        )
    return FORMATS[shape](scan, options) + not_null(scan.table, scan.columns)


def read_values(scan: Scan, parts: Range | None) -> list[str]:
    """The numbers of the rows of VALUES, or of a program: all, or the offsets in `parts`."""
    if parts is None:
        return [f"spark.range({dict(scan.options).get('rows', '1')})"]
    spans = [pair for span in parts.values() for pair in zip(span[::2], span[1::2], strict=True)] or [(0, 0)]
    first, *others = [f"spark.range({start}, {end})" for start, end in spans]
    return [first, *(f".union({other})" for other in others)]


def is_read_by_spark(scan: Scan) -> bool:
    """Whether Spark's own readers read all of the table; they take braces in a path for a choice."""
    return _read_by_spark(scan, None) is not None


def read_range(scan: Scan, parts: Range) -> list[str]:
    """A frame with the rows of the table that the job's OFFSETS name, which are `parts`.

    Raises:
        NotSupported: rows of it may be taken back.
    """
    _refuse_maps_of_changelog(scan)
    refuse_unkept(scan)
    return _read_by_spark(scan, parts) or [_read_by_ouzel(scan, f"offsets={OFFSETS}[{quote(scan.table)}]")]


def _read_by_spark(scan: Scan, parts: Range | None) -> list[str] | None:
    """The lines of the reader that the connector's row names, if it reads this table."""
    if not scan.traits.spark or scan.traits.changelog:
        return None
    reader = READERS.get(scan.traits.spark) or load_named(scan.traits.spark)
    lines: list[str] | None = reader(scan, parts)
    return lines


READERS: Mapping[str, Callable[[Scan, Range | None], list[str] | None]] = {
    "files": read_files,
    "topics": read_kafka,
    "given rows": read_values,
}
"""Readers by what a connector's row says; a connector of another package names its own by import path."""


def _read_by_ouzel(scan: Scan, *more: str) -> str:
    noted = [f"{BAD_RECORDS}={BAD_RECORDS}"] if is_lenient(dict(scan.options)) else []
    options = dict(scan.options)
    path = f"args.{identifier(scan.table)}" if "path" in options else ""
    return call_reader("read_table", scan, "args.folder", *more, *noted, path=path)


def call_reader(function: str, scan: Scan, folder: str, *more: str, path: str = "") -> str:
    """A call of a function of ours that reads the table, `read_table` or `read_stream`, with more arguments of its own."""
    columns = ", ".join(
        f"{column_name(field.name)} {to_spark_type(field.type)}{'' if field.nullable else ' NOT NULL'}"
        for field in scan.columns
    )
    options = {"connector": scan.connector, **dict(scan.options)}
    metadata = ", ".join(f"{quote(name)}: {quote(key)}" for name, key in scan.metadata)
    arguments = [
        "spark",
        quote(scan.table),
        quote(columns),
        show_options(options, path),
        *([f"metadata={{{metadata}}}"] if metadata else []),
        *([f"filters=[{', '.join(filters)}]"] if (filters := partition_filters(scan)) else []),
        *([f"folder={folder}"] if starts_at_folder(options) else []),
        *more,
    ]
    return call(function, arguments)


def starts_at_folder(options: Mapping[str, str]) -> bool:
    """Whether one of a table's paths is relative to the folder of the query's file."""
    return any(is_relative(options[name]) for name in PATHS & options.keys())


NOT_OF_SPARK = re.compile(r",|\*\*|\.zst$")
"""What in a path means something else to Spark than to us, or needs a library that Spark comes without, as zstd does."""

OFFSETS, BAD_RECORDS = "OFFSETS", "bad_records"
"""Names that a job uses for what Ouzel's own reader reads."""

PATHS = frozenset({"path", "dead-letter.path", "items.path", "catalog.uri", "catalog.warehouse"})
"""Options that are paths, or URIs that hold one, relative to the query's file."""


def _parquet(scan: Scan, options: Mapping[str, str]) -> list[str]:
    if folder_columns(options):
        return partitioned_parquet(scan, path_text(scan.table, options))
    columns = [f"{column_name(field.name)} {to_spark_type(field.type)}" for field in scan.columns]
    return [call(READ_PARQUET, ["spark", path_text(scan.table, options), *map(quote, join_columns(columns))])]


def _json(scan: Scan, options: Mapping[str, str]) -> list[str]:
    exact, path, schema = shown_exact(scan.columns, options), path_text(scan.table, options), json_schema(scan.columns)
    if exact is not None:
        return [call(READ_JSON, ["spark", path, quote(schema), *exact]), *read_json_times(scan.columns)]
    given = ", ".join(f"{name}={value}" for name, value in JSON_READER.items())
    read = [
        f"spark.read.schema({quote(schema)})",
        f".json({path}, {given})",
    ]
    return read + read_json_times(scan.columns)


def _raw(scan: Scan, options: Mapping[str, str]) -> list[str]:
    (field,) = scan.columns
    cast = "" if isinstance(field.type, VarcharType) else f".cast({quote(to_spark_type(field.type))})"
    named = f'.select(F.col("value"){cast}.alias({quote(field.name)}))' if cast or field.name != "value" else ""
    return [f"spark.read.text({path_text(scan.table, options)})", *([named] if named else [])]


def _csv(scan: Scan, options: Mapping[str, str]) -> list[str]:
    """Fields are read as text and cast, so that the header's names count and not their order."""
    return [_csv_reader(scan, options), *from_csv(scan.columns, options)]


def _csv_reader(scan: Scan, options: Mapping[str, str]) -> str:
    headed, named = options.get("csv.header", "true") == "true", csv_names(options)
    reader = csv_reader(options, has_empty_texts(scan.columns, options))
    given = [f"{name}={quote(value)}" for name, value in reader.items()]
    lines, path = list[str](), path_text(scan.table, options)
    if options.get("csv.quote", '"'):  # a quoted field may hold line ends
        marks = [f"{name}={quote(value)}" for name, value in reader.items() if name in ("quote", "sep")]
        lines, path = ["multiLine=True"], call(CLOSED, ["spark", path, *marks])
    if headed and not named:
        names = [quote(column_name(name)) for name in scan.columns.names]
        return call(READ_CSV, ["spark", path, *names, *lines, *given])
    fields = ", ".join(f"{column_name(name)} string" for name in named or scan.columns.names)
    return call(f"spark.read.schema({quote(fields)}).csv", [path, f"header={headed}", *lines, *given])


FORMATS: dict[str, Callable[[Scan, Mapping[str, str]], list[str]]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
    "raw": _raw,
}
