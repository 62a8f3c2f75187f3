"""Monoids of conditions."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.monoid.base import OfRegistry


@dataclass(frozen=True)
class And(OfRegistry["bool | None", "bool | None", "bool | None"]):
    """Whether all are true: SQL's BOOL_AND. None of no values."""

    sql = "bool_and"
    commutative = True
    zero = None
    inverse = None

    def prepare(self, value: bool | None) -> bool | None:
        return value

    def plus(self, a: bool | None, b: bool | None) -> bool | None:
        return b if a is None else a if b is None else a and b

    def present(self, total: bool | None) -> bool | None:
        return total


@dataclass(frozen=True)
class Or(And):
    """Whether any is true: SQL's BOOL_OR. None of no values."""

    sql = "bool_or"

    def plus(self, a: bool | None, b: bool | None) -> bool | None:
        return b if a is None else a if b is None else a or b
