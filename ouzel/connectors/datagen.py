"""datagen: rows made up from a seed. A row is a pure function of (seed, partition, offset), so a replay gives the same rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

import numpy as np
import polars as pl

from ouzel.connectors.base import Alias, BatchView, Connector, HistoryView, Option, Reads, Replay, always, never
from ouzel.connectors.datagen_fields import FieldOptions, make_field
from ouzel.connectors.options import TableOptions
from ouzel.connectors.reading import (
    NothingCommitted,
    OffsetRange,
    Partition,
    ReadBatch,
    ReadState,
    SourceRequest,
    before,
)
from ouzel.errors import ConnectorError, QueryError


def _check(options: Mapping[str, str]) -> None:
    for name, value in options.items():
        field, _, setting = name.removeprefix("fields.").rpartition(".")
        if name.startswith("fields.") and field:
            FieldOptions.check(name, setting, value)
        elif name.startswith("fields."):
            raise QueryError(f"'{name}' names no field", instead="write 'fields.<column>.<setting>'")
    for name, most in options.items():
        least = options.get(f"{name.removesuffix('.max')}.min", "")
        if name.startswith("fields.") and name.endswith(".max") and is_above(least, most):
            raise QueryError(
                f"'{name.removesuffix('.max')}.min' = '{least}' is more than '{name}' = '{most}'",
                instead="write the lesser of both as min",
            )


def is_above(least: str, most: str) -> bool:
    """Whether both are numbers, and the first is more than the second."""
    try:
        return float(least) > float(most)
    except ValueError:
        return False


def remove_rate(options: Mapping[str, str]) -> dict[str, str]:
    """The options without 'rate': as fast as possible."""
    return {name: value for name, value in options.items() if name != "rate"}


CONNECTOR = Connector(
    "datagen",
    "Rows made up from a seed, with or without an end, as fast as asked. The same seed, partition and offset always give the same row.",
    (
        Option(
            "rows",
            "How many rows in all; without it there is no end.",
            kind="integer",
            aliases=(Alias("number-of-rows"),),
        ),
        Option(
            "rate",
            "Rows a second over all partitions; 0 is as fast as possible.",
            "0",
            kind="number",
            aliases=(Alias("rows-per-second"),),
        ),
        Option("seed", "Of everything at random.", "42", kind="integer"),
        Option("partitions", "How many partitions; by default one a task.", kind="integer"),
        Option(
            "fields.*.kind",
            "`random`, or `sequence`: from `min` (or `start`) on, `step` apart.",
            "random",
            choices=("random", "sequence"),
        ),
        Option("fields.*.min", "Smallest number or earliest time."),
        Option("fields.*.max", "Largest number or latest time."),
        Option("fields.*.length", "Characters of a text, bytes of BYTES, elements of an ARRAY or MAP.", kind="integer"),
        Option("fields.*.cardinality", "How many different values a random field has.", kind="integer"),
        Option("fields.*.values", "The values of a random text, separated by commas."),
        Option("fields.*.null.rate", "Which share of the values is NULL, 0 to 1.", "0", kind="number"),
        Option("fields.*.start", "Where a sequence starts; a time for timestamps and dates."),
        Option(
            "fields.*.step",
            "From one value of a sequence to the next; in milliseconds for timestamps, days for dates.",
            kind="number",
        ),
    ),
    Reads(
        "ouzel.connectors.datagen:DatagenSource",
        bounded=lambda options: "rows" in options,
        batch=BatchView(remove_rate, "rows"),
        replay=Replay.OFFSET,
        changelog=never,
        ordered=never,
        grows=never,
        resumes=never,
        seeks=always,
        shared=True,
        at_rest=False,
        history=HistoryView(remove_rate),
        cut_by="partitions",
    ),
    check=_check,
)


class DatagenSource(NothingCommitted):
    """Cuts the rows among partitions: row n of partition p of P is row n * P + p of all."""

    def __init__(self, request: SourceRequest, clock: Callable[[], float] = time.monotonic) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._count = options.integer("partitions") or max(1, request.tasks)
        self._rows = options.integer("rows") if options.get("rows") is not None else None
        self._rate, self._clock = options.number("rate"), clock
        self._paces: dict[str, RowRate | None] = {}
        seed = options.integer("seed")
        self._fields = {
            name: make_field(
                name, kind, FieldOptions(request.options, name), np.uint64((seed << 32) ^ crc32(name.encode()))
            )
            for name, kind in request.columns.items()
        }

    def partitions(self) -> Sequence[Partition]:
        """As many as asked."""
        return [Partition(str(number), self._rows is not None) for number in range(self._count)]

    def reader(self, partition: Partition, offset: int | None) -> DatagenReader:
        """Make rows from `offset` on."""
        number = int(partition.id)
        if number >= self._count:
            raise ConnectorError(f"datagen has {self._count} partitions, and none called {partition.id}")
        return DatagenReader(
            lambda start, end: self._make(np.arange(start, end) * self._count + number),
            self._share(number),
            offset or 0,
            self._pace(offset or 0),
            lambda row: f"row {row * self._count + number + 1}",
        )

    def reach(self, partition: Partition, offset: int | None, rows: int) -> OffsetRange:
        """As far as the pace allows."""
        start, share = offset or 0, self._share(int(partition.id))
        end = start + rows if share is None else min(start + rows, share)
        pace = self._paces.setdefault(partition.id, self._pace(start))
        if pace:
            end = max(start, min(end, pace.due()))
        return OffsetRange(start, end, share is not None and end >= share)

    def _share(self, number: int) -> int | None:
        """How many rows a partition has."""
        return None if self._rows is None else (self._rows - number + self._count - 1) // self._count

    def _pace(self, offset: int) -> RowRate | None:
        return RowRate(self._rate / self._count, self._clock, offset) if self._rate else None

    def _make(self, numbers: np.ndarray) -> pl.DataFrame:
        columns = [made(numbers).alias(name) for name, made in self._fields.items()]
        return pl.DataFrame(columns) if columns else pl.DataFrame(height=len(numbers))


class RowRate:
    """How many rows are due: `rate` a second since the first question, counted from `offset`."""

    def __init__(self, rate: float, clock: Callable[[], float], offset: int) -> None:
        self._rate, self._clock, self._offset = rate, clock, offset
        self._since: float | None = None

    def due(self) -> int:
        """The offset up to which rows may have left by now; the first row is due at once."""
        now = self._clock()
        self._since = now if self._since is None else self._since
        return self._offset + 1 + int((now - self._since) * self._rate)


class DatagenReader:
    """Makes rows [start, end) of a partition with `make`, to `rows` at most, as `pace` allows; `name` says what a row is called."""

    def __init__(
        self,
        make: Callable[[int, int], pl.DataFrame],
        rows: int | None,
        offset: int,
        pace: RowRate | None,
        name: Callable[[int], str] | None = None,
    ) -> None:
        self._make, self._rows, self._at, self._pace, self._name = make, rows, offset, pace, name

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState:
        """The rows that are due, at most `rows`."""
        start, end = self._at, before(until, self._at + rows)
        if self._rows is not None:
            end = min(end, self._rows)
            if start >= end:
                return ReadState.END
        if self._pace:
            end = min(end, self._pace.due())
        if start >= end:
            return ReadState.WAIT
        self._at = end
        name = self._name
        return ReadBatch(self._make(start, end), start, end, place=name and (lambda row: name(start + row)))

    def close(self) -> None:
        """Nothing is open."""
