"""The identity of topics: one that was deleted and created again has another id, and its offsets mean other records."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from ouzel.connectors.kafka import CONNECTOR
from ouzel.connectors.kafka.client import LOG, configuration
from ouzel.connectors.options import TableOptions
from ouzel.errors import ConnectorError

PATIENCE_S = 5.0


def topic_ids(options: Mapping[str, str], partitions: Collection[str]) -> dict[str, str]:
    """The ids of the topics of these partitions, of the cluster that a table's options name; without those that no broker tells in time."""
    topics = {partition.rpartition("-")[0] for partition in partitions}
    try:
        admin = AdminClient(configuration(TableOptions(CONNECTOR, options), {}, {}), logger=LOG)
    except (ConnectorError, KafkaException, ValueError):
        return {}
    asked = admin.describe_topics(TopicCollection(sorted(topics)), request_timeout=PATIENCE_S)
    found = {}
    for topic, answer in asked.items():
        try:
            found[topic] = str(answer.result(PATIENCE_S).topic_id)
        except (KafkaException, TimeoutError):
            continue
    return found
