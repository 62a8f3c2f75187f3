"""IGNORE NULLS and RESPECT NULLS beside OVER: the second says what a call does anyway, and of the first what to write for it."""

from __future__ import annotations

from sqlglot import exp

from ouzel.compiler.expressions import Column, Expression
from ouzel.compiler.sql.syntax.places import call_name, place
from ouzel.compiler.sql.syntax.source import QueryText, depth_change, is_word
from ouzel.errors import NotSupported

_LEAVE_NULLS = (exp.IgnoreNulls, exp.RespectNulls)
_ENDS = {"first_value": "MIN_BY", "last_value": "MAX_BY", "lag": "MAX_BY", "lead": "MIN_BY"}
_FRAMES = {
    "lag": " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "lead": " ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
}


def without_respect_nulls(source: QueryText, node: exp.Expr) -> exp.Expr:
    """The call before OVER without RESPECT NULLS.

    Args:
        node: the call with its OVER.

    Raises:
        NotSupported: IGNORE NULLS stands there.
    """
    called = node.this
    inner = called.this if isinstance(called, _LEAVE_NULLS) else called
    if not isinstance(inner, exp.Anonymous):
        return called  # type: ignore[no-any-return]  # of what sqlglot keeps in a tree
    ignores = isinstance(called, exp.IgnoreNulls) or any(
        isinstance(part, exp.IgnoreNulls) for part in inner.expressions
    )
    name = call_name(inner)
    if name in ("first_value", "last_value") and len(inner.expressions) == 2:
        ignores = isinstance(inner.expressions[1], exp.Boolean) and bool(inner.expressions[1].this)  # as in Spark
    if ignores:
        problem = f"IGNORE NULLS of {name.upper()} OVER is not supported"
        raise source.error(problem, place(called), advise_of_nulls(source, node, inner), NotSupported)
    parts = [part.this if isinstance(part, exp.RespectNulls) else part for part in inner.expressions]
    if parts != inner.expressions:
        inner = inner.copy()
        inner.set("expressions", parts)
    return inner


def advise_of_nulls(source: QueryText, node: exp.Expr, called: exp.Expr) -> str:
    """What gives the value that IGNORE NULLS would give, in the words of the query."""
    name, parts = call_name(called), called.expressions
    if not parts:
        return "leave it out"
    value = source.text[slice(*place(parts[0].this if isinstance(parts[0], _LEAVE_NULLS) else parts[0]))]
    order = _order(node)
    number = len(parts) > 1 and name in ("lag", "lead") and parts[1].sql() != "1"
    if name not in _ENDS or len(order) != 1 or number or (name in _FRAMES and len(parts) > 2):
        if name in (*_ENDS, "nth_value"):
            return f"leave NULLs out in a subquery of FROM: (SELECT * FROM ... WHERE {value} IS NOT NULL)"
        return "leave it out: an aggregate leaves NULLs out"
    down = bool(order[0].args.get("desc"))
    by = source.text[slice(*place(order[0].this))]
    call = {"MIN_BY": "MAX_BY", "MAX_BY": "MIN_BY"}[_ENDS[name]] if down else _ENDS[name]
    over = _over(source, place(called)[1])
    if name in _FRAMES:
        over = over.replace("OVER ", "OVER (", 1) if "(" not in over else over.removesuffix(")")
        over = f"{over}{_FRAMES[name]})"
    return f"write {call}({value}, {by}) FILTER (WHERE {value} IS NOT NULL) {over}"


def note_own_value(source: QueryText, called: exp.Expr, first: Expression | None, time: str | None) -> None:
    """Tell of LAST_VALUE(x) OVER (... ORDER BY ts), whose frame ends at the row, so that it is x.

    `first` is what the window is ordered by first; where it is no time, rows may be equal in it, and the last of them is meant.
    """
    if not isinstance(first, Column) or first.name != time:
        return
    shown, value = source.text[slice(*place(called))], source.text[slice(*place(called.expressions[0]))]
    problem = (
        f"{shown} is the value of the row itself, or of one of its time, for without ROWS BETWEEN the frame ends there"
    )
    source.note(
        problem, place(called), f"write FIRST_VALUE({value}) with ORDER BY {time} DESC for the last of all rows"
    )


def _order(node: exp.Expr) -> list[exp.Expr]:
    """What the window is ordered by, which WINDOW may say of its name."""
    select = node.find_ancestor(exp.Select)
    windows = select.args.get("windows") if select and node.args.get("alias") else None
    named = next((each for each in windows or () if each.this.name.lower() == node.args["alias"].name.lower()), node)
    return list(named.args["order"].expressions) if named.args.get("order") else []


def _over(source: QueryText, start: int) -> str:
    """OVER (...) as it is written behind a call."""
    tokens = [token for token in source.tokens() if token.start >= start]
    at = next(number for number, token in enumerate(tokens) if is_word(token, "OVER"))
    depth, end = 0, tokens[at + 1].end + 1
    for token in tokens[at + 1 :]:
        depth += depth_change(token)
        if not depth:
            end = token.end + 1
            break
    return source.text[tokens[at].start : end]
