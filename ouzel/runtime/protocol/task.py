"""The state machine of one task, whatever it runs: messages in, instructions out; no I/O of its own, no clock.

Only the logic it holds does I/O: a source reads, a sink writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ouzel.runtime.protocol.messages import Instruction, Message


@dataclass(slots=True)
class TaskMetrics:
    """Counts since the start; `latency_us` holds log buckets (32 an octave, see observe.histogram) of complete latency, by rows."""

    rows_in: int = 0
    rows_out: int = 0
    rows_acked: int = 0
    rows_failed: int = 0
    rows_late: int = 0
    rows_bad: int = 0
    pending_rows: int = 0
    batches_in: int = 0
    watermark_us: int | None = None
    latency_us: dict[int, int] = field(default_factory=dict)


class TaskMachine:
    """One task. The shell calls these from one thread and carries out what they return, in order.

    `now_ms` is any monotonic clock in milliseconds, the same in every call.
    """

    def handle(self, messages: Sequence[Message], now_ms: float) -> list[Instruction]:
        """Take what has arrived, all of it at once: a stateful task handles the rows together, up to `handle_rows`."""
        raise NotImplementedError

    def poll(self, now_ms: float) -> list[Instruction]:
        """A spout reads and emits at most one batch, if pending rows allow; nothing for a bolt. Empty when there is nothing to do now."""
        raise NotImplementedError

    def tick(self, now_ms: float) -> list[Instruction]:
        """To be called every 50 ms or so: timeouts, EMIT AFTER DELAY, flushes, watermark repeats."""
        raise NotImplementedError

    def reconnected(self, now_ms: float) -> list[Instruction]:
        """The way to the stream manager was lost and is back: send again what may have been lost on it."""
        raise NotImplementedError

    def drain(self) -> None:
        """Read no more (a clean stop): Finished follows, as if the input had ended, but windows stay open and are not emitted."""
        raise NotImplementedError

    def metrics(self) -> TaskMetrics:
        """Counts so far."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of readers and writers."""
        raise NotImplementedError
