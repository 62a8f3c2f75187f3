"""In a pause spouts read nothing, event time stands still, and what was read before is acked and flushed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import Sink
from ouzel.connectors.reading import Committed
from ouzel.planner.api import Collector, Spout
from ouzel.planner.schemas import schema
from ouzel.planner.settings import BadRecordPolicy, Settings
from ouzel.planner.topology import Component, Output, Task
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.operators.rowwise.rows import Passing
from ouzel.runtime.protocol.groupings import OutputStream
from ouzel.runtime.protocol.messages import (
    Ack,
    Data,
    Finished,
    Flush,
    Instruction,
    Root,
    Send,
    Stalled,
    TimeStatus,
    Waiting,
    Watermark,
    Write,
)
from ouzel.runtime.protocol.quarantine import MemoryNote, Quarantine
from ouzel.runtime.protocol.shell import Shell
from ouzel.runtime.protocol.task import Links, Port, TaskMachine, TaskSetup
from ouzel.runtime.tasks.bolt import ChainBolt
from ouzel.runtime.tasks.call_waits import CallWaits
from ouzel.runtime.tasks.chain_task import SinkEnd
from ouzel.runtime.tasks.refusals import Refusals
from ouzel.runtime.tasks.user import UserSpout
from ouzel.session import load_text
from tests.tasks.test_source_time import NOON, Hand, spout, times

SECOND_US = 1_000_000


def sent(instructions: Sequence[Instruction], kind: type) -> list:
    """The messages of one kind among the instructions."""
    messages = [instruction.message for instruction in instructions if isinstance(instruction, Send)]
    return [message for message in messages if isinstance(message, kind)]


def acked(instructions: Sequence[Instruction]) -> list[Ack]:
    """What whoever gets these rows says when it has handled them."""
    return [Ack(1, data.roots[0], data.id) for data in sent(instructions, Data)]


def test_a_paused_source_reads_nothing_and_reads_on_afterwards() -> None:
    source = Hand("a")
    machine = spout(source)
    source.waiting["a"].append(NOON)
    machine.deactivate(1, 1_000)
    assert sent(machine.poll(1_000), Data) == []
    machine.activate(2_000)
    assert [data.frame.height for data in sent(machine.poll(2_000), Data)] == [1]


def test_a_source_has_paused_when_all_that_it_read_is_acked() -> None:
    source = Hand("a")
    machine = spout(source, "at-least-once")
    source.waiting["a"].append(NOON)
    read = machine.poll(1_000)
    machine.deactivate(7, 1_000)
    machine.tick(1_100)
    assert machine.paused == 0, "a batch is on its way"
    said = sent(machine.handle(acked(read), 1_200), Watermark)
    assert (machine.paused, said[-1].status, said[-1].pause) == (7, TimeStatus.PAUSED, 7)
    machine.deactivate(9, 1_300)
    assert machine.paused == 7
    machine.tick(1_400)
    assert machine.paused == 9
    machine.activate(1_500)
    machine.tick(1_600)
    assert machine.paused == 0


def test_a_pause_is_no_silence() -> None:
    source = Hand("a")
    machine = spout(source)
    source.waiting["a"].append(NOON)
    assert times(machine, 1_000) == (NOON, TimeStatus.ACTIVE), "silent from here on"
    machine.deactivate(1, 5_000)
    assert times(machine, 5_000) == (NOON, TimeStatus.PAUSED)
    assert times(machine, 3_600_000) == (NOON, TimeStatus.PAUSED), "said again, and no later"
    machine.activate(3_605_000)
    assert times(machine, 3_605_000) == (NOON, TimeStatus.ACTIVE)
    assert times(machine, 3_610_000) == (NOON, TimeStatus.ACTIVE)
    late = times(machine, 3_614_000)
    assert late == (NOON + timedelta(seconds=3_613), TimeStatus.FOLLOWING), "13 s of silence, 3,600 s of pause"


def test_an_idle_source_that_pauses_stays_where_time_was() -> None:
    source = Hand("a")
    machine = spout(source)
    source.waiting["a"].append(NOON)
    times(machine, 1_000)
    reached = times(machine, 31_000)
    assert reached == (NOON + timedelta(seconds=30), TimeStatus.FOLLOWING)
    machine.deactivate(1, 31_000)
    assert times(machine, 90_000) == (NOON + timedelta(seconds=30), TimeStatus.PAUSED)


def test_a_source_that_has_ended_has_finished_though_it_is_paused() -> None:
    source = Hand("a")
    machine = spout(source)
    machine._reader.progress[0].ended = True
    machine.deactivate(1, 1_000)
    assert any(isinstance(one, Finished) for one in machine.poll(1_000))


def test_a_source_at_rest_has_committed_what_was_read() -> None:
    source = Hand("a")
    committed: list[dict[str, int]] = []

    def commit(places: dict[str, Committed]) -> str:
        committed.append({name: place.offset for name, place in places.items()})
        return ""

    source.commit = commit  # type: ignore[method-assign]
    machine = spout(source, "at-least-once")
    for now_ms in (1_000, 1_100):
        source.waiting["a"].append(NOON)
        read = machine.poll(now_ms)
        machine.handle(acked(read), now_ms)
        machine.tick(now_ms)
    assert committed == [{"a": 1}], "the second batch waits for its turn"
    machine.deactivate(7, 1_200)
    machine.poll(1_200)
    assert machine.paused == 7
    assert committed == [{"a": 1}, {"a": 2}]


def test_the_event_time_of_a_range_is_that_of_its_end() -> None:
    source = Hand("a")
    machine = spout(source, "at-least-once")
    source.waiting["a"].extend([NOON, NOON - timedelta(seconds=5)])
    first = machine.poll(1_000)
    source.waiting["a"].append(NOON + timedelta(seconds=60))
    machine.limit.rows = 100
    second = machine.poll(1_100)
    assert machine.metrics().times == {}
    machine.handle(acked(first), 1_200)
    noon_us = (NOON - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    assert (machine.metrics().ranges, machine.metrics().times) == ({"a": (0, 2)}, {"a": noon_us})
    machine.handle(acked(second), 1_300)
    assert (machine.metrics().ranges, machine.metrics().times) == ({"a": (0, 3)}, {"a": noon_us + 60 * SECOND_US})


class Numbers(Spout):
    """Emits a row whenever it is asked, and notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def next_batch(self, collector: Collector) -> bool:
        collector.emit(pl.DataFrame({"n": [1]}), message_id=1)
        return True

    def activate(self) -> None:
        self.told.append("activate")

    def deactivate(self) -> None:
        self.told.append("deactivate")


def test_a_spout_of_ones_own_is_told_once_and_asked_for_nothing() -> None:
    logic, links = (
        Numbers(),
        Links((), {"default": OutputStream(0, [([2], lambda rows, _id, _task: [(0, rows)])])}, frozenset()),
    )
    component = Component("numbers", 1, (), (Output(schema(n=int)),), (), logic)
    machine = UserSpout(TaskSetup(Task(1, "numbers", 0), links, Settings()), logic, component)
    machine.deactivate(1, 0)
    machine.deactivate(1, 10)
    assert sent(machine.poll(20), Data) == []
    assert machine.paused == 1
    machine.activate(30)
    machine.activate(40)
    read = machine.poll(50)
    assert len(sent(read, Data)) == 1
    assert machine.paused == 0
    machine.deactivate(2, 60)
    machine.tick(70)
    assert machine.paused == 0, "a row is on its way"
    machine.handle(acked(read), 80)
    assert machine.paused == 2
    assert logic.told == ["deactivate", "activate", "deactivate"]


class Held(Operator):
    """Holds rows back until event time passes, or the topology pauses."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[pl.DataFrame] = []

    def process(self, frame: pl.DataFrame) -> None:
        self.rows.append(frame)

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        return self.flush_on_pause() if watermark_us >= 0 else None

    def flush_on_pause(self) -> pl.DataFrame | None:
        rows, self.rows = self.rows, []
        return pl.concat(rows) if rows else None


@dataclass
class Unused:
    """A writer that says when it wants to be flushed; the test carries nothing out."""

    flush_interval_ms: int
    flush_rows: int

    def write(self, batch_id: int, frame: pl.DataFrame) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


def sink(delivery: str, *operators: Operator, flush_rows: int = 1_000) -> ChainBolt:
    """A bolt that writes what comes out of its operators, once in ten seconds, fed by task 1."""
    job = load_text("CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen'); SELECT n FROM t;", Path(), "t")
    (node,) = (node for part in job.topology.components for node in part.chain if isinstance(node, Sink))
    settings = Settings().with_values([("delivery", delivery)])
    writer = Unused(10_000, flush_rows)
    end, refusals = SinkEnd[Data](node, False, writer), Refusals(BadRecordPolicy.FAIL, Path("unused"))
    links = Links((1,), {}, frozenset({1}), ports={0: Port(0, (1,))})
    chain = Chain([Passing(), *operators])
    return ChainBolt(
        TaskSetup(Task(2, "out", 0), links, settings), chain, [["n"]], refusals, Quarantine(MemoryNote()), end
    )


def rows(number: int, *values: int) -> Data:
    return Data(0, 1, 2, number, (Root(1, number, 0),), pl.DataFrame({"n": values}))


def orders(instructions: list[Instruction]) -> list[int]:
    """What the sink is to do: how many rows to write, or minus the number of a flush."""
    return [
        one.frame.height if isinstance(one, Write) else -one.number
        for one in instructions
        if isinstance(one, Write | Flush)
    ]


def test_a_sink_says_that_it_has_reached_a_time_when_what_that_let_out_is_safe() -> None:
    machine = sink("at-most-once", Held())
    machine.handle([rows(5, 1, 2)], 1)
    assert orders(machine.handle([Watermark(1, 2, 77, TimeStatus.ACTIVE)], 2)) == [2, -1]
    machine.handle([rows(6, 3)], 3)
    assert machine.metrics().watermark_us is None
    assert orders(machine.handle([Watermark(1, 2, 88, TimeStatus.ACTIVE)], 4)) == [1]
    assert orders(machine.on_flushed(1, 5)) == []
    assert machine.metrics().watermark_us == 77, "what 88 let out is written, and not flushed"
    assert orders(machine.tick(10_002)) == [-2]
    machine.on_flushed(2, 10_003)
    assert machine.metrics().watermark_us == 88


def test_while_a_flush_lasts_rows_gather_for_the_next() -> None:
    machine = sink("at-least-once", flush_rows=3)
    done = []
    for number in range(1, 5):
        done += orders(machine.handle([rows(number, 1, 2)], number))
        done += orders(machine.tick(20_000 * number))
    assert done == [2, -1, 2, 2, 2]
    said = machine.on_flushed(1, 90_000)
    assert orders(said) == [-2], "six rows are more than three"
    assert [ack.root.sequence for ack in sent(said, Ack)] == [1]
    assert [ack.root.sequence for ack in sent(machine.on_flushed(2, 90_001), Ack)] == [2, 3, 4]


def test_what_leaves_nothing_to_write_is_acked_at_once() -> None:
    machine = sink("at-least-once", Held())
    said = machine.handle([rows(1, 7)], 1)
    assert orders(said) == []
    assert [ack.root.sequence for ack in sent(said, Ack)] == [1]


@pytest.mark.parametrize("delivery", ["at-most-once", "at-least-once"])
def test_a_sink_flushes_and_holds_nothing_back_when_the_topology_pauses(delivery: str) -> None:
    machine = sink(delivery, Held())
    machine.tick(0)
    said = machine.handle([rows(5, 1, 2), Watermark(1, 2, -9, TimeStatus.ACTIVE)], 10)
    assert (orders(said), machine.paused) == ([], 0)
    assert orders(machine.handle([Watermark(1, 2, -9, TimeStatus.PAUSED, 4)], 20)) == [2, -1]
    assert machine.paused == 0, "the flush lasts"
    machine.on_flushed(1, 30)
    assert machine.paused == 4


def test_no_time_runs_against_what_waits_behind_a_call_that_waits() -> None:
    """What is held upstream would be sent again, and a table that is asked again may answer otherwise."""
    told: list[Sequence[Instruction]] = []
    links = Links((1, 2), {}, frozenset({1, 2}))
    setup = TaskSetup(Task(3, "asks", 0), links, Settings(), shell=Shell(interject=told.append))
    waits, machine = CallWaits(setup), TaskMachine(setup)
    waiting = Waiting("asks", "airports", 0, "no answer")
    waits.tell(waiting)
    assert told.pop() == [Send(Stalled(3, 1)), Send(Stalled(3, 2))]
    assert machine.metrics().waiting == (waiting,)
    waits.tell()
    assert told.pop() == []
    assert machine.metrics().waiting == ()
