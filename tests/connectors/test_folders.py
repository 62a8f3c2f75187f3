"""Folders that are cut into folders by the values of columns: what a topology cannot read of them is told, and how to read it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ouzel.errors import ConnectorError, QueryError
from ouzel.session import Job, load_text
from tests.law.engines import run_to_end

TABLE = "CREATE TABLE t ({columns}) WITH ('connector' = 'file', 'path' = '{path}', 'format' = 'parquet'); {query};"


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    for year in (2013, 2014):
        folder = tmp_path / "t" / f"year={year}" / "month=1"
        folder.mkdir(parents=True)
        pl.DataFrame({"n": [year * 10, year * 10 + 1]}).write_parquet(folder / "a.parquet")
    return tmp_path


def planned(cut: Path, path: str, columns: str, query: str = "SELECT * FROM t") -> Job:
    return load_text(TABLE.format(columns=columns, path=path, query=query), cut, "q")


def test_such_a_folder_is_refused_when_the_query_is_planned(cut: Path) -> None:
    with pytest.raises(QueryError, match=r"folder .*/t is cut into folders .*, as year=2013, .* 't/\*\*/\*'"):
        planned(cut, "t", "n BIGINT, year INT")


def test_a_column_that_only_names_of_folders_hold_is_told(cut: Path) -> None:
    job = planned(cut, "t/**/*.parquet", "n BIGINT, Month INT")
    with pytest.raises(ConnectorError, match=r"column 'Month' is in no file, only in the names of folders, as month=1"):
        run_to_end(job, "memory")


def test_the_advice_reads_them(cut: Path) -> None:
    query = "SELECT REGEXP_EXTRACT(path, 'year=([^/]*)', 1) AS year, SUM(n) AS n FROM t GROUP BY 1 EMIT CHANGES"
    job = planned(cut, "t/**/*", "n BIGINT, path VARCHAR METADATA FROM 'file'", query)
    frames, _ = run_to_end(job, "memory")
    assert {row[:2] for frame in frames for row in frame.rows() if row[-1] > 0} >= {("2013", 40261), ("2014", 40281)}
