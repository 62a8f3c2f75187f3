"""Differences over event time, counted in Spark in as many slices as a chart has room for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ouzel.reconcile.classes import Class
from ouzel.reconcile.comparison import Comparison, time_us
from ouzel.reconcile.lineage import DAY_US, Lineage
from ouzel.reconcile.pairs import either

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_SLICES = 80

SECOND_US = 1_000_000
WIDTHS_US = (
    *(number * SECOND_US for number in (1, 5, 15, 60, 300, 900, 3_600, 3 * 3_600, 6 * 3_600)),
    *(number * DAY_US for number in (1, 7, 28, 91, 364, 3_640, 36_400)),
)
"""Widths that people think in."""


@dataclass(frozen=True)
class Timeline:
    """How many rows of each class differ in each slice of event time; the slices span the whole answer, also where nothing differs."""

    first_us: int
    width_us: int
    slices: int
    counts: Mapping[Class, tuple[int, ...]]


def count_classes(rows: DataFrame, facts: Lineage, found: Comparison) -> tuple[dict[Class, int], Timeline | None]:
    """The number of rows in each class, and over time, in one pass; no timeline if rows have no time."""
    from pyspark.sql import functions as F

    from ouzel.reconcile.classification import CLASS

    span = None if found.first_us is None or found.last_us is None else (found.first_us, found.last_us)
    width = slice_width(span[1] - span[0], facts.step_us) if span else 1
    cells = rows.groupBy(CLASS, F.floor(time_us(facts, either) / F.lit(width)).cast("bigint")).count().collect()
    counts: dict[Class, int] = {}
    for name, _, count in cells:
        counts[Class(name)] = counts.get(Class(name), 0) + count
    counts = {kind: counts[kind] for kind in Class if kind in counts}
    if span is None:
        return counts, None
    first, last = (us // width for us in span)
    slices = {kind: [0] * (last - first + 1) for kind in counts}
    for name, number, count in cells:
        if number is not None:
            slices[Class(name)][number - first] = count
    told = {kind: tuple(each) for kind, each in slices.items() if any(each)}
    return counts, Timeline(first * width, width, last - first + 1, told)


def slice_width(span_us: int, step_us: int = 0) -> int:
    """The step between times, or the narrowest usual width above it, that cuts the span into at most MOST_SLICES."""
    for width in (step_us, *WIDTHS_US):
        if width and width >= step_us and span_us // width < MOST_SLICES - 1:
            return width
    return span_us // (MOST_SLICES - 2) + 1
