"""The columns a SELECT gives: stars spread out, names chosen, and the projection that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.plan import Project
from ouzel.compiler.sql.binder import Binder
from ouzel.compiler.sql.places import consume, place
from ouzel.compiler.sql.scope import Relation, Visible, fresh, matches, name_of, near
from ouzel.compiler.sql.source import QueryText
from ouzel.compiler.written import NodeLocation


@dataclass(frozen=True)
class OutputColumn:
    """One column of a SELECT; `node` is where it was written."""

    name: str
    expression: Expression
    node: exp.Expr | None = None


def outputs_of(binder: Binder, items: Sequence[exp.Expr]) -> list[OutputColumn]:
    """The output columns of a select list, their names as written (two may be equal).

    Raises:
        QueryError: an item does not bind.
    """
    outputs: list[OutputColumn] = []
    for item in items:
        star = star_of(item)
        if star is None:
            name = output_name(item, len(outputs))
            outputs.append(OutputColumn(name, binder.bind(strip_alias(item)), item))
        else:
            spread = spread_star(binder.source, item, binder.relation)
            outputs += [OutputColumn(column.name, binder.relation.column(column), item) for column in spread]
    return outputs


def star_of(item: exp.Expr) -> exp.Expr | None:
    """The star of `*` or `t.*`."""
    if isinstance(item, exp.Star):
        return item
    return item.this if isinstance(item, exp.Column) and isinstance(item.this, exp.Star) else None


def spread_star(source: QueryText, item: exp.Expr, relation: Relation) -> tuple[Visible, ...]:
    """The columns that `*` or `t.*` stands for.

    Raises:
        QueryError: there is no such table in FROM.
    """
    star = star_of(item)
    assert star is not None
    consume(source, star)
    if not relation.columns:
        raise source.error("there are no columns: this query reads no table", place(item), "add FROM")
    if isinstance(item, exp.Star):
        return tuple(column for column in relation.columns if not column.hidden)
    table = name_of(source, item.args["table"])
    found = tuple(column for column in relation.columns if matches(table, column.table))
    if not found:
        known = {column.table for column in relation.columns}
        raise source.error(f"there is no table {table.text} in FROM", table.span, near(table.text, known))
    return found


def strip_alias(item: exp.Expr) -> exp.Expr:
    """The expression of a select item."""
    return item.this if isinstance(item, exp.Alias) else item


def output_name(item: exp.Expr, position: int) -> str:
    """Alias, column or field name, else EXPR$position as Flink has it."""
    if isinstance(item, exp.Alias):
        return item.alias
    if isinstance(item, exp.Column):
        return item.name
    if isinstance(item, exp.Dot) and isinstance(item.expression, exp.Identifier):
        return item.expression.name
    return f"EXPR${position}"


def project(relation: Relation, outputs: Sequence[OutputColumn]) -> Relation:
    """The relation of these columns, each name once; without a Project where nothing changes."""
    names: list[str] = []
    for output in outputs:
        names.append(fresh(output.name, names))
    items = tuple((name, output.expression) for name, output in zip(names, outputs, strict=True))
    same = [name for name, _ in items] == list(relation.node.schema.names) and all(
        isinstance(value, Column) and value.name == name for name, value in items
    )
    written = NodeLocation(place(outputs[0].node)[0]) if outputs and outputs[0].node is not None else NodeLocation()
    node = relation.node if same else Project(relation.node, items, written=written)
    return Relation(node, tuple(Visible("", name, name) for name in names), _window(relation, items), relation.undated)


def _window(relation: Relation, items: Sequence[tuple[str, Expression]]) -> tuple[str, str, str] | None:
    """Which of the new columns are the window's; None when its end is gone."""
    if relation.window is None:
        return None
    kept = {value.name: name for name, value in reversed(items) if isinstance(value, Column)}
    start, end, time = (kept.get(column, "") for column in relation.window)
    return (start, end, time) if end else None
