"""Sources and sinks: the table of connectors. A new one is a file (or folder) with a `CONNECTOR` row, and its line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ouzel.connectors.base import Connector, SinkRequest, SinkWriter, Source, SourceRequest
from ouzel.connectors.blackhole import CONNECTOR as BLACKHOLE
from ouzel.connectors.datagen import CONNECTOR as DATAGEN
from ouzel.connectors.file import CONNECTOR as FILE
from ouzel.connectors.kafka import CONNECTOR as KAFKA
from ouzel.connectors.memory import CONNECTOR as MEMORY
from ouzel.connectors.nexmark import CONNECTOR as NEXMARK
from ouzel.connectors.options import check_options
from ouzel.connectors.print import CONNECTOR as PRINT
from ouzel.connectors.result import CONNECTOR as RESULT
from ouzel.errors import ConnectorError

__all__ = ["CONNECTORS", "check_options", "open_sink", "open_source"]

CONNECTORS: dict[str, Connector] = {
    connector.name: connector for connector in (FILE, KAFKA, DATAGEN, NEXMARK, PRINT, BLACKHOLE, MEMORY, RESULT)
}


def open_source(connector: str, request: SourceRequest) -> Source:
    """Open a table for reading.

    Raises:
        ConnectorError: it refuses, cannot be read at all, or lacks its pip extra.
    """
    row = CONNECTORS[connector]
    if row.source is None:
        raise ConnectorError(f"the connector '{connector}' of table '{request.table}' cannot be read")
    source: Source = _load(row, row.source)(request)
    return source


def open_sink(connector: str, request: SinkRequest) -> SinkWriter:
    """Open a table for writing.

    Raises:
        ConnectorError: it refuses, cannot be written at all, or lacks its pip extra.
    """
    row = CONNECTORS[connector]
    if row.sink is None:
        raise ConnectorError(f"the connector '{connector}' of table '{request.table}' cannot be written")
    writer: SinkWriter = _load(row, row.sink)(request)
    return writer


def _load(row: Connector, path: str) -> Any:
    module, _, function = path.partition(":")
    try:
        return getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        if not row.extra or (error.name or "").startswith("ouzel"):
            raise
        raise ConnectorError(
            f"the connector '{row.name}' needs the package '{error.name}'; install it with: pip install \"ouzel[{row.extra}]\""
        ) from None
