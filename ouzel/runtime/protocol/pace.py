"""How often a process reports, how often a task is ticked and polled, and how many messages it gets at once.

Reports come often at first, when somebody waits for a first answer; then five times a second; and seldom while nothing happens. Hundreds of
idle tasks that report and tick often use whole cores.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from ouzel.runtime.protocol.messages import Data, Message

FIRST_S, LATER_S = 0.02, 0.2
"""Between two reports, at first and later."""
TICK_MS, REST_TICK_MS = 50.0, 200.0
"""From one tick to the next, while something is on its way, and while nothing is."""
REST_REPORT_MS = 1_000.0
"""Between two reports when nothing has happened."""
POLL_MS = (0.5, 8.0, 50.0)
"""How long a spout that has nothing is left alone: at first, then doubling up to the second, after a long silence up to the third."""
SILENT_SHARE = 0.01
"""After a long silence a spout is left alone for at most this share of the silence."""
SHARE = 0.1
"""Between two reports of a young process: this share of its age, but no less than FIRST_S and no more than LATER_S."""


class Pace:
    """Counts from when it is made. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._began = clock, clock()

    @property
    def interval_s(self) -> float:
        """How long to wait until the next report."""
        return min(LATER_S, max(FIRST_S, SHARE * (self._clock() - self._began)))


class Rhythm:
    """When a task is ticked, and when it reports. All times are in milliseconds."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._tick_at = self._report_at = self._reported_ms = 0.0
        self._active = True

    def on_activity(self, now_ms: float) -> None:
        """Something happens, or is on its way."""
        self._tick_at = min(self._tick_at, now_ms + TICK_MS)
        if not self._active:
            self._active = True
            self._report_at = min(self._report_at, self._reported_ms + 1e3 * self._pace.interval_s)

    def hurry(self) -> None:
        """Tick, and report, as soon as possible."""
        self._tick_at = self._report_at = 0.0

    def report_at_once(self) -> None:
        """Report with the next tick."""
        self._report_at = 0.0

    def until_tick(self, now_ms: float) -> float:
        """How long until the next tick is due."""
        return max(0.0, self._tick_at - now_ms)

    def is_tick_due(self, now_ms: float) -> bool:
        """Whether to tick now."""
        return now_ms >= self._tick_at

    def on_ticked(self, now_ms: float, rests: bool) -> None:
        """The task was ticked; it `rests` if nothing is on its way."""
        young = self._pace.interval_s < LATER_S
        self._tick_at = now_ms + (REST_TICK_MS if rests and not young else TICK_MS)

    def is_report_due(self, now_ms: float) -> bool:
        """Whether to report with this tick."""
        return now_ms >= self._report_at

    def on_reported(self, now_ms: float, whole: bool) -> None:
        """A report was sent; `whole` is False if not all of it was taken."""
        interval_ms = 1e3 * self._pace.interval_s
        if self._pace.interval_s >= LATER_S and not self._active:
            interval_ms = REST_REPORT_MS
        self._report_at = now_ms + (interval_ms if whole else TICK_MS)
        self._reported_ms, self._active = now_ms, not whole


class Polls:
    """How long a spout that has nothing is left alone."""

    def __init__(self) -> None:
        self.wait_ms = POLL_MS[0]
        self._gave_ms: float | None = None

    def on_polled(self, now_ms: float, gave: bool) -> None:
        """The spout was polled, and gave rows or did not."""
        if gave or self._gave_ms is None:
            self._gave_ms, self.wait_ms = now_ms, 0.0 if gave else POLL_MS[0]
            return
        most_ms = max(POLL_MS[1], min(POLL_MS[2], SILENT_SHARE * (now_ms - self._gave_ms)))
        self.wait_ms = min(max(2 * self.wait_ms, POLL_MS[0]), most_ms)


class Portions:
    """Hands a task as many waiting messages as it can handle in `budget_ms` at the pace measured: one at least."""

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

    def record_duration(self, messages: Iterable[Message], lasted_ms: float) -> None:
        """Handling these took so long. A slower pace than before counts by half, for one slow call may be an accident."""
        rows = sum(message.frame.height for message in messages if isinstance(message, Data))
        if rows:
            measured, known = lasted_ms / rows, self._row_ms
            self._row_ms = measured if known is None or measured < known else (measured + known) / 2
