"""Changing a packing plan by least disruption: nothing that stays is moved, and no task changes its id."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ouzel.errors import PlanError
from ouzel.planner.packing.capacity import Capacity
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Task

Choice = Callable[[Sequence[list[Task]]], list[Task]]
"""Which of the containers with room takes the next task; they come by id."""


def change_plan(current: PackingPlan, changes: Mapping[str, int], capacity: Capacity, choose: Choice) -> PackingPlan:
    """The plan with `changes` (component -> how many tasks more or, if negative, fewer).

    Removed are a component's tasks with the highest indexes, so that indexes stay 0 to n - 1 and state is split as for n tasks;
    a container left empty goes too. Added tasks get ids above all others, go where there is room as `choose` says, then to new containers.

    Raises:
        PlanError: a component is unknown, would keep no task, or has an instance that fits nowhere.
    """
    placed = {container.id: list(container.tasks) for container in current.containers}
    _check(placed, changes, capacity)
    for component, change in changes.items():
        _remove(placed, component, -change)
    added = _list_added(current, changes)
    capacity.check_each_fits(added)
    for task in capacity.largest_first(added):
        _place(placed, task, capacity, choose)
    return PackingPlan(tuple(capacity.container(number, tasks) for number, tasks in placed.items() if tasks))


def _check(placed: Mapping[int, list[Task]], changes: Mapping[str, int], capacity: Capacity) -> None:
    for component, change in changes.items():
        count = sum(task.component == component for tasks in placed.values() for task in tasks)
        if component not in capacity.asks:
            raise PlanError(f"there is no component '{component}'; there are {', '.join(sorted(capacity.asks))}")
        if count + change < 1:
            raise PlanError(f"'{component}' has {count} tasks; {-change} fewer would leave none")


def _remove(placed: Mapping[int, list[Task]], component: str, count: int) -> None:
    members = [task for tasks in placed.values() for task in tasks if task.component == component]
    leaving = sorted(members, key=lambda task: -task.index)[: max(count, 0)]
    for tasks in placed.values():
        tasks[:] = [task for task in tasks if task not in leaving]


def _list_added(current: PackingPlan, changes: Mapping[str, int]) -> list[Task]:
    tasks = [task for container in current.containers for task in container.tasks]
    added: list[Task] = []
    for component, change in changes.items():
        first = sum(task.component == component for task in tasks)
        next_id = max(task.id for task in [*tasks, *added]) + 1
        added.extend(Task(next_id + number, component, first + number) for number in range(max(change, 0)))
    return added


def _place(placed: dict[int, list[Task]], task: Task, capacity: Capacity, choose: Choice) -> None:
    open_to = [tasks for tasks in placed.values() if capacity.has_room_for([*tasks, task])]
    if open_to:
        choose(open_to).append(task)
    else:
        placed[max(placed) + 1] = [task]
