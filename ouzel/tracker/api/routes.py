"""Heron's URLs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import PlainTextResponse, StreamingResponse

from ouzel.errors import NotSupported, SubmissionError
from ouzel.runtime.observe.reconciled import KeptReconciliations
from ouzel.tracker.api import measuring, plans, stacks, states
from ouzel.tracker.api.models import (
    Config,
    EpochShape,
    ExceptionLog,
    ExceptionSummary,
    ExecutionState,
    FileData,
    FileStats,
    LegacyMetricsTimeline,
    LogicalPlan,
    Metadata,
    MetricsShape,
    MetricsTimeline,
    OperatorStateShape,
    PackingPlanShape,
    PhysicalPlanShape,
    QueryTimeline,
    ReconciliationShape,
    RuntimeState,
    SampleShape,
    SchedulerLocation,
    ShellResponse,
    TopologyInfo,
)
from ouzel.tracker.logs import files
from ouzel.tracker.topologies.epochs import list_epochs
from ouzel.tracker.topologies.snapshot import CLUSTER, ENVIRON, TopologySnapshot
from ouzel.tracker.topologies.watching import TopologyWatcher

router = APIRouter()

Clusters = Annotated[list[str], Query(default_factory=list, alias="cluster")]
Environs = Annotated[list[str], Query(default_factory=list, alias="environ")]
Topologies = Annotated[list[str], Query(default_factory=list, alias="topology")]
Instances = Annotated[list[str], Query(default_factory=list, alias="instance")]
MetricNames = Annotated[list[str], Query(default_factory=list, alias="metricname")]


def get_watcher(request: Request) -> TopologyWatcher:
    """The watcher of the application."""
    watcher: TopologyWatcher = request.app.state.watcher
    return watcher


AppWatcher = Annotated[TopologyWatcher, Depends(get_watcher)]


def find_snapshot(
    watcher: AppWatcher, cluster: str, environ: str, topology: str, role: str | None = None
) -> TopologySnapshot:
    """The topology that a request names.

    Raises:
        SubmissionError: there is none.
    """
    if (cluster, environ) != (CLUSTER, ENVIRON):
        raise SubmissionError(
            f"there is no environment '{cluster}/{environ}'; write cluster={CLUSTER} and environ={ENVIRON}"
        )
    snapshot = watcher.snapshot(topology)
    if role not in (None, "", snapshot.user):
        raise SubmissionError(f"topology '{topology}' is of '{snapshot.user}', not of '{role}'; leave out role")
    return snapshot


FoundTopology = Annotated[TopologySnapshot, Depends(find_snapshot)]


def _readable(
    watcher: TopologyWatcher, clusters: list[str], environs: list[str], role: str | None = None
) -> Iterator[TopologySnapshot]:
    if CLUSTER not in (clusters or [CLUSTER]) or ENVIRON not in (environs or [ENVIRON]):
        return
    for one in watcher.snapshots():
        if isinstance(one, TopologySnapshot) and role in (None, "", one.user):
            yield one


@router.get("/health", response_class=PlainTextResponse)
def get_health() -> str:
    """Whether this process answers."""
    return "ok"


@router.get("/clusters")
def get_clusters() -> list[str]:
    """The names of all clusters: one."""
    return [CLUSTER]


@router.get("/machines")
def get_machines(
    watcher: AppWatcher, cluster: Clusters, environ: Environs, topology: Topologies
) -> dict[str, dict[str, dict[str, list[str]]]]:
    """On which machines topologies run."""
    if topology and not (cluster and environ):
        raise SubmissionError("topology is given without cluster and environ; write all three, or leave it out")
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for one in _readable(watcher, cluster, environ):
        if not topology or one.name in topology:
            hosts = [one.host] if one.is_alive else []
            found.setdefault(CLUSTER, {}).setdefault(ENVIRON, {})[one.name] = hosts
    return found


@router.get("/topologies")
def get_topologies(
    watcher: AppWatcher, cluster: Clusters, environ: Environs, role: str | None = None
) -> dict[str, dict[str, dict[str, list[str]]]]:
    """The names of all topologies, by cluster, role and environment."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for one in _readable(watcher, cluster, environ, role):
        found.setdefault(CLUSTER, {}).setdefault(one.user, {}).setdefault(ENVIRON, []).append(one.name)
    return found


@router.get("/topologies/states")
def get_topology_states(
    watcher: AppWatcher, cluster: Clusters, environ: Environs, role: str | None = None
) -> dict[str, dict[str, dict[str, ExecutionState]]]:
    """How all topologies stand."""
    found: dict[str, dict[str, dict[str, ExecutionState]]] = {}
    for one in _readable(watcher, cluster, environ, role):
        found.setdefault(CLUSTER, {}).setdefault(ENVIRON, {})[one.name] = states.execution_state(one)
    return found


@router.get("/topologies/metadata")
def get_metadata(found: FoundTopology) -> Metadata:
    """The metadata of a topology: what does not change while it runs."""
    return states.metadata(found)


@router.get("/topologies/executionstate")
def get_execution_state(found: FoundTopology) -> ExecutionState:
    """Which parts of a topology are there."""
    return states.execution_state(found)


@router.get("/topologies/runtimestate")
def get_runtime_state(found: FoundTopology) -> RuntimeState:
    """Which of its processes have registered."""
    return states.runtime_state(found)


@router.get("/topologies/schedulerlocation")
def get_scheduler_location(found: FoundTopology) -> SchedulerLocation:
    """Where its scheduler is."""
    return states.scheduler_location(found)


@router.get("/topologies/packingplan")
def get_packing_plan(found: FoundTopology) -> PackingPlanShape:
    """Which task is packed into which container."""
    return plans.packing_plan(found)


@router.get("/topologies/logicalplan")
def get_logical_plan(found: FoundTopology) -> LogicalPlan:
    """Its components and streams."""
    return plans.logical_plan(found)


@router.get("/topologies/physicalplan")
def get_physical_plan(found: FoundTopology) -> PhysicalPlanShape:
    """Which instance is where."""
    return plans.physical_plan(found)


@router.get("/topologies/config")
def get_config(found: FoundTopology) -> Config:
    """Its settings."""
    return plans.config_of(found.job.topology.settings)


@router.get("/topologies/info")
def get_info(found: FoundTopology) -> TopologyInfo:
    """All plans and states of a topology in one answer."""
    return states.topology_info(found)


@router.get("/topologies/metrics")
def get_metrics(
    watcher: AppWatcher,
    found: FoundTopology,
    component: str,
    metricname: MetricNames,
    instance: Instances,
    interval: int = -1,
) -> MetricsShape:
    """Metrics over the last seconds, or over all time."""
    history = watcher.history(found)
    return measuring.metrics_now(found, history, component, metricname, instance, interval, int(time.time()))


@router.get("/topologies/metrics/timeline")
def get_metrics_timeline(
    watcher: AppWatcher,
    found: FoundTopology,
    component: str,
    starttime: int,
    endtime: int,
    metricname: MetricNames,
    instance: Instances,
) -> MetricsTimeline:
    """Metrics by minute."""
    return measuring.timeline(found, watcher.history(found), component, metricname, instance, starttime, endtime)


@router.get("/topologies/metricstimeline")
def get_legacy_metrics_timeline(
    told: Annotated[MetricsTimeline, Depends(get_metrics_timeline)],
) -> LegacyMetricsTimeline:
    """Metrics by minute, with values as text, as older clients want them."""
    texts = {
        metric: {name: {minute: str(value) for minute, value in points.items()} for name, points in rows.items()}
        for metric, rows in told.timeline.items()
    }
    return LegacyMetricsTimeline(
        component=told.component, starttime=told.starttime, endtime=told.endtime, timeline=texts
    )


@router.get("/topologies/metrics/query")
@router.get("/topologies/metricsquery")
def get_metrics_query(
    watcher: AppWatcher, found: FoundTopology, query: str, starttime: int, endtime: int
) -> QueryTimeline:
    """The answer to a query of metrics."""
    return measuring.answer_query(found, watcher.history(found), query, starttime, endtime)


@router.get("/topologies/exceptions")
def get_exceptions(found: FoundTopology, component: str, instance: Instances) -> list[ExceptionLog]:
    """What has happened to the instances of a component."""
    return states.exception_logs(found, component, instance)


@router.get("/topologies/exceptionsummary")
def get_exception_summary(found: FoundTopology, component: str, instance: Instances) -> list[ExceptionSummary]:
    """How often each thing has happened to the instances of a component."""
    return states.exception_summary(found, component, instance)


@router.get("/topologies/epochs")
def get_epochs(watcher: AppWatcher, found: FoundTopology) -> list[EpochShape]:
    """Its newest complete epochs, the newest first, and which task was slowest. Heron has no such address."""
    return [states.epoch_shape(each) for each in list_epochs(watcher.registry, found)]


@router.get("/topologies/reconciliations")
def get_reconciliations(watcher: AppWatcher, topology: Topologies) -> list[ReconciliationShape]:
    """The reconciliations that are kept, of queries of these names or of all, the newest first. Heron has no such address."""
    kept = KeptReconciliations(watcher.registry.home)
    return [states.reconciliation_shape(each) for each in kept.list_newest(topology or None)]


@router.get("/topologies/samples")
def get_samples(found: FoundTopology) -> list[SampleShape]:
    """The rows that its tasks have sampled last. Heron has no such address."""
    return states.sample_shapes(found)


@router.get("/topologies/state")
def get_state(watcher: AppWatcher, found: FoundTopology) -> list[OperatorStateShape]:
    """How much its operators keep: keys, rows, bytes, growth, and the largest keys as rows were last sampled. Heron has no such address."""
    return states.state_shapes(found, watcher.history(found), int(time.time()))


@router.get("/topologies/pid")
def get_pid(found: FoundTopology, instance: str) -> ShellResponse:
    """The process id of an instance."""
    return stacks.pid_of(found, instance)


@router.get("/topologies/jstack")
def get_jstack(found: FoundTopology, instance: str) -> ShellResponse:
    """The stacks of all threads of an instance."""
    return stacks.stacks_of(found, instance)


@router.get("/topologies/jmap")
@router.get("/topologies/histo")
def get_heap(found: FoundTopology, instance: str) -> ShellResponse:
    """What an instance has in memory: not supported."""
    raise NotSupported("a task writes no picture of its heap", instead="read its stacks with jstack")


@router.get("/topologies/container/filedata")
@router.get("/topologies/containerfiledata")
def get_file_data(found: FoundTopology, container: str, path: str, offset: int = -1, length: int = -1) -> FileData:
    """A part of a file."""
    return files.read_part(files.container_folder(found, container), path, offset, length)


@router.get("/topologies/container/filestats")
@router.get("/topologies/containerfilestats")
def get_file_stats(found: FoundTopology, container: str, path: str = ".") -> dict[str, FileStats]:
    """The files of a container."""
    if path.strip("/") not in ("", "."):
        raise files.FileRefused(f"'{path}' is no folder of the container that can be listed; write path=.")
    return files.list_files(files.container_folder(found, container))


@router.get("/topologies/container/filedownload", response_class=StreamingResponse)
@router.get("/topologies/containerfiledownload", response_class=StreamingResponse)
def get_file_download(found: FoundTopology, container: str, path: str) -> StreamingResponse:
    """A whole file."""
    file = files.open_given_file(files.container_folder(found, container), path)
    name = quote(path.rpartition("/")[2])
    return StreamingResponse(
        files.stream_file(file),
        media_type="application/octet-stream",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}"},
    )
