"""Calls and comparisons that are allowed and hardly meant: they give an answer, and another than the one that was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from ouzel.compiler.expressions import Call, Cast, Column, Expression, Literal
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import VARCHAR

_TEXT_FIRST = (
    "instr split_part regexp_like regexp_extract regexp_replace regexp_count regexp_instr replace startswith endswith "
    "trim btrim ltrim rtrim"
)
_EXCHANGED: dict[str, tuple[int, int, str]] = {
    **dict.fromkeys(_TEXT_FIRST.split(), (0, 1, "the text that is looked into")),
    "locate": (1, 0, "the text that is looked into"),
    "concat_ws": (1, 0, "a value, and the separator comes first"),
}
"""Which argument is hardly a constant, which one hardly anything else, and what the constant is taken for."""

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}|\$\{\w+\}")


def note_exchanged(
    source: QueryText, node: exp.Expr, name: str, written: Sequence[str], values: Sequence[Expression]
) -> None:
    """Tell of arguments in another dialect's order: INSTR('p', product)."""
    constant, value, taken = _EXCHANGED.get(name, (0, 0, ""))
    if not taken or len(values) <= max(constant, value) or len(written) != len(values):
        return
    if _is_text(values[constant]) and not isinstance(values[value], Literal):
        turned = list(written)
        turned[constant], turned[value] = turned[value], turned[constant]
        problem = f"{name.upper()} takes {written[constant]} for {taken}"
        source.note(problem, place(node), f"write {name.upper()}({', '.join(turned)})")


def note_pattern(source: QueryText, node: exp.Expr, pattern: Expression) -> None:
    """Tell of a pattern of shells or of T-SQL behind LIKE, in which only % and _ stand for other characters."""
    text = str(pattern.value) if _is_text(pattern) and isinstance(pattern, Literal) else ""
    shown = source.text[slice(*place(node.this))]
    if re.search(r"\[[^\]]+\]", text):
        regular = re.sub(r"[.*+?(){}|\\]", r"\\\g<0>", text).replace("%", ".*").replace("_", ".")
        problem, advice = "brackets are plain characters in LIKE", f"write REGEXP_LIKE({shown}, '^{regular}$')"
    elif "*" in text and not re.search("[%_]", text):
        problem, advice = "* is a plain character in LIKE", f"write '{text.replace('*', '%')}'"
    else:
        return
    source.note(problem, place(node.expression), advice)


def note_itself(source: QueryText, sign: str, nodes: Sequence[exp.Expr], values: Sequence[Expression]) -> None:
    """Tell of a column that is compared with itself, as in a subquery whose condition means the query around it."""
    left, right = values
    if sign in _COMPARISONS and isinstance(left, Column) and left == right:
        one, other = (source.text[slice(*place(node))] for node in nodes)
        said = "true of each row" if sign in ("=", "<=", ">=") else "true of no row"
        problem = f"{one} {sign} {other} compares a column with itself, and is {said} where it is not NULL"
        span = place(nodes[0])[0], place(nodes[1])[1]
        name = other.rpartition(".")[2]
        source.note(
            problem,
            span,
            f"write the alias of another table before one of them, as in o.{name}, which FROM t AS o gives",
        )


def note_covered(source: QueryText, branches: Sequence[exp.Expr], whens: Sequence[Expression]) -> None:
    """Tell of a WHEN that is never reached, for one before it is true wherever it is: WHEN x > 20 ... WHEN x > 50."""
    known: set[Expression] = set()
    widest: dict[tuple[str, str], tuple[NumberLimit, exp.Expr]] = {}
    for branch, when in zip(branches, whens, strict=True):
        late, limit = source.text[slice(*place(branch.this))], find_limit(when)
        if when in known:
            source.note(
                f"WHEN {late} stands there twice", place(branch.this), "leave out the second, which is never reached"
            )
        elif limit is not None:
            early = widest.setdefault((limit[0].name, limit[1][0]), (limit, branch.this))
            if early[0] is not limit and _is_wider(early[0], limit):
                shown = source.text[slice(*place(early[1]))]
                problem = f"WHEN {late} is never reached, for WHEN {shown} before it is true wherever it is"
                source.note(problem, place(branch.this), f"write WHEN {late} first")
            elif early[0] is not limit:
                widest[limit[0].name, limit[1][0]] = (limit, branch.this)
        known.add(when)


NumberLimit = tuple[Column, str, Decimal]
"""A column, the function of a comparison, and the number that it is compared with."""


def find_limit(when: Expression) -> NumberLimit | None:
    """The column, the sign and the number of a comparison such as x > 20."""
    if not isinstance(when, Call) or when.function not in ("gt", "ge", "lt", "le") or len(when.arguments) != 2:
        return None
    value, number = (_without_cast(argument) for argument in when.arguments)
    if not isinstance(value, Column) or not isinstance(number, Literal) or isinstance(number.value, bool):
        return None
    return (
        (value, when.function, Decimal(str(number.value))) if isinstance(number.value, int | float | Decimal) else None
    )


def _without_cast(value: Expression) -> Expression:
    return value.operand if isinstance(value, Cast) and not value.safe else value


def _is_wider(early: NumberLimit, late: NumberLimit) -> bool:
    """Whether the early comparison is true wherever the late one is, of the same column and in the same direction."""
    if early[2] == late[2]:
        return early[1] == late[1] or early[1].endswith("e")
    return (late[2] > early[2]) is (early[1][0] == "g")


def note_choice(source: QueryText, operands: Sequence[tuple[exp.Expr, Expression]]) -> None:
    """Tell of x <> 1 OR x <> 2, which is true of each row that has a value."""
    found: dict[str, tuple[exp.Expr, Literal]] = {}
    for node, value in operands:
        compared = compared_with(value, "ne")
        before = found.setdefault(compared[0].name, (node, compared[1])) if compared else None
        if compared is None or before is None or before[1] == compared[1]:
            continue
        one, other = (source.text[slice(*place(part))] for part in (before[0], node))
        column, first, second = (
            source.text[slice(*place(part))] for part in (node.this, before[0].expression, node.expression)
        )
        problem = f"{one} OR {other} is true of each row in which {column} is not NULL"
        source.note(problem, place(node), f"write {column} NOT IN ({first}, {second})")
        return


def compared_with(value: Expression, function: str) -> tuple[Column, Literal] | None:
    """The column and the constant of a comparison; None for all else."""
    if not isinstance(value, Call) or value.function != function or len(value.arguments) != 2:
        return None
    column, constant = (_without_cast(argument) for argument in value.arguments)
    return (column, constant) if isinstance(column, Column) and isinstance(constant, Literal) else None


def note_template(source: QueryText, node: exp.Expr) -> None:
    """Tell of a text in which something was to be filled in."""
    if _TEMPLATE.search(node.name):
        source.note("a template in a text is not filled in", place(node), "write what stands for it")


def _is_text(value: Expression) -> bool:
    return isinstance(value, Literal) and value.type == VARCHAR and isinstance(value.value, str)
