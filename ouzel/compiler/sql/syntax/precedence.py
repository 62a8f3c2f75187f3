"""Which operator binds tighter, where that must be said in parentheses; `dialect.py` has the levels.

What Spark and PostgreSQL (DuckDB too) read alike is read so. What they read differently is refused, whatever one of them would make of it;
what only one of them takes is read as it reads it. docs/sql.md has the table.
"""

from __future__ import annotations

from sqlglot import exp

from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.NullSafeEQ: "<=>",
}  # fmt: skip
_PATTERNS: dict[type[exp.Expr], str] = {
    exp.Between: "BETWEEN",
    exp.In: "IN",
    exp.Like: "LIKE",
    exp.ILike: "ILIKE",
    exp.RegexpLike: "RLIKE",
    exp.SimilarTo: "SIMILAR TO",
}
_UNCHAINED = (exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.SimilarTo)
_SUMS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-"}
_PRODUCTS: dict[type[exp.Expr], str] = {exp.Mul: "*", exp.Div: "/", exp.IntDiv: "DIV", exp.Mod: "%"}
_BITS: dict[type[exp.Expr], str] = {exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^", exp.DPipe: "||"}
_SIGNS: dict[type[exp.Expr], str] = {
    **_COMPARISONS,
    **_PATTERNS,
    **_SUMS,
    **_PRODUCTS,
    **_BITS,
    exp.BitwiseNot: "~",
    exp.Not: "NOT",
}

_PREFIXES: dict[type[exp.Expr], str] = {exp.BitwiseNot: "~", exp.Not: "NOT "}
"""Signs that stand before what the parser knows the place of."""


def settle_precedence(source: QueryText, tree: exp.Expr) -> exp.Expr:
    """Refuse what other databases read in several ways, and make the minus of `-2::INT` part of the number, as in Spark.

    Returns the tree, which is another where it was `-2::INT` alone.

    Raises:
        QueryError: parentheses are missing.
    """
    for node in list(tree.walk()):
        kind = type(node)
        if kind in _COMPARISONS:
            _check_comparison(source, node)
        elif kind in _PATTERNS:
            _refuse(source, node, node.this, _UNCHAINED)
        elif kind in _BITS:
            _check_bits(source, node)
        elif kind in _SUMS or kind in _PRODUCTS:
            _check_arithmetic(source, node)
        elif kind is exp.Neg:
            tree = _sign_number(node, tree)
    return tree


def _check_comparison(source: QueryText, node: exp.Expr) -> None:
    """`a = b IN (c)` and `a BETWEEN b AND c = d`: Spark compares first, PostgreSQL last."""
    _refuse(source, node, _strip_not(node.expression), tuple(_PATTERNS))
    _refuse(source, node, _strip_not(node.this), _UNCHAINED)


def _check_arithmetic(source: QueryText, node: exp.Expr) -> None:
    """`~a + b` is ~(a + b) in PostgreSQL; NOT has no place in a sum."""
    _refuse(source, node, _last(node.this), (exp.BitwiseNot, exp.Not))
    _refuse(source, node, node.expression, (exp.Not,))


def _check_bits(source: QueryText, node: exp.Expr) -> None:
    """Of & | ^ || each database has an order of its own, and of || and + too; ^ is a power in some."""
    if isinstance(node, exp.BitwiseXor):
        source.note("^ is exclusive or, of bits", place(node), "write POWER(a, b) for a power, or BITXOR(a, b)")
    _refuse(source, node, node.this, (*(kind for kind in _BITS if kind is not type(node)), exp.Not))
    _refuse(source, node, node.expression, (*(_SUMS if isinstance(node, exp.DPipe) else ()), exp.Not))


def _refuse(source: QueryText, node: exp.Expr, part: exp.Expr, kinds: tuple[type[exp.Expr], ...]) -> None:
    """Refuse a part of one of these kinds that stands there without parentheses."""
    if not isinstance(part, kinds):
        return
    inner, outer = _SIGNS[type(part)], _SIGNS[type(node)]
    start, end = source.with_parentheses(*place(part))
    prefix = _PREFIXES.get(type(part), "")
    raise source.error(
        f"which of {inner} and {outer} comes first is not said",
        place(node),
        f"write ({prefix}{source.text[start:end]}) in parentheses",
    )


def _strip_not(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Not) else node


def _last(node: exp.Expr) -> exp.Expr:
    """The operand at the right edge of arithmetic."""
    while isinstance(node, (exp.Neg, *_SUMS, *_PRODUCTS)):
        node = node.this if isinstance(node, exp.Neg) else node.expression
    return node


def _sign_number(node: exp.Expr, tree: exp.Expr) -> exp.Expr:
    """`-2::INT` is the number -2 as INT, as in Spark; PostgreSQL casts 2 first, which gives the same or fails."""
    cast = inner = node.this
    while isinstance(inner, exp.Cast):
        inner = inner.this
    if inner is cast or not isinstance(inner, exp.Literal) or inner.is_string:
        return tree
    inner.replace(exp.Neg(this=inner.copy()))
    node.replace(cast)
    return cast if node is tree else tree
