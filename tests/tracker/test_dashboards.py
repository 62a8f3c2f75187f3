"""Dashboards: samples on a grid, lines of a topology's plan, and charts that say the same to eyes and screen readers."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from bs4 import BeautifulSoup

from ouzel.runtime.observe.task_metrics import CONTAINER, CPU_TIME, MEMORY, STREAM_MANAGER, UPTIME, MetricsSample
from ouzel.runtime.process.container_usage import add_usage, measure_processes, sample_container
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.protocol.cluster.processes import ProcessEntry
from ouzel.tracker.metrics.grids import Grid, GridValues, last_on, rates_on
from ouzel.tracker.metrics.history import EXECUTE_COUNT, History
from ouzel.tracker.pages import charts, dashboards, viz_pages
from ouzel.tracker.pages import topology_pages as pages
from ouzel.tracker.pages.dashboards import LINES_MAX, ChartLine, DashboardMaker, Panel
from tests.tracker.snapshots import EVIL, make_snapshot


def shown(values: GridValues) -> list[float | None]:
    """Values, with None for what is not known."""
    return [None if np.isnan(value) else round(float(value), 6) for value in values]


@pytest.mark.parametrize(
    ("start", "end", "grid"),
    [
        (1_000, 1_180, Grid(1_000, 10, 18)),
        (1_003, 1_180, Grid(1_000, 10, 18)),
        (0, 10_800, Grid(0, 60, 180)),
        (7, 7, Grid(0, 10, 1)),
        (0, 7 * 86_400, Grid(0, 3_360, 180)),
    ],
)
def test_a_grid_has_at_most_so_many_steps(start: int, end: int, grid: Grid) -> None:
    assert Grid.between(start, end) == grid
    assert grid.last >= end


def test_a_rate_is_known_between_the_first_sample_and_the_last() -> None:
    grid = Grid(0, 10, 5)
    assert shown(rates_on([10, 20, 40], [0, 50, 90], grid)) == [None, 5, 2, 2, None]
    assert shown(rates_on([10], [7], grid)) == [None] * 5
    assert shown(rates_on([5, 15], [0, 10], grid)) == [None] * 5


def test_a_value_is_known_until_it_is_stale() -> None:
    assert shown(last_on([5, 25], [1, 2], Grid(0, 10, 4))) == [1, 1, 2, 2]
    assert shown(last_on([5], [1], Grid(80, 10, 3))) == [1, None, None]
    assert shown(last_on([50], [1], Grid(0, 10, 2))) == [None, None]


def history() -> History:
    """Of two spouts, whose processes were started again once; of a stream manager, and of a container."""
    known = History()
    for time_s, rows, life in ((10, 0, 1), (20, 50, 1), (30, 10, 2)):
        watermark_ms = 1_000 * time_s - 4_000
        known.add(
            [
                MetricsSample(
                    time_s, "left", 1, life, frozenset(), {EXECUTE_COUNT: rows, CPU_TIME: rows * 10**8},
                    {"__lag": rows, "__watermark-ms": watermark_ms},
                ),
                MetricsSample(time_s, "right", 2, 1, frozenset(), {EXECUTE_COUNT: 2 * rows, CPU_TIME: 0}, {"__lag": 1}),
                MetricsSample(time_s, STREAM_MANAGER, 1, 1, frozenset(), {"__bytes": 100 * time_s}, {"__back-pressure-tasks": 2}),
                MetricsSample(time_s, CONTAINER, 1, 1, frozenset(), {CPU_TIME: time_s * 10**9}, {MEMORY: 1 << 20}),
            ]
        )  # fmt: skip
    return known


def test_charts_are_made_of_the_plan() -> None:
    boards = {one.title: one for one in DashboardMaker(make_snapshot(), history(), Grid(10, 10, 2)).make()}
    assert list(boards) == ["Health", "Resources", "Components", "Stream managers"]
    lines = {
        (panel.title, line.name): shown(line.values)
        for board in boards.values()
        for panel in board.panels
        for line in panel.lines
    }
    assert lines["Lag", "left"] == [50, 10]
    assert lines["Event time behind the clock", "left"] == [4, 4]
    assert lines["Restarts", "left"] == [0, 1]
    assert lines["Restarts", "stream managers"] == [0, 0]
    assert lines["Back-pressure", "slow tasks"] == [2, 2]
    assert lines["CPU by container", "container 1"] == [1, 1]
    assert lines["Memory by container", "container 1"] == [1 << 20, 1 << 20]
    assert lines["Rows in", "right"] == [10, 0]
    assert lines["CPU time a row", "left"] == [100, 100]
    assert lines["Bytes", "container 1"] == [100, 100]
    assert lines["Rows in", EVIL] == [None, None]


def test_a_step_that_is_not_over_goes_by_what_the_clock_shows_now() -> None:
    boards = {one.title: one for one in DashboardMaker(make_snapshot(), history(), Grid(10, 10, 2, until=27)).make()}
    (behind,) = (one for one in boards["Health"].panels if one.title == "Event time behind the clock")
    assert [list(line.values) for line in behind.lines if line.name == "left"] == [[4, 1]]


def test_of_many_lines_those_with_the_largest_values_are_shown() -> None:
    numbered = [ChartLine(str(number), 0, np.array([float(number), np.nan])) for number in range(20)]
    panel = dashboards._panel("Many", "", numbered)
    assert [line.name for line in panel.lines] == [str(number) for number in range(20 - LINES_MAX, 20)]
    assert panel.left_out == 12


def test_a_chart_has_round_numbers_on_its_axes_and_gaps_where_nothing_is_known() -> None:
    values = np.array([10.0, np.nan, 37.0, 20.0])
    chart = charts.draw_chart(Panel("Rows", "rows/s", (ChartLine("one", 3, values),)), Grid(1_200, 60, 4))
    assert [tick.text for tick in chart.ticks_y] == ["0", "12", "25", "38", "50"]
    assert [tick.text for tick in chart.ticks_x] == ["00:20", "00:21", "00:22", "00:23", "00:24"]
    (line,) = chart.lines
    assert (line.path.count("M"), line.path.count("L"), line.values, line.last) == (2, 1, "10,,37,20", "20 rows/s")
    assert (chart.summary, chart.is_empty) == ("one: 20 rows/s", False)
    empty = charts.draw_chart(Panel("Rows", "", (ChartLine("one", 0, np.array([np.nan])),)), Grid(0, 10, 1))
    assert (empty.is_empty, empty.summary) == (True, "one: –")
    places = [float(x) for x in re.findall(r"[ML]([\d.]+) ", line.path)]
    assert places == sorted(places)
    assert charts.LEFT < places[0] < places[-1] < charts.WIDTH - charts.RIGHT


@pytest.mark.parametrize(
    ("asked", "grid"),
    [
        (("1h", None, None, 500), Grid.between(96_400, 100_000)),
        (("no span", None, None, 500), Grid.between(96_400, 100_000)),
        (("all", None, None, 500), Grid.between(500, 100_000)),
        (("all", None, None, None), Grid.between(99_990, 100_000)),
        (("3h", 2_000, 3_000, 500), Grid.between(2_000, 3_000)),
        (("3h", 3_000, 2_000, 500), Grid.between(3_000, 3_010)),
        (("3h", -5, 1 << 70, 500), Grid.between(0, viz_pages.SPAN_MAX_S)),
        (("3h", 1 << 70, 1 << 71, 500), Grid.between(100_000, 100_000 + viz_pages.SPAN_MAX_S)),
    ],
)
def test_any_span_that_is_asked_for_has_a_grid(
    asked: tuple[str, int | None, int | None, int | None], grid: Grid
) -> None:
    assert viz_pages.find_grid(*asked, now_s=100_000) == grid


def test_names_are_escaped_and_each_chart_is_told_to_screen_readers() -> None:
    grid = Grid(10, 10, 2)
    boards = [
        (board.title, [charts.draw_chart(panel, grid) for panel in board.panels])
        for board in DashboardMaker(make_snapshot(), history(), grid).make()
    ]
    values = {"name": EVIL, "boards": boards, "grid": grid, "span": "1h", **viz_pages._links(EVIL, grid)}
    text = pages.templates.get_template("viz.html").render(**values)
    assert "<script>alert" not in text
    found = BeautifulSoup(text, "html.parser")
    pictures = found.select("svg.chart")
    assert len(pictures) == sum(len(panels) for _, panels in boards)
    assert all(picture["aria-label"] for picture in pictures)
    assert "Lag: left: 10 records" in [str(picture["aria-label"]).partition(";")[0] for picture in pictures]
    assert not [
        name for element in found.find_all(True) for name in element.attrs if name == "style" or name.startswith("on")
    ]


def test_what_the_processes_of_a_container_use_is_added_up(tmp_path: Path) -> None:
    for pid, ticks, resident in ((71, 300, 10), (72, 100, 20)):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "statm").write_text(f"1000 {resident} 5 1 0 900 0\n")
        (folder / "stat").write_text(f"{pid} (a ) name) S 1 1 1 0 -1 4194304 1 0 0 0 {ticks} 50 0 0 20 0 1 0 1 1 1")
    places = {"instance-7": (71, 1), "stream-manager": (72, 1), "gone": (73, 1), "another process now": (72, 9)}
    entries = {name: ProcessEntry(pid, started, 0) for name, (pid, started) in places.items()}
    used = measure_processes(cast(ProcessTable, SimpleNamespace(entries=entries)), tmp_path)
    (sample,) = sample_container(3, used, 99)
    tick_ns, page = 10**9 // os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    assert (sample.component, sample.instance, sample.time_s) == (CONTAINER, 3, 99)
    assert (sample.counts, sample.values) == ({CPU_TIME: 500 * tick_ns}, {MEMORY: 30 * page})
    assert sample_container(3, {}, 99) == []
    told = [
        MetricsSample(99, name, number, 1, frozenset(), {}, {})
        for name, number in (("a", 7), ("a", 8), (STREAM_MANAGER, 3))
    ]
    task, other, manager = add_usage(told, used)
    assert (task.values[MEMORY], manager.values[MEMORY], other.values) == (10 * page, 20 * page, {})
    assert task.values[UPTIME] > 0
