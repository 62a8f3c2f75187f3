"""Results on their way to the client: each batch of a task is delivered once, however often it comes."""

from __future__ import annotations

from io import BytesIO

import polars as pl
from google.protobuf.message import DecodeError

from ouzel.runtime.wire.stream import Closed, Frame

SEEN_MAX = 1 << 18
"""How many batches are remembered, the latest, so that a replayed one is delivered once: many times more than can wait for an ack."""

NO_BATCH = (DecodeError, OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
"""What decoding raises for bytes that no task has sent."""


class ResultInbox:
    """Knows which batches of all tasks of the sink have come."""

    def __init__(self, seen_max: int = SEEN_MAX) -> None:
        self._seen_max = seen_max
        self._seen: dict[tuple[int, int], None] = {}

    def on_frame(self, frame: Frame) -> pl.DataFrame | None:
        """The rows of the batch; None if it has come before.

        Raises:
            Closed: no task has sent this; its connection is to be closed, and nothing else ends.
        """
        try:
            header = frame.header()
            batch = (header.source, header.id)
            rows = None if batch in self._seen else pl.read_ipc_stream(BytesIO(frame.body()))
        except NO_BATCH as error:
            raise Closed from error
        if rows is not None:
            self._seen[batch] = None
            if len(self._seen) > self._seen_max:
                del self._seen[next(iter(self._seen))]
        return rows
