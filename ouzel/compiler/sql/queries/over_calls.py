"""Reading calls with OVER: the function, its arguments, its window and frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ouzel.compiler.coercion import cast_to, common_type
from ouzel.compiler.expressions import Column, Expression, GetField, Literal
from ouzel.compiler.functions.constants import constant_number, reads_a_row
from ouzel.compiler.functions.guards import guard
from ouzel.compiler.functions.resolution import resolve_call
from ouzel.compiler.plan import FrameKind, Node, OverCall, WindowFrame
from ouzel.compiler.plan.over import FUNCTIONS, PICKS, RANKS, SHIFTS, UP_TO_PEERS, WHOLE
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.expressions.literals import MOST_ROWS, row_count
from ouzel.compiler.sql.queries.aggregate_calls import AggregateBinder, BoundAggregate
from ouzel.compiler.sql.queries.over_nulls import advise_of_nulls, note_own_value, without_respect_nulls
from ouzel.compiler.sql.queries.scope import is_name_of, name_of, near
from ouzel.compiler.sql.syntax.frames import FRAME
from ouzel.compiler.sql.syntax.places import call_name, consume, place
from ouzel.compiler.sql.syntax.source import QueryText
from ouzel.compiler.sql.syntax.statements import Name
from ouzel.compiler.types import (
    BIGINT,
    DOUBLE,
    DataType,
    DateType,
    FloatType,
    IntegerType,
    MapType,
    RowType,
    TimestampType,
    walk_type,
)
from ouzel.errors import NotSupported


@dataclass(frozen=True)
class WrittenOrder:
    """An item of ORDER BY."""

    value: Expression
    descending: bool
    nulls_last: bool


@dataclass(frozen=True)
class WrittenWindow:
    """PARTITION BY and ORDER BY of one window, before they are columns."""

    partition: tuple[Expression, ...]
    order: tuple[WrittenOrder, ...]


@dataclass(frozen=True)
class WrittenCall:
    """One call, before what it reads has columns."""

    window: WrittenWindow
    call: OverCall
    argument: Expression | None
    default: Expression | None
    filter: Expression | None
    part: tuple[str, DataType] | None = None

    @property
    def result(self) -> Expression:
        """What the call gives, of the column that it makes: of MIN_BY the last field of the least ROW."""
        column = Column(self.call.type, self.call.name)
        if self.part is None:
            return column
        name, kind = self.part
        return GetField(kind, column, name)


class CallReader:
    """Reads the calls with OVER of one SELECT."""

    def __init__(self, source: QueryText, tree: exp.Select) -> None:
        self.source, self.tree = source, tree

    def read(self, binder: Binder, node: exp.Expr) -> WrittenCall:
        """The call, its parts bound by `binder`.

        Raises:
            QueryError: the function, its arguments or its window are none.
        """
        consume(self.source, node, "this", "partition_by", "order", "alias", "over", "spec")
        called, condition = _split_filter(self.source, without_respect_nulls(self.source, node))
        spec, frame = self._window(binder, node)
        name = call_name(called)
        where = binder.condition(condition, "FILTER") if condition is not None else None
        if name in FUNCTIONS:
            if where is not None:
                advice = advise_of_nulls(self.source, node, called)
                problem = f"FILTER belongs to an aggregate, not to {name.upper()}"
                raise self.source.error(
                    problem, place(node), advice if "FILTER" in advice else f"leave out FILTER, or {advice}"
                )
            return self._function(binder, called, name, spec, frame)
        return self._aggregate(binder, called, name, spec, frame, where)

    def _window(self, binder: Binder, node: exp.Expr) -> tuple[WrittenWindow, WindowFrame | None]:
        """What is between the parentheses, or what WINDOW says of the name, and the frame if one is written."""
        if node.args.get("alias"):
            node = self._find_named(node)
        partition = tuple(_exact(binder.bind(part)) for part in node.args.get("partition_by") or ())
        for value, part in zip(partition, node.args.get("partition_by") or (), strict=True):
            self._refuse_map(value, part, "PARTITION BY")
        items = node.args["order"].expressions if node.args.get("order") else []
        frame, timed = node.args["spec"].meta[FRAME] if node.args.get("spec") else (None, False)
        order = tuple(self._read_order(binder, item) for item in items)
        if frame is not None:
            self._check_frame(node, frame, timed, order)
        return WrittenWindow(partition, order), frame

    def _find_named(self, node: exp.Expr) -> exp.Expr:
        name = name_of(self.source, node.args["alias"])
        known = self.tree.args.get("windows") or ()
        found = [window for window in known if is_name_of(name, window.this.name)]
        if not found:
            advice = near(name.text, [window.this.name for window in known], f"add WINDOW {name.text} AS (...)")
            raise self.source.error(f"there is no window {name.text}", name.span, advice)
        if len(found) > 1:
            raise self.source.error(
                f"WINDOW names {name.text} twice", place(found[1].this), "give one of them another name"
            )
        window: exp.Expr = found[0]
        consume(self.source, window, "this", "partition_by", "order", "alias", "spec")
        return self._extend(node, window, name) if any(map(node.args.get, _PARTS)) else window

    def _extend(self, node: exp.Expr, window: exp.Expr, name: Name) -> exp.Expr:
        """`OVER (w ORDER BY ...)`: the partition of w, its order or another one where it has none, and a frame, which w has not."""
        twice = next(
            (clause for clause, words in _PARTS.items() if node.args.get(clause) and window.args.get(clause)), ""
        )
        wrong = "partition_by" if node.args.get("partition_by") else "spec" if window.args.get("spec") else twice
        if wrong:
            problem = f"OVER ({name.text} ...) adds an order and a frame to a window, and this is its {_PARTS[wrong]}"
            raise self.source.error(problem, name.span, "write the whole window here")
        made = exp.Window(this=node.this.copy())
        for clause in _PARTS:
            value = node.args.get(clause) or window.args.get(clause)
            made.set(clause, [part.copy() for part in value] if isinstance(value, list) else value and value.copy())
        return made

    def _read_order(self, binder: Binder, item: exp.Expr) -> WrittenOrder:
        consume(self.source, item, "this", "desc", "nulls_first")
        value = binder.bind(item.this)
        if isinstance(value, Literal):
            raise self.source.error("ORDER BY a constant orders nothing", place(item), "write the column's name")
        self._refuse_map(value, item, "ORDER BY")
        return WrittenOrder(value, bool(item.args.get("desc")), not item.args.get("nulls_first"))

    def _refuse_map(self, value: Expression, node: exp.Expr, clause: str) -> None:
        if not has_order(value.type):
            raise self.source.error(
                f"{clause} takes no {value.type}: maps have no order", place(node), "take a value out of it: map['key']"
            )

    def _check_frame(self, node: exp.Expr, frame: WindowFrame, timed: bool, order: Sequence[WrittenOrder]) -> None:
        offset = bool(frame.start or frame.end)
        span = place(node.args["spec"])
        if timed and frame.kind is not FrameKind.RANGE:
            advice = f"write RANGE with the INTERVAL, or a number of {frame.kind.value.lower()}: 5 PRECEDING"
            raise self.source.error(f"{frame.kind.value} are counted, and an INTERVAL is a span of time", span, advice)
        if frame.kind is FrameKind.GROUPS and not order:
            raise self.source.error("GROUPS needs an order", span, "add ORDER BY")
        if frame.kind is FrameKind.RANGE and offset:
            if len(order) != 1:
                raise self.source.error("a RANGE is measured along one ORDER BY column", span, "order by one column")
            kind = order[0].value.type
            if timed != isinstance(kind, TimestampType | DateType) or not isinstance(
                kind, TimestampType | DateType | IntegerType
            ):
                advice = _RANGE_ADVICE.get(
                    type(kind), "write an INTERVAL for a time, a whole number for a whole number"
                )
                written = self.source.text[slice(*span)]
                spans = re.sub(r"(?i)\b(\d+)\s+(?=PRECEDING|FOLLOWING)", r"INTERVAL '\1' DAY ", written)
                if isinstance(kind, TimestampType | DateType) and spans != written:
                    advice = f"say what the number counts: write {spans}"
                raise self.source.error(f"a RANGE of this kind does not fit {kind}", span, advice)

    def _function(
        self, binder: Binder, called: exp.Expr, name: str, spec: WrittenWindow, frame: WindowFrame | None
    ) -> WrittenCall:
        arguments, most = list(called.expressions), _ARGUMENTS[name]
        if not most[0] <= len(arguments) <= most[1]:
            raise self.source.error(f"{name.upper()} is called wrong", place(called), f"write {_USAGE[name]}")
        if name in RANKS | SHIFTS and not spec.order:
            raise self.source.error(f"{name.upper()} needs an order", place(called), "add ORDER BY inside OVER (...)")
        if frame is not None and name in RANKS | SHIFTS:
            raise self.source.error(f"{name.upper()} takes no frame", place(called), "remove ROWS, RANGE or GROUPS")
        if name in RANKS:
            number = self._number(binder, arguments[0], name, 1) if arguments else 0
            kind = DOUBLE if name in ("percent_rank", "cume_dist") else BIGINT
            return self._mark_written(called, spec, OverCall("", name, None, kind, WHOLE, number, nullable=False))
        value, default = binder.bind(arguments[0]), None
        number = int(name in SHIFTS)
        if len(arguments) > 1:
            number = self._number(binder, arguments[1], name, -MOST_ROWS if name in SHIFTS else 1)
        if number < 0:  # LAG(value, -1) is LEAD(value, 1)
            name, number = _OPPOSITE[name], -number
        if len(arguments) > 2:
            default = binder.bind(arguments[2])
            common = common_type(value.type, default.type)
            if common is None:
                problem = f"{name.upper()} gives {value.type}, its default is {default.type}"
                raise self.source.error(problem, place(arguments[2]), f"CAST it AS {value.type}")
            value, default = cast_to(value, common), cast_to(default, common)
        if name == "last_value" and frame is None:
            note_own_value(
                self.source, called, spec.order[0].value if spec.order else None, binder.relation.node.time_column
            )
        frame = frame or (UP_TO_PEERS if spec.order else WHOLE)
        return self._mark_written(
            called,
            spec,
            OverCall("", name, None, value.type, frame if name in PICKS else WHOLE, number),
            value,
            default,
        )

    def _number(self, binder: Binder, node: exp.Expr, name: str, least: int) -> int:
        """A whole number, which may be computed of constants."""
        value = binder.bind(node)
        number = constant_number(value)
        if number is None:
            kind, advice = "whole number", f"write {_USAGE[name]}"
            if reads_a_row(value):
                kind = "constant whole number, not one of each row"
                if name in SHIFTS:
                    offset, shift = (
                        self.source.text[slice(*place(node))],
                        f"THEN {name.upper()}(value, {{0}}) OVER (...)",
                    )
                    advice += f", or CASE {offset} WHEN 1 {shift.format(1)} WHEN 2 {shift.format(2)} END"
            raise self.source.error(f"{name.upper()} takes a {kind}", place(node), advice)
        row_count(self.source, str(abs(number)), place(node))
        if number < least:
            problem = f"{name.upper()} takes a whole number from {least} on"
            raise self.source.error(problem, place(node), f"write {_USAGE[name]}")
        return number

    def _advise_of_distinct(
        self, name: str, distinct: exp.Distinct, spec: WrittenWindow, frame: WindowFrame | None
    ) -> str:
        """What gives the same: of a whole partition a GROUP BY, up to a row the rows that are the first of their value."""
        value = ", ".join(self.source.text[slice(*place(each))] for each in distinct.expressions)
        keys = ", ".join(map(str, spec.partition))
        if frame is not None and frame.start is not None:
            windows = "FROM HOP(TABLE t, DESCRIPTOR(ts), slide, size) GROUP BY window_start, window_end"
            return f"select {name.upper()}(DISTINCT {value}) {windows}"
        if not spec.order:
            call = f"{name.upper()}(DISTINCT {value})"
            return (
                f"JOIN by {keys} SELECT {keys}, {call} ... GROUP BY {keys}" if keys else f"SELECT {call} in a subquery"
            )
        order = ", ".join(str(item.value) for item in spec.order)
        first = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(filter(None, (keys, value)))} ORDER BY {order}) AS nth"
        over = f"OVER ({f'PARTITION BY {keys} ' * bool(keys)}ORDER BY {order})"
        argument = "*" if name == "count" else value
        return f"select {first} in a subquery, and above it {name.upper()}({argument}) FILTER (WHERE nth = 1) {over}"

    def _aggregate(
        self,
        binder: Binder,
        called: exp.Expr,
        name: str,
        spec: WrittenWindow,
        frame: WindowFrame | None,
        where: Expression | None,
    ) -> WrittenCall:
        functions, values = self.source.functions, called.expressions
        if functions.aggregate(name) is None:
            known = ", ".join(sorted(FUNCTIONS)).upper()
            raise self.source.error(
                f"{name.upper()} is no function of windows", place(called), f"there are {known} and the aggregates"
            )
        if values and isinstance(values[0], exp.Distinct):
            raise self.source.error(
                f"{name.upper()}(DISTINCT ...) OVER is not supported", place(called),
                self._advise_of_distinct(name, values[0], spec, frame), NotSupported,
            )  # fmt: skip
        call = AggregateBinder(binder, called)
        if not call.function.call.over:
            advice = "aggregate by GROUP BY and join the result"
            raise self.source.error(f"{name.upper()} OVER is not supported", place(called), advice, NotSupported)
        made = call.bind()
        if made.function.name in _ENDS:
            return self._end_by(called, made, spec, frame or (UP_TO_PEERS if spec.order else WHOLE), where)
        frame = frame or (UP_TO_PEERS if spec.order else WHOLE)
        over = OverCall("", made.function.name, None, made.type, frame, nullable=not made.function.counts, row=made.own)
        value = guard(made.value, where) if made.value and where else made.value
        return self._mark_written(called, spec, over, value, where=where)

    def _end_by(
        self, called: exp.Expr, made: BoundAggregate, spec: WrittenWindow, frame: WindowFrame, where: Expression | None
    ) -> WrittenCall:
        """MIN_BY(value, by) is the value in MIN(ROW(by, value)), and MAX_BY that in MAX."""
        assert made.value is not None
        assert isinstance(made.value.type, RowType)
        value = guard(made.value, where) if where else made.value
        over = OverCall("", _ENDS[made.function.name], None, made.value.type, frame)
        return replace(self._mark_written(called, spec, over, value, where=where), part=made.value.type.fields[-1])

    def _mark_written(
        self, called: exp.Expr, spec: WrittenWindow, call: OverCall, argument: Expression | None = None,
        default: Expression | None = None, where: Expression | None = None,
    ) -> WrittenCall:  # fmt: skip
        written = self.source.locate(place(called))
        return WrittenCall(spec, replace(call, written=written), argument, default, where)


_PARTS = {"partition_by": "PARTITION BY", "order": "second ORDER BY", "spec": "second frame"}
"""The parts of a window, and what one is that cannot be added."""
_ARGUMENTS = {
    **dict.fromkeys(RANKS, (0, 0)), "ntile": (1, 1), "lag": (1, 3), "lead": (1, 3), "first_value": (1, 1), "last_value": (1, 1),
    "nth_value": (2, 2),
}  # fmt: skip
_USAGE = {
    **{name: f"{name.upper()}()" for name in RANKS}, "ntile": "NTILE(4)",
    **{name: f"{name.upper()}(value, 1, default)" for name in SHIFTS},
    **{name: f"{name.upper()}(value)" for name in PICKS}, "nth_value": "NTH_VALUE(value, 2)",
}  # fmt: skip
_OPPOSITE = {"lag": "lead", "lead": "lag"}
_ENDS = {"min_by": "min", "max_by": "max"}
"""Aggregates whose result is part of that of another."""
_RANGE_ADVICE: dict[type[DataType], str] = {
    FloatType: "order by a whole number: CAST(value AS BIGINT)",
    TimestampType: "write RANGE INTERVAL '1' HOUR PRECEDING",
    DateType: "write RANGE INTERVAL '1' DAY PRECEDING",
    IntegerType: "write RANGE 5 PRECEDING",
}


def has_order(kind: DataType) -> bool:
    """Whether values of the type have an order."""
    return not any(isinstance(part, MapType) for part in walk_type(kind))


def break_ties(node: Node, ordered: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The other columns that tell rows apart which are equal in `ordered`; and those without an order in which they may still differ."""
    ties: list[str] = []
    unordered: list[str] = []
    for column in node.schema:
        if any(key <= ordered.union(ties) for key in node.unique_keys):
            return tuple(ties), ()
        if column.name not in ordered:
            (ties if has_order(column.type) else unordered).append(column.name)
    told_apart = any(key <= ordered.union(ties) for key in node.unique_keys)
    return tuple(ties), () if told_apart else tuple(unordered)


def _split_filter(source: QueryText, node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """The call before OVER, and its FILTER."""
    if isinstance(node, exp.Filter):
        return node.this, node.expression.this
    if isinstance(node, exp.WithinGroup):
        advice = "compute it by GROUP BY in a subquery, and join that to the rows by the key"
        raise source.error("WITHIN GROUP with OVER is not supported", place(node), advice, NotSupported)
    if not isinstance(node, exp.Anonymous):
        raise source.error("OVER follows a call", place(node), "write for example SUM(value) OVER (...)")
    return node, None


def _exact(value: Expression) -> Expression:
    """-0.0 is in the partition of 0.0."""
    if not isinstance(value.type, FloatType):
        return value
    return cast_to(resolve_call("add", [value, cast_to(Literal(DOUBLE, 0.0), value.type)]), value.type)
