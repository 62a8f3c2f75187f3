"""Writing a topic with an idempotent producer; `flush` returns when every replica in sync has everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from confluent_kafka import KafkaError, KafkaException, Producer

from ouzel.connectors.formats import open_encoder
from ouzel.connectors.formats.keys import KeyEncoder
from ouzel.connectors.kafka import CONNECTOR
from ouzel.connectors.kafka.client import LOG, Failure, configuration, refuse_unreachable, topics_of
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

_DEFAULTS = {
    "partitioner": "murmur2_random",  # a key is where producers of Java put it
    "linger.ms": 5,
    "batch.size": 262_144,
    "message.timeout.ms": 0,  # what stands still is waited for
    "topic.metadata.propagation.max.ms": 5_000,
    "queue.buffering.max.messages": 500_000,
}
_FIXED = {"acks": "all", "enable.idempotence": True, "delivery.report.only.error": True}


class KafkaSink:
    """Appends records, or upserts by key, where a row that goes is a record without a value; or writes each change as a record."""

    flush_interval_ms, flush_rows = 10, 100_000

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._request, self._failure = request, Failure(options.text("bootstrap.servers"))
        self._topic = self._one_topic(options)
        self._encoder = open_encoder(options.text("format"), request.options, request.columns)
        raw = {"raw": True, "json": False}.get(options.text("key.format"))
        self._keys = KeyEncoder(request, options.names("key.fields"), "key.fields", raw)
        self._lost: list[KafkaError] = []
        own = {**_FIXED, "error_cb": self._failure.note, "on_delivery": self._on_delivery}
        try:
            self._producer = Producer(configuration(options, _DEFAULTS, own), logger=LOG)
        except (KafkaException, ValueError) as error:
            reason = error.args[0].str() if isinstance(error, KafkaException) else str(error)
            raise ConnectorError(f"table '{request.table}': librdkafka refuses its properties: {reason}") from None
        timeout_s = options.integer("connect.timeout.ms") / 1000
        if not request.again:
            refuse_unreachable(self._failure.servers, timeout_s)
        topics_of(self._producer, self._failure, timeout_s)

    def _one_topic(self, options: TableOptions) -> str:
        names = options.names("topic")
        if len(names) != 1:
            raise ConnectorError(f"table '{self._request.table}' is written to one topic; name it in 'topic'")
        return names[0]

    def write(self, batch_id: int, frame: pl.DataFrame) -> None:
        """Hand the rows to the producer."""
        if not frame.height:
            return
        if self._request.mode == "retract":
            frame = _each_change(frame, self._request.weight)
        keys: Sequence[bytes | None] = self._keys.encode(frame) if self._keys.columns else [None] * frame.height
        shown = [*self._request.columns, *([self._request.weight] if self._request.mode == "retract" else [])]
        values: Sequence[bytes | None] = self._encoder.encode(frame.select(shown))
        if self._request.mode == "upsert":
            kept = (frame[self._request.weight] > 0).to_list()
            values = [value if keep else None for value, keep in zip(values, kept, strict=True)]
        for key, value in zip(keys, values, strict=True):
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


def _each_change(frame: pl.DataFrame, weight: str) -> pl.DataFrame:
    """Each row as often as it comes or goes."""
    times = frame[weight].abs().to_numpy()
    return frame if (times == 1).all() else frame[np.repeat(np.arange(frame.height), times)]
