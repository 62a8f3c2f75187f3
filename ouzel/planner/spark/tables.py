"""Tables to PySpark: how a connector's table is read and written in batch. One function for each connector and format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ouzel.compiler.functions.spark import column_name, to_spark_type
from ouzel.compiler.plan import Scan, Sink
from ouzel.compiler.types import Field, Schema
from ouzel.errors import NotSupported


def read_table(scan: Scan) -> str:
    """The text of a DataFrame with the table's columns.

    Raises:
        NotSupported: its connector, format or metadata cannot be read in batch.
    """
    if scan.connector not in READERS:
        raise NotSupported(
            f"table '{scan.table}': a Spark job cannot read connector '{scan.connector}'",
            instead=f"use one of {', '.join(READERS)}",
        )
    if scan.metadata:
        raise NotSupported(
            f"table '{scan.table}': a Spark job has no METADATA columns", instead=f"leave out {scan.metadata[0][0]}"
        )
    return READERS[scan.connector](scan, dict(scan.options))


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


SHOWN = frozenset({"memory", "print", "result"})
"""Sinks whose rows a job prints."""


def _read_file(scan: Scan, options: Mapping[str, str]) -> str:
    shape = options.get("format", "")
    if shape not in FORMATS:
        raise NotSupported(
            f"table '{scan.table}': a Spark job cannot read format '{shape}'",
            instead=f"use one of {', '.join(FORMATS)}",
        )
    return FORMATS[shape](scan, options)


def _parquet(scan: Scan, options: Mapping[str, str]) -> str:
    return _typed(f"spark.read.parquet({_path(options)})", scan.columns, "cast")


def _json(scan: Scan, options: Mapping[str, str]) -> str:
    """Where bad records are left out, whole lines are parsed: Spark's own reader would not look at columns that the query does not need."""
    schema = ", ".join(f"{column_name(field.name)} {to_spark_type(field.type)}" for field in scan.columns)
    if not _is_lenient(options):
        return f'spark.read.schema({quoted(schema)}).json({_path(options)}, mode="FAILFAST")'
    parse = f'F.from_json("value", {quoted(f"{schema}, {BAD} string")}, {{"columnNameOfCorruptRecord": {quoted(BAD)}}})'
    lines = [f"spark.read.text({_path(options)})", f'.select({parse}.alias("record"))', '.select("record.*")']
    lines += [f".where(F.col({quoted(BAD)}).isNull())", f".drop({quoted(BAD)})"]
    return _required("(\n" + "".join(f"    {line}\n" for line in lines) + ")", scan.columns, options)


def _raw(scan: Scan, options: Mapping[str, str]) -> str:
    (field,) = scan.columns
    return f'spark.read.text({_path(options)}).select({_cast("value", field, "cast")}.alias("{field.name}"))'


def _csv(scan: Scan, options: Mapping[str, str]) -> str:
    """Fields are read as text and cast, so that the header's names count and not their order."""
    reader = _csv_reader(scan, options)
    if not _is_lenient(options):
        return _typed(reader, scan.columns, "cast")
    columns = [(f'F.col("{column_name(field.name)}")', _cast(field.name, field, "try_cast")) for field in scan.columns]
    readable = "".join(f"\n    .where({raw}.isNull() | {value}.isNotNull())" for raw, value in columns)
    return _required(_typed(f"(\n    {reader}{readable}\n)", scan.columns, "try_cast"), scan.columns, options)


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


def _typed(reader: str, schema: Schema, how: str) -> str:
    lines = "".join(f"    {_cast(field.name, field, how)}.alias({quoted(field.name)}),\n" for field in schema)
    return f"{reader}.select(\n{lines})"


def _cast(name: str, field: Field, how: str) -> str:
    return f'F.col("{column_name(name)}").{how}("{to_spark_type(field.type)}")'


def quoted(text: str) -> str:
    """The text as a Python string in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def _required(read: str, schema: Schema, options: Mapping[str, str]) -> str:
    """Without the records that lack a NOT NULL column, where those are not to fail the query."""
    needed = [field.name for field in schema if not field.nullable]
    return f"{read}.dropna(subset=[{', '.join(map(quoted, needed))}])" if needed and _is_lenient(options) else read


def _is_lenient(options: Mapping[str, str]) -> bool:
    return options.get("bad.record", "fail") != "fail"


def _path(options: Mapping[str, str]) -> str:
    path = options["path"]
    return quoted(path) if path.startswith("/") or "://" in path else f'f"{{folder}}/{path}"'


BAD = "_bad"
"""Column that holds a record which cannot be read."""

CSV_DEFAULTS = {"sep": ",", "quote": '"', "nullValue": "", "escape": "\\", "mode": "PERMISSIVE"}
"""Spark's own, which a job need not say."""

READERS: dict[str, Callable[[Scan, Mapping[str, str]], str]] = {"file": _read_file}

FORMATS: dict[str, Callable[[Scan, Mapping[str, str]], str]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
    "raw": _raw,
}
