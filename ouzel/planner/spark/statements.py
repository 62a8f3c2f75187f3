"""From a plan to the statements of a program: which nodes each chains, what its variable is called, and its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ouzel.compiler.plan import Aggregate, AssignWindow, Filter, Node, Scan, Sink, Union, Unnest, Watermark
from ouzel.planner.rules.dag import Dag
from ouzel.planner.spark.layout import assignment
from ouzel.planner.spark.lowering import Names, computes_below, without_unread_time
from ouzel.planner.spark.text import comment, identifier, is_identifier

Lowering = Callable[[Node, Names], list[str]]
"""The lines of a node, as `lowering.lower` gives them."""


@dataclass
class Statement:
    """One statement of a job: the nodes, in order, whose lines it chains, and its variable."""

    nodes: list[Node]
    variable: str = ""
    lines: list[str] = field(default_factory=list)


def written(dag: Dag, lower: Lowering, indent: int = 0) -> str:
    """The plan's frames, one statement each, with a blank line between them."""
    return "\n".join(_written(each, dag, indent) for each in _statements(dag, lower))


def _statements(dag: Dag, lower: Lowering) -> list[Statement]:
    """Which nodes each statement chains: a table, a union and what several readers share are frames of their own."""
    made: dict[int, Statement] = {}
    statements: list[Statement] = []
    shared = dag.shared()
    apart = {id(branch) for node in dag.nodes() if isinstance(node, Union) for branch in node.branches}
    for node in dag.nodes():
        upstream = node.inputs[0] if len(node.inputs) == 1 else None
        before = made[id(upstream)] if upstream is not None else None
        if isinstance(node, Watermark) and before is not None:
            made[id(node)] = before
        elif before is None or not _marked(upstream).isdisjoint(shared | apart) or _begins(node, before):
            made[id(node)] = Statement([node])
            statements.append(made[id(node)])
        else:
            before.nodes.append(node)
            made[id(node)] = before
    _name(statements)
    names = {id(node): made[id(node)].variable for node in dag.nodes() if made[id(node)].nodes[-1] is _unmarked(node)}
    for statement in statements:
        statement.lines = _lines(statement, names, lower)
    return statements


def _unmarked(node: Node) -> Node:
    return _unmarked(node.input) if isinstance(node, Watermark) else node


def _marked(node: Node | None) -> set[int]:
    """The ids of the node and, of a watermark, of what it marks: in batch they are one."""
    found = set[int]()
    while node is not None:
        found.add(id(node))
        node = node.input if isinstance(node, Watermark) else None
    return found


def _begins(node: Node, before: Statement) -> bool:
    if isinstance(before.nodes[-1], Scan):
        return True
    return isinstance(node, Aggregate) and any(isinstance(other, Aggregate) for other in before.nodes)


def _name(statements: Iterable[Statement]) -> None:
    """A variable for each statement: sinks have theirs first, then tables, then the others."""
    ordered = sorted(
        statements, key=lambda each: (not isinstance(each.nodes[-1], Sink), not isinstance(each.nodes[0], Scan))
    )
    taken: set[str] = set()
    for statement in ordered:
        statement.variable = _free(_named(statement), taken)
        taken.add(statement.variable)


def _named(statement: Statement) -> str:
    last = statement.nodes[-1]
    if isinstance(last, Sink | Scan):
        return identifier(last.table)
    words = re.sub(r"\W", "_", _described(statement), flags=re.ASCII)
    return words if is_identifier(words) else f"frame_{words}"


def _described(statement: Statement) -> str:
    """What is read and what becomes of it: `flights_by_carrier`."""
    last = statement.nodes[-1]
    if isinstance(last, Union) or isinstance(statement.nodes[0], Union):
        return "united"
    subject = next(_subjects(statement.nodes[0]), "batch")
    for kind, word in OPERATORS.items():
        found = next((node for node in reversed(statement.nodes) if isinstance(node, kind)), None)
        if isinstance(found, Aggregate):
            keys = [key for key in found.keys if key not in (found.window or ())]
            return f"{subject}_by_{'_and_'.join(keys)}" if keys else f"{subject}_in_all"
        if found:
            return f"{subject}_{word}"
    return f"{subject}_projected"


def _subjects(node: Node) -> Iterator[str]:
    if isinstance(node, Scan):
        yield node.table
    for upstream in node.inputs:
        yield from _subjects(upstream)


def _lines(statement: Statement, names: Names, lower: Lowering) -> list[str]:
    first = statement.nodes[0]
    lines = [names[id(first.inputs[0])]] if len(first.inputs) == 1 else []
    for place, node in enumerate(statement.nodes, 1):
        after = statement.nodes[place] if place < len(statement.nodes) else None
        if isinstance(node, AssignWindow):
            node = without_unread_time(node, statement.nodes[place:])
        if after is None or not computes_below(after, names):
            lines += lower(node, names)
    return lines


def _written(statement: Statement, dag: Dag, indent: int) -> str:
    lines = assignment(statement.variable, statement.lines, indent)
    marks = [node for node in dag.nodes() if isinstance(node, Watermark) and node.input is statement.nodes[-1]]
    if marks and isinstance(statement.nodes[0], Scan):
        note = comment(f"Event time is {marks[0].column}. The stream waits for late rows; here none is late.")
        lines.insert(0, " " * indent + note)
    return "".join(f"{line}\n" for line in lines)


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name


OPERATORS: dict[type[Node], str] = {
    Aggregate: "grouped", AssignWindow: "windowed", Unnest: "unnested", Filter: "filtered",
}  # fmt: skip
"""Which of its operators a statement is called after, the most telling first."""
