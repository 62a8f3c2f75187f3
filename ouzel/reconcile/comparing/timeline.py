"""Differences over event time, counted in Spark in as many slices as a chart has room for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ouzel.reconcile.comparing.comparison import Comparison, time_us
from ouzel.reconcile.comparing.lineage import DAY_US, Lineage
from ouzel.reconcile.comparing.pairs import either
from ouzel.reconcile.explaining.classes import Class

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_SLICES = 80

SECOND_US = 1_000_000
WIDTHS_US = (
    *(number * SECOND_US for number in (1, 5, 15, 60, 300, 900, 3_600, 3 * 3_600, 6 * 3_600)),
    *(number * DAY_US for number in (1, 7, 28, 91, 364, 3_640, 36_400)),
)
"""Widths of slices that read well: seconds, minutes, hours, days, weeks, years; in microseconds."""


@dataclass(frozen=True)
class Timeline:
    """How many rows of each class differ in each slice of event time; the slices span the whole answer, also where nothing differs."""

    first_us: int
    width_us: int
    slices: int
    counts: Mapping[Class, tuple[int, ...]]


Cells = Mapping[tuple[Class, int | None], int]
"""How many rows of a class are in a slice of time, by its number; None is that of rows without a time."""


def count_cells(rows: DataFrame, facts: Lineage, found: Comparison) -> Cells:
    """The number of rows in each class, and over time, in one pass."""
    from ouzel.reconcile.explaining.classification import CLASS

    return {
        (Class(name), number): count
        for name, number, count in rows.groupBy(CLASS, slice_number(facts, found)).count().collect()
    }


def slice_number(facts: Lineage, found: Comparison) -> Column:
    """The slice of time that a difference is in."""
    from pyspark.sql import functions as F

    return F.floor(time_us(facts, either) / F.lit(_width(facts, found))).cast("bigint")


def sum_classes(cells: Cells) -> dict[Class, int]:
    """The number of rows in each class that has any, in the order of classes."""
    told = {kind for kind, _ in cells}
    return {kind: sum(count for (of, _), count in cells.items() if of is kind) for kind in Class if kind in told}


def sum_cells(cells: Cells, facts: Lineage, found: Comparison) -> tuple[dict[Class, int], Timeline | None]:
    """The number of rows in each class, and over time; no timeline if rows have no time."""
    counts = sum_classes(cells)
    span = _span(found)
    if span is None:
        return counts, None
    width = _width(facts, found)
    first, last = (us // width for us in span)
    slices = {kind: [0] * (last - first + 1) for kind in counts}
    for (kind, number), count in cells.items():
        if number is not None:
            slices[kind][number - first] = count
    over_time = {kind: tuple(each) for kind, each in slices.items() if any(each)}
    return counts, Timeline(first * width, width, last - first + 1, over_time)


def _span(found: Comparison) -> tuple[int, int] | None:
    return None if found.first_us is None or found.last_us is None else (found.first_us, found.last_us)


def _width(facts: Lineage, found: Comparison) -> int:
    span = _span(found)
    return slice_width(span[1] - span[0], facts.step_us) if span else 1


def slice_width(span_us: int, step_us: int = 0) -> int:
    """The step between times, or the narrowest usual width above it, that cuts the span into at most MOST_SLICES."""
    for width in (step_us, *WIDTHS_US):
        if width and width >= step_us and span_us // width < MOST_SLICES - 1:
            return width
    return span_us // (MOST_SLICES - 2) + 1
