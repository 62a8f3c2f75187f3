"""What holds of every plan, over all of the law's queries: no rule breaks a node, no topology loses a column or a key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ouzel.compiler.expressions import Expression, columns_of
from ouzel.compiler.plan import (
    Aggregate,
    AssignWindow,
    Filter,
    FinalAggregate,
    Node,
    PartialAggregate,
    Project,
    Scan,
    Sink,
    Union,
    Unnest,
    Watermark,
)  # fmt: skip
from ouzel.compiler.plan.aggregates import accumulator_schema
from ouzel.planner.build import plan_topology
from ouzel.planner.packing import pack
from ouzel.planner.rules import RULES
from ouzel.planner.rules.dag import Dag
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Component, GroupingKind, Topology
from tests.law.cases import CASES, Case, compiled

every_case = pytest.mark.parametrize("case", CASES, ids=str)


def reads(node: Node) -> Iterator[str]:
    """Names that the node expects of its input."""
    expressions: tuple[Expression, ...] = ()
    match node:
        case Project(items=items):
            expressions = tuple(value for _, value in items)
        case Filter(predicate=expression) | Unnest(array=expression):
            expressions = (expression,)
        case Watermark(column=column, expression=expression):
            expressions = (expression,)
            yield column
        case AssignWindow(column=column):
            yield column
        case Aggregate(keys=keys, calls=calls) | PartialAggregate(aggregate=Aggregate(keys=keys, calls=calls)):
            yield from keys
            yield from (name for call in calls for name in (call.argument, call.filter) if name)
        case FinalAggregate(aggregate=merged):
            yield from accumulator_schema(merged).names
    yield from (name for expression in expressions for name in columns_of(expression))


def check_nodes(dag: Dag) -> None:
    for node in dag.nodes():
        names = node.inputs[0].schema.names if node.inputs else ()
        assert set(reads(node)) <= set(names), node.label
        assert len(set(node.schema.names)) == len(node.schema) > 0
        if isinstance(node, Scan) and node.predicate is not None:
            assert columns_of(node.predicate) <= set(node.schema.names)
        if isinstance(node, Union):
            kinds = {tuple(field.type for field in branch.schema) for branch in node.branches}
            assert len(kinds) == 1


@every_case
def test_every_rule_leaves_a_plan_whole(case: Case) -> None:
    program = compiled(case)
    dag = Dag(program.sinks, frozenset({"file"}), program.hints)
    for rule in RULES:
        after = rule(dag)
        check_nodes(after)
        for old, new in zip(dag.sinks, after.sinks, strict=True):
            assert [(field.name, field.type) for field in new.input.schema] == [
                (field.name, field.type) for field in old.input.schema
            ]
            assert new.input.retracts == old.input.retracts
            assert replace(new, input=old.input) == old
        dag = after


def check_inputs(component: Component, topology: Topology) -> None:
    head = component.chain[0]
    for link in component.inputs:
        (output,) = (one for one in topology.component(link.component).outputs if one.stream == link.stream)
        assert output.schema.names == head.inputs[link.port].schema.names
        assert set(link.grouping.fields) <= set(output.schema.names)
        if isinstance(head, Aggregate | FinalAggregate):
            aggregate = head if isinstance(head, Aggregate) else head.aggregate
            allowed = {GroupingKind.FIELDS, GroupingKind.GLOBAL} if aggregate.keys else {GroupingKind.GLOBAL}
            assert link.grouping.kind in allowed
            assert set(link.grouping.fields) <= set(aggregate.keys)
    pairs = [(link.component, link.stream) for link in component.inputs]
    assert len(set(pairs)) == len(pairs), "a component reads a stream once"


@every_case
def test_every_topology_is_whole(case: Case) -> None:
    topology = plan_topology(compiled(case), Settings(parallelism=3), case.name, frozenset({"file"}))
    for component in topology.components:
        check_inputs(component, topology)
        assert component.is_spout == isinstance(component.chain[0], Scan)
        assert all(not isinstance(node, Scan) for node in component.chain[1:])
        for place, node in enumerate(component.chain[1:], 1):
            assert any(node.inputs[0] is below for below in component.chain[:place]), "after the one that it reads"
        written = {id(component.chain[output.place]) for output in component.outputs}
        read = {id(below) for node in component.chain for below in node.inputs}
        assert all(id(node) in written | read or isinstance(node, Sink) for node in component.chain), (
            "rows go somewhere"
        )
        assert all(not isinstance(node, Sink | Union) for node in component.chain[:-1])
    assert len({component.name for component in topology.components}) == len(topology.components)
    assert {task.id for container in pack(topology).containers for task in container.tasks} == {
        task.id for task in topology.tasks()
    }
