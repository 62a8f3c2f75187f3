from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DATA: _ClassVar[Kind]
    ACK: _ClassVar[Kind]
    FAIL: _ClassVar[Kind]
    WATERMARK: _ClassVar[Kind]
    HELLO: _ClassVar[Kind]
    WELCOME: _ClassVar[Kind]
    SLOW: _ClassVar[Kind]
    RELIEVED: _ClassVar[Kind]
    RECONNECTED: _ClassVar[Kind]
    PLAN: _ClassVar[Kind]
    CHALLENGE: _ClassVar[Kind]
    PROOF: _ClassVar[Kind]
    STALLED: _ClassVar[Kind]
    REPORT: _ClassVar[Kind]
    MARK: _ClassVar[Kind]
    ROLL_BACK: _ClassVar[Kind]
DATA: Kind
ACK: Kind
FAIL: Kind
WATERMARK: Kind
HELLO: Kind
WELCOME: Kind
SLOW: Kind
RELIEVED: Kind
RECONNECTED: Kind
PLAN: Kind
CHALLENGE: Kind
PROOF: Kind
STALLED: Kind
REPORT: Kind
MARK: Kind
ROLL_BACK: Kind

class Root(_message.Message):
    __slots__ = ("task", "sequence", "attempt", "settled")
    TASK_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    task: int
    sequence: int
    attempt: int
    settled: int
    def __init__(self, task: _Optional[int] = ..., sequence: _Optional[int] = ..., attempt: _Optional[int] = ..., settled: _Optional[int] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ("stream", "source", "rows", "id", "roots", "long_strings", "time_us", "status", "hello", "pause", "plan", "edges", "generation", "mark", "spans")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    ROOTS_FIELD_NUMBER: _ClassVar[int]
    LONG_STRINGS_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    EDGES_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    stream: int
    source: int
    rows: int
    id: int
    roots: _containers.RepeatedCompositeFieldContainer[Root]
    long_strings: bool
    time_us: int
    status: int
    hello: Hello
    pause: int
    plan: PhysicalPlan
    edges: _containers.RepeatedScalarFieldContainer[int]
    generation: int
    mark: Mark
    spans: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, stream: _Optional[int] = ..., source: _Optional[int] = ..., rows: _Optional[int] = ..., id: _Optional[int] = ..., roots: _Optional[_Iterable[_Union[Root, _Mapping]]] = ..., long_strings: _Optional[bool] = ..., time_us: _Optional[int] = ..., status: _Optional[int] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ..., pause: _Optional[int] = ..., plan: _Optional[_Union[PhysicalPlan, _Mapping]] = ..., edges: _Optional[_Iterable[int]] = ..., generation: _Optional[int] = ..., mark: _Optional[_Union[Mark, _Mapping]] = ..., spans: _Optional[_Iterable[int]] = ...) -> None: ...

class Mark(_message.Message):
    __slots__ = ("epoch", "kept", "generation")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    kept: int
    generation: int
    def __init__(self, epoch: _Optional[int] = ..., kept: _Optional[int] = ..., generation: _Optional[int] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("container", "task", "incarnation", "token", "received", "nonce", "proof")
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    container: int
    task: int
    incarnation: int
    token: bytes
    received: int
    nonce: bytes
    proof: bytes
    def __init__(self, container: _Optional[int] = ..., task: _Optional[int] = ..., incarnation: _Optional[int] = ..., token: _Optional[bytes] = ..., received: _Optional[int] = ..., nonce: _Optional[bytes] = ..., proof: _Optional[bytes] = ...) -> None: ...

class Address(_message.Message):
    __slots__ = ("host", "port", "path")
    HOST_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    host: str
    port: int
    path: str
    def __init__(self, host: _Optional[str] = ..., port: _Optional[int] = ..., path: _Optional[str] = ...) -> None: ...

class StreamManager(_message.Message):
    __slots__ = ("container", "incarnation", "pid", "address")
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    container: int
    incarnation: int
    pid: int
    address: Address
    def __init__(self, container: _Optional[int] = ..., incarnation: _Optional[int] = ..., pid: _Optional[int] = ..., address: _Optional[_Union[Address, _Mapping]] = ...) -> None: ...

class PhysicalPlan(_message.Message):
    __slots__ = ("version", "stream_managers", "pause", "epoch", "generation", "restore", "kept", "leadership")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STREAM_MANAGERS_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    LEADERSHIP_FIELD_NUMBER: _ClassVar[int]
    version: int
    stream_managers: _containers.RepeatedCompositeFieldContainer[StreamManager]
    pause: int
    epoch: int
    generation: int
    restore: int
    kept: int
    leadership: int
    def __init__(self, version: _Optional[int] = ..., stream_managers: _Optional[_Iterable[_Union[StreamManager, _Mapping]]] = ..., pause: _Optional[int] = ..., epoch: _Optional[int] = ..., generation: _Optional[int] = ..., restore: _Optional[int] = ..., kept: _Optional[int] = ..., leadership: _Optional[int] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("sequence", "kind", "text", "count", "task", "since_us", "at_us")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    SINCE_US_FIELD_NUMBER: _ClassVar[int]
    AT_US_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    kind: str
    text: str
    count: int
    task: int
    since_us: int
    at_us: int
    def __init__(self, sequence: _Optional[int] = ..., kind: _Optional[str] = ..., text: _Optional[str] = ..., count: _Optional[int] = ..., task: _Optional[int] = ..., since_us: _Optional[int] = ..., at_us: _Optional[int] = ...) -> None: ...

class TaskReport(_message.Message):
    __slots__ = ("task", "incarnation", "finished", "failed", "rows_in", "rows_out", "rows_acked", "rows_failed", "rows_late", "rows_bad", "pending_rows", "batches_in", "watermark_us", "latency_us", "events", "busy_seconds", "ranges", "plan", "pause", "waiting", "component", "former", "carries", "lag", "counters", "rows_shed", "backlogs", "generation", "needs_restore", "restored", "taken", "saved", "epoch_failed", "published", "taken_by", "collections", "collecting_seconds", "lag_bytes", "lag_ms", "states")
    class LatencyUsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: int
        def __init__(self, key: _Optional[int] = ..., value: _Optional[int] = ...) -> None: ...
    class CountersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    TASK_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    ROWS_IN_FIELD_NUMBER: _ClassVar[int]
    ROWS_OUT_FIELD_NUMBER: _ClassVar[int]
    ROWS_ACKED_FIELD_NUMBER: _ClassVar[int]
    ROWS_FAILED_FIELD_NUMBER: _ClassVar[int]
    ROWS_LATE_FIELD_NUMBER: _ClassVar[int]
    ROWS_BAD_FIELD_NUMBER: _ClassVar[int]
    PENDING_ROWS_FIELD_NUMBER: _ClassVar[int]
    BATCHES_IN_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_US_FIELD_NUMBER: _ClassVar[int]
    LATENCY_US_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    BUSY_SECONDS_FIELD_NUMBER: _ClassVar[int]
    RANGES_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    FORMER_FIELD_NUMBER: _ClassVar[int]
    CARRIES_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    ROWS_SHED_FIELD_NUMBER: _ClassVar[int]
    BACKLOGS_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    NEEDS_RESTORE_FIELD_NUMBER: _ClassVar[int]
    RESTORED_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    SAVED_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FAILED_FIELD_NUMBER: _ClassVar[int]
    PUBLISHED_FIELD_NUMBER: _ClassVar[int]
    TAKEN_BY_FIELD_NUMBER: _ClassVar[int]
    COLLECTIONS_FIELD_NUMBER: _ClassVar[int]
    COLLECTING_SECONDS_FIELD_NUMBER: _ClassVar[int]
    LAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    LAG_MS_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    task: int
    incarnation: int
    finished: bool
    failed: str
    rows_in: int
    rows_out: int
    rows_acked: int
    rows_failed: int
    rows_late: int
    rows_bad: int
    pending_rows: int
    batches_in: int
    watermark_us: int
    latency_us: _containers.ScalarMap[int, int]
    events: _containers.RepeatedCompositeFieldContainer[Event]
    busy_seconds: float
    ranges: _containers.RepeatedCompositeFieldContainer[Range]
    plan: int
    pause: int
    waiting: _containers.RepeatedCompositeFieldContainer[Waiting]
    component: str
    former: bool
    carries: bool
    lag: int
    counters: _containers.ScalarMap[str, int]
    rows_shed: int
    backlogs: _containers.RepeatedCompositeFieldContainer[Backlog]
    generation: int
    needs_restore: bool
    restored: bool
    taken: int
    saved: EpochFiles
    epoch_failed: str
    published: int
    taken_by: int
    collections: int
    collecting_seconds: float
    lag_bytes: int
    lag_ms: int
    states: _containers.RepeatedCompositeFieldContainer[OperatorStateSize]
    def __init__(self, task: _Optional[int] = ..., incarnation: _Optional[int] = ..., finished: _Optional[bool] = ..., failed: _Optional[str] = ..., rows_in: _Optional[int] = ..., rows_out: _Optional[int] = ..., rows_acked: _Optional[int] = ..., rows_failed: _Optional[int] = ..., rows_late: _Optional[int] = ..., rows_bad: _Optional[int] = ..., pending_rows: _Optional[int] = ..., batches_in: _Optional[int] = ..., watermark_us: _Optional[int] = ..., latency_us: _Optional[_Mapping[int, int]] = ..., events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ..., busy_seconds: _Optional[float] = ..., ranges: _Optional[_Iterable[_Union[Range, _Mapping]]] = ..., plan: _Optional[int] = ..., pause: _Optional[int] = ..., waiting: _Optional[_Iterable[_Union[Waiting, _Mapping]]] = ..., component: _Optional[str] = ..., former: _Optional[bool] = ..., carries: _Optional[bool] = ..., lag: _Optional[int] = ..., counters: _Optional[_Mapping[str, int]] = ..., rows_shed: _Optional[int] = ..., backlogs: _Optional[_Iterable[_Union[Backlog, _Mapping]]] = ..., generation: _Optional[int] = ..., needs_restore: _Optional[bool] = ..., restored: _Optional[bool] = ..., taken: _Optional[int] = ..., saved: _Optional[_Union[EpochFiles, _Mapping]] = ..., epoch_failed: _Optional[str] = ..., published: _Optional[int] = ..., taken_by: _Optional[int] = ..., collections: _Optional[int] = ..., collecting_seconds: _Optional[float] = ..., lag_bytes: _Optional[int] = ..., lag_ms: _Optional[int] = ..., states: _Optional[_Iterable[_Union[OperatorStateSize, _Mapping]]] = ...) -> None: ...

class OperatorStateSize(_message.Message):
    __slots__ = ("operator", "keys", "rows", "bytes")
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    operator: str
    keys: int
    rows: int
    bytes: int
    def __init__(self, operator: _Optional[str] = ..., keys: _Optional[int] = ..., rows: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class EpochFiles(_message.Message):
    __slots__ = ("epoch", "files", "took", "keys")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    files: _containers.RepeatedCompositeFieldContainer[EpochFile]
    took: PartTimes
    keys: int
    def __init__(self, epoch: _Optional[int] = ..., files: _Optional[_Iterable[_Union[EpochFile, _Mapping]]] = ..., took: _Optional[_Union[PartTimes, _Mapping]] = ..., keys: _Optional[int] = ...) -> None: ...

class PartTimes(_message.Message):
    __slots__ = ("aligned_ms", "copied_ms", "written_ms")
    ALIGNED_MS_FIELD_NUMBER: _ClassVar[int]
    COPIED_MS_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_MS_FIELD_NUMBER: _ClassVar[int]
    aligned_ms: float
    copied_ms: float
    written_ms: float
    def __init__(self, aligned_ms: _Optional[float] = ..., copied_ms: _Optional[float] = ..., written_ms: _Optional[float] = ...) -> None: ...

class EpochFile(_message.Message):
    __slots__ = ("name", "size", "digest")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    name: str
    size: int
    digest: str
    def __init__(self, name: _Optional[str] = ..., size: _Optional[int] = ..., digest: _Optional[str] = ...) -> None: ...

class Backlog(_message.Message):
    __slots__ = ("component", "place", "records", "bytes", "age_ms", "journal_bytes")
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    AGE_MS_FIELD_NUMBER: _ClassVar[int]
    JOURNAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    component: str
    place: str
    records: int
    bytes: int
    age_ms: int
    journal_bytes: int
    def __init__(self, component: _Optional[str] = ..., place: _Optional[str] = ..., records: _Optional[int] = ..., bytes: _Optional[int] = ..., age_ms: _Optional[int] = ..., journal_bytes: _Optional[int] = ...) -> None: ...

class Waiting(_message.Message):
    __slots__ = ("component", "partition", "others", "reason", "since_us", "until_us")
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    OTHERS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SINCE_US_FIELD_NUMBER: _ClassVar[int]
    UNTIL_US_FIELD_NUMBER: _ClassVar[int]
    component: str
    partition: str
    others: int
    reason: str
    since_us: int
    until_us: int
    def __init__(self, component: _Optional[str] = ..., partition: _Optional[str] = ..., others: _Optional[int] = ..., reason: _Optional[str] = ..., since_us: _Optional[int] = ..., until_us: _Optional[int] = ...) -> None: ...

class Range(_message.Message):
    __slots__ = ("component", "partition", "start", "end", "time_us", "began_us")
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TIME_US_FIELD_NUMBER: _ClassVar[int]
    BEGAN_US_FIELD_NUMBER: _ClassVar[int]
    component: str
    partition: str
    start: int
    end: int
    time_us: int
    began_us: int
    def __init__(self, component: _Optional[str] = ..., partition: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., time_us: _Optional[int] = ..., began_us: _Optional[int] = ...) -> None: ...

class StreamManagerReport(_message.Message):
    __slots__ = ("container", "incarnation", "frames", "bytes", "dropped", "waiting_bytes", "slow", "slow_ms")
    class SlowMsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: int
        def __init__(self, key: _Optional[int] = ..., value: _Optional[int] = ...) -> None: ...
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    WAITING_BYTES_FIELD_NUMBER: _ClassVar[int]
    SLOW_FIELD_NUMBER: _ClassVar[int]
    SLOW_MS_FIELD_NUMBER: _ClassVar[int]
    container: int
    incarnation: int
    frames: int
    bytes: int
    dropped: int
    waiting_bytes: int
    slow: _containers.RepeatedScalarFieldContainer[int]
    slow_ms: _containers.ScalarMap[int, int]
    def __init__(self, container: _Optional[int] = ..., incarnation: _Optional[int] = ..., frames: _Optional[int] = ..., bytes: _Optional[int] = ..., dropped: _Optional[int] = ..., waiting_bytes: _Optional[int] = ..., slow: _Optional[_Iterable[int]] = ..., slow_ms: _Optional[_Mapping[int, int]] = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ("task", "stream_manager")
    TASK_FIELD_NUMBER: _ClassVar[int]
    STREAM_MANAGER_FIELD_NUMBER: _ClassVar[int]
    task: TaskReport
    stream_manager: StreamManagerReport
    def __init__(self, task: _Optional[_Union[TaskReport, _Mapping]] = ..., stream_manager: _Optional[_Union[StreamManagerReport, _Mapping]] = ...) -> None: ...

class ContainerReport(_message.Message):
    __slots__ = ("container", "tasks", "stream_managers", "restarts", "failed", "deaths")
    CONTAINER_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    STREAM_MANAGERS_FIELD_NUMBER: _ClassVar[int]
    RESTARTS_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    DEATHS_FIELD_NUMBER: _ClassVar[int]
    container: int
    tasks: _containers.RepeatedCompositeFieldContainer[TaskReport]
    stream_managers: _containers.RepeatedCompositeFieldContainer[StreamManagerReport]
    restarts: int
    failed: str
    deaths: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, container: _Optional[int] = ..., tasks: _Optional[_Iterable[_Union[TaskReport, _Mapping]]] = ..., stream_managers: _Optional[_Iterable[_Union[StreamManagerReport, _Mapping]]] = ..., restarts: _Optional[int] = ..., failed: _Optional[str] = ..., deaths: _Optional[_Iterable[str]] = ...) -> None: ...

class Published(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PlanRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PlanReply(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: int
    def __init__(self, version: _Optional[int] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("every_ms",)
    EVERY_MS_FIELD_NUMBER: _ClassVar[int]
    every_ms: int
    def __init__(self, every_ms: _Optional[int] = ...) -> None: ...

class TopologyStatus(_message.Message):
    __slots__ = ("state", "rows_in", "rows_acked", "rows_failed", "rows_out", "rows_late", "rows_bad", "watermark_us", "p50_ms", "p99_ms", "restarts", "back_pressure", "reason", "events", "ranges", "plan", "deaths", "partial", "watermarks", "waiting", "lag", "counters", "rows_shed", "backlogs", "lag_bytes", "lag_ms")
    class WatermarksEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class CountersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    STATE_FIELD_NUMBER: _ClassVar[int]
    ROWS_IN_FIELD_NUMBER: _ClassVar[int]
    ROWS_ACKED_FIELD_NUMBER: _ClassVar[int]
    ROWS_FAILED_FIELD_NUMBER: _ClassVar[int]
    ROWS_OUT_FIELD_NUMBER: _ClassVar[int]
    ROWS_LATE_FIELD_NUMBER: _ClassVar[int]
    ROWS_BAD_FIELD_NUMBER: _ClassVar[int]
    WATERMARK_US_FIELD_NUMBER: _ClassVar[int]
    P50_MS_FIELD_NUMBER: _ClassVar[int]
    P99_MS_FIELD_NUMBER: _ClassVar[int]
    RESTARTS_FIELD_NUMBER: _ClassVar[int]
    BACK_PRESSURE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    RANGES_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    DEATHS_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    WATERMARKS_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    ROWS_SHED_FIELD_NUMBER: _ClassVar[int]
    BACKLOGS_FIELD_NUMBER: _ClassVar[int]
    LAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    LAG_MS_FIELD_NUMBER: _ClassVar[int]
    state: str
    rows_in: int
    rows_acked: int
    rows_failed: int
    rows_out: int
    rows_late: int
    rows_bad: int
    watermark_us: int
    p50_ms: float
    p99_ms: float
    restarts: int
    back_pressure: bool
    reason: str
    events: _containers.RepeatedCompositeFieldContainer[Event]
    ranges: _containers.RepeatedCompositeFieldContainer[Range]
    plan: int
    deaths: _containers.RepeatedScalarFieldContainer[str]
    partial: bool
    watermarks: _containers.ScalarMap[str, int]
    waiting: _containers.RepeatedCompositeFieldContainer[Waiting]
    lag: int
    counters: _containers.ScalarMap[str, int]
    rows_shed: int
    backlogs: _containers.RepeatedCompositeFieldContainer[Backlog]
    lag_bytes: int
    lag_ms: int
    def __init__(self, state: _Optional[str] = ..., rows_in: _Optional[int] = ..., rows_acked: _Optional[int] = ..., rows_failed: _Optional[int] = ..., rows_out: _Optional[int] = ..., rows_late: _Optional[int] = ..., rows_bad: _Optional[int] = ..., watermark_us: _Optional[int] = ..., p50_ms: _Optional[float] = ..., p99_ms: _Optional[float] = ..., restarts: _Optional[int] = ..., back_pressure: _Optional[bool] = ..., reason: _Optional[str] = ..., events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ..., ranges: _Optional[_Iterable[_Union[Range, _Mapping]]] = ..., plan: _Optional[int] = ..., deaths: _Optional[_Iterable[str]] = ..., partial: _Optional[bool] = ..., watermarks: _Optional[_Mapping[str, int]] = ..., waiting: _Optional[_Iterable[_Union[Waiting, _Mapping]]] = ..., lag: _Optional[int] = ..., counters: _Optional[_Mapping[str, int]] = ..., rows_shed: _Optional[int] = ..., backlogs: _Optional[_Iterable[_Union[Backlog, _Mapping]]] = ..., lag_bytes: _Optional[int] = ..., lag_ms: _Optional[int] = ...) -> None: ...
