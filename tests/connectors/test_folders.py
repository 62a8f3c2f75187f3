"""Folders that are named by values of columns, as Hive lays tables out: what is read of them, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ouzel.compiler.plan import scans_in, walk
from ouzel.connectors import open_source
from ouzel.connectors.reading import BadRow, ReadBatch, Source, SourceRequest
from ouzel.errors import ConnectorError, QueryError
from ouzel.reconcile import record_run
from ouzel.reconcile.explaining.unread import find_unread
from ouzel.reconcile.recording.record import read_record
from ouzel.session import Job, load_text
from ouzel.spark.batch.offsets import select_needed
from tests.fuzz.hunt import plain_answer
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
    told = r"folder .*/t is cut into folders .*, as .*/t/year=2013/month=1; .* add PARTITIONED BY \(year, month\), or"
    with pytest.raises(QueryError, match=told):
        planned(cut, "t", "n BIGINT, year INT")


def test_a_column_that_only_names_of_folders_hold_is_told(cut: Path) -> None:
    job = planned(cut, "t/**/*.parquet", "n BIGINT, Month INT")
    with pytest.raises(
        ConnectorError, match=r"column 'Month' is in no file, only in the names of folders, as month=1; let 'path'"
    ):
        run_to_end(job, "memory")


def test_a_pattern_gives_the_names_as_text(cut: Path) -> None:
    query = "SELECT REGEXP_EXTRACT(path, 'year=([^/]*)', 1) AS year, SUM(n) AS n FROM t GROUP BY 1 EMIT CHANGES"
    job = planned(cut, "t/**/*", "n BIGINT, path VARCHAR METADATA FROM 'file'", query)
    frames, _ = run_to_end(job, "memory")
    assert {row[:2] for frame in frames for row in frame.rows() if row[-1] > 0} >= {("2013", 40261), ("2014", 40281)}


COLUMNS: dict[str, pl.DataType] = {"n": pl.Int64(), "day": pl.Date(), "hour": pl.Int32()}
FORMS = ("csv", "json", "parquet")


def write(folder: Path, form: str, **numbers: int) -> None:
    """A file of one row in each of these folders, `d1h3=5` in `day=2026-01-01/hour=03`."""
    for place, number in numbers.items():
        day, hour = place.removeprefix("d").split("h")
        path = folder / "t" / f"day=2026-01-0{day}" / f"hour={int(hour):02}" / f"{number}.{form}"
        path.parent.mkdir(parents=True, exist_ok=True)
        frame = pl.DataFrame({"n": [number], "hour": [-1]})
        {"csv": frame.write_csv, "json": frame.write_ndjson, "parquet": frame.write_parquet}[form](path)


def opened(folder: Path, form: str, predicate: pl.Expr | None = None, required: str = "", **options: str) -> Source:
    given = {"path": "t", "format": form, "partition.by": "day, hour", **options}
    return open_source(
        "file", SourceRequest("t", given, COLUMNS, folder, required=frozenset([required]), predicate=predicate)
    )


def batches(source: Source, seen: set[str]) -> Iterator[ReadBatch]:
    """What the source has now, but for partitions that were seen."""
    for partition in source.partitions():
        if partition.id not in seen:
            seen.add(partition.id)
            reader = source.reader(partition, None)
            while isinstance(batch := reader.read(1), ReadBatch):
                yield batch


def rows(source: Source, seen: set[str] | None = None) -> list[Any]:
    return sorted(row for batch in batches(source, set() if seen is None else seen) for row in batch.frame.rows())


@pytest.mark.parametrize("form", FORMS)
def test_values_of_folders_are_columns_whatever_the_file_says(tmp_path: Path, form: str) -> None:
    write(tmp_path, form, d1h3=1, d1h14=2, d2h0=3)
    first, second = date(2026, 1, 1), date(2026, 1, 2)
    assert rows(opened(tmp_path, form)) == [(1, first, 3), (2, first, 14), (3, second, 0)]
    assert rows(opened(tmp_path, form, (pl.col("hour") > 5) & (pl.col("n") > 1))) == [(2, first, 14)]


@pytest.mark.parametrize(
    ("form", "follow"),
    [("csv", "false"), ("csv", "true"), ("json", "false"), ("json", "true"), ("parquet", "false")],
)
def test_files_of_folders_that_are_not_asked_for_are_not_opened(
    tmp_path: Path, form: str, follow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, form, d1h3=1, d2h3=2, d2h4=3)
    touched: list[str] = []

    def note(path: Any, *more: Any, **how: Any) -> int:
        touched.append(os.fspath(path))
        return real(path, *more, **how)

    real = os.open
    monkeypatch.setattr(os, "open", note)
    for place in ("day=2026-01-01/hour=03/1", "day=2026-01-02/hour=04/3"):
        (tmp_path / "t" / f"{place}.{form}").write_bytes(b"\xff of no format")
    asked = (pl.col("day") == date(2026, 1, 2)) & (pl.col("hour") < 4)
    assert rows(opened(tmp_path, form, asked, follow=follow)) == [(2, date(2026, 1, 2), 3)]
    assert {os.path.basename(path) for path in touched if path.endswith(form)} == {f"2.{form}"}
    assert rows(opened(tmp_path, form, pl.col("hour") > 99, follow=follow)) == []


def test_new_folders_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "csv", d1h3=1)
    source, seen = opened(tmp_path, "csv", pl.col("day") != date(2026, 1, 3), follow="true"), set[str]()
    assert [row[0] for row in rows(source, seen)] == [1]
    write(tmp_path, "csv", d2h3=2, d3h3=3, d1h4=4)
    assert [row[0] for row in rows(source, seen)] == [2, 4]
    (tmp_path / "t/day=2026-01-04").mkdir()
    assert rows(source, seen) == []
    write(tmp_path, "csv", d4h3=5)
    assert rows(source, seen) == [(5, date(2026, 1, 4), 3)]
    source.close()


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_without_a_value_is_bad_where_there_must_be_one(tmp_path: Path, form: str) -> None:
    write(tmp_path, form, d1h3=1, d2h3=2)
    (tmp_path / "t/day=2026-01-01").rename(tmp_path / "t/day=__HIVE_DEFAULT_PARTITION__")
    assert rows(opened(tmp_path, form, pl.col("day").is_null())) == [(1, None, 3)]
    found = list(batches(opened(tmp_path, form, required="day"), set()))
    bad: list[BadRow] = [row for batch in found for row in batch.bad]
    assert [row.reason for row in bad] == ["column 'day' may not be NULL"]
    assert [row for batch in found for row in batch.frame.rows()] == [(2, date(2026, 1, 2), 3)]


TYPES: Mapping[tuple[str, ...], tuple[pl.DataType, list[Any]]] = {
    ("01", "2", "-3"): (pl.Int64(), [-3, 1, 2]),
    ("1", "2.5", "__HIVE_DEFAULT_PARTITION__"): (pl.Float64(), [None, 1.0, 2.5]),
    ("12345678901234567890", "1"): (pl.String(), ["1", "12345678901234567890"]),
    ("1", "x"): (pl.String(), ["1", "x"]),
    ("nan", "inf"): (pl.String(), ["inf", "nan"]),
    ("2026-02-28", "0001-01-01"): (pl.Date(), [date(1, 1, 1), date(2026, 2, 28)]),
    ("2026-02-30",): (pl.String(), ["2026-02-30"]),
    ("2026-01-01", "2026-01-02 03%3A04%3A05"): (pl.String(), ["2026-01-01", "2026-01-02 03:04:05"]),
    ("2026-01-02 03%3A04%3A05.5",): (pl.Datetime("us"), [datetime(2026, 1, 2, 3, 4, 5, 500_000)]),
    ("true", "false"): (pl.String(), ["false", "true"]),
    ("__HIVE_DEFAULT_PARTITION__",): (pl.String(), [None]),
    ("a%2Fb", "%25", "caf%C3%A9", "=", "%zz"): (pl.String(), ["%", "%zz", "=", "a/b", "café"]),
}


@pytest.mark.parametrize("values", TYPES, ids="-".join)
def test_types_that_are_found(tmp_path: Path, values: tuple[str, ...]) -> None:
    for value in values:
        (tmp_path / "t" / f"k={value}").mkdir(parents=True)
        (tmp_path / "t" / f"k={value}" / "a.csv").write_text("n\n1\n")
    answer = plain_answer(load_text("SELECT n, k FROM 't' EMIT CHANGES", tmp_path, "q"))
    assert isinstance(answer.rows, pl.DataFrame), answer.error
    kind, expected = TYPES[values]
    assert answer.rows["k"].dtype == kind
    assert answer.rows["k"].sort().to_list() == expected


OTHER = {
    "t/a.csv": "lies in none of the folders below .*/t, and the folders of the table are day=.../hour=...",
    "t/day=2026-01-01/b.csv": "lies in day=... below",
    "t/day=2026-01-01/hour=1/min=2/c.csv": "lies in day=.../hour=.../min=... below",
    "t/hour=1/day=2026-01-01/d.csv": "lies in hour=.../day=... below",
    "t/day=2026-01-01/old/e.csv": "t/day=2026-01-01 holds the folder 'old', whose name is no value of a column, as that of hour=03 is",
    "t/day=/hour=1/f.csv": "says no value behind an =; of NULL it is __HIVE_DEFAULT_PARTITION__",
    "t/day=2026-01-01/hour=%ff/g.csv": "is named by a value that is no UTF-8",
}


@pytest.mark.parametrize("path", OTHER)
def test_other_folders_are_refused_with_their_place(tmp_path: Path, path: str) -> None:
    write(tmp_path, "csv", d1h3=1)
    text = (
        "CREATE TABLE t (n BIGINT, day DATE, hour INT) PARTITIONED BY (day, hour) "
        "WITH ('connector' = 'file', 'path' = 't', 'format' = 'csv'); SELECT * FROM t EMIT CHANGES;"
    )
    job = load_text(text, tmp_path, "q")
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("n\n2\n")
    told = OTHER[path].replace("...", r"\.\.\.")
    with pytest.raises(QueryError, match=told):
        load_text(text, tmp_path, "q")
    with pytest.raises(ConnectorError, match=told):
        rows(opened(tmp_path, "csv"))
    assert plain_answer(job).error


def test_what_begins_with_a_sign_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "csv", d1h3=1)
    for place in (
        "_temporary/0/a.csv",
        ".staged/a.csv",
        "day=2026-01-01/_old/a.csv",
        "_SUCCESS",
        "day=2026-01-01/.a.csv",
    ):
        (tmp_path / "t" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / place).write_text("n\n9\n")
    assert [row[0] for row in rows(opened(tmp_path, "csv"))] == [1]


def test_a_value_that_is_none_of_its_type_is_told(tmp_path: Path) -> None:
    write(tmp_path, "csv", d1h3=1)
    (tmp_path / "t/day=2026-01-01").rename(tmp_path / "t/day=today")
    with pytest.raises(ConnectorError, match=r"partition day=today, which is no DATE; declare 'day' as VARCHAR"):
        rows(opened(tmp_path, "csv"))


REFUSED = {
    "CREATE TABLE w (a INT) PARTITIONED BY (a) WITH ('connector' = 'file', 'path' = 'w', 'format' = 'csv'); INSERT INTO w SELECT 1;": (
        r"\(PARTITIONED BY\) are read and not written; leave it out, or write a table of Delta Lake"
    ),
    "CREATE TABLE w (a INT) PARTITIONED BY (a) WITH ('connector' = 'file', 'path' = 'w/*', 'format' = 'csv'); SELECT * FROM w;": (
        "'path' cannot be 'w/\\*' of a table with 'partition.by'"
    ),
    "CREATE TABLE w (a INT) PARTITIONED BY (a) WITH ('connector' = 'print'); INSERT INTO w SELECT 1;": "no option 'partition.by'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_folders_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(QueryError, match=REFUSED[text]):
        load_text(text, tmp_path, "q")


@pytest.mark.parametrize("form", FORMS)
def test_a_run_that_has_passed_over_folders_has_read_the_table(tmp_path: Path, form: str) -> None:
    write(tmp_path, form, d1h3=1, d2h3=2)
    table = f"CREATE TABLE t (*) WITH ('connector' = 'file', 'path' = 't', 'format' = '{form}'); "
    job, home = load_text(f"{table} SELECT n FROM t WHERE day > DATE '2026-01-01';", tmp_path, "q"), tmp_path / "record"
    record_run(job, "memory", home)
    record = read_record(home)
    (name,) = record.ranges["t"]
    assert "2026-01-02" in name
    (sink,) = job.program.sinks
    assert find_unread(sink, job.topology, record, tmp_path).tables == ()
    assert select_needed(job.program, job.topology, tmp_path, record.ranges) == {}
    write(tmp_path, form, d1h4=3)
    assert find_unread(sink, job.topology, record, tmp_path).tables == ()
    write(tmp_path, form, d2h4=4)
    assert find_unread(sink, job.topology, record, tmp_path).tables == ("t",)


def test_a_table_that_declares_nothing_says_what_it_found(cut: Path) -> None:
    job = load_text("SELECT * FROM 't' EMIT CHANGES", cut, "q")
    (scan,) = {scan for sink in job.program.sinks for scan in scans_in(walk(sink))}
    assert dict(scan.options)["partition.by"] == "year, month"
    assert [str(field.type) for field in scan.columns] == ["BIGINT", "BIGINT", "BIGINT"]
    again = load_text(job.text, cut, "q")
    assert plain_answer(again).rows is not None
