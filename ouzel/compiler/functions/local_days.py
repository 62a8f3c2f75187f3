"""Days as clocks of a time zone show them: when each begins, in microseconds of UTC.

A day begins at its midnight, as TO_UTC_TIMESTAMP reads it: at the first, if midnight occurs twice, and at the change of clocks, if it does
not occur. So days follow each other without a gap. One that a zone skipped whole begins and ends in the same moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ouzel.compiler.functions.formats import YEARS_S
from ouzel.compiler.functions.zones import read_elsewhere

if TYPE_CHECKING:
    import polars as pl

Int64s = npt.NDArray[np.int64]

DAY_US = 86_400_000_000
LATEST_US = YEARS_S * 1_000_000
"""Clocks are known from so long before 1970 until so long after."""
LONGER_US = DAY_US
"""By no more is a day longer than 24 hours: no zone has ever gone back by more."""
_NEAR = 2
"""A moment lies no more days from the day of the same number in UTC: a zone is ahead or behind by less than one, and repeats less."""
_DENSE = 10_000
"""Of so many days in a row all are computed; of more only those that are near a moment."""


@dataclass(frozen=True)
class LocalDays:
    """Spans of whole days, each numbered: number 0 begins on 1970-01-01, `offset_us` after midnight.

    Attributes:
        zone: whose clocks tell the days.
        size_us: how long a span is by the clock; a multiple of a day.
        offset_us: by the clock.
    """

    zone: str
    size_us: int
    offset_us: int = 0

    def begins(self, spans: Int64s) -> Int64s:
        """When the spans of these numbers begin, in microseconds of UTC."""
        import polars as pl

        local = pl.Series("t", spans * self.size_us + self.offset_us).cast(pl.Datetime("us")).to_frame()
        return local.select(_in_utc(self.zone)).to_series().to_physical().to_numpy()

    def spans_near(self, times: Int64s, more: int = 0) -> Int64s:
        """The numbers of the spans that the times lie in, of the next ones, and of `more` before and after; in order.

        `times` are in microseconds of UTC, and no further from 1970 than LATEST_US.
        """
        reach = _NEAR + more
        numbers = (times - self.offset_us) // self.size_us
        first, last = int(numbers.min()) - reach, int(numbers.max()) + reach + 1
        if last - first <= _DENSE:
            return np.arange(first, last + 1)
        return np.unique(np.unique(numbers)[:, None] + np.arange(-reach, reach + 2))

    def around(self, at_us: int, back: int = 0, ahead: int = 0) -> tuple[int, int]:
        """When the span of a moment begins and when the next one does; so many spans `back` and so many `ahead`."""
        begins = self.begins(self.spans_near(np.array([at_us]), max(back, ahead)))
        place = int(np.searchsorted(begins, at_us, side="right")) - 1
        return int(begins[place - back]), int(begins[place + 1 + ahead])


def _in_utc(zone: str) -> pl.Expr:
    import polars as pl

    return read_elsewhere(pl.col("t"), zone, "UTC")
