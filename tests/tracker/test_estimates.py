"""What a topology would need for a rate, how wrong that was, and what may be sampled for it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.cli.resources import seconds_of
from ouzel.errors import NotSupported, OuzelError
from ouzel.planner.settings import Delivery, Settings
from ouzel.runtime.observe.task_metrics import CPU_TIME, MetricsSample
from ouzel.session import load_text
from ouzel.tracker.health.estimates import (
    EstimateError,
    MeasuredPart,
    compare_estimate,
    estimate_resources,
    read_estimate,
    write_estimate,
)
from ouzel.tracker.health.measuring import check_can_be_sampled, measure, read_memory_of_tasks, without_traces
from ouzel.tracker.metrics.history import EXECUTE_COUNT, History
from tests.tracker.snapshots import make_snapshot

MEASURED = (
    MeasuredPart("lines", True, 1, 1_000.0, 0.1, 100 << 20),
    MeasuredPart("split", False, 1, 1_000.0, 0.6, 200 << 20),
    MeasuredPart("count", False, 2, 5_000.0, 0.5),
)
TABLE = "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'rows' = '10');"


def tasks_of(rate_s: float | None, goal_s: float | None = None) -> dict[str, int]:
    """What is proposed for a rate."""
    return {one.name: one.tasks for one in estimate_resources(MEASURED, rate_s, goal_s).parts}


def test_what_is_measured_is_scaled_to_the_rate() -> None:
    assert tasks_of(None) == {"lines": 1, "split": 1, "count": 1}
    assert tasks_of(4_000.0) == {"lines": 1, "split": 4, "count": 4}
    split = estimate_resources(MEASURED, 4_000.0).parts[1]
    assert (split.rows_s, split.cores, split.memory_mb) == (4_000.0, pytest.approx(2.4), 256)
    assert estimate_resources(MEASURED).parts[2].memory_mb is None


def test_a_lag_goal_asks_for_room_to_catch_up() -> None:
    assert tasks_of(2_000.0) == {"lines": 1, "split": 2, "count": 2}
    assert tasks_of(2_000.0, 30.0) == {"lines": 1, "split": 4, "count": 4}
    assert tasks_of(2_000.0, 3_000.0) == {"lines": 1, "split": 3, "count": 2}


def test_what_cannot_have_more_tasks_keeps_them_and_says_why() -> None:
    def why(name: str, tasks: int) -> str:
        return "one task keeps them" if name == "split" and tasks > 1 else ""

    split = estimate_resources(MEASURED, 4_000.0, why_fixed=why).parts[1]
    assert (split.tasks, split.note) == (1, "4 would be needed, but: one task keeps them")
    idle = estimate_resources((*MEASURED, MeasuredPart("late", False, 1, 0.0, 0.01)), 4_000.0).parts[3]
    assert (idle.tasks, idle.note) == (1, "no row came to it")
    source = estimate_resources((replace(MEASURED[0], cores=0.9),), 2_000.0).parts[0]
    assert (source.tasks, source.note) == (3, "if its table has so many partitions")


def test_an_estimate_is_compared_at_the_rate_of_now() -> None:
    estimate = read_estimate(write_estimate(estimate_resources(MEASURED, 4_000.0)))
    now = (
        MeasuredPart("lines", True, 1, 2_000.0, 0.2),
        MeasuredPart("split", False, 4, 2_000.0, 1.5),
        MeasuredPart("new", False, 1, 1.0, 1.0),
    )
    lines, split = compare_estimate(estimate, now)
    assert (lines.off, split.off) == (pytest.approx(0.0), pytest.approx(-0.2))
    assert split.rows_s == (2_000.0, 2_000.0)
    assert EstimateError("idle", (0.1, 0.0), (1.0, 0.0)).off is None
    with pytest.raises(OuzelError, match="no row is read now"):
        compare_estimate(estimate, (replace(now[0], rows_s=0.0),))


def test_nothing_is_estimated_of_nothing() -> None:
    with pytest.raises(OuzelError, match="no row was read"):
        estimate_resources([replace(MEASURED[0], rows_s=0.0)])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"parts": [], "read_s": 1, "rate_s": 0, "headroom": 1}'])
def test_what_is_no_estimate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_estimate(text)


def test_a_history_says_what_tasks_did() -> None:
    history = History()
    for time_s in (100, 110, 120):
        counts = {EXECUTE_COUNT: 50 * (time_s - 100), CPU_TIME: 250_000_000 * (time_s - 100)}
        for part, task in (("left", 1), ("right", 2), ("sink", 4)):
            history.add([MetricsSample(time_s, part, task, 1, frozenset(), counts, {})])
    topology = make_snapshot().job.topology
    known = replace(topology, components=tuple(one for one in topology.components if one.name in ("left", "right")))
    left, right = measure(known, history, {1: 7}, 100)
    assert (left.rows_s, left.cores, left.memory_bytes, left.is_spout) == (50.0, 0.25, 7, True)
    assert right.memory_bytes is None
    with pytest.raises(OuzelError, match="is not known yet"):
        measure(topology, history, {}, 100)


def test_the_memory_of_a_process_belongs_to_its_task() -> None:
    import os

    found = read_memory_of_tasks({"instance-7": os.getpid(), "stream-manager": os.getpid(), "instance-8": 1 << 30})
    assert set(found) == {7}
    assert found[7] > 1 << 20


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (
            TABLE + "CREATE TABLE o (n BIGINT) WITH ('connector' = 'blackhole'); INSERT INTO o SELECT n FROM t;",
            "table 'o'",
        ),
        (
            "CREATE TABLE k (n BIGINT) WITH ('connector' = 'kafka', 'topic' = 'k', 'properties.bootstrap.servers' = 'localhost:1',"
            " 'properties.group.id' = 'g', 'format' = 'json'); SELECT n FROM k;",
            "table 'k' in place of",
        ),
    ],
)
def test_what_a_sample_would_change_for_others_is_refused(query: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match=told):
        check_can_be_sampled(load_text(query, tmp_path, "q").topology)


def test_a_sample_leaves_nothing(tmp_path: Path) -> None:
    check_can_be_sampled(load_text(TABLE + "SELECT n FROM t;", tmp_path, "q").topology)
    theirs = replace(
        Settings(), delivery=Delivery.EFFECTIVELY_ONCE, checkpoint_interval_ms=10, checkpoint_path="c", late_path="l", shed_path="s"
    )  # fmt: skip
    ours = without_traces(theirs, tmp_path)
    assert (ours.has_epochs, ours.checkpoint_path, ours.late_path, ours.shed_path) == (False, "", "", "")
    assert ours.dead_letter_path.startswith(str(tmp_path))
    assert ours.delivery is Delivery.AT_LEAST_ONCE


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--sample", "10s"), "it is for --resources"),
        (("--rate", "10"), "it is for --resources"),
        (("--resources", "--sample", "soon"), "'soon' is no span of time; write 10s"),
        (("--resources", "--lag-goal", "0s"), "'0s' is no span of time"),
        (("--resources", "--against", "/none/there"), "does not exist"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: tuple[str, ...], told: str) -> None:
    result = CliRunner().invoke(app, ["explain", "-e", TABLE + "SELECT n FROM t;", *arguments])
    assert result.exit_code == 2
    assert told in " ".join(result.output.replace("│", " ").split())


def test_spans_of_time() -> None:
    assert [seconds_of(text) for text in ("10s", "1.5 min", "2h", "300 ms")] == [10.0, 90.0, 7_200.0, 0.3]


@pytest.mark.server
def test_a_query_is_sampled(tmp_path: Path) -> None:
    query = """
    CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', 'rate' = '5000');
    SELECT n % 10 AS k, COUNT(*) AS many FROM t GROUP BY n % 10 EMIT CHANGES;
    """
    (tmp_path / "q.sql").write_text(query)
    result = CliRunner().invoke(
        app, ["explain", str(tmp_path / "q.sql"), "--resources", "--sample", "5s", "--rate", "20000", "--json"]
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["rate_s"] == 20_000
    assert 0 < found["read_s"] < 10_000
    assert len(found["parts"]) >= 2
    assert all(part["tasks"] >= 1 and part["memory_mb"] > 0 for part in found["parts"])
    (tmp_path / "before.json").write_text(result.stdout)
    again = CliRunner().invoke(
        app,
        [
            "explain",
            str(tmp_path / "q.sql"),
            "--resources",
            "--sample",
            "5s",
            "--against",
            str(tmp_path / "before.json"),
        ],
    )
    assert "OFF BY" in again.output, again.output
    assert not list(tmp_path.glob("*letters*"))
