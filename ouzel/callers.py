"""Whose code a call is in: the user's, or ours and that of libraries; and what a notebook shows of an error that we raise on purpose."""

from __future__ import annotations

import dis
import inspect
import os
import sys
import sysconfig
from collections.abc import Callable
from functools import wraps
from itertools import takewhile
from pathlib import Path
from traceback import format_exception
from types import FrameType, TracebackType
from typing import Any, TypeVar, cast

FILE = "<the steps in Python>"
"""Where the lines of a compiled loop are."""

OURS = (FILE, str(Path(__file__).parent))
"""Where the package's code is."""

NOT_THEIRS = (
    *OURS, "<frozen ",
    *(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")),
)  # fmt: skip
"""Where code is that is not the user's."""


F = TypeVar("F", bound=Callable[..., Any])


def check_binding(
    function: F,
    refuse: Callable[[TypeError, dict[str, Any]], Exception],
    look: Callable[[dict[str, Any]], None] = lambda _: None,
) -> F:
    """The function, which is called only with what it takes.

    Args:
        function: any.
        refuse: the error for arguments that it does not take, from that of Python and the arguments by name.
        look: told the arguments that it does take, by their names; may raise.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*given, **named)
        except TypeError as error:
            raise refuse(error, named) from None
        look(bound.arguments)
        return function(*given, **named)

    return cast(F, call)


def users_level() -> int:
    """How far above the caller the nearest call is that is not ours: the line that a warning belongs to."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS[1] + os.sep):
        frame, level = frame.f_back, level + 1
    return level


def users_line() -> str:
    """File and line of the nearest call that is not ours."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS[1] + os.sep):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def is_awaited() -> bool:
    """Whether the user's call that has come here stands behind `await`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OURS[1] + os.sep):
        frame = frame.f_back
    if not frame.f_code.co_flags & inspect.CO_COROUTINE:
        return False
    following = (one.opname for one in dis.get_instructions(frame.f_code) if one.offset > frame.f_lasti)
    return next(following, "") == "GET_AWAITABLE"


def drops_result(depth: int) -> bool:
    """Whether the user's line that called so many of our functions takes nothing of what the call gives: it is a statement alone."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(depth):
        if frame is None or not frame.f_code.co_filename.startswith(OURS[1] + os.sep):
            return False
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(OURS[1] + os.sep):
        return False
    behind = _instructions_from(frame)[1:2]
    return bool(behind) and behind[0].opname == "POP_TOP"


def is_looped_over() -> bool:
    """Whether the `__iter__` or `__aiter__` that asks was called by a loop or a comprehension, not by `iter`, `enumerate` or `zip`."""
    frame = sys._getframe(2)
    return _instructions_from(frame)[0].opname in ("GET_ITER", "GET_AITER")


def unpacked_names() -> tuple[str, ...]:
    """The names into which a loop unpacks what it takes of the generator that asks; none if it does not unpack it."""
    frame = sys._getframe(2)
    taking, *behind = _instructions_from(frame)
    if taking.opname == "SEND":  # of `async for`, which goes on where what was awaited is there
        behind = [one for one in behind if one.offset >= taking.argval and one.opname != "END_SEND"]
    if not behind or behind[0].opname not in ("UNPACK_SEQUENCE", "UNPACK_EX"):
        return ()
    return tuple(str(one.argval) for one in takewhile(lambda one: one.opname.startswith("STORE_"), behind[1:])) or (
        "…",
    )


def _instructions_from(frame: FrameType) -> list[dis.Instruction]:
    """What a frame does now, and what stands behind that."""
    made = [one for one in dis.get_instructions(frame.f_code) if one.opname not in ("CACHE", "EXTENDED_ARG")]
    return made[max(place for place, one in enumerate(made) if one.offset <= frame.f_lasti) :]


def without_our_calls(trace: TracebackType | None) -> TracebackType | None:
    """A traceback from the first call on that is not ours; the whole one if all are."""
    rest = trace
    while rest is not None and rest.tb_frame.f_code.co_filename.startswith(OURS):
        rest = rest.tb_next
    return rest or trace


def users_calls(trace: TracebackType | None) -> TracebackType | None:
    """The calls of a traceback that the user has written; None if there are none."""
    if trace is None:
        return None
    rest = users_calls(trace.tb_next)
    if trace.tb_frame.f_code.co_filename.startswith(NOT_THEIRS):
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def render_in_notebook(error: BaseException) -> list[str]:
    """What IPython shows of an error whose text says all: the user's own calls, and the text."""
    from IPython.core.getipython import get_ipython

    alone = BaseException.__new__(type(error), *error.args)  # without what it was raised from, which is ours, too
    alone.__dict__.update(error.__dict__)
    calls = users_calls(error.__traceback__) or error.__traceback__
    if (shell := get_ipython()) is None:
        return format_exception(type(error), alone, calls)
    shown: list[str] = shell.InteractiveTB.structured_traceback(type(error), alone, calls, tb_offset=0)
    return shown
