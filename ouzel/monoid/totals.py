"""Monoids of how many values there are and what they come to."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

from ouzel.monoid.base import OfRegistry

N = TypeVar("N", bound=int | float | Decimal | None)
P = TypeVar("P")

Exact = int | Fraction | Decimal

_EXACT = Context(prec=200)
"""Precise enough that no sum of decimals is ever rounded."""


class Sums(NamedTuple):
    """The exact total of numbers, with those apart that have no place in it.

    Attributes:
        exact: of what is finite; a Fraction of floats, so that no order shows.
        nan: how many values are no number.
        infinity: how many are positive infinity.
        minus_infinity: how many are negative infinity.
        values: how many values there are in all.
    """

    exact: Exact
    nan: int
    infinity: int
    minus_infinity: int
    values: int


@dataclass(frozen=True)
class _OfNumbers(OfRegistry[N, Sums, P], Generic[N, P]):
    """Base: numbers are added up exactly."""

    commutative = True

    @property
    def zero(self) -> Sums:
        return Sums(0, 0, 0, 0, 0)

    def prepare(self, value: N) -> Sums:
        match value:
            case None:
                return self.zero
            case float() if not math.isfinite(value):
                return Sums(Fraction(0), int(math.isnan(value)), int(value == math.inf), int(value == -math.inf), 1)
            case float():
                return Sums(Fraction(value), 0, 0, 0, 1)
        return Sums(value, 0, 0, 0, 1)

    def plus(self, a: Sums, b: Sums) -> Sums:
        return Sums(_add(a.exact, b.exact), *(one + other for one, other in zip(a[1:], b[1:], strict=True)))

    @property
    def inverse(self) -> Callable[[Sums], Sums]:
        return _negative


def _negative(total: Sums) -> Sums:
    exact = _EXACT.minus(total.exact) if isinstance(total.exact, Decimal) else -total.exact
    return Sums(exact, -total.nan, -total.infinity, -total.minus_infinity, -total.values)


def _add(a: Exact, b: Exact) -> Exact:
    if isinstance(a, Fraction) or isinstance(b, Fraction):
        return Fraction(a) + Fraction(b)
    if isinstance(a, Decimal) or isinstance(b, Decimal):
        return _EXACT.add(Decimal(a), Decimal(b))
    return a + b


def _special(total: Sums) -> float | None:
    """NaN or an infinity, if the values' total is one."""
    if total.nan > 0 or (total.infinity > 0 and total.minus_infinity > 0):
        return math.nan
    return math.inf if total.infinity > 0 else -math.inf if total.minus_infinity > 0 else None


@dataclass(frozen=True)
class Sum(_OfNumbers[N, N], Generic[N]):
    """The total of numbers: SQL's SUM. None of no values."""

    sql = "sum"

    def present(self, total: Sums) -> N:
        if total.values <= 0:
            return None  # type: ignore[return-value]  # N has None where a group may be without values
        special = _special(total)
        if special is not None:
            return special  # type: ignore[return-value]  # of floats
        return float(total.exact) if isinstance(total.exact, Fraction) else total.exact  # type: ignore[return-value]


@dataclass(frozen=True)
class Mean(_OfNumbers[N, "N | float"], Generic[N]):
    """The mean of numbers: SQL's AVG, of decimals with four digits more. None of no values."""

    sql = "avg"

    def present(self, total: Sums) -> N | float:
        if total.values <= 0:
            return None  # type: ignore[return-value]  # as in Sum
        special = _special(total)
        if special is not None:
            return special
        if isinstance(total.exact, Decimal):
            return _mean(total.exact, total.values)  # type: ignore[return-value]
        return float(Fraction(total.exact) / total.values)


def _mean(total: Decimal, count: int) -> Decimal:
    """To four digits more than the values have, half away from zero."""
    exponent = total.as_tuple().exponent
    assert isinstance(exponent, int), "what is not finite is counted apart"
    digits = Decimal((0, (1,), exponent - 4))
    return _EXACT.divide(total, count).quantize(digits, ROUND_HALF_UP, _EXACT)


@dataclass(frozen=True)
class Count(OfRegistry[object, int, int]):
    """How many values there are that are not None: SQL's COUNT."""

    sql = "count"
    commutative = True
    zero = 0

    def prepare(self, value: object) -> int:
        return int(value is not None)

    def plus(self, a: int, b: int) -> int:
        return a + b

    def present(self, total: int) -> int:
        return total

    @property
    def inverse(self) -> Callable[[int], int]:
        return int.__neg__
