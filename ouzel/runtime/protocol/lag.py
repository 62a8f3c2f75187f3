"""How far event time is behind the wall clock: what the wall clock may say of an input that has fallen silent. No clock: times come in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Sight(NamedTuple):
    """What a batch shows of event time: its oldest and newest row, and the largest watermark expression; microseconds UTC."""

    oldest_us: int
    newest_us: int
    watermark_us: int


@dataclass(slots=True)
class Lag:
    """The largest lag (wall clock at arrival minus event time) and the largest delay (event time minus watermark) seen in one partition.

    A row whose lag exceeds `bound_us`, or that lies further ahead than that, is historical: a file is replayed, or a backlog is read. From
    then on the wall clock says nothing, until current rows arrive at least `bound_us` later. Sooner is too soon: the last rows of a burst
    are young, and the next burst begins with old ones.
    """

    bound_us: int
    largest_us: int | None = None
    delay_us: int = 0
    _elsewhen_us: int | None = None

    def observe(self, wall_us: int, sight: Sight) -> None:
        """A batch arrived when the wall clock stood at `wall_us`."""
        self.delay_us = max(self.delay_us, sight.newest_us - sight.watermark_us)
        lag = max(0, wall_us - sight.oldest_us)
        if lag > self.bound_us or sight.newest_us - wall_us > self.bound_us:
            self._elsewhen_us = wall_us
            return
        self.largest_us = max(lag, self.largest_us or 0)
        if self._elsewhen_us is not None and wall_us - self._elsewhen_us >= self.bound_us:
            self._elsewhen_us = None

    @property
    def is_following(self) -> bool:
        """Whether event time follows the wall clock."""
        return self.largest_us is not None and self._elsewhen_us is None

    def watermark_us(self, wall_us: int) -> int:
        """The time before which no row made from now on can lie, if it lags no more than those before did. Valid if it `is_following`."""
        assert self.largest_us is not None
        return wall_us - self.largest_us - self.delay_us
