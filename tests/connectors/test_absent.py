"""Columns of a table that no record has: what the query is warned of when it is planned."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from ouzel import entry
from ouzel.compiler.catalog import QueryWarning
from ouzel.connectors.file.absent import note_absent
from ouzel.connectors.file.paths import near_files
from ouzel.errors import OuzelError, QueryError
from ouzel.job import load_text

OPTIONS = {"path": "clicks.jsonl", "format": "json"}


@pytest.fixture
def clicks(tmp_path: Path) -> Path:
    (tmp_path / "clicks.jsonl").write_text('{"click_id": 1, "TS": 2}\nnot JSON\n{"click_id": 3, "page": "a"}\n')
    return tmp_path


def test_a_field_that_no_record_has_is_told_with_those_there_are(clicks: Path) -> None:
    (told,) = note_absent(OPTIONS, ["id", "ts", "page"], clicks)
    assert told == (
        "no record of clicks.jsonl that was looked at has a field id; its fields are click_id, TS, page; did you mean click_id?"
    )


@pytest.mark.parametrize(
    "options",
    [OPTIONS | {"path": "none.jsonl"}, OPTIONS | {"format": "raw"}, OPTIONS | {"partition.by": "id"}],
    ids=["no file", "no JSON", "a folder's name"],
)
def test_what_may_be_meant_is_not_told(clicks: Path, options: dict[str, str]) -> None:
    assert note_absent(options, ["id"], clicks) == []


def test_an_array_of_records_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "clicks.jsonl").write_text('[{"a": 1},\n {"b": 2}]')
    (told,) = note_absent(OPTIONS | {"json.array": "true"}, ["a", "b", "c"], tmp_path)
    assert "has a field c; its fields are a, b;" in told


def test_the_query_is_warned_when_it_is_planned(clicks: Path) -> None:
    table = "CREATE TABLE t ({} BIGINT) WITH ('connector' = 'file', 'path' = 'clicks.jsonl', 'format' = 'json');"
    with pytest.warns(QueryWarning, match=r"table 't': no record of clicks\.jsonl .* did you mean click_id\?"):
        load_text(table.format("id") + "SELECT id FROM t;", clicks, "q")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_text(table.format("click_id") + "SELECT click_id FROM t;", clicks, "q")


def test_an_empty_folder_is_no_misspelt_one(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert near_files("out", tmp_path) == "; the folder is there and holds no rows yet"


HEADLESS = "CREATE TABLE t (id INT, ts TIMESTAMP(3), price DOUBLE) WITH ('connector' = 'file', 'path' = 'o.csv', 'format' = 'csv'{});"


def test_a_first_line_that_is_a_row_is_warned_of_with_the_options_that_read_it(tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("1,2026-03-27 08:15:00,20.00\n2,2026-03-28 08:15:00,1.50\n")
    options = "'csv.header' = 'false', 'csv.columns' = 'id, ts, price'"
    with pytest.warns(QueryWarning, match="names none of its columns") as told:
        load_text(HEADLESS.format("") + "SELECT SUM(price) AS p FROM t;", tmp_path, "q")
    assert str(told[0].message).endswith(f"if it is a row, add {options}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = load_text(HEADLESS.format(f", {options}") + "SELECT SUM(price) AS p FROM t;", tmp_path, "q")
    assert entry.table(read, "memory").rows() == [(21.5,)]
    with pytest.raises(QueryError, match="nothing says which CSV field is which column") as caught:
        load_text(HEADLESS.format(", 'csv.header' = 'false'") + "SELECT id FROM t;", tmp_path, "q")
    assert caught.value.instead == "list the fields in order: 'csv.columns' = 'id, ts, price'"


@pytest.mark.parametrize(
    "first",
    ["ID,x,y", "ids,x,y", "a;b;c", "a\tb", ""],
    ids=["another case", "misspelt", "another delimiter", "a tab", "empty"],
)
def test_a_header_that_may_be_one_is_not_warned_of(tmp_path: Path, first: str) -> None:
    (tmp_path / "o.csv").write_text(first)
    assert note_absent({"path": "o.csv", "format": "csv"}, ["id", "price"], tmp_path) == []


def test_what_is_no_csv_is_left_to_the_run(tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_bytes(b"\xff\n")
    assert note_absent({"path": "o.csv", "format": "csv"}, ["id"], tmp_path) == []


@pytest.mark.parametrize(("sign", "written"), [("\t", "\\t"), (";", ";"), ("|", "|")])
def test_a_header_with_another_delimiter_is_told_of_it(tmp_path: Path, sign: str, written: str) -> None:
    (tmp_path / "o.csv").write_text("id,ts,price\n1,2026-03-27,2.5\n".replace(",", sign))
    with pytest.raises(OuzelError) as caught:
        entry.table(load_text(HEADLESS.format("") + "SELECT price FROM t;", tmp_path, "q"), "memory")
    option = f"'csv.delimiter' = '{written}'"
    assert f"; write {option}" in str(caught.value)
    read = load_text(HEADLESS.format(f", {option}") + "SELECT price FROM t;", tmp_path, "q")
    assert entry.table(read, "memory").rows() == [(2.5,)]


def test_files_with_other_columns_are_told_apart_with_the_query_that_reads_both(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("k,x\na,1\n")
    (tmp_path / "in" / "b.csv").write_text("x,y,k\n3,4,b\n")
    with pytest.raises(OuzelError) as caught:
        entry.table(load_text("SELECT * FROM 'in/*.csv';", tmp_path, "q"), "memory")
    query = "SELECT k, x, NULL AS y FROM 'in/a.csv' UNION ALL SELECT k, x, y FROM 'in/b.csv'"
    told = f"a.csv has no column 'y'; its header names k, x; in/b.csv has it: read each kind of file by itself, as in {query}"
    assert told in str(caught.value)
    read = entry.table(load_text(f"{query};", tmp_path, "q"), "memory")
    assert sorted(read.rows()) == [("a", 1, None), ("b", 3, 4)]
    assert entry.table(load_text("SELECT k FROM 'in/*.csv';", tmp_path, "q"), "memory").height == 2
