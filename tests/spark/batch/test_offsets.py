"""Exactly which rows a batch reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ouzel.errors import OuzelError
from ouzel.reconcile.recording.record import RunRecord
from ouzel.spark.batch.offsets import read_offsets
from ouzel.spark.batch.run import BatchRun

PARQUET = "CREATE TABLE t (a BIGINT) WITH ('connector' = 'file', 'path' = '*.parquet', 'format' = 'parquet'); SELECT a FROM t;"
LINES = "CREATE TABLE t (a BIGINT) WITH ('connector' = 'file', 'path' = 't.csv', 'format' = 'csv'); SELECT a FROM t;"


def test_a_file_of_offsets_and_the_record_of_a_run_say_the_same(tmp_path: Path) -> None:
    ranges = {"clicks": {"clicks-0": (0, 1200)}}
    (tmp_path / "o.json").write_text(json.dumps(ranges))
    RunRecord("q", "SELECT 1", ".", "heron", "at-least-once", ranges).save(tmp_path)
    assert read_offsets(tmp_path / "o.json") == read_offsets(tmp_path / "record.json") == ranges


@pytest.mark.parametrize("text", ["[", "[1]", '{"t": [0, 1]}', '{"t": {"0": [1]}}', '{"t": {"0": ["a", 2]}}'])
def test_what_are_no_offsets_is_refused_with_what_to_write(tmp_path: Path, text: str) -> None:
    (tmp_path / "o.json").write_text(text)
    with pytest.raises(OuzelError, match="holds no offsets; write "):
        read_offsets(tmp_path / "o.json")


def test_offsets_of_a_table_that_is_not_read(made: Callable[..., BatchRun]) -> None:
    with pytest.raises(OuzelError, match="speak of 'u', which the query does not read; it reads t"):
        made(PARQUET, {"u": {}})


def test_whole_parquet_files_are_left_to_spark(made: Callable[..., BatchRun], tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pl.DataFrame({"a": range(10)}).write_parquet(file)
    assert made(PARQUET, {"t": {f"{file}#0-10": (0, 10)}}).offsets == {}
    assert made(PARQUET, {"t": {f"{file}#0-4": (0, 4), f"{file}#4-10": (4, 10)}}).offsets == {}
    part = {"t": {f"{file}#0-4": (0, 4), f"{file}#4-10": (4, 9)}}
    assert made(PARQUET, part).offsets == part
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "new.parquet")
    assert made(PARQUET, {"t": {f"{file}#0-10": (0, 10)}}).offsets, "a file that came later is not part of the run"


def test_whole_files_of_lines_are_left_to_spark(made: Callable[..., BatchRun], tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a\n1\n2\n3\n")
    for span, whole in [((1, 4), True), ((0, 4), True), ((1, 3), False), ((2, 4), False)]:
        assert (made(LINES, {"t": {str(file): span}}).offsets == {}) == whole, span


def test_the_job_names_what_it_reads(made: Callable[..., BatchRun], tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a\n1\n2\n3\n")
    text = made(LINES, {"t": {str(file): (1, 3)}}).text()
    assert re.search(rf'^OFFSETS = {{\s*"t": {{\s*"{file}": \(1, 3\)', text, re.M)
    assert 'offsets=OFFSETS["t"]' in text


def test_a_generator_is_cut_as_the_topology_cuts_it(made: Callable[..., BatchRun]) -> None:
    text = "SET 'parallelism' = '3'; CREATE TABLE t (a BIGINT) WITH ('connector' = 'datagen'); SELECT a FROM t;"
    assert '"partitions": "3"' in made(text, {"t": {"0": (0, 5)}}).text()
