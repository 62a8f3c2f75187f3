"""The topic in which publishers note, each in the transaction of its rows, the newest epoch that is visible.

It has one partition and is compacted: of each transactional id the last record counts. Offsets of a consumer group could be committed in
the transaction instead, without such a topic. But the offsets of a group that commits nothing are forgotten after a week
(`offsets.retention.minutes`), and those of a topic with the topic.
"""

from __future__ import annotations

import json
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec, ResourceType

from ouzel.connectors.kafka.client import FINAL, Failure, open_client, patiently, topics_of
from ouzel.connectors.options import TableOptions
from ouzel.errors import ConnectorError

_LOOK_S, _MESSAGES = 1.0, 10_000
_SETTINGS = {
    "cleanup.policy": "compact",
    "segment.bytes": str(16 << 20),  # only what is not the newest segment is compacted
    "min.cleanable.dirty.ratio": "0.1",
}
_READS = {"group.id": "ouzel-epochs"}
_READS_FIXED = {"enable.auto.commit": False, "enable.partition.eof": True, "isolation.level": "read_committed"}


class ProgressTopic:
    """What stands there of one transactional id."""

    def __init__(self, table: str, options: TableOptions, failure: Failure, writer: str) -> None:
        self.name, self._writer = options.text("epochs.topic"), writer
        self._table, self._options, self._failure = table, options, failure
        self._timeout_s = options.integer("connect.timeout.ms") / 1000
        self._admin: AdminClient = open_client(AdminClient, table, options, {}, {"error_cb": failure.note})

    def prepare(self) -> None:
        """Make the topic if it is not there.

        Raises:
            ConnectorError: it cannot be made, or is not as it should be.
        """
        found = topics_of(self._admin, self._failure, self._timeout_s).get(self.name)
        if found is None:
            self._make()
            return
        if (count := len(found.partitions)) != 1:
            raise ConnectorError(
                f"table '{self._table}': the topic '{self.name}' of epochs must have 1 partition, and has {count}; "
                "name another in 'epochs.topic', which is made if it is not there"
            )
        self._check_compacted()

    def _make(self) -> None:
        made = self._admin.create_topics([NewTopic(self.name, 1, config=_SETTINGS)])
        try:
            made[self.name].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise self._failure.sentence(
                    error.args[0], f"the topic '{self.name}' of epochs cannot be made"
                ) from None

    def _check_compacted(self) -> None:
        """See that no record is deleted for its age. Who may not ask is trusted."""
        resource = ConfigResource(ResourceType.TOPIC, self.name)
        try:
            policy = self._admin.describe_configs([resource])[resource].result()["cleanup.policy"].value
        except KafkaException:
            return
        if policy != "compact":
            raise ConnectorError(
                f"table '{self._table}': the topic '{self.name}' of epochs has 'cleanup.policy' = '{policy}', by which they are deleted; "
                "set it to 'compact', or name another topic in 'epochs.topic'"
            )

    def record(self, epoch: int) -> dict[str, Any]:
        """What is produced to note an epoch: arguments of `produce`."""
        return {"topic": self.name, "partition": 0, "key": self._writer, "value": json.dumps({"epoch": epoch})}

    def last_epoch(self) -> int:
        """The newest epoch that is noted; 0 if none is. Whoever has fenced others reads what is there for good.

        Up to the end as it is now, however long other tasks' transactions before it stay open.

        Raises:
            ConnectorError: the topic cannot be read.
        """
        end = patiently(self._end, self._failure, f"topic '{self.name}'", float("inf"))
        consumer: Consumer = open_client(
            Consumer, self._table, self._options, _READS, {**_READS_FIXED, "error_cb": self._failure.note}
        )
        try:
            consumer.assign([TopicPartition(self.name, 0, 0)])
            return self._read(consumer, end)
        finally:
            consumer.close()

    def _end(self, left_s: float) -> int:
        asked = TopicPartition(self.name, 0)
        found = self._admin.list_offsets({asked: OffsetSpec.latest()}, isolation_level=IsolationLevel.READ_UNCOMMITTED)
        return int(found[asked].result().offset)

    def _read(self, consumer: Consumer, end: int) -> int:
        epoch = at = 0
        while at < end:
            first = consumer.poll(_LOOK_S)
            for message in [first, *consumer.consume(_MESSAGES, 0)] if first else ():
                at = max(at, self._place(message))
                if message.error() is None and message.key() == self._writer.encode():
                    epoch = int(json.loads(message.value())["epoch"])
            self._failure.raise_if_any()
        return epoch

    def _place(self, message: Any) -> int:
        """Up to where the partition has been read."""
        error = message.error()
        if error is None:
            return int(message.offset()) + 1
        if error.code() == KafkaError._PARTITION_EOF:
            return int(message.offset())
        if error.fatal() or error.code() in FINAL:
            raise self._failure.sentence(error, f"topic '{self.name}'")
        return 0
