"""A topology written by hand whose sink keeps what it got where no kill can take it away."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from ouzel.planner.api import BasicBolt, Batch, Bolt, Collector, Context, Spout, TopologyBuilder
from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.schemas import schema
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Resources, Topology
from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.process.job import MASTER_CONTAINER
from ouzel.runtime.process.process_table import ProcessTable
from tests.servers.waiting import wait_until

ROWS = 100
_MAY_END = "may-end"


@dataclass
class Numbers(Spout):
    """Emits 0, 1, 2, ... `rows` at a time; goes on after what its file says was wholly acked, for its own memory dies with it.

    One that `lingers` keeps its last batch back until `let_end`: however slow the machine, it does not end before what the test does to it.
    """

    batches: int
    directory: Path
    pause_s: float = 0.003
    rows: int = ROWS
    lingers: bool = False
    number: int = 0
    acked: set[int] = field(default_factory=set)
    due: float = 0.0

    def open(self, context: Context) -> None:
        self.file = self.directory / f"acked-{context.index}"
        self.share = (context.index, context.parallelism)
        if self.file.exists():
            self.acked = {int(line) for line in self.file.read_text().split()}

    def next_batch(self, collector: Collector) -> bool | None:
        if time.monotonic() < self.due:
            return None
        while self.number in self.acked or self.number % self.share[1] != self.share[0]:
            self.number += 1
        if self.number >= self.batches:
            return False
        if self.lingers and self.number + self.share[1] >= self.batches and not (self.directory / _MAY_END).exists():
            return None
        self.due = time.monotonic() + self.pause_s
        first = self.number * self.rows
        collector.emit(pl.DataFrame({"n": range(first, first + self.rows)}), message_id=self.number)
        self.number += 1
        return True

    def ack(self, message_id: object) -> None:
        with self.file.open("a") as file:
            file.write(f"{message_id}\n")


class Same(BasicBolt):
    """Passes rows on."""

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return [frame]


@dataclass
class Keep(Bolt):
    """Appends the first number of each batch, and how many rows it has, to a file before it acks."""

    directory: Path
    pause_s: float = 0.0

    def open(self, context: Context) -> None:
        self.file = os.open(self.directory / f"kept-{context.index}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def execute(self, batch: Batch, collector: Collector) -> None:
        time.sleep(self.pause_s)
        os.write(self.file, "".join(f"{number}\n" for number in batch.frame["n"]).encode())
        collector.ack(batch)


def numbers(
    directory: Path,
    batches: int = 400,
    settings: Settings = Settings(),
    keep_pause_s: float = 0.0,
    lingers: bool = False,
    spout: type[Numbers] = Numbers,
) -> Topology:
    """Two spouts, two bolts that pass on, one that keeps. One that `lingers` does not end before `let_end`."""
    builder = TopologyBuilder("numbers", settings)
    builder.set_spout("numbers", spout(batches, directory, lingers=lingers), schema(n=int), parallelism=2)
    builder.set_bolt("same", Same(), schema(n=int), parallelism=2).shuffle_grouping("numbers")
    builder.set_bolt("keep", Keep(directory, keep_pause_s)).global_grouping("same")
    return builder.build()


def packed(topology: Topology, containers: int = 1) -> PackingPlan:
    """Tasks dealt to containers in turn."""
    tasks = topology.tasks()
    return PackingPlan(
        tuple(Container(number + 1, tasks[number::containers], Resources()) for number in range(containers))
    )


def kept(directory: Path) -> list[int]:
    """Every number that the sink got, in order, doubles included."""
    return [int(line) for file in directory.glob("kept-*") for line in file.read_text().split()]


def count_kept(directory: Path) -> int:
    """How many numbers the sink got, doubles included."""
    return sum(file.read_bytes().count(b"\n") for file in directory.glob("kept-*"))


def let_end(directory: Path) -> None:
    """Let spouts that linger come to their end."""
    (directory / _MAY_END).touch()


def pid_of(handle: HeronHandle, name: str) -> int:
    """The pid of `<container>/<process>`, as it runs now; of `<container>/executor` while its first children live.

    Raises:
        ProcessLookupError: the run has ended.
    """
    container, _, process = name.rpartition("/")
    number = int(container or MASTER_CONTAINER)
    if process == "executor":
        child = pid_of(handle, f"{container}/stream-manager" if number else "0/topology-master")
        return int(Path(f"/proc/{child}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    table = ProcessTable(handle.job.container(number))

    found: list[int] = []

    def is_known() -> bool:
        table.read()
        if process in table.entries and table.find_running(process) is not None:
            found.append(table.entries[process].pid)
        return bool(found) or handle.wait(0)

    wait_until(is_known)
    if not found:
        raise ProcessLookupError(name)
    return found[0]


def processes_of(server: int) -> list[int]:
    """The processes of a server's session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == server and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found
