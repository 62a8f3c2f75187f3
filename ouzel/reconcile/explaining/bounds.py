"""What an aggregate of some of a group's rows can be, by what all of them are: least and greatest value, and how many have one.

A row of the stream that lacks rows (they were in flight, lost, or late and only counted) may have any value that such a part can give, and
no other. Bounds are counted as doubles, and a billionth more is allowed; what is infinite or no number bounds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Cast, Column, Expression
from ouzel.compiler.plan import Aggregate, AggregateCall, Node, Project
from ouzel.compiler.types import BIGINT, DecimalType, FloatType, IntegerType

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn

SLACK = 1e-9
"""How far beyond a bound a value may be, relative to the greatest sum that there can be."""

_NUMBERS = (IntegerType, FloatType, DecimalType)

BOUNDED = ("sum", "avg", "min", "max")
"""Aggregates of which these bounds say anything."""


@dataclass(frozen=True)
class Bounds:
    """Of one column of the output: the aggregate that it is, and the columns of the batch's row that bound it.

    Attributes:
        call: whose result it is, one of BOUNDED.
        least: the least value of the argument among all rows of the group.
        greatest: the greatest.
        number: how many have a value.
        rows: the output's column that counts all rows of the group; empty if there is none.
        values: the output's column that counts just the values; empty if there is none.
        rounded: whether a cast may have cut the value, by less than 1.
    """

    call: AggregateCall
    least: str
    greatest: str
    number: str
    rows: str = ""
    values: str = ""
    rounded: bool = False

    @property
    def columns(self) -> tuple[str, str, str]:
        """The columns of the batch's row."""
        return self.least, self.greatest, self.number


def find_bounds(aggregate: Aggregate, made_of: Mapping[str, tuple[AggregateCall, bool]]) -> dict[str, Bounds]:
    """The bounds of the output's columns, each of which is the result of a call, cast or not."""
    rows = next((name for name, (call, _) in made_of.items() if _counts_rows(call)), "")
    found: dict[str, Bounds] = {}
    for name, (call, is_cast) in made_of.items():
        if call.function not in BOUNDED or call.distinct or call.argument is None or not _is_number(aggregate, call):
            continue
        same = (other for other, (each, _) in made_of.items() if _counts_values(each, call))
        place = aggregate.calls.index(call)
        least, greatest, number = (f"$bound{place}_{kind}" for kind in ("least", "greatest", "number"))
        found[name] = Bounds(call, least, greatest, number, rows, next(same, ""), is_cast)
    return found


def _counts_rows(call: AggregateCall) -> bool:
    return call.function == "count" and call.argument is None and call.filter is None


def _counts_values(count: AggregateCall, of: AggregateCall) -> bool:
    same = (count.argument, count.filter) == (of.argument, of.filter)
    return count.function == "count" and same and not count.distinct


def _is_number(aggregate: Aggregate, call: AggregateCall) -> bool:
    kind = aggregate.input.schema[call.argument or ""].type
    return isinstance(kind, _NUMBERS)


def bounding_calls(aggregate: Aggregate, bounds: Mapping[str, Bounds]) -> tuple[AggregateCall, ...]:
    """The calls that compute the bounds, each once."""
    made: dict[str, AggregateCall] = {}
    for each in bounds.values():
        kind = aggregate.input.schema[each.call.argument or ""].type
        for name, function, of in zip(each.columns, ("min", "max", "count"), (kind, kind, BIGINT), strict=True):
            made[name] = AggregateCall(name, function, each.call.argument, of, filter=each.call.filter)
    return tuple(made.values())


def trace_call(node: Node, name: str) -> tuple[str, bool] | None:
    """Which column of the aggregate below a column is, and whether casts are between them; None if more is computed of it."""
    is_cast = False
    while not isinstance(node, Aggregate):
        if isinstance(node, Project):
            value: Expression = dict(node.items)[name]
            while isinstance(value, Cast) and isinstance(value.type, _NUMBERS):
                value, is_cast = value.operand, True
            if not isinstance(value, Column):
                return None
            name = value.name
        elif name in node.origins:
            name = node.origins[name][1]
        else:
            return None
        (node,) = node.inputs
    return name, is_cast


def within(
    bounds: Mapping[str, Bounds],
    ours: Mapping[str, SparkColumn],
    theirs: Mapping[str, SparkColumn],
    at: Callable[[str], SparkColumn],
) -> SparkColumn:
    """Whether a part of the rows that `theirs` is of can give `ours`; `at` gives the columns of the bounds."""
    from pyspark.sql import functions as F

    return reduce(and_, (_is_within(name, each, ours, theirs, at) for name, each in bounds.items()), F.lit(True))


def _is_within(
    name: str,
    each: Bounds,
    ours: Mapping[str, SparkColumn],
    theirs: Mapping[str, SparkColumn],
    at: Callable[[str], SparkColumn],
) -> SparkColumn:
    from pyspark.sql import functions as F

    value, whole, least, greatest = (
        column.cast("double") for column in (ours[name], theirs[name], at(each.least), at(each.greatest))
    )
    number = at(each.number).cast("double")
    size = number * F.greatest(F.abs(least), F.abs(greatest))
    slack = F.lit(SLACK) * size + F.lit(float(each.rounded))
    low, high = least, greatest
    if each.call.function == "sum":
        low, high = _of_sum(each, ours, theirs, (whole, least, greatest, number))
    known = (size < F.lit(float("inf"))) & (F.abs(whole) < F.lit(float("inf")))
    empty = ours[each.values] == 0 if each.values else F.lit(True)
    found = F.when(value.isNull(), empty).when(number == 0, F.lit(False))
    return F.coalesce(found.when(known, value.between(low - slack, high + slack)), F.lit(True))


def _of_sum(
    each: Bounds, ours: Mapping[str, SparkColumn], theirs: Mapping[str, SparkColumn], of: tuple[SparkColumn, ...]
) -> tuple[SparkColumn, SparkColumn]:
    """Between what the sum of that many values can be: those that are there, and by the whole those that are not."""
    from pyspark.sql import functions as F

    whole, least, greatest, number = of
    if each.values:
        there = ours[each.values].cast("double")
        gone = number - there
        return F.greatest(there * least, whole - gone * greatest), F.least(there * greatest, whole - gone * least)
    there, gone = number, number
    if each.rows:
        there = F.least(number, ours[each.rows].cast("double"))
        gone = F.least(number, (theirs[each.rows] - ours[each.rows]).cast("double"))
    zero = F.lit(0.0)
    low = F.greatest(F.least(zero, there * least), whole - F.greatest(zero, gone * greatest))
    return low, F.least(F.greatest(zero, there * greatest), whole - F.least(zero, gone * least))
