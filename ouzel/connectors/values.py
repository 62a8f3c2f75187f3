"""values: a table of one row, whose content does not matter. VALUES and a SELECT without FROM read it."""

from __future__ import annotations

from dataclasses import replace

from ouzel.connectors.base import BatchView, Connector, Reads, Replay, SourceRequest, always, never
from ouzel.connectors.datagen import DatagenSource

CONNECTOR = Connector(
    "values",
    "One row, which VALUES and a SELECT without FROM compute theirs of. There is no need to write it.",
    reads=Reads(
        "ouzel.connectors.values:open_values",
        bounded=always,
        batch=BatchView(dict),
        replay=Replay.OFFSET,
        changelog=never,
        ordered=never,
        grows=never,
        resumes=never,
        seeks=always,
        shared=True,
        at_rest=True,
        spark="ouzel.spark.lowering.tables:read_values",
    ),
)


def open_values(request: SourceRequest) -> DatagenSource:
    """Its source: made up like any other row."""
    return DatagenSource(replace(request, options={"rows": "1", "partitions": "1"}))
