"""Advice for `name + ', ' + city`, which other dialects join: || for each + of the chain."""

from __future__ import annotations

from sqlglot import exp

from ouzel.compiler.sql.expressions.predicates import Binds
from ouzel.compiler.sql.syntax.chains import operands_of
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.types import VARCHAR
from ouzel.errors import QueryError


def of_chain(binder: Binds, node: exp.Expr, advice: str) -> str:
    """The advice for one + that should be ||, for the whole chain in which it stands; any other as it is."""
    root = node
    while isinstance(root.parent, exp.Add) and root.parent.this is root:
        root = root.parent
    if root is node or not isinstance(node, exp.Add) or " || " not in advice:
        return advice
    shown = []
    for part in operands_of(root):
        text = binder.source.text[slice(*place(part))]
        try:
            shown.append(text if binder.bind(part).type == VARCHAR else f"CAST({text} AS VARCHAR)")
        except QueryError:  # is told when the chain is written with ||
            return advice
    return f"write {' || '.join(shown)}"
