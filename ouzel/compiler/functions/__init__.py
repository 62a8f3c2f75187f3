"""The function registry's front: find an entry, list them all. See `registry` for what an entry is, `resolution` for what a call means."""

from __future__ import annotations

from functools import cache

from ouzel.compiler.expressions import Call
from ouzel.compiler.functions.registry import Function, Signature


@cache
def families() -> dict[str, tuple[Function, ...]]:
    """The entries by family, which is the name of the module that has them."""
    from ouzel.compiler.functions import (
        arithmetic,
        array_sets,
        collection,
        comparison,
        conditional,
        formats,
        hashing,
        json_path,
        logic,
        mathematics,
        search,
        string,
        temporal,
        zones,
    )

    numbers, texts = (arithmetic, comparison, logic, conditional, mathematics), (string, search, hashing, json_path)
    modules = (*numbers, *texts, temporal, zones, formats, collection, array_sets)
    return {module.__name__.rsplit(".", 1)[1]: module.FUNCTIONS for module in modules}


@cache
def all_functions() -> tuple[Function, ...]:
    """Every entry, family by family."""
    return tuple(function for members in families().values() for function in members)


@cache
def by_name() -> dict[str, Function]:
    """The entries by all of their names, in lower case."""
    return {name: function for function in all_functions() for name in (function.name, *function.aliases)}


def lookup(name: str) -> Function | None:
    """The entry with this name or alias, in any case."""
    return by_name().get(name.lower())


def function_of(call: Call) -> Function | None:
    """The function that is called: the row that the call brings along, else the registry's."""
    return call.row or lookup(call.function)


__all__ = ["Function", "Signature", "all_functions", "by_name", "families", "function_of", "lookup"]
