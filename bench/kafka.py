"""Catching up with a backlog of Kafka: events that wait in a topic are read, and how fast a bare consume loop reads the same.

    python -m bench.kafka                              5 M events, one task and two
    python -m bench.kafka --events 1000000 --tasks 2

A real broker (the tests': Java and Maven) is started, filled and stopped. `consume loop` is confluent-kafka's `consume`, and `value()` of
each message, in one process that does nothing else, with the settings of our source; `ouzel` reads JSON into columns, at least once, and
writes into a blackhole. CPU is that of the reader, without the broker's.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from bench.figures import print_line
from bench.process_tree import ProcessTree
from ouzel.runtime.run import RunState
from ouzel.session import load_text, start
from tests.servers.kafka import KafkaBroker

PARTITIONS, PORTION, CONSUMED = 4, 200_000, 10_000
POLL_S = 0.02
QUERY = """
CREATE TABLE bids (id BIGINT, price DOUBLE, url VARCHAR) WITH (
  'connector' = 'kafka', 'bootstrap.servers' = '{address}', 'topic' = 'bids', 'format' = 'json', 'group' = '{group}', 'end' = 'latest');
CREATE TABLE out (id BIGINT, price DOUBLE, url VARCHAR) WITH ('connector' = 'blackhole');
INSERT INTO out SELECT id, price, url FROM bids;
"""


def fill(broker: KafkaBroker, events: int) -> None:
    """Events of some hundred bytes, dealt to the partitions."""
    broker.create_topic("bids", PARTITIONS)
    url = "https://www.nexmark.com/item.htm?query=1&page="
    for first in range(0, events, PORTION):
        numbers = range(first, min(first + PORTION, events))
        values = [
            b'{"id": %d, "price": %d.25, "url": "%s%d"}' % (n, n % 977, url.encode(), n % 10_007) for n in numbers
        ]
        broker.produce("bids", [*values])


def figures(rows: int, seconds: float, cpu_s: float) -> dict[str, Any]:
    """What so many rows cost."""
    told = {"rows": rows, "seconds": round(seconds, 2), "rows_per_s": round(rows / seconds)}
    return told | {"cpu_seconds": round(cpu_s, 2), "rows_per_cpu_s": round(rows / cpu_s)}


class Clock:
    """Seconds by the wall, and of the processor without the broker's, since it was made."""

    def __init__(self, mine: ProcessTree, brokers: ProcessTree) -> None:
        self._mine, self._brokers = mine, brokers
        self._start = self._now()

    def _now(self) -> tuple[float, float]:
        return time.monotonic(), self._mine.cost().cpu_s - self._brokers.cost().cpu_s

    def figures(self, rows: int) -> dict[str, Any]:
        """What so many rows cost."""
        seconds, cpu_s = (now - then for now, then in zip(self._now(), self._start, strict=True))
        return figures(rows, seconds, cpu_s)


@contextmanager
def measuring(broker: KafkaBroker) -> Iterator[tuple[ProcessTree, ProcessTree]]:
    """This process with all that it starts, and the broker."""
    assert broker.process is not None
    with ProcessTree(os.getpid()) as mine, ProcessTree(broker.process.pid) as brokers:
        yield mine, brokers


def consume(address: str, events: int, told: Connection) -> None:
    """The bare loop, which tells what it took from its first message to its last."""
    settings = {
        "bootstrap.servers": address,
        "group.id": "loop",
        "enable.auto.commit": False,
        "queued.min.messages": 100_000,
        "queued.max.messages.kbytes": 131_072,
        "fetch.message.max.bytes": 8 << 20,
        "fetch.queue.backoff.ms": 5,  # the default of a second starves a reader that empties the queue in less
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition("bids", number, 0) for number in range(PARTITIONS)])
    messages = consumer.consume(1, -1)
    left = events = events - len(messages)
    began, began_cpu, size = time.monotonic(), time.process_time(), 0
    while left > 0:
        messages = consumer.consume(CONSUMED, 1)
        left -= len(messages)
        size += sum(len(message.value()) for message in messages)
    told.send(figures(events, time.monotonic() - began, time.process_time() - began_cpu))
    consumer.close()


def run_loop(broker: KafkaBroker, events: int) -> dict[str, Any]:
    """The bare loop in a process of its own."""
    ours, theirs = Pipe()
    process = get_context("spawn").Process(target=consume, args=(broker.address, events, theirs))
    process.start()
    told: dict[str, Any] = ours.recv()
    process.join()
    return told


def run_ouzel(broker: KafkaBroker, events: int, tasks: int, pending: int) -> dict[str, Any]:
    """The topology, from its first row to its last ack."""
    with tempfile.TemporaryDirectory(prefix="kafka-") as folder, measuring(broker) as trees:
        text = QUERY.format(address=broker.address, group=f"ouzel{tasks}-{time.time_ns()}")
        settings = [("parallelism", str(tasks)), ("max.pending.rows", str(pending))]
        handle = start(load_text(text, Path(folder), "backlog", settings))
        try:
            while not handle.status().rows_in:
                handle.wait_for_results(POLL_S)
            clock, first = Clock(*trees), handle.status().rows_in
            while not handle.wait(POLL_S):
                pass
            if handle.status().state is not RunState.FINISHED:
                raise SystemExit(f"the run has failed: {handle.status().reason}")
            return clock.figures(events - first) | {"p99_ms": handle.status().p99_ms}
        finally:
            handle.stop()


def main() -> None:
    """Fill a topic, and read it in turn by both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--tasks", type=int, nargs="*", default=[1, 2], help="how many tasks read")
    parser.add_argument("--pending", type=int, default=200_000, help="most rows a task may have unacked")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kafka-") as folder:
        broker = KafkaBroker(Path(folder) / "broker")
        try:
            fill(broker, options.events)
            for _ in range(options.rounds):
                print_line({"engine": "consume loop", "workload": "backlog"}, run_loop(broker, options.events))
                for tasks in options.tasks:
                    told = run_ouzel(broker, options.events, tasks, options.pending)
                    print_line({"engine": "ouzel", "workload": "backlog", "tasks": tasks}, told)
        finally:
            broker.kill()


if __name__ == "__main__":
    main()
