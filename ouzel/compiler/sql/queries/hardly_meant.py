"""Joins that are allowed and hardly meant: tables that no condition joins, and times that no two rows can have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ouzel.compiler.expressions import Call, Cast, Column, Expression, columns_of, conjuncts
from ouzel.compiler.plan import Filter, Join, JoinKind, Node
from ouzel.compiler.sql.queries.intervals import contradiction
from ouzel.compiler.sql.queries.never_true import note_never_true
from ouzel.compiler.sql.syntax.source import QueryText

_COMMA = re.compile(
    r"\s*([\w.]+|\"[^\"]*\"|`[^`]*`|'[^']*')(?:\s+(?:AS\s+)?(?!WHERE\b|JOIN\b|GROUP\b|ORDER\b)(\w+))?", re.IGNORECASE
)
"""A table behind a comma in FROM, and its alias. CROSS JOIN says that each row is to meet all others, and a subquery may be one row."""


def note_conditions(source: QueryText, node: Node) -> None:
    """Tell of what is hardly meant in the WHERE and the joins of a query, which are `node` below the filters of its WHERE."""
    conditions: list[Expression] = []
    while isinstance(node, Filter):
        conditions += conjuncts(node.predicate)
        node = node.input
    note_never_true(source, conditions)
    joins = tuple(_joins_in(node))
    for join in joins:
        _note_no_outer(source, join, conditions)
    for join in joins:
        _note_contradiction(source, join)
        conditions += conjuncts(join.condition) if join.condition is not None else ()
    for join in joins:
        if not join.keys and join.condition is None and type(join) is Join:
            _note_product(source, join, joins, conditions)


def _joins_in(node: Node) -> Iterator[Join]:
    if isinstance(node, Join):
        yield node
        for below in node.inputs:
            yield from _joins_in(below)


def _note_no_outer(source: QueryText, join: Join, conditions: Sequence[Expression]) -> None:
    """Tell of a WHERE that leaves out each row which an outer join keeps, for a column of the other table is NULL there."""
    if join.kind is not JoinKind.LEFT:
        return
    added = set(join.inputs[1].schema.names)
    for part in conditions:
        if not isinstance(part, Call) or part.function not in _STRICT or part.written is None:
            continue
        operands = [value.operand if isinstance(value, Cast) else value for value in part.arguments]
        column = next((value for value in operands if isinstance(value, Column) and value.name in added), None)
        if column is not None and _is_of_one_query(source, join, source.span(part.written)[0]):
            shown = part.written.part
            problem = f"WHERE {shown} leaves out each row that the outer join keeps without a partner, for it is unknown of NULL"
            advice = f"write ON ... AND {shown}, or JOIN if no such row is meant"
            source.note(problem, source.span(part.written), advice)
            return


def _is_of_one_query(source: QueryText, join: Join, at: int) -> bool:
    """Whether the condition that stands there is in the SELECT of the join, which is none of a view or subquery that others read, too."""
    between = source.blank_out()[join.written.clause : at]
    return join.written.clause >= 0 and ";" not in between and between.count("(") == between.count(")")


_STRICT = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "like"})
"""Comparisons that are unknown where an operand is NULL."""


def _note_contradiction(source: QueryText, join: Join) -> None:
    """Tell of `a.ts > b.ts AND a.ts < b.ts`. A BETWEEN alone is told of where it is bound."""
    parts = contradiction(join)
    places = [part.written for part in parts if part.written is not None]
    if not places or (len(parts) == 1 and " BETWEEN " in places[0].part.upper()):
        return
    shown = " AND ".join(place.part for place in places)
    equal = "" if len(parts) > 1 else " where these times are equal, as another part of the condition says"
    advice = "turn the sign of one comparison around, or exchange the spans"
    source.note(f"{shown} is true of no two rows{equal}", source.span(places[0]), advice)


def _note_product(source: QueryText, join: Join, joins: Sequence[Join], conditions: Sequence[Expression]) -> None:
    """Tell of `FROM a, b` whose tables nothing joins."""
    table = _COMMA.match(source.text, join.written.clause) if join.written.clause >= 0 else None
    if table is None or not source.text[: join.written.clause].rstrip().endswith(","):
        return
    if any(frozenset() in side.unique_keys for side in join.inputs):
        return  # one row, as of an aggregate, is a value for all rows of the other
    reads = [*map(columns_of, conditions), *(frozenset(pair) for other in joins for pair in other.keys)]
    sides = (frozenset(side.schema.names) for side in join.inputs)
    if all(any(read & side and read - side for read in reads) for side in sides):
        return
    name = table[2] or re.sub(r"\W.*", "", table[1].strip("'\"`"))
    advice = (
        f"write a condition such as WHERE a.key = {name}.key, or CROSS JOIN {table[0].strip()} if all pairs are meant"
    )
    source.note(
        f"each row meets every row of {name}, for no condition joins them", (table.start(1), table.end()), advice
    )
