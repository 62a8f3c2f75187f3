"""Joins with a table that every task reads for itself, as none of its rows come by a stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ouzel.compiler.plan.base import Node, walk
from ouzel.compiler.plan.distribution import ANY, OWN
from ouzel.compiler.plan.joins import Join, JoinKind
from ouzel.compiler.plan.rows import APPENDS, WEIGHTED, Changelog, RowRole
from ouzel.compiler.plan.served import Served
from ouzel.compiler.plan.sets import Union
from ouzel.compiler.plan.sources import Scan

SIDE_KINDS = frozenset({JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI})
"""Kinds of which each row of the left is answered by itself."""


@dataclass(frozen=True)
class SideJoin(Join):
    """A Join of a stream, the left, with a table that each task reads for itself: one at rest, or one that is asked by key.

    If it is `asked` the task asks for those keys of a batch that it does not remember; then there is one key. Else it reads the table whole
    before its first row, and after a restart again. The left's rows stay where they are, leave at once, and keep their time; nothing is
    kept of them, and one that is taken back is taken back with what it met. (The side input of Beam: Akidau et al., VLDB 2015; the map-side
    join of Hive; the lookup join of Flink.)
    """

    asked: bool = field(kw_only=True, default=False)

    @property
    def tables(self) -> tuple[str, ...]:
        """What the tables of the right are called."""
        nodes = list(walk(self.right))
        scanned = [node.table for node in nodes if isinstance(node, Scan)]
        return tuple(dict.fromkeys([*scanned, *(node.called for node in nodes if isinstance(node, Served))]))

    @property
    def asks_tables(self) -> tuple[str, ...]:
        return self.tables if self.asked else ()

    role = RowRole.REPEATS
    distribution = (ANY, OWN)

    @property
    def calls_python(self) -> bool:  # type: ignore[override]
        return any(node.calls_python for node in walk(self.right))

    @property
    def takes_conditions(self) -> bool:
        """Not if it is asked: by the one key."""
        return super().takes_conditions and not self.asked

    @property
    def accepts(self) -> tuple[frozenset[Changelog], ...]:  # type: ignore[override]
        """What is asked again may be answered otherwise, so a row that is taken back would not be what it was."""
        return (APPENDS if self.asked else WEIGHTED, APPENDS)

    @property
    def time_column(self) -> str | None:
        return self.left.time_column

    @property
    def changelog(self) -> Changelog:
        return self.left.changelog

    @property
    def state_bound(self) -> str:
        if self.asked:
            cached = next((node.traits.asked for node in walk(self.right) if isinstance(node, Scan)), None)
            kept = (
                f"of {cached.rows:,} keys at most, for {cached.expires_ms / 1000:g} s" if cached and cached.rows else ""
            )
            return f"answers of {', '.join(self.tables)} {kept or 'to one batch'}"
        return f"all rows of {', '.join(self.tables)} in each task, read at its start"

    component_name = ""

    @property
    def label(self) -> str:
        return f"Side{super().label}, {', '.join(self.tables)} {'asked by key' if self.asked else 'read whole'}"

    @property
    def identity(self) -> tuple[object, ...]:
        return (*super().identity, self.asked)


def describe_moving(node: Node) -> str:
    """Why a relation is no table at rest, of which every task can compute each row by itself; empty if it is one."""
    return next(_reasons(node), "")


def _reasons(node: Node) -> Iterator[str]:
    for below in walk(node):
        if isinstance(below, Scan):
            yield from _reasons_of(below)
        elif not below.is_rowwise and not isinstance(below, Union):
            yield "it is the result of a query that sees several rows at once"


def _reasons_of(scan: Scan) -> Iterator[str]:
    traits = scan.traits
    if not traits.bounded:
        yield f"{scan.table} never ends"
    if not traits.at_rest:
        yield f"a task that starts again may find other rows in {scan.table}"
    if traits.changelog:
        yield f"{scan.table} takes rows back"
    if dict(scan.options).get("bad.record", "fail") != "fail":
        yield f"each would meet the bad records of {scan.table}"
