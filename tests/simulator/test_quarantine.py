"""A row that kills whoever handles it is found, and refused as `error.policy` says; all other rows are handled once."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from ouzel.errors import TopologyError
from ouzel.planner.api import BasicBolt, TopologyBuilder, schema
from ouzel.planner.settings import BadRecordPolicy, Settings
from ouzel.planner.topology import Topology
from ouzel.runtime.operators.chain import Chain, Streams
from ouzel.runtime.simulator import simulate
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.world import Death
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


def test_a_batch_that_kills_a_bolt_is_put_aside() -> None:
    topology = with_a_bolt_that_dies(BadRecordPolicy.SKIP)
    for seed in seeds():
        SEEN.clear()
        done = simulate(topology, in_two_containers(topology), Path(), seed=seed, faults=SURVIVABLE)
        spout_died = any("(numbers) killed" in fault for fault in done.faults)
        assert spout_died or set(SEEN) == {*range(NUMBERS)} - {13}, f"seed={seed}: {done.faults}"
        assert any(event.kind == "bad-record" for event in done.events) or spout_died


def test_a_batch_that_kills_a_bolt_fails_the_topology() -> None:
    topology = with_a_bolt_that_dies(BadRecordPolicy.FAIL)
    with pytest.raises(
        TopologyError, match=r"dies: bad record: a batch of 1 rows .* ends the process of 'dies'.*\"n\": 13"
    ):
        simulate(topology, in_two_containers(topology), Path())
