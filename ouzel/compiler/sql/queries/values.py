"""VALUES, and a SELECT without FROM: rows of constants, computed of a table of one row."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ouzel.compiler.catalog import GIVEN_ROWS, VALUES
from ouzel.compiler.coercion import cast_to, common_type
from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import Project, Scan, Unnest
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.output import OutputColumn, check_storable, project
from ouzel.compiler.sql.queries.scope import Relation, relation_of
from ouzel.compiler.sql.syntax.places import consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import BIGINT, DataType, Field, Schema
from ouzel.compiler.written import NodeLocation

_Row = list[Expression]


def no_table() -> Relation:
    """What a SELECT without FROM reads: one row without a column to be named."""
    return Relation(Scan(VALUES, VALUES, (), Schema((Field("id", BIGINT, False),)), traits=GIVEN_ROWS), ())


def bind_values(source: QueryText, tree: exp.Values) -> Relation:
    """The relation of VALUES (a, b), (c, d): columns EXPR$0, EXPR$1 as Flink has it, of the types in which those of all rows meet.

    Raises:
        QueryError: rows of unequal width, or whose types do not meet; a column is named.
    """
    consume(source, tree, "expressions", "alias")
    binder = Binder(source, no_table())
    rows = [[check_storable(binder, value, binder.bind(value)) for value in _values(row)] for row in tree.expressions]
    for row, written in zip(rows, tree.expressions, strict=True):
        if len(row) != len(rows[0]):
            problem = f"VALUES has a row of {len(rows[0])} and one of {len(row)} values"
            raise source.error(problem, place(written), "give each row as many")
    kinds = [_common(source, tree, number, rows) for number in range(len(rows[0]))]
    rows = [[cast_to(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows]
    named = [f"EXPR${number}" for number in range(len(kinds))]
    if len(rows) == 1:
        return project(binder.relation, [OutputColumn(name, value) for name, value in zip(named, rows[0], strict=True)])
    elements = [row[0] if len(row) == 1 else resolve_call("row", row) for row in rows]
    columns = tuple(zip(named, kinds, strict=True))
    node = Unnest(binder.relation.node, resolve_call("array", elements), columns)
    at = NodeLocation(place(tree)[0])
    return relation_of(Project(node, tuple((name, Column(kind, name)) for name, kind in columns), written=at))


def _values(row: exp.Expr) -> Sequence[exp.Expr]:
    return row.expressions if isinstance(row, exp.Tuple) else [row]


def _common(source: QueryText, tree: exp.Values, number: int, rows: Sequence[_Row]) -> DataType:
    kind = rows[0][number].type
    for row, written in zip(rows, tree.expressions, strict=True):
        common = common_type(kind, row[number].type)
        if common is None:
            value = _values(written)[number]
            raise source.error(f"VALUES puts {kind} above {row[number].type}", place(value), "CAST one of them")
        kind = common
    return kind
