"""Records a second and MB a second of each format, read and written, one JSON line each: `python -m bench.formats [name ...]`.

One thread's worth of records in memory; a figure is the best of five passes, by the wall and by the processor's time of all threads.
"""

from __future__ import annotations

import io
import json
import struct
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from ouzel.connectors.formats import open_decoder, open_encoder
from ouzel.connectors.formats.avro.schema import write_varint
from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.protobuf.format import message_class

ROWS = 50_000
PASSES = 5
_START = datetime(2024, 1, 1)
BID: dict[str, pl.DataType] = {"id": pl.Int64(), "price": pl.Float64(), "url": pl.String(), "ids": pl.List(pl.Int64())}


def flat(rows: int) -> pl.DataFrame:
    """Numbers and texts."""
    numbers = pl.Series("auction", range(rows))
    return pl.DataFrame(numbers).with_columns(
        bidder=numbers * 7 % 1000,
        price=numbers * 1.25,
        url=pl.format("https://www.nexmark.com/item{}.html?query=1", numbers),
        is_open=numbers % 2 == 0,
        extra=pl.lit("x" * 80),
    )


def typed(rows: int) -> pl.DataFrame:
    """The same with a DECIMAL and times."""
    times = pl.Series([_START + timedelta(milliseconds=number) for number in range(rows)])
    return flat(rows).with_columns(price=pl.col("price").cast(pl.Decimal(12, 2)), at=times, day=times.dt.date())


def nested(rows: int) -> pl.DataFrame:
    """Nexmark's event as one record: ROWs with times, an ARRAY of ROWs with a DATE and a DECIMAL, BYTES in a ROW."""
    one = typed(rows)
    row = pl.struct(*one.columns)
    tags = [[{"day": _START.date(), "part": Decimal("1.25")}, {"day": None, "part": Decimal("2.50")}]] * rows
    return one.select(
        kind=pl.lit(1),
        bid=row,
        auction=pl.struct(id="auction", at=pl.col("at").dt.replace_time_zone("UTC"), raw=pl.lit(b"abcdef")),
        tags=pl.Series(tags, dtype=pl.List(pl.Struct({"day": pl.Date(), "part": pl.Decimal(9, 2)}))),
    )


def one_bad(rows: int) -> tuple[pl.DataFrame, bytes]:
    """The flat ones, and a record among them that is bad."""
    return flat(rows), b'{"auction": 1.5}\n'


def measure(step: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the wall and of the processor, the best of the passes."""
    best = (float("inf"), float("inf"))
    for _ in range(PASSES):
        wall, processor = time.perf_counter(), time.process_time()
        step()
        best = min(best[0], time.perf_counter() - wall), min(best[1], time.process_time() - processor)
    return best


def report(name: str, rows: int, size: int, step: Callable[[], object]) -> None:
    """Print a line."""
    seconds, processor = measure(step)
    figures = {"rows_per_s": rows / seconds, "mb_per_s": size / seconds / 1e6, "mb_per_cpu_s": size / processor / 1e6}
    print(json.dumps({"format": name, **{key: round(value) for key, value in figures.items()}}), flush=True)


def bench_text(form: str, name: str, frame: pl.DataFrame, more: bytes = b"") -> None:
    """Read and write records of a text format."""
    options = {"csv.columns": ",".join(frame.columns)} if form == "csv" else {}
    encoder = open_encoder(form, options, frame.schema)
    blob = encoder.lines(frame) + more
    records = Records.of(blob.splitlines())
    decoder = open_decoder(form, options, frame.schema)
    report(f"{form} {name} read", len(records), len(blob), lambda: decoder.decode(records))
    report(f"{form} {name} written", frame.height, len(blob), lambda: encoder.lines(frame))


def bench_ndjson(name: str, frame: pl.DataFrame) -> None:
    """Read the same JSON with Polars' own decoder. Times, DECIMALs and BYTES stay text, so it has less to do."""
    blob = open_encoder("json", {}, frame.schema).lines(frame)
    schema = {column: as_written(kind) for column, kind in frame.schema.items()}
    report(
        f"json {name} read by Polars", frame.height, len(blob), lambda: pl.read_ndjson(io.BytesIO(blob), schema=schema)
    )


def as_written(kind: pl.DataType) -> pl.DataType:
    """The type as which JSON has the values of a column."""
    if isinstance(kind, pl.Struct):
        return pl.Struct({field.name: as_written(field.dtype) for field in kind.fields})  # type: ignore[arg-type]
    if isinstance(kind, pl.List):
        return pl.List(as_written(kind.inner))  # type: ignore[arg-type]
    return pl.String() if isinstance(kind, (pl.Decimal, pl.Datetime, pl.Date, pl.Binary)) else kind


def bench_avro() -> None:
    """Read records of a schema: numbers, a text, a time and an array."""
    of = {"id": "long", "price": "double", "url": ["null", "string"], "ids": {"type": "array", "items": "long"}}
    schema = {"type": "record", "name": "bid", "fields": [{"name": name, "type": kind} for name, kind in of.items()]}
    url = b"\2" + write_varint(44) + b"https://www.nexmark.com/item.html?query=1234"
    bodies = [write_varint(number) + struct.pack("<d", number / 4) + url + b"\4\2\4\0" for number in range(ROWS)]
    decoder = open_decoder("avro", {"avro.schema": json.dumps(schema)}, BID)
    records = Records.of(bodies)
    report("avro read", ROWS, sum(map(len, bodies)), lambda: decoder.decode(records))


def bench_protobuf(name: str, columns: dict[str, pl.DataType]) -> None:
    """Read records of a message: numbers, a text and an array, or two of that in one."""
    bid = {"id": 1234, "price": 12.5, "url": "https://www.nexmark.com/item.html?query=1234", "ids": [1, 0]}
    with TemporaryDirectory() as directory:
        path = Path(directory, "bench.desc")
        path.write_bytes(bench_descriptors().SerializeToString())
        options = {"protobuf.descriptor-file": str(path), "protobuf.message": "Both"}
        made, decoder = message_class(path, "Both"), open_decoder("protobuf", options, columns)
    body = made(**bid, one=bid, many=[bid, bid]) if "one" in columns else made(**bid)
    records = Records.of([body.SerializeToString()] * ROWS)
    report(f"protobuf {name} read", ROWS, len(records.blob) - ROWS, lambda: decoder.decode(records))


def bench_descriptors() -> FileDescriptorSet:
    """A message `Both` with a bid's fields, a bid, and a list of bids."""
    file = FileDescriptorProto(name="bench.proto", syntax="proto3")
    for message in (file.message_type.add(name="Bid"), file.message_type.add(name="Both")):
        message.field.add(name="id", number=1, type="TYPE_INT64", label="LABEL_OPTIONAL")
        message.field.add(name="price", number=2, type="TYPE_DOUBLE", label="LABEL_OPTIONAL")
        message.field.add(name="url", number=3, type="TYPE_STRING", label="LABEL_OPTIONAL")
        message.field.add(name="ids", number=4, type="TYPE_INT64", label="LABEL_REPEATED")
    of = {"type": "TYPE_MESSAGE", "type_name": ".Bid"}
    message.field.add(name="one", number=5, label="LABEL_OPTIONAL", **of)
    message.field.add(name="many", number=6, label="LABEL_REPEATED", **of)
    return FileDescriptorSet(file=[file])


def bench_arrow() -> None:
    """Read records of a thousand rows each."""
    frame, streams = typed(ROWS), list[bytes]()
    for part in frame.iter_slices(1_000):
        file = io.BytesIO()
        part.write_ipc_stream(file)
        streams.append(file.getvalue())
    decoder, records = open_decoder("arrow", {}, frame.schema), Records.of(streams)
    report("arrow typed read", ROWS, len(records.blob), lambda: decoder.decode(records))


def bench_parquet(name: str, frame: pl.DataFrame) -> None:
    """Read and write a file in memory."""
    file = io.BytesIO()
    frame.write_parquet(file)
    blob = file.getvalue()
    report(f"parquet {name} read", frame.height, len(blob), lambda: pl.read_parquet(io.BytesIO(blob)))
    report(f"parquet {name} written", frame.height, len(blob), lambda: frame.write_parquet(io.BytesIO()))


WORKLOADS: dict[str, Callable[[], None]] = {
    "json": lambda: bench_text("json", "flat", flat(ROWS)),
    "json_bad": lambda: bench_text("json", "flat with one bad", *one_bad(ROWS)),
    "json_typed": lambda: bench_text("json", "typed", typed(ROWS)),
    "json_nested": lambda: bench_text("json", "nested", nested(ROWS)),
    "ndjson": lambda: bench_ndjson("flat", flat(ROWS)),
    "ndjson_typed": lambda: bench_ndjson("typed", typed(ROWS)),
    "ndjson_nested": lambda: bench_ndjson("nested", nested(ROWS)),
    "csv": lambda: bench_text("csv", "flat", flat(ROWS)),
    "csv_typed": lambda: bench_text("csv", "typed", typed(ROWS)),
    "raw": lambda: bench_text("raw", "lines", flat(ROWS).select("url")),
    "avro": bench_avro,
    "protobuf": lambda: bench_protobuf("flat", BID),
    "protobuf_nested": lambda: bench_protobuf("nested", {"one": pl.Struct(BID), "many": pl.List(pl.Struct(BID))}),
    "arrow": bench_arrow,
    "parquet": lambda: bench_parquet("typed", typed(ROWS)),
    "parquet_nested": lambda: bench_parquet("nested", nested(ROWS)),
}
"""What is measured, by name."""


def main(names: list[str]) -> None:
    """Run these, or all."""
    print(json.dumps({"rows": ROWS, "at": f"{datetime.now(UTC):%Y-%m-%d %H:%M}"}))
    for name in names or WORKLOADS:
        WORKLOADS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
