"""Monoids that are one of their values."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ouzel.monoid.base import OfRegistry

X = TypeVar("X")


@dataclass(frozen=True)
class _Best(OfRegistry[X, "X | None", X], Generic[X]):
    """Base: of two values the better one. A semigroup with None as its zero, and no group."""

    commutative = True
    zero = None
    inverse = None

    def prepare(self, value: X) -> X | None:
        return value

    def plus(self, a: X | None, b: X | None) -> X | None:
        if a is None or b is None:
            return b if a is None else a
        return b if self.is_better(rank(b), rank(a)) else a

    def present(self, total: X | None) -> X:
        return total  # type: ignore[return-value]  # X has None where a group may be without values

    @abstractmethod
    def is_better(self, one: Any, other: Any) -> bool:
        """Whether of two ranks the first is wanted."""


@dataclass(frozen=True)
class Min(_Best[X]):
    """The least value: SQL's MIN. NaN is the largest number."""

    sql = "min"

    def is_better(self, one: Any, other: Any) -> bool:
        return bool(one < other)


@dataclass(frozen=True)
class Max(_Best[X]):
    """The largest value: SQL's MAX. NaN is the largest number."""

    sql = "max"

    def is_better(self, one: Any, other: Any) -> bool:
        return bool(one > other)


def rank(value: object) -> Any:
    """What values are compared by: text by its bytes in UTF-8, numbers with NaN behind infinity, parts one by one, None before all."""
    match value:
        case str():
            return value.encode()
        case float():
            return (math.isnan(value), 0.0 if math.isnan(value) else value)
        case tuple() | list():
            return [(part is not None, 0 if part is None else rank(part)) for part in value]
    return value
