"""What tasks of SQL have in common, spouts and bolts: a chain of operators, and at its end perhaps a sink."""

from __future__ import annotations

import math
from collections import deque
from typing import Generic, TypeVar

import polars as pl

from ouzel.compiler.plan import Sink, SinkMode
from ouzel.connectors.writing import SinkWriter
from ouzel.runtime.observe.state_summaries import StateSummary
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.operators.consolidate import consolidate
from ouzel.runtime.protocol.messages import Flush, Instruction, Write
from ouzel.runtime.protocol.shell import TakesFrames
from ouzel.runtime.protocol.task import TaskMachine, TaskMetrics, TaskSetup

STALLED_MS = 500.0
"""A flush that takes longer has stalled the sink. (Some of what a slow flush takes counts as time: what is lost meanwhile is missed.)"""

Waits = TypeVar("Waits")


class SinkEnd(Generic[Waits]):
    """The sink at the end of a chain: consolidates for upserts, and says what to write, when to flush, and what is flushed then.

    Writing is left to the shell, which has the `writer` and may take its time: of `written` frames `flushed` have been flushed.
    `unflushed` are the inputs, or what stands for them, that may be acked after the next flush. One flush is asked for at a time, so that
    a slow sink gets more with each.
    """

    def __init__(self, node: Sink, consolidated: bool, writer: SinkWriter) -> None:
        self.node, self.consolidated, self.writer = node, consolidated, writer
        self.unflushed: list[Waits] = []
        self.written = self.flushed = 0
        self._rows = self._asked = 0
        self._asked_ms = -math.inf
        self._flushing: deque[tuple[int, int, list[Waits]]] = deque()
        self._flushing_since_ms = -math.inf

    def write(self, batch_id: int, frame: pl.DataFrame) -> list[Instruction]:
        """Give the sink one batch."""
        if self.node.mode is SinkMode.UPSERT and not self.consolidated:
            frame = consolidate(frame, list(self.node.keys))
        if not frame.height:
            return []
        self.written += 1
        self._rows += frame.height
        return [Write(batch_id, frame)]

    def is_due(self, now_ms: float) -> bool:
        """Whether it is time to flush."""
        if self._flushing:
            return False
        return self._rows >= self.writer.flush_rows or now_ms - self._asked_ms >= self.writer.flush_interval_ms

    def flush(self, now_ms: float) -> list[Instruction]:
        """Ask for a flush, if there is anything to flush."""
        asked_for = self._flushing[-1][1] if self._flushing else self.flushed
        if not self.unflushed and self.written == asked_for:
            return []
        if not self._flushing:
            self._flushing_since_ms = now_ms
        self._asked += 1
        self._flushing.append((self._asked, self.written, self.unflushed))
        self.unflushed, self._rows, self._asked_ms = [], 0, now_ms
        return [Flush(self._asked)]

    @property
    def is_at_rest(self) -> bool:
        """Whether everything is flushed."""
        return not (self.unflushed or self._flushing) and self.written == self.flushed

    def is_stalled(self, now_ms: float) -> bool:
        """Whether what it writes to has kept it waiting for long."""
        return bool(self._flushing) and now_ms - self._flushing_since_ms >= STALLED_MS

    def on_flushed(self, number: int, now_ms: float) -> list[Waits]:
        """This flush is done: the inputs that may be acked now."""
        self._flushing_since_ms = now_ms
        inputs: list[Waits] = []
        while self._flushing and self._flushing[0][0] <= number:
            _, self.flushed, flushed = self._flushing.popleft()
            inputs += flushed
        return inputs


class ChainTask(TaskMachine, Generic[Waits]):
    """A task that computes a chain, and writes what comes of it if it has a `sink`."""

    def __init__(self, setup: TaskSetup, chain: Chain, sink: SinkEnd[Waits] | None, commits: bool = False) -> None:
        super().__init__(setup, commits)
        self.chain, self.sink = chain, sink

    @property
    def writer(self) -> SinkWriter | None:
        """Its sink's."""
        return self.sink.writer if self.sink else None

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is on its way, or waits to be flushed."""
        return super().is_at_rest and (self.sink is None or self.sink.is_at_rest)

    def on_flushed(self, number: int, now_ms: float) -> list[Instruction]:
        """Let go of what is flushed, and pass the time that waited for it."""
        self._begin(now_ms)
        if self.sink:
            self._let_go(self.sink.on_flushed(number, now_ms))
            self._release()
            self._flush_if_due()
        return self._take()

    def _let_go(self, flushed: list[Waits]) -> None:
        """These are flushed: nothing waits for them any more."""
        raise NotImplementedError

    @property
    def operator_names(self) -> list[str]:
        return self.chain.operator_names

    def sample_into(self, take: TakesFrames | None) -> None:
        self.chain.sample_into(take)

    def metrics(self) -> TaskMetrics:
        self.counts.states = self.chain.measure_states()
        return super().metrics()

    def summarize_states(self) -> list[StateSummary]:
        return self.chain.summarize_states()

    @property
    def _settled(self) -> int:
        return self.sink.flushed + 1 if self.sink else super()._settled

    def _flush_if_due(self) -> None:
        if self.sink and self.sink.is_due(self.now_ms):
            self._flush()

    def _flush(self) -> None:
        if self.sink:
            self._out += self.sink.flush(self.now_ms)
