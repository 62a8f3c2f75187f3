"""What Spark tells of its micro-batches, added up: rows, late rows, watermark, and the offsets of what is committed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ouzel.spark.streaming.offsets import Position

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@dataclass
class Account:
    """One query's micro-batches so far.

    Attributes:
        rows: rows read, by table, since the run began.
        late: rows dropped behind the watermark; of windows that Spark itself aggregates, groups of them.
        watermark_us: event time up to which windows have closed; None before the first, and once the input has ended.
        positions: how far each source has been read, over all runs from this checkpoint.
        batches: how many have been committed since the run began.
    """

    rows: Counter[str] = field(default_factory=Counter)
    late: int = 0
    watermark_us: int | None = None
    positions: tuple[Position | None, ...] = ()
    batches: int = 0

    @property
    def ended(self) -> bool:
        """Whether every source has given everything."""
        return bool(self.positions) and all(position is not None and position.ended for position in self.positions)

    def begin(self, progress: Mapping[str, Any]) -> None:
        """Take where a run starts that goes on from a checkpoint: what Spark says of it before its first micro-batch."""
        self.positions = tuple(_position(source["endOffset"]) for source in progress["sources"])

    def add(self, progress: Mapping[str, Any]) -> None:
        """Take Spark's report of one micro-batch, as the JSON object that it is."""
        sources = progress["sources"]
        self.batches += 1
        self.late += sum(state.get("numRowsDroppedByWatermark", 0) for state in progress.get("stateOperators", ()))
        self.positions = tuple(_position(source["endOffset"]) for source in sources)
        self.rows += Counter(_rows(sources))
        watermark = (progress.get("eventTime") or {}).get("watermark")
        if watermark:
            self.watermark_us = _time_us(watermark)


class LateCalls:
    """Adds up what operators tell of late rows, each call once: one that is computed twice, or a task that runs again, tells it again."""

    def __init__(self) -> None:
        self._counted: dict[tuple[str, int], int] = {}

    def take(self, told: dict[tuple[str, int, int], int]) -> int:
        """Late rows of calls that were not counted before: `told` has them by operator, bucket and number of the call, and is emptied."""
        calls = sorted(told.popitem() for _ in range(len(told)))
        return sum(late for call, late in calls if self._is_new(*call))

    def _is_new(self, operator: str, bucket: int, number: int) -> bool:
        before = self._counted.get((operator, bucket), -1)
        self._counted[operator, bucket] = max(before, number)
        return number > before


def _time_us(text: str) -> int | None:
    """None for the beginning of time, which is 1970 to Spark, and for times that have no date: there the input has ended."""
    try:
        return (datetime.fromisoformat(text) - EPOCH) // MICROSECOND or None
    except ValueError:
        return None


def _rows(sources: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Rows of each table. What a query reads twice Spark counts twice, and the end mark too: offsets tell."""
    rows: dict[str, int] = {}
    for source in sources:
        before, after = _position(source["startOffset"]), _position(source["endOffset"])
        if after is not None:
            steps = sum(at - _begin(before, name, first) for name, (first, at) in after.parts.items())
            rows[after.table] = max(rows.get(after.table, 0), min(steps, source["numInputRows"]))
    return rows


def _position(text: Any) -> Position | None:
    data = json.loads(text) if isinstance(text, str) else text
    return Position.from_json(data) if data else None


def _begin(before: Position | None, name: str, first: int) -> int:
    return before.parts[name][1] if before and name in before.parts else first
