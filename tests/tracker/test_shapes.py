"""A snapshot in Heron's shapes, and as a page: what is not known is not told as 0, and names are escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from bs4 import BeautifulSoup

from ouzel.runtime.cluster.submitted.asking import find_tasks
from ouzel.runtime.observe.samples import OperatorSample
from ouzel.runtime.observe.task_metrics import CPU_TIME, MetricsSample
from ouzel.runtime.process.asks import Ask, AskKind, ask_path, write_ask
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.tracker.api import plans, states
from ouzel.tracker.metrics.history import EXECUTE_COUNT, History
from ouzel.tracker.pages import topology_pages as pages
from ouzel.tracker.pages import views
from ouzel.tracker.pages.drawing import draw_components
from ouzel.tracker.topologies.epochs import EpochSummary
from ouzel.tracker.topologies.results import ResultTail
from ouzel.tracker.topologies.watching import Unreadable
from tests.tracker.snapshots import EVIL, interrupted, make_snapshot

NOW_S = 1_700_000_100
EPOCHS = [
    EpochSummary(7, 1_700_000_000_000_000, {"sink": 0, EVIL: 1_024}),
    EpochSummary(6, 1_699_999_990_000_000, {"sink": 0, EVIL: 1_000}),
]


def history() -> History:
    """Of the first spout: 70 rows in 50 s, with half a core."""
    known = History()
    for time_s, rows in ((NOW_S - 55, 30), (NOW_S - 5, 100)):
        counts = {EXECUTE_COUNT: rows, CPU_TIME: rows * 360_000_000}
        known.add([MetricsSample(time_s, "left", 1, 1, frozenset(), counts, {})])
    return known


def page(tail: ResultTail = ResultTail((EVIL,), ((EVIL,),))) -> str:
    """The page of a topology."""
    return pages.templates.get_template("topology.html").render(
        **pages.describe_page(make_snapshot(), history(), EPOCHS, tail, NOW_S)
    )


def test_plans() -> None:
    one = make_snapshot()
    logical = plans.logical_plan(one).model_dump(by_alias=True)
    assert (logical["stages"], list(logical["spouts"]), list(logical["bolts"])) == (
        2,
        ["left", "right"],
        [EVIL, "sink"],
    )
    assert logical["bolts"]["sink"]["inputComponents"] == [EVIL, "right"]
    packing = plans.packing_plan(one)
    assert [[task.task_id for task in container.instances] for container in packing.container_plans] == [[1, 3], [2, 4]]
    assert packing.container_plans[1].instances[1].instance_resources.ram == 256 << 20
    assert packing.container_plans[0].scheduled_resources.disk == 0
    physical = plans.physical_plan(one)
    assert (physical.stmgrs["stmgr-1"].pid, physical.stmgrs["stmgr-2"].pid) == (71, 0)
    assert physical.instance_groups == {
        "container_1": ["container_1_left_1", f"container_1_{EVIL}_3"],
        "container_2": ["container_2_right_2", "container_2_sink_4"],
    }


def test_a_topology_whose_processes_are_gone_has_no_physical_plan_and_is_killed() -> None:
    state = states.execution_state(interrupted())
    assert (state.status, state.has_physical_plan, state.has_packing_plan) == ("KILLED", False, True)
    assert not state.has_tmanager_location
    assert not states.runtime_state(interrupted()).stmgrs["stmgr-1"].is_registered
    row = views.topology_row(interrupted(), History(), "–", NOW_S)
    assert (row.state, row.rate_in, row.watermark, row.lag) == ("interrupted", "–", "–", "–")


def test_a_stream_manager_that_does_not_run_is_not_registered() -> None:
    registered = states.runtime_state(make_snapshot()).stmgrs
    assert {name: one.is_registered for name, one in registered.items()} == {"stmgr-1": True, "stmgr-2": False}


def test_exceptions_are_those_of_a_component_and_notes_are_none() -> None:
    (log,) = states.exception_logs(make_snapshot(), EVIL, ())
    assert (log.instance_id, log.count, log.logging) == (f"container_1_{EVIL}_3", "3", "bad-record")
    assert states.exception_logs(make_snapshot(), "left", ()) == []
    assert states.exception_logs(make_snapshot(), EVIL, ["container_1_left_1"]) == []
    (summary,) = states.exception_summary(make_snapshot(), EVIL, ())
    assert (summary.class_name, summary.count) == ("bad-record", "3")


def test_the_line_of_a_topology() -> None:
    row = views.topology_row(make_snapshot(), history(), "7, then", NOW_S)
    assert (row.rate_in, row.rate_out, row.lag, row.exceptions) == ("1.4", "–", "12", 4)
    assert row.watermark == "2023-11-14 22:13:20"
    record = make_snapshot().record
    broken = views.topology_row(Unreadable(record, Condition.FAILED, "its key is gone"), None, "–", NOW_S)
    assert (broken.name, broken.problem, broken.rate_in) == ("made", "its key is gone", "–")


def test_the_statistics_of_components_say_how_busy_the_busiest_task_was() -> None:
    rows = {row.name: row for row in views.component_rows(make_snapshot(), history(), NOW_S)}
    assert (rows["left"].rate_in, rows["left"].rows_in) == ("1.4", "100")
    assert [(load.text, load.level) for load in rows["left"].loads] == [("50 %", "busy")] * 4
    assert {load.level for load in rows["sink"].loads} == {"none"}
    assert rows["sink"].rows_in == "–"


def test_boxes_go_from_left_to_right_and_none_covers_another() -> None:
    drawing = draw_components(make_snapshot().job.topology.components)
    boxes = {box.name: box for box in drawing.boxes}
    assert boxes["left"].x == boxes["right"].x < boxes[EVIL].x < boxes["sink"].x
    assert len({(box.x, box.y) for box in drawing.boxes}) == 4
    assert {(line.source, line.target) for line in drawing.lines} == {
        ("left", EVIL), ("right", EVIL), (EVIL, "sink"), ("right", "sink")
    }  # fmt: skip
    assert max(box.x for box in drawing.boxes) < drawing.width


def test_names_texts_and_cells_are_escaped() -> None:
    text = page()
    assert "<script>alert" not in text
    found = BeautifulSoup(text, "html.parser")
    assert [script.get("src") for script in found.select("script")] == ["/static/ouzel.js"]
    assert found.select_one("#results td").text == EVIL  # type: ignore[union-attr]
    assert EVIL in [title.text.partition(" ")[2].rpartition(",")[0] for title in found.select(".box title")]
    row = replace(make_snapshot().record, reason=EVIL)
    broken = pages.templates.get_template("list.html").render(
        rows=[views.topology_row(Unreadable(row, Condition.FAILED, EVIL), None, EVIL, NOW_S)],
        problems=[EVIL],
    )
    assert "<script>alert" not in broken


def test_the_page_says_what_is_asked_of_whom_and_until_when(tmp_path: Path) -> None:
    snapshot = make_snapshot()
    job = replace(snapshot.job, home=tmp_path)
    for container in job.containers:
        job.container(container).mkdir()
    until_us = NOW_S * 1_000_000 + 60_000_000
    for folder, task in find_tasks(job):
        write_ask(ask_path(folder, AskKind.SAMPLES, task.id), Ask("on", NOW_S * 1_000_000))
        if task.component in (EVIL, "left"):
            write_ask(ask_path(folder, AskKind.LOG_LEVEL, task.id), Ask("debug", until_us))
    shown = pages.describe_page(replace(snapshot, job=job), history(), EPOCHS, ResultTail((), ()), NOW_S)
    found = BeautifulSoup(pages.templates.get_template("topology.html").render(**shown), "html.parser")
    assert [one.text for one in found.select(".asked")] == [
        f"until 2023-11-14 22:16:00 UTC log level debug: left[0], {EVIL}[0]"
    ]
    assert not found.select(".asked script")


def test_sampled_rows_are_escaped() -> None:
    sample = OperatorSample(EVIL, (EVIL,), ((EVIL,),), 1_700_000_000_000_000)
    shown = pages.describe_page(make_snapshot(), history(), EPOCHS, ResultTail((), ()), NOW_S)
    shown["samples"] = [(make_snapshot().job.topology.tasks()[2], sample)]
    text = pages.templates.get_template("topology.html").render(**shown)
    assert "<script>alert" not in text
    found = BeautifulSoup(text, "html.parser")
    assert [cell.text for cell in found.select("table.samples th, table.samples td")] == [EVIL, EVIL]
    assert f"{EVIL}[0] · {EVIL}, 2023-11-14 22:13:20 UTC" in [head.text for head in found.select("h3")]


def test_pages_ask_no_other_host_and_carry_no_style_or_code_that_the_policy_forbids() -> None:
    listed = pages.templates.get_template("list.html").render(rows=[], problems=[])
    for text in (
        page(),
        listed,
        (pages.HERE / "static/ouzel.css").read_text(),
        (pages.HERE / "static/ouzel.js").read_text(),
    ):
        assert re.findall(r"//\w[^\s\"]*", text) in ([], ["//www.w3.org/2000/svg"])
        assert "@import" not in text
    for element in BeautifulSoup(page() + listed, "html.parser").find_all(True):
        assert not [name for name in element.attrs if name == "style" or name.startswith("on")]


def test_screen_readers_find_a_name_for_each_picture_field_and_table() -> None:
    listed = pages.templates.get_template("list.html").render(rows=[], problems=[])
    found = BeautifulSoup(page() + listed, "html.parser")
    for svg in found.select("svg:not([aria-hidden])"):
        assert svg.get("aria-label") or svg.get("aria-labelledby")
    for field in found.select("input"):
        assert found.select_one(f"label[for={field['id']}]")
    for region in found.select("[role=region], [role=group]"):
        assert region.get("aria-label")
    ids = {element["id"] for element in found.select("[id]")}
    named = " ".join(str(element["aria-labelledby"]) for element in found.select("[aria-labelledby]"))
    assert set(named.split()) <= ids
    assert all(head.get("scope") for head in found.select("#topologies th, #components th"))
