"""Records read into columns are what the reference makes of each record by itself, one bad record costs no other anything."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal, assert_series_equal

from ouzel.connectors.formats.base import Records
from ouzel.connectors.formats.conversion import parse_column
from ouzel.connectors.formats.json import columns as json_columns
from ouzel.connectors.formats.json import format as json_format
from ouzel.connectors.formats.json.columns import ColumnReader
from ouzel.connectors.formats.json.format import JsonDecoder, JsonEncoder, check_record
from ouzel.connectors.formats.json.scan import STRING
from ouzel.connectors.formats.json.times import make_times
from ouzel.connectors.formats.json.values import to_json
from tests.connectors.format_strategies import EVERY, frames
from tests.effort import examples, seeds

MAP = pl.List(pl.Struct({"key": pl.String(), "value": pl.Decimal(38, 10)}))
TEXTS = [
    "", "é\n", "1.5", "NaN", "+INF", "2024-01-31", "2024-01-31T10:11:12.5", "2024-01-31 10:11:12+02:00", "2024-02-30",
    "YQ==", "YQ", "-1e-2", "1_0", "x" * 31, "x" * 32, "x" * 40 + "\n" + "é" * 40, "x" * 70 + '"',
]  # fmt: skip
NUMBERS = [
    "0", "-0", "-0.0", "127", "128", "-32769", "2147483648", "9223372036854775807", "9223372036854775808", "1.5", "1.005", "-0.005",
    "1e2", "1e-400", "1e400", "0.1234567890123456789", "12345678901234567890.12345678905", "99999999999999999999999999999999999999",
]  # fmt: skip
ODD = [
    "null",
    "true",
    "false",
    "NaN",
    "-Infinity",
    "01",
    "1.",
    "-",
    "tru",
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"\\x"',
    '"\t"',
    "{",
    "[1,]",
    "{}",
    "[]",
]
LEAVES = st.sampled_from([*map(json.dumps, TEXTS), *NUMBERS, *ODD])
NAMES = st.sampled_from(['"a"', '"b"', '"key"', '"value"', '"c0"', '"c1"', '"C0"', '"C1"', '"\\u0061"'])
SPACES = st.sampled_from(["", " ", "\n"])


def put(parts: list[str], brackets: str, space: str) -> str:
    """An object or array."""
    return brackets[0] + space + f"{space},".join(parts) + space + brackets[1]


VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(put, st.lists(inner, max_size=3), st.just("[]"), SPACES)
        | st.builds(put, st.lists(st.builds("{}:{}".format, NAMES, inner), max_size=3), st.just("{}"), SPACES)
    ),
    max_leaves=6,
)
RECORDS = st.builds(
    put, st.lists(st.builds("{}: {}".format, NAMES, VALUES), max_size=3), st.sampled_from(["{}", "{}", "[]"]), SPACES
)


def one_by_one(lines: list[bytes], columns: dict[str, pl.DataType]) -> tuple[pl.DataFrame, dict[int, str]]:
    """What the reference makes of them: rows, and reasons by record."""
    rows, bad = [], {}
    for index, line in enumerate(lines):
        try:
            rows.append(check_record(line, columns))
        except ValueError as error:
            bad[index] = str(error)
    frame = pl.DataFrame([pl.Series(name, [row[name] for row in rows], kind) for name, kind in columns.items()])
    return frame, bad


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=examples(100))
@given(st.lists(st.sampled_from(list(EVERY)), min_size=1, max_size=2), st.lists(RECORDS, max_size=5))
@example([MAP], ['{"c0": {"a": 1, "a": 2}}', '{"c0": {"\\u0061": 1}}'])
@example([MAP], ['{"c0":{"key":"1","value":"2","key ":3}}', '{"":1,"c0":{"":"1"}}'])
@example([pl.List(pl.Date())], ['{"c0": ["2024-01-31"]}', '{"c0": ["2024-01-31", "no"]}', '{"c0": ["2024-02-01"]}'])
@example([pl.Decimal(9, 2)], [f'{{"c0": {number}}}' for number in NUMBERS])
@example([pl.Float64()], [f'{{"c0": {number}}}' for number in NUMBERS])
def test_columns_are_what_each_record_says(kinds: list[pl.DataType], records: list[str]) -> None:
    columns = {f"c{number}": kind for number, kind in enumerate(kinds)}
    lines = [record.encode() for record in records]
    frame, bad = one_by_one(lines, columns)
    rows, good = ColumnReader(columns).read(Records.of(lines))
    kept = [index for index in range(len(lines)) if index not in bad]
    assert set(good.tolist()) <= set(kept), "taken, though the reference refuses it"
    assert_frame_equal(rows, frame[[kept.index(index) for index in good.tolist()]], check_exact=True)
    decoded = JsonDecoder({}, columns, frozenset()).decode(Records.of(lines))
    assert dict(decoded.bad) == bad
    assert_frame_equal(decoded.frame, frame, check_exact=True)


@pytest.mark.parametrize("odd", [b'{"l": [1]}', b'{"l": [NaN]}', b'{"l": "x"}', b"{", b"\xff", b'{"l": [], "l": []}'])
def test_one_odd_record_sends_no_other_down_the_slow_way(odd: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = list[bytes]()
    reference = json_format.check_record
    monkeypatch.setattr(
        json_format, "check_record", lambda value, *of: looked_at.append(value) or reference(value, *of)
    )
    decoder = JsonDecoder({}, {"l": pl.List(pl.Date())}, frozenset())
    good = b'{"l": ["2024-01-31"]}'
    decoded = decoder.decode(Records.of([good] * 50 + [odd] + [good] * 50))
    assert decoded.frame.height >= 100
    assert looked_at == [odd]


@pytest.mark.parametrize(
    ("kind", "value", "named"),
    [
        (pl.String(), '"\\ud800"', "VARCHAR"),
        (pl.List(pl.String()), '["a\\udc00"]', "ARRAY<VARCHAR>"),
        (pl.Struct({"s": pl.String()}), '{"s": "\\ud83dx"}', "ROW<s VARCHAR>"),
        (MAP, '{"\\ud800": 1}', "MAP<VARCHAR, DECIMAL(38, 10)>"),
        (pl.Date(), '"\\ud800"', "DATE"),
    ],
    ids=str,
)
def test_half_of_a_surrogate_pair_is_a_bad_record(kind: pl.DataType, value: str, named: str) -> None:
    decoder = JsonDecoder({}, {"c": kind, "n": pl.Int64()}, frozenset())
    decoded = decoder.decode(Records.of([b'{"n": 1}', f'{{"c": {value}, "n": 2}}'.encode(), b'{"n": 3}']))
    assert decoded.frame["n"].to_list() == [1, 3]
    ((place, reason),) = decoded.bad
    assert place == 1
    assert reason.endswith(f"does not fit column 'c' of type {named}")
    reason.encode()


def test_a_nan_is_read_with_all_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_format, "check_record", None)
    decoder = JsonDecoder({}, {"f": pl.Float64(), "d": pl.Decimal(38, 10)}, frozenset())
    decoded = decoder.decode(Records.of([b'{"f": NaN, "d": 1.5}', b'{"f": "NaN"}', b'{"f": 1e400}']))
    assert str(decoded.frame["f"].to_list()) == "[nan, nan, inf]"
    assert decoded.frame["d"][0] == Decimal("1.5")


def test_records_of_many_slices_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_columns, "_SLICE_BYTES", 10_000)
    lines = [json.dumps({"l": [number], "t": "x" * 100}).encode() for number in range(4_000)]
    decoded = JsonDecoder({}, {"l": pl.List(pl.Int32()), "t": pl.String()}, frozenset()).decode(Records.of(lines))
    assert decoded.frame["l"].explode().to_list() == list(range(4_000))


def texts_of_times(random: Random) -> list[str]:
    """Timestamps as they are written, some with a letter changed."""
    texts = []
    for _ in range(examples(400)):
        moment = datetime(1, 1, 1) + timedelta(microseconds=random.randrange(9_998 * 365 * 86_400 * 10**6))
        digits = random.choice(["seconds", "milliseconds", "microseconds"])
        zone = random.choice(["", "", "Z", "z", "+00:00", "+01:00", "7", " "])
        text = moment.isoformat(random.choice(" T"), digits) + zone
        place = random.randrange(len(text)) if random.random() < 0.3 else len(text)
        texts.append(text[:place] + random.choice("0123456789-: TZ.") * (place < len(text)) + text[place + 1 :])
    return texts


@pytest.mark.parametrize("kind", [pl.Datetime("us"), pl.Datetime("us", "UTC")], ids=str)
@pytest.mark.parametrize("seed", seeds())
def test_times_read_at_once_are_what_parsing_makes_of_them(seed: int, kind: pl.Datetime) -> None:
    assert_read_as_parsed(texts_of_times(Random(seed)), kind)


def test_dates_read_at_once_are_what_parsing_makes_of_them() -> None:
    years, months, days = (0, 1, 1900, 2000, 2023, 2024), range(14), range(33)
    assert_read_as_parsed(
        [f"{year:04}-{month:02}-{day:02}" for year in years for month in months for day in days], pl.Date()
    )


def assert_read_as_parsed(texts: list[str], kind: pl.Date | pl.Datetime) -> None:
    """Texts that are read at once come out as each of them does when it is parsed alone."""
    sizes = np.array([len(text) for text in texts])
    data = np.frombuffer("".join(texts).encode(), np.uint8)
    made, good = make_times(data, np.full(len(texts), STRING), np.cumsum(sizes) - sizes, sizes, kind)
    assert len(texts) // 3 < good.sum() < len(texts)
    expected = pl.concat([parse_column(kind)(pl.Series("", [text])) for text in texts])
    assert_series_equal(made.filter(good), expected.filter(good), check_names=False)


def test_one_odd_time_sends_no_other_down_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = list[str]()
    noted = lambda kind: lambda texts: parsed.extend(texts) or parse_column(kind)(texts)  # noqa: E731
    monkeypatch.setattr(json_columns, "parse_column", noted)
    decoder = JsonDecoder({}, {"l": pl.List(pl.Datetime("us"))}, frozenset())
    good, odd = (
        b'{"l": ["2024-01-31 10:11:12.5", null, "2024-01-31T10:11:12Z"]}',
        b'{"l": ["2024-01-31 12:11:12+02:00"]}',
    )
    decoded = decoder.decode(Records.of([good] * 50 + [odd] + [good] * 50))
    assert parsed == ["2024-01-31 12:11:12+02:00"]
    assert decoded.frame["l"][50].to_list() == [datetime(2024, 1, 31, 10, 11, 12)]
    assert decoded.frame["l"][100].to_list() == [
        datetime(2024, 1, 31, 10, 11, 12, 500_000),
        None,
        datetime(2024, 1, 31, 10, 11, 12),
    ]


DEEP = {
    pl.List(pl.Struct({"key": pl.Date(), "value": pl.List(MAP)})): st.just([{"key": date(2024, 1, 31), "value": [[]]}]),
    pl.Struct({"m": MAP, "b": pl.List(pl.Binary())}): st.just(
        {"m": [{"key": '"\n', "value": Decimal("1.5000000000")}], "b": [b"ab", None]}
    ),
    pl.List(pl.Struct({"d": pl.Duration("us")})): st.just([{"d": timedelta(microseconds=-7)}, None]),
    pl.List(pl.List(pl.Float64())): st.just([[1.5, None], [float("nan")], None]),
}


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=examples(100))
@given(frames(EVERY | DEEP), st.booleans())
def test_rows_written_in_columns_are_what_each_row_says(frame: pl.DataFrame, nulls: bool) -> None:
    records = JsonEncoder({"json.nulls": str(nulls).lower()}, frame.schema).encode(frame)
    expected = [
        {name: to_json(value, kind) for (name, kind), value in zip(frame.schema.items(), row, strict=True)}
        for row in frame.iter_rows()
    ]
    assert [list(json.loads(record)) for record in records] == [
        [name for name, value in row.items() if nulls or value is not None] for row in expected
    ]
    decoder = JsonDecoder({}, frame.schema, frozenset())
    made, meant = (
        decoder.decode(Records.of(lines)) for lines in (records, [json.dumps(row).encode() for row in expected])
    )
    assert not made.bad
    assert_frame_equal(made.frame, meant.frame, check_exact=True)


def test_one_nan_sends_no_other_row_down_the_slow_way(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = list[object]()
    monkeypatch.setattr(json_format, "to_json", lambda value, kind: looked_at.append(value) or to_json(value, kind))
    rows = [{"l": [1.5]}] * 50 + [{"l": [float("nan")]}] + [{"l": [2.5]}] * 50
    frame = pl.DataFrame({"r": rows, "m": [[{"key": "k", "value": 1}]] * 101})
    records = JsonEncoder({}, frame.schema).encode(frame)
    assert records[50] == b'{"r":{"l":["NaN"]},"m":{"k":1}}'
    assert records[49] == b'{"r":{"l":[1.5]},"m":{"k":1}}'
    assert len(looked_at) == 2
