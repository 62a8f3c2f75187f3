"""Where rows go."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ouzel.compiler.catalog import SinkTraits
from ouzel.compiler.plan.base import Node
from ouzel.compiler.types import Schema


class SinkMode(Enum):
    """What a sink is given: new rows only; whole rows by key with deletions; or a changelog of +1 and -1."""

    APPEND = "append"
    UPSERT = "upsert"
    RETRACT = "retract"


@dataclass(frozen=True)
class Sink(Node):
    """Write to a table through a connector; `keys` is the table's PRIMARY KEY. A trailing SELECT has the connector `result`."""

    input: Node
    table: str
    connector: str
    options: tuple[tuple[str, str], ...]
    mode: SinkMode
    keys: tuple[str, ...] = ()
    columns: Schema = Schema(())
    traits: SinkTraits = field(kw_only=True, compare=False, repr=False)

    @property
    def label(self) -> str:
        key = f" by ({', '.join(self.keys)})" if self.keys else ""
        return f"Sink {self.table} ({self.connector}, {self.mode.value}{key})"
