"""State by operator: from reports to samples, over all tasks, on the page, on the dashboards, in REST and for Prometheus."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bs4 import BeautifulSoup
from prometheus_client.parser import text_string_to_metric_families

from ouzel.runtime.observe.task_metrics import STATE_BYTES, STATE_KEYS, STATE_ROWS, MetricsSample, sample_task
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.wire.wire_pb2 import OperatorStateSize, TaskReport
from ouzel.tracker.api import states
from ouzel.tracker.metrics.grids import Grid
from ouzel.tracker.metrics.history import History
from ouzel.tracker.metrics.otlp import _Waiting, to_metrics
from ouzel.tracker.metrics.prometheus import exposition, labels_of
from ouzel.tracker.pages import topology_pages
from ouzel.tracker.pages.dashboards import DashboardMaker
from ouzel.tracker.topologies.results import ResultTail
from ouzel.tracker.topologies.state_sizes import list_operator_sizes
from tests.tracker.snapshots import EVIL, make_snapshot

JOIN, GROUP, OWN = "1 Join", "2 Aggregation", "own state"
NOW_S = 10_000


def sample(time_s: int, component: str, task: int, **values: float) -> MetricsSample:
    """What a task says of its state: operator, what, and how much."""
    begins = {"keys": STATE_KEYS, "rows": STATE_ROWS, "bytes": STATE_BYTES}
    told = {begins[name[1:]] + {"j": JOIN, "g": GROUP, "o": OWN}[name[0]]: value for name, value in values.items()}
    return MetricsSample(time_s, component, task, 1, frozenset(), {}, told)


def grown() -> History:
    """A join and an aggregation in one task, and a bolt in Python that has told of bytes alone, for five minutes."""
    known = History()
    known.add(
        [
            sample(NOW_S - 7_000, EVIL, 3, jkeys=10, jrows=20, jbytes=1_000, gkeys=5, gbytes=100),
            sample(NOW_S - 1_000, EVIL, 3, jkeys=40, jrows=80, jbytes=4_000, gkeys=5, gbytes=100),
            sample(NOW_S - 10, EVIL, 3, jkeys=50, jrows=90, jbytes=5_000, gkeys=4, gbytes=90),
            sample(NOW_S - 400, "sink", 4),
            sample(NOW_S - 300, "sink", 4, obytes=700),
            sample(NOW_S - 10, "sink", 4, obytes=900),
        ]
    )
    return known


def test_what_is_not_known_of_an_operator_is_not_told() -> None:
    report = TaskReport(task=3, component="counts")
    report.states.append(OperatorStateSize(operator=JOIN, keys=0, bytes=64))
    report.states.append(OperatorStateSize(operator=OWN))
    values = sample_task(report, 5).values
    assert {name: value for name, value in values.items() if "state" in name} == {
        f"{STATE_KEYS}{JOIN}": 0,
        f"{STATE_BYTES}{JOIN}": 64,
    }


def test_growth_is_since_then_or_since_it_was_first_told() -> None:
    join, group, own = list_operator_sizes(make_snapshot(), grown(), NOW_S)
    assert (join.component, join.operator, join.tasks, join.keys, join.rows, join.bytes) == (
        EVIL,
        JOIN,
        1,
        50,
        90,
        5_000,
    )
    assert [(one.seconds, one.keys, one.bytes) for one in join.growth] == [(600, 10, 1_000), (3_600, 40, 4_000)]
    assert [(one.keys, one.bytes) for one in group.growth] == [(-1, -10), (-1, -10)]
    assert (own.keys, own.rows, own.bytes) == (None, None, 900)
    assert [(one.keys, one.bytes) for one in own.growth] == [(None, 200), (None, 200)]


def test_tasks_are_added_up_also_those_that_have_not_told_for_as_long() -> None:
    one = make_snapshot()
    parts = [replace(part, parallelism=2 if part.name == "left" else 1) for part in one.job.topology.components]
    one = replace(one, job=replace(one.job, topology=replace(one.job.topology, components=tuple(parts))))
    known = History()
    known.add([sample(NOW_S - 4_000, "left", 1, gkeys=3, gbytes=10), sample(NOW_S - 10, "left", 1, gkeys=7, gbytes=20)])
    known.add([sample(NOW_S - 20, "left", 2, gkeys=100, gbytes=500)])
    (size,) = list_operator_sizes(one, known, NOW_S)
    assert (size.tasks, size.keys, size.bytes) == (2, 107, 520)
    assert [(each.keys, each.bytes) for each in size.growth] == [(4, 10), (4, 10)]


def test_the_page_tells_it_and_shows_no_name_as_html() -> None:
    shown = topology_pages.describe_page(make_snapshot(), grown(), [], ResultTail((), ()), NOW_S)
    page = BeautifulSoup(topology_pages.templates.get_template("standing.html").render(**shown), "html.parser")
    rows = [[cell.text for cell in row.select("th, td")] for row in page.select("#operators tbody tr")]
    assert rows == [
        [EVIL, JOIN, "1", "50", "90", "4.9 KiB", "+10 keys, +1000 B", "+40 keys, +3.9 KiB"],
        ["sink", OWN, "1", "–", "–", "900 B", "+200 B", "+200 B"],
        [EVIL, GROUP, "1", "4", "–", "90 B", "-1 keys, -10 B", "-1 keys, -10 B"],
    ]
    assert not page.select("#operators script")
    nothing = topology_pages.describe_page(make_snapshot(), History(), [], ResultTail((), ()), NOW_S)
    assert "operators-head" not in topology_pages.templates.get_template("standing.html").render(**nothing)


def test_dashboards_have_a_line_an_operator() -> None:
    boards = DashboardMaker(make_snapshot(), grown(), Grid(NOW_S - 60, 60, 2)).make()
    lines = {
        (panel.title, line.name): float(line.values[0])
        for panel in boards[2].panels
        for line in panel.lines
        if panel.title in ("State", "Keys of state")
    }
    assert lines == {
        ("State", f"{EVIL} {JOIN}"): 5_000,
        ("State", f"{EVIL} {GROUP}"): 90,
        ("State", "sink"): 900,
        ("Keys of state", f"{EVIL} {JOIN}"): 50,
        ("Keys of state", f"{EVIL} {GROUP}"): 4,
    }
    assert "State" not in [
        panel.title for panel in DashboardMaker(make_snapshot(), History(), Grid(0, 60, 2)).make()[2].panels
    ]


def scraped(condition: Condition) -> dict[tuple[str, str, str], float]:
    """What Prometheus reads of operators."""
    text = exposition([(replace(make_snapshot(), condition=condition), grown())], NOW_S).decode()
    found = {}
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            if family.name.startswith("ouzel_operator"):
                assert set(one.labels) == set(labels_of(family))
                found[family.name, one.labels["component"], one.labels["operator"]] = one.value
    return found


def test_prometheus_gets_it_of_what_runs() -> None:
    assert scraped(Condition.RUNNING) == {
        ("ouzel_operator_keys", EVIL, JOIN): 50,
        ("ouzel_operator_keys", EVIL, GROUP): 4,
        ("ouzel_operator_rows", EVIL, JOIN): 90,
        ("ouzel_operator_state_bytes", EVIL, JOIN): 5_000,
        ("ouzel_operator_state_bytes", EVIL, GROUP): 90,
        ("ouzel_operator_state_bytes", "sink", OWN): 900,
    }
    assert scraped(Condition.INTERRUPTED) == {}


def test_opentelemetry_gets_it_in_bytes() -> None:
    told = to_metrics([_Waiting("made", 0, sample(5, "sink", 4, obytes=900, jkeys=2))])
    metrics: Any = told.resource_metrics[0].scope_metrics[0].metrics
    assert {one.name: one.unit for one in metrics} == {
        "ouzel.state-bytes/own_state": "By",
        "ouzel.state-keys/1_Join": "",
    }


def test_rest_has_one_answer_an_operator() -> None:
    found = states.state_shapes(make_snapshot(), grown(), NOW_S)
    assert [(one.component, one.operator, one.keys, one.bytes, one.tables) for one in found] == [
        (EVIL, JOIN, 50, 5_000, []),
        (EVIL, GROUP, 4, 90, []),
        ("sink", OWN, None, 900, []),
    ]
    assert found[0].growth[0].model_dump() == {"seconds": 600, "keys": 10, "bytes": 1_000}
