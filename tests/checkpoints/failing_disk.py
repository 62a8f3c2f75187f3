"""A disk that fails at the n-th call, once or for good."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

import pytest

CALLS = ("open", "write", "fsync", "rename", "link", "unlink", "mkdir")
"""What changes something, and what it is opened by."""


class Crash(BaseException):
    """The process is gone: nothing that it would do afterwards happens."""


class Failure(Enum):
    """What happens at the call."""

    CRASH = "the process ends there"
    FULL = "the disk is full, once"
    SHORT = "the disk is full in the middle of a write"


@contextmanager
def failing(at: int, failure: Failure) -> Iterator[list[str]]:
    """Inside, the n-th call fails; the calls until then."""
    done: list[str] = []

    def counting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            number = len(done)
            if failure is Failure.CRASH and number >= at:
                done.append(name)
                raise Crash
            done.append(name)
            if failure is Failure.SHORT and number == at and name == "write" and len(arguments[1]) > 1:
                return real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            if number == at + (failure is Failure.SHORT) and (failure is Failure.FULL or done[at] == "write"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patched:
        for name in CALLS:
            patched.setattr(os, name, counting(name, getattr(os, name)))
        yield done
