"""Columns of a table of JSON that no record has: what the query is warned of when it is planned."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from ouzel.compiler.catalog import QueryWarning
from ouzel.connectors.file.absent import note_absent
from ouzel.connectors.file.paths import near_files
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
    [OPTIONS | {"path": "none.jsonl"}, OPTIONS | {"format": "csv"}, OPTIONS | {"partition.by": "id"}],
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
