"""A count is a field in one file; whatever carries counts has a field of that name."""

from __future__ import annotations

from dataclasses import fields

from ouzel.runtime.observe.counts import COUNTS, RUN_COUNTS, Counted, RunCounts, TaskCounts, add_up_counts
from ouzel.runtime.wire.wire_pb2 import TaskReport, TopologyStatus


def test_every_count_that_a_run_has_is_a_field_of_its_status() -> None:
    assert {name for name, count in COUNTS.items() if count.of is not Counted.NONE} == {
        each.name for each in fields(RunCounts)
    }


def test_the_messages_have_a_field_for_each_count() -> None:
    assert set(COUNTS) <= set(TaskReport.DESCRIPTOR.fields_by_name), "add it to TaskReport in wire.proto: make wire"
    assert set(RUN_COUNTS) <= set(TopologyStatus.DESCRIPTOR.fields_by_name), (
        "add it to TopologyStatus in wire.proto: make wire"
    )


def test_each_count_is_added_up_over_the_tasks_it_is_of() -> None:
    spout, middle, sink = (TaskCounts(*[number] * len(COUNTS)) for number in (1, 10, 100))
    found = add_up_counts([spout], [sink], [spout, middle, sink])
    assert (found["rows_in"], found["rows_out"], found["rows_late"], found["rows_shed"]) == (1, 100, 111, 1)
