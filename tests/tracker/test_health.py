"""Symptoms and verdicts: what is told of which numbers, and that nothing is told of a healthy topology."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from ouzel.planner.settings import Settings
from ouzel.runtime.checkpoints.manifest import PartTimes
from ouzel.runtime.observe.task_metrics import (
    CONTAINER,
    CPU_TIME,
    MEMORY,
    MetricsSample,
    sample_stream_manager,
)
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.wire.wire_pb2 import StreamManagerReport
from ouzel.tracker.health.checkup import check_health
from ouzel.tracker.health.detectors import DETECTORS, SILENT_S, detect_symptoms
from ouzel.tracker.health.diagnosers import DIAGNOSERS, diagnose
from ouzel.tracker.health.readings import ComponentReading, Readings, TaskReading, Trend, find_trend
from ouzel.tracker.health.sensors import YOUNG_S, read_sensors
from ouzel.tracker.metrics.history import EXECUTE_COUNT, History
from ouzel.tracker.pages import topology_pages, views
from ouzel.tracker.topologies.epochs import EpochSummary
from ouzel.tracker.topologies.results import ResultTail
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from tests.tracker.snapshots import EVIL, make_snapshot

CALM = TaskReading(0, rows_s=1_000.0, cores=0.4, cores_long=0.4, pressed=0.0)
RISING = Trend((1e3, 2e4, 4e4), 60.0, 600.0)


def bolt(name: str, *inputs: str, **of_tasks: tuple[float, ...]) -> ComponentReading:
    """A component of as many tasks as values are given of each number; else they are calm."""
    count = max((len(values) for values in of_tasks.values()), default=2)
    tasks = [replace(CALM, index=place, **{key: of_tasks[key][place] for key in of_tasks}) for place in range(count)]
    return ComponentReading(name, inputs, tuple(tasks))


def of(*bolts: ComponentReading, **others: object) -> Readings:
    """A topology of one spout, `lines`, and these."""
    return Readings("made", (bolt("lines"), *bolts), **others)  # type: ignore[arg-type]


def titles(readings: Readings) -> list[str]:
    """What is the matter, in short."""
    return [one.title for one in diagnose(readings)]


def test_a_healthy_topology_has_no_symptoms() -> None:
    assert detect_symptoms(of(bolt("split", "lines"), bolt("count", "split"))) == []
    assert diagnose(Readings("made", ())) == []


SICK = {
    "back-pressure": of(bolt("count", "lines", pressed=(0.2, 0.0))),
    "slow-link": of(slow_links={(1, 2): 0.5}),
    "growing-waits": of(waiting={1: Trend((1e5, 1e6, 2e6), 1.0, 600.0)}),
    "rate-skew": of(bolt("count", "lines", rows_s=(300.0, 100.0, 110.0))),
    "cost-skew": of(bolt("count", "lines", cores=(0.9 - 1e-9, 0.1, 0.1))),
    "full-task": of(bolt("count", "lines", cores=(0.9,))),
    "idle-tasks": of(bolt("count", "lines", cores_long=(0.2, 0.1))),
    "growing-lag": of(lag=RISING),
    "growing-memory": of(memory={1: Trend((2e8, 4e8, 5e8), 1.0, 1_800.0)}),
    "late-epoch": of(epoch_interval_s=10.0, epoch_age_s=120.0),
    "silent-master": of(silence_s=SILENT_S),
}
WELL = {
    "back-pressure": of(bolt("count", "lines", pressed=(0.19, 0.0))),
    "slow-link": of(slow_links={(1, 2): 0.1}),
    "growing-waits": of(waiting={1: Trend((3e6, 1e6, 2e6), 1.0, 600.0), 2: Trend((1.0, 2.0, 3.0), 1.0, 600.0)}),
    "rate-skew": of(bolt("count", "lines", rows_s=(140.0, 100.0)), bolt("few", "lines", rows_s=(9.0, 0.0))),
    "cost-skew": of(bolt("count", "lines", cores=(0.6, 0.3))),
    "full-task": of(bolt("count", "lines", cores=(0.89,))),
    "idle-tasks": of(bolt("count", "lines", cores_long=(0.31, 0.0)), bolt("one", "lines", cores_long=(0.0,))),
    "growing-lag": of(lag=Trend((1e6, 1.1e6, 1.15e6), 1.0, 600.0)),
    "growing-memory": of(memory={1: Trend((2e8, 4e8, 5e8), 1.0, 900.0), 2: Trend((1e9, 1.1e9, 1.2e9), 1.0, 3_600.0)}),
    "late-epoch": of(epoch_interval_s=600.0, epoch_age_s=1_799.0),
    "silent-master": of(silence_s=SILENT_S / 2),
}


@pytest.mark.parametrize("kind", [row.kind for row in DETECTORS])
def test_each_detector_fires_where_it_should_and_nowhere_else(kind: str) -> None:
    found = detect_symptoms(SICK[kind])
    assert [one.kind for one in found] == [kind]
    assert found[0].text
    assert detect_symptoms(WELL[kind]) == []


def test_the_last_of_those_under_back_pressure_is_the_cause() -> None:
    pressed = (0.9, 0.8)
    chain = of(bolt("split", "lines", pressed=pressed), bolt("count", "split", pressed=pressed), bolt("out", "count"))
    (verdict,) = diagnose(chain)
    assert (verdict.title, verdict.component, verdict.tasks) == ("under-provisioned: count", "count", 4)
    assert "--parallelism count=4" in verdict.advice
    assert "count[0]" in verdict.evidence[0].text


def test_two_branches_may_both_be_slow() -> None:
    branches = of(bolt("one", "lines", pressed=(1.0,)), bolt("other", "lines", pressed=(1.0,)))
    assert titles(branches) == ["under-provisioned: one", "under-provisioned: other"]


def test_one_task_is_slow_by_its_keys_or_by_itself() -> None:
    pressed = (0.0, 0.9, 0.0)
    skewed = of(bolt("count", "lines", pressed=pressed, rows_s=(100.0, 900.0, 90.0)))
    assert titles(skewed) == ["data-skew: count[1]"]
    slow = of(bolt("count", "lines", pressed=pressed, rows_s=(100.0, 60.0, 90.0)))
    (verdict,) = diagnose(slow)
    assert verdict.title == "slow-instance: count[1]"
    assert "ouzel restart made 'count[1]'" in verdict.advice


def test_a_slow_task_that_waits_for_something_else_is_told_so() -> None:
    (waits,) = diagnose(of(bolt("out", "lines", pressed=(1.0,), cores=(0.1,))))
    (full,) = diagnose(of(bolt("out", "lines", pressed=(1.0,), cores=(0.99,))))
    assert "a server, or a disk" in waits.advice
    assert "a server" not in full.advice
    assert [one.kind for one in full.evidence] == ["back-pressure", "full-task"]


def test_tasks_to_spare_are_told_only_while_all_goes_well() -> None:
    idle = bolt("count", "lines", cores_long=(0.1, 0.05, 0.05, 0.05))
    (verdict,) = diagnose(of(idle))
    assert (verdict.kind, verdict.component, verdict.tasks) == ("over-provisioned", "count", 1)
    assert titles(of(idle, lag=RISING)) == ["growing-lag"]
    assert titles(of(idle, bolt("out", "count", pressed=(1.0,)))) == ["under-provisioned: out"]


def test_lag_that_a_slow_component_explains_is_no_verdict_of_its_own() -> None:
    assert titles(of(lag=RISING)) == ["growing-lag"]
    assert titles(of(bolt("count", "lines", pressed=(1.0,)), lag=RISING)) == ["under-provisioned: count"]
    source = Readings("made", (bolt("lines", cores=(0.95,)),), lag=RISING)
    assert titles(source) == ["under-provisioned: lines"]


def test_where_rows_are_too_small_for_back_pressure_full_tasks_are_slow_while_lag_grows() -> None:
    full = bolt("count", "lines", cores=(0.95, 0.92))
    assert titles(of(full)) == []
    (verdict,) = diagnose(of(full, lag=RISING))
    assert (verdict.title, verdict.component, verdict.tasks) == ("under-provisioned: count", "count", 4)
    assert [one.kind for one in verdict.evidence] == ["growing-lag", "full-task", "full-task"]
    skewed = bolt("count", "lines", cores=(0.95, 0.2, 0.2), rows_s=(900.0, 100.0, 110.0))
    assert titles(of(skewed, lag=RISING)) == ["data-skew: count[0]"]
    slow = bolt("count", "lines", cores=(0.95, 0.2, 0.2), rows_s=(100.0, 100.0, 110.0))
    assert titles(of(slow, lag=RISING)) == ["slow-instance: count[0]"]


def test_the_rest_is_told_with_what_to_do() -> None:
    assert titles(SICK["late-epoch"]) == ["hanging-epochs"]
    assert titles(SICK["silent-master"]) == ["silent-master"]
    assert titles(SICK["slow-link"]) == ["slow-connection: container 2"]
    grown = replace(SICK["growing-memory"], state={"count": 900, "lines": 10})
    (verdict,) = diagnose(grown)
    assert verdict.title == "growing-state: count"
    assert verdict.advice.startswith("count keeps most; ouzel explain made")


def test_every_diagnoser_is_looked_at_here() -> None:
    found = {one.kind for readings in SICK.values() for one in diagnose(readings)}
    assert found | {"data-skew", "under-provisioned"} == {row.kind for row in DIAGNOSERS}


shares = st.none() | st.floats(0, 1)
numbers = st.builds(TaskReading, st.just(0), st.none() | st.floats(0, 1e6), shares, shares, shares)


@given(st.lists(st.lists(numbers, min_size=1, max_size=4), min_size=1, max_size=4), st.booleans())
def test_a_verdict_has_evidence_and_names_what_is_there(parts: list[list[TaskReading]], lags: bool) -> None:
    components = tuple(
        ComponentReading(f"c{place}", (f"c{place - 1}",) if place else (), tuple(replace(t, index=i) for i, t in enumerate(tasks)))
        for place, tasks in enumerate(parts)
    )  # fmt: skip
    verdicts = diagnose(Readings("made", components, lag=RISING if lags else None))
    for one in verdicts:
        assert one.evidence
        if one.component:
            assert one.tasks != len(next(part for part in components if part.name == one.component).tasks)
    assert len({(one.kind, one.place) for one in verdicts}) == len(verdicts)
    up, down = ({one.component for one in verdicts if one.kind == f"{side}-provisioned"} for side in ("under", "over"))
    assert not (up and down)


def test_a_trend_needs_points_and_goes_by_thirds() -> None:
    assert find_trend(np.array([1.0] * 5), 10) is None
    rising = find_trend(np.array([np.nan, 0, 10, 20, 30, np.nan, 50, 60]), 10)
    assert rising is not None
    assert rising.rises
    assert (rising.slope_s, rising.span_s) == (pytest.approx(1.0), 60)
    flat = find_trend(np.array([5.0] * 9), 10)
    assert flat is not None
    assert not flat.rises


NOW_S = 1_700_000_600


def running_history(since_s: int) -> History:
    """Samples every ten seconds: too much waits for task 3 all the time, from container 1 to 2 now and then, and memory grows."""
    history = History()
    for place, time_s in enumerate(range(since_s, NOW_S + 1, 10)):
        slow = [3, -2] if place % 4 == 0 else [3]
        report = StreamManagerReport(container=1, incarnation=1, slow=slow)
        counts = {EXECUTE_COUNT: 500 * place, CPU_TIME: 9_500_000_000 * place}
        history.add(
            [
                sample_stream_manager(report, time_s),
                MetricsSample(time_s, "left", 1, 1, frozenset(), counts, {"__lag": 100.0 * place}),
                MetricsSample(time_s, CONTAINER, 1, 1, frozenset(), {}, {MEMORY: 1e6 * place}),
            ]
        )
    return history


def since(begin_s: int, **settings: int) -> TopologySnapshot:
    """The made topology, running since then."""
    one = make_snapshot()
    topology = replace(one.job.topology, settings=replace(Settings(), **settings))  # type: ignore[arg-type]
    record = replace(one.record, since_us=begin_s * 1_000_000)
    return replace(one, record=record, job=replace(one.job, topology=topology))


def test_sensors_read_a_history() -> None:
    begin = NOW_S - 600
    epochs = [EpochSummary(4, (NOW_S - 30) * 1_000_000, {"sink": 7})]
    readings = read_sensors(since(begin, checkpoint_interval_ms=10_000), running_history(begin), epochs, NOW_S)
    left, evil = readings.find("left"), readings.find(EVIL)
    assert (left.tasks[0].rows_s, left.tasks[0].cores, left.tasks[0].pressed) == (50.0, 0.95, 0.0)
    assert left.tasks[0].cores_long is None
    assert evil.tasks[0].pressed == 1.0
    assert evil.inputs == ("left", "right")
    assert 0.1 < readings.slow_links[1, 2] < 0.4
    assert readings.lag is not None
    assert readings.lag.slope_s == pytest.approx(10.0, rel=0.1)
    assert readings.memory[1].rises
    assert (readings.epoch_interval_s, readings.epoch_age_s, dict(readings.state)) == (10.0, 30.0, {"sink": 7})
    titles_found = [one.title for one in diagnose(readings)]
    assert titles_found == [f"under-provisioned: {EVIL}"]


def test_of_a_young_run_and_of_one_that_does_not_run_nothing_is_told() -> None:
    begin = NOW_S - YOUNG_S // 2
    assert check_health(since(begin), running_history(begin), [], NOW_S) == []
    old = since(NOW_S - 600)
    assert check_health(old, running_history(NOW_S - 600), [], NOW_S)
    for condition in set(Condition) - {Condition.RUNNING}:
        assert check_health(replace(old, condition=condition), running_history(NOW_S - 600), [], NOW_S) == []


def test_an_epoch_is_overdue_since_the_start_not_since_one_of_last_week() -> None:
    last_week = [EpochSummary(4, (NOW_S - 7 * 86_400) * 1_000_000, {})]
    young, old = (since(NOW_S - age, checkpoint_interval_ms=10_000) for age in (100, 200))
    assert read_sensors(young, History(), last_week, NOW_S).epoch_age_s == 100
    assert [one.kind for one in check_health(young, History(), last_week, NOW_S)] == []
    assert [one.kind for one in check_health(old, History(), last_week, NOW_S)] == ["hanging-epochs"]


def page_of(snapshot: TopologySnapshot, history: History, epochs: Sequence[EpochSummary] = ()) -> BeautifulSoup:
    """Its page."""
    shown = topology_pages.describe_page(snapshot, history, list(epochs), ResultTail((), ()), NOW_S)
    return BeautifulSoup(topology_pages.templates.get_template("topology.html").render(**shown), "html.parser")


def test_the_page_shows_verdicts_with_their_evidence() -> None:
    soup = page_of(since(NOW_S - 600), running_history(NOW_S - 600))
    told = soup.select_one(".verdicts > li")
    assert told is not None
    assert f"under-provisioned: {EVIL}" in told.text
    assert "100 % of the time" in told.select("li")[0].text
    assert not soup.select(".verdicts script")
    assert not page_of(since(NOW_S - 5), History()).select(".verdicts")


def test_the_page_says_when_what_it_shows_is_old() -> None:
    silent = replace(make_snapshot(), silence_s=75.0)
    told = page_of(silent, History()).select_one("#old")
    assert told is not None
    assert "nothing for 75 s" in told.text
    assert "silent-master" in page_of(silent, History()).text
    assert views.old_text(replace(silent, silence_s=1.0)) == ""
    assert views.old_text(replace(silent, condition=Condition.STOPPED)) == ""


def test_epochs_and_state_by_component() -> None:
    epochs = [
        EpochSummary(
            7,
            30_000_000,
            {"sink": 0, EVIL: 900, "left": 50},
            f"{EVIL}[0]",
            PartTimes(1.0, 2.5, 1_000.0),
            {EVIL: 7_000, "left": 0},
        ),
        EpochSummary(6, 18_000_000, {"sink": 0, EVIL: 400}),
    ]
    assert [(row.number, row.after, row.size, row.slowest, row.stages) for row in views.epoch_rows(epochs)] == [
        (7, "12.0 s", "950", f"{EVIL}[0]", ("1.0 ms", "2.5 ms", "1000.0 ms")),
        (6, "–", "400", "–", ("–", "–", "–")),
    ]
    shown = page_of(make_snapshot(), History(), epochs)
    assert [cell.text for cell in shown.select("#epochs tbody tr:first-child td")][3:] == [
        f"{EVIL}[0]",
        "1.0 ms",
        "2.5 ms",
        "1000.0 ms",
    ]
    assert not shown.select("#epochs script")
    assert views.state_rows(epochs) == [(EVIL, "7,000", "900", "+500"), ("left", "–", "50", "+50")]
    assert views.state_rows(epochs[:1]) == [(EVIL, "7,000", "900", "–"), ("left", "–", "50", "–")]
    assert views.state_rows([]) == []
