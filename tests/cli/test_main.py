"""The commands as typed, with a session that follows a script."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from ouzel import session
from ouzel.cli.main import app
from ouzel.errors import ConnectorError, PlanError, QueryError, TopologyError
from ouzel.planner.schemas import schema
from ouzel.planner.settings import StateLoss
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.run import RunState, Status
from ouzel.session import with_settings
from tests.cli.fakes import FakeHandle, job

FRAME = pl.DataFrame({"word": ["b", "a"], "n": [1, 2]})


@pytest.fixture
def query(tmp_path: Path) -> Path:
    """A file that the fake session does not read."""
    path = tmp_path / "q.sql"
    path.write_text("SELECT 1")
    return path


class FakeSession:
    """What the commands asked for, and what they get."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []
        self.engine = ""
        self.job = job(schema(word=str, n=int))
        self.handle = FakeHandle([[FRAME]], Status(RunState.FINISHED, rows_in=2, rows_acked=2))
        self.error: BaseException | None = None

    def load(self, path: Path, pairs: Iterable[tuple[str, str]] = ()) -> session.Job:
        """Fail as asked, or give the job."""
        self.pairs = list(pairs)
        if self.error:
            raise self.error
        return self.job

    def start(self, job: session.Job, engine: str = "heron", master: str | None = None, conf: Any = ()) -> FakeHandle:
        """Give the handle."""
        self.engine = engine
        return self.handle


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    """The session that commands see."""
    fake = FakeSession()
    monkeypatch.setattr(session, "load", fake.load)
    monkeypatch.setattr(session, "start", fake.start)
    monkeypatch.setattr("ouzel.cli.main._prepare", lambda: None)
    return fake


def ouzel(*arguments: Any) -> Result:
    """Run the command line."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_json_lines_and_nothing_else_on_stdout(fake: FakeSession, query: Path) -> None:
    result = ouzel("run", query, "--format", "jsonl")
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [{"word": "b", "n": 1}, {"word": "a", "n": 2}]
    assert "answered in" in result.stderr
    assert "acked 2" in result.stderr
    assert fake.engine == "heron"


def test_options_become_settings_that_win(fake: FakeSession, query: Path) -> None:
    ouzel(
        "run",
        query,
        "--engine",
        "memory",
        "--delivery",
        "at-most-once",
        "--parallelism",
        3,
        "--set",
        "batch.rows=1",
        "--set",
        "a = b=c",
    )
    assert fake.pairs == [("batch.rows", "1"), ("a", "b=c"), ("delivery", "at-most-once"), ("parallelism", "3")]
    assert fake.engine == "memory"


@pytest.mark.parametrize(
    "arguments",
    [("--set", "novalue"), ("--delivery", "twice"), ("--parallelism", "0"), ("--engine", "storm"), ("--colour",)],
    ids=str,
)
def test_usage_errors_are_2(fake: FakeSession, query: Path, arguments: tuple[str, ...]) -> None:
    result = ouzel("run", query, *arguments)
    assert result.exit_code == 2
    assert arguments[0] in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_file_is_2() -> None:
    result = ouzel("run", "nowhere.sql")
    assert result.exit_code == 2
    assert "nowhere.sql" in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            QueryError("no column 'wrd'", instead="did you mean 'word'?", text="SELECT wrd", at=7, length=3),
            2,
            "line 1, column 8: no column",
        ),
        (PlanError("no container holds 2 TB"), 2, "no container holds 2 TB"),
        (ConnectorError("cannot read flights.parquet"), 1, "cannot read flights.parquet"),
        (TopologyError("task 3 failed"), 1, "task 3 failed"),
        (OSError(28, "No space left on device", "out.csv"), 1, "out.csv: No space left on device"),
        (KeyError("x"), 1, "KeyError: 'x' (this should not have happened; --debug"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_are_one_sentence_and_a_code(
    fake: FakeSession, query: Path, error: BaseException, code: int, said: str
) -> None:
    fake.error = error
    result = ouzel("run", query)
    assert result.exit_code == code
    assert result.stderr.startswith(f"error: {said}")
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    assert "Traceback" in ouzel("run", query, "--debug").stderr


def test_the_caret_stays_below_its_word(fake: FakeSession, query: Path) -> None:
    fake.error = QueryError("no column 'wrd'", text="SELECT wrd", at=7, length=3)
    assert ouzel("explain", query).stderr.splitlines()[1:] == ["  SELECT wrd", "         ^^^"]


def test_a_failed_topology_is_1_and_prints_no_answer(fake: FakeSession, query: Path) -> None:
    fake.handle = FakeHandle([[FRAME]], Status(RunState.FAILED, rows_in=2, reason="count: bad record at flights.csv:7"))
    result = ouzel("run", query, "--format", "table")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == "error: count: bad record at flights.csv:7"
    assert "2 rows in" in result.stderr


def test_stopped_says_what_was_read_and_is_130(fake: FakeSession, query: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.handle = FakeHandle([[FRAME]] * 5, Status(RunState.FINISHED, rows_acked=2))
    monkeypatch.setattr("ouzel.cli.follow.WAIT_SECONDS", 0)
    monkeypatch.setattr(fake.handle, "wait", lambda seconds: bool(fake.handle.stops) or signal_self())
    result = ouzel("run", query, "--format", "csv")
    assert result.exit_code == 130
    assert "stopped after" in result.stderr
    assert "rows in" in result.stderr
    assert "acked 2" in result.stderr
    assert result.stdout.startswith("word,n\n")


def test_an_answer_that_lost_state_is_4_unless_that_is_accepted(fake: FakeSession, query: Path) -> None:
    lost = Event("state-lost", "'counts' (task 3) was started again: what it kept in memory is lost")
    for accepted, code in ((StateLoss.FAIL, 4), (StateLoss.ACCEPT, 0)):
        fake.handle = FakeHandle([[FRAME]], Status(RunState.FINISHED, rows_in=2, events=(lost,)))
        fake.job = with_settings(fake.job, replace(fake.job.settings, state_lost=accepted))
        result = ouzel("run", query, "--format", "jsonl")
        assert result.exit_code == code
        assert len(result.stdout.splitlines()) == 2
        assert "state-lost: 'counts' (task 3)" in result.stderr
        said = "error: state was lost, so the answer may lack rows; --set state.lost=accept takes it as it is"
        assert (result.stderr.splitlines()[-1] == said) is (code == 4)


def test_a_second_interrupt_ends_at_once_and_prints_no_answer(
    fake: FakeSession, query: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped = Event("dropped", "3 of the 5 rows in were on their way")
    fake.handle = FakeHandle([[FRAME]] * 5, Status(RunState.FINISHED, events=(dropped,)))
    monkeypatch.setattr(fake.handle, "wait", lambda seconds: signal_self())
    result = ouzel("run", query, "--format", "table")
    assert result.exit_code == 130, result.stderr
    assert "dropped: 3 of the 5 rows in were on their way" in result.stderr
    assert result.stdout == ""
    assert fake.handle.ended


def signal_self() -> bool:
    """What Ctrl-C does; the run goes on."""
    import os
    import signal

    os.kill(os.getpid(), signal.SIGINT)
    return False


def test_events_are_told_once_with_their_count(fake: FakeSession, query: Path) -> None:
    events = (
        Event("late-rows", "rows of flights", 3),
        Event("note", "the logs are here"),
        Event("late-rows", "rows of flights", 2),
    )
    fake.handle = FakeHandle([[FRAME]], Status(RunState.FINISHED, events=events))
    assert ouzel("run", query).stderr.splitlines()[:2] == [
        "late-rows: rows of flights (5 in all)",
        "note: the logs are here",
    ]


def test_what_a_record_holds_commands_no_terminal(fake: FakeSession, query: Path) -> None:
    events = (Event("bad-record", "line 1: no number: '\x1b[2J7'"),)
    reason = "line 2: no number: '\x1b]0;title\x077'"
    fake.handle = FakeHandle([[FRAME]], Status(RunState.FAILED, reason=reason, events=events))
    told = ouzel("run", query).stderr
    assert r"'\x1b[2J7'" in told
    assert r"'\x1b]0;title\x07" in told
    assert not any(char in told for char in "\x1b\x07")


def test_many_events_are_only_counted(fake: FakeSession, query: Path) -> None:
    fake.handle = FakeHandle(
        [[FRAME]], Status(RunState.FINISHED, events=tuple(Event("note", str(n)) for n in range(100)))
    )
    assert "... and 80 more" in ouzel("run", query).stderr


def test_insert_into_prints_only_totals(fake: FakeSession, query: Path) -> None:
    fake.job = job(schema(word=str, n=int), connector="blackhole")
    fake.handle = FakeHandle([], Status(RunState.FINISHED, rows_in=9, rows_acked=9))
    result = ouzel("run", query)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "9 rows in" in result.stderr


def test_explain_at_the_end_of_a_file_runs_nothing(
    fake: FakeSession, query: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.job = replace(fake.job, program=replace(fake.job.program, explain=("logical",)))
    monkeypatch.setattr("ouzel.cli.main._explanation", lambda job, details: f"explained {details}")
    result = ouzel("run", query)
    assert result.stdout == "explained ('logical',)\n"
    assert fake.engine == ""
    assert ouzel("explain", query, "--topology").stdout == "explained ('topology',)\n"


def test_version_and_help() -> None:
    assert ouzel("--version").stdout.startswith("ouzel 0.")
    assert "Exit codes: 0 answered" in ouzel("--help").stdout
