"""Whose code a call is in: the user's, or ours and that of libraries; and what a notebook shows of an error that we raise on purpose."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from types import TracebackType

FILE = "<the steps in Python>"
"""Where the lines of a compiled loop are."""

OURS = (FILE, str(Path(__file__).parent))
"""Where the package's code is."""

NOT_THEIRS = (
    *OURS, "<frozen ",
    *(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib")),
)  # fmt: skip
"""Where code is that is not the user's."""


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
    shown: list[str] = get_ipython().InteractiveTB.structured_traceback(type(error), alone, calls, tb_offset=0)
    return shown
