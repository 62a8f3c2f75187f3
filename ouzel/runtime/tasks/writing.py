"""A spout of SQL that also writes: with nothing between source and sink that moves rows, a batch stays in the task that has read it."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from ouzel.connectors.writing import SinkWriter
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.protocol.acker import PendingBatch
from ouzel.runtime.protocol.messages import Instruction, TimeStatus
from ouzel.runtime.protocol.quarantine import Quarantine
from ouzel.runtime.protocol.task import TaskSetup
from ouzel.runtime.protocol.watermarks import WatermarkStatus
from ouzel.runtime.tasks.bolt import SinkEnd
from ouzel.runtime.tasks.refusals import Refusals
from ouzel.runtime.tasks.source import SourceParts, SourceSpout


class WritingSpout(SourceSpout):
    """One task that reads and writes.

    A batch is held until the sink has flushed what came of it. Nothing of it is on a link, so nothing can be lost but with the task, whose
    successor reads it again and writes it under the same id.
    """

    def __init__(
        self, setup: TaskSetup, source: SourceParts, chain: Chain, refusals: tuple[Refusals, Refusals],
        quarantine: Quarantine, sink: SinkEnd[PendingBatch],
    ) -> None:  # fmt: skip
        super().__init__(setup, source, chain, refusals, quarantine)
        self.sink = sink

    @property
    def writer(self) -> SinkWriter:
        """Its sink's."""
        return self.sink.writer

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is on its way, or waits to be flushed."""
        return super().is_at_rest and self.sink.is_at_rest

    def emit_root(
        self, frames: Iterable[tuple[str, pl.DataFrame]], rows: int, token: object = None, frame_id: int = 0,
        index: int | None = None,
    ) -> None:  # fmt: skip
        """Write the frames; the batch is done when they are flushed, or at once if there is nothing to wait for."""
        written, held = self.sink.written, self.acker.hold_here(rows, token, self.now_ms)
        for _, frame in frames:
            self.counts.rows_out += frame.height
            self._out += self.sink.write(frame_id, frame)
        if self.tracked and self.sink.written > written:
            self.sink.unflushed.append(held)
        else:
            self._complete(self.acker.on_handled(held))
        self._flush_if_due()

    def _tell_apart(self, frame_id: int) -> int:
        """What a batch is written as does not depend on answers: its rows go nowhere else, and are not written twice."""
        self.chain.tell_apart(frame_id)
        return frame_id

    def on_flushed(self, number: int, now_ms: float) -> list[Instruction]:
        """Let go of the batches that are flushed, and pass the time that waited for them."""
        self._begin(now_ms)
        for held in self.sink.on_flushed(number, now_ms):
            self._complete(self.acker.on_handled(held))
        self._release()
        self._flush_if_due()
        return self._take()

    def pass_time(self, moment: WatermarkStatus) -> None:
        """Time is passed when all that was written before is flushed; at the end, and in a pause, that is asked for at once."""
        self.gate.push(self.sink.written, moment)
        if moment.status in (TimeStatus.PAUSED, TimeStatus.FINISHED):
            self._out += self.sink.flush(self.now_ms)

    @property
    def _settled(self) -> int:
        return self.sink.flushed + 1

    def on_reconnected(self, now_ms: float) -> list[Instruction]:
        """No rows are ever on a connection."""
        return []

    def _resend(self, batches: Iterable[PendingBatch]) -> None:
        """Nor is anything sent again."""

    def _tick(self) -> None:
        super()._tick()
        self._flush_if_due()

    def _flush_if_due(self) -> None:
        if self.sink.is_due(self.now_ms):
            self._out += self.sink.flush(self.now_ms)
