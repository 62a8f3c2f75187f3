"""A packing plan: which tasks live in which container, and what each container needs (Heron's Resource Manager, ICDE 2017, section IV)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ouzel.planner.topology import Resources, Task, Topology


@dataclass(frozen=True)
class Container:
    """One container: id counts from 1 (0 is the topology master's), `resources` include the padding for its own processes."""

    id: int
    tasks: tuple[Task, ...]
    resources: Resources


@dataclass(frozen=True)
class PackingPlan:
    """All containers, by id."""

    containers: tuple[Container, ...]

    def container_of(self, task: int) -> Container:
        """The container that holds the task.

        Raises:
            KeyError: none does.
        """
        for container in self.containers:
            if any(member.id == task for member in container.tasks):
                return container
        raise KeyError(task)


class Packing(Protocol):
    """A packing policy, as in Heron's IPacking and IRepacking."""

    def initialize(self, topology: Topology) -> None:
        """Called once before anything else."""

    def pack(self) -> PackingPlan:
        """A plan for the topology as submitted.

        Raises:
            PlanError: some instance fits into no container.
        """

    def repack(self, current: PackingPlan, changes: Mapping[str, int]) -> PackingPlan:
        """A plan with `changes` (component -> more or fewer tasks) that moves as few tasks as possible."""

    def close(self) -> None:
        """Let go of everything."""
