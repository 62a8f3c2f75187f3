"""Hears what Spark tells of streaming queries."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql.streaming.listener import (
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

logging.getLogger("py4j").addHandler(logging.NullHandler())  # what goes wrong in a callback comes as the query's error


class Listener(StreamingQueryListener):  # type: ignore[misc]
    """Calls `progressed` with the report of each micro-batch."""

    def __init__(self, progressed: Callable[[Mapping[str, Any]], None]) -> None:
        self._progressed = progressed

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing to do."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        """A micro-batch is committed."""
        self._progressed(json.loads(event.progress.json))

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Nothing to do."""
