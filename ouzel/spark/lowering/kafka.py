"""Topics by Spark's own Kafka source, which needs its jars: `'spark.source' = 'jvm'`. Spark's functions decode what a record holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from ouzel.compiler.functions.spark import column_name
from ouzel.compiler.plan import Scan
from ouzel.compiler.types import BytesType, Schema
from ouzel.errors import NotSupported
from ouzel.spark.lowering.columns import (
    JSON_READER,
    from_csv,
    has_empty_texts,
    json_schema,
    not_null,
    parse_text,
    read_json_times,
)
from ouzel.spark.lowering.json import SPELL, has_fields_in_any_case, shown_names
from ouzel.spark.lowering.text import Range, call, csv_names, csv_reader, is_lenient, quote, select


def read_kafka(scan: Scan, parts: Range | None) -> list[str] | None:
    """A frame of the table's columns: all there is, what its options say, or the offsets in `parts`; None if the table does not ask for it.

    Raises:
        NotSupported: the table asks for what Spark's source cannot do.
    """
    options = dict(scan.options)
    if options.get("spark.source") != "jvm":
        return None
    _check(scan, options)
    if any(len(span) > 2 for span in (parts or {}).values()):
        raise NotSupported(
            f"table '{scan.table}': records were shed, and Spark's own source reads no part of a partition without what is between",
            instead="leave out 'spark.source' = 'jvm'",
        )
    given = {"kafka.bootstrap.servers": options["bootstrap.servers"]}
    given |= {**_topics(options), **_span(options)} if parts is None else _offsets(parts)
    if "headers" in dict(scan.metadata).values():
        given["includeHeaders"] = "true"
    return [
        'spark.read.format("kafka")',
        *(f".option({quote(name)}, {quote(value)})" for name, value in given.items()),
        ".load()",
        "# A record without a value is nothing at all.",
        '.where(F.col("value").isNotNull())',
        *_decode(scan, options),
        *not_null(scan.table, scan.columns),
    ]


def _check(scan: Scan, options: Mapping[str, str]) -> None:
    cannot = {
        "bad.record": is_lenient(options),
        "changelog.mode": options.get("changelog.mode") == "upsert",
        "tombstone": options.get("tombstone") == "bad",
        "start": options.get("start") == "offsets",
        "end": options.get("end") == "offsets",
        **{name: True for name in options if name.startswith("properties.")},
        "format": options["format"] not in ("json", "csv", "raw"),
    }
    name = next((name for name, asked in cannot.items() if asked), "")
    if name:
        more = ", or say with --offsets what to read" if name in ("start", "end") else ""
        raise NotSupported(
            f"table '{scan.table}': Spark's own Kafka source cannot do '{name}' = '{options[name]}'",
            instead=f"leave out 'spark.source', so that Ouzel's reads it{more}",
        )
    if options["format"] == "json" and has_fields_in_any_case(scan.columns, options):
        raise NotSupported(
            f"table '{scan.table}': Spark's own JSON reader finds fields inside a ROW in their own case only",
            instead="leave out 'spark.source', so that Ouzel's reads it, or put their names in quotes",
        )


def _topics(options: Mapping[str, str]) -> dict[str, str]:
    pattern = options.get("topic.pattern")
    return {"subscribePattern": pattern} if pattern else {"subscribe": options["topic"]}


def _span(options: Mapping[str, str]) -> dict[str, str]:
    """From where to where. By time: a partition without a record of that time or later has nothing to give, or everything."""
    given = {"startingOffsets": "earliest", "endingOffsets": "latest"}
    if options.get("start") == "timestamp":
        del given["startingOffsets"]
        given["startingTimestamp"] = _milliseconds(options["start.timestamp"])
        given["startingOffsetsByTimestampStrategy"] = "latest"
    if options.get("end") == "timestamp":
        del given["endingOffsets"]
        given["endingTimestamp"] = _milliseconds(options["end.timestamp"])
    return given


def _milliseconds(text: str) -> str:
    """Milliseconds since the epoch of a time, UTC unless it names a zone; rounded up, as the first record not before it is meant."""
    if text.lstrip("-").isdecimal():
        return text
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return str(-(-round(moment.timestamp() * 1_000_000) // 1000))


def _offsets(parts: Range) -> dict[str, str]:
    """Exactly these partitions, each from its first offset to the one to stop before."""
    spans: dict[str, dict[int, tuple[int, ...]]] = {}
    for name, span in parts.items():
        topic, _, number = name.rpartition("-")
        spans.setdefault(topic, {})[int(number)] = span
    ends = (
        {topic: {str(number): span[end] for number, span in sorted(of.items())} for topic, of in sorted(spans.items())}
        for end in (0, 1)
    )
    assigned = {topic: sorted(of) for topic, of in sorted(spans.items())}
    texts = map(json.dumps, (assigned, *ends))
    return dict(zip(("assign", "startingOffsets", "endingOffsets"), texts, strict=True))


def _decode(scan: Scan, options: Mapping[str, str]) -> list[str]:
    """The table's columns, in order: those of the record's value by its format, the others from beside it."""
    beside = {name: _beside(name, scan) for name in scan.columns.names if name in _names_beside(scan, options)}
    data = Schema(tuple(field for field in scan.columns if field.name not in beside))
    if not len(data) or options["format"] == "raw":
        items = {field.name: VALUE if isinstance(field.type, BytesType) else TEXT for field in data}
        named = {name: f"{value}.alias({quote(name)})" for name, value in items.items()} | beside
        return [select([named[name] for name in scan.columns.names])]
    record = f"{_record(data, options)}.alias({quote(RECORD)})"
    apart = ", ".join(map(quote, (f"{RECORD}.*", *map(column_name, beside))))
    names = ", ".join(quote(column_name(name)) for name in scan.columns.names)
    taken = [select([record, *beside.values()]), f".select({apart})"]
    if options["format"] == "csv":
        return [*taken, *from_csv(scan.columns, options, beside)]
    return [*taken, *([f".select({names})"] if beside else []), *read_json_times(data)]


def _names_beside(scan: Scan, options: Mapping[str, str]) -> set[str]:
    return {*dict(scan.metadata), options.get("key.field", "")}


def _beside(name: str, scan: Scan) -> str:
    """A METADATA column, or the record's key as text of the column's type."""
    key, kind = dict(scan.metadata).get(name), scan.columns[name].type
    if key is not None:
        return f"F.col({quote(key)}).alias({quote(name)})"
    value = 'F.col("key")' if isinstance(kind, BytesType) else parse_text('F.col("key").cast("string")', kind)
    return f"{value}.alias({quote(name)})"


def _record(data: Schema, options: Mapping[str, str]) -> str:
    if options["format"] == "csv":
        fields = ", ".join(f"{column_name(name)} string" for name in csv_names(options))
        given = ", ".join(
            f"{quote(name)}: {quote(value)}"
            for name, value in csv_reader(options, has_empty_texts(data, options)).items()
        )
        return f"F.from_csv({TEXT}, {quote(fields)}, {{{given}}})"
    given = ", ".join(f"{quote(name)}: {value}" for name, value in JSON_READER.items())
    names = shown_names(data, options)
    text = call(SPELL, [TEXT, *names]) if names else TEXT
    return f"F.from_json({text}, {quote(json_schema(data))}, {{{given}}})"


RECORD = "_record"
"""A record that has been decoded, between two steps."""

VALUE, TEXT = 'F.col("value")', 'F.col("value").cast("string")'
"""What a record holds."""
