"""Load shedding: a spout task that lags too far behind in a partition skips records, on its own (Fu et al., 2015, section 4).

A skipped range is written down before anything behind it leaves: as a cut of its journal, so that a successor skips the same,
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
"""The number of records in the cut of a skipped range."""


class SkippedRange(NamedTuple):
    """Offsets [start, end) of a partition are skipped."""

    start: int
    end: int


class Shedder(Protocol):
    """Decides what is skipped, and writes it down."""

    def decide(self, reader: Reader) -> SkippedRange | None:
        """What is skipped of what the reader could read; None if nothing."""

    def note(self, partition: str, skipped: SkippedRange) -> None:
        """This range is about to be skipped."""


class NoShedding(Shedder):
    """Nothing is ever skipped."""

    def decide(self, reader: Reader) -> SkippedRange | None:
        return None

    def note(self, partition: str, skipped: SkippedRange) -> None:
        pass


class LagShedder(Shedder):
    """By the limits of the table's options; `path` is the file of JSON lines, None if nobody asks for one."""

    def __init__(self, limits: Shedding, table: str, path: Path | None) -> None:
        self._limits, self._table, self._path = limits, table, path

    def decide(self, reader: Reader) -> SkippedRange | None:
        skipping = cast(SkippingReader, reader)
        lag = skipping.lag()
        if lag is None or lag <= self._limits.lag:
            return None
        return SkippedRange(skipping.position, skipping.position + min(lag, self._limits.rows))

    def note(self, partition: str, skipped: SkippedRange) -> None:
        if self._path:
            append_lines(self._path, json.dumps([self._table, partition, *skipped]) + "\n")
