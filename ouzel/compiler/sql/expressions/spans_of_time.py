"""Parts of times, and spans of time as numbers: an INTERVAL is no number, TIMESTAMPDIFF of the two times is one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ouzel.compiler.expressions import Call, Case, Expression, Literal
from ouzel.compiler.sql.expressions.foreign_calls import read_unit
from ouzel.compiler.sql.expressions.predicates import Binds
from ouzel.compiler.sql.syntax.places import place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.types import INT, DateType, IntervalType, TimestampType
from ouzel.errors import QueryError

_EXTRACTED = ("year", "quarter", "month", "week", "day", "doy", "dow", "hour", "minute", "second")
_COUNTED = ("MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_OF_A_TIME = {"unix_seconds": "SECOND", "unix_millis": "MILLISECOND", **{unit: unit.upper() for unit in _EXTRACTED}}
"""Functions of a time, and the unit in which a span is meant where one of them is called with it."""


def bind_extract(binder: Binds, node: exp.Expr, time: Expression) -> Expression:
    """EXTRACT(YEAR FROM t) is YEAR(t).

    Raises:
        QueryError: there is no such part, or of a span.
    """
    unit, source = node.expressions[0].name, binder.source
    if isinstance(time.type, IntervalType):
        advice = of_span(source, node.expressions[-1], time, unit)
        raise source.error(f"EXTRACT takes a time, not {time.type}", place(node), advice)
    if unit.lower() not in _EXTRACTED:
        known = f"it knows {', '.join(_EXTRACTED).upper()}"
        advice = f"write UNIX_SECONDS({source.text[slice(*place(node.expressions[-1]))]})"
        raise source.error(
            f"EXTRACT knows no {unit.upper()}", place(node), advice if unit.lower() == "epoch" else known
        )
    return binder.resolve(node, unit.lower(), [time])


def round_time(binder: Binds, node: exp.Expr, name: str, time: Expression, unit: Expression) -> Expression:
    """FLOOR(t TO DAY) is the start of the day; CEIL(t TO DAY) is t itself if it is one, else the next."""
    start = binder.resolve(node, "date_trunc", [unit, time])
    if name == "floor to":
        return start
    following = binder.resolve(node, "timestampadd", [unit, Literal(INT, 1), start])
    return Case(time.type, ((binder.resolve(node, "eq", [start, time]), time),), following)


def of_date_part(binder: Binds, node: exp.Expr, name: str) -> str:
    """Advice for DATE_PART('hour', a - b), a function that there is not, of a span; empty if it is of none."""
    if name not in ("date_part", "datepart") or len(node.expressions) != 2:
        return ""
    unit, time = node.expressions
    try:
        return of_span(binder.source, time, binder.bind(time), read_unit(unit.name))
    except QueryError:
        return ""


def of_function(source: QueryText, name: str, nodes: Sequence[exp.Expr], values: Sequence[Expression]) -> str:
    """Advice for a function of a time that is called with a span; empty if there is none."""
    return of_span(source, nodes[0], values[0], _OF_A_TIME[name]) if len(values) == 1 and name in _OF_A_TIME else ""


def of_span(source: QueryText, node: exp.Expr, value: Expression, unit: str = "SECOND") -> str:
    """Advice that makes a number of a span; empty if it is none, or one of months."""
    number = number_of(source, node, value, unit)
    return f"write {number}{' for its seconds' if number.startswith('UNIX_SECONDS') else ''}" if number else ""


def number_of(source: QueryText, node: exp.Expr, value: Expression, unit: str = "SECOND") -> str:
    """What is written for the whole units of a span, else for its seconds; empty if it is no span, or one of months."""
    match node.unnest(), value:
        case exp.Sub() as difference, Call(arguments=(later, earlier)) if _is_time(later) and _is_time(earlier):
            start, end = (source.text[slice(*place(part))] for part in (difference.expression, difference.this))
            return f"TIMESTAMPDIFF({unit.upper() if unit.upper() in _COUNTED else 'SECOND'}, {start}, {end})"
        case whole, Expression(type=IntervalType(months=False)):
            shown = source.text[slice(*place(whole))]
            return f"UNIX_SECONDS(TIMESTAMP '1970-01-01 00:00:00' + {shown if _is_one(whole) else f'({shown})'})"
    return ""


def _is_one(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column | exp.Anonymous | exp.Window | exp.Case)


def _is_time(value: Expression) -> bool:
    return isinstance(value.type, TimestampType | DateType)
