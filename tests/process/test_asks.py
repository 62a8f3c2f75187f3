"""What is asked of a task for some minutes: it obeys, within limits, and goes back by itself; nobody else has a part in it."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

from ouzel.planner.topology import Task
from ouzel.runtime.observe import samples
from ouzel.runtime.observe.samples import CELL_CHARACTERS, ROWS_KEPT, RowSampler, read_row_samples, samples_path
from ouzel.runtime.observe.state_summaries import LargeKey, StateSummary, read_state_summaries, summaries_path
from ouzel.runtime.operators.chain import Chain
from ouzel.runtime.operators.rowwise.rows import Passing
from ouzel.runtime.process.asks import MINUTES_MAX, ON, Ask, AskKind, TaskAsks, Term, ask_path, write_ask
from tests.tracker.snapshots import EVIL

MINUTE_US, MINUTE_MS = 60_000_000, 60_000.0
TASK = Task(7, "counts", 0)


class Machine:
    """Notes who takes its rows."""

    def __init__(self) -> None:
        self.take: Any = None

        self.state: list[StateSummary] = []
        self.summarized = 0

    def sample_into(self, take: Any) -> None:
        self.take = take

    def summarize_states(self) -> list[StateSummary]:
        self.summarized += 1
        return self.state


class Clock:
    """A wall clock, in microseconds."""

    us = 1_700_000_000_000_000

    def __call__(self) -> int:
        return self.us


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The logger above all others, as it is in a fresh process, and as it was afterwards."""
    logger = logging.getLogger()
    level, handlers = logger.level, list(logger.handlers)
    logger.setLevel(logging.WARNING)
    yield logger
    logger.setLevel(level)
    logger.handlers[:] = handlers


def look(asks: TaskAsks, machine: Machine, now_ms: float) -> None:
    """A look of the task."""
    asks.on_tick(cast(Any, machine), now_ms)


def test_what_is_asked_ends_by_itself_whatever_becomes_of_the_wall_clock() -> None:
    term = Term()
    term.on_found(Ask("debug", 10 * MINUTE_US), 4 * MINUTE_US, 1_000.0)
    assert (term.value(1_000.0 + 6 * MINUTE_MS - 1), term.value(1_000.0 + 6 * MINUTE_MS)) == ("debug", "")
    term.on_found(Ask("debug", 10 * MINUTE_US), 11 * MINUTE_US, 1_000.0)
    assert term.value(1_000.0) == ""
    far = Ask("debug", 10**15)
    term.on_found(far, 0, 0.0)
    assert (term.value(MINUTES_MAX * MINUTE_MS - 1), term.value(MINUTES_MAX * MINUTE_MS)) == ("debug", "")
    term.on_found(None, 0, 0.0)
    assert term.value(0.0) == ""


def test_a_level_is_obeyed_for_its_time_and_by_a_task_that_is_started_again(
    tmp_path: Path, root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    clock, path, handlers = Clock(), ask_path(tmp_path, AskKind.LOG_LEVEL, TASK.id), list(root.handlers)
    asks = TaskAsks(tmp_path, TASK, clock)
    look(asks, Machine(), 0.0)
    assert root.level == logging.WARNING
    write_ask(path, Ask("debug", clock.us + 2 * MINUTE_US))
    look(asks, Machine(), 999.0)
    assert root.level == logging.WARNING, "it looks once a second"
    look(asks, Machine(), 1_000.0)
    assert (root.level, logging.getLogger("kazoo").level) == (logging.DEBUG, logging.WARNING)
    logging.getLogger("mine").debug("hello")
    said = capsys.readouterr().err
    assert said.startswith("log level: debug\n")
    assert "DEBUG mine: hello" in said
    look(asks, Machine(), 1_000.0 + 2 * MINUTE_MS)
    assert (root.level, root.handlers) == (logging.WARNING, handlers)
    clock.us += MINUTE_US  # another process of the task, which hears of the rest of the time
    again = TaskAsks(tmp_path, TASK, clock)
    look(again, Machine(), 0.0)
    assert root.level == logging.DEBUG
    look(again, Machine(), MINUTE_MS)
    assert root.level == logging.WARNING


@pytest.mark.parametrize("text", ["", "{", "[]", '{"value": "debug"}', '{"value": "debug", "until_us": "soon"}'])
def test_what_cannot_be_read_is_not_obeyed(text: str, tmp_path: Path, root: logging.Logger) -> None:
    ask_path(tmp_path, AskKind.LOG_LEVEL, TASK.id).write_text(text)
    look(TaskAsks(tmp_path, TASK, Clock()), Machine(), 0.0)
    assert root.level == logging.WARNING


def test_a_level_that_is_none_is_that_of_warnings(tmp_path: Path, root: logging.Logger) -> None:
    clock = Clock()
    write_ask(ask_path(tmp_path, AskKind.LOG_LEVEL, TASK.id), Ask("basicConfig", clock.us + MINUTE_US))
    look(TaskAsks(tmp_path, TASK, clock), Machine(), 0.0)
    assert root.level == logging.WARNING


def test_rows_are_sampled_while_that_is_asked_and_by_the_machine_of_now(tmp_path: Path) -> None:
    clock, path, first, second = Clock(), ask_path(tmp_path, AskKind.SAMPLES, TASK.id), Machine(), Machine()
    asks = TaskAsks(tmp_path, TASK, clock)
    look(asks, first, 0.0)
    assert first.take is None, "off unless asked for"
    write_ask(path, Ask(ON, clock.us + MINUTE_US))
    look(asks, first, 1_000.0)
    first.take("1 Filter", pl.DataFrame({"word": [EVIL, None]}))
    look(asks, second, 2_000.0)
    assert second.take is not None
    (sample,) = read_row_samples(tmp_path, TASK.id)
    assert (sample.operator, sample.columns, sample.rows) == ("1 Filter", ("word",), ((EVIL,), ("NULL",)))
    assert sample.at_us == clock.us
    assert stat.S_IMODE(samples_path(tmp_path, TASK.id).stat().st_mode) == 0o600
    path.unlink()
    look(asks, second, 3_000.0)
    assert second.take is None
    assert read_row_samples(tmp_path, TASK.id) == [sample], "the last rows stay to be looked at"


def test_what_is_kept_is_told_while_rows_are_sampled_and_more_seldom_if_that_takes_long(tmp_path: Path) -> None:
    clock, machine, path = Clock(), Machine(), ask_path(tmp_path, AskKind.SAMPLES, TASK.id)
    times = iter([0.0, 1.0, 0.0, 200.0])  # it takes a millisecond, then 200
    asks = TaskAsks(tmp_path, TASK, clock, lambda: next(times))
    look(asks, machine, 0.0)
    assert machine.summarized == 0, "nothing is summed up unless it is asked for"
    write_ask(path, Ask(ON, clock.us + 10 * MINUTE_US))
    one = StateSummary("1 Join", "keys", 3, 9, (EVIL,), (LargeKey((EVIL,), 7), LargeKey(("NULL",), 2)))
    machine.state = [one, StateSummary("2 Group", "groups", 5, note="why")]
    looks = [(1_000, 1), (9_999, 1), (11_000, 2), (50_999, 2)]
    for now_ms, summarized in looks:
        look(asks, machine, now_ms)
        assert machine.summarized == summarized, now_ms
    told = read_state_summaries(tmp_path, TASK.id)
    assert [replace(each, at_us=0) for each in told] == machine.state
    assert told[0].at_us == clock.us
    assert stat.S_IMODE(summaries_path(tmp_path, TASK.id).stat().st_mode) == 0o600
    for damage in ("", "{", '[{"operator": "x"}]', '[{"largest": [1], "columns": 1}]'):
        summaries_path(tmp_path, TASK.id).write_text(damage)
        assert read_state_summaries(tmp_path, TASK.id) is None


def test_samples_have_limits() -> None:
    sampler = RowSampler()
    sampler.take("1 Scan", pl.DataFrame({"n": range(1_000), "text": ["x" * 10_000] * 1_000}))
    sampler.take("1 Scan", pl.DataFrame({"n": [-1], "text": ["beyond what is taken in a second"]}))
    (told,) = json.loads(sampler.on_second(5))
    assert [int(row[0]) for row in told["rows"]] == list(range(1_000 - ROWS_KEPT, 1_000))
    assert {len(row[1]) for row in told["rows"]} == {CELL_CHARACTERS + 1}
    assert sampler.on_second(6) == "", "nothing has come"
    sampler.take("1 Scan", pl.DataFrame({"n": [-2], "text": [""]}))
    assert [row[0] for row in json.loads(sampler.on_second(7))[0]["rows"]][-2:] == ["999", "-2"]
    for place in range(2 * samples.OPERATORS_KEPT):
        sampler.take(f"{place} Filter", pl.DataFrame({f"c{column}": [0] for column in range(100)}))
    told = json.loads(sampler.on_second(8))
    assert (len(told), len(told[-1]["columns"])) == (samples.OPERATORS_KEPT, samples.COLUMNS_KEPT)


def test_what_python_has_no_value_for_is_shown_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    sampler, far = (
        RowSampler(),
        pl.DataFrame({"at": [datetime(9999, 1, 1)]}).with_columns(pl.col("at") + pl.duration(days=10**6)),
    )
    sampler.take("1 Scan", far)
    (told,) = json.loads(sampler.on_second(5))
    assert told["rows"][0][0].startswith("+")
    monkeypatch.setattr(samples, "cell_text", lambda value: 1 // 0)
    sampler.take("1 Scan", far)
    assert json.loads(sampler.on_second(6))[0]["rows"][-1] == ["cannot be shown: ZeroDivisionError"]


def test_a_chain_shows_what_each_of_its_operators_has_made_and_only_while_somebody_looks() -> None:
    chain, seen = Chain([Passing(), Passing()]), list[tuple[str, int]]()
    frame = pl.DataFrame({"n": [1, 2]})
    chain.process(frame)
    chain.sample_into(lambda name, rows: seen.append((name, rows.height)))
    chain.process(frame)
    assert seen == [("1 Passing", 2), ("2 Passing", 2)]
    chain.sample_into(None)
    chain.process(frame)
    assert (len(seen), chain.watch) == (2, None)
    assert chain.trial().watch is None


def test_samples_that_cannot_be_written_or_read_are_none(tmp_path: Path) -> None:
    samples.write_row_samples(tmp_path / "gone", 1, "[]")
    samples_path(tmp_path, 1).write_text('[{"operator": 1}]')
    assert read_row_samples(tmp_path, 1) is read_row_samples(tmp_path, 2) is None
