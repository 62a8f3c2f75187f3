"""What tests of programs ask: does my monoid keep the laws?

It stands at the root because users import it by this name.

from ouzel.testing import check_laws

def test_my_monoid():
    check_laws(MyMonoid(), [1, 2, None, -7])
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from itertools import product
from random import Random
from typing import Any

import cloudpickle

from ouzel.monoid import Monoid, UserDefined
from ouzel.monoid.laws import EMPTY, are_equal

ORDERS = 25
"""In how many ways the values are cut into parts, which are added up in another order each."""


def check_laws(monoid: Monoid[Any, Any, Any], values: Sequence[Any], seed: int = 0) -> None:
    """See that a monoid keeps its laws for these values, None among them, and for what they add up to.

    `zero` changes nothing; `plus` is associative, commutative if the monoid says so, and changes neither of its arguments; `inverse`, if
    there is one, takes back; whatever the values are cut into, and in whatever order the parts are added up where that is allowed, what
    a reader sees is the same. The object and its totals can be sent to other processes, its functions be they lambdas.

    Raises:
        AssertionError: names the law that does not hold, and the totals.
    """
    if not isinstance(monoid, Monoid):
        shown = monoid.__name__ if isinstance(monoid, type) else repr(monoid)
        made = f"; write {shown}()" if isinstance(monoid, type) and issubclass(monoid, Monoid) else ""
        raise TypeError(f"check_laws takes a monoid, and {shown} is none{made}")
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(
            f"check_laws takes a list of values, and {values!r:.60} is none; write check_laws(monoid, [{values!r:.60}])"
        )
    copy = pickle.loads(cloudpickle.dumps(monoid))
    totals = [monoid.prepare(value) for value in (*values, None)] + [monoid.zero, monoid.total(values)]
    before = cloudpickle.dumps(totals)
    for a in totals:
        _same("zero + a == a", monoid, monoid.plus(monoid.zero, a), a)
        _same("a + zero == a", monoid, monoid.plus(a, monoid.zero), a)
        _same("a pickled copy computes the same", monoid, copy.plus(a, copy.zero), a)
        _same("a total survives pickling", monoid, pickle.loads(cloudpickle.dumps(a)), a)
    _check_sums(monoid, totals)
    assert cloudpickle.dumps(totals) == before, f"{monoid}: plus or inverse has changed what it was given"
    _check_parts(monoid, values, Random(seed))


def _check_sums(monoid: Monoid[Any, Any, Any], totals: Sequence[Any]) -> None:
    plus, inverse = monoid.plus, monoid.inverse
    for a, b in product(totals, repeat=2):
        if monoid.commutative:
            _same("a + b == b + a", monoid, plus(a, b), plus(b, a))
        if inverse is not None:
            _same("a + b - b == a", monoid, plus(plus(a, b), inverse(b)), a)
    for a, b, c in product(totals[:8], repeat=3):
        _same("(a + b) + c == a + (b + c)", monoid, plus(plus(a, b), c), plus(a, plus(b, c)))


def _check_parts(monoid: Monoid[Any, Any, Any], values: Sequence[Any], dice: Random) -> None:
    expected = monoid.sum(values)
    for _ in range(ORDERS):
        parts = [monoid.total(part) for part in _cut(values, dice)]
        if monoid.commutative:
            dice.shuffle(parts)
        total = monoid.zero
        for part in parts:
            total = monoid.plus(total, part)
        _same("parts add up to the whole", monoid, monoid.present(total), expected)


def _cut(values: Sequence[Any], dice: Random) -> Iterable[Sequence[Any]]:
    places = sorted(dice.randrange(len(values) + 1) for _ in range(3))
    return [values[start:end] for start, end in zip([0, *places], [*places, len(values)], strict=True)]


def _same(law: str, monoid: Monoid[Any, Any, Any], a: Any, b: Any) -> None:
    assert are_equal(a, b), f"{_name(monoid)} does not keep {law}: {a!r:.200} is not {b!r:.200}; {_MENDS[law]}"


def _name(monoid: Monoid[Any, Any, Any]) -> str:
    """The monoid as a program speaks of it; one of the user's functions by the name that it was given."""
    return f"UserDefined('{monoid.name}')" if isinstance(monoid, UserDefined) else str(monoid)


_MENDS = {
    "zero + a == a": EMPTY,
    "a + zero == a": EMPTY,
    "a pickled copy computes the same": "compute by the arguments alone, by no variable that changes",
    "a total survives pickling": "make the total of what pickle sends as it is: numbers, texts, tuples, lists, dicts",
    "a + b == b + a": "the order of its values shows: say commutative=False, or keep a time with each value and take the latest",
    "a + b - b == a": "what takes back must undo what adds; leave it out if nothing can",
    "(a + b) + c == a + (b + c)": "keep what adds up, and divide at the end: of a mean its sum and its count, (total, count)",
    "parts add up to the whole": "totals of parts are added up: keep what adds up, and compute the rest at the end",
}
"""What to do about each law that does not hold."""
