"""A column that no JSON record has is NULL for ever: that is said once, with the names that the records have."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.json.format import JsonDecoder
from ouzel.runtime.protocol.messages import UNKNOWN_FIELD
from ouzel.session import load_text, start


def notes(columns: list[str], *batches: list[dict[str, object]], exact: str = "") -> list[str]:
    """What is said while these batches are decoded."""
    decoder = JsonDecoder({"json.exact": exact}, dict.fromkeys(columns, pl.Int64()), frozenset())
    said: list[str] = []
    for rows in batches:
        said += decoder.decode(Records.of([json.dumps(row).encode() for row in rows])).notes
    return said


def test_a_misspelt_column_is_named_at_once_and_once() -> None:
    batch: list[dict[str, object]] = [{"origin": 1, "delay": None}] * 3
    assert notes(["origni", "delay"], batch, batch) == [
        "none of the first 3 records has a field 'origni', so that column is NULL; they have 'origin'"
    ]


def test_another_case_is_near_where_the_case_counts() -> None:
    said = ["none of the first 1 records has a field 'flightid', so that column is NULL; they have 'flightId'"]
    assert notes(["flightid"], [{"flightId": 1}], exact="flightid") == said
    assert notes(["flightid"], [{"flightId": None}]) == []


def test_without_a_near_name_it_takes_a_thousand_records() -> None:
    batch: list[dict[str, object]] = [{"origin": 1, "delay": 2}] * 400
    assert notes(["tail", "delay"], batch, batch) == []
    assert notes(["tail", "delay"], batch, batch, batch, batch) == [
        "none of the first 1,200 records has a field 'tail', so that column is NULL; they have 'origin', 'delay'"
    ]


def test_a_field_that_is_there_is_not_named_though_it_is_null_or_rare() -> None:
    assert notes(["a", "delays"], [{"a": 1, "delay": 2, "delays": None}], [{"a": 1, "delay": 2}]) == []
    assert notes(["tail"], [{"a": 1}] * 500, [{"tail": None}], [{"a": 1}] * 1_000) == []
    assert notes(["delays", "delay"], [{"delay": 2}] * 10) == [], "what another column asks for is not offered"


def test_records_that_are_no_objects_say_nothing() -> None:
    decoder = JsonDecoder({}, {"a": pl.Int64()}, frozenset())
    assert not decoder.decode(Records.of([b"[1]", b"nonsense"])).notes


def test_a_run_tells_it(tmp_path: Path) -> None:
    (tmp_path / "flights.jsonl").write_text('{"origin": "EWR"}\n' * 20)
    text = """CREATE TABLE flights (origni STRING) WITH ('connector' = 'file', 'path' = 'flights.jsonl', 'format' = 'json');
    SELECT origni FROM flights;"""
    handle = start(load_text(text, tmp_path, "flights", []), "memory")
    while not handle.wait(1):
        pass
    events = [event for event in handle.stop().events if event.kind == UNKNOWN_FIELD]
    assert [event.text for event in events] == [
        "'flights': none of the first 20 records has a field 'origni', so that column is NULL; they have 'origin'"
    ]
