"""Whether a packing plan asks more of a machine than its cores can give: far more tasks than cores is said, and is no error."""

from __future__ import annotations

from ouzel.planner.packing.plan import PackingPlan

CROWDED = 16
"""Tasks for each core beyond which something is said: see docs/operations.md#how-many-tasks-a-machine-carries."""

_OF_A_CONTAINER = 3
"""An executor, a stream manager and a metrics manager."""

_OF_THE_RUN = 3
"""The warm server, the topology master and its executor."""


def count_processes(packing: PackingPlan) -> int:
    """How many processes run a topology that is packed so."""
    tasks = sum(len(container.tasks) for container in packing.containers)
    return tasks + _OF_A_CONTAINER * len(packing.containers) + _OF_THE_RUN


def describe_crowding(packing: PackingPlan, cores: int) -> str:
    """What to say of a plan with far more tasks than a machine has cores; empty if it has not."""
    tasks = sum(len(container.tasks) for container in packing.containers)
    if tasks <= CROWDED * cores:
        return ""
    here = f"{tasks:,} tasks in {count_processes(packing):,} processes on {cores} core{'' if cores == 1 else 's'}"
    return (
        f"{here}: each waits for its turn, so the answer comes later than with fewer; "
        f"write SET 'parallelism' = '{cores}', or less in the PARALLELISM hints"
    )
