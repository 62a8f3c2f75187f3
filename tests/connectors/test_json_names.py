"""Which field of a JSON record is a column's: names match as in SQL, whatever their case, unless the table has them in quotes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.json import format as json_format
from ouzel.connectors.formats.json.format import JsonDecoder
from ouzel.connectors.formats.json.names import EXACT
from ouzel.session import load_text
from tests.fuzz.hunt import plain_answer

NAMED: list[tuple[str, str, list[object] | str]] = [
    ('v INT', '{"V": 1}', [1]),
    ('v INT', '{"v": 1, "V": 2}', [1]),
    ('v INT', '{"V": 2, "v": 1}', [1]),
    ('v INT', '{"v": null, "V": 2}', [None]),
    ('v INT', '{"V": 2, "v": null}', [None]),
    ('v INT', '{"V": null}', [None]),
    ('v INT', '{"v": 1, "V": "no number"}', [1]),
    ('V INT', '{"v": 1}', [1]),
    ('"v" INT', '{"V": 1}', [None]),
    ('"v" INT', '{"v": 1, "V": 2}', [1]),
    ('`v` INT, w INT', '{"V": 1, "W": 2}', [None, 2]),
    ('v INT, w VARCHAR', '{"V": 1, "W": "V"}', [1, "V"]),
    ('flight INT', '{"Flight": 1, "FLIGHT": 2}', "differ only in case"),
    ('flight INT', '{"Flight": null, "FLIGHT": 2}', "differ only in case"),
    ('flight INT', '{"Flight": 1, "FLIGHT": 2, "flight": 3}', [3]),
    ('é INT', '{"É": 1}', [None]),
    ('r ROW<v INT>', '{"R": {"V": 1}}', [{"v": 1}]),
    ('r ROW<v INT>', '{"r": {"V": 2, "v": 1}}', [{"v": 1}]),
    ('r ROW<v INT>', '{"r": {"v": null, "V": 2}}', [{"v": None}]),
    ('r ROW<"v" INT, w INT>', '{"r": {"V": 1, "W": 2}}', [{"v": None, "w": 2}]),
    ('"r" ROW<v INT>', '{"r": {"V": 1}}', [{"v": 1}]),
    ('r ARRAY<ROW<v INT, w ROW<V INT>>>', '{"r": [{"V": 1, "W": {"v": 2}}, {"v": 3}]}', [[{"v": 1, "w": {"V": 2}}, {"v": 3, "w": None}]]),
    ('r ROW<flight INT>', '{"r": {"Flight": 1, "FLIGHT": 2}}', "differ only in case"),
    ('"{n}$1 [x" INT, v INT', '{"V": 1, "{n}$1 [x": 2}', [2, 1]),
]  # fmt: skip
"""Columns of a table, a record, and its row or why it is refused: one table for every reader."""


@pytest.mark.parametrize(("columns", "record", "row"), NAMED)
def test_a_column_finds_its_field(tmp_path: Path, columns: str, record: str, row: list[object] | str) -> None:
    (tmp_path / "t.json").write_text(record + "\n")
    given = "('connector' = 'file', 'path' = 't.json', 'format' = 'json')"
    answer = plain_answer(load_text(f"CREATE TABLE t ({columns}) WITH {given};\nSELECT * FROM t;", tmp_path, "names"))
    if isinstance(row, str):
        assert row in answer.error
        assert "t.json" in answer.error
    else:
        assert answer.rows.rows() == [tuple(row)]


@pytest.mark.parametrize("kind", [pl.Int64(), pl.Decimal(38, 2)], ids=["flat", "by columns"])
@pytest.mark.parametrize("names", [["v", "V"], ["V", "v"]])
def test_each_record_by_itself(kind: pl.DataType, names: list[str]) -> None:
    lines = [f'{{"{names[number % 2]}": {number}, "x": "V"}}'.encode() for number in range(200)]
    decoded = JsonDecoder({}, {"v": kind}, frozenset()).decode(Records.of([*lines, b'{"v": null}', b'{"x": {"V": 1}}']))
    assert decoded.frame["v"].cast(pl.Int64).to_list() == [*range(200), None, None]
    assert not decoded.bad


def test_a_field_that_is_another_column_s_is_left_to_it() -> None:
    decoder = JsonDecoder({EXACT: "V"}, {"v": pl.Int64(), "V": pl.Int64()}, frozenset())
    assert decoder.decode(Records.of([b'{"V": 1}'])).frame.rows() == [(None, 1)]


def test_names_in_another_case_or_with_escapes_send_no_record_down_the_slow_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_format, "check_record", None)
    decoder = JsonDecoder({}, {"v": pl.Int64(), "größe": pl.Int64(), 'a"b': pl.Int64()}, frozenset())
    records = [
        b'{"v": 1, "gr\\u00f6\\u00dfe": 2, "a\\"b": 3}',
        b'{"V": 1, "other\\n": [1], "x": "text", "a\\u0022b": 3}',
        json.dumps({"gr\u00f6\u00dfe": 2, "v": None}, ensure_ascii=False).encode(),
    ]
    assert decoder.decode(Records.of(records)).frame.rows() == [(1, 2, 3), (1, None, 3), (None, 2, None)]
