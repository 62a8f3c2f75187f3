"""Which topics a run has read, by id; Kafka is asked only where a query reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ouzel.compiler.plan import Scan
from ouzel.connectors import load_function, reads_of
from ouzel.spark.io.bounds import Ranges


def ids_of(scans: Iterable[Scan], ranges: Ranges) -> dict[str, Mapping[str, str]]:
    """Table -> topic -> id, of the topics whose partitions are in these ranges."""
    found: dict[str, Mapping[str, str]] = {}
    for scan in scans:
        identity, partitions = reads_of(scan.connector, scan.table).identity, ranges.get(scan.table, {})
        if identity and partitions:
            found[scan.table] = load_function(scan.connector, identity)(dict(scan.options), partitions)
    return found


def find_recreated(known: Mapping[str, Mapping[str, str]], now: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The topics that have been created again since: their ids have changed."""
    pairs = [
        (topic, number, now.get(table, {}).get(topic)) for table, ids in known.items() for topic, number in ids.items()
    ]
    return [topic for topic, number, other in pairs if other not in (None, number)]
