"""What a type checker accepts."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel import Sink, Source, Stream, monoid


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
