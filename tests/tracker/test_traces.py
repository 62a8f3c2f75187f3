"""Which traces a page shows: the latest whose beginning is known, and if there are such, of those whose end is."""

from __future__ import annotations

from pathlib import Path

from ouzel.planner.topology import Task
from ouzel.runtime.observe.trace_files import LAST_BYTES, TaskSpan, TraceWriter, read_last_spans
from ouzel.runtime.protocol.trace_span import TraceSpan
from ouzel.runtime.protocol.tracing import AWAIT_ACKS, COMPUTE, READ
from ouzel.tracker.topologies.traces import SPANS_SHOWN, TRACES_SHOWN, last_traces


def span(sequence: int, doing: str, began_us: int) -> TaskSpan:
    parents = () if doing == READ else (1,)
    return TaskSpan("words", 1, (), TraceSpan(1, sequence, doing, 5, parents, began_us, began_us + 1))


def test_the_latest_that_are_whole_are_shown_in_the_order_of_time() -> None:
    whole = [span(n, doing, 10 * n + at) for n in range(9) for at, doing in enumerate((READ, COMPUTE, AWAIT_ACKS))]
    cut = [span(20, COMPUTE, 200), span(21, READ, 210)]
    shown = last_traces(reversed(whole + cut))
    assert [trace.began_us for trace in shown] == [80, 70, 60][:TRACES_SHOWN]
    assert [one.span.doing for one in shown[0].spans] == [READ, COMPUTE, AWAIT_ACKS]


def test_where_none_is_acked_what_has_begun_is_shown_within_limits() -> None:
    many = [span(1, READ, 0), *(span(1, COMPUTE, at) for at in range(1, 100))]
    (shown,) = last_traces([*many, span(2, COMPUTE, 5)])
    assert len(shown.spans) == SPANS_SHOWN
    assert last_traces([]) == []


def test_only_the_end_of_a_file_is_read(tmp_path: Path) -> None:
    assert read_last_spans(tmp_path, 1) == []
    writer = TraceWriter(tmp_path, Task(1, "words", 0))
    for number in range(900):
        writer.note(span(number, READ, number).span)
    writer.on_tick([], 0.0)
    found = [one.span.sequence for one in read_last_spans(tmp_path, 1)]
    assert found == list(range(900 - len(found), 900))
    assert 100 < len(found) <= LAST_BYTES // 100
