"""A user's monoid is tried when the sum is written, on the first values of one key: does it keep its laws?"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from math import isnan
from time import monotonic
from typing import Any

import cloudpickle

from ouzel.callers import users_level
from ouzel.compiler.catalog import QueryWarning
from ouzel.dsl import producers, sampling
from ouzel.dsl.inference import NOT_A_FAILURE
from ouzel.dsl.shapes import as_tuples, in_classes, key_value
from ouzel.dsl.swapped_parts import warn_of_swapped_parts
from ouzel.dsl.variables import copy_for_trial
from ouzel.errors import QueryError
from ouzel.exits import in_user_code
from ouzel.monoid import MapOf, Monoid, TupleOf, UserDefined
from ouzel.monoid.laws import LawSides, LawTrial, numbers_in

VALUES = 5
"""So many values the laws are tried on, which are 125 sums of three."""

SECONDS = 0.2
"""No law is tried after so long."""


def check_laws_of(verb: str, producer: producers.Summed | producers.WindowSum) -> None:
    """See that a monoid of the user's can be computed, and keeps its laws for the first values, if these are known; and that none of
    ours gets its parts in the other order, which is a warning.

    Only values of one key are added up, so only such are tried. Those of one window are not known: of windows it is a warning.

    Raises:
        QueryError: it does not; shows the values, and says what to write.
    """
    warn_of_swapped_parts(verb, producer)
    broken = _find_broken(producer)
    if broken is None:
        return
    monoid, sides = broken
    problem = f"{verb} adds up by {_name(monoid)}, whose answer depends on which values are added up first: {sides}"
    if isinstance(producer, producers.Summed):
        raise QueryError(problem, instead=sides.mend)
    warnings.warn(f"{problem}; {sides.mend}", QueryWarning, stacklevel=users_level())


def _find_broken(
    producer: producers.Summed | producers.WindowSum,
) -> tuple[Monoid[Any, Any, Any], LawSides] | None:
    if not any(True for _ in _own(producer.monoid, ())):
        return None
    producer.monoid.aggregate(
        producer.below.record.columns[1].type
    )  # refuses what is never computed, as an `async def`
    values = _first_values(sampling.known_samples(producer.below) or ())
    monoid = in_classes(_copied(producer.monoid), producer.below.record.hints[1])
    until = monotonic() + SECONDS
    with in_user_code():
        for own, its_values in _own(monoid, values):
            if sides := _try(own, its_values, until):
                return own, sides
    return None


def _try(monoid: Monoid[Any, Any, Any], values: Sequence[Any], until: float) -> LawSides | None:
    """The first law that does not hold; a monoid that raises is told of with its place when it runs."""
    trial = LawTrial(monoid)
    try:
        found = takewhile(lambda _: monotonic() < until, trial.sides(values[:VALUES]))
        return next((sides for sides in found if not trial.are_same(sides)), None)
    except NOT_A_FAILURE:
        raise
    except BaseException:
        return None


def _first_values(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Different values of the key that has most of them, as columns have them. A NaN is left out: few functions are made for it."""
    found: dict[Any, dict[Any, Any]] = {}
    for key, value in pairs:
        if value is not None and not any(map(isnan, numbers_in(as_tuples(value)))):
            found.setdefault(key_value(key), {}).setdefault(repr(value), as_tuples(value))
    return list(max(found.values(), key=len, default={}).values())


def _own(monoid: Monoid[Any, Any, Any], values: Sequence[Any]) -> Iterator[tuple[Monoid[Any, Any, Any], Sequence[Any]]]:
    """The monoids of the user's in this one, and what each adds up of these values."""
    match monoid:
        case TupleOf(parts=parts):
            for place, part in enumerate(parts):
                yield from _own(part, [value[place] for value in values if value[place] is not None])
        case MapOf(part=part):
            yield from _own(part, _first_values(pair for value in values for pair in value.items()))
        case _ if isinstance(monoid, UserDefined) or not type(monoid).__module__.startswith("ouzel."):
            yield monoid, values


def _copied(monoid: Monoid[Any, Any, Any]) -> Monoid[Any, Any, Any]:
    """The monoid with functions that may be tried: copies, where they change something."""
    match monoid:
        case TupleOf(parts=parts):
            return TupleOf(tuple(map(_copied, parts)))
        case MapOf(part=part):
            return MapOf(_copied(part))
        case UserDefined():
            lift, finish = _copied_function(monoid.lift), _copied_function(monoid.finish)
            return replace(monoid, add=copy_for_trial(monoid.add), lift=lift, finish=finish)
    try:
        copied: Monoid[Any, Any, Any] = pickle.loads(cloudpickle.dumps(monoid))
    except Exception:  # what cannot be sent to tasks is refused in its place
        return monoid
    return copied


def _copied_function(function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    return function and copy_for_trial(function)


def _name(monoid: Monoid[Any, Any, Any]) -> str:
    return monoid.name if isinstance(monoid, UserDefined) else type(monoid).__name__
