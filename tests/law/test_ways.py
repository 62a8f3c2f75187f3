"""docs/batch.md says how Structured Streaming computes each class of nodes: so it is in the plans of the law's cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ouzel.compiler import plan
from ouzel.compiler.plan import Node, Program
from ouzel.compiler.plan.tables import node_classes
from ouzel.planner.rules.keep_first_rows import keep_first_rows
from ouzel.session import load_text
from ouzel.spark.lowering.batch_plan import batch_plan
from ouzel.spark.lowering.late_tables import together
from ouzel.spark.lowering.state_nodes import InState, InTasks
from ouzel.spark.lowering.state_plan import Way, ways_of, with_our_operators
from ouzel.spark.lowering.streaming import streaming_queries
from ouzel.spark.lowering.streaming_plan import with_side_tables
from tests.law.cases import CASES
from tests.law.engines import loaded
from tests.law.test_late_tables import DROPPING, late_program

Taken = set[tuple[type[Node], Way]]

NOT_OF_THE_LAW: Taken = {
    (plan.ApplyPython, Way.OWN),  # programs in Python: tests/dsl/test_platforms.py
    (plan.ApplyPython, Way.IN_STATE),
    (plan.SideJoin, Way.IN_TASKS),  # tests/connectors/test_redis_table.py
    (plan.LateRows, Way.IN_STATE),  # test_late_tables.py
}
MADE_BY_THE_PLANNER = (plan.PartialAggregate, plan.FinalAggregate)
SAMPLE = (
    "unnest_then_group", "emit_after_watermark", "changelog_grouped", "asof_join", "session_by_key", "join_windows",
    "changes_told_now_and_then", "elements_exist", "join_inner", "changelog_joined", "ttl_of_groups", "intersect_and_except",
    "side_join_then_window", "upserts_rows", "union_then_group",
)  # fmt: skip
"""Cases that together have every construct in every way."""


def ways_in(program: Program, name: str) -> Taken:
    """How each node of a program is computed in Structured Streaming."""
    (query,) = streaming_queries(program, Path("/data"), name)
    dag = with_side_tables(batch_plan(program))
    if query.ours:
        dag = with_our_operators(keep_first_rows(together(dag) if query.late else dag))
    return {way_of(node) for node in dag.nodes()}


def way_of(node: Node) -> tuple[type[Node], Way]:
    """Its class, and how it is computed."""
    if isinstance(node, InTasks):
        return type(node.operator), Way.IN_TASKS
    if isinstance(node, InState):
        return type(node.gives), Way.IN_STATE
    kinds = (kind for kind in type(node).__mro__ if kind.__module__.startswith(plan.__name__))
    return next(kinds), Way.OWN  # a table as Spark reads it is a table


def ways_said() -> Iterator[tuple[type[Node], Way]]:
    """What docs/batch.md says."""
    for kind in node_classes():
        if kind.__module__.startswith(plan.__name__) and kind not in MADE_BY_THE_PLANNER:
            yield from ((kind, way) for way in ways_of(kind))


def test_a_few_cases_of_the_law_have_every_construct_in_every_way_that_the_page_says(inputs: Path) -> None:
    cases = [case for case in CASES if case.name in SAMPLE]
    assert len(cases) == len(SAMPLE)
    taken = set[tuple[type[Node], Way]]().union(
        *(ways_in(loaded(case, inputs, ()).program, case.name) for case in cases)
    )
    assert taken == set(ways_said()) - NOT_OF_THE_LAW


@pytest.mark.slow
def test_no_case_of_the_law_has_one_in_another_way(inputs: Path) -> None:
    said = set(ways_said())
    for case in CASES:
        assert ways_in(loaded(case, inputs, ()).program, case.name) <= said, case.name


@pytest.mark.parametrize("name", DROPPING)
def test_late_rows_are_those_of_our_operator(name: str, inputs: Path) -> None:
    taken = ways_in(load_text(late_program(name), inputs, name).program, name)
    assert (plan.LateRows, Way.IN_STATE) in taken
    assert taken <= set(ways_said())
