"""What a function of the user's must not do to the process that calls it: end it, or have it go on twice.

os._exit would end a process that belongs to others too, without a word of the record or the line. So would `exit()` in a notebook, which
raises nothing there: it asks the kernel to end. And what comes back of a fork comes back twice: the child would go on as the task, on the
same connections, and fork again at the next row.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from types import FrameType
from typing import Any, NoReturn

from ouzel.callers import FILE

leave = os._exit
"""What ends the process at once, wherever it is called."""

_OURS = (FILE, f"{Path(__file__).parent}{os.sep}")
_guarded = Counter[tuple[int, int]]()
_registered: list[int] = []
_guarded_kinds = set[type[Any]]()
_AUTOCALL = "IPython.core.autocall"
"""Where `exit` and `quit` of notebooks and of IPython are classes."""


class Death(BaseException):
    """What stands in the simulator for the end of a process: no failure of the user's code, and nobody catches it on its way."""


@contextmanager
def in_user_code() -> Iterator[None]:
    """Inside, in this thread of this process, os._exit and a notebook's `exit` raise SystemExit, as sys.exit does; and a child that a
    function of the user's has forked ends when the function is left."""
    _register()
    here = os.getpid(), get_ident()
    _guarded[here] += 1
    try:
        yield
    finally:
        _guarded[here] -= 1


def _register() -> None:
    os._exit = _raise_or_leave
    if (notebook := sys.modules.get(_AUTOCALL)) is not None and "ExitAutocall" in vars(notebook):
        _guard_exit(notebook.ExitAutocall)
    if not _registered:
        _registered.append(os.getpid())
        os.register_at_fork(after_in_child=_on_fork)


def _guard_exit(kind: type[Any]) -> None:
    """Have calls of this class and of those below it raise SystemExit inside."""
    for each in {kind, *kind.__subclasses__()} - _guarded_kinds:
        _guarded_kinds.add(each)
        each.__call__ = _guarding(each.__call__)


def _guarding(call: Callable[..., Any]) -> Callable[..., Any]:
    def exit_or_raise(self: Any, *arguments: Any, **named: Any) -> Any:
        if _is_guarded():
            raise SystemExit("exit()")
        return call(self, *arguments, **named)

    return exit_or_raise


def _is_guarded() -> bool:
    return _guarded[os.getpid(), get_ident()] > 0


def _raise_or_leave(status: int) -> NoReturn:
    if _is_guarded():  # what it has forked is another process
        raise SystemExit(f"os._exit({status})")
    leave(status)


def _on_fork() -> None:
    """In a child that was forked inside: unless it will end by itself, watch for its coming back to us."""
    is_ours = any(count for (_, thread), count in _guarded.items() if thread == get_ident())
    _guarded.clear()
    if is_ours and not _is_worker(sys._getframe()):
        sys.setprofile(_leave_at_return)


def _is_worker(frame: FrameType | None) -> bool:
    """Whether multiprocessing has forked, whose children never come back."""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("multiprocessing."):
            return True
        frame = frame.f_back
    return False


def _leave_at_return(frame: FrameType, event: str, argument: object) -> None:
    caller = frame.f_back
    if event == "return" and (caller is None or _is_our(caller)) and not _is_our(frame):
        leave(0)


def _is_our(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_OURS)
