"""How often a process says how it stands, and how much a task is given at once.

It says so often in its first moments, when somebody waits for a first answer, then five times a second.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable

from ouzel.runtime.protocol.messages import Data, Message

FIRST_S, LATER_S = 0.02, 0.2
"""Between two reports, at first and later."""
SHARE = 0.1
"""What is said is older than so much of the age of the process only once that is LATER_S."""


class Pace:
    """Counts from when it is made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began = clock, clock()

    @property
    def interval_s(self) -> float:
        """How long to wait until the next report."""
        return min(LATER_S, max(FIRST_S, SHARE * (self._clock() - self._began)))


class Portions:
    """Of the messages that wait for a task, as many as it can handle in `budget_ms` at the pace measured: one at least."""

    def __init__(self, budget_ms: float) -> None:
        self._budget_ms = budget_ms
        self._row_ms: float | None = None
        self._waiting: deque[Message] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, messages: Iterable[Message]) -> None:
        """These have arrived."""
        self._waiting.extend(messages)

    def take(self) -> list[Message]:
        """The next ones; all of them while the task is quick, one frame while nothing is known of its pace."""
        taken: list[Message] = []
        most = 1.0 if self._row_ms is None else self._budget_ms / max(self._row_ms, 1e-9)
        rows = 0
        while self._waiting and rows < most:
            message = self._waiting.popleft()
            rows += message.frame.height if isinstance(message, Data) else 0
            taken.append(message)
        return taken

    def took(self, messages: Iterable[Message], lasted_ms: float) -> None:
        """How long it took to handle these. What was slower than before counts by half, for it may have been a chance."""
        rows = sum(message.frame.height for message in messages if isinstance(message, Data))
        if rows:
            measured, known = lasted_ms / rows, self._row_ms
            self._row_ms = measured if known is None or measured < known else (measured + known) / 2
