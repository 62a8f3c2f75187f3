"""Exceptions are folded by component and kind, and `ouzel top` says the same as the pages."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from rich.console import Console

from ouzel.cli.sheets import COMPONENT_HEADS, TOPOLOGY_HEADS, list_components, list_topologies
from ouzel.cli.top import draw_sheet
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.protocol.messages import Event
from ouzel.tracker import words
from ouzel.tracker.api import states
from ouzel.tracker.metrics.history import History
from ouzel.tracker.pages import views
from ouzel.tracker.topologies.happened import fold_exceptions
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from ouzel.tracker.topologies.watching import Unreadable
from tests.tracker.snapshots import EVIL, make_snapshot

SECOND = 1_000_000
NOW_S = 1_700_000_100


def snapshot(*events: Event) -> TopologySnapshot:
    """A topology to which this has happened."""
    one = make_snapshot()
    assert one.status is not None
    return replace(one, status=replace(one.status, events=events))


def test_what_has_happened_is_folded_by_component_and_kind() -> None:
    one = snapshot(
        Event("bad-record", "first", 2, 1, at_us=10 * SECOND),
        Event("restarted", "left died"),
        Event("late-rows", "a late row", 1, 1, at_us=20 * SECOND),
        Event("bad-record", "second", 1, 1, at_us=30 * SECOND),
        Event("bad-record", "first", 1, 1, at_us=25 * SECOND),
        Event("note", "no exception", 1, 1, at_us=99 * SECOND),
        Event("bad-record", "elsewhere", 1, 3),
    )
    folded = fold_exceptions(one)
    assert [(each.component, each.kind, each.count) for each in folded] == [
        ("left", "bad-record", 4),
        ("left", "late-rows", 1),
        ("topology", "restarted", 1),
        (EVIL, "bad-record", 1),
    ]
    bad = folded[0]
    assert (bad.first_us, bad.last_us, bad.log) == (10 * SECOND, 30 * SECOND, (1, "instance-1.log"))
    assert bad.samples == (("left[0]", "second"), ("left[0]", "first"))
    assert (folded[2].last_us, folded[2].log) == (None, None)
    (summary,) = states.exception_summary(one, EVIL, ())
    assert (summary.firsttime, summary.lasttime) == (0, 0)
    bad_records = states.exception_summary(one, "left", ())[0]
    assert (bad_records.class_name, bad_records.count, bad_records.firsttime, bad_records.lasttime) == (
        "bad-record",
        "4",
        10,
        30,
    )
    assert states.exception_logs(one, "left", ())[0].lasttime == "1970-01-01 00:00:10"


def test_why_a_topology_failed_is_what_happened_last() -> None:
    one = snapshot(Event("bad-record", "first", 1, 1, at_us=10 * SECOND))
    failed = replace(one, record=replace(one.record, reason="a task died"))
    assert [each.kind for each in fold_exceptions(failed)] == ["failed", "bad-record"]


def test_top_has_a_line_for_each_topology_and_says_what_is_wrong() -> None:
    broken = Unreadable(replace(make_snapshot().record, name="broken"), Condition.FAILED, "its key\nis gone")
    rows = [
        views.topology_row(make_snapshot(), History(), "7, then", NOW_S),
        views.topology_row(broken, None, "–", NOW_S),
    ]
    sheet = list_topologies(rows)
    assert (sheet.title, sheet.heads) == ("2 topologies", TOPOLOGY_HEADS)
    assert sheet.rows[0] == ("made", "running", "–", "–", "100 s", "12", "7, then", "4")
    assert sheet.notes == ("broken: its key\\nis gone",)
    assert list_topologies([]).title == "no topology is submitted"


def test_top_has_a_line_for_each_component_and_commands_no_terminal() -> None:
    one = snapshot(Event("bad-record", "\x1b[2Jgone", 3, 1, at_us=10 * SECOND))
    sheet = list_components(one, History(), "7, then", NOW_S)
    assert (sheet.title, sheet.heads) == ("made · running · 100 s behind · lag 12 · epoch 7, then", COMPONENT_HEADS)
    assert [row[0] for row in sheet.rows] == ["left", "right", EVIL, "sink"]
    assert sheet.notes == ("left: 3 bad-record, last at 1970-01-01 00:00:10: \\x1b[2Jgone",)


def test_a_terminal_shows_as_many_lines_as_it_has() -> None:
    rows = [views.topology_row(make_snapshot(), History(), "–", NOW_S)] * 50
    console = Console(width=120, height=20)
    with console.capture() as drawn:
        console.print(draw_sheet(list_topologies(rows), console.width, console.height))
    lines = drawn.get().splitlines()
    assert len(lines) <= 20
    assert "34 more do not fit" in lines[-1]


def test_a_narrow_terminal_shows_names_whole_and_fewer_columns() -> None:
    row = views.topology_row(make_snapshot(), History(), "7, 2026-11-26 06:54:07", NOW_S)
    sheet = list_components(snapshot(), History(), "–", NOW_S)
    for width in (50, 80, 120):
        console = Console(width=width, height=20)
        with console.capture() as drawn:
            console.print(draw_sheet(list_topologies([row]), console.width, console.height))
            console.print(draw_sheet(sheet, console.width, console.height))
        lines = drawn.get().splitlines()
        assert lines[1].split()[:2] == ["NAME", "STATE"]
        assert lines[3].split()[:2] == ["made", "running"]
        assert max(map(len, lines)) <= width
        assert "…" not in lines[3]
        assert any("a wider terminal shows LAST EPOCH (UTC)" in line for line in lines) == (width < 90)


def test_durations_are_told_in_their_largest_unit() -> None:
    told = [words.duration_text(seconds) for seconds in (0, 119, 120, 7_199, 7_200, 172_799, 172_800, 1e9)]
    assert told == ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 d", "11,574 d"]
    assert [words.behind_text(time_us, 5) for time_us in (None, 2 * SECOND, 9 * SECOND)] == ["–", "3 s", "0 s"]


def test_top_and_graphite_need_nothing_that_only_the_pages_need() -> None:
    others = {"fastapi", "jinja2", "pydantic", "prometheus_client", "uvicorn"}
    code = f"import sys, ouzel.cli.sheets, ouzel.tracker.metrics.graphite; print(sorted({others} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
