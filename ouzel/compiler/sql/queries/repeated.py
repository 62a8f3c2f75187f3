"""Names of tables that stand twice in one FROM: a column of theirs would be that of either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from sqlglot import exp

from ouzel.compiler.sql.queries.scope import name_of
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Name


def check_table_names(source: QueryText, tables: Iterable[exp.Expr]) -> None:
    """See that each of the tables of a FROM has a name of its own, as PostgreSQL does.

    Raises:
        QueryError: two have the same.
    """
    known: list[Name] = []
    for table in tables:
        for name in _name(source, table):
            if any(_is_same(name, one) for one in known):
                problem = f"the table name {name.text} is given more than once in this FROM"
                raise source.error(problem, name.span, f"write {_spell_renamed(table, name, known)}")
            known.append(name)


def _name(source: QueryText, table: exp.Expr) -> Iterator[Name]:
    """The alias of a table, or its name; nothing of a subquery, a function or a file without an alias."""
    alias = table.args.get("alias")
    named = alias.this if alias is not None and alias.this else table.this
    if isinstance(named, exp.Identifier):
        yield name_of(source, named)


def _is_same(one: Name, other: Name) -> bool:
    """Whether no spelling tells them apart."""
    unquoted = not one.quoted and not other.quoted
    return one.text == other.text or (unquoted and one.text.lower() == other.text.lower())


def _spell_renamed(table: exp.Expr, name: Name, known: Iterable[Name]) -> str:
    """The table under a name that is free."""
    taken = {one.text.lower() for one in known}
    free = next(f"{name.text}{number}" for number in count(2) if f"{name.text}{number}".lower() not in taken)
    is_named = isinstance(table.this, exp.Identifier)
    return f"{table.this.name} AS {free}" if is_named else f"AS {free}"
