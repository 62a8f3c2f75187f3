"""Methods that users call, which say what to write where one is used as a value: `stream.table.sort(…)`, `for row in run.results`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any


class UserMethod:
    """A method of a class, or of an object, that can be called and nothing else.

    Args:
        method: the function; of an object, with the object bound to it.
        gives: what else to write, where the call alone is not what most want.
    """

    def __init__(self, method: Callable[..., Any], gives: str = "") -> None:
        self._method, self._gives = method, gives
        update_wrapper(self, method)

    def __get__(self, owner: object, kind: type | None = None) -> Callable[..., Any]:
        return self._method if owner is None else UserMethod(MethodType(self._method, owner), self._gives)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self._method(*args, **named)

    def __repr__(self) -> str:
        return f"<the method {self._method.__name__}, which is not called: write {self._spell()}>"

    def _spell(self) -> str:
        """The call, with what it asks for left open."""
        parameters = inspect.signature(self._method).parameters.values()
        asked = any(one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD for one in parameters)
        return f"{self._method.__name__}({'…' if asked else ''})"

    def _refuse(self, rest: str) -> str:
        more = f"; or {self._gives}" if self._gives else ""
        return f"{self._method.__name__} is a method, and is not called here: write {rest.format(self._spell())}{more}"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(self._refuse(f"{{}}.{name}"))

        def __iter__(self) -> object:
            raise TypeError(self._refuse("for one in {}"))

        def __aiter__(self) -> object:
            raise TypeError(self._refuse("async for one in {}"))

        def __await__(self) -> object:
            raise TypeError(self._refuse("await {}"))

        def __getitem__(self, place: object) -> object:
            shown = repr(place).replace("{", "{{").replace("}", "}}")
            raise TypeError(self._refuse(f"{{}}[{shown:.40}]"))

        def __len__(self) -> int:
            raise TypeError(self._refuse("len({})"))

        def __enter__(self) -> object:
            raise TypeError(self._refuse("with {} as …"))

        def __exit__(self, *error: object) -> None:
            """Never called: who enters is refused. Without it `with` speaks of a protocol."""

        def __bool__(self) -> bool:
            return True
