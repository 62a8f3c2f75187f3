"""Joins of a stream that never ends with a small table at rest: each task reads the table whole, and no row of the stream is sent to it."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from ouzel.compiler.expressions import Column, columns
from ouzel.compiler.plan import Join, JoinKind, Node, Program, Project, Scan, SideJoin, describe_moving, scans_in, walk
from ouzel.planner.rules.dag import Dag

SMALL_BYTES = 10 << 20
"""A table of no more bytes is small: what Spark broadcasts unasked."""

SizeOf = Callable[[Scan], int | None]
"""How many bytes a table has; None if that is not known."""


def read_small_tables_whole(program: Program, size_of: SizeOf) -> Program:
    """The program with a SideJoin for each inner or semi-join, of a stream that never ends, with a small table that no hint speaks of.

    It says what the join said, row by row; so whether the table is small decides about nothing but the way there.
    """
    hinted = program.hints.placed

    def change(node: Node, _shared: Set[int]) -> Node:
        if type(node) is not Join or node.kind not in (JoinKind.INNER, JoinKind.SEMI):
            return node
        if _is_endless(node.left) and _is_small(node.right, size_of, hinted):
            return _beside(node)
        if node.kind is JoinKind.INNER and _is_endless(node.right) and _is_small(node.left, size_of, hinted):
            keys = tuple((right, left) for left, right in node.keys)
            exchanged = _beside(replace(node, left=node.right, right=node.left, keys=keys))
            return Project(
                exchanged, tuple((column.name, column) for column in columns(node.schema)), written=node.written
            )
        return node

    return replace(program, sinks=Dag(program.sinks).rewritten(change).sinks)


def _beside(join: Join) -> SideJoin:
    return SideJoin(join.left, join.right, join.kind, join.keys, join.condition, written=join.written)


def _is_endless(node: Node) -> bool:
    return any(not scan.traits.bounded for scan in scans_in(walk(node)))


def _is_small(node: Node, size_of: SizeOf, hinted: Set[str]) -> bool:
    """Whether it is small tables at rest and columns of theirs, so that no row of it can fail to be computed."""
    if describe_moving(node) or not all(map(_hands_on, walk(node))):
        return False
    sizes = [None if scan.table in hinted else size_of(scan) for scan in scans_in(walk(node))]
    return bool(sizes) and all(size is not None for size in sizes) and sum(filter(None, sizes)) <= SMALL_BYTES


def _hands_on(node: Node) -> bool:
    if isinstance(node, Project):
        return all(isinstance(value, Column) for _, value in node.items)
    return isinstance(node, Scan)
