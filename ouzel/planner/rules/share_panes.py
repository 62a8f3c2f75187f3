"""Aggregate rows of hopping windows by pane, and give each pane's total to its windows (Li et al., SIGMOD Record 34(1), 2005)."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from ouzel.compiler.expressions import Column, columns_of
from ouzel.compiler.plan import Aggregate, AssignWindow, Node, PartialAggregate, Project, WindowKind
from ouzel.compiler.types import TIMESTAMP
from ouzel.planner.rules.dag import Dag

PANE = "$pane"
"""Column of the start of a row's pane, and the beginning of the names that nobody reads."""


def share_panes(dag: Dag) -> Dag:
    """Below a partial aggregate, put a row into its one pane instead of repeating it for each window; repeat the pane's total.

    A pane is as long as the slide, which divides the size, so it lies wholly inside or outside of a window.
    """
    return dag.rewritten(_share)


@dataclass(frozen=True)
class _Reading:
    """How a partial aggregate reads hopping windows: through which projections, top first, and what those call the window's columns."""

    projections: tuple[Project, ...]
    assignment: AssignWindow
    names: dict[str, int]


def _share(node: Node, shared: Set[int]) -> Node:
    if not isinstance(node, PartialAggregate):
        return node
    reading = _reading(node.input, shared)
    if reading is None or not _may_share(node.aggregate, reading):
        return node
    return _deal_panes(_by_pane(node, reading), node, reading)


def _reading(node: Node, shared: Set[int]) -> _Reading | None:
    projections = []
    while isinstance(node, Project) and id(node.input) not in shared:
        projections.append(node)
        node = node.input
    if (
        not isinstance(node, AssignWindow) or node.kind is not WindowKind.HOP or node.zone
    ):  # such a pane has no fixed length
        return None
    names = {name: place for place, name in enumerate(node.names)}
    for project in reversed(projections):
        if any(names.keys() & columns_of(value) for _, value in project.items if not isinstance(value, Column)):
            return None
        names = {
            name: names[value.name]
            for name, value in project.items
            if isinstance(value, Column) and value.name in names
        }
    return _Reading(tuple(projections), node, names)


def _may_share(aggregate: Aggregate, reading: _Reading) -> bool:
    """Whether the window is only grouped by, and its time, if that is, is of the type that a pane's has."""
    times = (name for name, place in reading.names.items() if place == 2)
    plain = reading.assignment.input.schema[reading.assignment.column].type == TIMESTAMP
    return not reading.names.keys() & _arguments(aggregate) and (plain or not set(times) & set(aggregate.keys))


def _arguments(aggregate: Aggregate) -> set[str]:
    return {name for call in aggregate.calls for name in (call.argument, call.filter) if name}


def _by_pane(node: PartialAggregate, reading: _Reading) -> PartialAggregate:
    """The partial aggregate, by pane."""
    assignment, aggregate = reading.assignment, node.aggregate
    names = (PANE, f"{PANE}_end", f"{PANE}_time")
    below: Node = replace(assignment, kind=WindowKind.TUMBLE, size_us=assignment.slide_us, names=names)
    window = set(assignment.names)
    for project in reversed(reading.projections):
        kept = tuple(item for item in project.items if not (isinstance(item[1], Column) and item[1].name in window))
        window = {name for name, _ in project.items} - {name for name, _ in kept}
        below = Project(below, (*kept, (PANE, Column(TIMESTAMP, PANE))))
    keys = (*(key for key in aggregate.keys if key not in reading.names), PANE)
    return PartialAggregate(below, replace(aggregate, input=below, keys=keys, window=("", PANE, "")))


def _deal_panes(panes: PartialAggregate, node: PartialAggregate, reading: _Reading) -> Node:
    """Each pane's total once for each window that the pane lies in, in the columns of the partial aggregate by window."""
    names = ("$start", "$end", "$time")
    assignment = replace(reading.assignment, input=panes, column=PANE, names=names)
    return Project(assignment, tuple(_items(panes, node, reading, assignment)))


def _items(
    panes: PartialAggregate, node: PartialAggregate, reading: _Reading, assignment: AssignWindow
) -> Iterator[tuple[str, Column]]:
    """The columns of `node`, exactly: without the rows of a pane where no window is grouped by."""
    for field in node.schema:
        place = reading.names.get(field.name) if field.name in node.aggregate.keys else None
        source = field.name if place is None else assignment.names[place]
        yield field.name, Column(assignment.schema[source].type, source)
