"""A run that follows a script, for tests of what the command line makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from ouzel.compiler.catalog import GIVEN_ROWS
from ouzel.compiler.plan import Program, Scan, Sink, SinkMode
from ouzel.compiler.types import Schema
from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Component, Resources, Topology
from ouzel.runtime.run import RowIteration, RunState, Status
from ouzel.session import Job
from tests.planner.plans import write_traits


class FakeHandle(RowIteration):
    """Gives one list of frames at each look, then ends in `end`; counts how often it was stopped."""

    def __init__(self, looks: Sequence[list[pl.DataFrame]], end: Status = Status(RunState.FINISHED)) -> None:
        self.looks, self.last, self.stops = list(looks), end, 0
        self.rows_in = 0
        self.ended = False

    def results(self) -> list[pl.DataFrame]:
        """The frames of the next look."""
        frames = self.looks.pop(0) if self.looks else []
        self.rows_in += sum(frame.height for frame in frames)
        return frames

    def status(self) -> Status:
        """Running while there are looks left."""
        if self.stops:
            return replace(self.last, state=RunState.STOPPED, rows_in=self.rows_in)
        return self.last if not self.looks else Status(RunState.RUNNING, rows_in=self.rows_in)

    def wait(self, timeout_s: float | None = None) -> bool:
        """At once; ended when the last look is on."""
        return len(self.looks) <= 1

    def wait_for_results(self, timeout_s: float | None = None) -> bool:
        """At once, too."""
        return self.wait(timeout_s)

    def fresh_status(self, timeout_s: float) -> Status:
        """As it is."""
        return self.status()

    def pause(self, timeout_s: float) -> Status:
        """It goes on by looks alone."""
        return self.status()

    def resume(self) -> None:
        """It never paused."""

    def drain(self) -> None:
        """What is left still comes."""
        self.stops += 1

    def end(self) -> Status:
        """Nothing more comes."""
        self.looks.clear()
        self.stops += 1
        self.ended = True
        return self.status()

    def stop(self) -> Status:
        """Stopped, unless it had ended."""
        if self.looks:
            self.stops += 1
        return self.status()


def job(schema: Schema, explain: tuple[str, ...] | None = None, connector: str = "result") -> Job:
    """A job whose only sink has these columns."""
    scan = Scan("t", "memory", (), schema, traits=GIVEN_ROWS)
    sink = Sink(scan, "result", connector, (), SinkMode.RETRACT, columns=schema, traits=write_traits(connector))
    topology = Topology("fake", (Component("t", 1, (), (), (scan, sink)),), Settings())
    packing = PackingPlan((Container(1, topology.tasks(), Resources()),))
    return Job("", Path("."), Program((sink,), explain=explain), topology, packing)
