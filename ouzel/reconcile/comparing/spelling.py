"""Whether a text file holds exactly the bytes that the sink writes for the rows read from it, and so values of the same types.

`5.0` can be read as a BIGINT and "5" as a number, and columns of another order or name by position. Text has no types, but its spelling
tells them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from ouzel.compiler.plan import Sink, SinkMode
from ouzel.connectors import open_source
from ouzel.connectors.formats import open_encoder
from ouzel.connectors.reading import ReadBatch, SourceRequest

ROWS = 1 << 16
"""Read and written at once."""

SHOWN = 60
"""Characters of a line."""


def misspelt(part: Path, sink: Sink) -> str:
    """The first line that the sink would not have written so, in words; empty if there is none."""
    if sink.mode is not SinkMode.APPEND:  # a changelog has a column more
        return ""
    columns, options = (sink.columns or sink.input.schema).polars(), dict(sink.options)
    encoder = open_encoder(options["format"], options, columns)
    source = open_source(
        sink.connector, SourceRequest(sink.table, {**options, "path": str(part)}, columns, part.parent)
    )
    (partition,) = source.partitions()
    reader = source.reader(partition, None)
    expected, number = encoder.header(), 1
    try:
        with part.open("rb") as file:
            while (there := file.read(len(expected))) == expected:
                number += expected.count(b"\n")
                batch = reader.read(ROWS)
                if not isinstance(batch, ReadBatch):
                    return f"has more than records from line {number} on" if file.read(1) else ""
                if batch.bad:
                    return f"holds a record that cannot be read: {batch.bad[0].reason}"
                expected = encoder.lines(batch.frame)
            return _first(number, there + file.readline(), expected, options["format"], list(columns))
    finally:
        reader.close()


def _first(number: int, there: bytes, expected: bytes, form: str, names: Sequence[str]) -> str:
    """The first line that differs."""
    pairs = zip_longest(there.decode(errors="replace").splitlines(), expected.decode().splitlines(), fillvalue="")
    for line, (ours, theirs) in enumerate(pairs, number):
        if ours != theirs:
            return f"has on line {line} {_tell(ours, theirs, form, names)}"
    return f"ends its lines otherwise from line {number} on"


def _tell(ours: str, theirs: str, form: str, names: Sequence[str]) -> str:
    """The column that differs, and how; both lines where that is not clear."""
    here, there = (_fields(text, form, names) for text in (ours, theirs))
    for name in names:
        if here.keys() == there.keys() and here[name] != there[name]:
            return f"{here[name]} as '{name}', where the sink writes {there[name]}"
    return f"{ours[:SHOWN]!r}, where the sink writes {theirs[:SHOWN]!r}"


def _fields(text: str, form: str, names: Sequence[str]) -> Mapping[str, str]:
    """The line's values as they are spelt, by column; empty if it cannot be taken apart."""
    try:
        if form == "json":
            return {name: json.dumps(value) for name, value in json.loads(text).items()}
        return dict(zip(names, next(csv.reader([text])), strict=True))
    except (AttributeError, StopIteration, ValueError, csv.Error):
        return {}
