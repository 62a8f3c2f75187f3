"""blackhole: takes rows, counts them, forgets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouzel.connectors.base import Connector, SinkDelivery, Writers, Writes
from ouzel.connectors.writing import SinkRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

CONNECTOR = Connector(
    "blackhole",
    "Takes any rows and forgets them: for measuring.",
    writes=Writes(
        "ouzel.connectors.blackhole:Blackhole",
        ("append", "retract", "upsert"),
        Writers.MANY,
        SinkDelivery.IDEMPOTENT,
        spark="nothing",
        publisher="ouzel.connectors.blackhole:BlackholePublisher",
    ),
)


class Blackhole:
    """Counts rows."""

    flush_interval_ms, flush_rows, instant = 0, 1, True

    def __init__(self, request: SinkRequest) -> None:
        self.rows = 0

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Count the rows."""
        self.rows += frame.height

    def flush(self) -> None:
        """Nothing is kept, so everything is safe."""

    def close(self) -> None:
        """Nothing is open."""


class BlackholePublisher:
    """Reads rows and forgets them; nobody can tell whether it did so before."""

    def __init__(self, request: SinkRequest) -> None:
        self.rows = 0

    def last_published(self) -> int:
        """Nothing is known."""
        return 0

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        """Count the rows."""
        self.rows += sum(frame.height for frame in frames)

    def close(self) -> None:
        """Nothing is open."""
