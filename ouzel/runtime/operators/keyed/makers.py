"""What accumulates each aggregate: entries of the registry and the classes of this room find each other by a name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from ouzel.compiler.catalog import load_named
from ouzel.compiler.functions.aggregate_function import AggregateFunction
from ouzel.runtime.operators import keyed
from ouzel.runtime.operators.keyed.accumulators import Accumulators

MakeAccumulators = Callable[..., Accumulators]
"""A class, or a function, that is called with a call, the type of its argument, and whether rows can be taken back."""

Registered = TypeVar("Registered", bound=MakeAccumulators)

_makers: dict[str, MakeAccumulators] = {}


def accumulates(name: str) -> Callable[[Registered], Registered]:
    """Decorator of what makes the accumulators that entries of the registry name so (`GroupState.accumulators`).

    Raises:
        ValueError: something else in this room has the name.
    """

    def register(made: Registered) -> Registered:
        if name in _makers:
            raise ValueError(f"{_makers[name].__qualname__} and {made.__qualname__} both accumulate '{name}'")
        _makers[name] = made
        return made

    return register


def maker_of(function: AggregateFunction) -> MakeAccumulators:
    """What makes an aggregate's accumulators; an aggregate of another package names its own by import path."""
    name = function.state.accumulators
    if ":" in name:
        made: MakeAccumulators = load_named(name)
        return made
    if name not in _makers:
        _import_room()
    return _makers[name]


def _import_room() -> None:
    """Let all modules of this room register what they have; whoever counts and sums alone never needs them."""
    for module in iter_modules(keyed.__path__, f"{keyed.__name__}."):
        import_module(module.name)
