"""What the compiler needs to know of connectors, without importing one."""

from __future__ import annotations

import re
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
        secrets: called with the WITH options, without 'connector'; which of them hold a secret as it is.
        check: called with the WITH options, without 'connector'; raises QueryError for an unknown, missing or wrong one.
    """

    name: str
    readable: bool = True
    writable: bool = False
    modes: tuple[str, ...] = ("append",)
    filters: bool = False
    metadata: Mapping[str, DataType] = field(default_factory=dict)
    check: Callable[[Mapping[str, str]], None] | None = None
    secrets: Callable[[Mapping[str, str]], frozenset[str]] | None = None


class SecretWarning(UserWarning):
    """A secret stands in the text of a query."""


@dataclass(frozen=True)
class Secret:
    """A secret in a query's text, from `place[0]` to `place[1]`: the table and option it is the value of."""

    table: str
    option: str
    value: str = field(repr=False)
    place: tuple[int, int]

    @property
    def variable(self) -> str:
        """The environment variable that holds it while the query runs."""
        return SECRETS + re.sub(r"\W+", "_", f"{self.table}_{self.option}").upper()

    @property
    def reference(self) -> str:
        """What stands for it in plans and records."""
        return f"${{env:{self.variable}}}"


SECRETS = "OUZEL_SECRET_"
"""How the names of variables begin that hold a query's secrets."""
