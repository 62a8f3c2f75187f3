"""Whether a task hangs: it is in one call for too long, and meanwhile neither computes nor waits for something outside.

What computes must come to an end, too: a call that shows no progress is taken for an endless loop once it has used several times as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ouzel.runtime.process.life import now_ms
from ouzel.runtime.protocol.supervision import LATE

COMPUTES = 0.01
"""A process that uses less than this part of a core computes nothing."""

ENDLESS = 3
"""A call without progress that has computed for so many times the limit never ends."""


class Watchdog:
    """The task's thread says when it enters and leaves a call; the gateway's thread asks whether it `hangs`."""

    def __init__(self, limit_ms: float) -> None:
        self.limit_ms = limit_ms
        self.busy_since: float | None = None
        self._call: float | None = None
        self._alive_ms = self._cpu_ms = self._began_cpu_ms = self._asked_ms = 0.0

    def enter(self) -> None:
        """A call begins."""
        self.busy_since = now_ms()

    def progress(self) -> None:
        """The call, if there is one, moves on."""
        if self.busy_since is not None:
            self.enter()

    def leave(self) -> None:
        """The call has ended."""
        self.busy_since = None

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Inside, the call waits for something outside, however long that takes."""
        self.leave()
        yield
        self.enter()

    def hangs(self, now: float, cpu_ms: float) -> bool:
        """Whether there has been no life for longer than the limit, or a computation has no end.

        `cpu_ms` is what the process has used but for the asking thread: time in which others had the machine counts for nobody. Nor does
        time in which nobody asked, for then this process did not run at all, or its machine stood still.
        """
        since, asked_ms, self._asked_ms = self.busy_since, self._asked_ms, now
        if since is None:
            return False
        if since != self._call:
            self._call, self._alive_ms, self._cpu_ms, self._began_cpu_ms = since, since, cpu_ms, cpu_ms
        elif cpu_ms - self._cpu_ms > COMPUTES * self.limit_ms:
            self._alive_ms, self._cpu_ms = now, cpu_ms
        if now - asked_ms > LATE * self.limit_ms:
            self._alive_ms = max(self._alive_ms, now - LATE * self.limit_ms)
        endless = min(now - since, cpu_ms - self._began_cpu_ms) > ENDLESS * self.limit_ms
        return endless or now - self._alive_ms > self.limit_ms
