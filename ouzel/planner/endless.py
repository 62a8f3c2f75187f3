"""Results whose input never ends: an ORDER BY is refused, and LIMIT gives first rows that go on changing."""

from __future__ import annotations

from collections.abc import Iterator

from ouzel.compiler.plan import Gather, Node, Program, Project, TopN, scans_in, walk
from ouzel.errors import NotSupported

ORDER_BY, LIMIT = ("ORDER BY", ""), ("LIMIT", "")
"""The keys of `Program.places` for the clauses of its last SELECT."""


def refuse_endless_order(program: Program) -> None:
    """Refuse an ORDER BY of a result that never ends, unless a LIMIT bounds it.

    Raises:
        NotSupported: it has neither, so that no row is ever known to be the first; at the place of ORDER BY.
    """
    sink = program.result
    if sink is None or not sink.sorted_by or first_rows(sink.input) is not None:
        return
    tables = endless_tables(sink)
    if tables:
        problem = f"ORDER BY of rows that never end is not supported: {_names(tables)} no end, so no row is ever known to be the first"
        instead = "add LIMIT 10, leave ORDER BY out, or give the table an end"
        raise program.locate(NotSupported(problem, instead=instead, about=ORDER_BY))


def say_first_rows_change(program: Program) -> Iterator[str]:
    """Why the run of a SELECT with LIMIT does not end when it has that many rows."""
    sink = program.result
    first = first_rows(sink.input) if sink is not None else None
    tables = endless_tables(sink) if sink is not None and first is not None else ()
    if tables:
        order = (
            "in the order of ORDER BY"
            if program.places.get(ORDER_BY)
            else "by the values of their columns, for there is no ORDER BY"
        )
        problem = f"these first rows go on changing: {_names(tables)} no end, and rows that come before them, {order}, may always come"
        instead = "give the table an end, or press Ctrl-C when you have seen enough"
        yield str(program.locate(NotSupported(problem, instead=instead, about=LIMIT)))


def first_rows(node: Node) -> TopN | None:
    """The node that keeps no more than the first rows of a result, if one does."""
    while isinstance(node, Project | Gather):
        node = node.input
    return node if isinstance(node, TopN) and not node.partition and not node.keeps_all else None


def endless_tables(node: Node) -> tuple[str, ...]:
    """The tables below that have no end."""
    return tuple(sorted({scan.table for scan in scans_in(walk(node)) if not scan.traits.bounded}))


def _names(tables: tuple[str, ...]) -> str:
    return f"table {tables[0]} has" if len(tables) == 1 else f"tables {', '.join(tables)} have"
