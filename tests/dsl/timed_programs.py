"""Programs of records that have a time, drawn at random: windows, running sums, streams beside each other, what is written on the way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import polars as pl

from ouzel import Sink, Source, Stream, col, monoid

HOUR = timedelta(hours=1)
LATEST = timedelta(minutes=30)


class Reading(NamedTuple):
    """What somebody measured."""

    at: datetime
    river: str | None
    level: int | None


def write_readings(path: Path, seed: int, rows: int = 70) -> None:
    """A file of readings, up to 20 minutes out of order, with NULL here and there and several at one moment."""
    random = Random(seed)
    minutes = [number // 2 * 13 + random.randint(-20, 0) for number in range(rows)]
    readings = [
        Reading(
            datetime(2026, 1, 1, 5) + timedelta(minutes=minute),
            random.choice(["a", "b", "c", None]),
            random.choice([*range(9), None]),
        )
        for minute in minutes
    ]
    schema = {"at": pl.Datetime("us"), "river": pl.String, "level": pl.Int64}
    pl.DataFrame(readings, schema=schema, orient="row").write_parquet(path)


def readings(path: Path) -> Stream[Reading]:
    """What the file holds, at its time."""
    return Source.file(str(path), Reading, format="parquet").event_time("at", LATEST)


Pairs = Stream[tuple[str | None, int | None]]
PAIR = tuple[str | None, int | None]
Draw = Callable[[Random, Any], Any]


def levels(path: Path) -> Pairs:
    """Rivers and levels, at their time."""
    return readings(path).map(lambda one: (one.river, one.level), returns=PAIR)


def first(both: tuple[Any, Any]) -> Any:
    """Whichever half is there."""
    return both[0] if both[0] is not None else both[1]


STEPS: tuple[Draw, ...] = (
    lambda random, one: one.filter(lambda pair: pair[1] != 4),
    lambda random, one: one.filter(col("value") > 2),
    lambda random, one: one.select("key", value=col("value") + 1).map(tuple, returns=PAIR),
    lambda random, one: one.map_values(lambda n: n and n * 3 - 7, returns=int | None),
    lambda random, one: one.flat_map_values(lambda n: range((n or 0) % 3), returns=int | None),
    lambda random, one: one.map_keys(lambda key: key and key + "!", returns=str | None),
    lambda random, one: one.swap().swap(),
    lambda random, one: one.option_map(lambda pair: pair if pair[0] != "b" else None, returns=PAIR),
    lambda random, one: one + one.map_keys(lambda key: "other", returns=str | None),
    lambda random, one: one.either(one.filter_values(lambda n: n is not None and n > 3)).map(first, returns=PAIR),
    lambda random, one: one.also(one.values().write(Sink.memory(f"beside{random.randint(0, 999_999)}"))),
    lambda random, one: one.write(Sink.memory(f"written{random.randint(0, 999_999)}")),
)
"""Steps on pairs that keep their time."""

ADDED = (monoid.Sum(), monoid.Count(), monoid.Min(), monoid.Max(), monoid.Quantile(0.5), monoid.SetOf(), monoid.TopK(2))
"""What adds up the values of windows."""


def windowed(random: Random, pairs: Pairs) -> Stream[Any]:
    """Sums by window."""
    size = HOUR * random.randint(1, 3)
    slide = size / random.choice([1, 1, 2, 3])
    return pairs.sum_by_window(random.choice(ADDED[:4]), size, slide).map(
        lambda one: (one.key, one.value), returns=PAIR
    )


def run_up(random: Random, pairs: Pairs) -> Stream[Any]:
    """Running sums."""
    return pairs.running_sum(random.choice(ADDED[:4])).map_values(
        lambda both: (both[0] or 0) - (both[1] or 0), returns=int | None
    )


ENDS: tuple[Draw, ...] = (
    lambda random, one: one,
    lambda random, one: one.sum_by_key(random.choice(ADDED)),
    lambda random, one: one.sum_by_window(random.choice(ADDED), HOUR * 2, HOUR),
    lambda random, one: one.left_join(one.sum_by_key(monoid.Max())),
    lambda random, one: one.running_sum(monoid.Count()),
    lambda random, one: one.keys().lookup(one.sum_by_key(monoid.Sum())),
    lambda random, one: one.join(one.sum_by_key(monoid.Count())).sum_by_key(monoid.Count()),
    lambda random, one: one.sum_by_key(monoid.Sum()).also(one.keys().write(Sink.memory(f"end{random.randint(0, 99)}"))),
)


def draw_timed(random: Random, path: Path) -> Stream[Any]:
    """A program: steps on pairs with a time, windows or running sums of them, of which there may be windows again, and an end."""
    pairs: Any = levels(path)
    for _ in range(random.randint(0, 2)):
        for _ in range(random.randint(0, 3)):
            pairs = random.choice(STEPS)(random, pairs)
        pairs = random.choice([windowed, run_up])(random, pairs)
    for _ in range(random.randint(0, 2)):
        pairs = random.choice(STEPS)(random, pairs)
    return random.choice(ENDS)(random, pairs)  # type: ignore[no-any-return]
