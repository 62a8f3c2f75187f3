"""Clauses that give other rows than they seem to: sessions of all keys, rows of several windows, DISTINCT of one column."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ouzel.compiler.plan import Node
from ouzel.compiler.plan.window_grid import WindowGrid
from ouzel.compiler.sql.queries.output import strip_alias
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.queries.windows import WINDOW_COLUMNS, is_window, read_window
from ouzel.compiler.sql.syntax.places import call_name, place
from ouzel.compiler.sql.syntax.source import QueryText

_ADDING = ("count", "count_if", "sum")
"""Aggregates that change where a row comes twice."""


def note_windows(source: QueryText, tree: exp.Select, relation: Relation) -> None:
    """Tell of windows in FROM that the GROUP BY of the same query does not fit."""
    clause = tree.args.get("from_")
    call = clause.this.this if clause is not None and not tree.args.get("joins") else None
    if call is None or not is_window(call):
        return
    keys = _keys_of(tree)
    if call_name(call) == "session":
        _note_session(source, call, keys)
    elif not any(column.name.lower() in WINDOW_COLUMNS for column in _columns_of(tree)):
        _note_several(source, tree, call, _grid_of(relation.node))


def _keys_of(tree: exp.Select) -> list[exp.Expr]:
    """The columns that GROUP BY names beside those of the window."""
    group = tree.args.get("group")
    keys = group.expressions if group is not None else ()
    return [key for key in keys if isinstance(key, exp.Column) and key.name.lower() not in WINDOW_COLUMNS]


def _columns_of(tree: exp.Select) -> Iterator[exp.Column]:
    return tree.find_all(exp.Column)


def _note_session(source: QueryText, call: exp.Expr, keys: list[exp.Expr]) -> None:
    """Tell of the sessions of all rows together, which are then counted for each key."""
    read = read_window(source, call, data=True)
    if not keys or read.keys or read.data is None:
        return
    names = ", ".join(source.text[slice(*place(key))].rpartition(".")[2] for key in keys)
    table = source.text[slice(*place(read.data))]
    problem = f"these sessions are of all rows together, and not of each {names}"
    source.note(problem, place(call), f"write SESSION(TABLE {table} PARTITION BY {names}, ...)")


def _grid_of(node: Node) -> WindowGrid | None:
    while node.window_grid is None and len(node.inputs) == 1:
        (node,) = node.inputs
    return node.window_grid


def _note_several(source: QueryText, tree: exp.Select, call: exp.Expr, grid: WindowGrid | None) -> None:
    """Tell of rows that are counted once in each of their windows."""
    if grid is None or grid.slide_us == grid.size_us or not _adds_up(tree):
        return
    kind, times = call_name(call).upper(), grid.size_us // grid.slide_us
    most = "up to " * (kind == "CUMULATE")
    problem = f"{kind} puts each row into {most}{times} windows, and without them in GROUP BY it is counted as often"
    source.note(problem, place(call), "write GROUP BY window_start, window_end too, or leave the windows out")


def _adds_up(tree: exp.Select) -> bool:
    called = (part for item in tree.expressions for part in item.find_all(exp.Anonymous) if call_name(part) in _ADDING)
    return any(not (part.expressions and isinstance(part.expressions[0], exp.Distinct)) for part in called)


def note_distinct(source: QueryText, tree: exp.Select) -> None:
    """Tell of SELECT DISTINCT (a), b, where DISTINCT looks like a function of a."""
    first, *others = tree.expressions
    value = strip_alias(first)
    if not others or not isinstance(value, exp.Paren) or not isinstance(value.this, exp.Column):
        return
    shown = source.text[slice(*place(value.this))]
    items = ", ".join([shown, *(source.text[slice(*source.with_parentheses(*place(item)))] for item in others)])
    problem = f"DISTINCT is of all columns here, and not of {shown} alone"
    advice = f"write DISTINCT ON ({shown}) {items} for one row of each, or leave out the parentheses"
    source.note(problem, place(value), advice)
