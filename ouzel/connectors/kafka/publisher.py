"""Publishing epochs to a topic: the rows of an epoch and a note of its number are one transaction, begun when the epoch is kept.

A transaction is open for as long as the rows take to be produced, and not from one epoch to the next: readers with
`isolation.level=read_committed` wait for no more than that. Where something breaks, the kind that librdkafka gives the error decides. What
may be tried again is called again; what asks for an abort is aborted and begun anew; what is fatal ends the task, and its successor
looks what has become of the last epoch. Whether a commit that broke has happened stands in the topic of epochs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import polars as pl
from confluent_kafka import KafkaError, KafkaException, Producer

from ouzel.connectors.kafka import CONNECTOR
from ouzel.connectors.kafka.client import PRODUCER, PRODUCER_FIXED, Failure, open_client, refuse_unreachable
from ouzel.connectors.kafka.encoding import RecordEncoder
from ouzel.connectors.kafka.progress import ProgressTopic
from ouzel.connectors.options import TableOptions
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError

_DEFAULTS = {**PRODUCER, "transaction.timeout.ms": 300_000}
"""A transaction that its producer has left behind is open for so long if nobody takes over."""

_LOOK_S = 5.0

_PASSING = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._MSG_TIMED_OUT,
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._TRANSPORT,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.CONCURRENT_TRANSACTIONS,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NETWORK_EXCEPTION,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.REQUEST_TIMED_OUT,
    }
)
"""What an aborted transaction may have met that another try does not meet. All else ends the task."""

_AFTERMATH = frozenset({KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, KafkaError._STATE})
"""What a transaction may meet because records of the one before were dropped: librdkafka numbers anew when this one is aborted, too."""

_AFTERMATHS_MOST = 5
"""So often in an epoch; then it is something else."""


class KafkaPublisher:
    """See writing.EpochPublisher."""

    def __init__(self, request: SinkRequest) -> None:
        options = TableOptions(CONNECTOR, request.options)
        self._table, self._options = request.table, options
        self._failure = Failure(options.text("bootstrap.servers"))
        self._records = RecordEncoder(request, options)
        self._writer = f"ouzel-{request.publisher}"
        self._progress = ProgressTopic(request.table, options, self._failure, self._writer)
        self._undelivered: list[KafkaError] = []
        self._aftermaths = 0
        self._producer: Any = None
        if not request.again:
            refuse_unreachable(self._failure.servers, options.integer("connect.timeout.ms") / 1000)
        self._progress.prepare()

    def last_published(self) -> int:
        self._producer = self._open()  # the one before is fenced with all others
        self._call(self._producer.init_transactions)
        return self._progress.last_epoch()

    def _open(self) -> Any:
        """A producer. What is fatal to it is told by what is called next, and is over with it."""
        own = {
            **PRODUCER_FIXED, "transactional.id": self._writer, "error_cb": self._note, "on_delivery": self._on_delivery,
        }  # fmt: skip
        return open_client(Producer, self._table, self._options, _DEFAULTS, own)

    def _note(self, error: KafkaError) -> None:
        if not error.fatal():
            self._failure.note(error)

    def _call(self, function: Callable[[float], None]) -> None:
        """Call a function of the producer's transactions until it is done.

        Raises:
            KafkaException: the transaction has to be aborted.
            ConnectorError: the producer can do no more.
        """
        while True:
            try:
                return function(_LOOK_S)
            except KafkaException as error:
                self._failure.raise_if_any()
                if error.args[0].txn_requires_abort():
                    raise
                if not error.args[0].retriable():
                    raise self._final(error.args[0]) from None

    def publish(self, epoch: int, frames: Iterable[pl.DataFrame]) -> None:
        self._aftermaths = 0
        while not self._try(epoch, frames):
            pass

    def _try(self, epoch: int, frames: Iterable[pl.DataFrame]) -> bool:
        """Publish in one transaction; False if it was aborted and may come again."""
        self._undelivered.clear()
        try:
            self._producer.begin_transaction()
            for frame in frames:
                self._produce_rows(frame)
            self._produce(**self._progress.record(epoch))
            self._call(self._producer.commit_transaction)
            return True
        except KafkaException as error:
            self._abort(error.args[0])
            return self._progress.last_epoch() >= epoch
        except BaseException:  # the frames cannot be had
            with suppress(KafkaException):
                self._producer.abort_transaction(_LOOK_S)
            raise

    def _produce_rows(self, frame: pl.DataFrame) -> None:
        for key, value in self._records.encode(frame):
            self._produce(self._records.topic, value, key)
        self._producer.poll(0)

    def _produce(self, topic: str, value: Any, key: Any, **more: Any) -> None:
        while True:
            try:
                return self._producer.produce(topic, value, key, **more)  # type: ignore[no-any-return]
            except BufferError:  # full: wait for the broker
                self._producer.poll(0.1)

    def _on_delivery(self, error: KafkaError | None, message: Any) -> None:
        if error and error.code() not in (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT):
            self._undelivered.append(error)

    def _abort(self, error: KafkaError) -> None:
        """Undo the transaction in which this error came, if the producer can go on.

        Raises:
            ConnectorError: it cannot, or the error will come again.
        """
        if error.fatal():
            raise self._final(error)
        try:
            self._call(self._producer.abort_transaction)
        except KafkaException as failed:
            raise self._final(failed.args[0]) from None
        self._producer.poll(0)
        cause = (
            self._undelivered[0] if self._undelivered else error
        )  # it is told of the first record, and may go by what follows
        self._aftermaths += cause.code() in _AFTERMATH
        passes = cause.code() in _PASSING or (cause.code() in _AFTERMATH and self._aftermaths <= _AFTERMATHS_MOST)
        if not passes:
            raise self._failure.sentence(cause, f"an epoch for topic '{self._records.topic}' was not taken")

    def _final(self, error: KafkaError) -> ConnectorError:
        if error.code() not in (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED):
            return self._failure.sentence(error, f"the transaction of '{self._writer}' has failed")
        return self._failure.sentence(
            error,
            f"another task has taken over from '{self._writer}', or its transaction was open for longer than 'transaction.timeout.ms'; "
            "what it had begun is not visible",
        )

    def close(self) -> None:
        self._producer = None
