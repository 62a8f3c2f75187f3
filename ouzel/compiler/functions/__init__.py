"""The function registry's front: find an entry, resolve a call, list them all. See `registry` for what an entry is."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache

from ouzel.compiler.coercion import cast_to
from ouzel.compiler.expressions import Call, Expression, Literal
from ouzel.compiler.functions.registry import Function, Signature
from ouzel.compiler.types import DataType
from ouzel.errors import QueryError


@cache
def all_functions() -> tuple[Function, ...]:
    """Every entry, family by family."""
    from ouzel.compiler.functions import (
        arithmetic,
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
    )

    numbers, texts = (arithmetic, comparison, logic, conditional, mathematics), (string, search, hashing, json_path)
    families = (*numbers, *texts, temporal, formats, collection)
    return tuple(function for family in families for function in family.FUNCTIONS)


@cache
def _by_name() -> dict[str, Function]:
    return {name: function for function in all_functions() for name in (function.name, *function.aliases)}


def lookup(name: str) -> Function | None:
    """The entry with this name or alias, in any case."""
    return _by_name().get(name.lower())


def resolve_call(name: str, arguments: Sequence[Expression]) -> Expression:
    """The typed call of a function, its arguments cast to the parameters' types.

    Raises:
        QueryError: there is no such function, or it does not take these types; without a position, which the binder knows.
    """
    function = lookup(name)
    if function is None:
        raise QueryError(f"there is no function {name.upper()}", instead=_near(name))
    signature = function.resolve([argument.type for argument in arguments])
    if signature is None:
        raise _refusal(name, function, arguments)
    if function.check is not None:
        function.check(arguments)
    cast = tuple(cast_to(argument, kind) for argument, kind in zip(arguments, signature.parameters, strict=True))
    return Call(signature.result, function.name, cast)


def _near(name: str) -> str:
    close = get_close_matches(name.lower(), _by_name(), n=3)
    return f"did you mean {' or '.join(match.upper() for match in close)}?" if close else ""


def _refusal(name: str, function: Function, arguments: Sequence[Expression]) -> QueryError:
    shown = ", ".join(str(argument.type) for argument in arguments)
    return QueryError(f"{name.upper()} does not take ({shown})", instead=f"write {function.usage}")


__all__ = ["DataType", "Function", "Literal", "Signature", "all_functions", "lookup", "resolve_call"]
