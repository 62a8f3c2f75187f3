"""The shapes of Heron's tracker, as types: field for field what its last version answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

Config = dict[str, str]


class Envelope(BaseModel):
    """The form in which the first tracker gave every answer."""

    status: str
    message: str
    executiontime: float
    tracker_version: str
    result: Any


class ExtraLink(BaseModel):
    """A place that somebody may want to go to."""

    name: str
    url: str


class Metadata(BaseModel):
    """What is known of a topology that does not run."""

    cluster: str
    role: str
    environ: str
    jobname: str
    submission_time: int
    submission_user: str
    release_username: str
    release_tag: str
    release_version: str
    instances: int
    extra_links: list[ExtraLink] = Field(default_factory=list)


class ExecutionState(Metadata):
    """The same, and what of it is there."""

    has_physical_plan: bool
    has_packing_plan: bool
    has_tmanager_location: bool
    has_scheduler_location: bool
    status: str


class Registration(BaseModel):
    """Whether a stream manager belongs to the topology."""

    is_registered: bool


class RuntimeState(BaseModel):
    """What of a topology is there, and who has registered."""

    has_physical_plan: bool
    has_packing_plan: bool
    has_tmanager_location: bool
    has_scheduler_location: bool
    release_version: str
    stmgrs: dict[str, Registration]


class SchedulerLocation(BaseModel):
    """Where the scheduler listens."""

    name: str
    http_endpoint: str
    job_page_link: str


class InstanceResources(BaseModel):
    """What an instance or container asks for: cores, bytes, bytes."""

    cpu: float
    ram: int
    disk: int


class PackedInstance(BaseModel):
    """An instance in a packing plan."""

    component_name: str
    task_id: int
    component_index: int
    instance_resources: InstanceResources


class ContainerPlan(BaseModel):
    """A container in a packing plan."""

    id: int
    instances: list[PackedInstance]
    required_resources: InstanceResources
    scheduled_resources: InstanceResources


class PackingPlanShape(BaseModel):
    """A packing plan."""

    id: str
    container_plans: list[ContainerPlan]


class StreamName(BaseModel):
    """A stream that a component writes."""

    stream_name: str


class BoltInput(BaseModel):
    """A stream that a bolt reads."""

    stream_name: str
    component_name: str
    grouping: str


class SpoutShape(BaseModel):
    """A spout in a logical plan."""

    config: Config
    spout_type: str
    spout_source: str
    version: str
    outputs: list[StreamName]
    extra_links: list[ExtraLink] = Field(default_factory=list)


class BoltShape(BaseModel):
    """A bolt in a logical plan."""

    config: Config
    outputs: list[StreamName]
    inputs: list[BoltInput]
    inputComponents: list[str]


class LogicalPlan(BaseModel):
    """Components and their streams; `stages` is the longest way from a spout, in streams."""

    stages: int
    spouts: dict[str, SpoutShape]
    bolts: dict[str, BoltShape]


class PhysicalInstance(BaseModel):
    """An instance in a physical plan."""

    id: str
    name: str
    stmgr_id: str
    logfile: str


class PhysicalStreamManager(BaseModel):
    """A container in a physical plan."""

    id: str
    host: str
    port: int
    shell_port: int
    cwd: str
    pid: int
    joburl: str
    logfiles: str
    instance_ids: list[str]


class ComponentConfig(BaseModel):
    """The settings of a component."""

    config: Config


class PhysicalPlanShape(BaseModel):
    """Which instance is where."""

    instances: dict[str, PhysicalInstance]
    instance_groups: dict[str, list[str]]
    stmgrs: dict[str, PhysicalStreamManager]
    spouts: dict[str, list[str]]
    bolts: dict[str, list[str]]
    config: Config
    components: dict[str, ComponentConfig]


class TopologyInfo(BaseModel):
    """All of it."""

    id: str
    name: str
    logical_plan: LogicalPlan
    physical_plan: PhysicalPlanShape
    packing_plan: PackingPlanShape
    execution_state: ExecutionState
    metadata: Metadata
    runtime_state: RuntimeState
    scheduler_location: SchedulerLocation


class MetricsShape(BaseModel):
    """Metrics of a component over an interval: by metric and instance, as text."""

    interval: int
    component: str
    metrics: dict[str, dict[str, str]]


class MetricsTimeline(BaseModel):
    """Metrics of a component by minute: by metric, instance and beginning of the minute."""

    component: str
    starttime: int
    endtime: int
    timeline: dict[str, dict[str, dict[int, float]]]


class LegacyMetricsTimeline(BaseModel):
    """The same with values as text."""

    component: str
    starttime: int
    endtime: int
    timeline: dict[str, dict[str, dict[int, str]]]


class InstanceTimeline(BaseModel):
    """One series of an answer; `instance` is None if it is of none."""

    instance: str | None
    data: dict[int, float]


class QueryTimeline(BaseModel):
    """The answer to a query of metrics."""

    starttime: int
    endtime: int
    timeline: list[InstanceTimeline]


class EpochStages(BaseModel):
    """The task whose part of an epoch came last, and how long that took, in milliseconds."""

    task: str
    aligned_ms: float
    copied_ms: float
    written_ms: float


class EpochShape(BaseModel):
    """A complete epoch: when it was made, microseconds since 1970; bytes that a restart reads, and keys that are kept, by component."""

    epoch: int
    made_us: int
    state: dict[str, int]
    keys: dict[str, int]
    slowest: EpochStages | None


class ReconciliationShape(BaseModel):
    """A reconciliation that is kept: its outcome, rows by what became of them, and where its report is, if that is kept.

    `at_us` is in microseconds since 1970; `rounds` is 0 of one that compared once.
    """

    id: str
    query: str
    table: str
    at_us: int
    verdict: str
    is_explained: bool
    is_live: bool
    matched: int
    explained: int
    unexplained: int
    changed: list[str]
    rounds: int
    report: str


class LargeKeyShape(BaseModel):
    """A key, a text a column, and how many rows it has."""

    cells: list[str]
    rows: int


class TableStateShape(BaseModel):
    """What an operator kept in a table when rows were last sampled, over all tasks; `note` is why no largest keys are known."""

    table: str
    tasks: int
    keys: int | None
    rows: int | None
    columns: list[str]
    largest: list[LargeKeyShape]
    note: str
    at_us: int


class StateGrowthShape(BaseModel):
    """How many keys and bytes there are more than so many seconds ago."""

    seconds: int
    keys: int | None
    bytes: int | None


class OperatorStateShape(BaseModel):
    """How much an operator keeps in memory, over the tasks that have told; `tables` is what was counted while rows were sampled."""

    component: str
    operator: str
    tasks: int
    keys: int | None = None
    rows: int | None = None
    bytes: int | None = None
    growth: list[StateGrowthShape] = []
    tables: list[TableStateShape] = []


class SampleShape(BaseModel):
    """The last rows that passed an operator of an instance; `at_us` is when the latest came, microseconds since 1970."""

    instance: str
    operator: str
    columns: list[str]
    rows: list[list[str]]
    at_us: int


class ExceptionLog(BaseModel):
    """Something that has happened to an instance."""

    hostname: str
    instance_id: str
    stacktrace: str
    lasttime: str
    firsttime: str
    count: str
    logging: str


class ExceptionSummary(BaseModel):
    """How often something has happened; times are in seconds since 1970, and 0 where nobody noted them."""

    class_name: str
    lasttime: int
    firsttime: int
    count: str


class ShellResponse(BaseModel):
    """What a command printed."""

    command: str
    stdout: str
    stderr: str | None = None


class FileData(BaseModel):
    """A part of a file."""

    data: str
    offset: int
    length: int


class FileStats(BaseModel):
    """An entry of a folder."""

    formatted_stat: str
    is_dir: bool
    path: str
