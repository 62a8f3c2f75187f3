"""The state of a run in one line, while it runs and when it has ended."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ouzel.runtime.observe.counts import COUNTS
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME, Waiting
from ouzel.runtime.run import RunState, Status

if TYPE_CHECKING:
    from rich.text import Text

    from ouzel.connectors.backlog import Backlog

RATE_SECONDS = 2.0
"""The rate shown is the average of the last so many seconds."""

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

MOST_WAITING = 1
"""So many of the partitions that time waits for are named in the status line; `ouzel explain --live` names all."""

MOST_COUNTERS = 6
"""So many of the user's own counters have a place in the status line; `run.status().counters` has all."""

SEPARATOR = " · "

ENDED = frozenset((RunState.FINISHED, RunState.STOPPED, RunState.FAILED))
"""States in which no time is still to come."""

VERBS = {RunState.FINISHED: "answered in", RunState.STOPPED: "stopped after", RunState.FAILED: "failed after"}


class RunProgress:
    """Remembers when the run began and how many rows it had read when, for the rates."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.began = clock, clock()
        self.readings: deque[tuple[float, int]] = deque([(self.began, 0)])

    def line(self, status: Status, width: int) -> Text:
        """The status line of a run in progress, broken between two of its parts if it is longer than `width`."""
        from rich.text import Text

        if status.state is RunState.STARTING:
            return Text(f"{self._spin()} starting", style="dim")
        now = self.clock()
        paused = status.state is RunState.PAUSED
        parts = [
            (f"{'‖' if paused else self._spin()} {now - self.began:.1f} s", "cyan"),
            ("paused", "bold yellow") if paused else ("", ""),
            (f"{status.rows_in:,} rows in", "bold"),
            (f"{self._rate(now, status.rows_in)} rows/s", ""),
            (f"watermark {watermark_text(status.watermark_us)}", "") if status.watermark_us is not None else ("", ""),
            (_latency(status), ""),
            (_lag(status), ""),
            (f"acked {status.rows_acked:,}", "green") if status.rows_acked else ("", ""),
            *_troubles(status),
            *((f"{name} {count:,}", "magenta") for name, count in list(status.counters.items())[:MOST_COUNTERS]),
            ("back-pressure", "yellow") if status.back_pressure else ("", ""),
            *((text, "yellow") for text in waiting_texts(status, time.time())[:MOST_WAITING]),
        ]
        return _join(parts, width)

    def totals(self, status: Status, width: int) -> Text:
        """The last line: how it ended, how long it took, what was read and acked."""
        seconds = self.clock() - self.began
        style = {RunState.FINISHED: "green", RunState.FAILED: "red"}.get(status.state, "yellow")
        parts = [
            (f"{VERBS.get(status.state, status.state.value)} {seconds:.2f} s", f"bold {style}"),
            (f"{status.rows_in:,} rows in", ""),
            (f"{_short(status.rows_in / max(seconds, 1e-9))} rows/s", ""),
            (f"acked {status.rows_acked:,}", "") if status.rows_acked or not status.rows_in else ("", ""),
            (_latency(status), ""),
            *_troubles(status),
            *((f"{name} {count:,}", "magenta") for name, count in list(status.counters.items())[:MOST_COUNTERS]),
        ]
        return _join(parts, width)

    def _rate(self, now: float, rows: int) -> str:
        self.readings.append((now, rows))
        while len(self.readings) > 2 and self.readings[1][0] <= now - RATE_SECONDS:
            self.readings.popleft()
        then, before = self.readings[0]
        elapsed = now - then
        return _short((rows - before) / elapsed) if elapsed > 0 else "0"

    def _spin(self) -> str:
        return SPINNER[int((self.clock() - self.began) * 10) % len(SPINNER)]


def _join(parts: list[tuple[str, str]], width: int) -> Text:
    from rich.text import Text

    line, used = Text(), 0
    for text, style in parts:
        if not text:
            continue
        if used and used + len(SEPARATOR + text) > width:
            line.append("\n")
            used = 0
        elif used:
            line.append(SEPARATOR, "dim")
            used += len(SEPARATOR)
        line.append(text, style)
        used += len(text)
    return line


def _troubles(status: Status) -> list[tuple[str, str]]:
    counts = [
        (count.shown, getattr(status, name), "red" if count.is_alarm else "yellow")
        for name, count in COUNTS.items()
        if count.shown
    ]
    return [
        (f"{name} {count:,}", style)
        for name, count, style in [*counts, ("restarts", status.restarts, "yellow")]
        if count
    ]


def _lag(status: Status) -> str:
    if not status.lag:
        return ""
    places = [
        (backlog.records, _place_name(spout, backlog.place))
        for spout, known in status.backlogs.items()
        for backlog in known
    ]
    most = max(places, default=(0, ""))
    waits = f" for {age}" if (age := _lag_age(status)) else ""
    return f"lag {status.lag:,}{waits}" + (f", {most[0]:,} of it in {most[1]}" if len(places) > 1 and most[0] else "")


def _latency(status: Status) -> str:
    if status.p50_ms is None or status.p99_ms is None:
        return ""
    return f"p50 {_milliseconds(status.p50_ms)} p99 {_milliseconds(status.p99_ms)} ms"


def _milliseconds(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def watermark_text(time_us: int) -> str:
    """A watermark as people read it, UTC."""
    if time_us >= END_OF_TIME:
        return "end"
    if time_us <= BEGINNING_OF_TIME:
        return "none"
    try:
        return datetime.fromtimestamp(time_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{time_us} us"


def waiting_texts(status: Status, now_s: float) -> list[str]:
    """What event time waits for, at this wall clock: which partition, why, for how long, and when the wait ends."""
    if status.state is not RunState.RUNNING:
        return []
    return [_waiting(waiting, now_s * 1e6) for waiting in status.waiting]


def _waiting(waiting: Waiting, now_us: float) -> str:
    place = _place_name(waiting.component, waiting.partition)
    more = f" and {waiting.others:,} more" if waiting.others else ""
    since = f" for {_seconds(now_us - waiting.since_us)}" if waiting.since_us else ""
    until = f", IDLE in {_seconds(waiting.until_us - now_us)}" if waiting.until_us else ""
    return f"{place}{more}: {waiting.reason}{since}{until}"


def _place_name(component: str, place: str) -> str:
    return place if place.startswith(component) else f"{component} {place}"


def _lags(status: Status) -> list[str]:
    return [
        f"lag of {_place_name(spout, backlog.place)}: {_backlog(backlog)}"
        for spout, known in status.backlogs.items()
        for backlog in known
        if backlog.records
    ] + ([f"a record has waited to be read for {waits}"] if (waits := _lag_age(status)) else [])


def _lag_age(status: Status) -> str:
    """For how long a record has waited to be read; empty if that is not known, or no second."""
    return _seconds(status.lag_ms * 1e3) if status.lag_ms is not None and status.lag_ms >= 1_000 else ""


def _backlog(backlog: Backlog) -> str:
    parts = [
        f"{backlog.records:,} records",
        "" if backlog.bytes is None else f"{backlog.bytes:,} bytes",
        "" if backlog.journal_bytes is None else f"{backlog.journal_bytes:,} bytes of journal",
        "" if backlog.age_ms is None else f"the last one read had waited {_seconds(backlog.age_ms * 1e3)}",
    ]
    return ", ".join(filter(None, parts))


def _seconds(us: float) -> str:
    seconds = max(0, round(us / 1e6))
    return f"{seconds} s" if seconds < 600 else f"{seconds // 60:,} min"


def live_text(status: Status, now_s: float) -> str:
    """How a run stands, in lines: its rows, how far time is at the result and at each source, what it waits for, and what waits for it."""
    reached = BEGINNING_OF_TIME if status.watermark_us is None else status.watermark_us
    has_time = status.watermark_us is not None or status.state not in ENDED
    lines = [
        f"{status.state.value} · {status.rows_in:,} rows in · {status.rows_out:,} rows out",
        *([f"event time at the result: {watermark_text(reached)}"] if has_time else []),
        *(f"event time at '{name}': {watermark_text(time_us)}" for name, time_us in status.watermarks.items()),
        *(f"waiting: {text}" for text in waiting_texts(status, now_s)),
        *_lags(status),
    ]
    if status.rows_late:
        lines.append(f"late: {status.rows_late:,} rows were older than the watermark when they were read")
    if status.back_pressure:
        lines.append("back-pressure: something is slower than its input, and whoever feeds it waits")
    return "\n".join(lines)


def _short(value: float) -> str:
    """Three digits and a unit: 15.5 M."""
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= limit:
            scaled = value / limit
            return f"{scaled:.0f}{unit}" if scaled >= 100 else f"{scaled:.1f}{unit}"
    return f"{value:.0f}"
