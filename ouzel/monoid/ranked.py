"""Monoids of values in an order: the first, the last, the first few, all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ouzel.compiler.functions.aggregate_function import ValueOrder
from ouzel.compiler.functions.aggregates import AggregateSignature
from ouzel.compiler.functions.gathering import has_value_order
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import DOUBLE, ArrayType, DataType, DecimalType, FloatType, IntegerType
from ouzel.errors import QueryError
from ouzel.monoid.base import OfRegistry
from ouzel.monoid.extremes import rank
from ouzel.monoid.python import InPython

A = TypeVar("A")
B = TypeVar("B")


def _check_fraction(called: str, given: float) -> None:
    if not 0 <= given <= 1:
        advice = f"write {given / 100:g}" if 1 < given <= 100 else "write 0.5 for the median"
        raise QueryError(f"{called} takes fractions from 0 to 1, and {given} is none", instead=advice)


@dataclass(frozen=True)
class _ByKey(OfRegistry["tuple[B, A] | None", "tuple[B, A] | None", "A"], Generic[B, A]):
    """Base: of pairs (by, value) the value of the least or largest; None is before all, and among equals the value decides."""

    commutative = True
    zero = None
    inverse = None
    largest = False

    def prepare(self, value: tuple[B, A] | None) -> tuple[B, A] | None:
        return value

    def plus(self, a: tuple[B, A] | None, b: tuple[B, A] | None) -> tuple[B, A] | None:
        if a is None or b is None:
            return b if a is None else a
        ordered = sorted((a, b), key=rank)
        return ordered[1 if self.largest else 0]

    def present(self, total: tuple[B, A] | None) -> A:
        return None if total is None else total[1]  # type: ignore[return-value]  # of no pairs

    def signature(self, value_type: DataType) -> AggregateSignature:
        try:
            return super().signature(value_type)
        except QueryError as error:
            error.problem = f"{type(self).__name__}() adds up pairs (by, value) that have an order, not {value_type}"
            error.instead = "map to (key, (by, value)) before"
            raise


@dataclass(frozen=True)
class MinBy(_ByKey[B, A]):
    """Of pairs (by, value) the value with the least `by`: SQL's MIN_BY(value, by)."""

    sql = "min_by"


@dataclass(frozen=True)
class MaxBy(_ByKey[B, A]):
    """Of pairs (by, value) the value with the largest `by`: SQL's MAX_BY(value, by)."""

    sql = "max_by"
    largest = True


@dataclass(frozen=True)
class First(MinBy[B, A]):
    """Of pairs (time, value) the first value."""


@dataclass(frozen=True)
class Last(MaxBy[B, A]):
    """Of pairs (time, value) the last value."""


@dataclass(frozen=True)
class Bag(OfRegistry["A", "Counter[A]", "dict[A, int]"], Generic[A]):
    """How often each value is there: SQL's HISTOGRAM. None of no values."""

    sql = "histogram"
    commutative = True

    @property
    def zero(self) -> Counter[A]:
        return Counter()

    def prepare(self, value: A) -> Counter[A]:
        return Counter() if value is None else Counter([value])

    def plus(self, a: Counter[A], b: Counter[A]) -> Counter[A]:
        both = {value: a[value] + b[value] for value in a.keys() | b.keys()}
        return Counter({value: count for value, count in both.items() if count})

    @property
    def inverse(self) -> Callable[[Counter[A]], Counter[A]]:
        return _take_back

    def present(self, total: Counter[A]) -> dict[A, int]:
        return dict(total) or None  # type: ignore[return-value]  # of no values


def _take_back(total: Counter[A]) -> Counter[A]:
    return Counter({value: -count for value, count in total.items()})


@dataclass(frozen=True)
class _Listed(OfRegistry["A", "Counter[A]", "list[A]"], Generic[A]):
    sql = "collect_list"
    commutative = True

    @property
    def zero(self) -> Counter[A]:
        return Counter()

    def prepare(self, value: A) -> Counter[A]:
        return Bag[A]().prepare(value)

    def plus(self, a: Counter[A], b: Counter[A]) -> Counter[A]:
        return Bag[A]().plus(a, b)

    @property
    def inverse(self) -> Callable[[Counter[A]], Counter[A]]:
        return _take_back

    def call(self, name: str, column: str, value_type: DataType) -> AggregateCall:
        return replace(super().call(name, column, value_type), parameters=((ValueOrder(),),))


@dataclass(frozen=True)
class ListOf(_Listed[A]):
    """All values, least first: SQL's COLLECT_LIST. None of no values."""

    def present(self, total: Counter[A]) -> list[A]:
        return sorted(total.elements(), key=rank) or None  # type: ignore[return-value]  # of no values


@dataclass(frozen=True)
class SetOf(_Listed[A]):
    """Each value once, least first: SQL's COLLECT_LIST(DISTINCT value). None of no values."""

    def present(self, total: Counter[A]) -> list[A]:
        return sorted((value for value, count in total.items() if count > 0), key=rank) or None  # type: ignore[return-value]

    def call(self, name: str, column: str, value_type: DataType) -> AggregateCall:
        return replace(super().call(name, column, value_type), distinct=True)


@dataclass(frozen=True)
class Quantile(OfRegistry["float | None", "Counter[float]", "float | None"]):
    """The value at a fraction of the way through all, about: SQL's APPROX_PERCENTILE. None of no values.

    Args:
        fraction: from 0 to 1.
        error: by how much of itself a value may be rounded.
    """

    fraction: float
    error: float = 0.01
    sql = "approx_percentile"
    commutative = True

    def __post_init__(self) -> None:
        _check_fraction("Quantile", self.fraction)

    @property
    def zero(self) -> Counter[float]:
        return Counter()

    def prepare(self, value: float | None) -> Counter[float]:
        if value is None:
            return Counter()
        part, exponent = math.frexp(value)
        digits = 2.0 ** math.ceil(-math.log2(self.error))
        return Counter([math.ldexp(round(part * digits) / digits, exponent) + 0.0 if math.isfinite(part) else part])

    def plus(self, a: Counter[float], b: Counter[float]) -> Counter[float]:
        return Bag[float]().plus(a, b)

    @property
    def inverse(self) -> Callable[[Counter[float]], Counter[float]]:
        return _take_back

    def present(self, total: Counter[float]) -> float | None:
        values = sorted(total.elements(), key=rank)
        if not values:
            return None
        place = (len(values) - 1) * self.fraction
        low, high = values[math.floor(place)], values[math.ceil(place)]
        return low if low == high else (math.ceil(place) - place) * low + (place - math.floor(place)) * high

    def call(self, name: str, column: str, value_type: DataType) -> AggregateCall:
        made = super().call(name, column, value_type)
        return replace(made, parameters=((ValueOrder(),), self.fraction, self.error))


@dataclass(frozen=True)
class Quantiles(InPython["float | None", "Counter[float]", "list[float] | None"]):
    """The values at several fractions of the way through all, about; each is what `Quantile` gives. None of no values.

    It rounds values and keeps how many there are of each, for a sketch of ranks, such as KLL, draws dice and goes by the order of values:
    no two engines would give the same, and nothing could be taken back.

    Args:
        fractions: each from 0 to 1.
        error: by how much of itself a value may be rounded.
    """

    fractions: tuple[float, ...]
    error: float = 0.01
    name = "quantiles"

    def __post_init__(self) -> None:
        for fraction in self.fractions:
            _check_fraction("Quantiles", fraction)

    @property
    def zero(self) -> Counter[float]:
        return Counter()

    def prepare(self, value: float | None) -> Counter[float]:
        return Quantile(0.5, self.error).prepare(value)

    def plus(self, a: Counter[float], b: Counter[float]) -> Counter[float]:
        return Bag[float]().plus(a, b)

    @property
    def inverse(self) -> Callable[[Counter[float]], Counter[float]]:
        return _take_back

    def present(self, total: Counter[float]) -> list[float] | None:
        found = [Quantile(fraction, self.error).present(total) for fraction in self.fractions]
        return [one for one in found if one is not None] or None

    def result_type(self, value_type: DataType) -> DataType | None:
        return ArrayType(DOUBLE) if isinstance(value_type, IntegerType | FloatType | DecimalType) else None


@dataclass(frozen=True)
class TopK(InPython["A", "tuple[A, ...]", "list[A]"], Generic[A]):
    """The largest values, largest first.

    Args:
        size: how many at most.
    """

    size: int
    name = "top_k"
    zero = ()
    inverse = None

    def prepare(self, value: A) -> tuple[A, ...]:
        return () if value is None else (value,)

    def plus(self, a: tuple[A, ...], b: tuple[A, ...]) -> tuple[A, ...]:
        return tuple(sorted((*a, *b), key=rank, reverse=True)[: self.size])

    def present(self, total: tuple[A, ...]) -> list[A]:
        return list(total)

    def result_type(self, value_type: DataType) -> DataType | None:
        return ArrayType(value_type) if has_value_order(value_type) else None
