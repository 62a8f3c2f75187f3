"""The functions that a program may call: the registries of scalars and aggregates, and beside them the user's own rows."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from ouzel.compiler.functions import lookup
from ouzel.compiler.functions.aggregate_function import AggregateFunction
from ouzel.compiler.functions.aggregates import find_aggregate
from ouzel.compiler.functions.registry import Function
from ouzel.errors import QueryError

Row = Function | AggregateFunction


@dataclass(frozen=True)
class Functions:
    """All that a program may call. The user's rows travel with the plan, inside their calls (`Call.row`, `AggregateCall.row`)."""

    own: Mapping[str, Row] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The user's rows, each once."""
        return tuple({row.name: row for row in self.own.values()}.values())

    def scalar(self, name: str) -> Function | None:
        """The scalar function of this name or alias, in any case."""
        return self.own_scalar(name) or lookup(name)

    def aggregate(self, name: str) -> AggregateFunction | None:
        """The aggregate of this name or alias, in any case."""
        return self.own_aggregate(name) or find_aggregate(name)

    def own_scalar(self, name: str) -> Function | None:
        """The user's scalar function of this name."""
        found = self.own.get(name.lower())
        return found if isinstance(found, Function) else None

    def own_aggregate(self, name: str) -> AggregateFunction | None:
        """The user's aggregate of this name."""
        found = self.own.get(name.lower())
        return found if isinstance(found, AggregateFunction) else None


@runtime_checkable
class _Adding(Protocol):
    """A monoid."""

    def prepare(self, value: Any) -> Any:
        """The total of one value."""

    def plus(self, a: Any, b: Any) -> Any:
        """The total of two."""


def _check_row(given: object) -> None:
    """See that something is a function that SQL may call.

    Raises:
        QueryError: it is none; says what makes it one.
    """
    if isinstance(given, Row):
        return
    called = given.__name__ if inspect.isroutine(given) or isinstance(given, type) else f"{given!r:.60}"
    instead = f"put @ouzel.function((str,), str) above def {called}" if callable(given) else "make it by ouzel.function"
    if isinstance(given, _Adding):
        instead = f"write monoid.as_function({given!r:.60})"
    raise QueryError(f"SQL cannot call {called}, which says no types of its arguments and its result", instead=instead)


def with_own(rows: Iterable[Row]) -> Functions:
    """The registries and these rows.

    Raises:
        QueryError: a name is taken.
    """
    own: dict[str, Row] = {}
    if isinstance(rows, Row | Mapping) or not isinstance(rows, Iterable):
        shown = f"the function {rows.name}" if isinstance(rows, Row) else f"{rows!r:.60}"
        raise QueryError(f"functions= takes a list of functions, and not {shown}", instead="write functions=[function]")
    for row in rows:
        _check_row(row)
        for name in (row.name, *row.aliases):
            if lookup(name) or find_aggregate(name) or name in own:
                raise QueryError(f"there is a function {name.upper()} already", instead="give yours another name")
            own[name.lower()] = row
    return Functions(own)
