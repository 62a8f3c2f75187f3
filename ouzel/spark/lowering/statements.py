"""From a plan to the statements of a program: which nodes each chains, what its variable is called, and its text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ouzel.compiler.plan import (
    Aggregate,
    AssignSession,
    AssignWindow,
    Filter,
    Join,
    Node,
    Over,
    Scan,
    SetOperation,
    Sink,
    Union,
    Unnest,
    Watermark,
)
from ouzel.planner.rules.dag import Dag
from ouzel.spark.lowering.batch_nodes import FrameNames, Lowering, computes_below, without_unread_time
from ouzel.spark.lowering.layout import STEP, assignment, return_statement
from ouzel.spark.lowering.remarks import Remarks, remarks
from ouzel.spark.lowering.text import comment, free_name, identifier, is_identifier, quote


@dataclass
class JobStatement:
    """One statement of a job: the nodes, in order, whose lines it chains, its variable, and what is said above it."""

    nodes: list[Node]
    variable: str = ""
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def write_statements(dag: Dag, lower: Lowering) -> str:
    """The plan's frames, one statement each, with a blank line between them."""
    return "\n".join(_text(each) for each in _statements(dag, lower, Remarks()))


def write_function(dag: Dag, lower: Lowering, query: str) -> str:
    """The body of a function that returns the frame of the only sink, or a dictionary; `query` is the text whose comments go along."""
    statements = _statements(dag, lower, remarks(query, dag.nodes()))
    if len(dag.sinks) == 1:
        *others, last = statements
        return "\n".join([*(_text(each, STEP) for each in others), _text(last, STEP, is_last=True)])
    names = (identifier(sink.table) for sink in dag.sinks)
    frames = "{" + ", ".join(f"{quote(name)}: {name}" for name in names) + "}"
    return "\n".join([*(_text(each, STEP) for each in statements), *return_statement([frames], STEP), ""])


def _statements(dag: Dag, lower: Lowering, said: Remarks) -> list[JobStatement]:
    """Which nodes each statement chains: a table, a view, what is united, joined or shared by several readers is a frame of its own."""
    made: dict[int, JobStatement] = {}
    statements: list[JobStatement] = []
    shared = dag.find_shared()
    apart = {id(branch) for node in dag.nodes() if len(node.inputs) > 1 for branch in node.inputs}
    for node in dag.nodes():
        upstream = node.inputs[0] if len(node.inputs) == 1 else None
        before = made[id(upstream)] if upstream is not None else None
        if isinstance(node, Watermark) and before is not None:
            made[id(node)] = before
        elif before is None or not _list_marked(upstream).isdisjoint(shared | apart) or _is_first(node, before):
            made[id(node)] = JobStatement([node])
            statements.append(made[id(node)])
        else:
            before.nodes.append(node)
            made[id(node)] = before
    _name(statements)
    names = {id(node): made[id(node)].variable for node in dag.nodes() if made[id(node)].nodes[-1] is _skip_marks(node)}
    for statement in statements:
        statement.lines = _lines(statement, names, lower, said)
        statement.notes = _notes(statement, dag, said)
    _persist(statements, dag, made)
    return statements


def _persist(statements: Sequence[JobStatement], dag: Dag, made: Mapping[int, JobStatement]) -> None:
    """Keep what several sinks read, unless these are mere files: so it is computed, and read, once."""
    sinks: dict[int, list[str]] = {}
    readers: dict[int, set[int]] = {}
    for sink in dag.sinks:
        for of in {id(made[id(node)]) for node in Dag((sink,)).nodes()}:
            sinks.setdefault(of, []).append(identifier(sink.table))
    for node in dag.nodes():
        for upstream in node.inputs:
            if made[id(upstream)] is not made[id(node)]:
                readers.setdefault(id(made[id(upstream)]), set()).add(id(made[id(node)]))
    for each in statements:
        table = each.nodes[-1] if isinstance(each.nodes[-1], Scan) else None
        several = len(sinks[id(each)]) > 1 and len(readers.get(id(each), ())) > 1
        if several and not (table and table.traits.at_rest):
            *others, last = sinks[id(each)]
            each.notes.append(
                comment(f"{', '.join(others)} and {last} read this: it is kept, so that it is computed once.")
            )
            each.lines.append(".persist()")


def _skip_marks(node: Node) -> Node:
    return _skip_marks(node.input) if isinstance(node, Watermark) else node


def _list_marked(node: Node | None) -> set[int]:
    """The ids of the node and, of a watermark, of what it marks: in batch they are one."""
    found = set[int]()
    while node is not None:
        found.add(id(node))
        node = node.input if isinstance(node, Watermark) else None
    return found


def _is_first(node: Node, before: JobStatement) -> bool:
    """Whether a node begins a statement of its own: behind a table or a view, or as the second aggregate."""
    if isinstance(before.nodes[-1], Scan) or before.nodes[-1].written.name:
        return True
    return isinstance(node, Aggregate) and any(isinstance(other, Aggregate) for other in before.nodes)


def _name(statements: Iterable[JobStatement]) -> None:
    """A variable for each statement: sinks have theirs first, then tables, then the others."""
    ordered = sorted(
        statements, key=lambda each: (not isinstance(each.nodes[-1], Sink), not isinstance(each.nodes[0], Scan))
    )
    taken: set[str] = set()
    for statement in ordered:
        statement.variable = free_name(_choose_name(statement), taken)
        taken.add(statement.variable)


def _choose_name(statement: JobStatement) -> str:
    last = statement.nodes[-1]
    if table := last.reads_table or last.writes_table:
        return identifier(table)
    words = re.sub(r"\W", "_", _describe(statement), flags=re.ASCII)
    return words if is_identifier(words) else f"frame_{words}"


def _describe(statement: JobStatement) -> str:
    """What is read and what becomes of it: `flights_by_carrier`."""
    last = statement.nodes[-1]
    if last.written.name:
        return last.written.name
    if isinstance(last, Union) or isinstance(statement.nodes[0], Union):
        return "united"
    subject = "_and_".join(dict.fromkeys(_subjects(statement.nodes[0]))) or "batch"
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


def _lines(statement: JobStatement, names: FrameNames, lower: Lowering, said: Remarks) -> list[str]:
    first = statement.nodes[0]
    lines = [names[id(first.inputs[0])]] if len(first.inputs) == 1 else []
    for place, node in enumerate(statement.nodes, 1):
        after = statement.nodes[place] if place < len(statement.nodes) else None
        if lines:
            lines += map(comment, said.at(node))
        if isinstance(node, AssignWindow):
            node = without_unread_time(node, statement.nodes[place:])
        if after is None or not computes_below(after, names):
            lines += lower(node, names)
    return lines


def _notes(statement: JobStatement, dag: Dag, said: Remarks) -> list[str]:
    """What is said above a statement."""
    notes = [comment(line) for node in statement.nodes for line in said.above(node)]
    marks = [node for node in dag.nodes() if isinstance(node, Watermark) and node.input is statement.nodes[-1]]
    if marks and isinstance(statement.nodes[0], Scan):
        notes += [comment(f"Event time is {marks[0].column}. The stream waits for late rows; here none is late.")]
    return notes


def _text(statement: JobStatement, indent: int = 0, is_last: bool = False) -> str:
    steps = statement.lines
    lines = return_statement(steps, indent) if is_last else assignment(statement.variable, steps, indent)
    return "".join(f"{line}\n" for line in [*(f"{' ' * indent}{note}" for note in statement.notes), *lines])


OPERATORS: dict[type[Node], str] = {
    Aggregate: "grouped", AssignSession: "windowed", AssignWindow: "windowed", Unnest: "unnested", Join: "joined",
    SetOperation: "compared", Over: "ranked", Filter: "filtered",
}  # fmt: skip
"""Which of its operators a statement is called after, the most telling first."""
