"""Round robin: instances dealt one by one to the containers (Heron's default; heron/packing RoundRobinPacking)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ouzel.errors import PlanError
from ouzel.planner.packing.capacity import Capacity
from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.packing.repacking import change_plan
from ouzel.planner.topology import Resources, Task, Topology


@dataclass
class RoundRobin:
    """Deals the largest instances first. Containers are alike: each is as large as the largest needs to be."""

    def initialize(self, topology: Topology) -> None:
        """Take the topology and its limits."""
        self.topology, self.capacity = topology, Capacity.of(topology)

    def pack(self) -> PackingPlan:
        """Deal to as many containers as the settings say; else to the fewest that keep within the limits."""
        tasks = self.capacity.largest_first(self.topology.tasks())
        self.capacity.check_each_fits(tasks)
        asked = self.topology.settings.containers
        if asked > len(tasks):
            raise PlanError(
                f"{asked} containers for {len(tasks)} instances: some would be empty; set containers to at most {len(tasks)}"
            )
        for count in [asked] if asked else range(1, len(tasks) + 1):
            dealt = [tasks[first::count] for first in range(count)]
            if all(map(self.capacity.has_room_for, dealt)):
                return _alike([self.capacity.container(number, part) for number, part in enumerate(dealt, 1)])
        raise PlanError(
            f"{len(tasks)} instances do not fit into {asked} containers; set containers higher, or to 0 to have them counted"
        )

    def repack(self, current: PackingPlan, changes: Mapping[str, int]) -> PackingPlan:
        """Keep every placement; new instances go to the emptiest container with room."""

        def emptiest(open_to: Sequence[list[Task]]) -> list[Task]:
            return min(open_to, key=len)

        return _alike(change_plan(current, changes, self.capacity, emptiest).containers)

    def close(self) -> None:
        """Nothing is held."""


def _alike(containers: Sequence[Container]) -> PackingPlan:
    cpu = max((container.resources.cpu for container in containers), default=0.0)
    ram_mb = max((container.resources.ram_mb for container in containers), default=0)
    return PackingPlan(tuple(replace(container, resources=Resources(cpu, ram_mb)) for container in containers))
