"""Where windows of fixed length lie, and those of whole days by the clock of a time zone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ouzel.compiler.functions.local_days import LocalDays


@dataclass(frozen=True)
class WindowGrid:
    """Windows of `size_us` that begin every `grid_us`, shifted by `offset_us`, or, of CUMULATE, end every `slide_us` up to that size.

    `start` and `end` are the columns that say which one a row is in. With a `zone` all spans are of the time that its clocks show.
    """

    size_us: int
    slide_us: int
    grid_us: int
    offset_us: int
    start: str = ""
    end: str = ""
    zone: str = ""

    @property
    def longest_us(self) -> int:
        """How long a window is at most."""
        if not self.zone:
            return self.size_us
        from ouzel.compiler.functions.local_days import LONGER_US

        return self.size_us + LONGER_US

    def first_start(self, at_us: int) -> int:
        """When the first window begins that ends after that."""
        if self.zone:
            return self._days.around(at_us, back=self.size_us // self.grid_us - 1)[0]
        return self._start_before(at_us - self.size_us) + self.grid_us

    def last_end(self, at_us: int) -> int:
        """When the last window ends that begins then or before."""
        if self.zone:
            return self._days.around(at_us, ahead=self.size_us // self.grid_us - 1)[1]
        return self._start_before(at_us) + self.size_us

    def next_start(self, at_us: int) -> int:
        """When the first window begins that begins then or after."""
        if self.zone:
            return self._days.around(at_us - 1)[1]
        return self._start_before(at_us - 1) + self.grid_us

    def last_end_by(self, at_us: int) -> int:
        """When the last window ends that ends then or before."""
        if self.zone:
            return self._days.around(at_us)[0]
        return self._start_before(at_us - self.size_us) + self.size_us

    def _start_before(self, at_us: int) -> int:
        return at_us - (at_us - self.offset_us) % self.grid_us

    @property
    def _days(self) -> LocalDays:
        from ouzel.compiler.functions.local_days import LocalDays

        return LocalDays(self.zone, self.grid_us, self.offset_us)
