"""The thread that writes for a task, so that the task's own thread never waits for a disk, a broker or a client."""

from __future__ import annotations

import math
from collections.abc import Callable
from queue import SimpleQueue
from threading import Condition, Thread
from typing import Protocol

from ouzel.connectors.writing import MarkedWriter, SinkWriter, StagingWriter
from ouzel.errors import TopologyError
from ouzel.runtime.process.life import now_ms
from ouzel.runtime.protocol.messages import Flush, KeepUpTo, MarkEpoch, Write

WAITING_BYTES_MAX = 16 << 20
"""With more than this handed over and not written, the task takes in nothing more."""

_FAREWELL_S = 0.5

SinkOrder = Write | Flush | MarkEpoch | KeepUpTo
"""What a sink is given to do, in order."""


class Sink(Protocol):
    """Carries out a task's orders for its sink, one after the other.

    Attributes:
        busy_since: when it began what it does now; infinite if it does nothing.
    """

    busy_since: float

    @property
    def published(self) -> int:
        """The newest epoch up to which what it was given is visible; -1 before it was told of any."""

    def start(self) -> None:
        """Begin."""

    def put(self, order: SinkOrder) -> None:
        """To be carried out soon; never waits."""

    def has_room(self, timeout_s: float) -> bool:
        """Whether more may be handed over; waits for that at most `timeout_s`.

        Raises:
            Exception: what the writer raised; it writes no more.
        """

    def take(self) -> list[int]:
        """The numbers of the flushes that are done since the last call."""

    def close(self) -> None:
        """Write what was given and close the writer, if that can be done quickly."""

    def abandon(self) -> bool:
        """Write nothing more, not even what was given, and close the writer; whether that was done quickly."""


class SinkThread(Thread):
    """Carries out orders one after the other. `done` is called, from this thread, when there is something to `take`.

    Attributes:
        busy_since: when it began what it does now; infinite if it does nothing.
        published: the newest epoch up to which what it was given is visible; -1 before it was told of any.
    """

    def __init__(self, writer: SinkWriter, done: Callable[[], None]) -> None:
        super().__init__(name="sink", daemon=True)
        self._writer, self._done = writer, done
        self._orders: SimpleQueue[SinkOrder | None] = SimpleQueue()
        self._flushed: SimpleQueue[int] = SimpleQueue()
        self._waiting = 0.0
        self._room = Condition()
        self._failed: Exception | None = None
        self._abandoned = False
        self.busy_since = math.inf
        self.published = -1

    def put(self, order: SinkOrder) -> None:
        """To be carried out soon; never waits."""
        if isinstance(order, Write):
            with self._room:
                self._waiting += order.frame.estimated_size()
        self._orders.put(order)

    def has_room(self, timeout_s: float) -> bool:
        """Whether more may be handed over; waits for that at most `timeout_s`.

        Raises:
            Exception: what the writer raised; it writes no more.
        """
        with self._room:
            self._room.wait_for(lambda: self._failed or self._waiting <= WAITING_BYTES_MAX, timeout_s)
            if self._failed:
                raise self._failed
            return self._waiting <= WAITING_BYTES_MAX

    def take(self) -> list[int]:
        """The numbers of the flushes that are done since the last call."""
        return [self._flushed.get() for _ in range(self._flushed.qsize())]

    def run(self) -> None:
        """The thread's work."""
        try:
            while (order := self._orders.get()) is not None and not self._abandoned:
                self.busy_since = now_ms()
                self._carry_out(order)
                self.busy_since = math.inf
            self._writer.close()
        except BaseException as error:  # a panic of Polars is no Exception, and would end this thread in silence
            with self._room:
                self._failed = (
                    error if isinstance(error, Exception) else TopologyError(f"{type(error).__name__}: {error}")
                )
                self._room.notify()
            self.busy_since = math.inf
            self._done()

    def _carry_out(self, order: SinkOrder) -> None:
        if isinstance(order, Flush):
            self._writer.flush()
            self._flushed.put(order.number)
            self._done()
            return
        if isinstance(order, MarkEpoch):
            carry_out_mark(self._writer, order)
            return
        if isinstance(order, KeepUpTo):
            publish_up_to(self._writer, order)
            self.published = order.epoch
            self._done()
            return
        self._writer.write(order.batch_id, order.frame)
        with self._room:
            self._waiting -= order.frame.estimated_size()
            self._room.notify()

    def close(self) -> None:
        """Let the thread write what it was given and close the writer, if that can be done quickly."""
        self._orders.put(None)
        self.join(_FAREWELL_S)

    def abandon(self) -> bool:
        """Write nothing more, not even what it was given, and close the writer; whether that was done quickly."""
        self._abandoned = True
        self.close()
        return not self.is_alive()


def carry_out_mark(writer: SinkWriter, mark: MarkEpoch) -> None:
    """Tell a writer that counts by epochs; others have flushed, and have nothing to do."""
    if isinstance(writer, MarkedWriter):
        writer.mark(mark.epoch, mark.kept)
    mark.then()


def publish_up_to(writer: SinkWriter, order: KeepUpTo) -> None:
    """Have a writer that stages publish what is kept; what others wrote is visible."""
    if isinstance(writer, StagingWriter):
        writer.on_kept(order.epoch)
