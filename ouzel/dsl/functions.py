"""The user's functions: where they were written, what they are called, by what they are known again, and whether they can be sent."""

from __future__ import annotations

import functools
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from io import BytesIO, TextIOWrapper
from pickle import PicklingError
from types import CodeType
from typing import Any

import cloudpickle

from ouzel.compiler.plan.identity import digest
from ouzel.errors import QueryError

UserFunction = Callable[..., Any]

LONGEST = 60
"""Characters of a lambda that a message shows."""


def function_name(function: UserFunction) -> str:
    """What a function is called; of a lambda what it says."""
    if isinstance(function, functools.partial):
        return f"partial({function_name(function.func)})"
    name = getattr(function, "__name__", type(function).__name__)
    return _lambda(function) or name if name == "<lambda>" else str(name)


def _lambda(function: UserFunction) -> str:
    code: CodeType = function.__code__
    spans = [
        (start, end)
        for line, last, start, end in code.co_positions()
        if line == last == code.co_firstlineno and start is not None and end is not None and end > start
    ]
    text = linecache.getline(code.co_filename, code.co_firstlineno)
    if not spans or not text:
        return ""
    encoded = text.encode()
    body = encoded[min(start for start, _ in spans) : max(end for _, end in spans)].decode(errors="replace")
    told = f"lambda {', '.join(code.co_varnames[: code.co_argcount])}: {body}"
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 1]}…"


_being_told: ContextVar[tuple[object, ...]] = ContextVar("being_told", default=())
"""What `function_id` is telling just now, from the outside inwards."""


def function_id(function: UserFunction) -> str:
    """By what a function is known again: its module and name, if it can be imported; else what its code says and what it has closed over.

    So a named function may be mended and keeps the state behind it, and a lambda is another one when it says something else.
    """
    if isinstance(function, functools.partial):
        return digest(
            "partial", function_id(function.func), *map(_value_id, function.args), *_of_mapping(function.keywords)
        )
    if inspect.ismethod(function):
        return digest("method", function_id(function.__func__), type(function.__self__).__qualname__)
    name, module = getattr(function, "__qualname__", ""), getattr(function, "__module__", "") or ""
    if name and "<" not in name and module != "__main__":
        return f"{module}:{name}"
    if inspect.isfunction(function):
        values = (*_closed_over(function), *(function.__defaults__ or ()))
        return digest(
            "code", *_of_code(function.__code__), *map(_value_id, values), *_of_mapping(function.__kwdefaults__ or {})
        )
    return digest("object", type(function).__module__, type(function).__qualname__, name)


def _closed_over(function: UserFunction) -> Iterator[Any]:
    """What the function's variables from outside hold.

    Raises:
        QueryError: one of them holds nothing yet.
    """
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield cell.cell_contents
        except ValueError:
            raise QueryError(
                f"{function_name(function)} uses '{name}', which is nothing yet",
                instead=f"define {name} above this step",
            ) from None


def _of_code(code: CodeType) -> Iterator[object]:
    yield code.co_code
    yield from code.co_names
    for constant in code.co_consts:
        yield digest(*_of_code(constant)) if isinstance(constant, CodeType) else _value_id(constant)


def _of_mapping(values: dict[str, Any]) -> Iterator[object]:
    for name, value in sorted(values.items()):
        yield from (name, _value_id(value))


def _value_id(value: object) -> str:
    """By what a value is known again. One that holds itself, as a function that calls itself does, is told there by its place."""
    if isinstance(value, str | bytes | int | float | bool | None):
        return repr(value)
    outer = _being_told.get()
    for place, one in enumerate(outer):
        if one is value:
            return digest("itself", place)
    token = _being_told.set((*outer, value))
    try:
        return _told(value)
    finally:
        _being_told.reset(token)


def _told(value: object) -> str:
    if callable(value):
        return function_id(value)
    if isinstance(value, tuple | list):
        return digest(type(value).__name__, *map(_value_id, value))
    if isinstance(value, dict):
        return digest("dict", *(part for pair in value.items() for part in map(_value_id, pair)))
    if isinstance(value, frozenset | set):
        return digest("set", *sorted(map(_value_id, value)))
    return type(value).__qualname__


def check_sendable(function: UserFunction, called: str, place: str) -> None:
    """See that a function can be sent to the processes that call it.

    Raises:
        QueryError: it cannot; names the variable.
    """
    try:
        _pickle(function)
    except Exception as error:
        culprit = _find_culprit(function, [])
        what = f"the variable '{culprit[0]}', a {type(culprit[1]).__name__}," if culprit else f"something ({error})"
        raise QueryError(
            f"{called} (at {place}) uses {what} which cannot be sent to other processes",
            instead="make it inside the function, or use a function of a module that can be imported",
        ) from None


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """As processes are sent functions, but for files: cloudpickle would send what is left to read of one."""

    def reducer_override(self, value: object) -> Any:
        """How a value is sent.

        Raises:
            PicklingError: it is an open file.
        """
        if isinstance(value, TextIOWrapper) and value not in (sys.stdout, sys.stderr):
            raise PicklingError("an open file")
        return super().reducer_override(value)


def _pickle(value: object) -> None:
    _Pickler(BytesIO()).dump(value)


def _find_culprit(function: UserFunction, seen: list[object]) -> tuple[str, object] | None:
    """The variable that cannot be sent, in the function or in what it calls."""
    seen.append(function)
    for name, value in _list_used(function):
        if _is_sendable(value) or any(value is one for one in seen):
            continue
        deeper = _find_culprit(value, seen) if callable(value) or name == "self" else None  # type: ignore[arg-type]
        return deeper or (name, value)
    return None


def _list_used(function: UserFunction) -> Iterator[tuple[str, object]]:
    """Variables that a function uses, with their values."""
    if isinstance(function, functools.partial):
        yield from ((f"argument {place}", value) for place, value in enumerate(function.args, 1))
        yield from function.keywords.items()
        function = function.func
    if inspect.ismethod(function):
        yield "self", function.__self__
        yield from vars(function.__self__).items() if hasattr(function.__self__, "__dict__") else ()
    elif inspect.isfunction(function):
        variables = inspect.getclosurevars(function)
        yield from (*variables.nonlocals.items(), *variables.globals.items())
    else:
        yield from getattr(function, "__dict__", {}).items()


def _is_sendable(value: object) -> bool:
    try:
        _pickle(value)
    except Exception:
        return False
    return True
