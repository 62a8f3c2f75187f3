"""Cutting the DAG into components: stateless nodes stay with what they read, the rest starts a component of its own.

A node that several read lets its component branch: what its readers do without moving rows is done before anything is sent.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from ouzel.compiler.plan import Node, streamed_inputs
from ouzel.planner.fusion import starts_component
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.separate_twin_branches import flat_branches
from ouzel.planner.topology import DEFAULT_STREAM


class Read(NamedTuple):
    """A stream that a part reads: the part that writes it, the stream, and which of the first node's inputs its rows are."""

    part: str
    stream: str
    port: int


@dataclass(frozen=True)
class Part:
    """A component to be: its name, its nodes, each after the one that it reads, what it reads, and the streams that it writes.

    `streams` are (name, the place of the node in the chain whose rows they are).
    """

    name: str
    chain: tuple[Node, ...]
    reads: tuple[Read, ...]
    streams: tuple[tuple[str, int], ...]

    @property
    def head(self) -> Node:
        """The first node: what decides the grouping."""
        return self.chain[0]

    @property
    def table(self) -> str | None:
        """The table it reads or writes, if that is what it is there for."""
        return self.head.reads_table or self.head.writes_table or None


def cut_components(dag: Dag) -> tuple[Part, ...]:
    """The parts, each after those it reads. A Union is in none: its reader has several inputs."""
    chains = _chains(dag)
    names = _names(chains)
    read = {id(leaf) for chain in chains for leaf, _ in _leaves(chain[0])}
    streams = [tuple(_streams(chain, read)) for chain in chains]
    writer = {
        id(chain[place]): (name, stream)
        for name, chain, written in zip(names, chains, streams, strict=True)
        for stream, place in written
    }
    return tuple(
        Part(name, tuple(chain), tuple(Read(*writer[id(leaf)], port) for leaf, port in _leaves(chain[0])), written)
        for name, chain, written in zip(names, chains, streams, strict=True)
    )


def keep_sinks(parts: Sequence[Part], hinted: Set[str], tasks_of: Callable[[Part], int]) -> tuple[Part, ...]:
    """The parts, with each sink in the part that makes its rows if that has one task: as a task of its own it would cost a hop.

    Such a task reads what is sent to it, so it is sent again what it has not flushed, and hands it on under the same id: with a spout
    the sink would read again what it has written. Rows that others read too are sent, and a sink that a hint names is apart, as asked:
    then it writes while what makes its rows goes on, and each may die without the other.
    """
    makers = {part.name: part for part in parts}
    readers = Counter(read.part for part in parts for read in part.reads)
    kept: dict[str, Part] = {}
    for part in parts:
        maker = makers[part.reads[0].part] if part.head.writes_table and len(part.reads) == 1 else None
        if (
            maker is not None
            and maker.reads
            and readers[maker.name] == 1
            and not hinted & {part.name, part.table}
            and tasks_of(maker) == 1
        ):
            kept[maker.name] = replace(maker, chain=(*maker.chain, *part.chain), streams=())
        else:
            kept[part.name] = part
    return tuple(kept.values())


def _streams(chain: Sequence[Node], read: Set[int]) -> Iterator[tuple[str, int]]:
    """The streams of a part: the default one, unless its chain branches; each branch is named after its last node."""
    places = [place for place, node in enumerate(chain) if id(node) in read]
    names: list[str] = []
    for place in places:
        kind = type(chain[place]).__name__.lower()
        names.append(f"{kind}_{sum(name.startswith(kind) for name in names) + 1}")
    yield from zip(names if len(places) > 1 else [DEFAULT_STREAM] * len(places), places, strict=True)


def _chains(dag: Dag) -> list[list[Node]]:
    shared, chains, chain_of = dag.find_shared(), list[list[Node]](), dict[int, list[Node]]()
    for node in dag.streams():
        if node.merges_streams:
            continue
        if starts_component(node, shared, dag):
            chains.append(chain_of.setdefault(id(node), []))
        else:
            chain_of[id(node)] = chain_of[id(streamed_inputs(node)[0])]
        chain_of[id(node)].append(node)
    return chains


def _leaves(head: Node) -> Iterator[tuple[Node, int]]:
    for port, upstream in enumerate(streamed_inputs(head)):
        yield from ((leaf, port) for leaf in flat_branches(upstream))


def _names(chains: Iterable[list[Node]]) -> list[str]:
    names: list[str] = []
    for chain in chains:
        wanted = _choose_name(chain)
        free = (name for name in _alternatives(wanted, chain[0]) if name not in names)
        names.append(next(free))
    return names


def _alternatives(wanted: str, head: Node) -> Iterable[str]:
    yield wanted
    if head.writes_table:
        yield f"sink_{wanted}"
    base = wanted.removesuffix("_1")
    yield from (f"{base}_{number}" for number in itertools.count(2))


def _choose_name(chain: list[Node]) -> str:
    if chain[0].component_name:
        return chain[0].component_name
    kinds = [type(node).__name__.lower() for node in chain if not node.writes_table]
    return f"{kinds[-1]}_1"
