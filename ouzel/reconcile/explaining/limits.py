"""What the aggregates can be of some of a group's rows that are no SUM, AVG, MIN or MAX of numbers.

A table says it of each: one that has no entry is not bounded, and the report says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Column, Expression, GetField
from ouzel.compiler.functions.gathering import orders_of
from ouzel.compiler.plan import Aggregate, AggregateCall
from ouzel.compiler.types import (
    TIMESTAMP_LTZ,
    VARCHAR,
    ArrayType,
    BooleanType,
    BytesType,
    DataType,
    DateType,
    FloatType,
    RowType,
    TimestampType,
    VarcharType,
)
from ouzel.reconcile.explaining.bounds import NUMBER, NUMBERS, CastLoss, Need, PartBound, PartSize, Sides, part_of
from ouzel.reconcile.explaining.number_bounds import SLACK, NumberBound, finite_needs, special

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn

At = Callable[[str], "SparkColumn"]

_ORDERED = (*NUMBERS, BooleanType, BytesType, DateType, TimestampType, VarcharType)
"""Types whose values a batch job's answer has in the form in which they are compared, instants apart."""


@dataclass(frozen=True)
class Claim:
    """What a limit is made of: the bound, the columns of both rows, the values that it says something of, and what is needed."""

    bound: Limit
    name: str
    ours: Sides
    theirs: Sides
    at: At

    @property
    def value(self) -> SparkColumn:
        """What the stream's row has."""
        return self.ours[self.name]

    @property
    def whole(self) -> SparkColumn:
        """What the batch's has."""
        return self.theirs[self.name]

    @property
    def part(self) -> PartSize:
        """How many values there are."""
        return part_of(self.bound, self.ours, self.theirs, self.at("number").cast("double"))


@dataclass(frozen=True)
class Family:
    """Aggregates that are bounded in the same way.

    Attributes:
        needs: what has to be known of the group, of a call of an argument of this type; None if such a call is not bounded.
        holds: whether a part can give the value.
    """

    needs: Callable[[AggregateCall, DataType], Mapping[str, Need] | None]
    holds: Callable[[Claim], SparkColumn]


@dataclass(frozen=True)
class Limit(PartBound):
    """Of an aggregate of one of the families."""

    @property
    def family(self) -> Family:
        """The one that it is of."""
        return FAMILIES[self.call.function]

    @property
    def needs(self) -> Mapping[str, Need]:
        assert self.argument is not None
        return self.family.needs(self.call, self.argument) or {}

    def holds(self, name: str, ours: Sides, theirs: Sides, at: At) -> SparkColumn:
        from pyspark.sql import functions as F

        return F.coalesce(self.family.holds(Claim(self, name, ours, theirs, at)), F.lit(True))


def find_bounds(aggregate: Aggregate, made_of: Mapping[str, tuple[AggregateCall, CastLoss]]) -> dict[str, PartBound]:
    """The bounds of the output's columns, each of which is the result of a call, cast or not."""
    rows = next((name for name, (call, _) in made_of.items() if _counts_rows(call)), "")
    found: dict[str, PartBound] = {}
    for name, (call, loss) in made_of.items():
        if call.argument is None:
            continue
        argument = aggregate.input.schema[call.argument].type
        kind = _kind_of(call, argument)
        if kind is None:
            continue
        same = (other for other, (each, _) in made_of.items() if each.function == "count" and _reads_same(each, call))
        beside = {
            each.function: other
            for other, (each, lost) in made_of.items()
            if not lost and each.function in ("sum", "avg", "min", "max") and _reads_same(each, call)
        }
        found[name] = kind(call, aggregate.calls.index(call), argument, rows, next(same, ""), loss, beside)
    return found


def _kind_of(call: AggregateCall, argument: DataType) -> type[PartBound] | None:
    if call.function in ("sum", "avg", "min", "max") and isinstance(argument, NUMBERS):
        return NumberBound
    if call.row is not None or call.function not in FAMILIES or (call.function == "count" and not call.distinct):
        return None
    return Limit if FAMILIES[call.function].needs(call, argument) is not None else None


def _counts_rows(call: AggregateCall) -> bool:
    return call.function == "count" and call.argument is None and call.filter is None


def _reads_same(call: AggregateCall, other: AggregateCall) -> bool:
    """Whether both are of the same values; how many of them are distinct is told by a count of distinct ones."""
    distinct = other.distinct and other.function in ("sum", "avg")
    return (call.argument, call.filter, call.distinct) == (other.argument, other.filter, distinct)


def _value_of(call: AggregateCall, argument: DataType) -> Expression:
    """The values of which the result is one: the last field where they are in an order of others."""
    assert call.argument is not None
    column = Column(argument, call.argument)
    if isinstance(argument, RowType) and argument != call.type:
        field, kind = argument.fields[-1]
        return GetField(kind, column, field)
    return column


def _number_needs(call: AggregateCall, argument: DataType) -> Mapping[str, Need]:
    return {"number": NUMBER}


def _range_needs(call: AggregateCall, argument: DataType) -> Mapping[str, Need] | None:
    value = _value_of(call, argument)
    return {**finite_needs(value), "number": NUMBER} if isinstance(value.type, _ORDERED) else None


def _in_range(claim: Claim) -> SparkColumn:
    """One of the values lies between the least and the greatest."""
    from pyspark.sql import functions as F

    call, argument = claim.bound.call, claim.bound.argument
    assert argument is not None
    value = _value_of(call, argument)
    none = F.lit(True) if call.function in ("min_by", "max_by") or call.filter else claim.part.fewest == 0
    found = F.when(claim.value.isNull(), none).when(claim.part.most < 1, F.lit(False))
    if isinstance(value.type, NUMBERS):
        return _between(claim, found, F.lit(0.0), isinstance(value.type, FloatType))
    least, greatest = (
        claim.at(name).cast("timestamp_ntz") if value.type == TIMESTAMP_LTZ else claim.at(name)
        for name in ("least", "greatest")
    )
    return found.otherwise(claim.value.between(least, greatest))


def _fraction_needs(call: AggregateCall, argument: DataType) -> Mapping[str, Need] | None:
    value = _value_of(call, argument)
    return {**finite_needs(value), "number": NUMBER} if isinstance(value.type, NUMBERS) else None


def _at_fraction(claim: Claim) -> SparkColumn:
    """So does what is somewhere among them, which may be rounded."""
    from pyspark.sql import functions as F

    found = F.when(claim.value.isNull(), claim.part.fewest == 0).when(claim.part.most < 1, F.lit(False))
    error = claim.bound.call.parameters[-1] if claim.bound.call.function == "approx_percentile" else SLACK
    assert isinstance(error, float)
    largest = F.greatest(*(F.abs(claim.at(name).cast("double")) for name in ("least", "greatest")))
    return _between(claim, found, F.lit(error) * largest, "lowest" in claim.bound.needs)


def _between(claim: Claim, found: SparkColumn, slack: SparkColumn, has_floats: bool) -> SparkColumn:
    from pyspark.sql import functions as F

    value = claim.value.cast("double")
    slack = slack + claim.bound.loss.of(value)
    if has_floats:
        known = special(value, claim.at, False)
        found = found.when(known.isNotNull(), known).when(claim.at("finite") < 1, F.lit(False))
    low, high = (claim.at(name).cast("double") for name in ("least", "greatest"))
    return found.otherwise(value.between(low - slack, high + slack))


def _spread(samples: bool, root: bool) -> Family:
    """A variance is a quarter of the square of the range at most (Popoviciu), one of samples twice as much."""

    def holds(claim: Claim) -> SparkColumn:
        from pyspark.sql import functions as F

        low, high = (claim.at(name).cast("double") for name in ("least", "greatest"))
        most = (high - low) * (high - low) / (2 if samples else 4)
        slack = F.lit(SLACK) * (low * low + high * high)
        value = claim.value.cast("double")
        found = F.when(value.isNull(), claim.part.fewest < 2 if samples else claim.part.fewest == 0)
        if "lowest" in claim.bound.needs:
            found = found.when(F.isnan(value) | (F.abs(value) == float("inf")), claim.at("lowest").isNotNull())
        limit = F.sqrt(most + slack) if root else most + slack
        return found.otherwise(value.between(F.lit(0.0), limit + claim.bound.loss.of(value)))

    return Family(_fraction_needs, holds)


def _share(least: Callable[[SparkColumn], SparkColumn], most: Callable[[SparkColumn], SparkColumn]) -> Family:
    """What lies between two bounds by how many values the group has, or is no number."""

    def holds(claim: Claim) -> SparkColumn:
        from pyspark.sql import functions as F

        value, number = claim.value.cast("double"), claim.at("number").cast("double")
        slack = F.lit(SLACK) * (number + 1) + claim.bound.loss.of(value)
        inside = value.between(least(number) - slack, most(number) + slack)
        return F.when(value.isNull() | F.isnan(value), F.lit(True)).otherwise(inside)

    return Family(_number_needs, holds)


def _constant(value: float) -> Callable[[SparkColumn], SparkColumn]:
    def constant(number: SparkColumn) -> SparkColumn:
        from pyspark.sql import functions as F

        return F.lit(value)

    return constant


def _root(number: SparkColumn) -> SparkColumn:
    from pyspark.sql import functions as F

    return F.sqrt(number)


def _bits_needs(call: AggregateCall, argument: DataType) -> Mapping[str, Need]:
    return {"every": Need("bit_and", argument), "any": Need("bit_or", argument), "number": NUMBER}


def _bits(claim: Claim) -> SparkColumn:
    """No part has a bit that no value has, nor lacks one that all have; more values mean fewer bits in common, and more in any."""
    from pyspark.sql import functions as F

    value, whole, every, any_ = (
        column.cast("bigint") for column in (claim.value, claim.whole, claim.at("every"), claim.at("any"))
    )
    inside = value.bitwiseOR(any_) == any_
    if claim.bound.call.function == "bit_and":
        inside = inside & (value.bitwiseAND(whole) == whole)
    if claim.bound.call.function == "bit_or":
        inside = inside & (value.bitwiseAND(every) == every)
    return F.when(value.isNull(), claim.part.fewest == 0).when(claim.part.most < 1, F.lit(False)).otherwise(inside)


def _distinct(claim: Claim) -> SparkColumn:
    """There are no more kinds than values, one where there are any, and no more are missing than values are."""
    from pyspark.sql import functions as F

    value, whole, part = claim.value.cast("double"), claim.whole.cast("double"), claim.part
    least = F.greatest(F.least(part.fewest, F.lit(1.0)), whole - (part.number - part.fewest))
    return F.coalesce(value.between(least, F.least(whole, part.most)), F.lit(False))


def _is_estimated(claim: Claim) -> SparkColumn:
    """The same where it is estimated, by four standard errors."""
    from pyspark.sql import functions as F

    error = claim.bound.call.parameters[-1]
    assert isinstance(error, float)
    most = F.least(claim.whole.cast("double"), claim.part.most)
    value = claim.value.cast("double")
    return F.coalesce(value.between(F.lit(0.0), most * (1 + 4 * error) + 1), F.lit(False))


def _no_needs(call: AggregateCall, argument: DataType) -> Mapping[str, Need]:
    return {}


def _is_part(claim: Claim) -> SparkColumn:
    """Some of the values of the whole, in the same order."""
    from pyspark.sql import functions as F

    call = claim.bound.call
    none = F.lit(call.function != "array_agg" or call.filter is not None)
    inside = _is_some_of(claim.value, claim.whole)
    if claim.bound.rows and not call.distinct:
        ours, theirs = claim.ours[claim.bound.rows], claim.theirs[claim.bound.rows]
        size, all_ = F.size(claim.value), F.size(claim.whole)
        inside = inside & (size <= ours) & (all_ - size <= theirs - ours)
    return F.when(claim.value.isNull(), none).otherwise(F.coalesce(inside, F.lit(False)) & (F.size(claim.value) > 0))


def _is_some_of(part: SparkColumn, whole: SparkColumn) -> SparkColumn:
    """Whether one array can be had by leaving elements of the other out."""
    from pyspark.sql import functions as F

    def step(place: SparkColumn, value: SparkColumn) -> SparkColumn:
        return place + F.when((place < F.size(part)) & F.get(part, place).eqNullSafe(value), 1).otherwise(0)

    return F.aggregate(whole, F.lit(0), step) == F.size(part)


def _map(claim: Claim) -> SparkColumn:
    """Each key is one of the whole's; the value that is kept of a key is the largest, and counts grow."""
    from pyspark.sql import functions as F

    def is_less(one: SparkColumn, other: SparkColumn) -> SparkColumn:
        a, b = one.getField("value"), other.getField("value")
        more = F.coalesce(a <= b, a.isNull())
        return one.getField("key").eqNullSafe(other.getField("key")) & (
            more & (a > 0) if claim.bound.call.function == "histogram" else more
        )

    inside = F.forall(claim.value, lambda one: F.exists(claim.whole, lambda other: is_less(one, other)))
    alike = F.size(F.array_distinct(F.transform(claim.value, lambda one: one.getField("key")))) == F.size(claim.value)
    return claim.value.isNull() | F.coalesce(inside & alike, F.lit(False))


def _text_needs(call: AggregateCall, argument: DataType) -> Mapping[str, Need]:
    orders = (orders_of(call.parameters),) if orders_of(call.parameters) else ()
    every = Need("collect_list", ArrayType(VARCHAR), distinct=call.distinct, parameters=orders)
    return {"every": every, "number": NUMBER}


def _text(claim: Claim) -> SparkColumn:
    """Some of the texts in their order: it is kept how long the beginnings are that can be made of those before; -1 is none of them."""
    from pyspark.sql import functions as F

    between = F.lit(str(claim.bound.call.parameters[-1]))

    def lengthen(length: SparkColumn, text: SparkColumn) -> SparkColumn:
        piece = F.when(length < 0, text).otherwise(F.concat(between, text))
        begin = F.greatest(length, F.lit(0))
        fits = F.substring(claim.value, begin + 1, F.length(piece)) == piece
        return F.when(fits, begin + F.length(piece))

    def step(lengths: SparkColumn, text: SparkColumn) -> SparkColumn:
        longer = F.array_compact(F.transform(lengths, lambda length: lengthen(length, text)))
        return F.array_union(lengths, longer)

    reached = F.aggregate(claim.at("every"), F.array(F.lit(-1)), step)
    return F.when(claim.value.isNull(), claim.part.fewest == 0).otherwise(
        F.array_contains(reached, F.length(claim.value))
    )


_RANGE, _FRACTION = Family(_range_needs, _in_range), Family(_fraction_needs, _at_fraction)
_ARRAY, _MAP, _BITS = Family(_no_needs, _is_part), Family(_no_needs, _map), Family(_bits_needs, _bits)

FAMILIES: Mapping[str, Family] = {
    "min": _RANGE, "max": _RANGE, "bool_and": _RANGE, "bool_or": _RANGE, "first_value": _RANGE, "last_value": _RANGE,
    "min_by": _RANGE, "max_by": _RANGE, "percentile_disc": _RANGE, "mode": _RANGE,
    "percentile_cont": _FRACTION, "median": _FRACTION, "approx_percentile": _FRACTION,
    "var_pop": _spread(False, False), "var_samp": _spread(True, False),
    "stddev_pop": _spread(False, True), "stddev_samp": _spread(True, True),
    "skewness": _share(lambda number: -_root(number), _root),
    "kurtosis": _share(_constant(-2.0), lambda number: number),
    "corr": _share(_constant(-1.0), _constant(1.0)), "regr_r2": _share(_constant(0.0), _constant(1.0)),
    "bit_and": _BITS, "bit_or": _BITS, "bit_xor": _BITS,
    "count": Family(_number_needs, _distinct), "approx_count_distinct": Family(_number_needs, _is_estimated),
    "array_agg": _ARRAY, "collect_list": _ARRAY, "map_agg": _MAP, "histogram": _MAP,
    "string_agg": Family(_text_needs, _text),
}  # fmt: skip
"""The family of each aggregate; `count` is that of distinct values, for the others are held to COUNT(*)."""
