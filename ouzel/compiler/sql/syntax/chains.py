"""What sqlglot nests, as it was written: chains of an operator, names with dots, a call and what stands around it."""

from __future__ import annotations

from sqlglot import exp


def operands_of(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a chain of one operator, left to right."""
    kind, found = type(node), []
    while type(node) is kind:
        found.append(node.expression)
        node = node.this
    return [node, *reversed(found)]


def called_in(node: exp.Expr) -> exp.Expr:
    """The call itself, without WITHIN GROUP and IGNORE NULLS around it."""
    while isinstance(node, exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        node = node.this
    return node


def identifiers_of(node: exp.Expr) -> list[exp.Expr]:
    """The identifiers of `a.b.c.d.e`, in order; sqlglot nests the first four in a Column."""
    if isinstance(node, exp.Dot):
        return [*identifiers_of(node.this), node.expression]
    return [node.args[key] for key in ("catalog", "db", "table", "this") if node.args.get(key)]


def root_of(node: exp.Expr) -> exp.Expr:
    """What the fields of `a.b.c.d.e` are taken from."""
    while isinstance(node, exp.Dot):
        node = node.this
    return node
