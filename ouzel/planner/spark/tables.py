"""Tables to PySpark: how a connector's table is read and written in batch. One function for each connector and format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ouzel.compiler.functions.spark import column_name, to_spark_type
from ouzel.compiler.plan import Scan, Sink
from ouzel.compiler.types import Schema
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
        ".option('header', True)" if options["format"] == "csv" and options.get("csv.header", "true") == "true" else ""
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
    return _typed(f"spark.read.parquet({_path(options)})", scan.columns, lenient=False)


def _json(scan: Scan, options: Mapping[str, str]) -> str:
    mode = "DROPMALFORMED" if _is_lenient(options) else "FAILFAST"
    schema = ", ".join(f"{column_name(field.name)} {to_spark_type(field.type)}" for field in scan.columns)
    return _required(f"spark.read.schema({schema!r}).json({_path(options)}, mode={mode!r})", scan.columns, options)


def _csv(scan: Scan, options: Mapping[str, str]) -> str:
    """Fields are read as text and cast, so that the header's names count and not their order."""
    given = {
        "sep": options.get("csv.delimiter", ","),
        "quote": options.get("csv.quote", '"'),
        "nullValue": options.get("csv.null", ""),
    }
    given |= {"escape": given["quote"], "mode": "DROPMALFORMED" if _is_lenient(options) else "FAILFAST"}
    named = [name.strip() for name in options.get("csv.columns", "").split(",") if name.strip()]
    headed = options.get("csv.header", "true") == "true"
    arguments = ", ".join(f"{name}={value!r}" for name, value in given.items() if DEFAULTS.get(name) != value)
    schema = (
        ""
        if headed
        else ".schema({!r})".format(", ".join(f"{column_name(name)} string" for name in named or scan.columns.names))
    )
    reader = f"spark.read{schema}.csv({_path(options)}, header={headed}, {arguments})"
    return _typed(reader, scan.columns, lenient=_is_lenient(options), options=options)


def _typed(reader: str, schema: Schema, lenient: bool, options: Mapping[str, str] | None = None) -> str:
    cast = "try_cast" if lenient else "cast"
    columns = [f'F.col("{column_name(field.name)}").{cast}("{to_spark_type(field.type)}")' for field in schema]
    named = [f'{text}.alias("{field.name}")' if lenient else text for text, field in zip(columns, schema, strict=True)]
    lines = "".join(f"    {text},\n" for text in named)
    read = f"{reader}.select(\n{lines})"
    if not lenient:
        return _required(read, schema, options or {})
    whole = [
        f'(F.col("{column_name(f.name)}").isNull() | {text}.isNotNull())'
        for f, text in zip(schema, columns, strict=True)
    ]
    return _required(f"{reader}.where(\n    {' & '.join(whole)}\n).select(\n{lines})", schema, options or {})


def _required(read: str, schema: Schema, options: Mapping[str, str]) -> str:
    """Without the records that lack a NOT NULL column, where those are not to fail the query."""
    needed = [field.name for field in schema if not field.nullable]
    return f"{read}.dropna(subset={needed!r})" if needed and _is_lenient(options) else read


def _is_lenient(options: Mapping[str, str]) -> bool:
    return options.get("bad.record", "fail") != "fail"


def _path(options: Mapping[str, str]) -> str:
    path = options["path"]
    return repr(path) if path.startswith("/") or "://" in path else f'f"{{folder}}/{path}"'


DEFAULTS = {"sep": ",", "quote": '"'}

READERS: dict[str, Callable[[Scan, Mapping[str, str]], str]] = {"file": _read_file}

FORMATS: dict[str, Callable[[Scan, Mapping[str, str]], str]] = {"csv": _csv, "json": _json, "parquet": _parquet}
