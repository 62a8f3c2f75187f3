"""The DAG that rules rewrite. A node that several readers share stays one node: a rule never computes a view twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from typing import cast

from ouzel.compiler.plan import Hints, Node, Sink, streamed_inputs


@dataclass(frozen=True)
class Dag:
    """What rules take and give: sinks, the connectors whose sources apply a predicate, and the query's hints.

    With `tells_late` somebody wants to see the rows that come too late, as they are.
    """

    sinks: tuple[Sink, ...]
    filters: frozenset[str] = frozenset()
    hints: Hints = Hints()
    tells_late: bool = False

    def nodes(self) -> Iterator[Node]:
        """Every node once, inputs before their readers, in a stable order."""
        seen: set[int] = set()
        for sink in self.sinks:
            yield from _inputs_first(sink, seen, lambda node: node.inputs)

    def streams(self) -> Iterator[Node]:
        """As `nodes`, without those whose rows reach no other by a stream, as each task that needs them reads them for itself."""
        seen: set[int] = set()
        for sink in self.sinks:
            yield from _inputs_first(sink, seen, streamed_inputs)

    def find_shared(self) -> frozenset[int]:
        """The `id()` of every node that is read more than once."""
        reads = [id(upstream) for node in self.nodes() for upstream in node.inputs]
        return frozenset(key for key in reads if reads.count(key) > 1)

    def rebuilt(self, make: Callable[[Node, tuple[Node, ...]], Node]) -> Dag:
        """The DAG with each node replaced by `make(node, its new inputs)`, inputs first, each node once."""
        made: dict[int, Node] = {}
        for node in self.nodes():
            made[id(node)] = make(node, tuple(made[id(upstream)] for upstream in node.inputs))
        return replace(self, sinks=tuple(cast(Sink, made[id(sink)]) for sink in self.sinks))

    def rewritten(self, change: Callable[[Node, Set[int]], Node]) -> Dag:
        """The DAG with `change(node, shared)` applied to each node, inputs first.

        `node` already has its new inputs; `shared` holds the ids of those new nodes below it that have several readers.
        """
        before, shared = self.find_shared(), set[int]()

        def make(node: Node, inputs: tuple[Node, ...]) -> Node:
            changed = change(with_inputs(node, inputs), shared)
            if id(node) in before:
                shared.add(id(changed))
            return changed

        return self.rebuilt(make)


def with_inputs(node: Node, inputs: tuple[Node, ...]) -> Node:
    """The node reading these inputs; the node itself when they are what it reads already."""
    if all(new is old for new, old in zip(inputs, node.inputs, strict=True)):
        return node
    return node.with_inputs(inputs)


def _inputs_first(node: Node, seen: set[int], below: Callable[[Node], tuple[Node, ...]]) -> Iterator[Node]:
    if id(node) in seen:
        return
    seen.add(id(node))
    for upstream in below(node):
        yield from _inputs_first(upstream, seen, below)
    yield node
