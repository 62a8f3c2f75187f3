"""What every node of the plan says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ouzel.compiler.types import Schema
from ouzel.compiler.written import Written

WEIGHT = "$weight"
"""Name of the Int64 column that a retracting stream carries beside its schema."""

UNBOUNDED = "UNBOUNDED"


@dataclass(frozen=True)
class Node:
    """Base of the plan's nodes; `written` is no part of what a node means."""

    written: Written = field(default=Written(), kw_only=True, compare=False, repr=False)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes this one reads, left to right."""
        upstream = getattr(self, "input", None)
        return () if upstream is None else (upstream,)

    @property
    def schema(self) -> Schema:
        """The columns of the output, without WEIGHT."""
        return self.inputs[0].schema

    @property
    def retracts(self) -> bool:
        """Whether the output takes rows back; if so it carries WEIGHT."""
        return any(node.retracts for node in self.inputs)

    @property
    def time_column(self) -> str | None:
        """The column that the watermark speaks of, if there is one."""
        return self.inputs[0].time_column if self.inputs else None

    @property
    def state_bound(self) -> str:
        """What bounds the state kept, in words for EXPLAIN; empty for a stateless node."""
        return ""

    @property
    def label(self) -> str:
        """One line for EXPLAIN, without schema and properties."""
        return type(self).__name__

    def __str__(self) -> str:
        return "\n".join(_tree(self, 0))


def _tree(node: Node, depth: int) -> Iterator[str]:
    marks = ["retracts" if node.retracts else "appends"]
    if node.time_column:
        marks.append(f"time={node.time_column}")
    if node.state_bound:
        marks.append(f"state={node.state_bound}")
    yield f"{'  ' * depth}{node.label}  [{', '.join(marks)}]"
    yield f"{'  ' * depth}  : {node.schema}"
    for child in node.inputs:
        yield from _tree(child, depth + 1)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, once each, inputs after their readers."""
    seen: set[int] = set()
    todo = [node]
    while todo:
        node = todo.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            todo.extend(reversed(node.inputs))
