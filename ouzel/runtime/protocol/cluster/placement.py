"""Where a topology's tasks are, and who sends rows to whom."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Task, Topology


@dataclass(frozen=True)
class Placement:
    """A topology and its packing plan, as the machines of the cluster look at them."""

    topology: Topology
    packing: PackingPlan

    @property
    def containers(self) -> frozenset[int]:
        """The ids of all containers but the topology master's."""
        return frozenset(one.id for one in self.packing.containers)

    def tasks_in(self, container: int) -> tuple[Task, ...]:
        """The tasks that live in a container."""
        return next((one.tasks for one in self.packing.containers if one.id == container), ())

    def places(self) -> dict[int, int]:
        """Task id to container."""
        return {task.id: one.id for one in self.packing.containers for task in one.tasks}

    def spouts(self) -> frozenset[int]:
        """The tasks that read."""
        return frozenset(task.id for task in self.topology.tasks() if self.topology.component(task.component).is_spout)

    def sinks(self) -> frozenset[int]:
        """The tasks of components whose streams nobody reads: when they have finished, so has the topology."""
        read = {link.component for part in self.topology.components for link in part.inputs}
        return frozenset(task.id for task in self.topology.tasks() if task.component not in read)

    def feeders(self) -> dict[int, tuple[int, ...]]:
        """Task id to the tasks whose rows it gets."""
        tasks = self.topology.tasks()
        upstream = {part.name: {link.component for link in part.inputs} for part in self.topology.components}
        return {task.id: tuple(one.id for one in tasks if one.component in upstream[task.component]) for task in tasks}

    def feeders_by_link(self, container: int) -> dict[int, tuple[int, ...]]:
        """By outgoing link of a container (a task's id, or minus another container's): the tasks that feed it from here or anywhere.

        A local task is fed by all its feeders; another container by the local tasks that feed any task there.
        """
        feeders, places = self.feeders(), self.places()
        local = {task.id for task in self.tasks_in(container)}
        by_link = {task: feeders[task] for task in local}
        for peer in self.containers - {container}:
            fed_from = {feeder for task, place in places.items() if place == peer for feeder in feeders[task]}
            by_link[-peer] = tuple(sorted(fed_from & local))
        return by_link

    def holders(self) -> dict[int, tuple[int, ...]]:
        """Task id to all tasks before it: who may hold what is on its way to it."""
        feeders = self.feeders()
        found: dict[int, tuple[int, ...]] = {}
        for task in feeders:
            before, todo = set[int](), list(feeders[task])
            while todo:
                if (one := todo.pop()) not in before:
                    before.add(one)
                    todo += feeders[one]
            found[task] = tuple(sorted(before))
        return found
