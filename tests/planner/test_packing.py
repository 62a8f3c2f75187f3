"""Packing: laws for any topology, then what users see."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.compiler.plan import Program
from ouzel.errors import PlanError
from ouzel.explain import explain
from ouzel.planner.packing import POLICIES, pack, policy
from ouzel.planner.packing.capacity import INSTANCES_MAX, add_padding
from ouzel.planner.packing.crowding import CROWDED, describe_crowding
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.settings import Settings
from ouzel.planner.topology import Component, Resources, Task, Topology
from ouzel.runtime.process.usage import count_cores

policies = pytest.mark.parametrize("name", sorted(POLICIES))


def made(parallelism: dict[str, int], resources: Resources = Resources(), **settings: object) -> Topology:
    components = tuple(Component(name, count, (), (), resources=resources) for name, count in parallelism.items())
    return Topology("t", components, Settings(**settings))  # type: ignore[arg-type]


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    sizes = st.builds(Resources, st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from([256, 1024, 3000]))
    counts = draw(st.lists(st.tuples(st.integers(1, 9), sizes), min_size=1, max_size=5))
    components = tuple(Component(f"c{at}", count, (), (), resources=size) for at, (count, size) in enumerate(counts))
    limits = {
        "container_cpu": draw(st.sampled_from([0.0, 4.0, 9.0])),
        "container_ram_mb": draw(st.sampled_from([0, 5000])),
    }
    return Topology("t", components, Settings(packing=draw(st.sampled_from(sorted(POLICIES))), **limits))


def placed(plan: PackingPlan) -> dict[int, int]:
    return {task.id: container.id for container in plan.containers for task in container.tasks}


def tasks(plan: PackingPlan) -> list[Task]:
    return sorted((task for container in plan.containers for task in container.tasks), key=lambda task: task.id)


def check_limits(plan: PackingPlan, topology: Topology) -> None:
    settings = topology.settings
    for container in plan.containers:
        used = [topology.component(task.component).resources for task in container.tasks]
        needed = add_padding(Resources(sum(part.cpu for part in used), sum(part.ram_mb for part in used)))
        assert 0 < len(container.tasks) <= INSTANCES_MAX
        assert needed.cpu <= container.resources.cpu <= (settings.container_cpu or 1e9)
        assert needed.ram_mb <= container.resources.ram_mb <= (settings.container_ram_mb or 1e9)
    assert [container.id for container in plan.containers] == sorted({container.id for container in plan.containers})


@given(topologies())
def test_every_task_is_in_exactly_one_container_within_its_limits(topology: Topology) -> None:
    plan = pack(topology)
    assert tuple(tasks(plan)) == topology.tasks()
    check_limits(plan, topology)
    assert [container.id for container in plan.containers] == list(range(1, len(plan.containers) + 1))


@given(topologies(), st.data())
def test_repacking_moves_nothing_that_stays(topology: Topology, data: st.DataObject) -> None:
    packing = policy(topology)
    before = packing.pack()
    changes = {
        part.name: data.draw(st.integers(1 - part.parallelism, 6), label=part.name)
        for part in topology.components
        if data.draw(st.booleans())
    }
    after = packing.repack(before, changes)
    check_limits(after, topology)
    kept = placed(before).keys() & placed(after).keys()
    assert all(placed(before)[task] == placed(after)[task] for task in kept)
    for part in topology.components:
        count = part.parallelism + changes.get(part.name, 0)
        mine = [task for task in tasks(after) if task.component == part.name]
        assert [task.index for task in mine] == list(range(count)), "indexes stay without holes, in the order of ids"
        assert len([task for task in mine if task.id in kept]) == min(count, part.parallelism)


@given(topologies())
def test_first_fit_decreasing_opens_no_container_too_many(topology: Topology) -> None:
    plan = pack(
        Topology("t", topology.components, topology.settings.with_values([("packing", "first-fit-decreasing")]))
    )
    for at, container in enumerate(plan.containers):
        first = container.tasks[0]
        for earlier in plan.containers[:at]:
            used = [topology.component(task.component).resources for task in (*earlier.tasks, first)]
            needed = add_padding(Resources(sum(part.cpu for part in used), sum(part.ram_mb for part in used)))
            limits = topology.settings
            full = len(earlier.tasks) == INSTANCES_MAX
            over = (limits.container_cpu and needed.cpu > limits.container_cpu) or (
                limits.container_ram_mb and needed.ram_mb > limits.container_ram_mb
            )
            smaller = any(
                topology.component(task.component).resources.ram_mb
                < topology.component(first.component).resources.ram_mb
                for task in earlier.tasks
            )
            assert full or over or smaller


def test_round_robin_deals_one_by_one() -> None:
    plan = pack(made({"spout": 2, "bolt": 3}, containers=2))
    assert placed(plan) == {1: 1, 2: 2, 3: 1, 4: 2, 5: 1}
    assert {container.resources for container in plan.containers} == {Resources(4.0, 4096)}, (
        "all as large as the largest"
    )


def test_first_fit_fills_the_first_container_first() -> None:
    plan = pack(made({"spout": 2, "bolt": 3}, packing="first-fit-decreasing", container_cpu=4))
    assert placed(plan) == {1: 1, 2: 1, 3: 1, 4: 2, 5: 2}
    assert [container.resources.cpu for container in plan.containers] == [4.0, 3.0]


@policies
def test_a_fixed_number_of_containers(name: str) -> None:
    plan = pack(made({"a": 20, "b": 4}, packing=name, containers=3))
    assert [len(container.tasks) for container in plan.containers] == [8, 8, 8]


@policies
def test_eight_instances_to_a_container(name: str) -> None:
    assert [len(container.tasks) for container in pack(made({"a": 8}, packing=name)).containers] == [8]
    assert len(pack(made({"a": 9}, packing=name)).containers) == 2


@policies
def test_an_instance_that_fits_nowhere(name: str) -> None:
    with pytest.raises(
        PlanError,
        match=re.escape("'big' fits into no container: with the container's own processes it needs 5 CPU and 2048 MB"),
    ):
        pack(made({"big": 1}, Resources(4.0, 1024), packing=name, container_cpu=4))


@policies
def test_too_few_containers(name: str) -> None:
    with pytest.raises(PlanError, match="instances"):
        pack(made({"a": 6}, packing=name, containers=2, container_cpu=3))


def test_more_containers_than_instances() -> None:
    with pytest.raises(
        PlanError, match="4 containers for 3 instances: some would be empty; set containers to at most 3"
    ):
        pack(made({"a": 3}, containers=4))


def test_an_unknown_policy() -> None:
    with pytest.raises(PlanError, match="there is no packing 'round-robbin'; write round-robin"):
        pack(made({"a": 1}, packing="round-robbin"))


@policies
def test_a_repack_that_cannot_be(name: str) -> None:
    packing = policy(made({"a": 2}, packing=name))
    plan = packing.pack()
    with pytest.raises(PlanError, match="there is no component 'b'; there are a"):
        packing.repack(plan, {"b": 1})
    with pytest.raises(PlanError, match="'a' has 2 tasks; 2 fewer would leave none"):
        packing.repack(plan, {"a": -2})


@policies
def test_a_container_left_empty_goes(name: str) -> None:
    packing = policy(made({"a": 9, "b": 1}, packing=name))
    plan = packing.repack(packing.pack(), {"a": -8})
    assert sum(len(container.tasks) for container in plan.containers) == 2
    assert all(container.tasks for container in plan.containers)


def test_new_ids_come_after_all_others() -> None:
    packing = policy(made({"a": 1, "b": 1}))
    plan = packing.repack(packing.pack(), {"a": 1})
    assert tasks(plan) == [Task(1, "a", 0), Task(2, "b", 0), Task(3, "a", 1)]


def test_far_more_tasks_than_cores_is_said_with_its_figure_and_what_to_write() -> None:
    topology = made({"a": 150, "b": 151})
    said = describe_crowding(pack(topology), 2)
    assert said.startswith("301 tasks in 418 processes on 2 cores: ")
    assert "SET 'parallelism' = '2'" in said
    assert said in " ".join(explain(Program((), ()), topology, pack(topology), ("packing",), cores=2).split())
    fits = made({"a": CROWDED * 2})
    assert describe_crowding(pack(fits), 2) == ""
    assert describe_crowding(pack(fits), 1).startswith("32 tasks in 47 processes on 1 core: ")


def test_cores_are_those_that_a_control_group_gives(tmp_path: Path) -> None:
    quota, all_of_them = tmp_path / "cpu.max", count_cores(tmp_path / "none")
    for text, cores in (("max 100000", all_of_them), ("50000 100000", 1), ("100000 100000", 1), ("", all_of_them)):
        quota.write_text(text)
        assert count_cores(quota) == cores
