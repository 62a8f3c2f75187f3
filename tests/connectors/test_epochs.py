"""Times that come as numbers since 1970, in any format."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import ouzel
from ouzel.errors import QueryError

UNITS = {"seconds": 1, "millis": 10**3, "micros": 10**6, "nanos": 10**9}
NUMBERS = (-1, 0, 1_577_836_800_123_456_789)


def table(path: Path, unit: str, columns: str) -> str:
    """A CREATE TABLE of that file."""
    form = path.suffix[1:].replace("jsonl", "json")
    return f"CREATE TABLE t ({columns}) WITH ('connector' = 'file', 'path' = '{path}', 'format' = '{form}', 'timestamp.epoch' = '{unit}');"


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize("unit", UNITS)
def test_a_number_is_a_time_in_its_unit(unit: str, form: str, tmp_path: Path) -> None:
    numbers = [number * UNITS[unit] // 10**9 for number in NUMBERS]
    path = tmp_path / f"t.{form}"
    lines = [
        json.dumps({"id": row, "at": at, "z": at}) if form == "jsonl" else f"{row},{at},{at}"
        for row, at in enumerate(numbers)
    ]
    path.write_text("\n".join([*(["id,at,z"] if form == "csv" else []), *lines]) + "\n")
    columns = "id INT, `at` TIMESTAMP(3), z TIMESTAMP_LTZ(3), day AS FLOOR(`at` TO DAY), WATERMARK FOR `at` AS `at`"
    found = ouzel.table(f"{table(path, unit, columns)} SELECT * FROM t;", "memory").sort("id")
    micros = [number * 10**6 // UNITS[unit] for number in numbers]
    assert found["at"].dt.epoch("us").to_list() == found["z"].dt.epoch("us").to_list() == micros
    assert found["z"][0] < datetime(1970, 1, 1, tzinfo=UTC)
    assert found["day"][0] == datetime(1969, 12, 31)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id INT, r ROW<ts TIMESTAMP(3)>) SELECT id FROM t", "'timestamp.epoch' is of whole columns, and r is ROW<ts TIMESTAMP(6)>"),
        ("id INT, ts TIMESTAMP(3)) INSERT INTO t SELECT 1, TIMESTAMP '2020-01-01 00:00:00'", "write UNIX_MILLIS(time)"),
    ],
    ids=["within a row", "written"],
)  # fmt: skip
def test_what_cannot_be_such_a_time_is_refused(text: str, message: str) -> None:
    columns, _, query = text.rpartition(") ")
    with pytest.raises(QueryError) as caught:
        ouzel.query(f"{table(Path('t.jsonl'), 'millis', columns)} {query};")
    assert message in str(caught.value)


def test_flinks_names_of_standards_are_both_read(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"ts":"2020-01-01T00:00:00"}\n{"ts":"2020-01-01 00:00:00"}\n')
    for standard in ("SQL", "ISO-8601"):
        made = table(tmp_path / "t.jsonl", "millis", "ts TIMESTAMP(3)")
        made = made.replace("'timestamp.epoch' = 'millis'", f"'json.timestamp-format.standard' = '{standard}'")
        assert ouzel.table(f"{made} SELECT DISTINCT ts FROM t;", "memory").height == 1
