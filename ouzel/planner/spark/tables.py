"""Tables to PySpark: how a connector's table is read and written in batch. One function for each connector and format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ouzel.compiler.functions.spark import column_name, to_spark_type
from ouzel.compiler.plan import Scan, Sink
from ouzel.compiler.types import Field, Schema, VarcharType
from ouzel.errors import NotSupported


def read_table(scan: Scan) -> list[str]:
    """A frame with the table's columns, and calls on it. Files are read by Spark, all else, and METADATA columns, by Ouzel's own reader.

    Raises:
        NotSupported: its connector or format cannot be read in batch.
    """
    if scan.connector in HERE:
        raise NotSupported(
            f"table '{scan.table}': a Spark job cannot read connector '{scan.connector}', which lives in one process",
            instead="use 'file'",
        )
    options = dict(scan.options)
    if scan.connector != "file" or scan.metadata:
        return [_read_by_ouzel(scan)]
    shape = options.get("format", "")
    if shape not in FORMATS:
        raise NotSupported(
            f"table '{scan.table}': a Spark job cannot read format '{shape}'",
            instead=f"use one of {', '.join(FORMATS)}",
        )
    return FORMATS[shape](scan, options)


def read_range(scan: Scan) -> str:
    """A frame with the rows of the table that the job's OFFSETS name."""
    return _read_by_ouzel(scan, f"offsets={OFFSETS}[{quoted(scan.table)}]")


def _read_by_ouzel(scan: Scan, *more: str) -> str:
    columns = ", ".join(
        f"{column_name(field.name)} {to_spark_type(field.type)}{'' if field.nullable else ' NOT NULL'}"
        for field in scan.columns
    )
    options = {"connector": scan.connector, **dict(scan.options)}
    shown = "".join(f"        {quoted(name)}: {quoted(value)},\n" for name, value in options.items())
    metadata = ", ".join(f"{quoted(name)}: {quoted(key)}" for name, key in scan.metadata)
    arguments = [
        "spark",
        quoted(scan.table),
        quoted(columns),
        f"{{\n{shown}    }}",
        *([f"metadata={{{metadata}}}"] if metadata else []),
        *(["folder=folder"] if "path" in options else []),
        *more,
    ]
    return "read_table(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def write_table(frame: str, sink: Sink) -> str:
    """The text that shows or writes a sink's rows. Nothing that is there already is overwritten: Spark refuses.

    Raises:
        NotSupported: its connector or format cannot be written in batch.
    """
    if sink.connector in SHOWN:
        return f"{frame}.show(1000, truncate=False)"
    if sink.connector == "blackhole":
        return f'{frame}.write.format("noop").mode("overwrite").save()'
    options = dict(sink.options)
    if sink.connector != "file" or options.get("format") not in ("csv", "json", "parquet"):
        raise NotSupported(
            f"table '{sink.table}': a Spark job cannot write connector '{sink.connector}'", instead="use 'file'"
        )
    header = (
        '.option("header", True)' if options["format"] == "csv" and options.get("csv.header", "true") == "true" else ""
    )
    return f"{frame}.write{header}.{options['format']}({_path(options)})"


HERE = frozenset({"memory"})
"""Tables that no other process can read."""

OFFSETS, READ_TABLE = (
    "OFFSETS",
    "from ouzel.batch import read_table  # tables that Spark has no reader for: needs the wheel of Ouzel",
)
"""Names that a job uses for what Ouzel's own reader reads."""

SHOWN = frozenset({"memory", "print", "result"})
"""Sinks whose rows a job prints."""


def _parquet(scan: Scan, options: Mapping[str, str]) -> list[str]:
    return [f"spark.read.parquet({_path(options)})", _typed(scan.columns, "cast")]


def _json(scan: Scan, options: Mapping[str, str]) -> list[str]:
    """Where bad records are left out, whole lines are parsed: Spark's own reader would not look at columns that the query does not need."""
    schema = ", ".join(f"{column_name(field.name)} {to_spark_type(field.type)}" for field in scan.columns)
    if not _is_lenient(options):
        return [f"spark.read.schema({quoted(schema)})", f'.json({_path(options)}, mode="FAILFAST")']
    parse = f'F.from_json("value", {quoted(f"{schema}, {BAD} string")}, {{"columnNameOfCorruptRecord": {quoted(BAD)}}})'
    return [
        f"spark.read.text({_path(options)})",
        f'.select({parse}.alias("record"))',
        '.select("record.*")',
        "# Bad records are left out, as the table says.",
        f".where(F.col({quoted(BAD)}).isNull())",
        f".drop({quoted(BAD)})",
        *_required(scan.columns, options),
    ]


def _raw(scan: Scan, options: Mapping[str, str]) -> list[str]:
    (field,) = scan.columns
    value = 'F.col("value")' if isinstance(field.type, VarcharType) else _cast("value", field, "cast")
    return [f"spark.read.text({_path(options)})", f".select({value}.alias({quoted(field.name)}))"]


def _csv(scan: Scan, options: Mapping[str, str]) -> list[str]:
    """Fields are read as text and cast, so that the header's names count and not their order."""
    reader = _csv_reader(scan, options)
    if not _is_lenient(options):
        return [reader, _typed(scan.columns, "cast", texts=True)]
    columns = [
        (f"F.col({quoted(column_name(field.name))})", _cast(field.name, field, "try_cast"))
        for field in scan.columns
        if not isinstance(field.type, VarcharType)
    ]
    readable = [f".where({raw}.isNull() | {value}.isNotNull())" for raw, value in columns]
    mark = ["# Records with a field that cannot be read are left out, as the table says."] if readable else []
    return [reader, *mark, *readable, _typed(scan.columns, "try_cast", texts=True), *_required(scan.columns, options)]


def _csv_reader(scan: Scan, options: Mapping[str, str]) -> str:
    quote, headed = options.get("csv.quote", '"'), options.get("csv.header", "true") == "true"
    named = [name.strip() for name in options.get("csv.columns", "").split(",") if name.strip()]
    given = {
        "sep": options.get("csv.delimiter", ","),
        "quote": quote,
        "escape": quote,
        "nullValue": options.get("csv.null", ""),
    }
    given["mode"] = "DROPMALFORMED" if _is_lenient(options) else "FAILFAST"
    arguments = [
        f"header={headed}",
        *(f"{name}={quoted(value)}" for name, value in given.items() if value != CSV_DEFAULTS[name]),
    ]
    fields = ", ".join(f"{column_name(name)} string" for name in named or scan.columns.names)
    schema = "" if headed and not named else f".schema({quoted(fields)})"
    return f"spark.read{schema}.csv({_path(options)}, {', '.join(arguments)})"


def _typed(schema: Schema, how: str, texts: bool = False) -> str:
    """The columns in their types; what has been read as text needs none of it to stay text."""
    items = [
        quoted(column_name(field.name))
        if texts and isinstance(field.type, VarcharType)
        else f"{_cast(field.name, field, how)}.alias({quoted(field.name)})"
        for field in schema
    ]
    return ".select(\n" + "".join(f"    {item},\n" for item in items) + ")"


def _cast(name: str, field: Field, how: str) -> str:
    return f"F.col({quoted(column_name(name))}).{how}({quoted(to_spark_type(field.type))})"


def quoted(text: str) -> str:
    """The text as a Python string in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def _required(schema: Schema, options: Mapping[str, str]) -> list[str]:
    """Without the records that lack a NOT NULL column, where those are not to fail the query."""
    needed = [field.name for field in schema if not field.nullable]
    return [f".dropna(subset=[{', '.join(map(quoted, needed))}])"] if needed and _is_lenient(options) else []


def _is_lenient(options: Mapping[str, str]) -> bool:
    return options.get("bad.record", "fail") != "fail"


def _path(options: Mapping[str, str]) -> str:
    path = options["path"]
    return quoted(path) if path.startswith("/") or "://" in path else f'f"{{folder}}/{path}"'


BAD = "_bad"
"""Column that holds a record which cannot be read."""

CSV_DEFAULTS = {"sep": ",", "quote": '"', "nullValue": "", "escape": "\\", "mode": "PERMISSIVE"}
"""Spark's own, which a job need not say."""

FORMATS: dict[str, Callable[[Scan, Mapping[str, str]], list[str]]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
    "raw": _raw,
}
