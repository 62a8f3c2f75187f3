"""A topology as a tracker sees it, made by hand: nothing of it runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.topology import Component, Grouping, GroupingKind, Input, Resources, Topology
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.protocol.cluster.processes import ProcessEntry
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.runtime.protocol.messages import Event, Waiting
from ouzel.runtime.run import RunState, Status
from ouzel.tracker.topologies.snapshot import TopologySnapshot

EVIL = """<script>alert("1")</script>'&amp;"""
"""A name of a component, which users choose."""


def reads(*components: str) -> tuple[Input, ...]:
    """The inputs of a bolt."""
    return tuple(Input(component, Grouping(GroupingKind.SHUFFLE)) for component in components)


def make_snapshot() -> TopologySnapshot:
    """Two spouts, a join of them with a bad name, and a sink that also reads a spout: four tasks in two containers."""
    components = (
        Component("left", 1, (), ()),
        Component("right", 1, (), ()),
        Component(EVIL, 1, reads("left", "right"), ()),
        Component("sink", 1, reads(EVIL, "right"), (), resources=Resources(0.5, 256)),
    )
    topology = Topology("made", components)
    one, two, three, four = topology.tasks()
    packing = PackingPlan(
        (Container(1, (one, three), Resources(3, 3072)), Container(2, (two, four), Resources(2, 2048)))
    )
    job = RunDescription("made-1", Path("/none/made"), Path("/none"), topology, packing)
    status = Status(
        RunState.RUNNING,
        rows_in=70,
        watermark_us=1_700_000_000_000_000,
        lag=12,
        events=(
            Event("bad-record", f"a record {EVIL}", 3, 3),
            Event("note", f"a note {EVIL}"),
            Event("restarted", "left died"),
        ),
        watermarks={"left": 1_700_000_000_000_000},
        waiting=(Waiting("left", EVIL, 0, "silent", 0, 0),),
    )
    processes = {1: {"stream-manager": ProcessEntry(71, 1, 0), "instance-1": ProcessEntry(72, 1, 0)}}
    running = {0: frozenset({"topology-master"}), 1: frozenset({"stream-manager", "instance-1"})}
    record = Submitted("made", "made-1", 1, Condition.RUNNING, 1_699_999_000_000_000, True)
    return TopologySnapshot(record, Condition.RUNNING, job, job.home, "somebody", "here", status, processes, running)


def interrupted() -> TopologySnapshot:
    """The same when all its processes were killed."""
    return replace(make_snapshot(), condition=Condition.INTERRUPTED, status=None, running={}, processes={})
