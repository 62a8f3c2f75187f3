"""What the compiler needs to know of connectors, without importing one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ouzel.compiler.types import DataType


@dataclass(frozen=True)
class ConnectorTraits:
    """One connector as the compiler sees it.

    Args:
        name: what 'connector' = says.
        readable: a table of it can be read.
        writable: a table of it can be written.
        modes: what its sink accepts: append, upsert, retract.
        filters: its source applies a pushed-down predicate.
        metadata: metadata keys a table may ask for, with their types.
        check: called with the WITH options, without 'connector'; raises QueryError for an unknown, missing or wrong one.
    """

    name: str
    readable: bool = True
    writable: bool = False
    modes: tuple[str, ...] = ("append",)
    filters: bool = False
    metadata: Mapping[str, DataType] = field(default_factory=dict)
    check: Callable[[Mapping[str, str]], None] | None = None
