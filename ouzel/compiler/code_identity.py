"""A digest of a user's function. It changes when its code changes, or the code of anything of the user's that it calls."""

from __future__ import annotations

import dis
import functools
import inspect
import pickle
import re
import secrets
from collections.abc import Iterator, Mapping
from enum import Enum
from types import CodeType, ModuleType
from typing import Any

import cloudpickle

from ouzel.callers import NOT_THEIRS
from ouzel.compiler.plan.identity import digest

_LOADS = frozenset((*dis.hasconst, dis.opmap.get("KW_NAMES", -1)))
"""Instructions that load a constant of the code."""

_FLAGS = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)
"""The flags of a code object that change what it does."""

_PLAIN = str | bytes | int | float | bool | complex | None


def code_id(value: object) -> str:
    """A digest of a function, or of an object that holds functions: of the code, its closure, and all of the user's that it uses.

    Comments, doc strings, white space and the place in the file do not count. What is not the user's counts by its name. A function that
    cannot be compared has a new digest each time, so that it counts as changed.
    """
    try:
        return _Reader().read(value)
    except RecursionError:
        return _unlike_any()


class _Reader:
    """Digests one value. A value that refers to itself is named by the number of its first visit."""

    def __init__(self) -> None:
        self._met: dict[int, int] = {}
        self._alive: list[object] = []

    def read(self, value: object) -> str:
        """The digest of a value."""
        if isinstance(value, _PLAIN):
            return digest(type(value).__name__, repr(value))
        if id(value) in self._met:
            return digest("met", self._met[id(value)])
        self._met[id(value)] = len(self._met)
        self._alive.append(value)  # keep it alive, so that no other value gets its id
        return digest(*self._parts(value))

    def _parts(self, value: object) -> Iterator[object]:
        match value:
            case tuple() | list():
                yield from (type(value).__name__, *map(self.read, value))
            case set() | frozenset():
                yield from ("set", *sorted(_Reader().read(one) for one in value))
            case Mapping():
                yield from ("mapping", *(part for pair in value.items() for part in map(self.read, pair)))
            case functools.partial():
                yield from ("partial", *map(self.read, (value.func, value.args, value.keywords)))
            case re.Pattern():
                yield from ("pattern", repr(value.pattern), value.flags)
            case Enum():
                yield from ("enum", type(value).__qualname__, value.name)
            case CodeType():
                yield from self._of_code(value)
            case ModuleType():
                yield from ("module", value.__name__)
            case type():
                yield from self._of_class(value)
            case _ if inspect.ismethod(value):
                yield from ("method", self.read(value.__func__), self.read(value.__self__))
            case _ if inspect.isfunction(value):
                yield from self._of_function(value)
            case _:
                yield from self._of_object(value)

    def _of_function(self, function: Any) -> Iterator[object]:
        if not _is_theirs(function.__code__.co_filename):
            yield from ("named", function.__module__, function.__qualname__)
        wrapped = (cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell))
        yield from map(self.read, wrapped)
        yield from map(self.read, (function.__defaults__, function.__kwdefaults__))
        if _is_theirs(function.__code__.co_filename):
            yield from ("code", self.read(function.__code__))
            yield from self._of_globals(function)

    def _of_globals(self, function: Any) -> Iterator[object]:
        """The globals that the function uses, of its module and of other modules of the user's."""
        names = sorted(_names_in(function.__code__))
        for name in names:
            if name in function.__globals__:
                value = function.__globals__[name]
                yield from (name, self.read(value))
                if isinstance(value, ModuleType) and _is_theirs(getattr(value, "__file__", None) or ""):
                    used = [one for one in names if hasattr(value, one)]
                    yield from (part for one in used for part in (one, self.read(getattr(value, one))))

    def _of_code(self, code: CodeType) -> Iterator[object]:
        """The instructions with the constants that they load; no instruction loads a doc string."""
        yield from (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _FLAGS)
        for one in dis.get_instructions(code):
            yield from (one.opname, self.read(one.argval) if one.opcode in _LOADS else repr(one.argval))

    def _of_class(self, kind: type) -> Iterator[object]:
        yield from ("class", kind.__module__, kind.__qualname__)
        if _is_theirs(_file_of(kind)):
            yield from map(self.read, kind.__bases__)
            for name, value in sorted(vars(kind).items()):
                if not (name.startswith("__") and not callable(value)):
                    yield from (name, self.read(getattr(value, "__func__", value)))

    def _of_object(self, value: object) -> Iterator[object]:
        yield from ("object", self.read(type(value)))
        if hasattr(value, "__dict__"):
            yield from (part for name, one in sorted(vars(value).items()) for part in (name, self.read(one)))
        elif callable(value):
            yield from (getattr(value, "__module__", None) or "", getattr(value, "__qualname__", ""))
        else:
            yield _pickle(value)


def _pickle(value: object) -> bytes | str:
    try:
        return cloudpickle.dumps(value, protocol=pickle.DEFAULT_PROTOCOL)  # type: ignore[no-any-return]
    except Exception:  # whatever its own __reduce__ raises
        return _unlike_any()


def _unlike_any() -> str:
    return secrets.token_hex()


def _names_in(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _is_theirs(path: str) -> bool:
    return bool(path) and not path.startswith(NOT_THEIRS)


def _file_of(kind: type) -> str:
    try:
        return inspect.getfile(kind)
    except (TypeError, OSError):
        return "" if kind.__module__ == "builtins" else "<unknown>"
