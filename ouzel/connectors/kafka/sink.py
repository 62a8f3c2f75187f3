"""Writing a topic with an idempotent producer; `flush` returns when every replica in sync has everything."""

from __future__ import annotations

from typing import Any

import polars as pl
from confluent_kafka import KafkaError, KafkaException, Producer

from ouzel.connectors.kafka import CONNECTOR
from ouzel.connectors.kafka.client import PRODUCER, PRODUCER_FIXED, Failure, open_client, refuse_unreachable, topics_of
from ouzel.connectors.kafka.encoding import RecordEncoder
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest

_DEFAULTS = {**PRODUCER, "message.timeout.ms": 0}
"""What stands still is waited for."""


class KafkaSink:
    """Appends records, or upserts by key, where a row that goes is a record without a value; or writes each change as a record."""

    flush_interval_ms, flush_rows = 10, 100_000

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._request, self._failure = request, Failure(options.text("bootstrap.servers"))
        self._records = RecordEncoder(request, options)
        self._topic = self._records.topic
        self._lost: list[KafkaError] = []
        own = {**PRODUCER_FIXED, "error_cb": self._failure.note, "on_delivery": self._on_delivery}
        self._producer = open_client(Producer, request.table, options, _DEFAULTS, own)
        timeout_s = options.integer("connect.timeout.ms") / 1000
        if not request.again:
            refuse_unreachable(self._failure.servers, timeout_s)
        topics_of(self._producer, self._failure, timeout_s)

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Hand the rows to the producer."""
        for key, value in self._records.encode(frame):
            self._produce(key, value)
        self._producer.poll(0)
        self._raise_lost()

    def _produce(self, key: bytes | None, value: bytes | None) -> None:
        while True:
            try:
                return self._producer.produce(self._topic, value, key)  # type: ignore[no-any-return]
            except BufferError:  # full: wait for the broker
                self._producer.poll(0.1)
                self._raise_lost()
            except KafkaException as error:
                raise self._failure.sentence(error.args[0], f"topic '{self._topic}'") from None

    def _on_delivery(self, error: KafkaError | None, message: Any) -> None:
        if error:
            self._lost.append(error)

    def _raise_lost(self) -> None:
        self._failure.raise_if_any()
        if self._lost:
            count, error = len(self._lost), self._lost[0]
            raise self._failure.sentence(error, f"{count} records for topic '{self._topic}' were not taken")

    def flush(self) -> None:
        """Wait until everything written is acknowledged.

        Raises:
            ConnectorError: something was not taken.
        """
        while self._producer.flush(1):
            self._raise_lost()
        self._raise_lost()

    def close(self) -> None:
        """The producer has nothing left."""
        self._producer.flush(1)
