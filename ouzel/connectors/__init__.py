"""Sources and sinks: the table of connectors. A new one is a file (or folder) with a `CONNECTOR` row, and its line here.

Other packages offer theirs as entry points of the group `ouzel.connectors`, whose names are what 'connector' = says.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from ouzel.connectors.base import Connector, Reads, Writes
from ouzel.connectors.blackhole import CONNECTOR as BLACKHOLE
from ouzel.connectors.datagen import CONNECTOR as DATAGEN
from ouzel.connectors.delta import CONNECTOR as DELTA
from ouzel.connectors.file import CONNECTOR as FILE
from ouzel.connectors.hybrid import CONNECTOR as HYBRID
from ouzel.connectors.iceberg import CONNECTOR as ICEBERG
from ouzel.connectors.kafka import CONNECTOR as KAFKA
from ouzel.connectors.kestrel import CONNECTOR as KESTREL
from ouzel.connectors.keyed import KeyedRequest, KeyedRows
from ouzel.connectors.loading import load_part
from ouzel.connectors.memory import CONNECTOR as MEMORY
from ouzel.connectors.nexmark import CONNECTOR as NEXMARK
from ouzel.connectors.options import check_options
from ouzel.connectors.postgres import CONNECTOR as POSTGRES
from ouzel.connectors.print import CONNECTOR as PRINT
from ouzel.connectors.reading import Source, SourceRequest
from ouzel.connectors.redis import CONNECTOR as REDIS
from ouzel.connectors.redis.table import CONNECTOR as REDIS_TABLE
from ouzel.connectors.result import CONNECTOR as RESULT
from ouzel.connectors.values import CONNECTOR as VALUES
from ouzel.connectors.writing import EpochPublisher, SinkRequest, SinkWriter
from ouzel.errors import ConnectorError

__all__ = [
    "BUILT_IN",
    "CONNECTORS",
    "check_options",
    "load_function",
    "open_keyed",
    "open_sink",
    "open_source",
    "reads_of",
    "writes_of",
]

GROUP = "ouzel.connectors"
"""Entry points of other packages."""


class Connectors(dict[str, Connector]):
    """Connectors by name: our own, and those of other packages once they are asked for by name, as looking for them takes a while."""

    def __missing__(self, name: str) -> Connector:
        for point in entry_points(group=GROUP, name=name):
            row: Connector = point.load()
            self[name] = row
            return row
        raise KeyError(name)


CONNECTORS = Connectors(
    {
        connector.name: connector
        for connector in (
            FILE,
            DELTA,
            ICEBERG,
            KAFKA,
            KESTREL,
            REDIS,
            POSTGRES,
            REDIS_TABLE,
            DATAGEN,
            NEXMARK,
            PRINT,
            BLACKHOLE,
            MEMORY,
            VALUES,
            HYBRID,
            RESULT,
        )
    }
)


BUILT_IN = frozenset(CONNECTORS)
"""Names of the connectors of this package."""


def reads_of(connector: str, table: str) -> Reads:
    """How a connector's tables are read.

    Raises:
        ConnectorError: there is no such connector here, or it cannot be read.
    """
    reads = _row(connector, table).reads
    if reads is None:
        raise ConnectorError(f"the connector '{connector}' of table '{table}' cannot be read")
    return reads


def writes_of(connector: str, table: str) -> Writes:
    """How a connector's tables are written.

    Raises:
        ConnectorError: there is no such connector here, or it cannot be written.
    """
    writes = _row(connector, table).writes
    if writes is None:
        raise ConnectorError(f"the connector '{connector}' of table '{table}' cannot be written")
    return writes


def _row(connector: str, table: str) -> Connector:
    try:
        return CONNECTORS[connector]
    except KeyError:
        raise ConnectorError(
            f"there is no connector '{connector}' in this process, which table '{table}' needs; install the package that has it"
        ) from None


def open_source(connector: str, request: SourceRequest) -> Source:
    """Open a table for reading.

    Raises:
        ConnectorError: it refuses, cannot be read at all, or lacks its pip extra.
    """
    source: Source = load_function(connector, reads_of(connector, request.table).source)(request)
    return source


def open_sink(connector: str, request: SinkRequest) -> SinkWriter:
    """Open a table for writing.

    Raises:
        ConnectorError: it refuses, cannot be written at all, or lacks its pip extra.
    """
    writer: SinkWriter = load_function(connector, writes_of(connector, request.table).sink)(request)
    return writer


def open_publisher(connector: str, request: SinkRequest) -> EpochPublisher:
    """Open a table for writing whole epochs.

    Raises:
        ConnectorError: it refuses, cannot make rows visible effectively once, or lacks its pip extra.
    """
    path = writes_of(connector, request.table).publisher
    if not path:
        raise ConnectorError(
            f"the connector '{connector}' of table '{request.table}' cannot be written effectively once"
        )
    publisher: EpochPublisher = load_function(connector, path)(request)
    return publisher


def open_keyed(connector: str, request: KeyedRequest) -> KeyedRows:
    """Open a table whose rows are found by key.

    Raises:
        ConnectorError: it refuses, keeps no rows by key, or lacks its pip extra.
    """
    path = _row(connector, request.table).keyed
    if not path:
        raise ConnectorError(
            f"the connector '{connector}' of table '{request.table}' keeps no rows that are found by key"
        )
    table: KeyedRows = load_function(connector, path)(request)
    return table


def load_function(connector: str, path: str) -> Callable[..., Any]:
    """What an import path in a connector's row names.

    Raises:
        ConnectorError: a package is not installed that the connector needs.
    """
    return load_part(CONNECTORS[connector], path)
