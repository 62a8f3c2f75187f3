"""Aggregates over all values of a group, or over its first or last ones.

Their answer is the same in whatever order rows come: it goes by the ORDER BY in the call, and among rows that are equal there, or where
the call has none, by the values themselves, least first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ouzel.compiler.functions.aggregate_function import (
    AggregateFunction,
    AggregateTypeRule,
    CallForm,
    CallOrder,
    Columns,
    Constant,
    GroupState,
    SparkForm,
    ValueOrder,
    number_to_double,
)
from ouzel.compiler.types import (
    BIGINT,
    DOUBLE,
    VARCHAR,
    ArrayType,
    DataType,
    IntervalType,
    MapType,
    NullType,
    RowType,
    walk_type,
)

Orders = tuple[ValueOrder, ...]

_ORDERED = "a value that has an order, no MAP"


def has_value_order(kind: DataType) -> bool:
    """Whether values of the type can be put in order."""
    return not any(
        isinstance(part, MapType | NullType) or (isinstance(part, IntervalType) and part.months)
        for part in walk_type(kind)
    )


def _resolve_ordered(result: Callable[[DataType], DataType]) -> AggregateTypeRule:
    return lambda kind: (kind, result(kind)) if has_value_order(kind) else None


def _row_of_two(result: Callable[[DataType, DataType], DataType]) -> AggregateTypeRule:
    def resolve(kind: DataType) -> tuple[DataType, DataType] | None:
        if not isinstance(kind, RowType) or len(kind.fields) != 2 or not has_value_order(kind):
            return None
        return kind, result(kind.fields[0][1], kind.fields[1][1])

    return resolve


def _text(kind: DataType) -> tuple[DataType, DataType] | None:
    return (VARCHAR, VARCHAR) if kind in (VARCHAR, NullType()) else None


def bag_state(argument: DataType | None, result: DataType, changes: bool) -> Columns:
    """A partial aggregate that has each value with its weight."""
    assert argument is not None
    return (("bag", ArrayType(RowType((("value", argument), ("weight", BIGINT)))), True),)


def _best_state(argument: DataType | None, result: DataType, changes: bool) -> Columns:
    assert argument is not None
    return (("value", argument, True),)


def as_column(value: str) -> str:
    """The text of an argument, which may be a column's name, as that of a Column on which methods can be called."""
    return f"F.col({value})" if value.startswith('"') else f"({value})"


def _sort(elements: str, orders: Orders) -> str:
    """The text of an array of rows of so many fields, or of values without NULL, in this order."""
    if all(not order.descending and order.is_usual for order in orders):
        return f"F.sort_array({elements})"
    if all(order.descending and order.is_usual for order in orders):
        return f"F.sort_array({elements}, False)"
    text = "F.lit(0)"
    for number, order in reversed(list(enumerate(orders))):
        a, b = f'a["f{number}"]', f'b["f{number}"]'
        less, null = (1 if order.descending else -1), (1 if order.nulls_last else -1)
        text = (
            f"F.when({a}.eqNullSafe({b}), {text}).when({a}.isNull(), {null}).when({b}.isNull(), {-null})"
            f".when({a} < {b}, {less}).otherwise({-less})"
        )
    return f"F.array_sort({elements}, lambda a, b: {text})"


def _values(value: str, orders: Orders, packed: bool, gather: str = "F.collect_list") -> str:
    """The text of all values in their order."""
    rows = _sort(f"{gather}({value})", orders)
    return f'F.transform({rows}, lambda row: row["f{len(orders) - 1}"])' if packed else rows


def _or_null(value: str, result: str) -> str:
    """NULL of no values."""
    return f"F.when(F.count({value}) > 0, {result})"


def _spark_array(gather: str) -> Callable[..., str]:
    return lambda value, orders: _or_null(value, _values(value, orders, True, gather))


def _spark_list(gather: str) -> Callable[..., str]:
    return lambda value, orders: _or_null(value, _values(value, orders, len(orders) > 1, gather))


def _spark_text(gather: str) -> Callable[..., str]:
    def spark(value: str, orders: Orders, separator: str) -> str:
        text = f"F.array_join({_values(value, orders, len(orders) > 1, gather)}, {_quote(separator)})"
        return _or_null(value, text)

    return spark


def _quote(text: str) -> str:
    return '"' + text.encode("unicode_escape").decode().replace('"', '\\"') + '"'


def _of_entries(entries: str) -> str:
    """A map of sorted entries, the last of each key."""
    last = 'lambda entry, place: ~F.get(all, place + 1)["f0"].eqNullSafe(entry["f0"])'
    return f"F.map_from_entries(F.transform(F.array({entries}), lambda all: F.filter(all, {last}))[0])"


def _spark_map(gather: str) -> Callable[..., str]:
    return lambda value: _or_null(value, _of_entries(f"F.sort_array({gather}({value}))"))


def _spark_histogram(gather: str) -> Callable[..., str]:
    def spark(value: str) -> str:
        count = 'F.size(F.filter(all, lambda other: other.eqNullSafe(one))).cast("bigint")'
        pairs = f"F.transform(F.array_sort(F.array_distinct(all)), lambda one: F.struct(one, {count}))"
        bags = f"F.transform(F.array({gather}({value})), lambda all: F.map_from_entries({pairs}))[0]"
        return _or_null(value, bags)

    return spark


def _spark_end(last: bool) -> Callable[..., str]:
    """The first or last value, in an order."""

    def spark(value: str, orders: Orders) -> str:
        field = f'["f{len(orders) - 1}"]'
        usual = [order.is_usual for order in orders]
        ways = {order.descending for order in orders}
        if all(usual) and len(ways) == 1:
            return f"F.{'max' if last != ways.pop() else 'min'}({value}){field}"
        return (
            f"F.get({_sort(f'F.collect_list({value})', orders)}, {'F.count(' + value + ') - 1' if last else 0}){field}"
        )

    return spark


def ascending_fraction(orders: Orders, fraction: float) -> float:
    """The fraction in ascending order that corresponds to `fraction` in the order given."""
    return 1.0 - fraction if orders[0].descending else fraction


def _spark_continuous(value: str, orders: Orders, fraction: float) -> str:
    return f"F.percentile({value}, {ascending_fraction(orders, fraction)})"


def _spark_discrete(gather: str) -> Callable[..., str]:
    def spark(value: str, orders: Orders, fraction: float) -> str:
        place = f'F.greatest(F.ceil(F.size(all) * {fraction}) - 1, F.lit(0)).cast("int")'
        return f"F.transform(F.array({_sort(f'{gather}({value})', orders)}), lambda all: F.get(all, {place}))[0]"

    return spark


def _sql_continuous(value: str, orders: Orders, fraction: float) -> str:
    return f"percentile(DISTINCT {value}, {ascending_fraction(orders, fraction)}D)"


_BAG = GroupState(bag_state, "gathered", takes_back=True, merges_changes=True)
_FIRST = GroupState(_best_state, "best", takes_back=True)
_IN_ORDER = CallForm(order=CallOrder.VALUES, over=False, keeps_values=True)
_IN_NO_ORDER = CallForm(over=False, keeps_values=True)


def _gather(
    name: str, resolve: AggregateTypeRule, takes: str, doc: str, usage: str, spark: Callable[[str], Callable[..., str]],
    call: CallForm = _IN_ORDER, aliases: tuple[str, ...] = (),
) -> AggregateFunction:  # fmt: skip
    """An aggregate over all values, each with its multiplicity."""
    form = SparkForm(spark("F.collect_list"), spark("F.collect_set"))
    return AggregateFunction(name, resolve, takes, doc, usage, _BAG, form, counts=False, aliases=aliases, call=call)


def _quantile(
    name: str, resolve: AggregateTypeRule, takes: str, doc: str, usage: str, spark: SparkForm,
    aliases: tuple[str, ...] = (), constants: tuple[Constant, ...] = (),
) -> AggregateFunction:  # fmt: skip
    """An aggregate that is the value at some position among all."""
    call = CallForm(order=CallOrder.VALUE, constants=constants, over=False, keeps_values=True)
    return AggregateFunction(name, resolve, takes, doc, usage, _BAG, spark, counts=False, aliases=aliases, call=call)


def _by(name: str, doc: str, spark: str, aliases: tuple[str, ...]) -> AggregateFunction:
    resolve = _row_of_two(lambda by, value: value)
    call = CallForm(values=2, places=(1, 0), needed=(1,), distinct=False, keeps_values=True)
    return AggregateFunction(
        name, resolve, "two values that have an order, no MAP", doc, f"{name.upper()}(value, by)", _FIRST,
        SparkForm(lambda value: f'F.{spark}({value})["f1"]'), counts=False, aliases=aliases, call=call,
    )  # fmt: skip


_ENDS_DOC = (
    "the {0} value of the group that is not NULL: by the `ORDER BY` in the call, without one by event time. "
    "With `OVER` it is the value of the {0} row of the frame, NULL or not"
)


def _end(name: str, doc: str, last: bool) -> AggregateFunction:
    call = CallForm(order=CallOrder.NEEDED, by_time=True, distinct=False, over=False, keeps_values=True)
    return AggregateFunction(
        name, _resolve_ordered(lambda kind: kind), _ORDERED, doc, f"{name.upper()}(value ORDER BY time)", _FIRST,
        SparkForm(_spark_end(last)), counts=False, call=call,
    )  # fmt: skip


_SEPARATOR = Constant("separator", VARCHAR, ",")
_FRACTION = Constant("fraction", DOUBLE, least=0, most=1)
_PERCENT = "(0.5) WITHIN GROUP (ORDER BY value)"

GATHERING: tuple[AggregateFunction, ...] = (
    _gather(
        "array_agg", _resolve_ordered(ArrayType), _ORDERED, "all values, NULLs too; NULL of no rows",
        "ARRAY_AGG([DISTINCT] value [ORDER BY key])", _spark_array, replace(_IN_ORDER, needed=()),
    ),
    _gather(
        "collect_list", _resolve_ordered(ArrayType), _ORDERED, "all values that are not NULL; NULL of none",
        "COLLECT_LIST(value [ORDER BY key])", _spark_list,
    ),
    _gather(
        "string_agg", _text, "VARCHAR", "all values as one text, a comma between them unless something else is given; NULL of none",
        "STRING_AGG(value [, ', '] [ORDER BY key])", _spark_text,
        replace(_IN_ORDER, constants=(_SEPARATOR,)), ("listagg", "group_concat"),
    ),
    _gather(
        "map_agg", _row_of_two(MapType), "two values that have an order",
        "a map of keys that are not NULL to values; of several values of a key the largest", "MAP_AGG(key, value)", _spark_map,
        replace(_IN_NO_ORDER, values=2),
    ),
    _gather(
        "histogram", _resolve_ordered(lambda kind: MapType(kind, BIGINT)), _ORDERED, "a map of each value to how often it is there",
        "HISTOGRAM(value)", _spark_histogram, _IN_NO_ORDER,
    ),
    _by("min_by", "the value of the row with the least `by`; of several the least value", "min", ("arg_min",)),
    _by("max_by", "the value of the row with the largest `by`; of several the largest value", "max", ("arg_max",)),
    _end("first_value", _ENDS_DOC.format("first"), False),
    _end("last_value", _ENDS_DOC.format("last"), True),
    _quantile(
        "percentile_cont", number_to_double, "a number", "the value at a fraction of the way through all, between two if it must be",
        "PERCENTILE_CONT" + _PERCENT, SparkForm(_spark_continuous, sql_distinct=_sql_continuous),
        ("percentile", "quantile_cont"), (_FRACTION,),
    ),
    _quantile(
        "percentile_disc", _resolve_ordered(lambda kind: kind), _ORDERED, "the first value with at least this fraction of all up to it",
        "PERCENTILE_DISC" + _PERCENT, SparkForm(_spark_discrete("F.collect_list"), _spark_discrete("F.collect_set")),
        ("quantile_disc",), (_FRACTION,),
    ),
    _quantile(
        "median", number_to_double, "a number", "the value in the middle, or the mean of the two there", "MEDIAN(value)",
        SparkForm(lambda value, orders: f"F.median({value})", sql_distinct=lambda value, orders: f"median(DISTINCT {value})"),
    ),
    _quantile(
        "mode", _resolve_ordered(lambda kind: kind), _ORDERED, "the value that is there most often; of several the least",
        "MODE(value)", SparkForm(lambda value, orders: f"F.mode({value}, True)", lambda value, orders: f"F.min({value})"),
    ),
)  # fmt: skip
"""The aggregates of this module, in the order of the documentation."""


def orders_of(parameters: Sequence[object]) -> Orders:
    """The order that a call's parameters begin with; none if they do not."""
    first = parameters[0] if parameters else ()
    return first if isinstance(first, tuple) else ()
