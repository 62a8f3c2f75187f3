"""Metrics on disk, and as series with a value a minute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ouzel.runtime.observe.task_metrics import CPU_TIME, MetricsSample, sample_stream_manager, sample_task
from ouzel.runtime.process import metrics_file
from ouzel.runtime.process.metrics_file import (
    HISTORY_S,
    THINNED,
    MetricsReader,
    MetricsWriter,
    metrics_files,
    read_samples,
    sample_interval_s,
)
from ouzel.runtime.wire.wire_pb2 import StreamManagerReport, TaskReport
from ouzel.tracker.metrics.grids import Grid
from ouzel.tracker.metrics.history import CAPACITY, EXECUTE_LATENCY, RESTARTS, History, RunHistory
from ouzel.tracker.metrics.series import Minutes

EXECUTED = "__execute-count/default"


def sample(time_s: int, rows: int, life: int = 1, task: int = 1, **values: float) -> MetricsSample:
    """What a task says."""
    return MetricsSample(time_s, "counts", task, life, frozenset(), {EXECUTED: rows, CPU_TIME: rows * 10**6}, values)


def minutely(history: History, metric: str = EXECUTED, first: int = 600, count: int = 3) -> list[float | None]:
    """The series of the first instance."""
    series = history.series("counts", None, metric, Minutes(first, count), lambda key: f"i{key[1]}")
    return [None if np.isnan(value) else float(value) for value in series.values[0]] if len(series.values) else []


def test_a_count_is_what_came_in_each_minute() -> None:
    history = History()
    history.add([sample(605, 5), sample(650, 8), sample(665, 9), sample(725, 20)])
    assert minutely(history) == [8, 1, 11]
    assert history.over(("counts", 1), EXECUTED, 0) == 20
    assert history.over(("counts", 1), EXECUTED, 660) == 12
    assert history.rate(("counts", 1), EXECUTED, 660) == pytest.approx(12 / 75)


def test_what_came_in_minutes_without_a_sample_counts_in_the_next() -> None:
    history = History()
    history.add([sample(605, 5), sample(725, 20)])
    assert minutely(history) == [5, None, 15]


def test_a_process_that_is_started_again_counts_from_0_and_what_is_carried_goes_on() -> None:
    history = History()
    carried = MetricsSample(665, "counts", 1, 3, frozenset({EXECUTED}), {EXECUTED: 14, CPU_TIME: 0}, {})
    history.add([sample(605, 5), sample(615, 4, life=2), carried])
    assert minutely(history) == [9, 10, None]


def test_a_count_that_goes_back_adds_nothing() -> None:
    history = History()
    history.add([sample(605, 50), sample(665, 20), sample(725, 30)])
    assert minutely(history) == [50, 0, 10]


def test_where_the_beginning_is_gone_the_first_count_is_not_known() -> None:
    history = History()
    history.add([sample(605, 5000), sample(665, 5007)], is_whole=False)
    assert minutely(history) == [None, 7, None]


def test_latency_and_load_are_quotients_of_what_came() -> None:
    history = History()
    history.add([sample(605, 0), sample(665, 3000)])
    assert minutely(history, EXECUTE_LATENCY) == [None, 1e6, None]
    assert minutely(history, CAPACITY) == [0.0, pytest.approx(0.05), None]
    assert history.over(("counts", 1), CAPACITY, 605) == pytest.approx(0.05)


def test_of_a_task_that_has_said_nothing_since_nothing_is_known() -> None:
    history = History()
    history.add([sample(605, 5, lag=3), sample(665, 9)])
    assert history.over(("counts", 1), "lag", 600) == 3
    for metric in (EXECUTED, CAPACITY, EXECUTE_LATENCY, "lag", "none"):
        assert history.over(("counts", 1), metric, 665) is None
    assert history.rate(("counts", 1), EXECUTED, 665) is None
    assert history.over(("counts", 2), EXECUTED, 0) is None


def test_values_are_the_last_of_their_minute_and_what_is_old_is_let_go() -> None:
    history = History()
    history.add([sample(605, 1, lag=5), sample(650, 2, lag=7), sample(665, 3)])
    assert minutely(history, "lag") == [7, None, None]
    history.forget_before(660)
    assert minutely(history) == [None, 1, None]
    assert minutely(history, first=660, count=1) == [1]


def test_only_the_instances_that_are_asked_for() -> None:
    history = History()
    history.add([sample(605, 1), sample(605, 2, task=2)])
    series = history.series("counts", [2], EXECUTED, Minutes(600, 1), lambda key: f"i{key[1]}")
    assert series.instances == ("i2",)
    assert history.metrics_of("counts") == [CAPACITY, CPU_TIME, EXECUTED, EXECUTE_LATENCY, RESTARTS]


def test_reports_become_samples_under_herons_names() -> None:
    report = TaskReport(task=3, component="counts", incarnation=2, rows_in=7, rows_out=4, rows_acked=6, carries=True)
    report.counters["seen"] = 11
    report.latency_us[0] = 3
    report.lag = 12
    told = sample_task(report, 600)
    assert (told.component, told.instance, told.life) == ("counts", 3, 2)
    assert told.counts["__emit-count/default"] == 4
    assert told.counts[EXECUTED] == 7
    assert told.counts["seen"] == 11
    assert told.counts["__complete-count/default"] == 3
    assert told.values["__lag"] == 12
    assert "__emit-count/default" not in told.carries
    assert EXECUTED in told.carries
    report.restored = True
    assert {"__emit-count/default", "seen"} <= sample_task(report, 600).carries
    assert CPU_TIME not in sample_task(report, 600).carries
    stream_manager = sample_stream_manager(StreamManagerReport(container=2, frames=5, slow=[1, 3]), 600)
    assert (stream_manager.component, stream_manager.instance) == ("__stmgr__", 2)
    assert stream_manager.values["__back-pressure-tasks"] == 2


def test_samples_come_back_from_disk_and_then_only_what_is_new(tmp_path: Path) -> None:
    writer, reader = MetricsWriter(tmp_path), MetricsReader(tmp_path)
    writer.write([sample(600, 1)], 600)
    assert list(reader.read()) == [sample(600, 1)]
    writer.write([sample(610, 2)], 610)
    assert list(reader.read()) == [sample(610, 2)]
    assert list(reader.read()) == []
    assert reader.is_whole


def test_a_line_that_a_killed_process_has_left_half_costs_that_line_alone(tmp_path: Path) -> None:
    MetricsWriter(tmp_path).write([sample(600, 1)], 600)
    with (tmp_path / "metrics-0.jsonl").open("ab") as file:
        file.write(b'{"time_s": 61')
    MetricsWriter(tmp_path).write([sample(620, 3)], 620)
    assert list(MetricsReader(tmp_path).read()) == [sample(600, 1), sample(620, 3)]


def test_what_is_kept_is_bounded_by_bytes_and_by_age(tmp_path: Path) -> None:
    writer, reader = MetricsWriter(tmp_path, file_bytes=1_000), MetricsReader(tmp_path)
    seen = []
    for time_s in range(600, 1_600, 10):
        writer.write([sample(time_s, time_s)], time_s)
        seen += reader.read()
    assert [one.time_s for one in seen] == list(range(600, 1_600, 10))
    assert len(metrics_files(tmp_path)) == 2
    assert sum(path.stat().st_size for _, path in metrics_files(tmp_path)) < 2_400
    late = MetricsReader(tmp_path)
    list(late.read())
    assert not late.is_whole
    newest, _ = metrics_files(tmp_path)[-1]
    MetricsWriter(tmp_path).write([sample(1_600 + HISTORY_S, 1)], 1_600 + HISTORY_S)
    assert metrics_files(tmp_path)[-1][0] == newest + 1


def test_of_files_that_are_removed_a_few_samples_are_kept_and_all_counts_go_on(tmp_path: Path) -> None:
    home, folder = tmp_path, tmp_path / "container-1"
    folder.mkdir()
    writer, times = MetricsWriter(folder, file_bytes=20_000), range(0, 20_000, 10)
    for time_s in times:
        writer.write([sample(time_s, time_s // 10, life=1 + (time_s >= 900))], time_s)
    ((_, fine), (_, newest)) = metrics_files(folder)
    first = next(read_samples(fine)).time_s
    ((number, thinned),) = metrics_files(folder, THINNED)
    kept = [one.time_s for one in read_samples(thinned)]
    assert number == 0
    assert {890, 1_790, 3_590, 5_390} <= set(kept)  # the last of each life, and of each half hour
    assert max(kept) < first
    assert len(kept) < first / 100
    known = RunHistory(home, [1]).read(20_000)
    assert known.began_s == 1_790  # in memory one of each half hour, whatever life it is of
    assert known.over(("counts", 1), EXECUTED, -1) == 89 + 1_999
    assert newest.stat().st_size <= 20_500


def test_thinned_history_is_bounded_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_file, "THINNED_BYTES", 300)
    writer = MetricsWriter(tmp_path, file_bytes=400)
    for time_s in range(0, 100_000, 900):
        writer.write([sample(time_s, 1)], time_s)
    thinned = metrics_files(tmp_path, THINNED)
    assert len(thinned) == 2
    assert thinned[0][0] > 0
    assert sum(path.stat().st_size for _, path in thinned) < 1_500


def test_what_is_in_memory_is_thinned_as_on_disk_and_counts_go_on() -> None:
    history = History()
    history.add([sample(time_s, time_s, lag=time_s) for time_s in range(0, 7_200, 10)])
    for until_s in (3_000, 4_000, 4_000):
        history.thin_before(until_s)
    history.add([sample(7_200, 7_200)])
    (track,) = history._tracks.values()
    assert track.times.tolist() == [1_790, 3_590, *range(3_600, 7_201, 10)]
    assert history.over(("counts", 1), EXECUTED, -1) == 7_200
    assert history.over(("counts", 1), EXECUTED, 1_790) == 7_200 - 1_790
    assert {len(column) for column in (*track.counts.values(), *track.values.values())} == {len(track.times)}


@pytest.mark.parametrize(("instances", "seconds"), [(0, 10), (20, 10), (21, 20), (500, 60)])
def test_large_containers_are_sampled_less_often_but_every_minute(instances: int, seconds: int) -> None:
    assert sample_interval_s(instances) == seconds


def test_a_clock_that_is_set_back_is_told_and_what_comes_then_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "container-1"
    folder.mkdir()
    writer, run = MetricsWriter(folder), RunHistory(tmp_path, [1])
    times = [*range(10_000, 10_100, 10), *range(6_400, 6_500, 10)]
    for number, time_s in enumerate(times):
        writer.write([sample(time_s, 10 * number, lag=number), sample(time_s, number, task=2)], time_s)
        history = run.read(time_s)
        told = "the clock of the machine was set back by 61 min, to 1970-01-01 01:46:40"
        assert [text.partition(": figures")[0] for text in history.problems] == ([told] if time_s < 10_000 else [])
        assert history.over(("counts", 1), EXECUTED, 0) == 10 * number, "what was counted before counts"
    for history in (run.read(6_490), RunHistory(tmp_path, [1]).read(6_490)):
        assert history.rate(("counts", 1), EXECUTED, 6_400) == 1.0
        assert history.values_on(("counts", 1), "lag", Grid.between(6_480, 6_490)).tolist() == [19.0]
    assert run.read(6_400 + HISTORY_S + 1).problems == ()
