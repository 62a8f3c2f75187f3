"""A sink that never waits: its task writes by itself, and no thread has to be woken for each batch."""

from __future__ import annotations

import math
from collections.abc import Callable

from ouzel.connectors.writing import SinkWriter
from ouzel.runtime.process.sink_thread import SinkOrder, carry_out_mark, publish_up_to
from ouzel.runtime.protocol.messages import KeepUpTo, MarkEpoch, Write


class DirectSink:
    """Used as a SinkThread is; what it is given is carried out at once."""

    busy_since = math.inf

    def __init__(self, writer: SinkWriter, done: Callable[[], None]) -> None:
        self._writer, self._done = writer, done
        self._flushed: list[int] = []
        self.published = -1

    def start(self) -> None:
        """There is no thread."""

    def put(self, order: SinkOrder) -> None:
        """Carry it out."""
        if isinstance(order, Write):
            self._writer.write(order.batch_id, order.frame)
        elif isinstance(order, MarkEpoch):
            carry_out_mark(self._writer, order)
        elif isinstance(order, KeepUpTo):
            publish_up_to(self._writer, order)
            self.published = order.epoch
        else:
            self._writer.flush()
            self._flushed.append(order.number)
            self._done()

    def has_room(self, timeout_s: float) -> bool:
        """Nothing ever waits."""
        return True

    def take(self) -> list[int]:
        """The numbers of the flushes that are done since the last call."""
        taken, self._flushed = self._flushed, []
        return taken

    def close(self) -> None:
        """Close the writer."""
        self._writer.close()

    def abandon(self) -> bool:
        """Close the writer: nothing waits to be written."""
        self.close()
        return True
