"""A bolt with state that handled two batches of one root together: what it emitted comes again for each, and the tree waits for that."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ouzel.runtime.protocol.acker import Acker
from ouzel.runtime.protocol.messages import Ack, Data, Flush, Send
from ouzel.runtime.protocol.task import TaskMachine
from ouzel.runtime.simulator.results import SimulatedResults
from ouzel.runtime.tasks.factory import TaskContext, make_task
from ouzel.session import load_text

QUERY = """
CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '1');
SELECT /*+ PARALLELISM('result'='1') */ n % 7 AS k, COUNT(*) AS many FROM ticks GROUP BY n % 7 EMIT CHANGES;
"""


def machines() -> tuple[TaskMachine, TaskMachine]:
    """The tasks that count and that hand out the result, which has a task of its own."""
    job = load_text(QUERY, Path(), "ticks", (("parallelism", "1"),))
    setting = TaskContext(job.topology, Path(), results=SimulatedResults(lambda _id, _frame: None).of(0))
    _, counting, result = (make_task(task, setting) for task in job.topology.tasks())
    return counting, result


def handled(machine: TaskMachine, messages: Sequence[Data]) -> tuple[list[Data], list[Ack]]:
    """What the task sends on, and its acks, its sink being quick."""
    said = machine.handle(messages, 1.0)
    for one in said:
        if isinstance(one, Flush):
            said += machine.on_flushed(one.number, 1.0)
    sent = [one.message for one in said if isinstance(one, Send)]
    return [one for one in sent if isinstance(one, Data)], [one for one in sent if isinstance(one, Ack)]


def test_what_came_of_two_batches_of_a_root_is_waited_for_when_both_come_again() -> None:
    counting, result = machines()
    acker = Acker(9, 0, 1_000)
    root = acker.next_root()
    frame = pl.DataFrame({"$key": [1, 2]}, schema={"$key": pl.Int64})
    acker.hold(root, [Data(0, 9, 2, number, (root,), frame) for number in (11, 12)], 4, None, 0.0)
    handled(counting, acker.pending[root.sequence].messages)  # and what it sends and acks is lost
    (again,) = acker.take_overdue(5_000)
    copies, acks = handled(counting, again.messages)
    assert len(copies) == 2
    assert not any(acker.on_ack(ack, 1.0) for ack in acks), "done, though nobody has handled what came of it"
    for copy in copies:
        assert acker.pending
        _, acks = handled(result, [copy])
        for ack in acks:
            acker.on_ack(ack, 1.0)
    assert not acker.pending
