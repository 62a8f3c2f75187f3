"""Reports come up in parts of bounded size, only what is new of them, and all again for a listener who is new."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.runtime.observe.reports import MESSAGE_BYTES, Reports, batches, status_parts
from ouzel.runtime.observe.totals import ReportedUpTo, Totals
from ouzel.runtime.wire.wire_pb2 import Event, Range, TaskReport, TopologyStatus

MANY = [Range(component="t", partition=f"{number:04}" + 300 * "x", start=0, end=1) for number in range(10_000)]


def ranges(total: Totals) -> list[tuple[str, int, int]]:
    return [(one.partition[:4], one.start, one.end) for one in total.status(0).ranges]


def test_ten_thousand_ranges_come_in_small_messages_and_before_the_word_that_all_is_read() -> None:
    reports = Reports()
    reports.take(TaskReport(task=1, ranges=MANY, finished=True))
    news = list(reports.news())
    assert sum(len(part.ranges) for part in news) == len(MANY)
    assert max(part.ByteSize() for part in news) < 2 * MESSAGE_BYTES
    assert [part.finished for part in news] == [False] * (len(news) - 1) + [True]
    assert max(sum(part.ByteSize() for part in batch) for batch in batches(news)) < 3 * MESSAGE_BYTES


def test_a_failure_goes_first_and_by_itself() -> None:
    reports = Reports()
    reports.take(TaskReport(task=1, ranges=MANY))
    reports.take(TaskReport(task=2, failed="no such luck"))
    first = next(reports.news())
    assert (first.failed, len(first.ranges)) == ("no such luck", 0)


def test_what_was_told_is_not_told_again_but_to_one_who_is_new() -> None:
    reports = Reports()
    assert not reports.take(TaskReport(task=1, ranges=MANY[:2], rows_in=2, events=[Event(sequence=1, text="a")]))
    list(reports.news())
    assert list(reports.news()) == []
    reports.take(TaskReport(task=1, ranges=[MANY[1], MANY[2]], rows_in=3, events=[Event(sequence=2, text="b")]))
    news = list(reports.news())
    assert [one.partition for part in news for one in part.ranges] == [MANY[2].partition]
    assert [event.text for part in news for event in part.events] == ["b"]
    reports.on_new_listener()
    again = list(reports.news())
    assert sum(len(part.ranges) for part in again) == 3
    assert [event.text for part in again for event in part.events] == ["a", "b"]
    assert again[-1].rows_in == 3


def test_whoever_should_hear_at_once_is_told_so() -> None:
    reports = Reports()
    assert not reports.take(TaskReport(task=1, rows_in=1))
    for urgent in (TaskReport(task=1, rows_in=1, pause=1), TaskReport(task=1, rows_in=1, failed="x")):
        assert reports.take(urgent)
        assert not reports.take(urgent)


steps = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 9), st.booleans(), st.booleans()))


@settings(deadline=None)
@given(steps)
def test_whatever_is_told_when_the_master_knows_the_whole(steps: list[tuple[int, int, int, bool, bool]]) -> None:
    """Against one who hears everything at once: the container's reports lose their listener now and then."""
    reports, master, whole = Reports(), Totals(frozenset({1}), frozenset()), Totals(frozenset({1}), frozenset())
    for number, (incarnation, partition, end, told, lost) in enumerate(steps):
        one = Range(component="t", partition=str(partition), start=end // 2, end=end)
        report = TaskReport(task=1, incarnation=incarnation, ranges=[one], rows_in=number)
        whole.take(report)
        reports.take(report)
        if lost:
            list(reports.news())  # handed to a master that died with it
            reports.on_new_listener()
            master = Totals(frozenset({1}), frozenset())
        if told or lost:
            for part in reports.news():
                master.take(part)
    for part in reports.news():
        master.take(part)
    assert ranges(master) == ranges(whole)
    assert master.status(0).rows_in == whole.status(0).rows_in


def test_a_status_says_of_ranges_and_events_what_is_new() -> None:
    total = Totals(frozenset({1}), frozenset())
    total.take(TaskReport(task=1, ranges=MANY[:3], events=[Event(sequence=1, text="a")]))
    known = total.reported
    assert (len(total.status(0, ReportedUpTo()).ranges), len(total.status(0, known).ranges)) == (3, 0)
    total.take(TaskReport(task=1, ranges=[Range(component="t", partition=MANY[0].partition, start=0, end=5)]))
    total.take(TaskReport(task=1, events=[Event(sequence=2, text="b")]))
    news = total.status(0, known)
    assert ([one.end for one in news.ranges], [event.text for event in news.events]) == ([5], ["b"])
    assert len(total.status(0).ranges) == 3


def test_a_large_status_comes_in_parts() -> None:
    status = TopologyStatus(state="running", ranges=MANY, events=[Event(text=1_000 * "x")] * 1_000)
    messages = list(status_parts(status))
    assert [message.partial for message in messages] == [True] * (len(messages) - 1) + [False]
    assert max(message.ByteSize() for message in messages) < 2 * MESSAGE_BYTES
    assert sum(len(message.ranges) for message in messages) == len(MANY)
