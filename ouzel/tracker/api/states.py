"""How a topology stands, in Heron's shapes. Nothing here asks anybody: all comes from a snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from ouzel.planner.topology import Task
from ouzel.runtime.cluster.submitted.asking import ToldFiles, list_kept_state, list_samples
from ouzel.runtime.observe.reconciled import ReconciliationSummary
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.protocol.messages import Event
from ouzel.tracker.api.models import (
    EpochShape,
    EpochStages,
    ExceptionLog,
    ExceptionSummary,
    ExecutionState,
    Metadata,
    OperatorStateShape,
    ReconciliationShape,
    Registration,
    RuntimeState,
    SampleShape,
    SchedulerLocation,
    TableStateShape,
    TopologyInfo,
)
from ouzel.tracker.api.plans import logical_plan, packing_plan, physical_plan, release
from ouzel.tracker.metrics.history import History
from ouzel.tracker.topologies.epochs import EpochSummary
from ouzel.tracker.topologies.happened import exceptions, find_times
from ouzel.tracker.topologies.kept_state import fold_states
from ouzel.tracker.topologies.snapshot import CLUSTER, ENVIRON, TopologySnapshot
from ouzel.tracker.topologies.state_sizes import list_operator_sizes
from ouzel.tracker.words import time_text

HERON_STATES = {Condition.RUNNING: "RUNNING", Condition.PAUSED: "PAUSED", Condition.STOPPING: "RUNNING"}
"""Heron's words for how a topology stands that has processes; of all others it says KILLED."""


def metadata(snapshot: TopologySnapshot) -> Metadata:
    """What is known of it that does not change while it runs. `submission_time` is when its present condition came."""
    return Metadata(
        cluster=CLUSTER,
        role=snapshot.user,
        environ=ENVIRON,
        jobname=snapshot.name,
        submission_time=snapshot.record.since_us // 1_000_000,
        submission_user=snapshot.user,
        release_username=snapshot.user,
        release_tag="",
        release_version=release(),
        instances=len(snapshot.job.topology.tasks()),
    )


def execution_state(snapshot: TopologySnapshot) -> ExecutionState:
    """Its metadata, and what of it is there."""
    return ExecutionState(
        **metadata(snapshot).model_dump(),
        has_physical_plan=snapshot.has_physical_plan,
        has_packing_plan=True,
        has_tmanager_location=snapshot.is_running(0, "topology-master"),
        has_scheduler_location=snapshot.is_alive,
        status=HERON_STATES.get(snapshot.condition, "KILLED"),
    )


def runtime_state(snapshot: TopologySnapshot) -> RuntimeState:
    """What of it is there. A stream manager counts as registered if it runs and all containers have reported."""
    stream_managers = {
        f"stmgr-{one.id}": Registration(
            is_registered=snapshot.has_physical_plan and snapshot.is_running(one.id, "stream-manager")
        )
        for one in snapshot.job.packing.containers
    }
    return RuntimeState(
        has_physical_plan=snapshot.has_physical_plan,
        has_packing_plan=True,
        has_tmanager_location=snapshot.is_running(0, "topology-master"),
        has_scheduler_location=snapshot.is_alive,
        release_version=release(),
        stmgrs=stream_managers,
    )


def scheduler_location(snapshot: TopologySnapshot) -> SchedulerLocation:
    """Where commands reach the topology's server: a socket in its job directory, and no HTTP."""
    return SchedulerLocation(name=snapshot.name, http_endpoint="", job_page_link="")


def topology_info(snapshot: TopologySnapshot) -> TopologyInfo:
    """All of it."""
    return TopologyInfo(
        id=snapshot.job.id,
        name=snapshot.name,
        logical_plan=logical_plan(snapshot),
        physical_plan=physical_plan(snapshot),
        packing_plan=packing_plan(snapshot),
        execution_state=execution_state(snapshot),
        metadata=metadata(snapshot),
        runtime_state=runtime_state(snapshot),
        scheduler_location=scheduler_location(snapshot),
    )


def exception_logs(snapshot: TopologySnapshot, component: str, instances: Iterable[str]) -> list[ExceptionLog]:
    """What has happened to the instances of a component; times are empty of what nobody noted them of."""
    return [
        ExceptionLog(
            hostname=snapshot.host,
            instance_id=snapshot.instance_id(task),
            stacktrace=event.text,
            lasttime=time_text(event.at_us) if event.at_us else "",
            firsttime=time_text(event.at_us) if event.at_us else "",
            count=str(event.count),
            logging=event.kind,
        )
        for task, event in _of_component(snapshot, component, frozenset(instances))
    ]


def exception_summary(snapshot: TopologySnapshot, component: str, instances: Iterable[str]) -> list[ExceptionSummary]:
    """How often each kind of thing has happened to the instances of a component."""
    kinds: dict[str, list[Event]] = {}
    for _, event in _of_component(snapshot, component, frozenset(instances)):
        kinds.setdefault(event.kind, []).append(event)
    return [_summary(kind, events) for kind, events in kinds.items()]


def epoch_shape(epoch: EpochSummary) -> EpochShape:
    """A complete epoch."""
    took = epoch.took
    slowest = EpochStages(task=epoch.slowest, **asdict(took)) if took else None
    return EpochShape(
        epoch=epoch.number, made_us=epoch.made_us, state=dict(epoch.state), keys=dict(epoch.keys), slowest=slowest
    )


def reconciliation_shape(summary: ReconciliationSummary) -> ReconciliationShape:
    """A reconciliation that is kept."""
    return ReconciliationShape(**asdict(summary), report=f"/reconciliations/{summary.id}/report")


def state_shapes(snapshot: TopologySnapshot, history: History, now_s: int) -> list[OperatorStateShape]:
    """How much its operators keep, and what was counted in their tables when rows were last sampled."""
    sizes = list_operator_sizes(snapshot, history, now_s)
    found = {(one.component, one.operator): OperatorStateShape(**asdict(one)) for one in sizes}
    for one in fold_states(list_kept_state(ToldFiles(snapshot.job))):
        unknown = OperatorStateShape(component=one.component, operator=one.operator, tasks=0)
        found.setdefault((one.component, one.operator), unknown).tables.append(TableStateShape(**asdict(one)))
    return list(found.values())


def sample_shapes(snapshot: TopologySnapshot) -> list[SampleShape]:
    """The rows that its tasks have sampled last."""
    return [
        SampleShape(instance=snapshot.instance_id(task), **asdict(sample))
        for task, sample in list_samples(ToldFiles(snapshot.job))
    ]


def _summary(kind: str, events: list[Event]) -> ExceptionSummary:
    first_us, last_us = find_times(events)
    return ExceptionSummary(
        class_name=kind,
        lasttime=(last_us or 0) // 1_000_000,
        firsttime=(first_us or 0) // 1_000_000,
        count=str(sum(event.count for event in events)),
    )


def _of_component(snapshot: TopologySnapshot, component: str, instances: frozenset[str]) -> list[tuple[Task, Event]]:
    return [
        (task, event)
        for task, event in exceptions(snapshot)
        if task and task.component == component and (not instances or snapshot.instance_id(task) in instances)
    ]
