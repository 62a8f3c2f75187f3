"""JSON and Protobuf read by our own code and by libraries, in turn: `python -m bench.format_peers [ROUNDS [name ...]]`.

One JSON line for each form of records: MB a CPU second of each reader, the best of the rounds, and how that is to ours. In each round every
reader reads the same records, so that whatever else the machine does meets all of them. msgspec and orjson take part where they are
installed. They read less: names match in their own case, and times, DECIMALs and BYTES stay text, but in columns that Polars casts.
"""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypedDict

import polars as pl

from bench.formats import BID, as_written, bench_descriptors, flat, nested, one_bad, typed
from ouzel.connectors.formats import open_decoder, open_encoder
from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.protobuf.format import message_class

ROWS = 10_000
Read = Callable[[], object]

_PLAIN: dict[type[pl.DataType], type] = {pl.Boolean: bool, pl.Float64: float, pl.String: str}


def race(name: str, size: int, readers: dict[str, Read], rounds: int) -> None:
    """Print a line; the first reader is ours."""
    best = dict.fromkeys(readers, float("inf"))
    for _ in range(rounds):
        for reader, read in readers.items():
            start = time.process_time()
            read()
            best[reader] = min(best[reader], time.process_time() - start)
    ours = best[next(iter(best))]
    figures = {reader: round(size / seconds / 1e6) for reader, seconds in best.items()}
    print(
        json.dumps(
            {"records": name, "mb_per_cpu_s": figures, "of_ours": {r: round(ours / s, 2) for r, s in best.items()}}
        )
    )


def race_json(name: str, frame: pl.DataFrame, rounds: int, more: bytes = b"") -> None:
    """Race over records of JSON; with a bad one behind them, Polars is followed by what can read them one by one."""
    blob = open_encoder("json", {}, frame.schema).lines(frame) + more
    lines = blob.splitlines()
    records, decoder = Records.of(lines), open_decoder("json", {}, frame.schema)
    schema = {column: as_written(kind) for column, kind in frame.schema.items()}
    casts = [made for name, kind in frame.schema.items() if (made := _cast(pl.col(name), kind)) is not None]
    objects = {"msgspec": by_msgspec, "orjson": by_orjson}
    one_by_one = {library: make(lines, schema) for library, make in objects.items() if find_spec(library)}

    def by_polars() -> object:
        try:
            return pl.read_ndjson(io.BytesIO(blob), schema=schema).with_columns(casts)
        except pl.exceptions.ComputeError:
            return one_by_one["msgspec"]() if one_by_one else None

    race(
        f"json {name}", len(blob), {"ouzel": lambda: decoder.decode(records), "polars": by_polars, **one_by_one}, rounds
    )


def by_msgspec(lines: list[bytes], schema: dict[str, pl.DataType]) -> Read:
    """Objects of a class with typed fields; one that cannot be read is left out."""
    import msgspec

    fields = [(name, _annotation(kind) | None, None) for name, kind in schema.items()]
    decode = msgspec.json.Decoder(msgspec.defstruct("Record", fields)).decode
    getters = [(name, attrgetter(name), kind) for name, kind in schema.items()]

    def read() -> object:
        found = []
        for line in lines:
            with suppress(msgspec.MsgspecError):
                found.append(decode(line))
        return pl.DataFrame([pl.Series(name, map(get, found), kind) for name, get, kind in getters])

    return read


def by_orjson(lines: list[bytes], schema: dict[str, pl.DataType]) -> Read:
    """Dictionaries; a value that does not fit its column becomes NULL, as nothing says which record has it."""
    import orjson

    def read() -> object:
        found = [orjson.loads(line) for line in lines]
        return pl.DataFrame(
            [pl.Series(name, [one.get(name) for one in found], kind, strict=False) for name, kind in schema.items()]
        )

    return read


def _cast(text: pl.Expr, kind: pl.DataType) -> pl.Expr | None:
    if isinstance(kind, pl.Decimal):
        return text.cast(kind)
    if isinstance(kind, pl.Datetime):
        return text.str.to_datetime(time_unit="us")
    return text.str.to_date() if isinstance(kind, pl.Date) else None


def _annotation(kind: Any) -> Any:
    if isinstance(kind, pl.List):
        return list[_annotation(kind.inner) | None]  # type: ignore[misc]
    if isinstance(kind, pl.Struct):
        return TypedDict("Fields", {field.name: _annotation(field.dtype) | None for field in kind.fields}, total=False)  # type: ignore[operator]
    return _PLAIN.get(type(kind) if isinstance(kind, pl.DataType) else kind, int)


def race_protobuf(name: str, columns: dict[str, pl.DataType], rounds: int) -> None:
    """Race over messages: our scan of their bytes, and Protobuf's own objects with the columns made of these."""
    bid = {"id": 1234, "price": 12.5, "url": "https://www.nexmark.com/item.html?query=1234", "ids": [1, 0]}
    with TemporaryDirectory() as directory:
        path = Path(directory, "bench.desc")
        path.write_bytes(bench_descriptors().SerializeToString())
        options = {"protobuf.descriptor-file": str(path), "protobuf.message": "Both"}
        made = message_class(path, "Both")
        ours, theirs = (open_decoder("protobuf", options, columns) for _ in range(2))
    theirs._wire = None  # type: ignore[attr-defined]
    body = made(**bid, one=bid, many=[bid, bid]) if "one" in columns else made(**bid)
    records = Records.of([body.SerializeToString()] * ROWS)
    readers: dict[str, Read] = {"ouzel": lambda: ours.decode(records), "protobuf": lambda: theirs.decode(records)}
    race(f"protobuf {name}", len(records.blob) - ROWS, readers, rounds)


RACES: dict[str, Callable[[int], None]] = {
    "json": lambda rounds: race_json("flat", flat(ROWS), rounds),
    "json_typed": lambda rounds: race_json("typed", typed(ROWS), rounds),
    "json_nested": lambda rounds: race_json("nested", nested(ROWS), rounds),
    "json_bad": lambda rounds: race_json("flat with one bad", flat(ROWS), rounds, one_bad(0)[1]),
    "protobuf": lambda rounds: race_protobuf("flat", BID, rounds),
    "protobuf_nested": lambda rounds: race_protobuf(
        "nested", {"one": pl.Struct(BID), "many": pl.List(pl.Struct(BID))}, rounds
    ),
}
"""What is measured, by name."""


if __name__ == "__main__":
    for race_of in sys.argv[2:] or RACES:
        RACES[race_of](int(sys.argv[1]) if sys.argv[1:] else 5)
