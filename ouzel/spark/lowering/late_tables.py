"""LATE INTO in Structured Streaming: a statement's answer and its late rows as one frame of one streaming query.

Two queries would have two watermarks, and each would call other rows late. In one query the answer lacks what the other table has, and a
micro-batch that comes again brings both again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ouzel.compiler.expressions import Column, Literal
from ouzel.compiler.plan import Node, Project, Sink, Union, walk
from ouzel.compiler.types import INT
from ouzel.planner.rules.dag import Dag
from ouzel.spark.lowering.streaming_nodes import BRANCH, of_branch


def statements(sinks: Sequence[Sink]) -> Iterator[tuple[Sink, ...]]:
    """The sink of each statement, with that of its late rows."""
    late = {id(dropper): sink for sink in sinks for dropper in _droppers(sink)}
    beside = {id(sink) for sink in late.values()}
    for sink in sinks:
        if id(sink) not in beside:
            own = {id(late[id(node)]): late[id(node)] for node in walk(sink) if id(node) in late}
            yield (sink, *own.values())


def _droppers(sink: Sink) -> Iterator[Node]:
    """The nodes whose late rows a sink takes."""
    return (node.inputs[0] for node in walk(sink) if node.reads_late)


def together(dag: Dag) -> Dag:
    """The two sinks as one. A row is of the sink whose place among them BRANCH has; the columns of the other one are NULL in it."""
    columns = [(place, field.name, field.type) for place, sink in enumerate(dag.sinks) for field in sink.input.schema]
    branches = tuple(
        Project(
            sink.input,
            (
                (BRANCH, Literal(INT, place)),
                *(
                    (of_branch(of, name), Column(kind, name) if of == place else Literal(kind, None))
                    for of, name, kind in columns
                ),
            ),
        )
        for place, sink in enumerate(dag.sinks)
    )
    return replace(dag, sinks=(replace(dag.sinks[0], input=Union(branches)),))


def given_names(sink: Sink, place: int) -> Mapping[str, str]:
    """What `together` calls the columns of the sink at that place -> what the sink calls them."""
    return {of_branch(place, name): name for name in sink.input.schema.names}
