"""The user's code as it is called: what it may raise, where that was, and how that is told."""

from __future__ import annotations

import dis
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from types import CodeType, FrameType, FunctionType
from typing import Any

from ouzel.callers import NOT_THEIRS, OURS
from ouzel.errors import QueryError

FAILURES = (BaseException,)
"""What a function of the user's may raise, and loses its record by: also exit(), KeyboardInterrupt and a panic of Polars, which are no
Exceptions. The signal of Ctrl-C raises nothing where such a function is called: tasks do not hear it, and in memory a thread calls."""

_SENT = "<dynamic-code>"
"""What cloudpickle calls the file of a function that it sends as it is."""

LONGEST = 2_000
"""Characters of what an error says."""

_CHANGING = frozenset(
    {
        "append", "appendleft", "extend", "insert", "remove", "add", "update", "discard", "pop", "popleft", "popitem", "clear", "subtract",
        "setdefault",
    }
)  # fmt: skip
"""Methods that change a list, a set or a dict."""


def check_plain(function: Callable[..., Any], called: str, may_yield: bool = True) -> None:
    """See that a call of the function computes something: of `async def`, and unless it `may_yield` of a generator, nothing runs. What it
    gives, whatever it would say, counts as true.

    Raises:
        QueryError: it does not.
    """
    while isinstance(function, partial):
        function = function.func
    forms = (function, type(function).__call__)
    if any(inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one) for one in forms):
        raise QueryError(
            f"{called} is an `async def`, which only makes a coroutine when it is called, and nobody awaits that",
            instead="write `def`; what has to await something may call asyncio.run(…) in it",
        )
    if not may_yield and any(map(inspect.isgeneratorfunction, forms)):
        raise QueryError(
            f"{called} has a `yield`, so that its call computes nothing and counts as true",
            instead="give a value by `return`",
        )


def check_gives(function: Callable[..., Any], called: str) -> None:
    """See that a function gives something.

    Raises:
        QueryError: whatever it is given, it gives None.
    """
    while isinstance(function, partial):
        function = function.func
    if function is print:
        raise QueryError(
            f"{called} gives None, whatever it is given",
            instead="call show(10) for the first records, or write(Sink.print()) for each",
        )
    if inspect.isfunction(function) and not function.__code__.co_flags & inspect.CO_GENERATOR and gives_none(function):
        raise QueryError(
            f"{called} has no `return` with a value, so that it gives None", instead="give the value by `return`"
        )


def gives_none(function: FunctionType) -> bool:
    """Whether each of its returns gives the constant None; a function that only raises has none.

    A return that is jumped to, as that of `return x if c else None`, gives what other branches have left.
    """
    before, given = None, list[bool]()
    for one in instructions_of(function.__code__):
        if one.opname == "RETURN_VALUE":
            is_none = before is not None and before.opname == "LOAD_CONST" and before.argval is None
            given.append(is_none and not one.is_jump_target)
        elif one.opname == "RETURN_CONST":
            given.append(one.argval is None)
        before = one
    return function.__name__ != "<lambda>" and bool(given) and all(given)


@lru_cache(maxsize=256)
def instructions_of(code: CodeType) -> Sequence[dis.Instruction]:
    """What Python runs of the code, without prefixes of arguments. Several questions are asked of a step's function, and to disassemble
    it is most of an answer."""
    return tuple(one for one in dis.get_instructions(code) if one.opname != "EXTENDED_ARG")


def find_change(made: Sequence[dis.Instruction], place: int) -> int | None:
    """Where the value that is loaded at this place is changed, or something in it: by a method, as append, or by an item; None if it is
    only read. What is put above it on the stack, as the key of its item, is gone when it is taken itself.
    """
    then = made[place + 1]
    if then.opname in ("LOAD_METHOD", "LOAD_ATTR") and then.argval in _CHANGING:
        return place + 1
    above = 0
    for at, one in enumerate(made[place + 1 :], place + 1):
        effect = dis.stack_effect(one.opcode, one.arg, jump=False)
        if effect <= 0 and above + effect <= 0:
            if one.opname == "BINARY_SUBSCR" and above:
                return find_change(made, at)
            is_container = above == 1 or made[at - 1].opname == "SWAP"  # swapped by +=
            return at if one.opname in ("STORE_SUBSCR", "DELETE_SUBSCR") and is_container else None
        above += effect
    return None


def describe_raised(error: BaseException) -> str:
    """Type and text of an error, whatever its `__str__` does."""
    try:
        text = str(error)
    except BaseException as second:
        text = f"(its text cannot be told: __str__ raised {type(second).__name__})"
    text = sayable(text if len(text) <= LONGEST else f"{text[:LONGEST]}…")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


_OPERANDS = {
    frozenset(("decimal.Decimal", "float")): "write Decimal('0.1') for the float 0.1, or float(…) of the Decimal",
    frozenset(
        ("datetime.datetime", "int")
    ): "write timedelta(seconds=1) for a span, or datetime.fromtimestamp(…) for a time",
    frozenset(("datetime.date", "int")): "write timedelta(days=1) for the number",
    frozenset(("datetime.datetime", "str")): "write datetime.fromisoformat(…) of the text",
    frozenset(("datetime.date", "str")): "write date.fromisoformat(…) of the text",
    frozenset(("datetime.datetime", "datetime.date")): "write .date() of the datetime",
}
"""What to write where Python has no operator of these two types."""


def advise_of_operands(error: BaseException) -> str:
    """What to write instead of an operator that these two types have not; empty where nothing is known."""
    if isinstance(error, TypeError) and "offset-naive and offset-aware" in str(error):
        return "leave tzinfo out of the one that has it, or declare the field of the other as Annotated[datetime, 'TIMESTAMP_LTZ(6)']"
    types = (
        re.search(r"'([\w.]+)' and '([\w.]+)'|can't compare ([\w.]+) to ([\w.]+)", str(error))
        if isinstance(error, TypeError)
        else None
    )
    return _OPERANDS.get(frozenset(filter(None, types.groups())), "") if types else ""


def sayable(text: str) -> str:
    """The text as messages and columns take it: what is no character, half of a surrogate pair, is escaped as Python writes it."""
    return text.encode(errors="backslashreplace").decode()


def calls_of(error: BaseException) -> traceback.StackSummary:
    """The calls that an error came through. A function that was sent as it is has lost the name of its file, and has it in `__file__`."""
    calls = traceback.extract_tb(error.__traceback__)
    for call, (frame, _) in zip(calls, traceback.walk_tb(error.__traceback__), strict=True):
        if call.filename == _SENT:
            call.filename = str(frame.f_globals.get("__file__", _SENT))
    return calls


def is_users(frame: FrameType | None) -> bool:
    """Whether the code that runs in this frame is the user's, or has been called by it."""
    while frame is not None and frame.f_code.co_filename.startswith(NOT_THEIRS):
        if frame.f_code.co_filename.startswith(OURS):
            return False
        frame = frame.f_back
    return frame is not None


def named_by_caller(name: str) -> object:
    """What the user's function that has called this package knows by a name, in any case; None if nothing."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(NOT_THEIRS):
        frame = frame.f_back
    known = {**frame.f_globals, **frame.f_locals}
    return known.get(name) or next((value for key, value in known.items() if key.lower() == name.lower()), None)


def line_of(function: Callable[..., Any]) -> str:
    """File and line where a function of the user's is written; empty if that is not known."""
    while isinstance(function, partial):
        function = function.func
    plain = inspect.unwrap(function.__func__ if inspect.ismethod(function) else function)
    if not inspect.isfunction(plain):
        return ""
    return sayable(f"{plain.__code__.co_filename}:{plain.__code__.co_firstlineno}")


def users_line_in(frames: traceback.StackSummary) -> str:
    """File and line of the last call that is the user's; empty if none is."""
    theirs = [one for one in frames if not one.filename.startswith(NOT_THEIRS)]
    return sayable(f"{theirs[-1].filename}:{theirs[-1].lineno}") if theirs else ""
