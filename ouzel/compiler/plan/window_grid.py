"""Where windows of fixed length lie."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WindowGrid:
    """Windows of `size_us` that begin every `grid_us`, shifted by `offset_us`, or, of CUMULATE, end every `slide_us` up to that size.

    `start` and `end` are the columns that say which one a row is in.
    """

    size_us: int
    slide_us: int
    grid_us: int
    offset_us: int
    start: str
    end: str

    def start_before(self, at_us: int) -> int:
        """When the last window begins that begins then or before."""
        return at_us - (at_us - self.offset_us) % self.grid_us
