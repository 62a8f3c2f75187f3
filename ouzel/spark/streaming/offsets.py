"""Where a streaming source stands: exact offsets of each partition, and how a micro-batch's rows are dealt among them. Reads no records."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ouzel.connectors.reading import Partition, RecallingSource, Source

LISTED_EVERY_S = 5.0
"""How often a source without an end is asked for partitions that are new."""

ALL_ROWS = 1 << 40
"""More than any table has."""


@dataclass(frozen=True)
class Position:
    """How far a table has been read.

    Attributes:
        table: whose rows these are; Spark's progress says no more of a source than its offset.
        parts: partition id -> (offset of the first reading, offset to read next).
        ended: whether the source has given everything it will ever give.
    """

    table: str
    parts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    ended: bool = False

    def to_json(self) -> dict[str, Any]:
        """As Spark keeps it. Equal positions have equal text, for Spark compares no more than that."""
        return {"table": self.table, "parts": {name: [*part] for name, part in self.parts.items()}, "ended": self.ended}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Position:
        """The position that `to_json` wrote."""
        return cls(data["table"], {name: (first, at) for name, (first, at) in data["parts"].items()}, data["ended"])


class Surveyor:
    """Says how far the next micro-batch of a source reaches; lives as long as the query."""

    def __init__(self, source: Source, ordered: bool, grows: bool, clock: Callable[[], float] = time.monotonic) -> None:
        """`ordered` and `grows` are what the connector's row says of the table."""
        self._source, self._clock = source, clock
        self._ordered, self._may_grow = ordered, grows
        self._partitions: dict[str, Partition] = {}
        self._finished = set[str]()
        self._list_at = float("-inf")

    def advance(self, position: Position, rows: int) -> Position:
        """The position after at most `rows` more rows, as far as they are there now.

        Partitions whose rows follow those of the one before are read in turn, as are the files of a folder; others alike, so that no
        partition's time runs ahead of the others'.

        Raises:
            ConnectorError: the source is gone or unreadable.
        """
        self._list(position)
        parts = dict(position.parts)
        waiting = [name for name in self._partitions if name not in self._finished]
        share_out = self._in_turn if self._ordered else self._alike
        share_out(waiting, parts, rows)
        return Position(position.table, parts, not self._grows and self._finished >= self._partitions.keys())

    def _in_turn(self, waiting: Sequence[str], parts: dict[str, tuple[int, int]], rows: int) -> None:
        for name in waiting:
            if rows <= 0:
                return
            rows -= self._step(name, parts, rows)

    def _alike(self, waiting: Sequence[str], parts: dict[str, tuple[int, int]], rows: int) -> None:
        """The same for each, then what is left for those that have more."""
        while rows > 0 and waiting:
            share = max(1, rows // len(waiting))
            read = {name: self._step(name, parts, share) for name in waiting[:rows]}
            rows -= sum(read.values())
            waiting = [name for name, count in read.items() if count == share and name not in self._finished]

    def _step(self, name: str, parts: dict[str, tuple[int, int]], rows: int) -> int:
        known = parts.get(name)
        reach = self._source.reach(self._partitions[name], known[1] if known else None, rows)
        parts[name] = (known[0] if known else reach.start, reach.end)
        if reach.last:
            self._finished.add(name)
        return reach.end - reach.start

    @property
    def _grows(self) -> bool:
        return any(not partition.bounded for partition in self._partitions.values()) or (
            not self._partitions and self._may_grow
        )

    def _list(self, position: Position) -> None:
        """Ask which partitions there are: once, or now and then if there may be more. A folder's files come after those known before."""
        if self._clock() < self._list_at:
            return
        if isinstance(self._source, RecallingSource) and not self._partitions:
            self._source.recall({name: end for name, (_, end) in position.parts.items()})
        found = {partition.id: partition for partition in self._source.partitions()}
        first = [name for name in position.parts if name in found]
        self._partitions = {name: found[name] for name in (*first, *found)}
        self._list_at = self._clock() + LISTED_EVERY_S if self._grows else float("inf")
