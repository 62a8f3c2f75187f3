"""JOIN UNNEST and LEFT JOIN UNNEST ... ON a condition: the elements of an array or map as rows."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ouzel.compiler.plan import Filter, Unnest
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.joins import is_true
from ouzel.compiler.sql.queries.output import output_name
from ouzel.compiler.sql.queries.scope import Relation, Visible, fresh, name_of
from ouzel.compiler.sql.syntax.places import consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import BIGINT, VARCHAR, ArrayType, DataType, MapType, RowType
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported

SELECTED = "$unnest"
"""The table under which the elements of an UNNEST in a select list are found."""


def bind_unnest(source: QueryText, join: exp.Join, relation: Relation) -> Relation:
    """The relation with one row for each element.

    Raises:
        QueryError: it is neither array nor map, or the aliases do not fit.
        NotSupported: several arrays at once, or a condition beside positions.
    """
    unnest = join.this
    consume(source, join, "this", "kind", "side", "on")
    consume(source, unnest, "expressions", "alias", "offset")
    outer = _is_outer(source, join)
    if len(unnest.expressions) != 1:
        raise source.error("UNNEST of several arrays is not supported", place(unnest), kind=NotSupported)
    bound = Binder(source, relation).bind(unnest.expressions[0])
    ordinality = bool(unnest.args.get("offset"))
    fields = _fields(source, unnest, bound.type)
    if ordinality:
        fields.append(("ordinality", BIGINT))
    table, shown = _aliases(source, unnest, fields)
    taken = list(relation.node.schema.names)
    columns: list[Visible] = []
    for name in shown:
        columns.append(Visible(table, name, fresh(name, [*taken, *(column.column for column in columns)])))
    names = tuple((column.column, kind) for column, (_, kind) in zip(columns, fields, strict=True))
    node = Unnest(relation.node, bound, names, ordinality, outer, written=NodeLocation(place(join)[0]))
    both = replace(relation, node=node, columns=(*relation.columns, *columns))
    on = join.args.get("on")
    return both if on is None or is_true(on) else _fitting(source, on, both, node)


def with_selected_elements(source: QueryText, tree: exp.Select, relation: Relation) -> tuple[exp.Select, Relation]:
    """`SELECT a, UNNEST(b)` is `SELECT a, x FROM ... CROSS JOIN UNNEST(b) AS u (x)`, as in Postgres; and the relation of that.

    Raises:
        NotSupported: there are several, or its elements are rows of several columns.
    """
    found = [
        part
        for item in tree.expressions
        for part in item.find_all(exp.Unnest)
        if part.find_ancestor(exp.Select) is tree
    ]
    if not found:
        return tree, relation
    if len(found) > 1:
        problem, instead = (
            "UNNEST twice in one select list is not supported",
            "write CROSS JOIN UNNEST(a) AS u (x) for each",
        )
        raise source.error(problem, place(found[1]), instead, NotSupported)
    both = bind_unnest(source, exp.Join(this=found[0].copy()), relation)
    made = both.columns[len(relation.columns) :]
    if len(made) != 1:
        instead = "write CROSS JOIN UNNEST(...) AS u, and select its columns"
        raise source.error(
            "UNNEST of several columns in a select list is not supported", place(found[0]), instead, NotSupported
        )
    element = Visible(SELECTED, "element", made[0].column, hidden=True)
    column = exp.column(exp.to_identifier("element", quoted=True), table=exp.to_identifier(SELECTED, quoted=True))
    start, end = place(found[0])
    for identifier in column.find_all(exp.Identifier):
        identifier.meta.update(start=start, end=end - 1)
    named = {
        id(item): item if isinstance(item, exp.Alias) else exp.alias_(item.copy(), output_name(item, at), quoted=True)
        for at, item in enumerate(tree.expressions)
        if found[0] in item.find_all(exp.Unnest)
    }
    items = [named.get(id(item), item).copy() for item in tree.expressions]
    for item in items:
        for part in list(item.find_all(exp.Unnest)):
            part.replace(column)
    tree = tree.copy()
    tree.set("expressions", items)
    return tree, replace(both, columns=(*relation.columns, element))


def _fitting(source: QueryText, on: exp.Expr, both: Relation, node: Unnest) -> Relation:
    """The elements that meet a condition, which LEFT JOIN has to look at before it knows which rows have none."""
    condition = Binder(source, both).condition(on, "ON")
    if not node.outer:
        return replace(both, node=Filter(node, condition, written=NodeLocation(place(on)[0])))
    if node.ordinality:
        problem = "LEFT JOIN UNNEST ... WITH ORDINALITY ON another condition than TRUE is not supported"
        raise source.error(problem, place(on), "leave WITH ORDINALITY out, or write ON TRUE", NotSupported)
    return replace(both, node=replace(node, condition=condition))


def _is_outer(source: QueryText, join: exp.Join) -> bool:
    side = join.side.upper()
    if side not in ("", "LEFT"):
        raise source.error(f"{side} JOIN UNNEST is not supported", place(join), "write CROSS JOIN UNNEST", NotSupported)
    return side == "LEFT"


def _fields(source: QueryText, unnest: exp.Unnest, kind: DataType) -> list[tuple[str, DataType]]:
    match kind:
        case ArrayType(RowType(fields)):
            return list(fields)
        case ArrayType(element):
            return [("", element)]
        case MapType(key, value):
            return [("key", key), ("value", value)]
    advice = "write UNNEST(SPLIT(text, ',')) for the parts of a text" if kind == VARCHAR else ""
    raise source.error(f"UNNEST takes an ARRAY or a MAP, this is {kind}", place(unnest.expressions[0]), advice)


def _aliases(source: QueryText, unnest: exp.Unnest, fields: list[tuple[str, DataType]]) -> tuple[str, list[str]]:
    """The table alias and the columns' names: as written, else the fields' own, else the alias itself as in Postgres."""
    alias, offset = unnest.args.get("alias"), unnest.args.get("offset")
    table = alias.name if alias else ""
    written = [name_of(source, column) for column in alias.columns] if alias else []
    if isinstance(offset, exp.Identifier):  # sqlglot takes the last alias for the ordinality
        written.append(name_of(source, offset))
    if len(written) > len(fields):
        raise source.error(
            f"UNNEST gives {len(fields)} column{'s' * (len(fields) > 1)}, not {len(written)}", written[-1].span
        )
    own = [name or table or "element" for name, _ in fields]
    return table, [*(name.text for name in written), *own[len(written) :]]
