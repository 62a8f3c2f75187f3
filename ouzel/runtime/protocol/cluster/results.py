"""Results on their way to the client: each batch of a task is delivered once, however often it comes; after a roll back, each row."""

from __future__ import annotations

from collections.abc import Hashable
from io import BytesIO

import polars as pl
from google.protobuf.message import DecodeError

from ouzel.runtime.protocol.cluster.since_mark import SinceMark
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.stream import Closed, Frame

SEEN_MAX = 1 << 18
"""How many of the latest batches are remembered, so that a replayed one is delivered once: many times more than can wait for an ack."""

NO_BATCH = (DecodeError, OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""The errors that decoding raises for bytes that no task has sent."""


class SeenBatches:
    """The latest batches that have come, SEEN_MAX at most."""

    def __init__(self, limit: int = SEEN_MAX) -> None:
        self._limit = limit
        self._seen: dict[Hashable, None] = {}

    def __contains__(self, batch: Hashable) -> bool:
        return batch in self._seen

    def add(self, batch: Hashable) -> None:
        """Note that the batch has come."""
        self._seen[batch] = None
        if len(self._seen) > self._limit:
            del self._seen[next(iter(self._seen))]


class ResultInbox:
    """Knows which batches of all tasks of the sink have come, and which rows since their marks.

    A batch that comes again within a generation has the same rows. In the next generation the same id may stand for others.
    """

    def __init__(self, seen_max: int = SEEN_MAX) -> None:
        self._seen, self._since = SeenBatches(seen_max), SinceMark()

    def on_frame(self, frame: Frame) -> pl.DataFrame | None:
        """The frames that are to be delivered now.

        Raises:
            Closed: no task has sent this; its connection is to be closed, and nothing else ends.
        """
        header = frame.header()
        match frame.kind:
            case wire_pb2.DATA:
                return self._on_batch(header.source, header.id, frame)
            case wire_pb2.MARK:
                self._since.on_mark(header.source, header.mark.epoch, header.mark.kept)
                return None
            case wire_pb2.ROLL_BACK:
                return self._since.on_roll_back(header.source, header.mark.epoch, header.mark.generation)
        raise Closed

    def _on_batch(self, task: int, number: int, frame: Frame) -> pl.DataFrame | None:
        batch = (task, self._since.generation(task), number)
        if batch in self._seen:
            return None
        try:
            rows = pl.read_ipc_stream(BytesIO(frame.body()))
        except NO_BATCH as error:
            raise Closed from error
        self._seen.add(batch)
        return self._since.on_rows(task, rows)
