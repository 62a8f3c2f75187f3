"""Set operations."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.compiler.plan.base import Node
from ouzel.compiler.types import Schema


@dataclass(frozen=True)
class Union(Node):
    """UNION ALL: columns by position, names of the first input; the binder has cast both sides to one type."""

    branches: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.branches

    @property
    def schema(self) -> Schema:
        return self.branches[0].schema

    @property
    def time_column(self) -> str | None:
        names = {branch.time_column for branch in self.branches}
        return names.pop() if len(names) == 1 else None
