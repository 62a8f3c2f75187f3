"""A source whose rows are taken back, in one file: what a database's log of changes looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from ouzel.connectors.base import Connector, Option, always
from ouzel.connectors.reading import Committed, OffsetRange, Partition, ReadBatch, ReadState, SourceRequest, before
from tests.extending import toy_connector

assert toy_connector.CONNECTOR.reads is not None

CONNECTOR = Connector(
    "changes",
    "Orders that are placed and cancelled.",
    (
        Option("rows", "How many changes a partition has.", "100", kind="integer"),
        Option("partitions", "How many.", "2"),
    ),
    replace(toy_connector.CONNECTOR.reads, source="tests.extending.toy_changelog:ChangesSource", changelog=always),
)

KEYS = 5


def changes(partition: int, rows: int) -> pl.DataFrame:
    """Every third change takes back what came two changes before."""
    numbers = [number - 2 if number % 3 == 2 else number for number in range(rows)]
    return pl.DataFrame(
        {
            "customer": [(number + partition) % KEYS for number in numbers],
            "amount": [number * 7 % 31 - 9 for number in numbers],
            "$weight": [-1 if number % 3 == 2 else 1 for number in range(rows)],
        }
    )


class ChangesSource:
    """Partitions of changes."""

    def __init__(self, request: SourceRequest) -> None:
        self._count, self._rows = int(request.options.get("partitions", "2")), int(request.options.get("rows", "100"))
        self._request = request

    def partitions(self) -> Sequence[Partition]:
        return [Partition(str(number), True) for number in range(self._count)]

    def reader(self, partition: Partition, offset: int | None) -> ChangesReader:
        rows = changes(int(partition.id), self._rows).rename({"$weight": self._request.weight})
        return ChangesReader(rows.select(*self._request.columns, self._request.weight), offset or 0)

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        start = offset or 0
        return OffsetRange(start, min(start + rows, self._rows), start + rows >= self._rows)

    def commit(self, places: Mapping[str, Committed]) -> str:
        return ""

    def committed(self) -> Mapping[str, Committed]:
        return {}

    def close(self) -> None:
        pass


class ChangesReader:
    """Reads changes from an offset on."""

    def __init__(self, rows: pl.DataFrame, offset: int) -> None:
        self._rows, self._at = rows, offset

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        start, end = self._at, min(before(until, self._at + rows), self._rows.height)
        if start >= end:
            return ReadState.END
        self._at = end
        return ReadBatch(self._rows[start:end], start, end)

    def close(self) -> None:
        pass
