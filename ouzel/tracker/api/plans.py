"""The plans of a topology in Heron's shapes. Nothing here asks anybody: all comes from a snapshot."""

from __future__ import annotations

from importlib.metadata import version

from ouzel.planner.settings import Settings, setting_docs, shown_setting
from ouzel.planner.topology import Component, Resources
from ouzel.tracker.api.models import (
    BoltInput,
    BoltShape,
    ComponentConfig,
    Config,
    ContainerPlan,
    InstanceResources,
    LogicalPlan,
    PackedInstance,
    PackingPlanShape,
    PhysicalInstance,
    PhysicalPlanShape,
    PhysicalStreamManager,
    SpoutShape,
    StreamName,
)
from ouzel.tracker.pages.drawing import stages_of
from ouzel.tracker.topologies.snapshot import TopologySnapshot

UNKNOWN = "NA"
"""What Heron says where a spout does not say what it reads."""


def release() -> str:
    """The version of Ouzel."""
    return version("ouzel")


def config_of(settings: Settings) -> Config:
    """All settings of a run, by key, as text."""
    return {key: shown_setting(settings, field) for key, field, _ in setting_docs()}


def logical_plan(snapshot: TopologySnapshot) -> LogicalPlan:
    """Its components and streams."""
    components = snapshot.job.topology.components
    return LogicalPlan(
        stages=max(stages_of(components).values(), default=0),
        spouts={part.name: _spout(part) for part in components if part.is_spout},
        bolts={part.name: _bolt(part) for part in components if not part.is_spout},
    )


def _spout(part: Component) -> SpoutShape:
    return SpoutShape(
        config=_component_config(part),
        spout_type="default",
        spout_source=UNKNOWN,
        version=UNKNOWN,
        outputs=_outputs(part),
    )


def _bolt(part: Component) -> BoltShape:
    inputs = [
        BoltInput(stream_name=one.stream, component_name=one.component, grouping=str(one.grouping))
        for one in part.inputs
    ]
    return BoltShape(
        config=_component_config(part),
        outputs=_outputs(part),
        inputs=inputs,
        inputComponents=list(dict.fromkeys(one.component for one in part.inputs)),
    )


def _outputs(part: Component) -> list[StreamName]:
    return [StreamName(stream_name=one.stream) for one in part.outputs]


def _component_config(part: Component) -> Config:
    return {"topology.component.parallelism": str(part.parallelism)}


def packing_plan(snapshot: TopologySnapshot) -> PackingPlanShape:
    """Which task is packed into which container. No disk is asked for, so none is told."""
    containers = []
    for container in snapshot.job.packing.containers:
        instances = [
            PackedInstance(
                component_name=task.component,
                task_id=task.id,
                component_index=task.index,
                instance_resources=_resources(snapshot.job.topology.component(task.component).resources),
            )
            for task in container.tasks
        ]
        needed = _resources(container.resources)
        containers.append(
            ContainerPlan(id=container.id, instances=instances, required_resources=needed, scheduled_resources=needed)
        )
    return PackingPlanShape(id=snapshot.job.id, container_plans=containers)


def _resources(asked: Resources) -> InstanceResources:
    return InstanceResources(cpu=asked.cpu, ram=asked.ram_bytes, disk=0)


def physical_plan(snapshot: TopologySnapshot) -> PhysicalPlanShape:
    """Which instance is where, and which process it is."""
    job, components = snapshot.job, snapshot.job.topology.components
    ids = {part.name: list[str]() for part in components}
    for task in job.topology.tasks():
        ids[task.component].append(snapshot.instance_id(task))
    groups = {
        f"container_{one.id}": [snapshot.instance_id(task) for task in one.tasks] for one in job.packing.containers
    }
    return PhysicalPlanShape(
        instances=_instances(snapshot),
        instance_groups=groups,
        stmgrs={f"stmgr-{one.id}": _stream_manager(snapshot, one.id, groups) for one in job.packing.containers},
        spouts={part.name: ids[part.name] for part in components if part.is_spout},
        bolts={part.name: ids[part.name] for part in components if not part.is_spout},
        config=config_of(job.topology.settings),
        components={part.name: ComponentConfig(config=_component_config(part)) for part in components},
    )


def _instances(snapshot: TopologySnapshot) -> dict[str, PhysicalInstance]:
    found = {}
    for container in snapshot.job.packing.containers:
        for task in container.tasks:
            name = snapshot.instance_id(task)
            log = str(snapshot.home / f"container-{container.id}" / f"instance-{task.id}.log")
            found[name] = PhysicalInstance(id=name, name=task.component, stmgr_id=f"stmgr-{container.id}", logfile=log)
    return found


def _stream_manager(snapshot: TopologySnapshot, container: int, groups: dict[str, list[str]]) -> PhysicalStreamManager:
    process = snapshot.processes.get(container, {}).get("stream-manager")
    folder = str(snapshot.home / f"container-{container}")
    return PhysicalStreamManager(
        id=f"stmgr-{container}",
        host=snapshot.host,
        port=0,
        shell_port=0,
        cwd=folder,
        pid=process.pid if process else 0,
        joburl="",
        logfiles=folder,
        instance_ids=groups[f"container_{container}"],
    )
