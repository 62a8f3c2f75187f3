"""The laws of a monoid, tried on some totals: what does not keep them gives other answers as rows come in other batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, combinations, permutations, product
from math import isclose, isfinite, isnan
from typing import Any

from ouzel.monoid.base import Monoid
from ouzel.monoid.python import UserDefined

GROUPING = (
    "add is given two totals: keep what adds up, and divide or round at the end, by finish=function; "
    "of a mean keep its sum and its count, or take monoid.Mean()"
)
ORDER = "the order of its values shows: of equals take the same one, or keep a time with each value and take the latest: monoid.Last()"
EMPTY = (
    "the empty total must change nothing: 0 for a sum, 1 for a product, None that add passes over where there is none"
)


@dataclass(frozen=True)
class CalledTotal:
    """A total, how it is written in calls of the monoid, and of which two it was made."""

    written: str
    total: Any
    parts: tuple[CalledTotal, CalledTotal] | None = None


@dataclass(frozen=True)
class LawSides:
    """Two sides of a law, which are to be the same, and what to write where they are not."""

    left: CalledTotal
    right: CalledTotal
    mend: str

    def __str__(self) -> str:
        left = f"{self.left.written} is {self.left.total!r:.60}"
        if self.right.parts is None:
            return f"{left}, and not {self.right.written}"
        return f"{left}, and {self.right.written} is {self.right.total!r:.60}"


class LawTrial:
    """What tries a monoid's laws on the totals of some values. It is given copies, so that it may change them."""

    def __init__(self, monoid: Monoid[Any, Any, Any]) -> None:
        self._monoid = monoid
        self._called = monoid.name if isinstance(monoid, UserDefined) else "plus"

    def sides(self, values: Sequence[Any]) -> Iterator[LawSides]:
        """The sides of all laws for these values."""
        totals = [_write(self._monoid.prepare(value)) for value in values]
        zero, plus = _write(self._monoid.zero), self._plus
        for a, b, c in chain(permutations(totals, 3), product(totals, repeat=3)):
            yield LawSides(plus(plus(a, b), c), plus(a, plus(b, c)), GROUPING)
        for a, b in combinations(totals, 2):
            yield LawSides(plus(a, b), plus(b, a), ORDER)
        for a in totals:
            yield LawSides(plus(zero, a), a, EMPTY)
            yield LawSides(plus(a, zero), a, EMPTY)

    def are_same(self, sides: LawSides) -> bool:
        """Whether a reader sees the same of both, but for rounding, or by chance: if one side is another when it is computed again."""
        both = sides.left, sides.right
        tolerance = 1e-9 * max(map(_magnitude_of_term, both))
        left, right, again = (self._present(one) for one in (*both, self._recompute(sides.left)))
        return are_equal(left, right, tolerance) or not are_equal(left, again, tolerance)

    def _plus(self, a: CalledTotal, b: CalledTotal) -> CalledTotal:
        made = self._monoid.plus(deepcopy(a.total), deepcopy(b.total))
        return CalledTotal(f"{self._called}({a.written}, {b.written})", made, (a, b))

    def _recompute(self, term: CalledTotal) -> CalledTotal:
        return term if term.parts is None else self._plus(*map(self._recompute, term.parts))

    def _present(self, term: CalledTotal) -> Any:
        return self._monoid.present(deepcopy(term.total))


def _write(total: Any) -> CalledTotal:
    return CalledTotal(f"{total!r:.60}", total)


def are_equal(a: Any, b: Any, tolerance: float = 1e-12) -> bool:
    """Whether two totals are the same: NaN is NaN, and what is no whole number is equal to nine digits, or but for the tolerance."""
    match a, b:
        case int(), int():
            return a == b
        case ((int() | float() | Decimal()), (int() | float() | Decimal())):
            return (isnan(a) and isnan(b)) or isclose(a, b, rel_tol=1e-9, abs_tol=tolerance)
        case ((tuple() | list()), (tuple() | list())):
            return len(a) == len(b) and all(are_equal(one, other, tolerance) for one, other in zip(a, b, strict=True))
        case dict(), dict():
            return a.keys() == b.keys() and all(are_equal(a[key], b[key], tolerance) for key in a)
    return bool(a == b)


def _magnitude_of_term(term: CalledTotal) -> float:
    """The largest number in a total, and in those of which it was made."""
    return max(_magnitude(term.total), *map(_magnitude_of_term, term.parts or ()), 0.0)


def _magnitude(total: Any) -> float:
    return max((abs(number) for number in numbers_in(total) if isfinite(number)), default=0.0)


def numbers_in(total: Any) -> Iterator[float]:
    """The numbers in a total, at any depth."""
    match total:
        case int() | float() | Decimal():
            yield float(total)
        case tuple() | list():
            yield from chain.from_iterable(map(numbers_in, total))
        case dict():
            yield from chain.from_iterable(map(numbers_in, total.values()))
