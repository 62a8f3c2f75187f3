"""The last questions of docs/cookbook.md are answered by commands: they print what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from ouzel.cli.main import app
from ouzel.runtime.protocol.cluster.submitted import Condition
from tests.cli.test_submitted import Place, place
from tests.servers.waiting import wait_until
from tests.sql.shown import ROOT, TABLES, examples

__all__ = ["place"]
pytestmark = pytest.mark.server

SHOWN = (ROOT / "docs/cookbook.md").read_text().partition("\n## Running it\n")[2]
TRANSCRIPT = re.findall(r"^\$ ouzel (.*)\n((?:(?!\$ |```).*\n)*)", SHOWN, re.M)
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


@pytest.fixture
def question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the page has the reader write."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sql_examples").symlink_to(ROOT / "sql_examples")
    (days,) = (one for one in examples("cookbook.md") if one.heading == "What is the revenue of each day?")
    (tmp_path / "question.sql").write_text(TABLES + days.query)
    return tmp_path / "question.sql"


def test_a_submitted_question_is_answered_as_the_page_shows(question: Path, place: Place) -> None:
    commands = [(command, printed) for command, printed in TRANSCRIPT if not command.startswith(("reconcile", "run"))]
    assert [command.split()[0] for command, _ in commands] == ["submit", "list", "results", "kill"]
    for command, printed in commands:
        assert TIME.sub("TIME", place.told(*command.split())) == TIME.sub("TIME", printed)
        if command.startswith("submit"):
            wait_until(lambda: place.condition("question") is Condition.FINISHED)


def test_an_answer_is_written_into_a_file(question: Path) -> None:
    (shown,) = re.findall(r"^\$ tail -6 question.sql\n((?:.*\n)*?)\$ ouzel (run .*)\n", SHOWN, re.M)
    (days,) = (one for one in examples("cookbook.md") if one.heading == "What is the revenue of each day?")
    expected, _ = days.run(question.parent)
    question.write_text(TABLES + shown[0])
    result = CliRunner().invoke(app, shown[1].split())
    assert result.exit_code == 0, result.stderr
    rows = pl.concat([pl.read_csv(file, infer_schema=False) for file in question.parent.glob("by_day/*.csv")])
    assert rows.columns == ["day", "orders", "revenue"]
    assert sorted(rows.get_column("day")) == sorted(str(day) for day in expected.get_column(expected.columns[0]))
    assert rows.get_column("orders").cast(pl.Int64).sum() > 0


def test_spark_gives_the_same_answer_as_the_page_shows(question: Path, spark: SparkSession) -> None:
    ((command, printed),) = [one for one in TRANSCRIPT if one[0].startswith("reconcile")]
    result = CliRunner().invoke(app, command.split())
    assert (result.exit_code, result.stdout) == (0, printed), result.stderr
