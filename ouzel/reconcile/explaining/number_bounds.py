"""What a SUM, AVG, MIN or MAX of some of a group's numbers can be.

Bounds are counted as doubles. Infinities and NaN are counted apart: what is finite comes of finite values alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ouzel.compiler.expressions import Call, Case, Cast, Column, Expression, Literal
from ouzel.compiler.types import BIGINT, BOOLEAN, DOUBLE, DecimalType, FloatType
from ouzel.reconcile.explaining.bounds import NUMBER, Need, PartBound, PartSize, Sides, part_of

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn

SLACK = 1e-9
"""How far beyond a bound a sum of floats may be, relative to the sum of their sizes."""

EXACT = 2.0**-50
"""What doubles lose of whole numbers and decimals, relative to the greatest sum that there can be."""

UNIT = 2.0**-52
"""What adding two doubles up in two orders loses, relative to their size."""

INFINITY = float("inf")


def finite_needs(value: Expression) -> dict[str, Need]:
    """The least and the greatest value, and of floats only of finite ones: how many these are, and the least and greatest of the others."""
    if not isinstance(value.type, FloatType):
        return {"least": Need("min", value.type, value), "greatest": Need("max", value.type, value)}
    value = Cast(DOUBLE, value)
    is_finite = Call(BOOLEAN, "eq", (Call(DOUBLE, "subtract", (value, value)), Literal(DOUBLE, 0.0)))
    finite = Case(DOUBLE, ((is_finite, value),), Literal(DOUBLE, None))
    other = Case(DOUBLE, ((is_finite, Literal(DOUBLE, None)),), value)
    return {
        "least": Need("min", DOUBLE, finite),
        "greatest": Need("max", DOUBLE, finite),
        "finite": Need("count", BIGINT, finite),
        "lowest": Need("min", DOUBLE, other),
        "highest": Need("max", DOUBLE, other),
        "sizes": Need("sum", DOUBLE, Call(DOUBLE, "abs", (finite,))),
    }


def special(value: SparkColumn, at: Callable[[str], SparkColumn], adds_up: bool) -> SparkColumn:
    """Of what is NaN or infinite, whether some of the values can give it; NULL of anything else."""
    from pyspark.sql import functions as F

    lowest, highest = at("lowest"), at("highest")
    above, below = F.coalesce(highest >= INFINITY, F.lit(False)), F.coalesce(lowest == -INFINITY, F.lit(False))
    overflows = F.coalesce(at("sizes") == INFINITY, F.lit(False)) if adds_up else F.lit(False)
    no_number = F.coalesce(F.isnan(highest), F.lit(False)) | (above & below if adds_up else F.lit(False))
    return (
        F.when(F.isnan(value), no_number | overflows)
        .when(value == INFINITY, above | overflows)
        .when(value == -INFINITY, below | overflows)
    )


@dataclass(frozen=True)
class _Limits:
    """Between which values the part's lie, and how many there are."""

    least: SparkColumn
    greatest: SparkColumn
    part: PartSize

    @property
    def largest(self) -> SparkColumn:
        """The largest size of a value."""
        from pyspark.sql import functions as F

        return F.greatest(F.abs(self.least), F.abs(self.greatest))


@dataclass(frozen=True)
class NumberBound(PartBound):
    """Of a SUM, AVG, MIN or MAX of numbers. With DISTINCT each value is in the part once at most."""

    @property
    def needs(self) -> Mapping[str, Need]:
        assert self.argument is not None
        assert self.call.argument is not None
        needs = finite_needs(Column(self.argument, self.call.argument))
        number = replace(NUMBER, distinct=self.call.distinct)
        if self.call.distinct and "finite" in needs:
            needs["finite"] = replace(needs["finite"], distinct=True)
        return {**needs, "number": number}

    @property
    def has_floats(self) -> bool:
        """Whether its argument may be infinite, or no number."""
        return isinstance(self.argument, FloatType)

    def holds(self, name: str, ours: Sides, theirs: Sides, at: Callable[[str], SparkColumn]) -> SparkColumn:
        from pyspark.sql import functions as F

        value, whole = ours[name].cast("double"), theirs[name].cast("double")
        part = part_of(self, ours, theirs, at("number").cast("double"))
        least, greatest = at("least").cast("double"), at("greatest").cast("double")
        adds_up = self.call.function in ("sum", "avg")
        found = F.when(value.isNull(), part.fewest == 0).when(part.most < 1, F.lit(False))
        if self.has_floats:
            finite = at("finite").cast("double")
            known = special(value, at, adds_up)
            found = found.when(known.isNotNull(), known).when(finite < 1, F.lit(False))
            if adds_up:  # then all that there are have to be finite
                found = found.when(part.fewest > finite, F.lit(False))
                part = PartSize(finite, F.least(part.fewest, finite), F.least(part.most, finite))
        limits = _Limits(least, greatest, part)
        beside = {kind: ours[other].cast("double") for kind, other in self.beside.items()}
        low, high = self._limits(beside, whole, limits)
        slack = self._slack(limits, at) + self.loss.of(value)
        return F.coalesce(found.otherwise(value.between(low - slack, high + slack)), F.lit(True))

    def _limits(self, beside: Sides, whole: SparkColumn, all_: _Limits) -> tuple[SparkColumn, SparkColumn]:
        """Between what the value can be. NULLs are passed over by the least and the greatest of several."""
        from pyspark.sql import functions as F

        def usable(name: str) -> SparkColumn:
            return F.when(F.abs(beside[name]) < INFINITY, beside[name])

        least = F.greatest(all_.least, usable("min")) if "min" in beside else all_.least
        greatest = F.least(all_.greatest, usable("max")) if "max" in beside else all_.greatest
        own, part = replace(all_, least=least, greatest=greatest), all_.part
        finite_whole = F.when(F.abs(whole) < INFINITY, whole)
        if self.call.function == "sum":
            return _of_sum(finite_whole, own, all_)
        if self.call.function == "avg":
            return self._of_mean(usable("sum") if "sum" in beside else None, finite_whole, own, all_)
        other = beside.get("max" if self.call.function == "min" else "min")
        single = F.when(part.most <= 1, other) if other is not None else F.when(F.lit(False), whole)
        complete = part.is_counted & (part.most == part.number)
        return single.when(complete, whole).otherwise(least), single.when(complete, whole).otherwise(greatest)

    def _of_mean(
        self, total: SparkColumn | None, whole: SparkColumn, own: _Limits, all_: _Limits
    ) -> tuple[SparkColumn, SparkColumn]:
        """The same of a mean, where it is known of how many values; a sum beside it says which."""
        from pyspark.sql import functions as F

        if self.loss.unit:
            return own.least, own.greatest
        part = all_.part
        low, high = (total, total) if total is not None else _of_sum(whole * part.number, own, all_)
        counted = part.is_counted & (part.most > 0)
        return (
            F.when(counted, low / F.nullif(part.most, F.lit(0.0))).otherwise(own.least),
            F.when(counted, high / F.nullif(part.most, F.lit(0.0))).otherwise(own.greatest),
        )

    def _slack(self, limits: _Limits, at: Callable[[str], SparkColumn]) -> SparkColumn:
        """How far from a bound the value may be for what doubles make of it. The least and the greatest are what they are."""
        from pyspark.sql import functions as F

        if self.call.function in ("min", "max"):
            return F.lit(0.0)
        number, largest = limits.part.number, limits.largest
        if self.call.function == "sum":
            rounding = (F.lit(SLACK) + F.lit(UNIT) * number) * at("sizes") if self.has_floats else F.lit(0.0)
            return rounding + F.lit(EXACT) * number * largest
        rounding = F.lit(SLACK) * largest + F.lit(UNIT) * number * at("sizes") if self.has_floats else F.lit(0.0)
        return rounding + F.lit(EXACT) * number * largest + F.lit(self._digit) * (number + 1)

    @property
    def _digit(self) -> float:
        """How far a mean of decimals may be from the quotient."""
        kind = self.call.type
        return 10.0**-kind.scale if isinstance(kind, DecimalType) else 0.0

    def rounding(self, at: Callable[[str], SparkColumn]) -> SparkColumn:
        """How far another order of adding up can move it.

        The error of a sum is no more than the number of its terms, times the unit of rounding, times the sum of their sizes (Higham,
        "Accuracy and Stability of Numerical Algorithms", section 4.2).
        """
        from pyspark.sql import functions as F

        number = at("number").cast("double")
        sizes = (
            at("sizes")
            if self.has_floats
            else number * F.greatest(*(F.abs(at(name).cast("double")) for name in ("least", "greatest")))
        )
        return F.when(sizes < INFINITY, F.lit(UNIT) * (number if self.call.function == "sum" else F.lit(1.0)) * sizes)


def _of_sum(whole: SparkColumn, own: _Limits, all_: _Limits) -> tuple[SparkColumn, SparkColumn]:
    """Between what the sum of that many values can be: those that are there, and by the whole those that are not."""
    from pyspark.sql import functions as F

    part = all_.part
    there, gone = (part.fewest, part.most), (part.number - part.most, part.number - part.fewest)
    low, high = F.least(*(n * own.least for n in there)), F.greatest(*(n * own.greatest for n in there))
    rest_low, rest_high = F.least(*(n * all_.least for n in gone)), F.greatest(*(n * all_.greatest for n in gone))
    return F.greatest(low, whole - rest_high), F.least(high, whole - rest_low)
