"""First fit decreasing: the fewest containers by the classic heuristic (heron/packing FirstFitDecreasingPacking)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ouzel.errors import PlanError
from ouzel.planner.packing.capacity import Capacity
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.packing.repacking import change_plan
from ouzel.planner.topology import Task, Topology


@dataclass
class FirstFitDecreasing:
    """Puts the largest instances first, each into the first container with room; each container is as large as its own instances need."""

    def initialize(self, topology: Topology) -> None:
        """Take the topology and its limits."""
        self.topology, self.capacity = topology, Capacity.of(topology)

    def pack(self) -> PackingPlan:
        """First fit by container id; a new container when none has room, or its share of a fixed number of containers."""
        tasks = self.capacity.largest_first(self.topology.tasks())
        self.capacity.check_each_fits(tasks)
        asked = self.topology.settings.containers
        share = -(-len(tasks) // asked) if asked else len(tasks)
        filled: list[list[Task]] = []
        for task in tasks:
            open_to = (
                members for members in filled if len(members) < share and self.capacity.has_room_for([*members, task])
            )
            room = next(open_to, None)
            if room is None:
                filled.append(room := [])
            room.append(task)
        if asked and len(filled) > asked:
            raise PlanError(
                f"{len(tasks)} instances need {len(filled)} containers, not {asked}; set containers to {len(filled)}"
            )
        return PackingPlan(tuple(self.capacity.container(number, part) for number, part in enumerate(filled, 1)))

    def repack(self, current: PackingPlan, changes: Mapping[str, int]) -> PackingPlan:
        """Keep every placement; new instances go to the first container with room."""

        def first(open_to: Sequence[list[Task]]) -> list[Task]:
            return open_to[0]

        return change_plan(current, changes, self.capacity, first)

    def close(self) -> None:
        """Nothing is held."""
