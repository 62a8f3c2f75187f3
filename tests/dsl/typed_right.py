"""What a type checker accepts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import polars as pl

from ouzel import Sink, Source, StepOptions, Stream, col, column_function, monoid
from ouzel.dsl.windows import WindowTotal


@dataclass
class Flight:
    carrier: str
    delay: float | None


lines: Stream[str] = Source.file("lines.txt")
words: Stream[str] = lines.flat_map(str.split)
pairs: Stream[tuple[str, int]] = words.map(lambda word: (word, len(word)))
halves: Stream[tuple[str, float]] = pairs.map_values(lambda size: size / 2)
by_size: Stream[tuple[int, str]] = pairs.swap()
totals: Stream[tuple[str, int]] = pairs.sum_by_key(monoid.Count())
keys: Stream[str] = totals.filter_values(lambda count: count > 1).keys()
flights: Stream[Flight] = Source.file("flights.parquet", Flight, format="parquet")
delays: Stream[float] = flights.option_map(lambda flight: flight.delay)
both: Stream[tuple[str | None, Flight | None]] = words.either(flights)
joined: Stream[tuple[str, tuple[int, float | None]]] = pairs.left_join(halves)
looked: Stream[tuple[str, int | None]] = words.lookup(totals)
merged: Stream[str] = words + lines
written: Stream[tuple[str, int]] = totals.name("total").write(Sink.memory("totals"))
found: list[tuple[str, int]] = totals.memory()


class Reading(NamedTuple):
    at: datetime
    river: str
    level: int


@column_function(str)
def loud(texts: pl.Series) -> pl.Series:
    return texts.str.to_uppercase()


HOUR = timedelta(hours=1)
readings: Stream[Reading] = Source.of([Reading(datetime(2026, 1, 1), "ouzel", 3)])
timed: Stream[Reading] = readings.event_time("at", delay=HOUR)
levels: Stream[tuple[str, int]] = timed.map(lambda one: (one.river, one.level))
windows: Stream[WindowTotal[str, int]] = levels.sum_by_window(monoid.Sum(), HOUR, HOUR / 2)
highest: Stream[tuple[str, int]] = windows.map(lambda one: (one.key, one.value))
running: Stream[tuple[str, tuple[int | None, int]]] = levels.running_sum(monoid.Max())
long: Stream[str] = words.filter(lambda word: len(word) > 3)
dear: Stream[str] = words.filter(col("value") > "m")
sizes: Stream[int] = words.collect({"a": 1, "an": 2})
letters: Stream[tuple[str, str]] = by_size.map_keys(str).flat_map_values(list)
prefixes: Stream[tuple[str, int]] = pairs.flat_map_keys(lambda word: [word[:1], word])
some: Stream[tuple[str, int]] = prefixes.filter_keys(lambda word: word != "")
counts: Stream[int] = some.values()
inner: Stream[tuple[str, tuple[int, float]]] = pairs.join(halves)
together: Stream[str] = words.merge(lines, keys)
beside: Stream[tuple[str, int]] = totals.also(flights.write(Sink.file("flights", format="json")))
distinct: Stream[tuple[str, int]] = halves.sum_by_key(monoid.HyperLogLog())
listed: Stream[tuple[str, list[int]]] = pairs.sum_by_key(monoid.TopK(2))
best: Stream[tuple[str, int]] = pairs.map_values(lambda size: (size, size)).sum_by_key(monoid.MaxBy())
upper = words.map(loud)
picked = flights.select("carrier", late=col("delay") > 10)
asked = flights.sql("SELECT carrier FROM this")
frame: pl.DataFrame = totals.table("memory", options={"total": StepOptions(parallelism=2)})


class Names:
    def get_many(self, keys: list[int]) -> dict[int, str]:
        return {}


named: Stream[tuple[int, tuple[str, str | None]]] = by_size.left_join(Names())
