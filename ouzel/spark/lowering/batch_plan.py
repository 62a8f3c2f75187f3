"""The plan that a job is written from: the query's own, without what only a topology needs, and with names that people would give."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ouzel.compiler.expressions import Call, Case, Cast, Column, Expression, GetField, substitute
from ouzel.compiler.plan import Aggregate, AggregateCall, Filter, Node, Program, Project
from ouzel.planner.rules.align_union_branches import align_union_branches
from ouzel.planner.rules.dag import Dag, with_inputs
from ouzel.planner.rules.drop_unused_watermarks import drop_unused_watermarks
from ouzel.planner.rules.fuse_projections import fuse_projections
from ouzel.planner.rules.fuse_python_steps import fuse_python_steps
from ouzel.planner.rules.prune_columns import prune_columns
from ouzel.planner.rules.remove_trivial_projects import remove_trivial_projects
from ouzel.spark.lowering.partitions import tell_folders
from ouzel.spark.lowering.text import free_name

Definitions = Mapping[str, Expression]


def batch_plan(program: Program) -> Dag:
    """The program after the rules that make a job shorter to read."""
    dag = Dag(program.sinks)
    for rule in RULES:
        dag = rule(dag)
    return tell_folders(dag)


def name_results(dag: Dag) -> Dag:
    """Call what an aggregate computes as the query calls it above, else after what it is: `avg_delay` instead of `$result2`.

    The names end at the next projection; where something else than a filter comes first, they stay as they are.
    """
    readers: dict[int, list[Node]] = {}
    for node in dag.nodes():
        for upstream in node.inputs:
            readers.setdefault(id(upstream), []).append(node)
    renamed: dict[int, Definitions] = {}

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
                wanted = _names_above(node, readers)
                made, keys = _with_named_input(made, wanted) if len(readers[id(node.input)]) == 1 else (made, {})
                made, results = _name_calls(made, wanted)
                renamed[id(made)] = {**keys, **results}
        return made

    return dag.rebuilt(make)


def _ends_in_projections(node: Node, readers: Mapping[int, list[Node]]) -> bool:
    return all(
        isinstance(reader, Project) or (isinstance(reader, Filter) and _ends_in_projections(reader, readers))
        for reader in readers.get(id(node), [])
    )


def _names_above(node: Node, readers: Mapping[int, list[Node]]) -> dict[str, str]:
    """What the projection above calls columns that it only hands on, if there is but one."""
    reader = node
    while not isinstance(reader, Project):
        if len(readers.get(id(reader), [])) != 1:
            return {}
        (reader,) = readers[id(reader)]
    return {value.name: name for name, value in reversed(reader.items) if isinstance(value, Column)}


def _with_named_input(node: Aggregate, wanted: Mapping[str, str]) -> tuple[Aggregate, Definitions]:
    """The node with names for what the projection below computes for it alone, `upper_b` instead of `$value`; and those of keys."""
    if not isinstance(node.input, Project):
        return node, {}
    taken, names = set(node.schema.names) | set(node.input.schema.names), dict[str, str]()
    for name, value in node.input.items:
        if name.startswith("$"):
            called = wanted.get(name, "")
            names[name] = called if called and called not in taken else free_name(words_of(value), taken)
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


def _name_calls(node: Aggregate, wanted: Mapping[str, str]) -> tuple[Aggregate, Definitions]:
    taken, names, calls = set(node.schema.names), dict[str, Expression](), list[AggregateCall]()
    for call in node.calls:
        called = wanted.get(call.name, "")
        if called and called not in taken - {call.name}:
            fresh = called
        elif call.name.startswith(HIDDEN):
            fresh = free_name(_describe(call), taken)
        else:
            fresh = call.name
        if fresh != call.name:
            names[call.name] = Column(call.type, fresh)
            taken.add(fresh)
        calls.append(replace(call, name=fresh))
    return replace(node, calls=tuple(calls)), names


HIDDEN = ("$", "EXPR$")
"""What names begin with that the query did not give."""


def _describe(call: AggregateCall) -> str:
    what = "_".join(re.findall(r"\w+", call.argument or "", re.ASCII))
    where = f"where_{call.filter}" if call.filter else "" if what else "rows"
    return _shorten([call.function, "distinct" * call.distinct, what, *re.findall(r"\w+", where, re.ASCII)])


def words_of(value: Expression) -> str:
    """A name for an expression: `dep_delay_over_15`, `upper_carrier`."""
    return _shorten(_words(value)) or "value"


def _words(value: Expression) -> list[str]:
    match value:
        case Call(function=function, arguments=(left, right)) if function in BETWEEN:
            return [*_words(left), BETWEEN[function], *_words(right)]
        case Call(function="is_null" | "is_not_null" as function, arguments=(operand,)):
            return [*_words(operand), function]
        case Call(function=function, arguments=arguments):
            return [function, *(word for argument in arguments for word in _words(argument))]
        case GetField(operand=operand, field=field):
            return [*_words(operand), *re.findall(r"\w+", field, re.ASCII)]
        case Cast(operand=operand):
            return _words(operand)
        case Case():
            return ["case", *_words(value.branches[0][0])]
    return re.findall(r"\w+", str(value), re.ASCII)


def _shorten(words: list[str]) -> str:
    """The words as one name, as many as are soon read."""
    name = ""
    for word in filter(None, words):
        if name and len(name) + len(word) >= LONGEST:
            break
        name = f"{name}_{word}" if name else word[:LONGEST]
    return name if not name[:1].isdigit() else f"n{name}"


LONGEST = 40
"""Characters of a name."""

BETWEEN = {
    "add": "plus", "subtract": "minus", "multiply": "times", "divide": "by", "div": "by", "gt": "over", "lt": "under", "ge": "from",
    "le": "up_to", "eq": "is", "ne": "is_not", "and": "and", "or": "or", "like": "like",
}  # fmt: skip
"""Words for the operators that stand between two values."""


RULES: tuple[Callable[[Dag], Dag], ...] = (
    drop_unused_watermarks,
    align_union_branches,  # by name from here on
    prune_columns,
    fuse_projections,
    fuse_python_steps,
    remove_trivial_projects,
    name_results,
    remove_trivial_projects,  # those that gave names to what has them by now
)
