"""Reports add up, whatever is lost, repeated or late; tasks that were started again count with all their lives."""

from __future__ import annotations

from ouzel.connectors.backlog import BACKLOGS_MAX, Backlog
from ouzel.runtime.cluster.client import Heard
from ouzel.runtime.observe.reports import INCARNATIONS_KEPT, Reports
from ouzel.runtime.observe.totals import LATENCY_WINDOW_MS, Totals
from ouzel.runtime.protocol.messages import END_OF_TIME
from ouzel.runtime.run import RunState
from ouzel.runtime.wire.wire_pb2 import Backlog as WireBacklog
from ouzel.runtime.wire.wire_pb2 import Event, Range, TaskReport

SPOUT, SINK = 1, 2


def totals() -> Totals:
    return Totals(frozenset({SPOUT}), frozenset({SINK}))


def test_rows_in_are_the_spouts_and_rows_out_the_sinks() -> None:
    total = totals()
    total.take(TaskReport(task=SPOUT, rows_in=10, rows_out=9, rows_acked=8, batches_in=1))
    total.take(TaskReport(task=SINK, rows_in=9, rows_out=7, rows_late=2))
    status = total.status(0)
    assert (status.rows_in, status.rows_acked, status.rows_out, status.rows_late) == (10, 8, 7, 2)


def test_an_older_report_that_comes_late_changes_nothing() -> None:
    total = totals()
    total.take(TaskReport(task=SPOUT, rows_in=20, busy_seconds=2))
    total.take(TaskReport(task=SPOUT, rows_in=10, busy_seconds=1))
    assert total.status(0).rows_in == 20


def test_former_lives_count_but_only_the_present_one_has_finished() -> None:
    total = totals()
    total.take(TaskReport(task=SINK, rows_out=5, finished=True))
    assert total.have_finished(frozenset({SINK}))
    total.take(TaskReport(task=SINK, incarnation=1, rows_out=2))
    assert not total.have_finished(frozenset({SINK}))
    assert total.status(0).rows_out == 7


def test_a_source_that_goes_on_counting_where_it_was_acked_counts_what_it_reads_again_once() -> None:
    told = totals()
    told.take(TaskReport(task=SPOUT, rows_in=90, rows_acked=50, rows_failed=4, carries=True))
    told.take(TaskReport(task=SPOUT, incarnation=1))  # it has not come up yet
    assert told.status(0).rows_in == 90
    told.take(TaskReport(task=SPOUT, incarnation=1, rows_in=60, rows_acked=50, rows_failed=1, carries=True))
    assert told.status(0).rows_in == 90, "it does not go back"
    for life in range(1, 2 * INCARNATIONS_KEPT):
        told.take(TaskReport(task=SPOUT, incarnation=life, rows_in=100, rows_acked=100, rows_failed=1, carries=True))
    status = told.status(0)
    assert (status.rows_in, status.rows_acked, status.rows_failed) == (100, 100, 3 + 2 * INCARNATIONS_KEPT)


def test_a_task_that_is_started_again_for_ever_takes_no_more_room() -> None:
    reports, told, late = Reports(), totals(), totals()
    for life in range(1_000):
        event = [Event(sequence=1, kind="state-lost", text="x", count=1)] if life % 100 == 0 else []
        for task, rows in ((SPOUT, {"rows_in": 3, "rows_acked": 2}), (SINK, {"rows_out": 2})):
            span = [Range(component="t", partition="0", start=life, end=life + 1)] if task == SPOUT else []
            reports.take(TaskReport(task=task, incarnation=life, latency_us={1: 1}, ranges=span, events=event, **rows))
        if life % 3 == 0:
            for report in reports.news():
                told.take(report)
    reports.take(TaskReport(task=SPOUT, incarnation=5, rows_in=100))
    assert len(reports._incarnations) <= 2 * INCARNATIONS_KEPT
    for report in [*reports.news(), TaskReport(task=SPOUT, incarnation=5, rows_in=100)]:
        told.take(report)
    reports.on_new_listener()
    for report in reports.news():
        late.take(report)
    for total in (told, late):
        status = total.status(0)
        assert (status.rows_in, status.rows_acked, status.rows_out) == (3_000, 2_000, 2_000)
        assert [(span.start, span.end) for span in status.ranges] == [(0, 1_000)]
        assert len(status.events) == 20
        assert len(total._reports) <= 2 * INCARNATIONS_KEPT


def test_an_event_is_told_once_however_often_it_is_reported() -> None:
    total = totals()
    event = Event(sequence=1, kind="state-lost", text="x", count=1)
    for _ in range(3):
        total.take(TaskReport(task=SINK, events=[event]))
    total.take(TaskReport(task=SINK, incarnation=1, events=[event]))
    assert len(total.status(0).events) == 2


def test_an_event_says_what_the_sinks_had_surely_reached_before_it() -> None:
    total = Totals(frozenset(), frozenset({SINK}))
    for reached in (5, 7, 9):
        total.take(TaskReport(task=SINK, watermark_us=reached, rows_in=reached))
        total.take(TaskReport(task=3))
    total.take(TaskReport(task=SINK, watermark_us=20, rows_in=20))
    total.take(TaskReport(task=3, incarnation=1, events=[Event(sequence=1, kind="state-lost", text="x", count=1)]))
    total.take(TaskReport(task=4, events=[Event(sequence=1, kind="state-lost", text="x", count=1)]))
    known, unknown = total.status(0).events
    assert (known.task, known.since_us) == (3, 7)
    assert (unknown.task, unknown.HasField("since_us")) == (4, False)


def test_a_loss_is_told_when_all_spouts_have_said_what_they_had_read_by_then() -> None:
    total = Totals(frozenset({SPOUT, 3}), frozenset({SINK}), frozenset({"rows-lost"}))
    lost = TaskReport(task=SINK, incarnation=1, events=[Event(sequence=1, kind="rows-lost", text="x", count=1)])
    total.take(TaskReport(task=SPOUT, plan=4, rows_in=5))
    total.take(TaskReport(task=3, plan=4, rows_in=5))
    total.take(lost)
    total.take(lost)
    assert total.is_holding_back
    total.take(TaskReport(task=SPOUT, plan=9, rows_in=6))
    assert total.is_holding_back, "nobody has said of which plan they are to hear"
    total.hold_back_until(10)
    assert not total.is_holding_back
    total.take(TaskReport(task=SPOUT, plan=10, rows_in=7))
    assert (list(total.status(0).events), total.reported.events) == ([], 0), "the other may have read more, too"
    total.take(TaskReport(task=3, plan=11, rows_in=9))
    status = total.status(0)
    assert ([event.kind for event in status.events], status.rows_in) == (["rows-lost"], 16)
    total.take(lost)
    assert not total.is_holding_back, "it is told once"


def test_nothing_is_held_back_at_the_end() -> None:
    total = Totals(frozenset({SPOUT}), frozenset({SINK}), frozenset({"rows-lost"}))
    lost, other = (Event(sequence=number, kind=kind, text="x") for number, kind in enumerate(("rows-lost", "note"), 1))
    total.take(TaskReport(task=SINK, events=[lost, other]))
    assert [event.kind for event in total.status(0).events] == ["note"]
    total.release_all()
    assert [event.kind for event in total.status(0).events] == ["note", "rows-lost"]


def test_the_watermark_is_the_slowest_sinks_and_stays_when_time_has_ended() -> None:
    total = Totals(frozenset(), frozenset({1, 2}))
    assert not total.status(0).HasField("watermark_us")
    total.take(TaskReport(task=1, watermark_us=5))
    assert not total.status(0).HasField("watermark_us")
    total.take(TaskReport(task=2, watermark_us=9))
    assert total.status(0).watermark_us == 5
    total.take(TaskReport(task=1, watermark_us=END_OF_TIME, rows_in=1))
    assert total.status(0).watermark_us == 9
    total.take(TaskReport(task=2, watermark_us=END_OF_TIME, rows_in=1))
    assert total.status(0).watermark_us == 9, "the last that was said before the end"


def test_latencies_are_those_of_the_last_seconds() -> None:
    total = totals()
    total.take(TaskReport(task=SPOUT, latency_us={0: 1000}))
    total.status(0)
    total.status(1_000)
    total.take(TaskReport(task=SPOUT, rows_in=1, latency_us={0: 1000, 320: 10}))
    assert total.status(1_400).p50_ms > 1
    assert total.status(1_000 + LATENCY_WINDOW_MS).p50_ms > 1


def test_a_failure_is_known() -> None:
    total = totals()
    assert total.failed == ""
    total.take(TaskReport(task=SINK, failed="no such file"))
    assert total.failed == "no such file"


EVERYONE = frozenset({SPOUT, SINK})


def test_all_have_paused_when_each_as_it_runs_now_rests_in_this_pause_or_has_finished() -> None:
    total = totals()
    total.take(TaskReport(task=SPOUT, pause=5))
    assert not total.have_paused(EVERYONE, 5), "the sink has said nothing"
    total.take(TaskReport(task=SINK, pause=4))
    assert not total.have_paused(EVERYONE, 5), "the sink speaks of the pause before"
    total.take(TaskReport(task=SINK, pause=5))
    assert total.have_paused(EVERYONE, 5)
    total.take(TaskReport(task=SPOUT, incarnation=1))
    assert not total.have_paused(EVERYONE, 5), "the spout was started again"
    total.take(TaskReport(task=SPOUT, incarnation=1, finished=True))
    assert total.have_paused(EVERYONE, 5)


def test_a_plan_is_heard_of_when_the_last_has_heard_of_it() -> None:
    total = totals()
    total.take(TaskReport(task=SPOUT, plan=7))
    assert total.plan_heard_of(EVERYONE) == 0
    total.take(TaskReport(task=SINK, plan=6))
    assert total.plan_heard_of(EVERYONE) == 6
    total.take(TaskReport(task=SINK, plan=9))
    assert total.plan_heard_of(EVERYONE) == 7
    total.take(TaskReport(task=SINK, incarnation=1))
    assert total.plan_heard_of(EVERYONE) == 0, "what a former life has heard is forgotten"


def test_a_partition_that_was_read_on_has_one_range_and_the_latest_event_time() -> None:
    total = totals()
    ranges = (Range(component="t", partition="p", start=3, end=10, time_us=-50),)
    total.take(TaskReport(task=SPOUT, ranges=[*ranges, Range(component="t", partition="q", start=0, end=1)]))
    total.take(TaskReport(task=SPOUT, incarnation=1, ranges=[Range(component="t", partition="p", start=8, end=20)]))
    p, q = total.status(0).ranges
    assert (p.start, p.end, p.time_us) == (3, 20, -50)
    assert (q.start, q.end, q.HasField("time_us")) == (0, 1, False)
    total.take(
        TaskReport(
            task=SPOUT, incarnation=2, ranges=[Range(component="t", partition="p", start=20, end=30, time_us=-9)]
        )
    )
    (p, _) = total.status(0).ranges
    assert (p.start, p.end, p.time_us) == (3, 30, -9)


def test_the_lag_is_what_those_know_who_live() -> None:
    total = totals()
    total.take(TaskReport(task=SPOUT, lag=7, lag_bytes=70, lag_ms=4))
    assert (total.status(0).lag, total.status(0).lag_bytes, total.status(0).lag_ms) == (7, 70, 4)
    total.take(TaskReport(task=SPOUT, incarnation=1))
    assert not total.status(0).HasField("lag")
    total.take(TaskReport(task=SPOUT, incarnation=1, rows_in=1, lag=0))
    assert total.status(0).HasField("lag")


def test_of_each_spout_those_places_are_told_where_most_waits() -> None:
    total = totals()
    total.take(TaskReport(task=SPOUT, lag=9, backlogs=[WireBacklog(component="t", place="gone", records=9)]))
    places = [WireBacklog(component="t", place=f"t-{number}", records=number) for number in range(2 * BACKLOGS_MAX)]
    other = WireBacklog(component="u", place="u at one", age_ms=0)
    total.take(TaskReport(task=SPOUT, incarnation=1, lag=5, backlogs=[*places, other]))
    message = total.status(0)
    message.state = RunState.RUNNING.value
    status = Heard().status(message)
    assert status is not None
    assert status.lag == 5
    assert [backlog.records for backlog in status.backlogs["t"]] == [*range(2 * BACKLOGS_MAX)][: BACKLOGS_MAX - 1 : -1]
    assert [*status.backlogs["u"]] == [Backlog("u at one", 0, age_ms=0)], "no age, and the age 0, are two"
