"""What accumulates each aggregate: the table that leads from an entry of the registry to its code, imported when first used."""

from __future__ import annotations

from collections.abc import Callable

from ouzel.compiler.catalog import load_named
from ouzel.compiler.functions.aggregate_function import AggregateFunction
from ouzel.runtime.operators.keyed.accumulators import Accumulators

ACCUMULATORS = {
    "count": "ouzel.runtime.operators.keyed.groups:make_count",
    "total": "ouzel.runtime.operators.keyed.groups:make_total",
    "extreme": "ouzel.runtime.operators.keyed.groups:make_extreme",
    "moments": "ouzel.runtime.operators.keyed.moments:make_moments",
    "bits": "ouzel.runtime.operators.keyed.moments:make_bits",
    "moments of pairs": "ouzel.runtime.operators.keyed.statistics:make_of_pairs",
    "moments of shape": "ouzel.runtime.operators.keyed.statistics:make_of_shape",
    "approximate distinct count": "ouzel.runtime.operators.keyed.approximate:make_distinct_count",
    "approximate percentile": "ouzel.runtime.operators.keyed.approximate:make_percentile",
    "gathered": "ouzel.runtime.operators.keyed.gathered:make_gathered",
    "best": "ouzel.runtime.operators.keyed.best:make_best",
    "python total": "ouzel.runtime.operators.keyed.python_totals:make_python_total",
}
"""By GroupState.accumulators, the function of (call, argument type, whether rows can be taken back) that makes them."""


def maker_of(function: AggregateFunction) -> Callable[..., Accumulators]:
    """The function that makes an aggregate's accumulators; an aggregate of another package names its own by import path."""
    name = function.state.accumulators
    made: Callable[..., Accumulators] = load_named(ACCUMULATORS.get(name, name))
    return made
