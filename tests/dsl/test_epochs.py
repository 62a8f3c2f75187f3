"""Times that a source has as whole numbers: plain Python, the topology and SQL read the same."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import pytest

import ouzel
from ouzel import Source
from ouzel.errors import BadRecord, TopologyError


@dataclass
class Event:
    at: datetime
    there: Annotated[datetime, "TIMESTAMP_LTZ(6)"]
    user: str


@pytest.mark.parametrize(
    ("unit", "number"),
    [("seconds", 1774600000), ("millis", 1774600000000), ("micros", 1774600000000000), ("nanos", 1774600000000000999)],
)
def test_numbers_are_times_in_memory_as_in_a_topology_and_in_sql(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str, number: int
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [{"at": number, "there": number, "user": "a"}, {"at": -1, "there": None, "user": "b"}]
    Path("events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    events = Source.file("events.jsonl", Event, format="json", timestamp_epoch=unit)
    (first, second) = events.memory()
    assert (first.at, first.there) == (datetime(2026, 3, 27, 8, 26, 40), datetime(2026, 3, 27, 8, 26, 40, tzinfo=UTC))
    assert second.at < datetime(1970, 1, 1)
    sql = f"""CREATE TABLE e (at TIMESTAMP(6), there TIMESTAMP_LTZ(6), user VARCHAR)
    WITH ('connector' = 'file', 'path' = 'events.jsonl', 'format' = 'json', 'timestamp.epoch' = '{unit}'); SELECT * FROM e;"""
    rows = ouzel.table(sql, engine="memory").rows()
    assert rows == [(one.at, one.there, one.user) for one in (first, second)]
    assert events.table("memory").rows() == rows
    assert [hour for hour, _ in events.map(lambda one: (one.at.hour, one.user)).memory()] == [8, 23]


def test_a_bad_record_ends_a_run_in_memory_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("n.jsonl").write_text('{"value": 1}\n{"value": "x"}\n')
    with pytest.raises(BadRecord, match=r"n.jsonl:2: .*does not fit"):
        Source.file("n.jsonl", int, format="json", columns=["value"]).memory()
    assert Source.file("n.jsonl", int, format="json", columns=["value"], bad_record="skip").memory() == [1]


def test_a_number_that_is_no_time_is_a_bad_record_in_memory_as_in_a_topology(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [{"at": 5, "there": 5, "user": "a"}, {"at": 10**17, "there": 1, "user": "b"}]
    Path("events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    events = Source.file("events.jsonl", Event, format="json", timestamp_epoch="seconds")
    with pytest.raises(BadRecord, match=r"timestamp or interval overflow: .*'user': 'b'"):
        events.memory()
    with pytest.raises(TopologyError, match=r"timestamp or interval overflow"):
        events.table("memory")
    assert events.map(lambda one: one.at.hour).table("memory", error_policy="skip")["value"].to_list() == [0]
