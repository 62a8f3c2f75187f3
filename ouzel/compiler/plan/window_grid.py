"""Where windows of fixed length lie, and those of whole days by the clock of a time zone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ouzel.compiler.functions.local_days import LocalDays


@dataclass(frozen=True)
class WindowGrid(ABC):
    """Windows of `size_us` that begin every `grid_us`, shifted by `offset_us`, or, of CUMULATE, end every `slide_us` up to that size.

    `start` and `end` are the columns that say which one a row is in; they are no part of where the windows lie.
    """

    size_us: int
    slide_us: int
    grid_us: int
    offset_us: int
    start: str = field(default="", compare=False)
    end: str = field(default="", compare=False)

    @property
    @abstractmethod
    def longest_us(self) -> int:
        """How long a window is at most."""

    @abstractmethod
    def first_start(self, at_us: int) -> int:
        """When the first window begins that ends after that."""

    @abstractmethod
    def last_end(self, at_us: int) -> int:
        """When the last window ends that begins then or before."""

    @abstractmethod
    def next_start(self, at_us: int) -> int:
        """When the first window begins that begins then or after."""

    @abstractmethod
    def last_end_by(self, at_us: int) -> int:
        """When the last window ends that ends then or before."""

    def __str__(self) -> str:
        return f"{self.size_us}/{self.grid_us}+{self.offset_us}"


class FixedGrid(WindowGrid):
    """Windows that are all equally long."""

    @property
    def longest_us(self) -> int:
        return self.size_us

    def first_start(self, at_us: int) -> int:
        return self._start_before(at_us - self.size_us) + self.grid_us

    def last_end(self, at_us: int) -> int:
        return self._start_before(at_us) + self.size_us

    def next_start(self, at_us: int) -> int:
        return self._start_before(at_us - 1) + self.grid_us

    def last_end_by(self, at_us: int) -> int:
        return self._start_before(at_us - self.size_us) + self.size_us

    def _start_before(self, at_us: int) -> int:
        return at_us - (at_us - self.offset_us) % self.grid_us


@dataclass(frozen=True)
class LocalGrid(WindowGrid):
    """Windows of whole days by the clocks of a `zone`, which is what all spans are of; the size is a whole number of `grid_us`."""

    zone: str = ""

    @property
    def longest_us(self) -> int:
        from ouzel.compiler.functions.local_days import LONGER_US

        return self.size_us + LONGER_US

    def first_start(self, at_us: int) -> int:
        return self._days.around(at_us, back=self.size_us // self.grid_us - 1)[0]

    def last_end(self, at_us: int) -> int:
        return self._days.around(at_us, ahead=self.size_us // self.grid_us - 1)[1]

    def next_start(self, at_us: int) -> int:
        return self._days.around(at_us - 1)[1]

    def last_end_by(self, at_us: int) -> int:
        return self._days.around(at_us)[0]

    def __str__(self) -> str:
        return f"{super().__str__()} {self.zone}"

    @property
    def _days(self) -> LocalDays:
        from ouzel.compiler.functions.local_days import LocalDays

        return LocalDays(self.zone, self.grid_us, self.offset_us)


def lay_grid(
    size_us: int, slide_us: int, grid_us: int, offset_us: int, *, zone: str = "", start: str = "", end: str = ""
) -> WindowGrid:
    """The grid of these spans: by the clocks of the zone if there is one."""
    if zone:
        return LocalGrid(size_us, slide_us, grid_us, offset_us, start, end, zone)
    return FixedGrid(size_us, slide_us, grid_us, offset_us, start, end)
