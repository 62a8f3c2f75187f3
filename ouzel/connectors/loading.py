"""What a connector's row names by import path is imported when it is first used, and with it the packages that the connector needs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from ouzel.connectors.base import Connector
from ouzel.errors import ConnectorError


def load_part(row: Connector, path: str) -> Callable[..., Any]:
    """What an import path in a connector's row names.

    Raises:
        ConnectorError: a package is not installed that the connector needs.
    """
    module, _, function = path.partition(":")
    try:
        loaded: Callable[..., Any] = getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        if not row.extra or (error.name or "").startswith("ouzel"):
            raise
        raise ConnectorError(
            f"the connector '{row.name}' needs the package '{error.name}'; install it with: pip install \"ouzel[{row.extra}]\""
        ) from None
    return loaded
