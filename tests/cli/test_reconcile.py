"""`ouzel reconcile` as typed: what the file and the command line ask for, and what a watch shows and serves. No Spark."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, cast
from urllib.request import urlopen

import pytest
from rich.console import Console
from typer.testing import CliRunner

from ouzel.cli import watch as watching
from ouzel.cli.comparing import Request, choose_comparisons
from ouzel.cli.failure import Exit
from ouzel.cli.main import app
from ouzel.cli.query import QuerySource
from ouzel.cli.watch import Watching
from ouzel.compiler.plan import Program, Reconcile
from ouzel.compiler.types import BIGINT, DATE, Field, Schema
from ouzel.connectors.backlog import Backlog
from ouzel.errors import OuzelError
from ouzel.reconcile import Class, Cut, Reconciliation
from ouzel.reconcile.accumulation import add_round
from ouzel.reconcile.comparing.lineage import Lineage
from ouzel.reconcile.metrics import Metrics
from ouzel.reconcile.reconciliation import Difference
from ouzel.reconcile.recording.record import RunRecord
from ouzel.reconcile.watch import Round
from ouzel.runtime.observe.reconciled import KeptReconciliations
from ouzel.runtime.run import RunState, Status
from ouzel.session import load

FILE = Path("q.sql")
QUERY = QuerySource(FILE)


def program(*said: Reconcile) -> Program:
    """A file with these RECONCILE statements."""
    return Program((), reconciles=said)


def test_the_command_line_goes_before_the_file() -> None:
    said = Reconcile("words", 1, 2, True, 1e-3, "out", "spark://there")
    (plain,) = choose_comparisons(program(said), Request(QUERY))
    assert (plain.table, plain.cut, plain.tolerance, plain.report, plain.master) == (
        "words", Cut(1, 2, True), 1e-3, FILE.resolve().parent / "out", "spark://there",
    )  # fmt: skip
    request = Request(
        QUERY, None, between=(None, 9), closed_windows=False, tolerance=0.0, report=Path("r"), master="local"
    )  # type: ignore[arg-type]
    (over,) = choose_comparisons(program(said), request)
    assert (over.cut, over.tolerance, over.report, over.master) == (Cut(None, 9), 0.0, Path("r"), "local")


def test_each_statement_is_a_comparison_and_a_table_chooses() -> None:
    file = program(Reconcile("a"), Reconcile("b"), Reconcile("a", 5))
    request = Request(QUERY, report=Path("r"))
    assert [(each.table, each.report) for each in choose_comparisons(file, request)] == [
        ("a", Path("r/1-a")), ("b", Path("r/2-b")), ("a", Path("r/3-a")),
    ]  # fmt: skip
    assert [each.table for each in choose_comparisons(file, replace(request, table="b"))] == ["b"]
    (other,) = choose_comparisons(file, replace(request, table="c"))
    assert (other.table, other.tolerance, other.report) == ("c", 1e-9, Path("r"))
    assert [each.table for each in choose_comparisons(program(), Request(QUERY))] == [""]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--between", "Monday", "-"], "'Monday' is not a TIMESTAMP; write it like 2013-01-31 or 2013-01-31T23:59:59"),
        (["--watch", "30s"], "only a run that goes on can be watched; name its directory with --record"),
        (["--watch", "often"], "'often' is no interval; write 30s, 5m or 1h"),
        (["--watch", "0s"], "'0s' is no interval"),
        (["--metrics", "9400"], "there are metrics only of a watch; add --watch 30s"),
        (["--metrics", "here"], "'here' is no port; write 9400 or 0.0.0.0:9400"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: list[str], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT 1")
    result = CliRunner(env={"TERMINAL_WIDTH": "400"}).invoke(app, ["reconcile", str(tmp_path / "q.sql"), *options])
    assert result.exit_code == 2
    assert sentence in " ".join(result.output.split())


def test_a_cut_that_means_nothing_is_refused_before_anything_runs(tmp_path: Path) -> None:
    table = "CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'rows' = '1'); SELECT a FROM t;"
    (tmp_path / "q.sql").write_text(table + " RECONCILE result WITH ('closed-windows' = 'true');")
    for command in (["reconcile"], ["run"], ["run", "--engine", "memory"]):
        result = CliRunner().invoke(app, [*command, str(tmp_path / "q.sql")])
        assert result.exit_code == 2
        assert "its query has no windows" in result.output


def test_a_run_of_what_has_no_end_may_be_reconciled_when_it_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q.sql").write_text(
        "CREATE TABLE t (a INT) WITH ('connector' = 'datagen'); SELECT a FROM t; RECONCILE result;"
    )
    monkeypatch.setattr("ouzel.cli.run.run_query", lambda *arguments: Exit.FAILED)
    assert CliRunner().invoke(app, ["run", str(tmp_path / "q.sql"), "--engine", "memory"]).exit_code == 1
    now = CliRunner().invoke(app, ["reconcile", str(tmp_path / "q.sql"), "--engine", "memory"])
    assert (now.exit_code, "has no end" in now.output) == (2, True)


def found(matched: int, counts: dict[Class, int]) -> Reconciliation:
    """A comparison that came out like this."""
    columns = Schema((Field("day", DATE), Field("n", BIGINT)))
    samples = {kind: (Difference(kind, ("n",), (date(2013, 1, 7), 1), (date(2013, 1, 7), 2)),) for kind in counts}
    rows = matched + sum(counts.values())
    record = RunRecord("q", "", "", "memory", "at-least-once", {})
    return Reconciliation(record, "result", Lineage(columns), matched, rows, rows, counts, None, samples, None, "", "")  # type: ignore[arg-type]


class FakeWatch:
    """Rounds from a script."""

    by_windows = True

    def __init__(self, rounds: Iterable[Round | BaseException | type[BaseException]]) -> None:
        self.rounds, self.total, self.windows = iter(rounds), None, 0

    def round(self) -> Round:
        """The next one; an exception is raised."""
        look = next(self.rounds)
        if not isinstance(look, Round):
            raise look
        if look.found is not None:
            self.total: Reconciliation | None = add_round(self.total, look.found) if self.total else look.found
            self.windows += look.windows
        return look


NOTHING = Round(None, 0, 0.1, False, 0)
AGREED = Round(found(24, {}), 6, 0.8, False, 1_356_998_400_000_000)
LATE = Round(found(23, {Class.LATE: 1}), 6, 0.8, False, 1_356_998_400_000_000)
WRONG = Round(found(22, {Class.VALUE_DIFFERS: 2}), 1, 0.8, False, 1_356_998_400_000_000)
LAST = Round(found(4, {}), 1, 0.5, True, None)


def follow(rounds: list[Any], monkeypatch: pytest.MonkeyPatch, metrics: Metrics | None = None) -> tuple[Exit, str]:
    """What a watch of these rounds prints and returns; its clock stands still."""
    monkeypatch.setattr(watching, "is_live", lambda home: False)
    out = io.StringIO()
    shown = Watching(FakeWatch(rounds), None, metrics, Console(file=out, width=200), now=lambda: 0.0)  # type: ignore[arg-type]
    return shown.follow(Path(), 10), out.getvalue()


@pytest.mark.parametrize(
    ("rounds", "code"),
    [
        ([AGREED, NOTHING, LAST], Exit.ANSWERED),
        ([AGREED, LATE, LAST], Exit.ANSWERED),
        ([AGREED, WRONG, LAST], Exit.DIFFERENT),
        ([AGREED, KeyboardInterrupt], Exit.INTERRUPTED),
        ([WRONG, KeyboardInterrupt], Exit.DIFFERENT),
        ([replace(NOTHING, over=True)], Exit.ANSWERED),
    ],
)
def test_a_watch_ends_with_what_it_has_seen(rounds: list[Any], code: Exit, monkeypatch: pytest.MonkeyPatch) -> None:
    assert follow(rounds, monkeypatch)[0] is code


def test_a_watch_is_kept_as_one_with_the_report_of_all_its_rounds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OUZEL_HOME", str(tmp_path))
    follow([AGREED, NOTHING, WRONG, LAST], monkeypatch)
    kept = KeptReconciliations(tmp_path)
    (one,) = kept.list_newest()
    assert (one.query, one.table, one.matched, one.unexplained, one.rounds, one.is_live) == (
        "q",
        "result",
        50,
        2,
        4,
        False,
    )
    assert (one.is_explained, one.verdict) == (False, "Stream and batch differ: 2 rows without an explanation.")
    assert "value differs" in (kept.read_report(one.id) or "")


def test_what_cannot_be_kept_is_said_and_changes_no_exit_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("OUZEL_HOME", str(tmp_path / "file"))
    assert follow([AGREED, LAST], monkeypatch)[0] is Exit.ANSWERED
    assert capsys.readouterr().err.count("cannot be kept in") == 2


FAILS = OuzelError("Spark is away")


def test_a_round_that_fails_is_told_and_the_watch_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    code, text = follow([AGREED, FAILS, FAILS, NOTHING, FAILS, FAILS, LAST], monkeypatch)
    assert code is Exit.ANSWERED
    assert text.count("could not be compared: Spark is away") == 4
    assert text.endswith("7 windows in 3 rounds\n")


@pytest.mark.parametrize("rounds", [[FAILS], [WRONG, FAILS, FAILS, FAILS]])
def test_a_watch_gives_up_when_nothing_goes(rounds: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OuzelError, match="Spark is away"):
        follow(rounds, monkeypatch)


def test_a_line_for_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    _, text = follow([AGREED, NOTHING, WRONG, LAST], monkeypatch)
    lines = [line[10:] for line in text.splitlines() if line[2:3] == ":"]
    assert lines == [
        "to 2013-01-01 00:00:00       6 windows         24 rows agree  0.8 s",
        "to 1970-01-01 00:00:00   no window has closed",
        "to 2013-01-01 00:00:00       1 window          22 rows agree · value differs 2  0.8 s",
        "to the end of the input      1 window           4 rows agree  0.5 s",
    ]
    assert "1 stream  2 batch" in text  # the rows at once, not only at the end
    assert "Stream and batch differ: 2 rows without an explanation." in text
    assert text.endswith("8 windows in 4 rounds\n")


def test_what_a_watch_finds_can_be_scraped(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics("bids", "result", 0, now=lambda: 1_700_000_000.0)
    try:
        follow([AGREED, LATE, NOTHING, FAILS, WRONG, LAST], monkeypatch, metrics)
        with urlopen(metrics.address) as page:
            lines = page.read().decode().splitlines()
    finally:
        metrics.close()
    assert metrics.address.startswith("http://127.0.0.1:")
    labels = 'query="bids",table="result"'
    for kind, count in (("matched", 73), ("late", 1), ("value differs", 2), ("lost", 0)):
        assert f'ouzel_reconcile_rows{{class="{kind}",{labels}}} {count}.0' in lines
    assert f"ouzel_reconcile_windows_total{{{labels}}} 14.0" in lines
    assert f"ouzel_reconcile_failed_rounds_total{{{labels}}} 1.0" in lines
    assert f"ouzel_reconcile_rounds_total{{{labels}}} 5.0" in lines
    assert f"ouzel_reconcile_round_seconds{{{labels}}} 0.5" in lines
    assert f"ouzel_reconcile_last_round_timestamp_seconds{{{labels}}} 1.7e+09" in lines


def test_lag_is_a_series_a_place_as_long_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> str:
        with urlopen(metrics.address) as told:
            return cast(str, told.read().decode())

    queue = Backlog("q at one", 9, bytes=90, age_ms=2_500)
    states = [{"q": [queue], "t": [Backlog("t-0", 4)]}, {"t": [Backlog("t-0", 0)]}]
    monkeypatch.setattr(watching, "status", lambda home: Status(RunState.RUNNING, backlogs=states.pop(0)))
    metrics = Metrics("bids", "result", 0)
    try:
        follow([AGREED, KeyboardInterrupt], monkeypatch, metrics)
        labels = 'place="q at one",query="bids",source="q",table="result"'
        for name, value in (("records", 9), ("bytes", 90), ("age_seconds", 2.5)):
            assert f"ouzel_lag_{name}{{{labels}}} {float(value)}" in page()
        assert "ouzel_lag_journal_bytes{" not in page()
        follow([AGREED, KeyboardInterrupt], monkeypatch, metrics)
        assert "q at one" not in page()
        assert 'ouzel_lag_records{place="t-0",query="bids",source="t",table="result"} 0.0' in page()
    finally:
        metrics.close()


def test_the_series_of_a_watch_have_the_name_of_its_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def scraped(shown: Watching, record: Path, every_s: float) -> Exit:
        with urlopen(metrics[0].address) as page:
            lines.extend(page.read().decode().splitlines())
        return Exit.ANSWERED

    metrics, lines = list[Metrics](), list[str]()
    monkeypatch.setattr(watching, "load_request", lambda request: (load(request.query.file), None))
    monkeypatch.setattr(watching, "start_session", lambda job, asked: None)
    monkeypatch.setattr(watching, "Metrics", lambda *given: metrics.append(Metrics(*given)) or metrics[-1])
    monkeypatch.setattr(watching, "Watch", lambda *_, **__: FakeWatch([LAST]))
    monkeypatch.setattr(Watching, "follow", scraped)
    table = "WITH ('connector' = 'file', 'path' = 't', 'format' = 'parquet')"
    query = tmp_path / "bids.sql"
    query.write_text(
        f"CREATE TABLE t (a INT) {table}; CREATE TABLE kept (a INT) {table}; INSERT INTO kept SELECT a FROM t;"
    )
    watching.watch_file(Request(QuerySource(query), record=tmp_path), 10, ("", 0))
    assert 'ouzel_reconcile_rounds_total{query="bids",table="kept"} 0.0' in lines


def test_a_port_that_is_taken_is_named() -> None:
    metrics = Metrics("q", "result", 0)
    port = int(metrics.address.rpartition(":")[2].partition("/")[0])
    try:
        with pytest.raises(
            OuzelError, match=rf"metrics cannot be served on 127\.0\.0\.1:{port}: .*; choose another with --metrics"
        ):
            Metrics("q", "result", port)
    finally:
        metrics.close()
