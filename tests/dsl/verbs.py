"""Each verb of a program in a small stream, for what holds of all of them: which platform runs it, and that all agree."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

import ouzel
from ouzel import Sink, Source, Stream, col, monoid

HOUR = timedelta(hours=1)


class Reading(NamedTuple):
    """What somebody measured."""

    at: datetime
    place: str
    value: int


READINGS = [Reading(datetime(2026, 1, 2, 3, 7 * number), "ab"[number % 2], number) for number in range(8)]


def write_inputs(folder: Path) -> None:
    """The files that the streams read."""
    (folder / "lines.txt").write_text("the river runs\n\nunder the bridge\n")
    pl.DataFrame(READINGS, schema=list(Reading._fields), orient="row").write_parquet(folder / "readings.parquet")


def lines(folder: Path) -> Stream[str]:
    """Lines of text."""
    return Source.file(str(folder / "lines.txt"))


def pairs(folder: Path) -> Stream[tuple[str, int]]:
    """Each word with its length."""
    return lines(folder).flat_map(str.split).map(lambda word: (word, len(word)))


def readings(folder: Path) -> Stream[Reading]:
    """Records with a time."""
    return Source.file(str(folder / "readings.parquet"), Reading, format="parquet").event_time("at", HOUR)


def placed(folder: Path) -> Stream[tuple[str, int]]:
    """Places and values, at their time."""
    return readings(folder).map(lambda one: (one.place, one.value))


@ouzel.column_function(str)
def loud(texts: pl.Series) -> pl.Series:
    """In capitals."""
    return texts.str.to_uppercase()


VERBS: dict[str, Callable[[Path], Stream[Any]]] = {
    "map": lambda it: lines(it).map(len),
    "flat_map": lambda it: lines(it).flat_map(str.split),
    "filter": lambda it: lines(it).filter(lambda line: "the" in line),
    "option_map": lambda it: lines(it).option_map(lambda line: line or None, returns=str),
    "collect": lambda it: pairs(it).keys().collect({"the": 1, "river": 2}),
    "merge": lambda it: pairs(it) + pairs(it),
    "either": lambda it: lines(it).either(pairs(it).values()),
    "map_values": lambda it: pairs(it).map_values(lambda n: -n),
    "flat_map_values": lambda it: pairs(it).flat_map_values(range, returns=int),
    "filter_values": lambda it: pairs(it).filter_values(lambda n: n > 3),
    "map_keys": lambda it: pairs(it).map_keys(str.upper),
    "flat_map_keys": lambda it: pairs(it).flat_map_keys(list, returns=str),
    "filter_keys": lambda it: pairs(it).filter_keys(lambda word: "r" in word),
    "keys": lambda it: pairs(it).keys(),
    "values": lambda it: pairs(it).values(),
    "swap": lambda it: pairs(it).swap(),
    "name": lambda it: pairs(it).name("words"),
    "write": lambda it: pairs(it).write(Sink.file(str(it / "written"), format="json")),
    "also": lambda it: pairs(it).also(lines(it).write(Sink.file(str(it / "beside"), format="json"))),
    "sum_by_key": lambda it: pairs(it).sum_by_key(monoid.Sum()),
    "sum_by_key of a sum": lambda it: pairs(it).sum_by_key(monoid.Sum()).swap().sum_by_key(monoid.Min()),
    "sum_by_key with monoids of Python": lambda it: pairs(it).sum_by_key(monoid.TopK(2)),
    "left_join": lambda it: pairs(it).left_join(pairs(it).sum_by_key(monoid.Count())),
    "join": lambda it: pairs(it).join(pairs(it).filter_values(lambda n: n > 3)),
    "lookup": lambda it: pairs(it).keys().lookup(pairs(it).sum_by_key(monoid.Max())),
    "event_time": readings,
    "sum_by_window": lambda it: placed(it).sum_by_window(monoid.Sum(), HOUR),
    "running_sum": lambda it: placed(it).running_sum(monoid.Sum()),
    "select": lambda it: pairs(it).select("key", twice=col("value") * 2),
    "filter by an expression": lambda it: pairs(it).filter(col("value") > 3),
    "functions of columns": lambda it: lines(it).map(loud),
    "sql": lambda it: pairs(it).sql('SELECT key, MAX("value") AS most FROM this GROUP BY key'),
}
