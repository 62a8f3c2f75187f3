"""The rules that make a logical plan cheaper without changing its answer: pure functions on the DAG, each in its own file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ouzel.compiler.plan import Program
from ouzel.planner.rules.align_union_branches import align_union_branches
from ouzel.planner.rules.combine_before_shuffle import combine_before_shuffle
from ouzel.planner.rules.cut_batches_short import cut_batches_short
from ouzel.planner.rules.dag import Dag
from ouzel.planner.rules.distribute_over_unions import distribute_over_unions
from ouzel.planner.rules.drop_unused_watermarks import drop_unused_watermarks
from ouzel.planner.rules.fold_constants import fold_constants
from ouzel.planner.rules.fuse_projections import fuse_projections
from ouzel.planner.rules.fuse_python_steps import fuse_python_steps
from ouzel.planner.rules.keep_first_rows import keep_first_rows
from ouzel.planner.rules.leave_out_unasked_values import leave_out_unasked_values
from ouzel.planner.rules.order_joins import order_joins
from ouzel.planner.rules.prune_columns import prune_columns
from ouzel.planner.rules.push_filters_to_sources import push_filters_to_sources
from ouzel.planner.rules.remove_trivial_projects import remove_trivial_projects
from ouzel.planner.rules.separate_twin_branches import separate_twin_branches
from ouzel.planner.rules.share_equal_plans import share_equal_plans
from ouzel.planner.rules.share_panes import share_panes

Rule = Callable[[Dag], Dag]

SHARED_RULES: tuple[Rule, ...] = (leave_out_unasked_values, share_equal_plans)
"""What both the topology and the batch job are made by, before anything else."""

RULES: tuple[Rule, ...] = (
    fold_constants,  # before filters come down: a source compares with constants alone
    drop_unused_watermarks,
    align_union_branches,  # by name from here on
    order_joins,  # before filters come down into them
    push_filters_to_sources,
    keep_first_rows,  # of a filter that has come down to what it filters by
    distribute_over_unions,
    prune_columns,  # after the filters: what only a lower filter reads need not go further up
    fuse_projections,
    remove_trivial_projects,
    fuse_python_steps,  # with no such project between two steps
    combine_before_shuffle,  # partial aggregates before a fields grouping
    cut_batches_short,
    share_panes,  # of partial aggregates
    separate_twin_branches,  # last: others would remove its projections
)
"""What the topology is made by, after those."""


def apply_shared_rules(program: Program, filters: frozenset[str]) -> Program:
    """The program after SHARED_RULES; `filters` names the connectors whose sources apply a predicate."""
    return _apply(SHARED_RULES, program, Dag(program.sinks, filters, program.hints))


def optimise(program: Program, filters: frozenset[str] = frozenset(), tells_late: bool = False) -> Program:
    """The program after RULES; `filters` names the connectors whose sources apply a predicate.

    With `tells_late` rows come as they are to what may drop them as late.
    """
    return _apply(RULES, program, Dag(program.sinks, filters, program.hints, tells_late))


def _apply(rules: tuple[Rule, ...], program: Program, dag: Dag) -> Program:
    for rule in rules:
        dag = rule(dag)
    return replace(program, sinks=dag.sinks)
