"""What fits into a container: its limits, and the share that its own processes take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ouzel.errors import PlanError
from ouzel.planner.packing.plan import Container
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Resources, Task, Topology

PADDING = Resources(cpu=1.0, ram_mb=1024)
"""Least share of a container's own processes: stream manager, metrics manager, executor (Heron's default)."""

PADDING_PERCENT = 10
"""Their share of a large container, if that is more."""

INSTANCES_MAX = 8
"""Most instances of a container whose number was left to the planner."""


def total(parts: Iterable[Resources]) -> Resources:
    """The sum of resources."""
    parts = list(parts)
    return Resources(sum(part.cpu for part in parts), sum(part.ram_mb for part in parts))


def add_padding(used: Resources) -> Resources:
    """What a container needs in all, when its instances need `used`."""
    cpu = max(PADDING.cpu, used.cpu * PADDING_PERCENT / 100)
    ram_mb = max(PADDING.ram_mb, -(-used.ram_mb * PADDING_PERCENT // 100))
    return Resources(used.cpu + cpu, used.ram_mb + ram_mb)


@dataclass(frozen=True)
class Capacity:
    """The limits of every container of one topology, and what each component's instances ask."""

    asks: Mapping[str, Resources]
    cpu: float
    ram_mb: int
    instances: int

    @staticmethod
    def of(topology: Topology) -> Capacity:
        """The limits that the topology's settings give. A fixed number of containers lifts the limit on instances."""
        settings: Settings = topology.settings
        asks = {component.name: component.resources for component in topology.components}
        most = sum(component.parallelism for component in topology.components) if settings.containers else INSTANCES_MAX
        return Capacity(asks, settings.container_cpu, settings.container_ram_mb, most)

    def needs(self, tasks: Iterable[Task]) -> Resources:
        """Resources of a container with these tasks, padding included."""
        return add_padding(total(self.asks[task.component] for task in tasks))

    def has_room_for(self, tasks: Iterable[Task]) -> bool:
        """Whether one container may have these tasks."""
        tasks = list(tasks)
        needed = self.needs(tasks)
        fits_cpu = not self.cpu or needed.cpu <= self.cpu
        return fits_cpu and (not self.ram_mb or needed.ram_mb <= self.ram_mb) and len(tasks) <= self.instances

    def container(self, number: int, tasks: Iterable[Task]) -> Container:
        """Container `number` with these tasks, by id."""
        ordered = tuple(sorted(tasks, key=lambda task: task.id))
        return Container(number, ordered, self.needs(ordered))

    def check_each_fits(self, tasks: Iterable[Task]) -> None:
        """Refuse a task that would not even fit into a container of its own.

        Raises:
            PlanError: naming its component and what it lacks.
        """
        for task in tasks:
            if not self.has_room_for([task]):
                needed = self.needs([task])
                raise PlanError(
                    f"an instance of '{task.component}' fits into no container: with the container's own processes it needs "
                    f"{needed.cpu:g} CPU and {needed.ram_mb} MB, and one may have {self._limits()}; raise container.cpu or container.ram.mb"
                )

    def _limits(self) -> str:
        cpu = f"{self.cpu:g} CPU" if self.cpu else "any CPU"
        return f"{cpu} and {self.ram_mb} MB" if self.ram_mb else f"{cpu} and any memory"

    def largest_first(self, tasks: Iterable[Task]) -> list[Task]:
        """Tasks by the memory they ask, most first; equal ones stay in order."""
        return sorted(tasks, key=lambda task: -self.asks[task.component].ram_mb)
