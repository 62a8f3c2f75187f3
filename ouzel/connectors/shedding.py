"""Sources that may shed load: when, and what their readers can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Shedding:
    """When a partition's lag is above `lag`, the next `rows` records are passed over."""

    lag: int
    rows: int


class SkippingReader(Protocol):
    """What a reader of a source that may shed load can do beside reading."""

    @property
    def position(self) -> int:
        """The offset that is read next."""

    def lag(self) -> int | None:
        """How many records wait behind what was read; None if that is not known now."""

    def skip(self, end: int) -> None:
        """Pass over all records before that offset."""
