"""What an object in Python answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ouzel.compiler.expressions import Expression
from ouzel.compiler.plan.base import Leaf, Names
from ouzel.compiler.plan.rows import Changelog, RowRole
from ouzel.compiler.records import RecordType
from ouzel.compiler.types import Field, Schema


@dataclass(frozen=True)
class Served(Leaf):
    """Pairs of a key and what a service of the user's has for it, which can only be asked for.

    `service` has `get_many(keys)`, which gives a mapping of those keys that it knows; `called` and `place` are for messages.
    """

    called: str
    pair: RecordType
    names: tuple[str, str]
    service: Any = field(compare=False, repr=False)
    id: str
    place: str = field(default="", compare=False)

    @property
    def schema(self) -> Schema:
        kinds = (column.type for column in self.pair.columns)
        return Schema(tuple(Field(name, kind) for name, kind in zip(self.names, kinds, strict=True)))

    def passes(self, predicate: Expression) -> tuple[Expression | None, ...] | None:
        return None

    role = RowRole.SINGLE
    is_rowwise = False
    calls_python = True
    time_column = None
    changelog = Changelog.APPEND

    @property
    def unique_keys(self) -> frozenset[Names]:
        return frozenset({frozenset({self.names[0]})})

    state_bound = ""
    component_name = ""

    @property
    def label(self) -> str:
        return f"Served by {self.called}"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.id, str(self.pair))

    def definition(self, column: str) -> tuple[object, ...]:
        return (self.id, self.names.index(column))
