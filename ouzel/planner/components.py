"""Cutting the DAG into components: stateless nodes stay with what they read, the rest starts a component of its own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ouzel.compiler.plan import Aggregate, FinalAggregate, Node, PartialAggregate, Scan, Sink, Union
from ouzel.planner.rules.combine_before_shuffle import wants_partial_key
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.separate_twin_branches import flat_branches

STATEFUL = (Aggregate, FinalAggregate)
"""Nodes that need all rows of a key in one task."""


@dataclass(frozen=True)
class Part:
    """A component to be: its name, its nodes, upstream first, and the names of the parts it reads."""

    name: str
    chain: tuple[Node, ...]
    reads: tuple[str, ...]

    @property
    def head(self) -> Node:
        """The first node: what decides the grouping."""
        return self.chain[0]

    @property
    def table(self) -> str | None:
        """The table it reads or writes, if it is a spout or a sink."""
        node = self.chain[-1] if isinstance(self.chain[-1], Sink) else self.head
        return node.table if isinstance(node, Scan | Sink) else None


def cut(dag: Dag) -> tuple[Part, ...]:
    """The parts, each after those it reads. A Union is in none: its reader has several inputs."""
    chains = _chains(dag)
    names = _names(chains)
    part_of = {id(node): name for name, chain in zip(names, chains, strict=True) for node in chain}
    return tuple(
        Part(name, tuple(chain), tuple(part_of[id(leaf)] for leaf in _leaves(chain[0])))
        for name, chain in zip(names, chains, strict=True)
    )


def _chains(dag: Dag) -> list[list[Node]]:
    shared, chains, chain_of = dag.shared(), list[list[Node]](), dict[int, list[Node]]()
    for node in dag.nodes():
        if isinstance(node, Union):
            continue
        if _starts(node, shared, dag):
            chains.append(chain_of.setdefault(id(node), []))
        else:
            chain_of[id(node)] = chain_of[id(node.inputs[0])]
        chain_of[id(node)].append(node)
    return chains


def _starts(node: Node, shared: frozenset[int], dag: Dag) -> bool:
    if isinstance(node, (Scan, Sink, *STATEFUL)):
        return True
    if isinstance(node, PartialAggregate) and wants_partial_key(node, dag):
        return True
    return isinstance(node.inputs[0], Union) or id(node.inputs[0]) in shared


def _leaves(head: Node) -> tuple[Node, ...]:
    return tuple(leaf for upstream in head.inputs for leaf in flat_branches(upstream))


def _names(chains: Iterable[list[Node]]) -> list[str]:
    names: list[str] = []
    for chain in chains:
        wanted = _wanted_name(chain)
        free = (name for name in _alternatives(wanted, chain[-1]) if name not in names)
        names.append(next(free))
    return names


def _alternatives(wanted: str, last: Node) -> Iterable[str]:
    yield wanted
    if isinstance(last, Sink):
        yield f"sink_{wanted}"
    base = wanted.removesuffix("_1")
    yield from (f"{base}_{number}" for number in itertools.count(2))


def _wanted_name(chain: list[Node]) -> str:
    head, last = chain[0], chain[-1]
    if isinstance(last, Sink):
        return last.table
    if isinstance(head, Scan):
        return head.table
    if isinstance(head, PartialAggregate | FinalAggregate):
        return _aggregate_name(head.aggregate, "combine" if isinstance(head, PartialAggregate) else "")
    if isinstance(head, Aggregate):
        return _aggregate_name(head)
    return f"{type(last).__name__.lower()}_1"


def _aggregate_name(aggregate: Aggregate, verb: str = "") -> str:
    """`count_by_word`; `aggregate_by_origin` of several functions; `sum_by_window`; `count_all`."""
    functions = {call.function for call in aggregate.calls}
    verb = verb or (functions.pop() if len(functions) == 1 else "aggregate")
    window = set(aggregate.window or ())
    keys = [key for key in aggregate.keys if key not in window] or ["window"] * bool(aggregate.keys)
    return re.sub(r"\W+", "", f"{verb}_by_{'_'.join(keys)}" if keys else f"{verb}_all")
