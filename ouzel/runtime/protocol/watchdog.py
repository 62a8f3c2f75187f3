"""Whether a task hangs: it is in one call for too long, and meanwhile neither computes, nor waits for a core or something outside.

A call that computes without progress is taken for an endless loop once it has used ENDLESS times the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ouzel.runtime.protocol.cluster.starvation import ENDLESS, QUIET, STEP, Starvation, Usage
from ouzel.runtime.protocol.watched_time import WatchedTime

COMPUTES = 0.01
"""A process that uses less than this part of a core computes nothing."""


class Watchdog:
    """The task's thread says when it enters and leaves a call; the gateway's thread asks whether it `hangs`.

    `clock` gives milliseconds, and is the one of the times that the gateway's thread asks with.
    """

    def __init__(self, limit_ms: float, clock: Callable[[], float]) -> None:
        self.limit_ms, self._clock = limit_ms, clock
        self.busy_since: float | None = None
        self._entered: float | None = None
        self._call: float | None = None
        self._alive_ms = self._cpu_ms = self._began_cpu_ms = 0.0
        self._time, self._still_since_ms = WatchedTime(STEP * limit_ms), 0.0
        self._starved = Starvation()

    def enter(self) -> None:
        """A call begins."""
        self.busy_since = self._entered = self._clock()

    def progress(self) -> None:
        """The call, if there is one, moves on."""
        if self.busy_since is not None:
            self.busy_since = self._clock()

    def leave(self) -> None:
        """The call has ended."""
        self.busy_since = self._entered = None

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Inside, the call waits for something outside, however long that takes."""
        self.leave()
        yield
        self.enter()

    def busy_ms(self, now: float) -> float:
        """How long the call has lasted, whether it moves on or not; 0 when there is none."""
        entered = self._entered
        return 0.0 if entered is None else now - entered

    def is_suspect(self, now: float) -> bool:
        """Whether `hangs` is to be told what the process had of the CPU: to find out costs more than to ask."""
        since = self.busy_since
        return since is not None and now - max(since, self._alive_ms) > QUIET * self.limit_ms

    def is_hanging(self, now: float, cpu_ms: float, usage: Usage | None = None) -> bool:
        """Whether there has been no life for longer than the limit, or a computation has no end.

        Time in which the process waited for a core does not count. Of a time in which nobody asked STEP counts: this process did not run,
        or its machine stood still.

        Args:
            now: milliseconds, by the clock.
            cpu_ms: what all threads of the process but the asking one have used.
            usage: the same, with how long they waited for a core; None if that is not known.
        """
        gone_ms = self._time.look(now)
        since = self.busy_since
        if since is None:
            return False
        if since != self._call:
            self._call, self._began_cpu_ms = since, cpu_ms
            self._on_sign_of_life(since, cpu_ms, self._time.now_ms - min(max(0.0, now - since), gone_ms))
        elif cpu_ms - self._cpu_ms > COMPUTES * self.limit_ms:
            self._on_sign_of_life(now, cpu_ms, self._time.now_ms)
        if usage is not None:
            self._starved.see(usage, self._time.now_ms)
        endless = min(now - since, cpu_ms - self._began_cpu_ms) > ENDLESS * self.limit_ms
        return endless or self._time.now_ms - self._still_since_ms - self._starved.excused_ms > self.limit_ms

    def _on_sign_of_life(self, at_ms: float, cpu_ms: float, watched_ms: float) -> None:
        self._alive_ms, self._cpu_ms, self._still_since_ms, self._starved = at_ms, cpu_ms, watched_ms, Starvation()
