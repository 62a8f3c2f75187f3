"""Records of one partition in columns, copied out of the client's messages as they arrive.

A message is an object that Python's garbage collector follows: a queue of a hundred thousand of them costs more than reading them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from confluent_kafka import Message

_TAKEN: dict[str, Callable[[Message], Any]] = {
    "key": Message.key,
    "headers": Message.headers,
    "timestamp": Message.timestamp,
}
"""By name, what is copied out of a message only if a column needs it."""


@dataclass(frozen=True, slots=True)
class KafkaRecords:
    """Records as columns, in order; `beside` has further columns that were asked for: "key", "headers", "timestamp"."""

    topic: str
    partition: int
    offsets: np.ndarray
    values: Sequence[bytes | None]
    beside: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(self.values)

    def cut(self, first: int, last: int | None = None) -> KafkaRecords:
        """Those from `first` on, before `last`."""
        part = slice(first, last)
        beside = {name: column[part] for name, column in self.beside.items()}
        return replace(self, offsets=self.offsets[part], values=self.values[part], beside=beside)

    def pick(self, places: Sequence[int] | np.ndarray) -> KafkaRecords:
        """Those at these places, in this order; one may be named twice."""
        taken = np.asarray(places, np.int64)
        order = taken.tolist()
        beside = {name: [column[place] for place in order] for name, column in self.beside.items()}
        return replace(self, offsets=self.offsets[taken], values=[self.values[place] for place in order], beside=beside)

    def before(self, offset: int) -> int:
        """How many of them have a lower offset."""
        return int(np.searchsorted(self.offsets, offset))

    def where(self, place: int) -> str:
        """Topic, partition and offset of one."""
        return f"{self.topic}[{self.partition}]@{self.offsets[place]}"

    def column(self, key: str) -> pl.Series:
        """The metadata column of this name."""
        return _METADATA[key](self)


def take_out(messages: Sequence[Message], wanted: Sequence[str]) -> KafkaRecords:
    """The records that messages of one partition hold, with what is `wanted` beside their values."""
    offsets = np.fromiter(map(Message.offset, messages), np.int64, len(messages))
    beside = {name: list(map(_TAKEN[name], messages)) for name in wanted}
    first = messages[0]
    return KafkaRecords(first.topic(), first.partition(), offsets, list(map(Message.value, messages)), beside)


def take_nothing(place: tuple[str, int], wanted: Sequence[str]) -> KafkaRecords:
    """No records of a partition."""
    return KafkaRecords(*place, np.empty(0, np.int64), [], {name: [] for name in wanted})


def join(parts: Sequence[KafkaRecords]) -> KafkaRecords:
    """Several pieces of one partition as one, in their order; at least one piece."""
    if len(parts) == 1:
        return parts[0]
    values = [value for part in parts for value in part.values]
    beside = {name: [one for part in parts for one in part.beside[name]] for name in parts[0].beside}
    return replace(parts[0], offsets=np.concatenate([part.offsets for part in parts]), values=values, beside=beside)


def runs_of_partitions(messages: Sequence[Message], many_topics: bool) -> Iterator[Sequence[Message]]:
    """The messages split where the partition changes. The client gives each broker's answers partition after partition."""
    numbers = np.fromiter(map(Message.partition, messages), np.int64, len(messages))
    ends = np.flatnonzero(np.diff(numbers)) + 1
    if many_topics:
        topics = list(map(Message.topic, messages))
        changes = [place for place in range(1, len(topics)) if topics[place] != topics[place - 1]]
        ends = np.union1d(ends, np.array(changes, np.int64))
    bounds = [0, *ends.tolist(), len(messages)]
    return (messages[first:last] for first, last in pairwise(bounds) if last > first)


@contextmanager
def without_collection() -> Iterator[None]:
    """Inside, the garbage collector is off, as many thousands of messages are made. Drop them inside, or the next collection walks them."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _headers(records: KafkaRecords) -> pl.Series:
    pairs = [[{"key": key, "value": value} for key, value in headers or ()] for headers in records.beside["headers"]]
    return pl.Series(pairs, dtype=pl.List(pl.Struct({"key": pl.String(), "value": pl.Binary()})))


def _timestamps(records: KafkaRecords) -> pl.Series:
    milliseconds = pl.Series([at for _, at in records.beside["timestamp"]], dtype=pl.Int64)
    return (milliseconds * 1000).cast(pl.Datetime("us", "UTC"))


_METADATA: dict[str, Callable[[KafkaRecords], pl.Series]] = {
    "topic": lambda records: pl.repeat(records.topic, len(records), dtype=pl.String(), eager=True),
    "partition": lambda records: pl.repeat(records.partition, len(records), dtype=pl.Int32(), eager=True),
    "offset": lambda records: pl.Series(records.offsets, dtype=pl.Int64()),
    "timestamp": _timestamps,
    "key": lambda records: pl.Series(records.beside["key"], dtype=pl.Binary()),
    "deleted": lambda records: pl.Series([value is None for value in records.values], dtype=pl.Boolean()),
    "headers": _headers,
}


def taken_beside(metadata: Sequence[str], keys: bool) -> tuple[str, ...]:
    """The further columns that these columns of METADATA, and keys, need."""
    asked = {*metadata, *(["key"] if keys else [])}
    return tuple(name for name in _TAKEN if name in asked)
