"""A queue hands out again what is not acknowledged: whatever dies, nothing is lost, and only what it handed out twice comes twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.connectors import CONNECTORS
from ouzel.errors import NotSupported
from ouzel.runtime.protocol.messages import Event, Fail
from ouzel.runtime.simulator.faults import (
    kill_in_flight,
    kill_stateless_task,
    kill_stream_manager,
    lose_link,
    pause,
    stall_sink,
    stall_task,
)
from ouzel.runtime.simulator.simulation import SimulatedRun, simulate
from ouzel.runtime.simulator.world import Fault, World
from ouzel.runtime.tasks import queue
from ouzel.runtime.tasks.source import SourceSpout
from ouzel.session import Job, load_text
from ouzel.spark.lowering.job import spark_job
from ouzel.spark.lowering.streaming import streaming_queries
from tests.effort import USUAL, seeds
from tests.extending import toy_queue

ITEMS = 3_000
TABLE = "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'toy_queue', 'name' = 'q');\n"
ROWS = TABLE + "SELECT n FROM numbers WHERE n >= 0;"
COUNTS = TABLE + "SELECT n % 7 AS k, COUNT(*) AS many FROM numbers GROUP BY n % 7 EMIT CHANGES;"
PAIRS = (("parallelism", "3"), ("containers", "2"))


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    CONNECTORS["toy_queue"] = toy_queue.CONNECTOR
    toy_queue.QUEUES["q"] = toy_queue.ToyQueue(range(ITEMS))
    yield
    CONNECTORS.pop("toy_queue")


def kill_spout(world: World) -> None:
    """A task dies that has items in its hands."""
    victim = world.random.choice([task for task, host in world.hosts.items() if host.machine.is_spout])
    world.restart(victim)
    world.happened.append(f"spout {victim} killed")


def disconnect(world: World) -> None:
    """A connection to the queue breaks, or the server goes down and comes up again: it takes back what clients had."""
    served = toy_queue.QUEUES["q"]
    gone = list(served.sessions) if world.random.random() < 0.3 else [world.random.choice(list(served.sessions))]
    for client in gone:
        served.disconnect(client)
    world.happened.append(f"{gone} disconnected")


STATELESS = (lose_link, kill_stateless_task, kill_in_flight, kill_stream_manager, stall_task, stall_sink, pause)
FAULTS: list[Fault] = [*STATELESS, kill_spout, kill_spout, disconnect, disconnect]


def run(job: Job, seed: int, faults: list[Fault]) -> tuple[SimulatedRun, toy_queue.ToyQueue]:
    """A simulated run over a queue that is filled anew."""
    toy_queue.QUEUES["q"] = served = toy_queue.ToyQueue(range(ITEMS))
    return simulate(job.topology, job.packing, Path(), seed=seed, faults=faults), served


def test_nothing_is_lost_and_only_what_was_handed_out_again_comes_twice() -> None:
    job = load_text(ROWS, Path(), "rows", PAIRS)
    again = duplicates = 0
    for seed in seeds():
        done, served = run(job, seed, FAULTS)
        story = f"seed {seed}, {served.again} handed out again, faults: {done.faults}"
        seen = Counter(pl.concat(done.frames.values())["n"])
        assert seen.keys() == set(range(ITEMS)), f"lost: {story}"
        assert not served.waiting, story
        assert not any(session.open for session in served.sessions.values()), story
        assert seen.total() - ITEMS <= served.again, story
        again, duplicates = again + served.again, duplicates + seen.total() - ITEMS
    assert again > duplicates > 0 or len(seeds()) < USUAL, "the faults hit nothing: this proves nothing"


def test_counts_are_exact_while_the_queue_hands_nothing_out_again() -> None:
    job = load_text(COUNTS, Path(), "counts", PAIRS)
    exact = 0
    for seed in seeds():
        done, served = run(job, seed, [lose_link, lose_link, kill_stream_manager, stall_task, stall_sink, pause])
        changes = pl.concat(done.frames.values())
        total = int(changes.select(pl.col("many").dot(pl.col(WEIGHT))).item())
        assert ITEMS <= total <= ITEMS + served.again, f"seed {seed}: {done.faults}"
        exact += served.again == 0
    assert exact, "something was handed out again under every seed"


def test_at_most_once_takes_each_item_for_good() -> None:
    job = load_text(ROWS, Path(), "rows", (*PAIRS, ("delivery", "at-most-once")))
    lost = 0
    for seed in seeds():
        done, served = run(job, seed, [lose_link, lose_link, kill_spout, disconnect])
        seen = Counter(pl.concat(done.frames.values())["n"])
        assert max(seen.values()) == 1, f"seed {seed}: {done.faults}"
        assert served.again == 0
        lost += ITEMS - len(seen)
    assert lost or len(seeds()) < USUAL, "the faults hit nothing"


def spout_with_batches(count: int) -> tuple[World, SourceSpout]:
    """A spout that has emitted so many batches of ten items, which nobody handles."""
    job = load_text(ROWS, Path(), "rows", (("parallelism", "1"), ("batch.rows", "10")))
    world = World(job.topology, job.packing, Path(), 0)
    machine = next(host.machine for host in world.hosts.values() if host.machine.is_spout)
    assert isinstance(machine, SourceSpout)
    for _ in range(count):
        machine.poll(1.0)
    return world, machine


def test_what_fails_is_given_back_and_its_acks_are_void() -> None:
    _, machine = spout_with_batches(3)
    served = toy_queue.QUEUES["q"]
    second = list(machine.acker.pending.values())[1]
    root = second.messages[0].roots[0]
    told = machine.handle([Fail(root.task, root)], 2.0)
    assert list(served.waiting)[:10] == list(range(10, 20)), "they are the next to be handed out"
    assert second.sequence not in machine.acker.pending
    assert machine.acker.pending_rows == 20
    assert [event.count for event in told if isinstance(event, Event)] == [10]
    machine.handle([Fail(root.task, root)], 3.0)
    assert served.again == 10, "once is enough"


def test_what_the_server_has_taken_back_is_not_sent_again() -> None:
    world, machine = spout_with_batches(2)
    toy_queue.QUEUES["q"].disconnect("numbers-0")
    machine.on_reconnected(10.0)
    machine.tick(1_000.0)
    assert not machine.acker.pending, "the server hands these items out: a second copy from here would count twice"
    assert world.failed == ""


def test_what_is_sent_again_in_vain_is_given_back() -> None:
    _, machine = spout_with_batches(2)
    first, second = machine.acker.pending.values()
    first.timeouts = queue.TIMEOUTS_MAX
    machine._resend([first, second])
    assert list(machine.acker.pending.values()) == [second]
    assert list(toy_queue.QUEUES["q"].waiting)[:10] == list(range(10))


def test_what_goes_by_offsets_is_refused() -> None:
    job = load_text(ROWS, Path(), "rows")
    with pytest.raises(NotSupported, match="'toy_queue' hands out each item once, and nothing keeps what was handled"):
        spark_job(job.program, Path())
    with pytest.raises(NotSupported, match="Structured Streaming goes by offsets, and connector 'toy_queue' is ack"):
        streaming_queries(job.program, Path(), "rows")
