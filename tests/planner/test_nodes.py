"""What nodes say of themselves, and that every backend has an answer for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ouzel.compiler.plan import EmitRule, Node, RowWise, SameColumns, SinkMode, Unary, needed_columns
from ouzel.compiler.plan.base import Step
from ouzel.compiler.plan.tables import NodeTable, Refused, node_classes
from ouzel.compiler.types import BIGINT, INT, VARCHAR
from ouzel.errors import NotSupported, PlanError
from ouzel.planner.build import plan_topology
from ouzel.planner.rules.dag import Dag
from ouzel.planner.settings import Settings
from ouzel.reconcile.explaining.behind import WatermarkBefore
from ouzel.reconcile.explaining.exclusion import ExcludeLateRows
from ouzel.runtime.operators.build import OPERATORS
from ouzel.spark.lowering.batch_nodes import BATCH
from ouzel.spark.lowering.group_sessions import NumberedSessions
from ouzel.spark.lowering.held import Given
from ouzel.spark.lowering.streaming_nodes import STREAMING
from tests.law.cases import CASES, Case, compiled
from tests.planner.plans import column, count_by, delays_by_day, greater, program, scan, select, sink, word_count

TABLES: tuple[NodeTable[Any], ...] = (OPERATORS, BATCH, STREAMING)
LEAVES_NOTHING_OUT = {
    "its columns are those of its inputs": {"AsofJoin", "IntervalJoin", "Join", "SideJoin", "Union"},
    "it compares rows, or shows them, whole": {"LateRows", "SetOperation"},
    "it adds one column, which is asked for": {"GatherElements"},
    "its columns are few, and made together": {"AssignSession", "AssignWindow", "Unnest"},
    "it is made when columns have been left out": {"FinalAggregate", "PartialAggregate"},
    "a service answers with whole pairs": {"Served"},
}
"""Nodes that take the answer of `Step`, and why that is theirs: what they read is all that can be left out.

Of SameColumns, whose columns are those of its input, it is always theirs.
"""
PLAN = "ouzel.compiler.plan."
SPARK_STREAMS = frozenset(f"ouzel.spark.lowering.{name}" for name in ("streaming_nodes", "state_nodes", "held"))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.backend)
def test_every_node_of_the_plan_has_an_entry_or_a_reason_in_every_table(table: NodeTable[Any]) -> None:
    missing = [
        kind.__name__ for kind in node_classes() if kind.__module__.startswith(PLAN) and kind not in table.entries
    ]
    assert not missing, f"{table.backend}: add an entry, or Refused with the reason, for {missing}"


def test_nodes_outside_the_plan_are_those_of_spark_and_of_reconciliations() -> None:
    others = [
        kind for kind in node_classes() if kind.__module__.startswith("ouzel.") and not kind.__module__.startswith(PLAN)
    ]
    ours = {kind.__module__ for kind in (ExcludeLateRows, WatermarkBefore, NumberedSessions)}
    assert {kind.__module__ for kind in others} == {*SPARK_STREAMS, *ours}
    assert all((BATCH if kind.__module__ in ours else STREAMING).can_take(kind) for kind in others if kind is not Given)


def test_a_class_that_is_not_listed_is_an_error_and_a_refused_one_says_why() -> None:
    table: NodeTable[int] = NodeTable("the abacus", {RowWise: 1, Unary: Refused("it has ten fingers", "use two")})
    assert table[RowWise] == 1
    with pytest.raises(NotSupported, match="the abacus cannot take Unary: it has ten fingers; use two"):
        table[Unary]
    with pytest.raises(PlanError, match="the abacus has no entry for SameColumns"):
        table[SameColumns]


TRAITS = sorted(Node.__abstractmethods__)


@pytest.mark.parametrize("trait", TRAITS)
def test_a_node_that_leaves_a_question_open_cannot_be_made(trait: str) -> None:
    answers = {name: None for name in TRAITS if name != trait}
    silent: Callable[[], Node] = type("Silent", (Node,), answers)
    with pytest.raises(TypeError, match=trait):
        silent()
    type("Says", (Node,), answers | {trait: None})()


def test_no_family_answers_for_its_members_what_only_they_can_know() -> None:
    asked = {"needs", "passes", "identity", "label", "waits"}
    for family in (Unary, RowWise, SameColumns):
        assert asked <= family.__abstractmethods__


def test_no_node_inherits_from_another_what_a_comparison_may_conclude_of_its_rows() -> None:
    nodes = [kind for kind in node_classes() if kind.__module__.startswith(PLAN)]
    answers = {kind: next(each for each in kind.__mro__ if "role" in vars(each)) for kind in nodes}
    inherited = [kind.__name__ for kind, family in answers.items() if family is not kind and family in nodes]
    assert not inherited, f"write `role = RowRole....`: it is that of another node now: {inherited}"


def test_each_node_says_what_it_leaves_out() -> None:
    silent = {
        kind.__name__
        for kind in node_classes()
        if kind.__module__.startswith(PLAN) and kind.prune is Step.prune and not issubclass(kind, SameColumns)
    }
    assert silent == set().union(*LEAVES_NOTHING_OUT.values())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_a_node_says_holds_together(case: Case) -> None:
    for node in Dag(compiled(case).sinks).nodes():
        names, below = set(node.schema.names), [set(upstream.schema.names) for upstream in node.inputs]
        for traits in (node.needs(frozenset()), node.distribution, node.waits, node.accepts):
            assert len(traits) == len(node.inputs)
        for wanted in map(frozenset[str], zip(names)):
            assert all(needed <= known for needed, known in zip(node.needs(wanted), below, strict=True))
            check_pruned(node, wanted)
        assert all(name in names and inner in below[number] for name, (number, inner) in node.origins.items())
        assert all(key <= names for key in node.unique_keys)
        assert all(set(spread.keys) <= known for spread, known in zip(node.distribution, below, strict=True))
        assert node.time_column is None or node.time_column in names
        assert node.with_inputs(node.inputs) == node
        assert node.column_ids.keys() == names


def check_pruned(node: Node, wanted: frozenset[str]) -> None:
    """See that the node gives this of inputs that have what it says it needs, and nothing else."""
    pairs = zip(node.inputs, needed_columns(node, wanted), strict=True)
    made = node.prune(wanted, tuple(select(upstream, *_in_order(upstream, needed)) for upstream, needed in pairs))
    assert all(made.schema[name].type == node.schema[name].type for name in wanted)
    below = [set(upstream.schema.names) for upstream in made.inputs]
    needs = needed_columns(made, frozenset(made.schema.names))
    assert all(needed <= known for needed, known in zip(needs, below, strict=True))
    assert made.stable_id


def _in_order(node: Node, names: frozenset[str]) -> list[str]:
    """These columns of the node; a frame has at least one."""
    return [name for name in node.schema.names if name in names] or list(node.schema.names[:1])


def test_ids_are_the_same_for_ever() -> None:
    """These stand for state on disk. One that changes loses somebody's counts: be sure that the node computes something else now."""
    assert word_count().stable_id == "3e28c7445382b4a5da6775367e731ac4"
    assert delays_by_day().stable_id == "10431126870abb222f8d2bd99eef0564"
    assert sink(word_count(), "counts").stable_id == "e9859e05c5efc84d0231c6b1cc191403"


def test_no_alias_and_no_further_column_changes_what_an_aggregate_is() -> None:
    table = scan("t", a=VARCHAR, b=BIGINT)
    wide = scan("t", c=INT, a=VARCHAR, b=BIGINT)
    plain = count_by(select(table, "a", "b"), "a", total="b")
    renamed = count_by(select(wide, "c", key=column(wide, "a"), value=column(wide, "b")), "key", sum_of_b="value")
    assert plain.stable_id == renamed.stable_id
    assert plain.stable_id == replace(plain, calls=(replace(plain.calls[0], name="rows"), plain.calls[1])).stable_id


def test_what_computes_something_else_has_another_id() -> None:
    table = scan("t", a=VARCHAR, b=BIGINT)
    plans = [
        count_by(table, "a", total="b"),
        count_by(table, "b", total="b"),
        count_by(table, "a"),
        count_by(table, "a", total="b", rule=EmitRule.WATERMARK),
        count_by(scan("u", a=VARCHAR, b=BIGINT), "a", total="b"),
        count_by(select(table, "a", b=greater(table, "b", 1)), "a", total="b"),
        count_by(select(table, "a", b=greater(table, "b", 2)), "a", total="b"),
    ]
    assert len({node.stable_id for node in plans}) == len(plans)


def test_changes_that_a_node_cannot_read_are_refused_when_the_query_is_planned() -> None:
    wrong = replace(sink(word_count(), "t"), mode=SinkMode.APPEND)
    with pytest.raises(NotSupported, match="its input retracts rows, and it can only read one that appends them"):
        plan_topology(program(wrong), Settings(), "t")
