"""A traced batch gives one trace: from its source through all operators to the sink, each span after those that it came of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ouzel.planner.settings import Delivery
from ouzel.planner.topology import Topology
from ouzel.runtime.protocol.trace_span import TraceSpan
from ouzel.runtime.protocol.tracing import AWAIT_ACKS, COMPUTE, EMIT, READ, WRITE
from ouzel.runtime.simulator.faults import SURVIVABLE, kill_stateless_task, lose_link
from ouzel.runtime.simulator.links import OnItsWay
from ouzel.runtime.simulator.simulation import simulate
from ouzel.runtime.simulator.world import Fault, World
from ouzel.session import Job, load_text
from tests.effort import seeds
from tests.simulator.test_topology_api import in_two_containers, word_count

WORDS = """
CREATE TABLE words (word VARCHAR, n BIGINT) WITH (
  'connector' = 'datagen', 'rows' = '600', 'partitions' = '2', 'fields.word.cardinality' = '30',
  'fields.n.kind' = 'sequence');
SELECT word, COUNT(*) AS many, MAX(n) AS newest FROM words WHERE n >= 0 GROUP BY word EMIT CHANGES;
"""
WRITES = """
CREATE TABLE numbers (n BIGINT) WITH (
  'connector' = 'datagen', 'rows' = '600', 'partitions' = '2', 'fields.n.kind' = 'sequence');
CREATE TABLE out (n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO out SELECT n FROM numbers;
"""
WINDOWS = """
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'datagen', 'rows' = '600', 'partitions' = '2', 'fields.n.kind' = 'sequence',
  'fields.ts.kind' = 'sequence', 'fields.ts.start' = '2020-01-01 00:00:00', 'fields.ts.step' = '10');
SELECT window_start, COUNT(*) AS many FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '1' SECOND))
GROUP BY window_start, window_end;
"""
ALL = ("trace.sample", "1")

Spans = list[tuple[int, TraceSpan]]


def job_of(text: str, *settings: tuple[str, str]) -> Job:
    return load_text(text, Path(), "traced", (("parallelism", "2"), ("batch.rows", "50"), *settings))


def spans_of(
    monkeypatch: pytest.MonkeyPatch, topology: Topology, seed: int, faults: Sequence[Fault] = ()
) -> tuple[Spans, int]:
    """The spans of a run, each with its task, and how many messages said in which span they were made."""
    worlds: list[World] = []
    marked = 0
    put, begin = World._put, World.__init__

    def look(world: World, source: int, sent: OnItsWay) -> None:
        nonlocal marked
        marked += bool(getattr(sent.message, "spans", ()))
        put(world, source, sent)

    def begin_and_remember(world: World, *given: object, **more: object) -> None:
        worlds.append(world)
        begin(world, *given, **more)

    monkeypatch.setattr(World, "_put", look)
    monkeypatch.setattr(World, "__init__", begin_and_remember)
    simulate(topology, in_two_containers(topology), Path(), seed=seed, faults=faults)
    monkeypatch.undo()
    return list(worlds[0].spans), marked


def in_traces(spans: Spans) -> dict[tuple[int, int], Spans]:
    found: dict[tuple[int, int], Spans] = {}
    for task, span in spans:
        found.setdefault((span.root_task, span.sequence), []).append((task, span))
    return found


def assert_causal(trace: Spans) -> None:
    """One span begins it; each other one begins no earlier than those end that made what it took."""
    known = {span.id: span for _, span in trace}
    assert len(known) == len(trace), "two spans of one id"
    (first,) = (span for _, span in trace if not span.parents)
    assert first.doing in (READ, EMIT)
    for _, span in trace:
        assert span.began_us <= span.ended_us
        for parent in span.parents:
            assert known[parent].ended_us <= span.began_us


def test_a_batch_is_followed_from_source_to_sink(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = job_of(WORDS, ALL).topology
    tasks = {task.id: task.component for task in topology.tasks()}
    sources = {task for task, name in tasks.items() if topology.component(name).is_spout}
    for seed in seeds():
        spans, _ = spans_of(monkeypatch, topology, seed)
        traces = in_traces(spans)
        assert sum(span.rows_in for _, span in spans if span.doing == READ) == 600
        used = set()
        for trace in traces.values():
            assert_causal(trace)
            done = {span.doing for _, span in trace}
            assert done == {READ, COMPUTE, WRITE, AWAIT_ACKS}, f"seed={seed}"
            assert {task for task, span in trace if span.doing == READ} <= sources
            assert {task for task, span in trace if span.doing == COMPUTE}.isdisjoint(sources)
            used |= {task for task, _ in trace}
        assert used == set(tasks), f"seed={seed}: a task had no part in any trace"


def test_a_task_that_reads_and_writes_is_one_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    spans, marked = spans_of(monkeypatch, job_of(WRITES, ALL).topology, seed=1)
    assert sum(span.rows_out for _, span in spans if span.doing == READ) == 600
    for trace in in_traces(spans).values():
        assert_causal(trace)
        assert [span.doing for _, span in trace] == [READ, AWAIT_ACKS]
    assert not marked


def test_what_windows_let_out_is_a_trace_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = job_of(WINDOWS, ALL).topology
    names = {task.id: task.component for task in topology.tasks()}
    spans, _ = spans_of(monkeypatch, topology, seed=2)
    kinds = set()
    for trace in in_traces(spans).values():
        assert_causal(trace)
        kinds.add(tuple(sorted({(names[task], span.doing) for task, span in trace})))
    counts = "count_by_window"
    assert kinds == {
        ((counts, COMPUTE), ("ticks", AWAIT_ACKS), ("ticks", READ)),
        ((counts, AWAIT_ACKS), (counts, EMIT), ("result", COMPUTE), ("result", WRITE)),
    }


@pytest.mark.parametrize("delivery", [Delivery.AT_LEAST_ONCE, Delivery.AT_MOST_ONCE])
def test_hand_written_bolts_are_followed(monkeypatch: pytest.MonkeyPatch, delivery: Delivery) -> None:
    topology = word_count(delivery)
    topology = replace(topology, settings=replace(topology.settings, trace_sample=1.0))
    names = {task.id: task.component for task in topology.tasks()}
    for seed in seeds():
        spans, _ = spans_of(monkeypatch, topology, seed)
        for trace in in_traces(spans).values():
            assert_causal(trace)
            parts = {(names[task], span.doing) for task, span in trace}
            waits = {("sentences", AWAIT_ACKS)} if delivery.tracks else set()
            assert parts == {("sentences", READ), ("split", COMPUTE), ("count", COMPUTE), *waits}
            known = {span.id: (names[task], span) for task, span in trace}
            above = {known[parent][0] for task, span in trace for parent in span.parents if names[task] == "count"}
            assert above == {"split"}


@pytest.mark.parametrize("text", [WORDS, WINDOWS], ids=["words", "windows"])
def test_whatever_breaks_a_trace_holds_together(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What a task did that died is known, for the simulator keeps all spans: so each parent is, too."""
    topology = job_of(text, ALL).topology
    for seed in seeds():
        spans, _ = spans_of(monkeypatch, topology, seed, [*SURVIVABLE, kill_stateless_task, lose_link, lose_link])
        for trace in in_traces(spans).values():
            known = {span.id for _, span in trace}
            assert all(set(span.parents) <= known for _, span in trace), f"seed={seed}"


def test_some_batches_are_traced_and_the_same_ones_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    half = job_of(WORDS, ("trace.sample", "0.5"), ("batch.rows", "5")).topology
    some, _ = spans_of(monkeypatch, half, seed=3)
    again, _ = spans_of(monkeypatch, half, seed=3)
    every, _ = spans_of(monkeypatch, replace(half, settings=replace(half.settings, trace_sample=1.0)), seed=3)
    assert some == again
    assert 0 < len(in_traces(some)) < len(in_traces(every))
    assert in_traces(some).keys() < in_traces(every).keys()


def test_off_no_span_is_made_and_no_frame_says_more(monkeypatch: pytest.MonkeyPatch) -> None:
    for topology in (job_of(WORDS).topology, word_count()):
        assert spans_of(monkeypatch, topology, seed=4) == ([], 0)
    assert spans_of(monkeypatch, job_of(WORDS, ALL).topology, seed=4)[1] > 0
