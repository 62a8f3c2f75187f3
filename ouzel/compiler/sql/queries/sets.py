"""UNION, INTERSECT and EXCEPT: two relations under one list of names and types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from ouzel.compiler.coercion import cast_to, common_type
from ouzel.compiler.plan import Project, SetKind, SetOperation, Union
from ouzel.compiler.sql.queries.aggregation import distinct_rows
from ouzel.compiler.sql.queries.emit_rules import Emission
from ouzel.compiler.sql.queries.output import OutputColumn, project
from ouzel.compiler.sql.queries.scope import Relation, Visible, relation_of
from ouzel.compiler.sql.syntax.places import consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import DataType, MapType, walk_type
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported


def bind_set_operation(
    source: QueryText, tree: exp.SetOperation, left: Relation, right: Relation, emission: Emission
) -> Relation:
    """The relation of `left UNION | INTERSECT | EXCEPT [ALL] right`.

    Raises:
        QueryError: they have not as many columns, or columns whose types do not meet.
        NotSupported: BY NAME; INTERSECT or EXCEPT of maps.
    """
    consume(source, tree, "this", "expression", "distinct", "with_")
    word, every = tree.key.upper(), not tree.args.get("distinct")
    if len(left.columns) != len(right.columns):
        problem = f"{word} puts {len(left.columns)} column{'s' * (len(left.columns) > 1)} above {len(right.columns)}"
        raise source.error(problem, place(tree.expression), "select as many in both")
    names = [column.name for column in left.columns]
    pairs = zip(_typed_names(left), _typed_names(right), strict=True)
    kinds = [_common(source, tree, word, a, b) for a, b in pairs]
    if isinstance(tree, exp.Union):
        united = _unite(left, right, names, kinds)
        return united if every else distinct_rows(united, emission, None)
    _refuse_maps(source, tree, word, kinds)
    one = _shape(left, names, kinds)
    columns = one.node.schema.names
    items = (cast_to(right.column(column), kind) for column, kind in zip(right.columns, kinds, strict=True))
    other = Project(right.node, tuple(zip(columns, items, strict=True)))
    written = NodeLocation(place(tree)[0])
    node = SetOperation(one.node, other, SetKind(tree.key), every, written=written)
    return Relation(node, _show(names, columns), undated=UNDATED)


UNDATED = "rows of an INTERSECT or EXCEPT come at any time after {column}: take the window of a table first"


def _unite(left: Relation, right: Relation, names: Sequence[str], kinds: Sequence[DataType]) -> Relation:
    one, two = (_shape(side, names, kinds) for side in (left, right))
    branches = one.node.branches if isinstance(one.node, Union) and one is left else (one.node,)
    window = one.window if one.window == two.window else None
    united = relation_of(Union((*branches, two.node)), window=window)
    return replace(united, columns=_show(names, [column.column for column in one.columns]))


def _show(names: Sequence[str], columns: Sequence[str]) -> tuple[Visible, ...]:
    return tuple(Visible("", name, column) for name, column in zip(names, columns, strict=True))


def _common(
    source: QueryText, tree: exp.Expr, word: str, left: tuple[str, DataType], right: tuple[str, DataType]
) -> DataType:
    kind = common_type(left[1], right[1])
    if kind is None:
        problem = f"{word} puts {left[0]} {left[1]} above {right[0]} {right[1]}"
        raise source.error(problem, place(tree.expression), "CAST one of them, or put the columns in one order")
    return kind


def _refuse_maps(source: QueryText, tree: exp.Expr, word: str, kinds: Sequence[DataType]) -> None:
    for kind in kinds:
        if any(isinstance(part, MapType) for part in walk_type(kind)):
            problem = f"{word} is not supported of {kind}: it compares rows, and maps are not compared"
            raise source.error(problem, place(tree), "select MAP_KEYS and MAP_VALUES of it", NotSupported)


def _typed_names(relation: Relation) -> list[tuple[str, DataType]]:
    return [(column.name, relation.column(column).type) for column in relation.columns]


def _shape(relation: Relation, names: Sequence[str], kinds: Sequence[DataType]) -> Relation:
    """The relation with these column names and types; itself when it has them."""
    outputs = [
        OutputColumn(name, cast_to(relation.column(column), kind))
        for name, column, kind in zip(names, relation.columns, kinds, strict=True)
    ]
    return project(relation, outputs)
