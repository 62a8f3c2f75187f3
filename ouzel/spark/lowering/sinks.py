"""Sinks to PySpark: how a batch writes a table, by Spark's own writer where the connector names one, else by Ouzel's own sink."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ouzel.compiler.catalog import load_named
from ouzel.compiler.plan import MERGED, Sink, SinkMode
from ouzel.compiler.types import (
    TIMESTAMP,
    TIMESTAMP_LTZ,
    ArrayType,
    BytesType,
    IntervalType,
    MapType,
    RowType,
    Schema,
    VarcharType,
    walk_type,
)
from ouzel.errors import NotSupported
from ouzel.spark.lowering.columns import refuse_null
from ouzel.spark.lowering.tables import starts_at_folder
from ouzel.spark.lowering.text import call, csv_dialect, identifier, path_text, quote, show_options


def lower_sink(frame: str, sink: Sink) -> str:
    """The text that shows or writes a sink's rows. Spark overwrites nothing that is there already: it refuses.

    Raises:
        NotSupported: the format cannot hold a column, or the table adds up what it is given.
    """
    if sink.mode is SinkMode.MERGE:
        raise NotSupported(
            f"table '{sink.table}' adds up what it is given, and a batch job would add to it what a stream has added",
            instead=f"leave '{MERGED}' out of a table that a batch job writes",
        )
    if sink.traits.spark:
        writer = WRITERS.get(sink.traits.spark) or load_named(sink.traits.spark)
        text: str = writer(frame, sink)
        return text
    options = {"connector": sink.connector, **dict(sink.options)}
    arguments = [
        frame,
        quote(sink.table),
        show_options(options, f"args.{identifier(sink.table)}"),
        *([f"mode={quote(sink.mode.value)}"] if sink.mode is not SinkMode.APPEND else []),
        *([f"keys=[{', '.join(map(quote, sink.keys))}]"] if sink.keys else []),
        *(["folder=args.folder"] if starts_at_folder(options) else []),
    ]
    return call("write_table", arguments)


SHOWN = 20
"""Rows of a trailing SELECT that a job shows."""


def show(frame: str, sink: Sink) -> str:
    """The first rows of a trailing SELECT."""
    return f"{frame}.show({SHOWN}, truncate=False)"


def write_nothing(frame: str, sink: Sink) -> str:
    """Computes the rows and forgets them."""
    return f'{frame}.write.format("noop").mode("overwrite").save()'


def write_files(frame: str, sink: Sink) -> str:
    """A folder of files.

    Raises:
        NotSupported: the format cannot hold a column.
    """
    options, schema = dict(sink.options), sink.columns if len(sink.columns) else sink.input.schema
    form = options["format"]
    if form == "raw":
        return _raw(frame, sink, schema)
    for field in schema:
        if any(isinstance(kind, UNWRITABLE[form]) for kind in walk_type(field.type)):
            raise NotSupported(
                f"table '{sink.table}': Spark cannot write column '{field.name}' of type {field.type} as {form}",
                instead="use 'parquet', or cast it",
            )
    if options.get("changelog") == "true" and sink.mode is SinkMode.RETRACT:
        frame = f'{frame}.withColumn("op", F.lit(1).cast("bigint"))'
    elif form == "csv":
        frame += _without_blank_lines(schema, options)
    given = WRITER_OPTIONS[form](schema, options)
    set_options = f".options({', '.join(f'{name}={value}' for name, value in given.items())})" if given else ""
    return f"{frame}.write{set_options}.{form}({path_text(sink.table, options)})"


def _raw(frame: str, sink: Sink, schema: Schema) -> str:
    if [type(field.type) for field in schema] != [VarcharType]:
        raise NotSupported(
            f"table '{sink.table}': Spark writes one column of type VARCHAR as raw, not ({', '.join(schema.names)})",
            instead="use 'json' or 'csv'",
        )
    return f"{frame}.write.text({path_text(sink.table, dict(sink.options))})"


def _csv(schema: Schema, options: Mapping[str, str]) -> dict[str, str]:
    """As the stream writes it; by itself Spark would trim texts and cut times off after milliseconds."""
    dialect = {name: quote(value) for name, value in csv_dialect(options).items()}
    trimmed = dict.fromkeys(("ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace"), "False")
    has_text = any(isinstance(field.type, VarcharType) for field in schema)
    header = options.get("csv.header", "true") == "true"
    return {"header": str(header), **dialect, **(trimmed if has_text else {}), **_times(schema)}


def _without_blank_lines(schema: Schema, options: Mapping[str, str]) -> str:
    """A call that fails where a line would be blank, which no reader takes for a record; Spark's writer leaves it out unasked."""
    if len(schema) > 1 or options.get("csv.null"):
        return ""
    (field,) = schema
    why = f"NULL in '{field.name}', the one column, would be a blank line; say what stands for NULL: 'csv.null' = '\\N'"
    return "".join(refuse_null({field.name: why})) if field.nullable else ""


def _json(schema: Schema, options: Mapping[str, str]) -> dict[str, str]:
    nulls = {"ignoreNullFields": "False"} if options.get("json.nulls", "true") == "true" else {}
    return {**nulls, **_times(schema)}


def _parquet(schema: Schema, options: Mapping[str, str]) -> dict[str, str]:
    wanted = options.get("parquet.compression")
    return {"compression": quote({"lz4": "lz4_raw"}.get(wanted, wanted))} if wanted else {}


def _times(schema: Schema) -> dict[str, str]:
    """Formats that keep microseconds, where there are times."""
    there = {kind for field in schema for kind in walk_type(field.type)}
    formats = {"timestampFormat": (TIMESTAMP_LTZ, "X"), "timestampNTZFormat": (TIMESTAMP, "")}  # a Z: jobs are in UTC
    return {name: quote(MICROSECONDS + zone) for name, (kind, zone) in formats.items() if kind in there}


MICROSECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"

WRITER_OPTIONS: dict[str, Callable[[Schema, Mapping[str, str]], dict[str, str]]] = {
    "csv": _csv, "json": _json, "parquet": _parquet,
}  # fmt: skip

UNWRITABLE: dict[str, tuple[type, ...]] = {
    "csv": (ArrayType, BytesType, IntervalType, MapType, RowType),
    "json": (IntervalType,),
    "parquet": (),
}
"""What Spark's writers refuse, or would write so that it does not come back."""


WRITERS: Mapping[str, Callable[[str, Sink], str]] = {"files": write_files, "nothing": write_nothing, "shown": show}
"""Writers by what a connector's row says; a connector of another package names its own by import path."""
