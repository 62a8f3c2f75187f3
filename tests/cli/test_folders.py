"""What a run says of the folders that it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel.cli.folders import Folders
from ouzel.cli.main import app
from ouzel.job import load_text
from ouzel.runtime.run import RunState, Status

QUERY = """
CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'file', 'path' = 'numbers.csv', 'format' = 'csv');
CREATE TABLE {name} WITH ('connector' = 'file', 'path' = '{path}', 'format' = 'csv') AS SELECT n FROM numbers{where};
"""


def write_query(place: Path, path: str = "revenue.csv", where: str = "") -> str:
    """A query that writes into a folder, beside its input."""
    (place / "numbers.csv").write_text("n\n1\n2\n")
    (place / "q.sql").write_text(text := QUERY.format(name="revenue", path=path, where=where))
    return text


def run_query(place: Path) -> list[str]:
    """The lines on stderr, less that of the totals."""
    result = CliRunner().invoke(app, ["run", str(place / "q.sql"), "--engine", "memory"])
    assert result.exit_code == 0, result.stderr
    return result.stderr.splitlines()[:-1]


def test_a_run_says_that_a_file_is_a_folder_and_where_its_rows_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_query(tmp_path)
    written = "table 'revenue': rows in revenue.csv/ (1 part)"
    assert run_query(tmp_path) == ["table 'revenue': revenue.csv becomes a folder, with the rows in parts", written]
    assert run_query(tmp_path) == [
        "table 'revenue': adding to the 1 part that earlier runs left in revenue.csv; `rm -r revenue.csv` before a run begins anew",
        written,
    ]
    assert len([*tmp_path.glob("revenue.csv/part-*")]) == 2


def test_a_folder_that_gets_no_rows_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_query(tmp_path, "revenue", " WHERE n > 2")
    assert run_query(tmp_path) == ["table 'revenue': no rows for revenue/"]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (Status(RunState.FINISHED, rows_out=2), "2 rows"),
        (Status(RunState.FINISHED, rows_out=1), "1 row"),
        (
            Status(RunState.FINISHED, rows_out=4, restarts=1),
            "rows",
        ),  # some may have been sent twice, and are written once
    ],
)
def test_rows_are_counted_where_none_was_sent_twice(status: Status, told: str, tmp_path: Path) -> None:
    folders = Folders(load_text(write_query(tmp_path), tmp_path, "q"))
    (tmp_path / "revenue.csv").mkdir()
    (tmp_path / "revenue.csv/part-0.csv").touch()
    assert folders.describe_written(status) == [f"table 'revenue': {told} in {tmp_path}/revenue.csv/ (1 part)"]
