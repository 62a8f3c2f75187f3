"""Monoids: how values add up, once for SQL's aggregates and for programs in Python.

    from ouzel import monoid

    flights.map(by_route).sum_by_key(store, monoid.Mean())

A monoid is an object that describes and keeps nothing. In plain Python it says what it means:

    total = monoid.Sum()
    total.sum([1, 2, 3])                                         # 6
    total.present(total.plus(total.total([1, 2]), total.total([3])))  # 6, of two parts

and `aggregate(type)` gives the row of the registry of aggregates that computes the same of a column on every engine:

    plan.Aggregate(rows, ("route",), (monoid.Mean().call("delay", "value", DOUBLE),), emit)

Whether rows that change may be added up is what that row says, `aggregate(type).takes_back`. A group takes back what it has added by
its `inverse`. MIN and MAX are no groups, and keep all values where rows can be taken back. What can do neither is refused over such rows
when the query is planned.

Where `commutative` is false, values are added in the order of the rows of their key, and never before they have met.
"""

from ouzel.monoid.base import Monoid
from ouzel.monoid.extremes import Max, Min
from ouzel.monoid.totals import Count, Mean, Sum

__all__ = ["Count", "Max", "Mean", "Min", "Monoid", "Sum"]
