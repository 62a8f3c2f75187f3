"""The settings of one run: `SET 'key' = 'value'` in SQL, `--set key=value` on the command line, keyword arguments in Python."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from enum import Enum
from fnmatch import fnmatchcase
from functools import lru_cache, wraps
from typing import Any, TypeVar, get_type_hints

from ouzel.callers import check_binding
from ouzel.errors import QueryError

FLINK_SETTINGS = {
    "parallelism.default": "write SET 'parallelism'",
    "pipeline.name": "write SET 'query.name'",
    "execution.runtime-mode": "ouzel run streams, ouzel batch computes in batch",
    "sql-client.execution.result-mode": "choose with --format",
    "table.local-time-zone": "the session's time zone is UTC; name the zone where it matters, see docs/time-zones.md",
    "table.exec.source.idle-timeout": "write WATERMARK FOR ts AS ts - INTERVAL '5' SECOND IDLE AFTER INTERVAL '30' SECOND",
    "table.exec.mini-batch.enabled": "leave it out: rows travel in batches of 'batch.rows' at most",
    "table.exec.mini-batch.allow-latency": "write EMIT AFTER DELAY INTERVAL '1' SECOND",
    "table.exec.mini-batch.size": "write SET 'batch.rows'",
    "execution.checkpointing.interval": "SET 'checkpoint.interval.ms', see docs/delivery.md",
    "execution.checkpointing.mode": "write SET 'delivery'",
    "execution.checkpointing.*": "SET 'checkpoint.interval.ms', see docs/delivery.md",
    "state.backend": "SET 'checkpoint.interval.ms' and SET 'checkpoint.path', see docs/delivery.md",
    "table.exec.mini-batch.*": "leave it out: what has arrived is always handled together",
    "table.exec.emit.allow-lateness": "write EMIT AFTER WATERMARK WITH LATENESS INTERVAL '1' HOUR",
    "table.exec.emit.early-fire.*": "write EMIT AFTER DELAY INTERVAL '1' SECOND, or EMIT CHANGES",
    "table.exec.emit.late-fire.*": "write EMIT AFTER WATERMARK WITH LATENESS INTERVAL '1' HOUR",
}
"""Flink's settings, and patterns of them, of which the first that fits counts; and what to write instead, as docs/flink.md says."""

OF_STORM = {
    "max_spout_pending": "max_pending_rows", "message_timeout_secs": "ack_timeout_ms", "message_timeout": "ack_timeout_ms",
    **dict.fromkeys(("num_workers", "workers", "stmgrs", "num_stmgrs"), "containers"),
    **dict.fromkeys(("acking", "ackers", "acker_executors", "num_ackers", "reliability_mode", "processing_guarantee"), "delivery"),
    **dict.fromkeys(("num_tasks", "tasks", "num_instances", "workers_per_component", "max_task_parallelism"), "parallelism"),
    "container_ram": "container_ram_mb", "container_ram_requested": "container_ram_mb", "container_cpu_requested": "container_cpu",
    "topology_name": "query_name", "name": "query_name",
}  # fmt: skip
"""What Storm and Heron call settings, after `topology.`, and the field that means the same here."""

_OF_FLINK = ("table.", "execution.", "pipeline.", "sql-client.", "restart-strategy.", "taskmanager.", "jobmanager.")
"""How names of settings begin that are Flink's and none of ours."""


class Delivery(Enum):
    """What a topology promises about each input row."""

    AT_MOST_ONCE = "at-most-once"
    AT_LEAST_ONCE = "at-least-once"
    EFFECTIVELY_ONCE = "effectively-once"

    @property
    def tracks(self) -> bool:
        """Whether rows that are on their way are acked, and sent again."""
        return self is not Delivery.AT_MOST_ONCE

    @property
    def publishes(self) -> bool:
        """Whether sinks stage their rows, and publish them with the epoch that they belong to."""
        return self is Delivery.EFFECTIVELY_ONCE


class StateLoss(Enum):
    """What becomes of a run in which a task died with what it kept in memory."""

    FAIL = "fail"
    ACCEPT = "accept"


class PendingTuning(Enum):
    """Who says how many rows of a source may be on their way."""

    OFF = "off"
    PAPER = "paper"
    HERON = "heron"


class BadRecordPolicy(Enum):
    """What becomes of a record that cannot be read, or an expression that Spark would fail."""

    FAIL = "fail"
    SKIP = "skip"
    DEAD_LETTER = "dead-letter"


class HealthPolicy(Enum):
    """What `ouzel health` may do to a submitted topology by itself."""

    OFF = "off"
    RESTART = "restart"
    RESCALE = "rescale"
    ALL = "all"

    @property
    def restarts(self) -> bool:
        """Whether a slow instance may be started again."""
        return self in (HealthPolicy.RESTART, HealthPolicy.ALL)

    @property
    def rescales(self) -> bool:
        """Whether a bolt may get more tasks, or fewer."""
        return self in (HealthPolicy.RESCALE, HealthPolicy.ALL)


UNSET = -1
"""Of a number that is chosen when the topology starts, if nobody has set it."""


S = TypeVar("S", bound=type)


def _check_names(settings: S) -> S:
    """The class of settings, which says what to write instead of a name that is none of theirs."""

    def refuse(error: TypeError, named: dict[str, Any]) -> Exception:
        unknown = next((name for name in named if name not in get_type_hints(settings)), None)
        return error if unknown is None else QueryError(f"there is no setting '{unknown}'", instead=_advise(unknown))

    settings.__init__ = check_binding(_with_values(settings), refuse)  # type: ignore[misc]
    return settings


def _with_values(settings: type) -> Callable[..., None]:
    """How settings are made of values as programs write them: texts for what has names, spans of time for milliseconds."""
    make: Callable[..., None] = settings.__init__  # type: ignore[misc]

    @wraps(make)
    def make_of_values(self: object, *given: Any, **named: Any) -> None:
        hints = _hints_of(settings)
        make(self, *given, **{name: _read_value(name, value, hints.get(name)) for name, value in named.items()})

    return make_of_values


_hints_of = lru_cache(get_type_hints)


def _read_value(name: str, value: Any, kind: type | None) -> Any:
    """A value that a program gives for a setting; one of another type is read as SET reads its text.

    Raises:
        QueryError: it cannot be.
    """
    if kind is None:
        return value
    is_fit = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    is_number = type(value) in (int, float)
    if (is_fit or (kind is float and is_number)) and not (is_number and value < 0 and name != "checkpoint_interval_ms"):
        return value
    return _parse(name, setting_text(name, value), kind)


@_check_names
@dataclass(frozen=True)
class Settings:
    """Limits and choices of a run. The key of a field in SQL and on the command line is its name with dots for underscores.

    Attributes:
        delivery: at-least-once (XOR acks, replay), at-most-once (no acks), or effectively-once (each epoch's rows appear in the sinks once,
            when the epoch is kept). See docs/delivery.md.
        parallelism: tasks of a component that no hint speaks of.
        containers: containers besides the topology master's; 0 means enough that each has at most 8 instances.
        container_cpu: most cores of one container, its own processes included; 0 sets no limit.
        container_ram_mb: most memory of one container, its own processes included; 0 sets no limit.
        packing: round-robin or first-fit-decreasing.
        error_policy: what becomes of a row whose expression fails: fail, skip or dead-letter.
        dead_letter_path: path of the JSON lines file that dead-letter rows go to, relative to the query's file.
        state_lost: what becomes of a run in which a task died with what it kept in memory: fail (it goes on, but ends with exit code 4, or
            an error in Python) or accept.
        state_ttl: how long of event time rows are kept for a join, and a key without rows, such as `1 h`; empty: as the query says. See
            docs/sql.md#how-long-a-key-is-kept.
        late_path: JSON lines file that rows dropped as late are written to, with the columns that the query reads; rows are then not
            added up before they are sent to the tasks of their keys. Empty: late rows are only counted.
        shed_path: JSON lines file that the offsets of records that were shed are written to; empty: they are only counted.
        batch_rows: most rows a source reads into one batch.
        batch_linger_ms: a partition that gives less than a tenth of `batch.rows` at a time is left alone for so long after each batch,
            until one is full, so that its rows gather: a trickle costs a fraction of the CPU. 0 reads each row as it comes.
        max_pending_rows: most rows of a source task that may be on their way, unacked.
        max_pending_tuning: `off`, or a source finds a better `max.pending.rows` while it runs: by the table of the Storm paper (`paper`) or
            as Heron's code does (`heron`); see docs/tuning.md.
        max_pending_interval_ms: how long the tuner watches what comes through before it changes anything.
        handle_rows: most rows a task handles at once after gathering what has arrived.
        ack_timeout_ms: without any progress of its acks for so long, a source replays what is pending; time in which a task is handling it,
            or the source has no core, does not count.
        cache_drain_ms: longest a stream manager gathers small frames before it sends them on.
        high_watermark_bytes: a connection with more waiting bytes starts back-pressure.
        low_watermark_bytes: a connection with fewer waiting bytes ends it.
        heartbeat_ms: how often each process says that it lives.
        hang_timeout_ms: a process silent for so long is killed and started again, and so is one that computes three times as long without
            any progress; time in which it waits for a core does not count.
        state_manager: `local` or `zookeeper://host:port[,host:port]`.
        topology_master_standby: `true` has a second topology master wait to take over as soon as the first one dies or hangs; `false`
            has the first one started again. See docs/operations.md#a-standby-topology-master.
        trigger_ms: on Spark, least time from the start of one micro-batch to the next; 0 is as fast as possible.
        trigger_rows: on Spark, most rows of a micro-batch, over all partitions of a table.
        checkpoint_interval_ms: how often a topology keeps its state in an epoch, to which it goes back when a task dies that keeps some;
            0 keeps none, and such a task loses what it kept. If it is not set, a topology that keeps state and can go back to an epoch
            keeps one every 10 s. See docs/delivery.md#epochs.
        checkpoint_path: folder (relative to the query's file), or `s3://bucket/prefix`, of the epochs of a topology that is submitted, or
            sets the interval; if empty they are in the job directory. On Spark, folder or URI of offsets and state, from which the next
            run goes on; if empty none is kept. See docs/operations.md#epochs-and-savepoints-in-s3.
        checkpoint_endpoint: URL of the server that answers for `s3://`; if empty the environment says it (`AWS_ENDPOINT_URL`), or it is
            Amazon's own. Keys are taken from the environment only.
        health_policy: what `ouzel health` may do to a submitted topology by itself: `off`, `restart` a slow instance, `rescale` a bolt, or
            `all` of it. See docs/ui.md#what-is-done-by-itself.
        health_tasks_max: most tasks that a bolt gets by itself.
        health_tasks_min: fewest tasks that a bolt is left with by itself.
        trace_sample: which share of the batches of sources is followed down to the sinks, from 0 to 1: of each a trace that
            `ouzel metrics traces` sends by OpenTelemetry's protocol. See docs/ui.md#traces.
        seed: of the simulator and of every choice at random; 0 draws one.
        query_name: name of the topology; default the file's stem.
    """

    delivery: Delivery = Delivery.AT_LEAST_ONCE
    parallelism: int = 1
    containers: int = 0
    container_cpu: float = 0.0
    container_ram_mb: int = 0
    packing: str = "round-robin"
    error_policy: BadRecordPolicy = BadRecordPolicy.FAIL
    dead_letter_path: str = "dead-letters.jsonl"
    state_lost: StateLoss = StateLoss.FAIL
    state_ttl: str = ""
    late_path: str = ""
    shed_path: str = ""
    batch_rows: int = 10_000
    batch_linger_ms: int = 20
    max_pending_rows: int = 40_000
    max_pending_tuning: PendingTuning = PendingTuning.OFF
    max_pending_interval_ms: int = 120_000
    handle_rows: int = 100_000
    ack_timeout_ms: int = 30_000
    cache_drain_ms: int = 10
    high_watermark_bytes: int = 100 << 20
    low_watermark_bytes: int = 50 << 20
    heartbeat_ms: int = 500
    hang_timeout_ms: int = 10_000
    state_manager: str = "local"
    topology_master_standby: bool = False
    trigger_ms: int = 0
    trigger_rows: int = 1_000_000
    checkpoint_interval_ms: int = UNSET
    checkpoint_path: str = ""
    checkpoint_endpoint: str = ""
    health_policy: HealthPolicy = HealthPolicy.OFF
    health_tasks_max: int = 8
    health_tasks_min: int = 1
    trace_sample: float = 0.0
    seed: int = 0
    query_name: str = ""

    @property
    def run(self) -> str:
        """What tells the run that drew this seed from others, as part of a file's name; the seed itself is not to be told."""
        return hashlib.blake2s(str(self.seed).encode(), digest_size=4).hexdigest() if self.seed else ""

    @property
    def has_epochs(self) -> bool:
        """Whether state is kept in epochs."""
        return self.checkpoint_interval_ms > 0

    @property
    def forgets(self) -> bool:
        """Whether `state_ttl` says a time, and not 0."""
        from ouzel.compiler.plan import bounds_nothing

        return not bounds_nothing(self.state_ttl)

    def with_values(self, pairs: Iterable[tuple[str, str]]) -> Settings:
        """These settings with text values put in, later ones winning.

        Raises:
            QueryError: for an unknown key (names the nearest) or a value that does not parse.
        """
        hints = get_type_hints(type(self))
        changes: dict[str, Any] = {}
        for key, value in pairs:
            name = FORMER_NAMES.get(key, key).replace(".", "_").replace("-", "_")
            if name not in hints:
                raise QueryError(f"there is no setting '{key}'", instead=_advise(key, value), about=("SET", key))
            changes[name] = _parse(key, value, hints[name])
        return replace(self, **changes)


_SPAN = re.compile(r"(?i)(\d+)\s*(?:(ms|milli(?:second)?s?)|(s|secs?|seconds?)|(m|min|minutes?)|(h|hours?)|(d|days?))?")
_UNITS = (1, 1_000, 60_000, 3_600_000, 86_400_000)


def _milliseconds(key: str, value: str) -> int | None:
    """A span as Flink, Storm and Heron write it; one without a unit is in seconds if the key says so. None if it is no span."""
    found = _SPAN.fullmatch(value.strip())
    if found is None:
        return None
    named = [unit for unit, written in zip(_UNITS, found.groups()[1:], strict=True) if written]
    return int(found[1]) * (named[0] if named else 1_000 if key.endswith("secs") else 1)


def _advise(key: str, value: str = "") -> str:
    if key.replace("_", ".").replace("-", ".") == "bad.record":
        return "write it into the WITH of a table; for rows that cannot be computed SET 'error.policy' = 'skip'"
    known = [field.name for field in fields(Settings)] if "_" in key and "." not in key else SETTING_KEYS
    if key in ("settings", "config", "conf", "options"):
        return "write each setting by its name: parallelism=2"
    span = _milliseconds(key, value)
    if of_flink := next((advice for pattern, advice in FLINK_SETTINGS.items() if fnmatchcase(key, pattern)), ""):
        is_same = span is not None and key in FLINK_SETTINGS
        return re.sub(r"(SET '[\w.]+\.ms')", rf"\1 = '{span}'", of_flink) if is_same else of_flink
    if key.startswith("spark."):
        return f"Spark's settings are given to the command: ouzel batch question.sql --conf {key}=..."
    if key.lower().replace(".", "").replace("_", "") in ("timezone", "sessiontimezone"):
        return FLINK_SETTINGS["table.local-time-zone"]
    if key.startswith(_OF_FLINK):
        return "it is a setting of Flink: see docs/flink.md for what is written here"
    meant = OF_STORM.get(key.replace(".", "_").removeprefix("topology_"))
    if meant is not None:
        if span is not None and meant.endswith("_ms") and meant not in known:
            return f"SET '{setting_key(meant)}' = '{span}'"
        return f"write {meant if meant in known else setting_key(meant)}"
    near = difflib.get_close_matches(key, known, 1)  # spelled as the key is: a program has underscores
    near = [name for name in known if name in (f"{key}_ms", f"{key}.ms")] or near
    unit = (
        ", in milliseconds: 5000 is five seconds"
        if near and near[0][-3:] in ("_ms", ".ms") and key[-2:] != "ms"
        else ""
    )
    return f"did you mean '{near[0]}'{unit}?" if near else "see docs/settings.md"


def setting_text(key: str, value: object) -> str:
    """The value of a setting that a program gives, as SET has it: a span of time in the key's milliseconds, or in seconds."""
    if isinstance(value, timedelta):
        is_number = key.endswith(("_ms", ".ms"))
        return str(value // timedelta(milliseconds=1)) if is_number else f"{value / timedelta(seconds=1):g} s"
    return str(value.value if isinstance(value, Enum) else value)


def setting_key(field: str) -> str:
    """The key of a field of Settings, as SET and --set have it."""
    return HYPHENATED.get(field) or field.replace("_", ".")


def setting_docs() -> list[tuple[str, str, str]]:
    """Key, field and meaning of each setting, in order."""
    text = (Settings.__doc__ or "").partition("Attributes:")[2]
    told = re.findall(r"^ {8}(\w+): (.+(?:\n {12}.+)*)$", text, re.M)
    return [(setting_key(name), name, " ".join(meaning.split())) for name, meaning in told]


def shown_setting(settings: Settings, field: str) -> str:
    """The value of a setting, as SET has it."""
    value = getattr(settings, field)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value == UNSET else str(getattr(value, "value", value))


HYPHENATED = {"dead_letter_path": "dead-letter.path"}
"""Keys of several words between dots, by their fields."""

FORMER_NAMES = {
    "error.table": "dead-letter.path",
    "error_table": "dead-letter.path",
    "table.exec.state.ttl": "state.ttl",
}
"""Keys that go on working under the name they had before, and those of Flink that mean the same."""

SETTING_KEYS = tuple(setting_key(field.name) for field in fields(Settings))


MAY_BE_ZERO = frozenset(
    {
        "batch_linger_ms",
        "containers",
        "container_cpu",
        "container_ram_mb",
        "cache_drain_ms",
        "low_watermark_bytes",
        "checkpoint_interval_ms",
        "seed",
        "trace_sample",
        "trigger_ms",
    }
)
"""Numbers for which zero means something; all others are at least 1."""

SHARES = frozenset({"trace_sample"})
"""Numbers from 0 to 1."""


def _parse(key: str, value: str, kind: type[Any]) -> Any:
    try:
        if kind is bool:
            return {"true": True, "false": False}[value.lower()]
        if issubclass(kind, Enum):
            return kind(value.lower().replace("_", "-"))
        parsed = kind(value)
        name = key.replace(".", "_").replace("-", "_")
        if kind is not str and parsed < (0 if name in MAY_BE_ZERO else 1):
            raise ValueError
        if name in SHARES and not parsed <= 1:
            raise ValueError
        return parsed
    except (ValueError, KeyError):
        name = key.replace(".", "_").replace("-", "_")
        least = " from 0 to 1" if name in SHARES else "" if name in MAY_BE_ZERO else " of at least 1"
        numbers = {int: f"a whole number{least}", float: f"a number{least}", bool: "true or false"}
        allowed = ", ".join(member.value for member in kind) if issubclass(kind, Enum) else numbers.get(kind, "text")
        meant = {"exactly-once": "effectively-once, which is exactly-once here"}.get(value.lower().replace("_", "-"))
        allowed = meant if meant and key == "delivery" else allowed
        raise QueryError(f"'{key}' cannot be '{value}'", instead=f"write {allowed}", about=("SET", key)) from None
