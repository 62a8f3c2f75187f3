"""The status line and the totals."""

from __future__ import annotations

from ouzel.cli.status import RunProgress, live_text, waiting_texts
from ouzel.connectors.backlog import Backlog
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME, Waiting
from ouzel.runtime.run import RunState, Status


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_line_shows_rates_of_the_last_seconds() -> None:
    clock = Clock()
    progress = RunProgress(clock)
    for second in range(10):
        clock.now += 1
        line = progress.line(Status(RunState.RUNNING, rows_in=1_000 * second * second), 200).plain
    assert "9.0 s" not in line
    assert "10.0 s · 81,000 rows in · 16.0 k rows/s" in line


def test_the_line_speaks_of_troubles_only_when_there_are_any() -> None:
    progress = RunProgress(Clock())
    calm = progress.line(Status(RunState.RUNNING, rows_in=5, rows_acked=5, p50_ms=1.25, p99_ms=210.4), 200).plain
    assert "acked 5" in calm
    assert "p50 1.2 p99 210 ms" in calm
    assert not any(word in calm for word in ("late", "bad", "replayed", "restarts", "back-pressure", "watermark"))
    rough = Status(
        RunState.RUNNING, rows_failed=1, rows_late=2, rows_bad=3, restarts=4, back_pressure=True, watermark_us=0
    )
    text = progress.line(rough, 200).plain
    assert text.endswith("watermark 1970-01-01 00:00:00 · replayed 1 · late 2 · bad 3 · restarts 4 · back-pressure")


def test_the_line_says_how_far_reading_is_behind() -> None:
    line = RunProgress(Clock()).line(Status(RunState.RUNNING, rows_in=5, lag=12_345), 200).plain
    assert "lag 12,345" in line
    assert "lag" not in RunProgress(Clock()).line(Status(RunState.RUNNING, rows_in=5, lag=0), 200).plain


def test_where_most_of_the_lag_is_is_said() -> None:
    backlogs = {
        "t": [Backlog("t-3", 9_000), Backlog("t-1", 0)],
        "q": [Backlog("q at host:22133", 3_345, bytes=7_000, age_ms=2_400, journal_bytes=8_192)],
    }
    status = Status(RunState.RUNNING, lag=12_345, backlogs=backlogs)
    assert "lag 12,345, 9,000 of it in t-3" in RunProgress(Clock()).line(status, 200).plain
    assert live_text(status, NOW_S).splitlines()[-2:] == [
        "lag of t-3: 9,000 records",
        "lag of q at host:22133: 3,345 records, 7,000 bytes, 8,192 bytes of journal, the last one read had waited 2 s",
    ]
    alone = Status(RunState.RUNNING, lag=9, backlogs={"t": [Backlog("t-3", 9)]})
    assert " in t-3" not in RunProgress(Clock()).line(alone, 200).plain


def test_the_line_says_that_the_run_is_paused() -> None:
    text = RunProgress(Clock()).line(Status(RunState.PAUSED, rows_in=5), 200).plain
    assert text.startswith("‖ 0.0 s · paused · 5 rows in")
    assert "paused" not in RunProgress(Clock()).line(Status(RunState.RUNNING, rows_in=5), 200).plain


def test_the_line_breaks_between_its_parts() -> None:
    status = Status(
        RunState.RUNNING, rows_in=123_456_789, rows_acked=123_456_789, p50_ms=1, p99_ms=2, watermark_us=END_OF_TIME
    )
    lines = RunProgress(Clock()).line(status, 50).plain.splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 50 for line in lines)
    assert "watermark end" in " ".join(lines)


def test_totals_say_how_it_ended() -> None:
    clock = Clock()
    progress = RunProgress(clock)
    clock.now += 2
    text = progress.totals(Status(RunState.FINISHED, rows_in=336_776, rows_acked=336_776), 200).plain
    assert text == "answered in 2.00 s · 336,776 rows in · 168 k rows/s · acked 336,776"
    assert progress.totals(Status(RunState.STOPPED, rows_in=10, rows_acked=8), 200).plain.startswith(
        "stopped after 2.00 s · 10 rows in"
    )
    assert progress.totals(Status(RunState.FAILED), 200).plain.startswith("failed after")


NOW_S = 1_700_000_000.0
WAITING = (
    Waiting("bids", "bids-0", 0, "broker localhost:9092 away", int((NOW_S - 12) * 1e6)),
    Waiting("prices", "1", 2, "silent", int((NOW_S - 12) * 1e6), int((NOW_S + 18) * 1e6)),
    Waiting("trips", "trips/a.csv", 0, "its rows are historical"),
)


def test_what_time_waits_for_is_named_with_the_partition_the_reason_and_how_long() -> None:
    assert waiting_texts(Status(RunState.RUNNING, waiting=WAITING), NOW_S) == [
        "bids-0: broker localhost:9092 away for 12 s",
        "prices 1 and 2 more: silent for 12 s, IDLE in 18 s",
        "trips/a.csv: its rows are historical",
    ]
    line = RunProgress(Clock()).line(Status(RunState.RUNNING, waiting=WAITING[2:]), 200).plain
    assert line.endswith(" · trips/a.csv: its rows are historical")
    assert waiting_texts(Status(RunState.PAUSED, waiting=WAITING), NOW_S) == []


def test_a_run_that_has_ended_without_event_time_says_nothing_of_it() -> None:
    assert live_text(Status(RunState.FINISHED, rows_in=5), NOW_S) == "finished · 5 rows in · 0 rows out"
    assert "event time at the result: end" in live_text(Status(RunState.FINISHED, watermark_us=END_OF_TIME), NOW_S)


def test_a_run_that_goes_on_says_how_far_each_source_is() -> None:
    status = Status(
        RunState.RUNNING,
        rows_in=5,
        rows_late=1,
        waiting=WAITING[:1],
        watermarks={"bids": BEGINNING_OF_TIME, "trips": 0},
    )
    assert live_text(status, NOW_S).splitlines() == [
        "running · 5 rows in · 0 rows out",
        "event time at the result: none",
        "event time at 'bids': none",
        "event time at 'trips': 1970-01-01 00:00:00",
        "waiting: bids-0: broker localhost:9092 away for 12 s",
        "late: 1 rows were older than the watermark when they were read",
    ]


def test_a_watermark_that_is_none_yet_is_shown_as_none() -> None:
    shown = repr(Status(RunState.RUNNING, rows_in=5, watermarks={"a": -(1 << 63), "b": (1 << 63) - 1, "c": 7}))
    assert "rows_in=5" in shown
    assert "watermarks={'a': None, 'b': 'end', 'c': 7}" in shown
