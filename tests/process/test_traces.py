"""Traces of real processes: the files that tasks write, and what of them survives a kill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.planner.topology import Task
from ouzel.runtime.cluster.local import start_heron
from ouzel.runtime.observe.trace_files import SPANS_WAITING, TraceReader, TraceWriter
from ouzel.runtime.protocol.trace_span import TraceSpan
from ouzel.runtime.protocol.tracing import AWAIT_ACKS, COMPUTE, READ
from tests.process.test_heron import QUIET
from tests.process.topologies import numbers, packed
from tests.servers.waiting import wait_until

TASK = Task(4, "count <b>", 0)
SPAN = TraceSpan(1, 7, COMPUTE, 2**64 - 1, (5, 6), 1_000_000, 2_000_000, 1, 10, 3)


def test_spans_are_read_once_whatever_dies_between(tmp_path: Path) -> None:
    reader = TraceReader(tmp_path)
    writer = TraceWriter(tmp_path, TASK)
    writer.note(SPAN)
    writer.on_tick(["1 Where"], 0.0)
    (found,) = reader.read()
    assert found == ("count <b>", 4, ("1 Where",), SPAN)
    with (tmp_path / "traces-4-0.jsonl").open("ab") as file:
        file.write(b'{"component":"half a li')
    writer = TraceWriter(tmp_path, TASK)
    writer.note(replace(SPAN, sequence=8))
    writer.on_tick([], 0.0)
    assert [one.span.sequence for one in reader.read()] == [8]
    assert not list(reader.read())


def test_spans_are_written_once_a_second_and_have_limits(tmp_path: Path) -> None:
    writer, reader = TraceWriter(tmp_path, TASK, file_bytes=1_000), TraceReader(tmp_path)
    for sequence in range(SPANS_WAITING + 5):
        writer.note(replace(SPAN, sequence=sequence))
    writer.on_tick([], 0.0)
    assert [one.span.sequence for one in reader.read()] == list(range(SPANS_WAITING))
    writer.note(SPAN)
    writer.on_tick([], 900.0)
    assert not list(reader.read())
    for second in range(1, 40):
        writer.note(replace(SPAN, sequence=second))
        writer.on_tick([], 1e3 * second)
    assert len(list(tmp_path.iterdir())) == 2
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 3_000


def test_a_disk_without_room_costs_spans_and_nothing_else(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "gone", TASK)
    writer.note(SPAN)
    writer.on_tick([], 0.0)
    (tmp_path / "gone").mkdir()
    writer.note(replace(SPAN, sequence=9))
    writer.on_tick([], 2_000.0)
    assert [one.span.sequence for one in TraceReader(tmp_path / "gone").read()] == [9]


WHOLE = {("numbers", READ), ("same", COMPUTE), ("keep", COMPUTE), ("numbers", AWAIT_ACKS)}


def steps_of(trace: list[tuple[str, TraceSpan]]) -> set[tuple[str, str]]:
    return {(component, span.doing) for component, span in trace}


@pytest.mark.server
def test_processes_write_what_they_did_with_a_batch(tmp_path: Path) -> None:
    topology = numbers(tmp_path, 2_000, replace(QUIET, trace_sample=1.0), lingers=True)
    names = {task.id: task.component for task in topology.tasks()}
    handle = start_heron(topology, packed(topology, 2), tmp_path)
    try:
        readers = [TraceReader(handle.job.container(number)) for number in (1, 2)]
        spans: dict[tuple[int, int], list[tuple[str, TraceSpan]]] = {}

        def is_whole() -> bool:
            for one in (one for reader in readers for one in reader.read()):
                assert names[one.task] == one.component
                spans.setdefault((one.span.root_task, one.span.sequence), []).append((one.component, one.span))
            return any(steps_of(trace) == WHOLE for trace in spans.values())

        wait_until(is_whole)
    finally:
        handle.stop()
    trace = next(trace for trace in spans.values() if steps_of(trace) == WHOLE)
    known = {span.id: span for _, span in trace}
    assert all(known[parent].began_us <= span.began_us for _, span in trace for parent in span.parents)
