"""What the pages show, put together from a snapshot and the history of its run. Nothing here asks anybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ouzel.connectors.backlog import Backlog
from ouzel.planner.topology import Component
from ouzel.runtime.run import Status
from ouzel.tracker import words
from ouzel.tracker.health.detectors import SILENT_S
from ouzel.tracker.metrics.history import CAPACITY, COMPLETE_LATENCY, EXECUTE_COUNT, History, InstanceKey
from ouzel.tracker.metrics.rates import EMIT_COUNT, RATE_S, rates
from ouzel.tracker.metrics.series import sum_of
from ouzel.tracker.pages.drawing import Drawing, colours_of, draw_components
from ouzel.tracker.pages.figures import most
from ouzel.tracker.topologies.epochs import EpochSummary
from ouzel.tracker.topologies.happened import exceptions
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.state_sizes import StateGrowth, list_operator_sizes
from ouzel.tracker.topologies.watching import Unreadable

SPANS = {"3 min": 180, "10 min": 600, "1 h": 3_600, "3 h": 10_800}
LATE, BAD, FAIL = (f"__{name}-count/default" for name in ("late", "bad", "fail"))


@dataclass(frozen=True)
class TopologyRow:
    """One line of the list of topologies, as texts.

    Attributes:
        name: the topology's name.
        state: whether it runs.
        delivery: its delivery guarantee.
        since: when it was submitted.
        rate_in: rows read a second.
        rate_out: rows written a second.
        watermark: the lowest of its sinks' inputs.
        behind: how far the watermark is behind the wall clock.
        lag: records that wait in its sources.
        epoch: the newest epoch.
        exceptions: how many problems there are.
        problem: why it failed.
        order: column -> what that column is sorted by.
    """

    name: str
    state: str
    delivery: str
    since: str
    rate_in: str
    rate_out: str
    watermark: str
    behind: str
    lag: str
    epoch: str
    exceptions: int
    problem: str
    order: Mapping[str, float | str]


def topology_row(one: TopologySnapshot | Unreadable, history: History | None, epoch: str, now_s: float) -> TopologyRow:
    """The line of a topology."""
    since_us = one.record.since_us
    if isinstance(one, Unreadable):
        none, state, since = words.NOTHING, one.condition.value, words.time_text(since_us)
        order: dict[str, float | str] = {"name": one.record.name, "state": state, "since": since_us}
        return TopologyRow(
            one.record.name, state, none, since, none, none, none, none, none, none, 0, one.problem, order
        )
    status = one.status
    rate_in, rate_out = rates(one, history, now_s) if history and one.is_alive else (None, None)
    lag, watermark = (status.lag, status.watermark_us) if status else (None, None)
    problems = sum(event.count for _, event in exceptions(one))
    order = {
        "name": one.name,
        "state": one.condition.value,
        "since": since_us,
        "in": rate_in or 0.0,
        "out": rate_out or 0.0,
        "watermark": watermark or 0,
        "lag": lag or 0,
        "exceptions": problems,
    }
    return TopologyRow(
        name=one.name,
        state=one.condition.value,
        delivery=one.job.topology.settings.delivery.value,
        since=words.time_text(since_us),
        rate_in=words.rate_text(rate_in),
        rate_out=words.rate_text(rate_out),
        watermark=words.time_text(watermark),
        behind=words.behind_text(watermark, now_s) if one.is_alive else words.NOTHING,
        lag=words.count_text(lag),
        epoch=epoch,
        exceptions=problems,
        problem=one.record.reason,
        order=order,
    )


@dataclass(frozen=True)
class Load:
    """How much of a core the busiest task had; `level` is low, busy, full or none."""

    span: str
    text: str
    level: str


@dataclass(frozen=True)
class ComponentRow:
    """One line of the table of statistics: texts of all tasks of a component since their start.

    Attributes:
        name: the component's name.
        kind: spout or bolt.
        colour: the number of its colour.
        tasks: how many tasks it has.
        rate_in: rows taken a second.
        rate_out: rows given a second.
        rows_in: rows taken.
        rows_out: rows given.
        late: rows that came too late.
        bad: records that could not be read or computed.
        replayed: rows that were read again.
        latency: time from emit to ack.
        loads: how much of a core its busiest task had, by span of time.
    """

    name: str
    kind: str
    colour: int
    tasks: int
    rate_in: str
    rate_out: str
    rows_in: str
    rows_out: str
    late: str
    bad: str
    replayed: str
    latency: str
    loads: tuple[Load, ...]


def component_rows(snapshot: TopologySnapshot, history: History, now_s: float) -> list[ComponentRow]:
    """The statistics of all components, in their order."""
    components = snapshot.job.topology.components
    colours = colours_of(components)
    return [_component_row(snapshot, history, part, colours[part.name], int(now_s)) for part in components]


def _component_row(
    snapshot: TopologySnapshot, history: History, part: Component, colour: int, now_s: int
) -> ComponentRow:
    keys = [(part.name, task.id) for task in snapshot.job.topology.tasks() if task.component == part.name]

    def total(metric: str) -> str:
        return words.count_text(sum_of(history.over(key, metric, 0) for key in keys))

    def rate(metric: str) -> str:
        found = sum_of(history.rate(key, metric, now_s - RATE_S) for key in keys) if snapshot.is_alive else None
        return words.rate_text(found)

    return ComponentRow(
        name=part.name,
        kind="spout" if part.is_spout else "bolt",
        colour=colour,
        tasks=part.parallelism,
        rate_in=rate(EXECUTE_COUNT),
        rate_out=rate(EMIT_COUNT),
        rows_in=total(EXECUTE_COUNT),
        rows_out=total(EMIT_COUNT),
        late=total(LATE),
        bad=total(BAD),
        replayed=total(FAIL),
        latency=words.nanoseconds_text(most(history.over(key, COMPLETE_LATENCY, now_s - 180) for key in keys)),
        loads=tuple(_load(history, keys, span, now_s - seconds) for span, seconds in SPANS.items()),
    )


def _load(history: History, keys: list[InstanceKey], span: str, since_s: int) -> Load:
    share = most(history.over(key, CAPACITY, since_s) for key in keys)
    return Load(span, words.share_text(share), words.load_level(share))


@dataclass(frozen=True)
class Circle:
    """One instance in the picture of containers, and the name of its log."""

    name: str
    component: str
    colour: int
    runs: bool
    log: str


@dataclass(frozen=True)
class ContainerFrame:
    """One container and what runs in it."""

    title: str
    number: int
    circles: tuple[Circle, ...]
    others: tuple[Circle, ...]


def frames(snapshot: TopologySnapshot) -> list[ContainerFrame]:
    """All containers, that of the topology master first."""
    colours = colours_of(snapshot.job.topology.components)
    found = []
    for number in snapshot.job.containers:
        tasks = tuple(
            Circle(
                f"{task.component}[{task.index}]",
                task.component,
                colours[task.component],
                snapshot.is_running(number, f"instance-{task.id}"),
                f"instance-{task.id}.log",
            )
            for task in snapshot.job.tasks_in(number)
        )
        others = tuple(
            Circle(name, name, 0, snapshot.is_running(number, name), f"{name}.log")
            for name in sorted(snapshot.processes.get(number, {}))
            if not name.startswith("instance-")
        )
        found.append(ContainerFrame(f"container {number}", number, tasks, others))
    return found


def event_times(status: Status | None) -> list[tuple[str, str]]:
    """How far event time is, at the result and at each source."""
    if status is None:
        return []
    sources = [(f"at {name}", words.time_text(time_us)) for name, time_us in status.watermarks.items()]
    return [("at the result", words.time_text(status.watermark_us)), *sources]


def waits(status: Status | None) -> list[str]:
    """What event time waits for."""
    return [f"{one.component} {one.partition}: {one.reason}" for one in status.waiting] if status else []


def backlogs(status: Status | None) -> list[tuple[str, str]]:
    """Where records wait to be read, and how many."""
    if status is None:
        return []
    return [(f"{name} {one.place}", _backlog_text(one)) for name, known in status.backlogs.items() for one in known]


def _backlog_text(backlog: Backlog) -> str:
    size = "" if backlog.bytes is None else f" ({words.bytes_text(backlog.bytes)})"
    return f"{words.count_text(backlog.records)} records{size}"


def lag_age_text(status: Status | None) -> str:
    """For how long a record has waited to be read; empty if that is not known, or no second."""
    if status is None or status.lag_ms is None or status.lag_ms < 1_000:
        return ""
    return f"a record has waited to be read for {words.duration_text(status.lag_ms / 1e3)}"


def old_text(snapshot: TopologySnapshot) -> str:
    """That what is shown of a topology is old, because its topology master says nothing; empty if it is not."""
    if not snapshot.is_alive or snapshot.silence_s is None or snapshot.silence_s < SILENT_S:
        return ""
    silence = words.duration_text(snapshot.silence_s)
    return f"The topology master has said nothing for {silence}: rows, lag, event time and exceptions are as they were then."


@dataclass(frozen=True)
class EpochRow:
    """One epoch as text.

    Attributes:
        number: from 1.
        made: when all was written.
        after: how long after the one before.
        size: bytes that a restart reads.
        slowest: the task whose part came last.
        stages: how long that task was aligning, copying and writing.
    """

    number: int
    made: str
    after: str
    size: str
    slowest: str
    stages: tuple[str, str, str]


def epoch_rows(epochs: Sequence[EpochSummary]) -> list[EpochRow]:
    """Epochs, the newest first."""
    before = [*(one.made_us for one in epochs[1:]), None]
    return [
        EpochRow(
            one.number,
            words.time_text(one.made_us),
            words.NOTHING if made_us is None else f"{(one.made_us - made_us) / 1e6:,.1f} s",
            words.count_text(one.size),
            one.slowest or words.NOTHING,
            _stage_texts(one),
        )
        for one, made_us in zip(epochs, before, strict=False)
    ]


def _stage_texts(epoch: EpochSummary) -> tuple[str, str, str]:
    if (took := epoch.took) is None:
        return words.NOTHING, words.NOTHING, words.NOTHING
    text = words.milliseconds_text
    return text(took.aligned_ms), text(took.copied_ms), text(took.written_ms)


def state_rows(epochs: Sequence[EpochSummary]) -> list[tuple[str, str, str, str]]:
    """Components that keep state: its keys and bytes in the newest epoch, and how many bytes more than in the oldest of these; the
    largest first. What keeps rows without a table of keys has none."""
    if not epochs:
        return []
    newest, oldest = epochs[0].state, epochs[-1].state
    rows = []
    for name in sorted(newest, key=lambda name: -newest[name]):
        growth = f"{newest[name] - oldest.get(name, 0):+,}" if len(epochs) > 1 else words.NOTHING
        if newest[name]:
            keys = words.count_text(epochs[0].keys.get(name) or None)
            rows.append((name, keys, words.count_text(newest[name]), growth))
    return rows


@dataclass(frozen=True)
class OperatorRow:
    """How much one operator keeps, as texts; `growth` by GROWTH_SPANS."""

    component: str
    operator: str
    tasks: int
    keys: str
    rows: str
    bytes: str
    growth: tuple[str, ...]


def operator_rows(snapshot: TopologySnapshot, history: History, now_s: float) -> list[OperatorRow]:
    """Operators that keep state, those that keep most first."""
    sizes = sorted(list_operator_sizes(snapshot, history, int(now_s)), key=lambda one: -(one.bytes or 0))
    return [
        OperatorRow(
            one.component,
            one.operator,
            one.tasks,
            words.count_text(one.keys),
            words.count_text(one.rows),
            words.bytes_text(one.bytes),
            tuple(map(_growth_text, one.growth)),
        )
        for one in sizes
    ]


def _growth_text(growth: StateGrowth) -> str:
    keys = [] if growth.keys is None else [f"{growth.keys:+,} keys"]
    if growth.bytes is None:
        return ", ".join(keys) or words.NOTHING
    sign = "-" if growth.bytes < 0 else "+"
    return ", ".join([*keys, f"{sign}{words.bytes_text(abs(growth.bytes))}"])


def drawing_of(snapshot: TopologySnapshot) -> Drawing:
    """The picture of its components."""
    return draw_components(snapshot.job.topology.components)
