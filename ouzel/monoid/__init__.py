"""Monoids: how values add up, once for SQL's aggregates and for programs in Python.

    from ouzel import monoid

    flights.map(by_route).sum_by_key(store, monoid.Mean())

A monoid is an object that describes and keeps nothing. In plain Python it says what it means:

    total = monoid.Sum()
    total.sum([1, 2, 3])                                         # 6
    total.present(total.plus(total.total([1, 2]), total.total([3])))  # 6, of two parts

and `aggregate(type)` gives the row of the registry of aggregates that computes the same of a column on every engine:

    plan.Aggregate(rows, ("route",), (monoid.Mean().call("delay", "value", DOUBLE),), emit)

Whether rows that change may be added up is what that row says, `aggregate(type).state.takes_back`. A group takes back what it has added by
its `inverse`. MIN and MAX are no groups, and keep all values where rows can be taken back. What can do neither is refused over such rows
when the query is planned.

Rows come in no order, so topologies take monoids that are `commutative`. What depends on an order makes it part of its values: `First` and
`Last` are of pairs (time, value).

Your own is a `UserDefined` of two functions, or a class like those here; `ouzel.testing.check_laws` tells whether it is one:

    longest = monoid.UserDefined("longest", "", lambda a, b: max(a, b, key=lambda text: (len(text), text)), VARCHAR, commutative=True)

SQL calls one that Python computes by the name that `as_function` gives it:

    ouzel.query("... SELECT LONGEST(word) AS w FROM words", functions=[monoid.as_function(longest)])
"""

from difflib import get_close_matches as _near
from typing import TYPE_CHECKING

from ouzel.monoid.base import Monoid
from ouzel.monoid.composed import MapOf, TupleOf
from ouzel.monoid.distinct import HyperLogLog
from ouzel.monoid.extremes import Max, Min
from ouzel.monoid.logic import And, Or
from ouzel.monoid.python import UserDefined, as_function
from ouzel.monoid.ranked import Bag, First, Last, ListOf, MaxBy, MinBy, Quantile, Quantiles, SetOf, TopK
from ouzel.monoid.summaries import BloomFilter, CountMinSketch, DecayedValue, Moments, Product, Reservoir, Theta
from ouzel.monoid.totals import Count, Mean, Sum

__all__ = [
    "And", "Bag", "BloomFilter", "Count", "CountMinSketch", "DecayedValue", "First", "HyperLogLog", "Last", "ListOf", "MapOf", "Max",
    "MaxBy", "Mean", "Min", "MinBy", "Moments", "Monoid", "Or", "Product", "Quantile", "Quantiles", "Reservoir", "SetOf", "Sum",
    "Theta", "TopK", "TupleOf", "UserDefined", "as_function",
]  # fmt: skip

_ELSEWHERE = {
    "Average": "Mean()", "Avg": "Mean()", "CountDistinct": "HyperLogLog(), or SetOf() and its length", "Distinct": "SetOf()",
    "Set": "SetOf()", "List": "ListOf()", "Collect": "ListOf()", "ArgMax": "MaxBy()", "ArgMin": "MinBy()", "Median": "Quantile(0.5)",
    "Percentile": "Quantile(0.95)", "Any": "Or()", "All": "And()", "StdDev": "Moments()", "Variance": "Moments()", "Histogram": "Bag()",
    "Top": "TopK(10)", "Concat": "ListOf()", "Stats": "Moments()",
    **dict.fromkeys(("Reduce", "Fold", "Custom", "Aggregate", "Reducer", "Aggregator", "Combine", "Lambda"),
                    "UserDefined(name, empty, add, type), whose add takes two totals"),
}  # fmt: skip
"""What other libraries call monoids, and what to write here."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        classes = {one.lower(): f"{one}()" for one in __all__ if one[0].isupper()}
        known = next((classes[one] for one in _near(name.lower(), classes, 1)), "")
        known = _ELSEWHERE.get(name[:1].upper() + name[1:], known)
        if name == "check_laws":
            raise AttributeError("there is no monoid check_laws; write from ouzel.testing import check_laws")
        told = f"write monoid.{known}" if known else f"there are {', '.join(__all__)}"
        raise AttributeError(f"there is no monoid {name}; {told}")
