"""A call of an aggregate: its values, the order in which it takes them, and its constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ouzel.compiler.coercion import cast_to
from ouzel.compiler.expressions import Call, Case, Column, Expression, Literal
from ouzel.compiler.functions.aggregate_function import AggregateFunction, CallOrder, Constant, ValueOrder
from ouzel.compiler.functions.aggregates import can_aggregate, resolve_aggregate
from ouzel.compiler.functions.gathering import has_value_order
from ouzel.compiler.plan import AddsWindow, Filter, Node, walk
from ouzel.compiler.sql.expressions.advice import of_aggregate
from ouzel.compiler.sql.expressions.binder import Binder
from ouzel.compiler.sql.expressions.spans_of_time import number_of
from ouzel.compiler.sql.syntax.chains import called_in
from ouzel.compiler.sql.syntax.places import call_name, consume, place
from ouzel.compiler.types import BOOLEAN, DOUBLE, VARCHAR, DataType, FloatType, RowType
from ouzel.errors import NotSupported, QueryError


@dataclass(frozen=True)
class BoundAggregate:
    """A bound call of an aggregate: its value, its type, and its order and constants."""

    function: AggregateFunction
    value: Expression | None
    type: DataType
    distinct: bool
    parameters: tuple[object, ...]
    own: AggregateFunction | None


class AggregateBinder:
    """Binds one call, whose values are read by `rows`.

    Raises:
        QueryError: the aggregate takes no such values, order or constants.
    """

    def __init__(self, rows: Binder, node: exp.Expr) -> None:
        self.rows, self.source, self.node = rows, rows.source, called_in(node)
        self.name = call_name(self.node)
        functions = self.source.functions
        found, self.own = functions.aggregate(self.name), functions.own_aggregate(self.name)
        assert found is not None, "it was found to be an aggregate"
        self.function, self.form = found, found.call
        self.order: Sequence[exp.Expr] = ()
        self.is_within = self.distinct = False
        self._peel(node)
        self.arguments = self._arguments()

    def bind(self) -> BoundAggregate:
        """The call."""
        self._check_distinct()
        values, constants = self._parts()
        if not values or isinstance(values[0], exp.Star):
            return self._of_rows(values)
        bound = [self.rows.bind(value) for value in values]
        if self.name == "count" and isinstance(values[0], exp.Predicate | exp.And | exp.Or) and not self.distinct:
            start, end = place(values[0])
            advice = f"write COUNT_IF({self.source.text[start:end]}) for those that are TRUE"
            self.source.note("COUNT counts conditions that are FALSE too", place(self.node), advice)
        if self.name == "count" and not self.distinct:
            self._note_case(values[0])
        orders = [self._order(item) for item in self.order]
        signature = self._resolve(bound, values)
        bound = [cast_to(value, kind) for value, kind in zip(bound, self._kinds(signature[0], len(bound)), strict=True)]
        if self.form.keeps_values:
            bound, orders = list(map(_without_sign, bound)), [(_without_sign(key), order) for key, order in orders]
        value, parameters = self._order_values(bound, orders)
        return BoundAggregate(
            self.function, value, signature[1], self.distinct and self.form.distinct,
            (*parameters, *self._constants(constants)), self.own,
        )  # fmt: skip

    def _peel(self, node: exp.Expr) -> None:
        """Read the clauses around the call: FILTER, WITHIN GROUP, IGNORE NULLS."""
        while node is not self.node:
            if isinstance(node, exp.WithinGroup):
                self._no_order(node, "WITHIN GROUP")
                self.order, self.is_within = node.expression.expressions, True
            else:
                self._check_nulls(node)
            node = node.this

    def _note_case(self, node: exp.Expr) -> None:
        """Tell of COUNT(CASE WHEN ... THEN 1 ELSE 0 END), which counts every row."""
        if not isinstance(node, exp.Case) or not node.args.get("default"):
            return
        values = [node.args["default"], *(branch.args["true"] for branch in node.args["ifs"])]
        if not all(isinstance(value, exp.Literal | exp.Boolean) for value in values):
            return
        advice = "leave out ELSE, or SUM the CASE"
        if node.this is None and len(node.args["ifs"]) == 1:
            advice = f"write COUNT_IF({self.source.text[slice(*place(node.args['ifs'][0].this))]})"
        self.source.note("COUNT counts each row here, for the CASE is never NULL", place(self.node), advice)

    def _check_distinct(self) -> None:
        form, spark = self.form, self.function.spark
        if self.distinct and form.values > 1 and form.distinct and spark.distinct is spark.sql_distinct is None:
            raise self.source.error(
                f"{self.name.upper()}(DISTINCT ...) is not supported",
                place(self.node),
                "aggregate a SELECT DISTINCT",
                NotSupported,
            )

    def _no_order(self, node: exp.Expr, words: str) -> None:
        """Refuse an order that has no meaning for the aggregate, or is given twice."""
        if self.form.order is CallOrder.NONE or self.order:
            problem = f"{words} means nothing to {self.name.upper()}" if not self.order else "there are two orders"
            raise self.source.error(problem, place(node), f"write {self.function.usage}")

    def _check_nulls(self, node: exp.Expr) -> None:
        """Refuse IGNORE NULLS and RESPECT NULLS unless they say what the aggregate does anyway."""
        ignores = isinstance(node, exp.IgnoreNulls)
        if ignores != bool(self.form.needed):
            does = "leaves NULLs out" if self.form.needed else "keeps NULLs"
            raise self.source.error(f"{self.name.upper()} {does}", place(node), self._advise_of_nulls(ignores))

    def _advise_of_nulls(self, ignores: bool) -> str:
        """The call that leaves NULLs out, or keeps them."""
        value = next(iter(self.node.expressions), None)
        while isinstance(value, exp.Order | exp.IgnoreNulls | exp.RespectNulls):
            value = value.this
        shown = self.source.text[slice(*place(value))] if value is not None else "value"
        if ignores:
            return f"write COLLECT_LIST({shown}), which leaves NULLs out"
        if self.name in ("first_value", "last_value"):
            return (
                f"write ARRAY_AGG({shown} ORDER BY time{' DESC' * (self.name == 'last_value')})[1], which keeps NULLs"
            )
        return f"write ARRAY_AGG({shown}), which keeps NULLs"

    def _arguments(self) -> list[exp.Expr]:
        """What stands between the parentheses, without DISTINCT, ORDER BY and IGNORE NULLS."""
        parts = list(self.node.expressions)
        if parts and isinstance(parts[-1], exp.Order):
            order = parts.pop()
            self._no_order(order, "ORDER BY")
            if self.form.order is CallOrder.VALUE:
                raise self.source.error(
                    f"{self.name.upper()} is of what it is ordered by", place(order), f"write {self.function.usage}"
                )
            self.order = order.expressions
            parts.append(order.this)
        if len(parts) == 1 and isinstance(parts[0], exp.Distinct):
            consume(self.source, parts[0], "expressions")
            self.distinct, parts = True, parts[0].expressions
        for number, part in enumerate(parts):
            if isinstance(part, exp.IgnoreNulls | exp.RespectNulls):
                self._check_nulls(part)
                parts[number] = part.this
        return parts

    def _parts(self) -> tuple[list[exp.Expr], list[exp.Expr]]:
        """The values, and the constants."""
        form, usage, parts = self.form, self.function.usage, self.arguments
        most = form.values + len(form.constants)
        if self.is_within and form.order is CallOrder.VALUE:
            if len(self.order) > 1:
                raise self.source.error(f"{self.name.upper()} is of one value", place(self.order[1]), f"write {usage}")
            values, parts, most = [self.order[0].this], parts, len(form.constants)
        else:
            values, parts = parts[: form.values], parts[form.values :]
            most = len(form.constants)
        if len(parts) > most or (self.distinct and values and isinstance(values[0], exp.Star)):
            if form.values == 1 and not form.constants:
                raise self.source.error(
                    f"{self.name.upper()} of several values is not supported",
                    place(self.node),
                    self._of_pairs([*values, *parts])
                    if self.name == "count" and self.distinct
                    else "aggregate one value",
                    NotSupported,
                )
            raise self.source.error(f"{self.name.upper()} takes less than that", place(self.node), f"write {usage}")
        if 0 < len(values) < form.values:
            raise self.source.error(
                f"{self.name.upper()} takes {form.values} values", place(self.node), f"write {usage}"
            )
        return values, parts

    def _of_pairs(self, parts: Sequence[exp.Expr]) -> str:
        """How several values are counted: as rows in which none of them is NULL."""
        texts = [self.source.text[slice(*place(part))] for part in parts]
        known = " AND ".join(f"{text} IS NOT NULL" for text in texts)
        return f"write COUNT(DISTINCT ROW({', '.join(texts)})) FILTER (WHERE {known})"

    def _of_rows(self, values: list[exp.Expr]) -> BoundAggregate:
        if self.function.variant != "rows" or self.form.values != 1 or self.form.order is not CallOrder.NONE:
            simple = self.form.values == 1 and self.form.order is CallOrder.NONE
            advice = f"write {self.name.upper()}(column)" if simple else f"write {self.function.usage}"
            raise self.source.error(f"{self.name.upper()} needs a value", place(self.node), advice)
        return BoundAggregate(
            self.function, None, resolve_aggregate(self.name, None, self.own).result, False, (), self.own
        )

    def _resolve(self, bound: Sequence[Expression], values: Sequence[exp.Expr]) -> tuple[DataType, DataType]:
        kind = bound[0].type if len(bound) == 1 else _row_type([bound[place] for place in self._places(len(bound))])
        try:
            signature = resolve_aggregate(self.name, kind, self.own)
        except QueryError as error:
            start, end = place(self.node)
            if kind == VARCHAR and can_aggregate(self.function, DOUBLE):
                first, last = place(values[0])
                error.instead = f"write {self.name.upper()}(CAST({self.source.text[first:last]} AS DOUBLE))"
            elif len(bound) == 1 and (number := number_of(self.source, values[0], bound[0])):
                error.instead = f"write {self.name.upper()}({number})"
            elif len(bound) == 1:
                first, last = place(values[0])
                error.instead = of_aggregate(self.name, self.source.text[first:last], kind) or error.instead
            raise error.located(self.source.text, start, end - start) from None
        assert signature.parameter is not None, "it is of a value"
        return signature.parameter, signature.result

    def _places(self, size: int) -> Sequence[int]:
        return self.form.places or range(size)

    def _kinds(self, parameter: DataType, size: int) -> list[DataType]:
        """The type of each value, as written."""
        if size == 1:
            return [parameter]
        assert isinstance(parameter, RowType)
        placed = dict(zip(self._places(size), parameter.fields, strict=True))
        return [placed[number][1] for number in range(size)]

    def _order(self, item: exp.Expr) -> tuple[Expression, ValueOrder]:
        consume(self.source, item, "this", "desc", "nulls_first")
        value = self.rows.bind(item.this)
        if isinstance(value, Literal):
            raise self.source.error("ORDER BY a constant orders nothing", place(item), "write the column's name")
        if not has_value_order(value.type):
            raise self.source.error(f"ORDER BY takes no {value.type}", place(item), "order by something else")
        return value, ValueOrder(bool(item.args.get("desc")), not item.args.get("nulls_first"))

    def _order_values(
        self, bound: Sequence[Expression], orders: Sequence[tuple[Expression, ValueOrder]]
    ) -> tuple[Expression, tuple[object, ...]]:
        """The value that is aggregated, and its order."""
        if self.form.order is CallOrder.NONE:
            return (
                bound[0] if len(bound) == 1 else self._pack([bound[at] for at in self._places(len(bound))], bound)
            ), ()
        if self.form.order is CallOrder.VALUE:
            return bound[0], (tuple(order for _, order in orders) or (ValueOrder(),),)
        if self.form.order is CallOrder.NEEDED and not orders:
            orders = [(self._time(), ValueOrder())]
        if self.distinct and any(key != bound[0] for key, _ in orders):
            raise self.source.error(
                "of DISTINCT values there is no other order than their own",
                place(self.order[0]),
                "order by the value itself",
            )
        if self.form.order is CallOrder.VALUES and (
            self.distinct or [key for key, _ in orders] == [bound[0]] or not orders
        ):
            alone = (orders[0][1] if orders else ValueOrder(),)
            return (bound[0] if self.form.needed else self._pack(bound, bound)), (alone,)
        return self._pack([*(key for key, _ in orders), *bound], bound), (
            (*(order for _, order in orders), ValueOrder()),
        )

    def _time(self) -> Expression:
        time = _time_of_rows(self.rows.relation.node) if self.form.by_time else None
        if time is None:
            raise self.source.error(
                f"{self.name.upper()} needs an order", place(self.node), f"write {self.function.usage}"
            )
        return time

    def _pack(self, fields: Sequence[Expression], values: Sequence[Expression]) -> Expression:
        """A ROW of these values; the ROW is NULL where a needed value is NULL."""
        row = Call(_row_type(fields), "row", tuple(fields))
        there = [Call(BOOLEAN, "is_not_null", (values[number],)) for number in self.form.needed]
        if not there:
            return row
        condition = there[0] if len(there) == 1 else Call(BOOLEAN, "and", tuple(there))
        return Case(row.type, ((condition, row),), Literal(row.type, None))

    def _constants(self, written: Sequence[exp.Expr]) -> list[object]:
        return [
            self._constant(constant, written[number] if number < len(written) else None)
            for number, constant in enumerate(self.form.constants)
        ]

    def _constant(self, constant: Constant, node: exp.Expr | None) -> object:
        if node is None:
            if constant.default is None:
                arguments = self.node.args.get("expressions") or [self.node.this]
                alone = len(arguments) == 1 and isinstance(arguments[0], exp.Literal)
                lacks = "values: it is given nothing else" if alone else f"a {constant.name}"
                raise self.source.error(
                    f"{self.name.upper()} needs {lacks}", place(self.node), f"write {self.function.usage}"
                )
            return constant.default
        value = self.rows.bind(node)
        if isinstance(value, Literal):
            value = cast_to(value, constant.type)
        if not isinstance(value, Literal) or value.type != constant.type or value.value is None:
            raise self.source.error(
                f"the {constant.name} of {self.name.upper()} is a constant {constant.type}",
                place(node),
                f"write {self.function.usage}",
            )
        if constant.least is not None and constant.most is not None:
            number = float(str(value.value))
            if not constant.least <= number <= constant.most:
                raise self.source.error(
                    f"the {constant.name} of {self.name.upper()} is from {constant.least} to {constant.most}",
                    place(node),
                    _advise(constant.name, number, constant.least, constant.most),
                )
        return value.value


def _advise(name: str, number: float, least: float, most: float) -> str:
    """The advice for a constant as other systems take it: percents for a fraction, and Spark's accuracy, which is 1 / error. Else empty."""
    is_error = name == "error"
    meant = 1 / number if is_error and number else number / 100
    if not (number > 1 and least <= meant <= most):
        return ""
    return f"write {meant:g} for {f'an accuracy of {number:g}' if is_error else f'{number:g} %'}"


def _time_of_rows(node: Node) -> Column | None:
    """The event time of the rows; in a window the rows' own, not the window's."""
    while isinstance(node, Filter):
        node = node.input
    if isinstance(node, AddsWindow):
        return Column(node.input.schema[node.column].type, node.column)
    windowed = any(isinstance(below, AddsWindow) for below in walk(node))
    name = None if windowed else node.time_column
    return Column(node.schema[name].type, name) if name else None


def _without_sign(value: Expression) -> Expression:
    """The expression with 0.0 for -0.0."""
    if not isinstance(value.type, FloatType):
        return value
    zero = Literal(value.type, 0.0)
    return Case(value.type, ((Call(BOOLEAN, "eq", (value, zero)), zero),), value)


def _row_type(fields: Sequence[Expression]) -> RowType:
    return RowType(tuple((f"f{number}", field.type) for number, field in enumerate(fields)))
