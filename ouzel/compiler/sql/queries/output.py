"""The columns a SELECT gives: stars spread out, names chosen, and the projection that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.functions.aggregates import aggregate_names
from ouzel.compiler.plan import Project
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.queries.scope import Relation, Visible, fresh, is_name_of, name_of, near, pick
from ouzel.compiler.sql.syntax.places import call_name, consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Name
from ouzel.compiler.types import IntervalType, RowType, walk_type
from ouzel.compiler.written import NodeLocation
from ouzel.errors import NotSupported, QueryError


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
            _note_comma(binder, item)
            outputs.append(OutputColumn(name, check_storable(binder, item, _bind_item(binder, item, items)), item))
        else:
            outputs += _spread_with_changes(binder, item, star)
    if items and not outputs:
        raise binder.source.error("this leaves no column", place(items[0]), "name a column")
    return outputs


def _note_comma(binder: Binder, item: exp.Expr) -> None:
    """Tell of `a b`, without AS, where b is a column too: a comma may be missing."""
    if (
        not isinstance(item, exp.Alias)
        or not isinstance(item.this, exp.Column)
        or "start" not in item.args["alias"].meta
    ):
        return
    alias, column = name_of(binder.source, item.args["alias"]), item.this.name
    between = binder.source.text[place(item.this)[1] : alias.span[0]]
    others = [known.name for known in binder.relation.columns if known.name.lower() != column.lower()]
    if not between.strip() and pick(alias, others):
        problem = f"{column} is called {alias.text} here, and there is a column {alias.text} too"
        binder.source.note(problem, alias.span, f"write a comma before it to select both, or AS {alias.text}")


def check_storable(binder: Binder, item: exp.Expr, value: Expression) -> Expression:
    """The value, which a column can hold.

    Raises:
        NotSupported: it is a span of months, or holds one.
    """
    if any(isinstance(part, IntervalType) and part.months for part in walk_type(value.type)):
        advice = "add it to a time, as ts + INTERVAL '1' MONTH, or select the months as a number"
        raise binder.source.error(
            f"a column of {value.type} is not supported", place(strip_alias(item)), advice, NotSupported
        )
    return value


def _bind_item(binder: Binder, item: exp.Expr, items: Sequence[exp.Expr]) -> Expression:
    try:
        return binder.bind(strip_alias(item))
    except QueryError as error:
        advise_of_alias(error, items, "the list itself")
        raise


def advise_of_alias(
    error: QueryError, items: Sequence[exp.Expr], clause: str, condition: exp.Expr | None = None
) -> None:
    """If the name that is not found is an alias of the select list, say that the clause, with its condition, does not see it."""
    written = error.text[error.at :][: error.length] if error.at >= 0 else ""
    named = next((item for item in items if isinstance(item, exp.Alias) and item.alias == written), None)
    if named is not None and error.problem.startswith("there is no"):
        computed = error.text[slice(*place(named.this))]
        advice = f"write {computed}" if len(computed) < 60 else "write its expression"
        if clause == "WHERE" and any(call_name(call) in aggregate_names() for call in named.find_all(exp.Anonymous)):
            advice = f"it is of a group, so write HAVING {computed} ... behind GROUP BY"
        uses = (
            (column for column in condition.find_all(exp.Column) if place(column)[0] == error.at) if condition else ()
        )
        if named.find(exp.Window) is not None and (used := next(iter(uses), None)):
            advice = f"filter what OVER gives: write QUALIFY {_written_part(error.text, used)}"
        error.instead = f"{written} is an alias of the select list, which {clause} does not see: {advice}"


def refuse_over(source: QueryText, reason: str, node: exp.Expr) -> NoReturn:
    """Refuse a call with OVER in a condition that chooses rows before OVER sees them.

    Raises:
        QueryError: always, with the condition as QUALIFY takes it.
    """
    advice = f"write QUALIFY {_written_part(source.text, node)}"
    raise source.error(f"OVER cannot stand here: {reason}", place(node.this), advice)


def _written_part(text: str, node: exp.Expr) -> str:
    """What is written between the outermost ANDs of a condition, where the node is."""
    path = [node]
    while path[-1].parent is not None and not isinstance(path[-1], exp.Where | exp.Having):
        path.append(path[-1].parent)
    part = next((one for one in reversed(path) if not isinstance(one, exp.Where | exp.Having | exp.And)), node)
    start, end = place(part)
    return " ".join(text[start:end].split())


def _spread_with_changes(binder: Binder, item: exp.Expr, star: exp.Expr) -> list[OutputColumn]:
    """`* EXCLUDE (a)`, which is also spelled EXCEPT, `* REPLACE (a + 1 AS b)` and `* RENAME (c AS d)`, as in DuckDB and Snowflake."""
    spread = spread_star(binder.source, item, binder.relation)
    left_out = {column for node in star.args.get("except_") or () for column in _find(binder.source, node, spread)}
    computed, named = (_aliases(binder.source, star, clause, spread) for clause in ("replace", "rename"))
    outputs: list[OutputColumn] = []
    for column in spread:
        if column in left_out:
            continue
        name = named[column].alias if column in named else column.name
        if column in computed:
            outputs.append(OutputColumn(name, binder.bind(computed[column].this), computed[column]))
        else:
            outputs.append(OutputColumn(name, binder.relation.column(column), item))
    return outputs


def _aliases(source: QueryText, star: exp.Expr, clause: str, spread: Sequence[Visible]) -> dict[Visible, exp.Alias]:
    """The items of REPLACE by the column that their alias names, and of RENAME by the one that they rename."""
    found: dict[Visible, exp.Alias] = {}
    for node in star.args.get(clause) or ():
        if not isinstance(node, exp.Alias):
            example = "REPLACE (value AS name)" if clause == "replace" else "RENAME (name AS other)"
            raise source.error(f"{clause.upper()} says no name", place(node), f"write {example}")
        sought = node.args["alias"] if clause == "replace" else node.this
        for column in _find(source, sought, spread):
            if column in found:
                raise source.error(f"{column.name} stands twice in {clause.upper()}", place(node), "write it once")
            found[column] = node
    return found


def _find(source: QueryText, node: exp.Expr, spread: Sequence[Visible]) -> list[Visible]:
    """The columns of a star that a name means: several where tables are joined that have it."""
    identifier = node.this if isinstance(node, exp.Column) else node
    if not isinstance(identifier, exp.Identifier) or node.args.get("db"):
        raise source.error("this is no name of a column", place(node), "write the column's name alone")
    name, table = name_of(source, identifier), node.args.get("table")
    owner = name_of(source, table) if isinstance(table, exp.Identifier) else None
    found = [
        column
        for column in spread
        if is_name_of(name, column.name) and (owner is None or is_name_of(owner, column.table))
    ]
    if not found:
        advice = near(name.text, (column.name for column in spread))
        raise source.error(f"* has no column {name.text}", place(node), advice)
    return found


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
    consume(source, star, "except_", "replace", "rename")
    if not relation.columns:
        raise source.error("there are no columns: this query reads no table", place(item), "add FROM")
    if isinstance(item, exp.Star):
        return tuple(column for column in relation.columns if not column.hidden)
    table = name_of(source, item.args["table"])
    found = tuple(column for column in relation.columns if is_name_of(table, column.table))
    if not found:
        known = {column.table for column in relation.columns}
        advice = _advise_fields(table, relation) or near(table.text, known)
        raise source.error(f"there is no table {table.text} in FROM", table.span, advice)
    return found


def _advise_fields(name: Name, relation: Relation) -> str:
    """The fields one by one, where the name before `.*` is a column with fields; else nothing."""
    whole = next((column for column in relation.columns if is_name_of(name, column.name)), None)
    kind = relation.column(whole).type if whole else None
    if not isinstance(kind, RowType):
        return ""
    return f"{name.text} is a ROW, whose fields stand one by one: write {', '.join(f'{name.text}.{field}' for field, _ in kind.fields)}"


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
