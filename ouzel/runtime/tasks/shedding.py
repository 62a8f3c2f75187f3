"""Load shedding: a spout task that lags too far behind in a partition passes records over, on its own (Fu et al., 2015, section 4).

What it passes over is written down before anything behind it leaves: as a cut of its journal, so that a successor passes over the same,
and as a line of JSON for whoever compares the run with a batch afterwards.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from ouzel.connectors.dead_letters import append_lines
from ouzel.connectors.reading import Reader
from ouzel.connectors.shedding import Shedding, SkippingReader

SHED = -1
"""So many records a cut holds that was passed over."""


class Passed(NamedTuple):
    """Offsets [start, end) of a partition were passed over."""

    start: int
    end: int


class Shedder(Protocol):
    """Decides what is passed over, and keeps account of it."""

    def decide(self, reader: Reader) -> Passed | None:
        """What a reader that could read on passes over instead; None if nothing."""

    def note(self, partition: str, passed: Passed) -> None:
        """This is about to be passed over."""


class NoShedding:
    """Nothing is ever passed over."""

    def decide(self, reader: Reader) -> Passed | None:
        """See Shedder."""
        return None

    def note(self, partition: str, passed: Passed) -> None:
        """See Shedder."""


class LagShedder:
    """By the limits of the table's options; `path` is the file of JSON lines, None if nobody asks for one."""

    def __init__(self, limits: Shedding, table: str, path: Path | None) -> None:
        self._limits, self._table, self._path = limits, table, path

    def decide(self, reader: Reader) -> Passed | None:
        """See Shedder."""
        skipping = cast(SkippingReader, reader)
        lag = skipping.lag()
        if lag is None or lag <= self._limits.lag:
            return None
        return Passed(skipping.position, skipping.position + min(lag, self._limits.rows))

    def note(self, partition: str, passed: Passed) -> None:
        """See Shedder."""
        if self._path:
            append_lines(self._path, json.dumps([self._table, partition, *passed]) + "\n")
