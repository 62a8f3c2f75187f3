"""Series with a value a minute, of one or many instances, as columns: a row an instance, a column a minute, NaN where there is no value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MINUTE_S = 60

MinuteValues = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Minutes:
    """The minutes of a question: `first` in seconds since 1970, a multiple of 60, and how many."""

    first: int
    count: int

    @staticmethod
    def between(start: int, end: int) -> Minutes:
        """The minutes whose beginnings lie in start <= minute <= end, both in seconds."""
        first = -(-start // MINUTE_S) * MINUTE_S
        return Minutes(first, max(0, (end - first) // MINUTE_S + 1))

    @property
    def stamps(self) -> list[int]:
        """The beginning of each."""
        return [self.first + MINUTE_S * place for place in range(self.count)]

    def with_one_before(self) -> Minutes:
        """These, and the one before the first."""
        return Minutes(self.first - MINUTE_S, self.count + 1)


@dataclass(frozen=True)
class Series:
    """Series of several instances.

    Attributes:
        instances: their names; (None,) of a series that is of no instance, which is what univariate means.
        values: shape (instances, minutes).
    """

    instances: tuple[str | None, ...]
    values: MinuteValues

    @property
    def is_univariate(self) -> bool:
        """Whether it is one series of no instance."""
        return self.instances == (None,)


def univariate(values: MinuteValues) -> Series:
    """One series of no instance."""
    return Series((None,), values.reshape(1, -1))


def last_in_minute(times_s: Sequence[int], values: Sequence[float], minutes: Minutes) -> MinuteValues:
    """Values by minute: times are floored to the minute, and the last in a minute wins. Times must not decrease."""
    found = np.full(minutes.count, np.nan)
    places = (np.asarray(times_s, dtype=np.int64) // MINUTE_S * MINUTE_S - minutes.first) // MINUTE_S
    inside = (places >= 0) & (places < minutes.count)
    found[places[inside]] = np.asarray(values, dtype=np.float64)[inside]  # of equal places NumPy keeps the last
    return found


def sum_of(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; None if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
