"""Monoids that tell much in little: how numbers lie, what fades, which values there are about. All by Python alone."""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

from ouzel.compiler.types import (
    BIGINT,
    BYTES,
    DOUBLE,
    ArrayType,
    DataType,
    DecimalType,
    FloatType,
    IntegerType,
    MapType,
    RowType,
    TimestampType,
)
from ouzel.monoid.python import InPython

HASH_BITS = 64


def _hash(value: Any, seed: int) -> int:
    """A word of what a value is written as: the same in every process."""
    key = seed.to_bytes(8, "little", signed=True)
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8, key=key).digest(), "little")


def _is_number(kind: DataType) -> bool:
    return isinstance(kind, IntegerType | FloatType | DecimalType)


@dataclass(frozen=True)
class Product(InPython["float | None", "tuple[float, int] | None", "float | None"]):
    """The product of numbers, right but for rounding. None of no values."""

    name = "product"
    zero = None
    inverse = None

    def prepare(self, value: float | None) -> tuple[float, int] | None:
        return None if value is None else math.frexp(value)

    def plus(self, a: tuple[float, int] | None, b: tuple[float, int] | None) -> tuple[float, int] | None:
        if a is None or b is None:
            return b if a is None else a
        part, exponent = math.frexp(a[0] * b[0])
        # apart, for a product on the way may be beyond what a float holds
        return (part, exponent + a[1] + b[1]) if part else (0.0, 0)

    def present(self, total: tuple[float, int] | None) -> float | None:
        if total is None:
            return None
        part, exponent = total
        return math.ldexp(part, exponent) if exponent <= 1024 else math.copysign(math.inf, part) if part else part

    def result_type(self, value_type: DataType) -> DataType | None:
        return DOUBLE if _is_number(value_type) else None


class Powers(NamedTuple):
    """Exact sums of the powers of numbers.

    Attributes:
        sums: of their zeroth to fourth powers.
        special: how many are infinite or no number.
    """

    sums: tuple[Fraction, Fraction, Fraction, Fraction, Fraction]
    special: int


NOTHING = Fraction(0)


@dataclass(frozen=True)
class Moments(InPython["float | None", Powers, "tuple[int, float, float, float, float] | None"]):
    """(count, mean, variance, skewness, kurtosis) of numbers, exact until they are shown. None of no values."""

    name = "moments"
    zero = Powers((NOTHING, NOTHING, NOTHING, NOTHING, NOTHING), 0)

    def prepare(self, value: float | None) -> Powers:
        if value is None:
            return self.zero
        if not math.isfinite(value):
            return Powers((Fraction(1), NOTHING, NOTHING, NOTHING, NOTHING), 1)
        exact = Fraction(value)
        return Powers((Fraction(1), exact, exact**2, exact**3, exact**4), 0)

    def plus(self, a: Powers, b: Powers) -> Powers:
        zeroth, first, second, third, fourth = (one + other for one, other in zip(a.sums, b.sums, strict=True))
        return Powers((zeroth, first, second, third, fourth), a.special + b.special)

    @property
    def inverse(self) -> Callable[[Powers], Powers]:
        return _negative_powers

    def present(self, total: Powers) -> tuple[int, float, float, float, float] | None:
        count = total.sums[0]
        if count <= 0:
            return None
        if total.special:
            return int(count), math.nan, math.nan, math.nan, math.nan
        mean, second, third, fourth = (power / count for power in total.sums[1:])
        variance = second - mean**2
        skew = float(third - 3 * mean * second + 2 * mean**3)
        tails = fourth - 4 * mean * third + 6 * mean**2 * second - 3 * mean**4
        spread = math.sqrt(variance)
        shape = (skew / spread**3, float(tails / variance**2) - 3) if spread else (math.nan, math.nan)
        return int(count), float(mean), float(variance), *shape

    def result_type(self, value_type: DataType) -> DataType | None:
        names = ("mean", "variance", "skewness", "kurtosis")
        fields = (("count", BIGINT), *((name, DOUBLE) for name in names))
        return RowType(fields) if _is_number(value_type) else None


def _negative_powers(total: Powers) -> Powers:
    zeroth, first, second, third, fourth = (-power for power in total.sums)
    return Powers((zeroth, first, second, third, fourth), -total.special)


@dataclass(frozen=True)
class DecayedValue(InPython["tuple[Any, float] | None", "tuple[float, float] | None", "float | None"]):
    """Of pairs (time, value) the sum as it has faded by the newest time, right but for rounding. None of no values.

    Args:
        half_life: after how many seconds a value counts half.
    """

    half_life: float
    name = "decayed_value"
    zero = None
    inverse = None

    def prepare(self, value: tuple[Any, float] | None) -> tuple[float, float] | None:
        if value is None or None in value:
            return None
        at = value[0]
        seconds = (at - datetime(1970, 1, 1, tzinfo=at.tzinfo)).total_seconds() if isinstance(at, datetime) else at
        return float(seconds), float(value[1])

    def plus(self, a: tuple[float, float] | None, b: tuple[float, float] | None) -> tuple[float, float] | None:
        if a is None or b is None:
            return b if a is None else a
        newest = max(a[0], b[0])
        return newest, math.fsum(amount * 2.0 ** ((at - newest) / self.half_life) for at, amount in (a, b))

    def present(self, total: tuple[float, float] | None) -> float | None:
        return None if total is None else total[1]

    def result_type(self, value_type: DataType) -> DataType | None:
        if not isinstance(value_type, RowType) or len(value_type.fields) != 2:
            return None
        (_, at), (_, amount) = value_type.fields
        return DOUBLE if _is_number(amount) and (_is_number(at) or isinstance(at, TimestampType)) else None


@dataclass(frozen=True)
class Reservoir(InPython[Any, "tuple[tuple[int, Any], ...]", "list[Any]"]):
    """A sample of the distinct values, which each have the same chance: those of the least hashes (Cohen, KMV sketches, 1997).

    Args:
        size: how many at most.
        seed: which sample.
    """

    size: int
    seed: int = 0
    name = "reservoir"
    zero = ()
    inverse = None

    def prepare(self, value: Any) -> tuple[tuple[int, Any], ...]:
        return () if value is None else ((_hash(value, self.seed), value),)

    def plus(self, a: tuple[tuple[int, Any], ...], b: tuple[tuple[int, Any], ...]) -> tuple[tuple[int, Any], ...]:
        return tuple(sorted((dict(a) | dict(b)).items(), key=lambda entry: entry[0])[: self.size])

    def present(self, total: tuple[tuple[int, Any], ...]) -> list[Any]:
        return [value for _, value in total]

    def result_type(self, value_type: DataType) -> DataType | None:
        return None if isinstance(value_type, MapType) else ArrayType(value_type)


@dataclass(frozen=True)
class Theta(InPython[Any, "tuple[int, ...]", float]):
    """How many distinct values there are, about: from the least hashes; exact while there are no more than `size`.

    Totals of two streams can be intersected and subtracted, which those of HyperLogLog cannot.

    Args:
        size: how many hashes are kept; the standard error is 1 / sqrt(size).
    """

    size: int = 4096
    name = "theta"
    zero = ()
    inverse = None

    def prepare(self, value: Any) -> tuple[int, ...]:
        return () if value is None else (_hash(value, 0),)

    def plus(self, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        large, small = (a, b) if len(a) >= len(b) else (b, a)
        if len(small) > 1:
            return tuple(sorted({*a, *b})[: self.size])
        place = bisect_left(large, small[0]) if small else len(large)
        known = not small or large[place : place + 1] == small
        return large if known else (*large[:place], *small, *large[place:])[: self.size]

    def present(self, total: tuple[int, ...]) -> float:
        return self._scale(len(total), total)

    def intersection(self, a: tuple[int, ...], b: tuple[int, ...]) -> float:
        """How many distinct values are in both, about."""
        both = self.plus(a, b)
        return self._scale(len({*a} & {*b} & {*both}), both)

    def _scale(self, found: int, total: tuple[int, ...]) -> float:
        """How many hashes there are in all, if so many are among these least ones."""
        if len(total) < self.size:
            return float(found)
        return found * (self.size - 1) / self.size * 2.0**HASH_BITS / total[-1]

    def result_type(self, value_type: DataType) -> DataType | None:
        return None if isinstance(value_type, MapType) else DOUBLE


@dataclass(frozen=True)
class BloomFilter(InPython[Any, int, bytes]):
    """Which values there are, as bits: `contains` is right of those that are there, and wrong of few others.

    Args:
        bits: how many; ten for each value make one in a hundred of the others wrong.
        hashes: how many of them stand for a value.
    """

    bits: int
    hashes: int = 7
    name = "bloom_filter"
    zero = 0
    inverse = None

    def prepare(self, value: Any) -> int:
        if value is None:
            return 0
        return sum(1 << place for place in {_hash(value, seed) % self.bits for seed in range(self.hashes)})

    def plus(self, a: int, b: int) -> int:
        return a | b

    def present(self, total: int) -> bytes:
        return total.to_bytes((self.bits + 7) // 8, "little")

    def contains(self, shown: bytes, value: Any) -> bool:
        """Whether a value may be among those of which the filter was made."""
        wanted = self.prepare(value)
        return int.from_bytes(shown, "little") & wanted == wanted

    def result_type(self, value_type: DataType) -> DataType | None:
        return None if isinstance(value_type, MapType) else BYTES


@dataclass(frozen=True)
class CountMinSketch(InPython[Any, "Counter[int]", "dict[int, int]"]):
    """How often each value is there, about: `count` is never too little (Cormode and Muthukrishnan, J. Algorithms 55, 2005).

    Args:
        width: counters in a row; a count is too large by more than 2.7 times all values / width once in e to the depth.
        depth: how many rows.
    """

    width: int
    depth: int = 5
    name = "count_min_sketch"

    @property
    def zero(self) -> Counter[int]:
        return Counter()

    def prepare(self, value: Any) -> Counter[int]:
        return Counter() if value is None else Counter(self._places(value))

    def plus(self, a: Counter[int], b: Counter[int]) -> Counter[int]:
        large, small = (a, b) if len(a) >= len(b) else (b, a)
        both = Counter(large)
        for place, count in small.items():
            both[place] += count
            if not both[place]:
                del both[place]
        return both

    @property
    def inverse(self) -> Callable[[Counter[int]], Counter[int]]:
        return _negative_counts

    def present(self, total: Counter[int]) -> dict[int, int]:
        return dict(total)

    def count(self, shown: dict[int, int], value: Any) -> int:
        """How often a value was there, or a little more."""
        return min(shown.get(place, 0) for place in self._places(value))

    def _places(self, value: Any) -> list[int]:
        return [row * self.width + _hash(value, row) % self.width for row in range(self.depth)]

    def result_type(self, value_type: DataType) -> DataType | None:
        return None if isinstance(value_type, MapType) else MapType(BIGINT, BIGINT)


def _negative_counts(total: Counter[int]) -> Counter[int]:
    return Counter({place: -count for place, count in total.items()})
