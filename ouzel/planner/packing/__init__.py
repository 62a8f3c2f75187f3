"""Packing: which task lives in which container. A policy is a class behind `plan.Packing` and one line in POLICIES."""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import replace

from ouzel.errors import PlanError
from ouzel.planner.packing.first_fit_decreasing import FirstFitDecreasing
from ouzel.planner.packing.plan import Packing, PackingPlan
from ouzel.planner.packing.round_robin import RoundRobin
from ouzel.planner.topology import Task, Topology

POLICIES: dict[str, type[Packing]] = {
    "first-fit-decreasing": FirstFitDecreasing,
    "round-robin": RoundRobin,
}


def policy(topology: Topology) -> Packing:
    """The topology's packing policy, initialized.

    Raises:
        PlanError: its settings name none that exists.
    """
    name = topology.settings.packing
    if name not in POLICIES:
        near = difflib.get_close_matches(name, POLICIES, 1) or [" or ".join(POLICIES)]
        raise PlanError(f"there is no packing '{name}'; write {near[0]}")
    chosen = POLICIES[name]()
    chosen.initialize(topology)
    return chosen


def pack(topology: Topology) -> PackingPlan:
    """The packing plan for a topology as submitted.

    Raises:
        PlanError: an instance fits into no container, or there is no such policy.
    """
    chosen = policy(topology)
    try:
        return chosen.pack()
    finally:
        chosen.close()


def repack(topology: Topology, current: PackingPlan) -> PackingPlan:
    """The packing plan for a topology that takes the place of one that is packed so: what stays is not moved.

    A task is known by its component and its place in it; ids are those of the new topology. A container that is left empty goes.

    Raises:
        PlanError: an instance fits into no container, or there is no such policy.
    """
    wanted = {component.name: component.parallelism for component in topology.components}
    left = [
        replace(one, tasks=tuple(task for task in one.tasks if task.component in wanted)) for one in current.containers
    ]
    stays = PackingPlan(tuple(container for container in left if container.tasks))
    if not stays.containers:
        return pack(topology)
    packed = Counter(task.component for container in stays.containers for task in container.tasks)
    changes = {name: tasks - packed[name] for name, tasks in wanted.items() if tasks != packed[name]}
    chosen = policy(topology)
    try:
        changed = chosen.repack(stays, changes)
    finally:
        chosen.close()
    ids = {(task.component, task.index): task for task in topology.tasks()}
    return PackingPlan(
        tuple(
            replace(one, tasks=tuple(sorted((ids[task.component, task.index] for task in one.tasks), key=_by_id)))
            for one in changed.containers
        )
    )


def _by_id(task: Task) -> int:
    return task.id
