"""How many distinct values there are, about, as SQL's APPROX_COUNT_DISTINCT has it: HyperLogLog++ over dictionaries."""

from __future__ import annotations

import csv
import math
import struct
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from xxhash import xxh64_intdigest

from ouzel.compiler.functions.aggregates import AggregateSignature
from ouzel.compiler.functions.approximate import register_bits
from ouzel.compiler.plan import AggregateCall
from ouzel.compiler.types import BIGINT, DOUBLE, DataType, DecimalType, FloatType, IntegerType
from ouzel.errors import QueryError
from ouzel.monoid.base import OfRegistry
from ouzel.monoid.ranked import Bag

WORD = (1 << 64) - 1
SEED = 42
RANKS = 64
MIN_ERROR, MAX_ERROR = 0.01, 0.05

LINEAR = {9: 400, 10: 900, 11: 1800, 12: 3100, 13: 6500, 14: 15500}
"""Up to which number empty registers say more than full ones, by how many bits of a hash say the register."""


@dataclass(frozen=True)
class HyperLogLog(OfRegistry[Any, "Counter[int]", int]):
    """How many distinct values there are, about: SQL's APPROX_COUNT_DISTINCT.

    How many values there are of each rank in each register is kept, so that values can be taken back.

    Args:
        error: the standard error, from 0.01 to 0.05.
    """

    error: float = 0.05
    sql = "approx_count_distinct"
    commutative = True

    def __post_init__(self) -> None:
        if not MIN_ERROR <= self.error <= MAX_ERROR:
            raise QueryError(
                f"a standard error of {self.error} is out of reach", instead=f"take {MIN_ERROR} to {MAX_ERROR}"
            )

    @property
    def zero(self) -> Counter[int]:
        return Counter()

    def prepare(self, value: Any) -> Counter[int]:
        if value is None:
            return Counter()
        bits, word = register_bits(self.error), xxh64_intdigest(_bytes_of(value), SEED)
        rest = (word << bits | 1 << (bits - 1)) & WORD
        return Counter([(word >> (64 - bits)) * RANKS + 65 - rest.bit_length()])

    def plus(self, a: Counter[int], b: Counter[int]) -> Counter[int]:
        return Bag[int]().plus(a, b)

    @property
    def inverse(self) -> Callable[[Counter[int]], Counter[int]]:
        return Bag[int]().inverse

    def present(self, total: Counter[int]) -> int:
        largest: dict[int, int] = {}
        for place in total:
            largest[place // RANKS] = max(largest.get(place // RANKS, 0), place % RANKS)
        return _estimate(list(largest.values()), register_bits(self.error))

    def signature(self, value_type: DataType) -> AggregateSignature:
        if isinstance(value_type, DecimalType):  # a hash goes by the scale, which a Decimal of Python's has of its own
            raise QueryError(f"HyperLogLog takes no {value_type}", instead="map decimals to texts")
        if isinstance(value_type, IntegerType | FloatType):
            value_type = BIGINT if isinstance(value_type, IntegerType) else DOUBLE
        return super().signature(value_type)

    def call(self, name: str, column: str, value_type: DataType) -> AggregateCall:
        return replace(super().call(name, column, value_type), parameters=(self.error,))


def _bytes_of(value: Any) -> bytes:
    """What Spark hashes of a value."""
    match value:
        case bool():
            return int(value).to_bytes(4, "little")
        case int():
            return value.to_bytes(8, "little", signed=True)
        case float():
            return struct.pack("<d", math.nan if math.isnan(value) else value + 0.0)
        case str():
            return value.encode()
        case datetime():
            plain = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            return ((plain - datetime(1970, 1, 1)) // timedelta(microseconds=1)).to_bytes(8, "little", signed=True)
        case date():
            return (value - date(1970, 1, 1)).days.to_bytes(4, "little", signed=True)
        case timedelta():
            return (value // timedelta(microseconds=1)).to_bytes(8, "little", signed=True)
    return bytes(value)


def _estimate(ranks: list[int], bits: int) -> int:
    """How many distinct values there are, of the ranks of the registers that are not empty (Heule, Nunkesser and Hall, EDBT 2013)."""
    size = 1 << bits
    empty = size - len(ranks)
    raw = 0.7213 / (1 + 1.079 / size) * size * size / (empty + sum(math.ldexp(1.0, -rank) for rank in ranks))
    linear = size * math.log(size / empty) if empty else math.inf
    if empty and (linear <= LINEAR[bits] or raw <= 2.5 * size):
        return math.floor(linear + 0.5)
    return math.floor((raw - _bias(raw, bits) if raw < 5 * size else raw) + 0.5)


def _bias(raw: float, bits: int) -> float:
    """The mean of the biases that were measured at the six estimates nearest to this one."""
    measured = _read_biases()[bits]
    place = bisect_left(measured, (raw,))
    low = max(place - 5, 0)
    while low + 6 < len(measured) and abs(raw - measured[low + 6][0]) < abs(raw - measured[low][0]):
        low += 1
    near = measured[low : low + 6]
    return sum(bias for _, bias in near) / len(near)


@cache
def _read_biases() -> dict[int, list[tuple[float, float]]]:
    found: dict[int, list[tuple[float, float]]] = {}
    with files("ouzel.compiler.functions").joinpath("distinct_bias.csv").open() as file:
        for row in csv.DictReader(file):
            found.setdefault(int(row["precision"]), []).append((float(row["estimate"]), float(row["bias"])))
    return found
