"""Where a topology runs: schedulers, and the state manager that outlives processes."""

from __future__ import annotations

from typing import Protocol

from ouzel.planner.packing.plan import PackingPlan
from ouzel.runtime.process.job import RunDescription


class Scheduler(Protocol):
    """Starts, restarts and ends the containers of one topology (Heron's IScheduler: Fu et al., ICDE 2017, section IV)."""

    def initialize(self, job: RunDescription) -> None:
        """Called once before anything else."""

    def on_schedule(self, plan: PackingPlan) -> None:
        """Start the containers of the plan, and the topology master's."""

    def on_kill(self) -> None:
        """End all containers."""

    def on_restart(self, container: int | None = None) -> None:
        """End one container, or all of them, and start it again."""

    def on_update(self, current: PackingPlan, proposed: PackingPlan) -> None:
        """Move from one plan to another with as few containers touched as possible."""

    def close(self) -> None:
        """Let go of everything; containers run on."""
