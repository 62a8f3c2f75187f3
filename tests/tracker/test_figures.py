"""The figures of components, instances and containers over a span, and what the boxes of a plan say of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ouzel import session
from ouzel.compiler.written import WrittenOperator, WrittenQuery
from ouzel.explain.written import find_written
from ouzel.planner.packing.plan import Container, PackingPlan
from ouzel.planner.topology import Component, Resources, Topology
from ouzel.runtime.observe.task_metrics import (
    COLLECTING,
    COMPLETE_COUNT,
    COMPLETE_TIME,
    CONTAINER,
    CPU_TIME,
    MEMORY,
    STREAM_MANAGER,
    UPTIME,
    MetricsSample,
    pressure_time_metric,
)
from ouzel.tracker.api.heron_metrics import find_metric
from ouzel.tracker.metrics.history import EXECUTE_COUNT, History
from ouzel.tracker.metrics.series import Minutes
from ouzel.tracker.pages.figures import FIGURES, INSTANCES_SHOWN, OF_CONTAINERS, FigureRow, FigureTables, Since
from ouzel.tracker.pages.marks import mark_components
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from tests.tracker.snapshots import EVIL, make_snapshot, reads

NOW_S = 1_700_000_120
MIB = 1 << 20


def snapshot_of(tasks: int) -> TopologySnapshot:
    """A spout with so many tasks in one container, and a bolt."""
    topology = Topology("made", (Component("left", tasks, (), ()), Component(EVIL, 1, reads("left"), ())))
    packing = PackingPlan((Container(1, tuple(topology.tasks()), Resources(3, 3072)),))
    whole = make_snapshot()
    return replace(whole, job=replace(whole.job, topology=topology, packing=packing))


def history_of(*, slow_ms: int = 0) -> History:
    """Of two tasks of `left`, over 100 s: the first read 100 rows in 50 s of CPU time, the second 300 in 100 s."""
    history = History()
    for time_s in (NOW_S - 100, NOW_S):
        age = time_s - NOW_S + 100
        for task, rows, cpu_s in ((1, 100, 50), (2, 300, 100)):
            counts = {EXECUTE_COUNT: rows * age // 100, CPU_TIME: cpu_s * age * 10_000_000, COLLECTING: task * 5 * age}
            counts |= {COMPLETE_COUNT: rows * age // 100, COMPLETE_TIME: rows * age * task * 10}
            values = {MEMORY: 10 * MIB * task, UPTIME: 1_000 * task + age}
            history.add([MetricsSample(time_s, "left", task, 1, frozenset(), counts, values)])
        pressed = {pressure_time_metric(2): slow_ms * age // 100} if slow_ms else {}
        history.add(
            [
                MetricsSample(
                    time_s,
                    STREAM_MANAGER,
                    1,
                    1,
                    frozenset(),
                    {"__bytes": age * 2_000, **pressed},
                    {"__waiting-bytes": 5},
                )
            ]
        )
        history.add(
            [MetricsSample(time_s, CONTAINER, 1, 1, frozenset(), {CPU_TIME: age * 1_500_000_000}, {MEMORY: 40 * MIB})]
        )
    return history


def tables(tasks: int = 2, **of: int) -> FigureTables:
    """Over the last three minutes."""
    return FigureTables(snapshot_of(tasks), Since(history_of(**of), NOW_S - 180), "/topology/made")


def told(row: FigureRow) -> dict[str, str]:
    """Its cells by their heads."""
    return dict(zip((figure.title for figure in FIGURES), row.cells, strict=True))


def test_a_component_has_the_sums_of_counts_and_the_most_of_shares() -> None:
    left, other = tables(slow_ms=30_000).list_components(lambda name: f"to {name}")
    assert (left.name, left.link, other.name) == ("left", "to left", EVIL)
    cells = told(left)
    assert (cells["Rows in"], cells["CPU a row"], cells["Busy"]) == ("400", "375 ms", "100 %")
    assert cells["Emit to ack"] == "1.75 ms"
    assert (cells["Collector"], cells["Back-pressure"]) == ("1.00 %", "30 %")
    assert (cells["Memory"], cells["Up"], cells["Restarts"]) == ("30.0 MiB", "18 min", "0")
    assert {cell for title, cell in told(other).items() if title != "Back-pressure"} == {"–"}


def test_each_instance_has_its_own_and_leads_to_its_log() -> None:
    (one, two), more = tables(slow_ms=30_000).list_instances("left")
    assert (one.name, one.link, more) == ("left[0]", "/topology/made/logs/1/instance-1.log", 0)
    assert (told(one)["Rows in"], told(two)["Rows in"]) == ("100", "300")
    assert (told(one)["Back-pressure"], told(two)["Back-pressure"]) == ("0 %", "30 %")
    assert [row.name for row in tables().list_instances("")[0]] == ["left[0]", "left[1]", f"{EVIL}[0]"]


def test_of_many_instances_not_all_are_shown() -> None:
    shown, more = tables(INSTANCES_SHOWN + 7).list_instances("")
    assert (len(shown), more) == (INSTANCES_SHOWN, 8)


def test_a_container_has_what_it_asked_for_and_what_it_uses() -> None:
    ((title, cells),) = tables().list_containers()
    assert title == "container 1"
    assert dict(zip(OF_CONTAINERS, cells, strict=True)) == {
        "Cores asked for": "3",
        "Cores used": "1.50",
        "Memory asked for": "3.0 GiB",
        "Memory used": "40.0 MiB",
        "Bytes/s": "2.0 k",
        "Waiting": "5 B",
    }


@pytest.mark.parametrize(("slow_ms", "level", "load"), [(0, "full", "busy 100 %"), (30_000, "slow", "slow 30 %")])
def test_a_box_says_where_time_is_lost(slow_ms: int, level: str, load: str) -> None:
    marks = mark_components(snapshot_of(2), history_of(slow_ms=slow_ms), None, NOW_S)
    assert (marks["left"].level, marks["left"].load, marks["left"].share) == (level, load, 1.0)
    assert (marks[EVIL].level, marks[EVIL].load) == ("none", "")


def test_a_box_has_its_operators_and_their_lines() -> None:
    scan = WrittenOperator("Scan", "lines (file)", (1,))
    written = WrittenQuery(
        "CREATE TABLE\n  SELECT", {"left": (scan, WrittenOperator("Filter", "n > 5", (2, 9), "a.py:3"))}
    )
    mark = mark_components(snapshot_of(1), History(), written, NOW_S)["left"]
    assert mark.operators == ("Scan lines (file)", "Filter n > 5 (a.py:3)", "line 1: CREATE TABLE", "line 2: SELECT")
    assert mark.lines == "1 2 9"


def test_operators_know_their_lines_also_through_views_and_halves_of_an_aggregate(tmp_path: Path) -> None:
    job = session.load_text(
        """CREATE TABLE a (n BIGINT, t TIMESTAMP(3), WATERMARK FOR t AS t) WITH ('connector' = 'datagen');
CREATE VIEW big AS
  SELECT n + 1 AS m, t FROM a
  WHERE n > 5;
SELECT window_start, m,
  SUM(m) AS s
FROM TABLE(TUMBLE(TABLE big, DESCRIPTOR(t), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, m;
""",
        tmp_path,
        "q",
    )
    operators = [one for part in find_written(job.topology, job.program.text).operators.values() for one in part]
    lines = {one.kind: one.lines for one in operators}
    assert (lines["Scan"], lines["Filter"], lines["AssignWindow"]) == ((1,), (4,), (7,))
    assert lines["PartialAggregate"] == lines["FinalAggregate"]
    assert 8 in lines["FinalAggregate"]
    assert any(3 in one.lines for one in operators), "n + 1"


def test_the_text_of_a_query_has_stars_for_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {})
    with pytest.warns(match="stands in the query"):
        job = session.load_text(
            "CREATE TABLE a (n BIGINT) WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:9092', "
            "'format' = 'json', 'properties.sasl.password' = 'hush-hush');\nSELECT n FROM a;",
            tmp_path,
            "q",
        )
    assert "hush" not in find_written(job.topology, job.program.text).text


def test_heron_takes_what_its_collector_did_as_a_running_sum() -> None:
    metric = find_metric(snapshot_of(2), "__jvm-gc-collection-time-ms")
    history = History()
    for minute, spent in enumerate((10, 30, 35)):
        counts = {COLLECTING: spent}
        history.add([MetricsSample(NOW_S + 60 * minute, "left", 1, 1, frozenset(), counts, {})])
    minutes = Minutes(NOW_S // 60 * 60, 3)
    assert metric.series(history, [("left", 1)], minutes, str).values.tolist() == [[10, 30, 35]]
    assert metric.over(history, ("left", 1), 0) == 35
