"""A row that kills whoever handles it is found, and refused as `error.policy` says; all other rows are handled once."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import polars as pl
import pytest

from ouzel.errors import TopologyError
from ouzel.exits import Death
from ouzel.planner.api import BasicBolt, Batch, Bolt, Collector, Context, TopologyBuilder
from ouzel.planner.schemas import schema
from ouzel.planner.settings import BadRecordPolicy, Settings
from ouzel.planner.topology import Topology
from ouzel.runtime.operators.chain import Chain, Streams
from ouzel.runtime.simulator import simulate
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.session import load_text
from tests.effort import seeds
from tests.simulator.test_anchors import NUMBERS, SEEN, Note, Numbers
from tests.simulator.test_sparse_offsets import LINES, expected, write_rows
from tests.simulator.test_topology_api import in_two_containers

SETTINGS = (("parallelism", "2"), ("containers", "2"))
KILLERS = (701, 1_234, 1_235)


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain of a source dies of some rows."""
    process = Chain.process

    def dies(self: Chain, frame: pl.DataFrame, port: int = 0) -> Streams:
        if "n" in frame.columns and frame["n"].is_in(list(KILLERS)).any():
            raise Death
        return process(self, frame, port)

    monkeypatch.setattr(Chain, "process", dies)


@pytest.mark.parametrize("seed", seeds())
@pytest.mark.usefixtures("poisoned")
def test_rows_that_kill_are_put_aside_and_all_others_counted_once(tmp_path: Path, seed: int) -> None:
    write_rows(tmp_path)
    settings = (*SETTINGS, ("error.policy", "dead-letter"))
    job = load_text(LINES, tmp_path, "poisoned", settings)
    run = simulate(job.topology, job.packing, tmp_path, seed=seed, faults=SURVIVABLE)
    folded = pl.concat(run.frames.values()).group_by("k", "many", "total").agg(pl.col("$weight").sum())
    rows = sorted(folded.filter(pl.col("$weight") != 0).select("k", "many", "total").rows())
    counted = [number for number in range(3_000) if number % 50 and number not in KILLERS]
    assert rows == expected(counted), f"seed {seed}, faults: {run.faults}"
    letters = map(json.loads, (tmp_path / "dead-letters.jsonl").read_text().splitlines())
    assert {json.loads(letter["raw"])["n"] for letter in letters} == set(KILLERS)


@pytest.mark.usefixtures("poisoned")
def test_a_row_that_kills_fails_the_topology_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "rows-0.csv").write_text("n,note\n" + "".join(f"{n},x\n" for n in range(3_000)))
    job = load_text(LINES, tmp_path, "poisoned", SETTINGS)
    with pytest.raises(
        TopologyError, match=r"rows-0.csv:(703|1236|1237).*ends the process of 'rows_read.*\"n\": (701|123[45])"
    ):
        simulate(job.topology, job.packing, tmp_path)


class Dies(BasicBolt):
    """Emits what it gets, and dies of one number."""

    def process(self, frame: pl.DataFrame):
        if frame["n"][0] == 13:
            raise Death
        return [frame]


def with_a_bolt_that_dies(policy: BadRecordPolicy) -> Topology:
    builder = TopologyBuilder("dies", Settings(error_policy=policy))
    builder.set_spout("numbers", Numbers(), schema(n=int))
    builder.set_bolt("dies", Dies(), schema(n=int), parallelism=2).shuffle_grouping("numbers")
    builder.set_bolt("note", Note()).global_grouping("dies")
    return builder.build()


def test_a_row_that_kills_a_bolt_is_put_aside() -> None:
    topology = with_a_bolt_that_dies(BadRecordPolicy.SKIP)
    for seed in seeds():
        SEEN.clear()
        done = simulate(topology, in_two_containers(topology), Path(), seed=seed, faults=SURVIVABLE)
        spout_died = any("(numbers) killed" in fault for fault in done.faults)
        assert spout_died or set(SEEN) == {*range(NUMBERS)} - {13}, f"seed={seed}: {done.faults}"
        assert any(event.kind == "bad-record" for event in done.events) or spout_died


def test_a_row_that_kills_a_bolt_fails_the_topology() -> None:
    topology = with_a_bolt_that_dies(BadRecordPolicy.FAIL)
    with pytest.raises(TopologyError, match=r"dies: bad record: this row ends the process of 'dies'.*\"n\": 13"):
        simulate(topology, in_two_containers(topology), Path())


class Forties(Numbers):
    """Forty numbers a batch."""

    def next_batch(self, collector: Collector) -> bool:
        numbers = range(40 * self.number, 40 * (self.number + 1))
        collector.emit(pl.DataFrame({"n": numbers}), message_id=self.number)
        self.number += 1
        return self.number < 10


class Patient(Bolt):
    """Emits halves of what it gets on two streams, acks when its time comes, fails some batches once, and dies of some numbers."""

    def open(self, context: Context) -> None:
        self.held: list[Batch] = []
        self.random = Random(context.task)

    def execute(self, batch: Batch, collector: Collector) -> None:
        if batch.frame["n"].is_in(list(DEADLY)).any():
            raise Death
        for remainder, stream in enumerate(("even", "odd")):
            collector.emit(batch.frame.filter(pl.col("n") % 2 == remainder), stream=stream, anchors=(batch,))
        self.held.append(batch)

    def tick(self, collector: Collector) -> None:
        for batch in self.held:
            if self.random.random() < 0.1:
                collector.fail(batch)
            else:
                collector.ack(batch)
        self.held.clear()


DEADLY = (13, 20, 21, 399)


def test_of_a_batch_that_kills_a_bolt_only_the_rows_that_do_are_lost(tmp_path: Path) -> None:
    builder = TopologyBuilder("dies", Settings(error_policy=BadRecordPolicy.DEAD_LETTER))
    builder.set_spout("numbers", Forties(), schema(n=int))
    streams = {"even": schema(n=int), "odd": schema(n=int)}
    builder.set_bolt("dies", Patient(), streams).shuffle_grouping("numbers")
    note = builder.set_bolt("note", Note())
    note.global_grouping("dies", "even")
    note.global_grouping("dies", "odd")
    topology = builder.build()
    for seed in seeds():
        SEEN.clear()
        (tmp_path / "dead-letters.jsonl").unlink(missing_ok=True)
        simulate(topology, in_two_containers(topology), tmp_path, seed=seed)
        letters = map(json.loads, (tmp_path / "dead-letters.jsonl").read_text().splitlines())
        assert {json.loads(letter["raw"])["n"] for letter in letters} == set(DEADLY), f"seed={seed}"
        assert set(SEEN) == {*range(400)} - set(DEADLY), f"seed={seed}"
