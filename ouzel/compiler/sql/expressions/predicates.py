"""What compares in words, bound: IS, BETWEEN, IN, LIKE, RLIKE, and lists of values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from sqlglot import exp

from ouzel.compiler.expressions import Expression, Literal, conjunction
from ouzel.compiler.sql.expressions.constants import note_days, note_list
from ouzel.compiler.sql.expressions.suspicions import note_pattern
from ouzel.compiler.sql.queries.scope import Relation
from ouzel.compiler.sql.syntax.dialect import LITERAL
from ouzel.compiler.sql.syntax.places import call_name, consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import BOOLEAN, NULL
from ouzel.errors import NotSupported

OF_TUPLES: dict[type[exp.Expr], str] = {
    exp.EQ: "eq", exp.NEQ: "ne", exp.LT: "lt", exp.LTE: "le", exp.GT: "gt", exp.GTE: "ge",
}  # fmt: skip
"""What compares lists of values."""
_STRICT = {"lt": "lt", "le": "lt", "gt": "gt", "ge": "gt"}
_PATTERNS: dict[type[exp.Expr], str] = {exp.Like: "like", exp.ILike: "ilike", exp.SimilarTo: "similar_to"}
_PREDICATES = {"null": "is_null", "true": "is_true", "false": "is_false", "unknown": "is_null"}


class Binds(Protocol):
    """What binds the parts of a comparison: `binder.Binder`."""

    source: QueryText
    relation: Relation

    def bind(self, node: exp.Expr) -> Expression:
        """The typed expression of a tree."""

    def resolve(self, node: exp.Expr, function: str, arguments: Sequence[Expression]) -> Expression:
        """A call of a registered function, its errors placed at `node`."""


def bind_is(binder: Binds, node: exp.Expr) -> Expression:
    """IS NULL, IS TRUE, IS FALSE, IS UNKNOWN."""
    consume(binder.source, node, "this", "expression")
    kind = _following_is(binder, node.expression)
    if kind not in _PREDICATES:
        raise binder.source.error("IS is followed by something else", place(node), _advise_is(binder, node, kind))
    value = binder.bind(node.this)
    if kind == "unknown" and value.type not in (BOOLEAN, NULL):
        raise binder.source.error(f"IS UNKNOWN takes BOOLEAN, not {value.type}", place(node), "write IS NULL")
    return binder.resolve(node, _PREDICATES[kind], [value])


def _advise_is(binder: Binds, node: exp.Expr, kind: str) -> str:
    """What to write where IS compares: `status IS 'paid'`, `status IS NOT 'paid'`, and `tags IS EMPTY`."""
    value = binder.source.text[slice(*place(node.this))]
    negated = isinstance(node.parent, exp.Not)
    if kind == "empty":
        return f"write CARDINALITY({value}) {'>' if negated else '='} 0, or {value} {'<>' if negated else '='} '' of a text"
    if isinstance(node.expression, exp.Literal):
        return f"write {value} {'<>' if negated else '='} {binder.source.text[slice(*place(node.expression))]}"
    return "write IS NULL, IS TRUE, IS FALSE, IS UNKNOWN or IS DISTINCT FROM"


def _following_is(binder: Binds, right: exp.Expr) -> str:
    """What follows IS, in lower case."""
    if isinstance(right, exp.Null):
        return "null"
    start, end = place(right)
    return str(right.this).lower() if isinstance(right, exp.Boolean) else binder.source.text[start:end].lower()


def bind_between(binder: Binds, node: exp.Expr) -> Expression:
    """BETWEEN low AND high."""
    consume(binder.source, node, "this", "low", "high")
    _note_reversed(binder.source, node)
    values = [binder.bind(node.args[key]) for key in ("this", "low", "high")]
    note_days(binder.source, binder.relation, node, values)
    return binder.resolve(node, "between", values)


def _note_reversed(source: QueryText, node: exp.Expr) -> None:
    """Tell of BETWEEN t AND t - x, with the bounds the wrong way round: it is allowed, and true of no row."""
    low, high = node.args["low"], node.args["high"]
    (floor, up), (ceiling, down) = _find_shift(low, exp.Add), _find_shift(high, exp.Sub)
    if _is_above(low, high) or ((up or down) and floor == ceiling):
        one, other = (source.text[slice(*place(bound))] for bound in (low, high))
        problem = f"BETWEEN {one} AND {other} is true of no row"
        source.note(problem, (place(low)[0], place(high)[1]), f"write BETWEEN {other} AND {one}")


def _find_shift(bound: exp.Expr, sign: type[exp.Expr]) -> tuple[exp.Expr, bool]:
    """What a bound is computed of by adding, or taking off, a constant; and whether it is."""
    span = bound.expression if isinstance(bound, sign) else None
    amount = (
        span.expressions[0] if isinstance(span, exp.Anonymous) and call_name(span) == f"{LITERAL}interval" else span
    )
    is_shifted = isinstance(amount, exp.Literal) and not amount.name.startswith("-")
    return (bound.this, True) if is_shifted else (bound, False)


def bind_in(binder: Binds, node: exp.Expr) -> Expression:
    """IN (list)."""
    if node.args.get("query"):
        raise binder.source.error(
            "IN (SELECT ...) is not supported here",
            place(node.this),
            "write it in WHERE",
            NotSupported,
        )
    if node.args.get("field"):
        raise binder.source.error("IN is followed by a list", place(node), "put it in parentheses: IN ('a', 'b')")
    consume(binder.source, node, "this", "expressions")
    if isinstance(node.this, exp.Tuple):
        return _bind_in_tuples(binder, node)
    _note_null_in(binder.source, node)
    values = [binder.bind(part) for part in (node.this, *node.expressions)]
    bound = binder.resolve(node, "in", values)
    note_list(binder.source, node, values)
    return bound


def _note_null_in(source: QueryText, node: exp.Expr) -> None:
    """Tell of NULL in a list: of NOT IN it leaves no row, and of IN it finds none."""
    null = next((part for part in node.expressions if isinstance(part, exp.Null)), None)
    if null is None:
        return
    value = source.text[slice(*place(node.this))]
    if isinstance(node.parent, exp.Not):
        source.note(
            "NOT IN a list with NULL is true of no row", place(null), f"leave it out, and add AND {value} IS NOT NULL"
        )
    else:
        source.note(
            "NULL in a list of IN is equal to no value", place(null), f"write OR {value} IS NULL behind the list"
        )


def note_share(source: QueryText, one: exp.Expr, other: exp.Expr) -> None:
    """Tell of a quotient of two aggregates of whole numbers, such as two counts, or of a count and a number: it is whole, too."""
    shown, below = (source.text[slice(*place(part))] for part in (one, other))
    below += " OVER ()" * (
        isinstance(other, exp.Window) and " OVER" not in below.upper()
    )  # which has no place of its own
    problem = f"{shown} / {below} is of whole numbers, and so has nothing behind the point"
    advice = f"write CAST({shown} AS DOUBLE) / {below}"
    advice += f", or {shown} DIV {below} if that is meant" if isinstance(other, exp.Literal) else " for a share"
    source.note(problem, (place(one)[0], place(other)[1]), advice)


def is_part_of_total(node: exp.Expr) -> bool:
    """Whether a quotient is of a column, or an aggregate, and a SUM or COUNT with OVER of it all."""
    total = node.expression
    if not isinstance(total, exp.Window) or not isinstance(node.this, exp.Column | exp.Anonymous):
        return False
    return isinstance(total.this, exp.Anonymous) and call_name(total.this) in ("sum", "count")


def is_rate(node: exp.Expr, below: Expression) -> bool:
    """Whether a quotient is of a count and a number above 1, and is not cut by FLOOR, which says what is meant."""
    counted = node.this.this if isinstance(node.this, exp.Filter) else node.this
    if not isinstance(counted, exp.Anonymous) or call_name(counted) not in (
        "count",
        "count_if",
        "approx_count_distinct",
    ):
        return False
    is_cut = isinstance(node.parent, exp.Anonymous) and call_name(node.parent) in ("floor", "trunc", "truncate")
    return isinstance(below, Literal) and isinstance(below.value, int) and below.value > 1 and not is_cut


def _bind_in_tuples(binder: Binds, node: exp.Expr) -> Expression:
    """(a, b) IN ((1, 2), (3, 4)): whether all values of a tuple are equal, and unknown where that is."""
    values = [binder.bind(part) for part in node.this.expressions]
    rows = [_bind_equal(binder, values, row) for row in node.expressions]
    while len(rows) > 1:
        rows = [
            binder.resolve(node, "or", rows[at : at + 2]) if rows[at + 1 :] else rows[at]
            for at in range(0, len(rows), 2)
        ]
    return rows[0]


def bind_tuples(binder: Binds, node: exp.Expr) -> Expression:
    """`(a, b) = (c, d)`, and `(a, b) < (c, d)`: a < c, or a = c and b < d."""
    function, values = OF_TUPLES[type(node)], [binder.bind(part) for part in node.this.expressions]
    if function in ("eq", "ne"):
        same = _bind_equal(binder, values, node.expression)
        return same if function == "eq" else binder.resolve(node, "not", [same])
    pairs = _bind_pairs(binder, values, node.expression)
    ordered = binder.resolve(node, function, pairs[-1])
    for pair in reversed(pairs[:-1]):
        tied = conjunction([binder.resolve(node, "eq", pair), ordered])
        ordered = binder.resolve(node, "or", [binder.resolve(node, _STRICT[function], pair), tied])
    return ordered


def _bind_equal(binder: Binds, values: Sequence[Expression], row: exp.Expr) -> Expression:
    """Whether each value is equal to that of a tuple in its place."""
    return conjunction([binder.resolve(row, "eq", pair) for pair in _bind_pairs(binder, values, row)])


def _bind_pairs(binder: Binds, values: Sequence[Expression], row: exp.Expr) -> list[list[Expression]]:
    """Each value with that of a tuple in its place."""
    parts = row.expressions if isinstance(row, exp.Tuple) else [row]
    if len(parts) != len(values):
        problem = f"{len(values)} values are compared, and this is {len(parts)}"
        raise binder.source.error(problem, place(row), "write as many in parentheses")
    return [[value, binder.bind(part)] for value, part in zip(values, parts, strict=True)]


def bind_like(binder: Binds, node: exp.Expr, escape: exp.Expr | None = None) -> Expression:
    """LIKE, ILIKE and SIMILAR TO, with NOT and ESCAPE."""
    consume(binder.source, node, "this", "expression", "negate")
    arguments = [binder.bind(part) for part in (node.this, node.expression, escape) if part is not None]
    bound = binder.resolve(node, _PATTERNS[type(node)], arguments)
    if len(arguments) == 2 and not isinstance(node, exp.SimilarTo):
        note_pattern(binder.source, node, arguments[1])
    return binder.resolve(node, "not", [bound]) if node.args.get("negate") else bound


def bind_rlike(binder: Binds, node: exp.Expr) -> Expression:
    """`text RLIKE pattern`, also spelled REGEXP."""
    consume(binder.source, node, "this", "expression")
    return binder.resolve(node, "rlike", [binder.bind(node.this), binder.bind(node.expression)])


def bind_escape(binder: Binds, node: exp.Expr) -> Expression:
    """LIKE ... ESCAPE, and SIMILAR TO ... ESCAPE."""
    if type(node.this) not in _PATTERNS:
        raise binder.source.error("ESCAPE belongs to LIKE and SIMILAR TO", place(node))
    return bind_like(binder, node.this, node.expression)


def _is_above(low: exp.Expr, high: exp.Expr) -> bool:
    """Whether these are two numbers, or two texts of times, of which the first is the larger."""
    if not (isinstance(low, exp.Literal) and isinstance(high, exp.Literal)) or low.is_string != high.is_string:
        return False
    if low.is_string:
        return all(re.match(r"\d{4}-\d\d-\d\d", bound.name) for bound in (low, high)) and low.name > high.name
    return float(low.name) > float(high.name)
