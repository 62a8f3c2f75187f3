"""The rules of Nexmark's generator that say how events are drawn."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

EPOCH_START = dt.datetime(2015, 7, 15, tzinfo=dt.UTC)
ROUND = 50
"""Events in one round."""

FIRST_ID, HOT_EVERY = 1000, 100
HOT_CHANNELS, COLD_CHANNELS = ("Google", "Facebook", "Baidu", "Apple"), 10_000


@dataclass(frozen=True)
class HotRule:
    """How an event names one of those that there are by then: the newest hot one, but for one time in `cold_every` (a power of two), or one
    of the last.

    There are `per_round` more of them after each round, and `at_first` in the first beside one. `beside` is which one the hot one is.
    """

    per_round: int
    at_first: int
    active: int
    cold_every: int
    beside: int = 0
