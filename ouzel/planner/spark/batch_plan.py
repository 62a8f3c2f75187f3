"""The plan that a job is written from: the query's own, without what only a topology needs, and with names that people would give."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.plan import Aggregate, AggregateCall, Filter, Node, Program, Project
from ouzel.planner.rules.align_union_branches import align_union_branches
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.planner.rules.drop_unused_watermarks import drop_unused_watermarks
from ouzel.planner.rules.fuse_projections import fuse_projections
from ouzel.planner.rules.predicates import substitute
from ouzel.planner.rules.prune_columns import prune_columns
from ouzel.planner.rules.remove_trivial_projects import remove_trivial_projects

Names = Mapping[str, Expression]


def batch_plan(program: Program) -> Dag:
    """The program after the rules that make a job shorter to read."""
    dag = Dag(program.sinks)
    for rule in RULES:
        dag = rule(dag)
    return dag


def name_results(dag: Dag) -> Dag:
    """Call an aggregate's unnamed results after what they are, `avg_delay` instead of `$result2`.

    The names end at the next projection; where something else than a filter comes first, they stay as they are.
    """
    readers: dict[int, list[Node]] = {}
    for node in dag.nodes():
        for upstream in node.inputs:
            readers.setdefault(id(upstream), []).append(node)
    renamed: dict[int, Names] = {}

    def make(node: Node, inputs: tuple[Node, ...]) -> Node:
        names = renamed.get(id(inputs[0]), {}) if inputs else {}
        made = with_inputs(node, inputs)
        match made:
            case Filter() if names:
                made = replace(made, predicate=substitute(made.predicate, names))
                renamed[id(made)] = names
            case Project() if names:
                made = replace(made, items=tuple((name, substitute(value, names)) for name, value in made.items))
            case Aggregate() if isinstance(node, Aggregate) and _ends_in_projections(node, readers):
                made, keys = _with_named_input(made) if len(readers[id(node.input)]) == 1 else (made, {})
                made, results = _named(made)
                renamed[id(made)] = {**keys, **results}
        return made

    return dag.rebuilt(make)


def _ends_in_projections(node: Node, readers: Mapping[int, list[Node]]) -> bool:
    return all(
        isinstance(reader, Project) or (isinstance(reader, Filter) and _ends_in_projections(reader, readers))
        for reader in readers.get(id(node), [])
    )


def _with_named_input(node: Aggregate) -> tuple[Aggregate, Names]:
    """The node with names for what the projection below computes for it alone, `filter` instead of `$filter`; and those of keys."""
    if not isinstance(node.input, Project):
        return node, {}
    taken, names = set(node.schema.names) | set(node.input.schema.names), dict[str, str]()
    for name in node.input.schema.names:
        if name.startswith("$"):
            names[name] = _free(re.sub(r"\W+", "_", name).strip("_"), taken)
            taken.add(names[name])
    below = replace(node.input, items=tuple((names.get(name, name), value) for name, value in node.input.items))
    calls = tuple(
        replace(
            call,
            argument=names.get(call.argument or "", call.argument),
            filter=names.get(call.filter or "", call.filter),
        )
        for call in node.calls
    )
    keys = tuple(names.get(key, key) for key in node.keys)
    fresh = {old: Column(node.input.schema[old].type, names[old]) for old in node.keys if old in names}
    return replace(node, input=below, keys=keys, calls=calls), fresh


def _named(node: Aggregate) -> tuple[Aggregate, Names]:
    taken, names, calls = set(node.schema.names), dict[str, Expression](), list[AggregateCall]()
    for call in node.calls:
        if call.name.startswith(("$", "EXPR$")):
            fresh = _free(_described(call), taken)
            names[call.name] = Column(call.type, fresh)
            taken.add(fresh)
            call = replace(call, name=fresh)
        calls.append(call)
    return replace(node, calls=tuple(calls)), names


def _described(call: AggregateCall) -> str:
    what = re.sub(r"\W+", "_", call.argument or "rows").strip("_")
    return f"{call.function}_{'distinct_' * call.distinct}{what}{'_filtered' if call.filter else ''}"


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


RULES: tuple[Callable[[Dag], Dag], ...] = (
    drop_unused_watermarks,
    align_union_branches,  # by name from here on
    prune_columns,
    fuse_projections,
    remove_trivial_projects,
    name_results,
)
