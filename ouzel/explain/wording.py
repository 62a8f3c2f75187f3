"""Expressions and nodes in words: SQL as one would write it, spans of time as one would say them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from ouzel.compiler.expressions import Call, Case, Cast, Expression, GetField, Literal, conjuncts
from ouzel.compiler.plan import (
    Aggregate,
    AggregateCall,
    AsofJoin,
    AssignSession,
    AssignWindow,
    Filter,
    FinalAggregate,
    Gather,
    GatherElements,
    IntervalJoin,
    Join,
    JoinKind,
    LateRows,
    Node,
    PartialAggregate,
    Project,
    Scan,
    Served,
    SetOperation,
    SideJoin,
    Sink,
    Union,
    Unnest,
    Watermark,
    WindowKind,
)

INFIX: dict[str, tuple[str, int]] = {
    "or": ("OR", 1), "and": ("AND", 2),
    "eq": ("=", 4), "ne": ("<>", 4), "lt": ("<", 4), "le": ("<=", 4), "gt": (">", 4), "ge": (">=", 4), "like": ("LIKE", 4),
    "is_distinct_from": ("IS DISTINCT FROM", 4), "is_not_distinct_from": ("IS NOT DISTINCT FROM", 4),
    "concat_operator": ("||", 5), "add": ("+", 5), "subtract": ("-", 5),
    "multiply": ("*", 6), "divide": ("/", 6), "div": ("DIV", 6), "modulo": ("%", 6),
}  # fmt: skip
"""Operators and how tightly they bind."""

POSTFIX = {
    "is_null": "IS NULL", "is_not_null": "IS NOT NULL", "is_true": "IS TRUE", "is_false": "IS FALSE",
    "is_not_true": "IS NOT TRUE", "is_not_false": "IS NOT FALSE",
}  # fmt: skip

NEGATED = {"is_null": "is_not_null", "is_true": "is_not_true", "is_false": "is_not_false"}
"""What NOT makes of an operator that has a form of its own for it."""

TIGHTEST = 9

UNITS = (
    ("day", 86_400_000_000),
    ("hour", 3_600_000_000),
    ("minute", 60_000_000),
    ("second", 1_000_000),
    ("millisecond", 1_000),
)


def expression_text(expression: Expression, outside: int = 0) -> str:
    """The expression as SQL; `outside` is how tightly what stands around it binds."""
    match expression:
        case Literal(value=value):
            return _literal(value)
        case Cast(operand=operand, type=kind, safe=safe):
            return f"{'TRY_CAST' if safe else 'CAST'}({expression_text(operand)} AS {kind})"
        case Case(branches=branches, otherwise=otherwise):
            whens = " ".join(f"WHEN {expression_text(when)} THEN {expression_text(value)}" for when, value in branches)
            return f"CASE {whens} ELSE {expression_text(otherwise)} END"
        case GetField(operand=operand, field=field):
            return f"{expression_text(operand, TIGHTEST)}.{field}"
        case Call():
            text, binds = _call(expression)
            return f"({text})" if binds < outside else text
    return str(expression)


def _call(call: Call) -> tuple[str, int]:
    parts = call.arguments
    if call.function in INFIX and len(parts) == 2:
        operator, binds = INFIX[call.function]
        return f"{expression_text(parts[0], binds)} {operator} {expression_text(parts[1], binds + 1)}", binds
    if call.function == "not" and isinstance(parts[0], Call) and parts[0].function in NEGATED:
        call, parts = replace(parts[0], function=NEGATED[parts[0].function]), parts[0].arguments
    if call.function in POSTFIX:
        return f"{expression_text(parts[0], 5)} {POSTFIX[call.function]}", 4
    if call.function in _SHAPES:
        shape, binds = _SHAPES[call.function]
        return shape([expression_text(part, binds + 1) for part in parts]), binds
    return f"{call.function.upper()}({', '.join(map(expression_text, parts))})", TIGHTEST


_SHOWN = 20
"""Values of an IN that a plan shows."""


def _shorten(values: Sequence[str]) -> str:
    more = f", ... {len(values) - _SHOWN} more" if len(values) > _SHOWN + 1 else ""
    return ", ".join(values[:_SHOWN] if more else values) + more


_SHAPES: dict[str, tuple[Callable[[Sequence[str]], str], int]] = {
    "not": (lambda parts: f"NOT {parts[0]}", 3),
    "negate": (lambda parts: f"-{parts[0]}", 7),
    "in": (lambda parts: f"{parts[0]} IN ({_shorten(parts[1:])})", 4),
    "between": (lambda parts: f"{parts[0]} BETWEEN {parts[1]} AND {parts[2]}", 4),
    "item": (lambda parts: f"{parts[0]}[{parts[1]}]", 8),
    "element_at": (lambda parts: f"{parts[0]}[{parts[1]}]", 8),
    "array": (lambda parts: f"ARRAY[{', '.join(parts)}]", TIGHTEST),
}


def _literal(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S.%f}'".replace(".000000'", "'")
        case date():
            return f"DATE '{value}'"
        case timedelta():
            return span_in_words(value // timedelta(microseconds=1))
        case bytes():
            return f"X'{value.hex()}'"
    return str(value)


def span_in_words(microseconds: int) -> str:
    """A span of time in its largest whole unit: `1 day`, `90 minutes`, `1500 milliseconds`."""
    for name, size in UNITS:
        if microseconds and microseconds % size == 0:
            count = microseconds // size
            return f"{count} {name}" + ("" if count == 1 else "s")
    return f"{microseconds} microseconds"


def node_text(node: Node) -> tuple[str, str]:
    """A node's kind and what it does, each a few words."""
    words = WORDING.get(type(node))
    return type(node).__name__, words(node) if words else node.label.partition(" ")[2]


def _scan(node: Scan) -> str:
    return f"{node.table} ({node.connector})" + (f" where {expression_text(node.predicate)}" if node.predicate else "")


def _watermark(node: Watermark) -> str:
    limit = f"idle after {span_in_words(node.idle_after_ms * 1000)}" if node.idle_after_ms is not None else "never idle"
    return f"{node.column} as {expression_text(node.expression)}, {limit}"


def _project(node: Project) -> str:
    return ", ".join(_item(name, expression_text(value)) for name, value in node.items)


def _unnest(node: Unnest) -> str:
    names = ", ".join(name for name, _ in node.names)
    shown = f"{'outer ' * node.outer}{expression_text(node.array)} as {names}"
    return shown if node.condition is None else f"{shown} on {expression_text(node.condition)}"


def _elements(node: GatherElements) -> str:
    names = ", ".join(name for name, _ in node.names)
    shown = f"{expression_text(node.item)} of {expression_text(node.array)} as {names}"
    return shown if node.condition is None else f"{shown} where {expression_text(node.condition)}"


def _sink(node: Sink) -> str:
    return f"{node.table} ({node.connector}), {node.mode.value}" + (f" by {', '.join(node.keys)}" if node.keys else "")


def _item(name: str, text: str) -> str:
    return name if text == name else f"{text} as {name}"


def _window(node: AssignWindow) -> str:
    every = {WindowKind.HOP: ", every", WindowKind.CUMULATE: " in steps of"}
    slide = f"{every[node.kind]} {span_in_words(node.slide_us)}" if node.kind in every else ""
    offset = f", offset {span_in_words(node.offset_us)}" if node.offset_us else ""
    zone = f" by the clock of {node.zone}" if node.zone else ""
    return f"{node.kind.value} of {span_in_words(node.size_us)}{slide}{offset}{zone} on {node.column}"


def _session(node: AssignSession) -> str:
    by = f" by {', '.join(node.keys)}" if node.keys else ""
    end = "each change" if node.changes else "when it has ended"
    return f"SESSION on {node.column}{by}, over after {span_in_words(node.gap_us)}; {end}"


def _aggregate(node: Aggregate | PartialAggregate | FinalAggregate) -> str:
    aggregate = node if isinstance(node, Aggregate) else node.aggregate
    calls = ", ".join(map(_aggregate_call, aggregate.calls))
    keys = f" by {', '.join(aggregate.keys)}" if aggregate.keys else ""
    leaves = "at the end of its input" if aggregate.leaves_last else str(aggregate.emit).lower()
    emit = "" if isinstance(node, PartialAggregate) else f"; emit {leaves}"
    return f"{calls}{keys}{emit}".strip()


def _aggregate_call(call: AggregateCall) -> str:
    argument = ("DISTINCT " if call.distinct else "") + (call.argument or "*") + call.described_parameters
    condition = f" filter {call.filter}" if call.filter else ""
    return f"{call.function.upper()}({argument}){condition} as {call.name}"


def _join(node: Join) -> str:
    on = [f"{left} = {right}" for left, right in node.keys]
    on += [expression_text(part, 3) for part in conjuncts(node.condition)] if node.condition is not None else []
    kind = "" if node.kind is JoinKind.INNER else f"{node.kind.value.upper()} "
    return f"{kind}on {' AND '.join(on)}" if on else f"{kind}every row with every row"


def _side_join(node: SideJoin) -> str:
    return f"{_join(node)}, {', '.join(node.tables)} {'asked by key' if node.asked else 'read whole by each task'}"


def _interval_join(node: IntervalJoin) -> str:
    if node.windows:
        return f"by windows {_join(node)}"
    return f"within an interval {_join(replace(node, condition=node.whole_condition))}"


def _asof_join(node: AsofJoin) -> str:
    left, right = node.times
    return f"as of {left}, the latest {right} {'before it' if node.before else 'by then'}, {_join(node)}"


WORDING: dict[type[Node], Callable[[Any], str]] = {
    Scan: _scan,
    Watermark: _watermark,
    Project: _project,
    Filter: lambda node: expression_text(node.predicate),
    Unnest: _unnest,
    GatherElements: _elements,
    AssignSession: _session,
    AssignWindow: _window,
    Aggregate: _aggregate,
    PartialAggregate: _aggregate,
    FinalAggregate: _aggregate,
    Join: _join,
    SideJoin: _side_join,
    Served: lambda node: node.called,
    SetOperation: lambda node: f"{node.kind.value.upper()}{' ALL' * node.all}",
    IntervalJoin: _interval_join,
    AsofJoin: _asof_join,
    Union: lambda node: f"all rows of {len(node.branches)} inputs",
    Gather: lambda node: f"changes of {node.delay_ms} ms",
    LateRows: lambda node: f"rows that {node.input.component_name} drops as late",
    Sink: _sink,
}
"""What a node does, in a few words, where its label is not in the words of SQL; of the others it is the label behind its first word."""
