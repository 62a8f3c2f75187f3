"""Whether a silent process could have spoken: time in which it computed, or waited for a core that others had, is no silence.

Without I/O or clock: what the kernel says of a process comes in as a `Usage`.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

ENDLESS = 3
"""A process that has computed for so many times the limit without a sign of life is taken for an endless loop."""

QUIET = 0.25
"""Silences shorter than this share of the limit are not looked at: a look costs several system calls for each thread."""

LOOKS = 0.05
"""A silent process is looked at once in this share of the limit."""

STEP = 0.25
"""At most this share of the limit counts between two looks of a watcher, who had no core if it looks so late.

So after a time in which nobody looked, each process has the rest of the limit to show life. (A machine that stood still for a minute made
all look dead.) And one that hangs is found however late each look comes, after a few of them.
"""


class Usage(NamedTuple):
    """What a process had of the CPU since its start, over its threads, in milliseconds.

    `waited_ms` is how long it waited for a core although it could run. A wait that still lasts is not in it: then, and while it
    runs, the process `is_runnable`. One that `is_stopped` can neither run nor wait.
    """

    cpu_ms: float
    waited_ms: float
    is_runnable: bool = False
    is_stopped: bool = False


class Starvation:
    """One silence: how much of it is excused, and how long the process has computed. A sign of life begins a new one.

    All times are watched time: what does not count needs no excuse.
    """

    def __init__(self) -> None:
        self.excused_ms = self.computed_ms = 0.0
        self._before: Usage | None = None
        self._seen_ms = -inf

    def __str__(self) -> str:
        return f"of which it computed or had no core for {self.excused_ms / 1e3:.1f} s"

    def is_due(self, limit_ms: float, now_ms: float) -> bool:
        """Whether the process is to be looked at again."""
        return now_ms - self._seen_ms >= LOOKS * limit_ms

    def see(self, usage: Usage | None, now_ms: float) -> None:
        """How the process stands now; None where that cannot be known, so that all of its silence counts."""
        before, since_ms = self._before, now_ms - self._seen_ms
        self._before, self._seen_ms = usage, now_ms
        if usage is None or before is None or usage.is_stopped:
            return
        computed = min(since_ms, max(0.0, usage.cpu_ms - before.cpu_ms))
        waited = max(0.0, usage.waited_ms - before.waited_ms)
        self.computed_ms += computed
        self.excused_ms += since_ms if usage.is_runnable else min(since_ms, computed + waited)
