"""What an aggregate of some of a group's rows can be, by what all of them are: least and greatest value, and how many have one.

A row of the stream that lacks rows (they were in flight, lost, or late and only counted) may have any values that such a part can give, and
no others: each by itself, and with what stands beside it. Bounds are counted as doubles, and a billionth more is allowed; what is infinite
or no number bounds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
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
        beside: the output's columns of the same values, uncast, by their aggregate: a sum lies between as many of the row's own least and
            greatest.
    """

    call: AggregateCall
    least: str
    greatest: str
    number: str
    rows: str = ""
    values: str = ""
    rounded: bool = False
    beside: Mapping[str, str] = field(default_factory=dict)

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
        beside = {
            each.function: other
            for other, (each, cast) in made_of.items()
            if not cast and each.function in BOUNDED and _reads_same(each, call)
        }
        found[name] = Bounds(call, least, greatest, number, rows, next(same, ""), is_cast, beside)
    return found


def rounds(call: AggregateCall) -> bool:
    """Whether its result depends on the order of its values, by what rounding makes of it."""
    return call.function in ("sum", "avg") and isinstance(call.type, FloatType)


def rounding_bounds(bounds: Mapping[str, Bounds]) -> dict[str, Bounds]:
    """Those of such results."""
    return {name: each for name, each in bounds.items() if rounds(each.call)}


def _counts_rows(call: AggregateCall) -> bool:
    return call.function == "count" and call.argument is None and call.filter is None


def _counts_values(count: AggregateCall, of: AggregateCall) -> bool:
    return count.function == "count" and _reads_same(count, of)


def _reads_same(call: AggregateCall, other: AggregateCall) -> bool:
    return (call.argument, call.filter) == (other.argument, other.filter) and not call.distinct


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


@dataclass(frozen=True)
class _Part:
    """What is known of the values in the part: between which they lie, and how many there are; `number` are all of the group's."""

    least: SparkColumn
    greatest: SparkColumn
    number: SparkColumn
    fewest: SparkColumn
    most: SparkColumn

    @property
    def is_counted(self) -> SparkColumn:
        """Whether it is known how many there are."""
        return self.fewest == self.most

    @property
    def size(self) -> SparkColumn:
        """The greatest sum that there can be."""
        from pyspark.sql import functions as F

        return self.number * F.greatest(F.abs(self.least), F.abs(self.greatest))


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

    value, whole = ours[name].cast("double"), theirs[name].cast("double")
    part = _part(each, ours, theirs, at)
    low, high = _limits(each, {kind: ours[other].cast("double") for kind, other in each.beside.items()}, whole, part)
    slack = F.lit(SLACK) * part.size + F.lit(float(each.rounded)) + F.lit(_unit(each)) * (part.number + 1)
    known = (part.size < F.lit(float("inf"))) & (F.abs(whole) < F.lit(float("inf")))
    found = F.when(value.isNull(), part.fewest == 0).when(part.most < 1, F.lit(False))
    return F.coalesce(found.when(known, value.between(low - slack, high + slack)), F.lit(True))


def _unit(each: Bounds) -> float:
    """How far a mean of decimals may be from the quotient."""
    kind = each.call.type
    return 10.0**-kind.scale if each.call.function == "avg" and isinstance(kind, DecimalType) else 0.0


def _part(
    each: Bounds,
    ours: Mapping[str, SparkColumn],
    theirs: Mapping[str, SparkColumn],
    at: Callable[[str], SparkColumn],
) -> _Part:
    """Of rows without a value the part has no more than the group, and lacks no more than are missing."""
    from pyspark.sql import functions as F

    least, greatest, number = (at(name).cast("double") for name in each.columns)
    if each.values:
        fewest = most = ours[each.values].cast("double")
    elif each.rows:
        rows, every = ours[each.rows].cast("double"), theirs[each.rows].cast("double")
        fewest, most = F.greatest(F.lit(0.0), rows - (every - number)), F.least(number, rows)
    else:
        fewest, most = F.lit(0.0), number
    return _Part(least, greatest, number, fewest, most)


def _limits(
    each: Bounds, beside: Mapping[str, SparkColumn], whole: SparkColumn, part: _Part
) -> tuple[SparkColumn, SparkColumn]:
    """Between what the value can be. NULLs are passed over by the least and the greatest of several."""
    from pyspark.sql import functions as F

    least = F.greatest(part.least, beside["min"]) if "min" in beside else part.least
    greatest = F.least(part.greatest, beside["max"]) if "max" in beside else part.greatest
    own, kind = replace(part, least=least, greatest=greatest), each.call.function
    if kind == "sum":
        return _of_sum(whole, own, part)
    if kind == "avg":
        return _of_mean(each, beside.get("sum"), whole, own, part)
    other = beside.get("max" if kind == "min" else "min")
    single = F.when(part.most <= 1, other) if other is not None else F.when(F.lit(False), whole)
    complete = part.is_counted & (part.most == part.number)
    return single.when(complete, whole).otherwise(least), single.when(complete, whole).otherwise(greatest)


def _of_sum(whole: SparkColumn, own: _Part, part: _Part) -> tuple[SparkColumn, SparkColumn]:
    """Between what the sum of that many values can be: those that are there, and by the whole those that are not."""
    from pyspark.sql import functions as F

    there, gone = (own.fewest, own.most), (part.number - part.most, part.number - part.fewest)
    low, high = F.least(*(n * own.least for n in there)), F.greatest(*(n * own.greatest for n in there))
    rest_low, rest_high = F.least(*(n * part.least for n in gone)), F.greatest(*(n * part.greatest for n in gone))
    return F.greatest(low, whole - rest_high), F.least(high, whole - rest_low)


def _of_mean(
    each: Bounds, total: SparkColumn | None, whole: SparkColumn, own: _Part, part: _Part
) -> tuple[SparkColumn, SparkColumn]:
    """The same of a mean, where it is known of how many values; a sum beside it says which."""
    from pyspark.sql import functions as F

    if each.rounded:
        return own.least, own.greatest
    low, high = (total, total) if total is not None else _of_sum(whole * part.number, own, part)
    counted = part.is_counted & (part.most > 0)
    return (
        F.when(counted, low / F.nullif(part.most, F.lit(0.0))).otherwise(own.least),
        F.when(counted, high / F.nullif(part.most, F.lit(0.0))).otherwise(own.greatest),
    )
