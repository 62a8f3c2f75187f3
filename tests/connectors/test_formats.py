"""Formats: what is written is read back, and what cannot be read is named, alone."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from ouzel.connectors.formats import open_decoder, open_encoder
from ouzel.connectors.formats.base import Decoded, Records
from ouzel.errors import ConnectorError
from tests.connectors.format_strategies import EVERY, SIMPLE, frames
from tests.effort import examples

QUIET = settings(deadline=None, max_examples=examples(100))


def decode(
    name: str,
    lines: list[bytes],
    columns: Mapping[str, pl.DataType],
    required: frozenset[str] = frozenset(),
    options: Mapping[str, str] | None = None,
) -> Decoded:
    return open_decoder(name, options or {}, columns, required).decode(Records.of(lines))


def one(name: str, text: str, kind: pl.DataType) -> object:
    """The value that a field of this text has, or the reason why it is bad."""
    line = f'{{"c": {text}}}' if name == "json" else f"{text},"
    decoded = decode(name, [line.encode()], {"c": kind}, options={"csv.columns": "c,d", "csv.null": "NULL"})
    return decoded.bad[0][1] if decoded.bad else decoded.frame["c"][0]


@QUIET
@given(frames(EVERY))
def test_json_reads_what_it_wrote(frame: pl.DataFrame) -> None:
    lines = open_encoder("json", {}, frame.schema).encode(frame)
    decoded = decode("json", lines, frame.schema)
    assert not decoded.bad
    assert_frame_equal(decoded.frame, frame)


@QUIET
@given(frames(SIMPLE))
def test_csv_reads_what_it_wrote(frame: pl.DataFrame) -> None:
    options = {"csv.null": "\\N", "csv.columns": ",".join(frame.columns)}
    lines = open_encoder("csv", options, frame.schema).encode(frame)
    decoded = open_decoder("csv", options, frame.schema).decode(Records.of(lines))
    assert not decoded.bad
    assert_frame_equal(decoded.frame, frame)


BROKEN = [b"", b"{", b"[1]", b"null", b'{"id": "1"}', b'{"id": 1.5}', b'{"id": 1, "day": "2024-02-30"}', b'{"id": 9223372036854775808}',
          b'{"word": "no id"}', b'{"id": 1} {"id": 2}', b"\xff\xfe", b'{"id": NaN}', b'{"id": true}']  # fmt: skip


@QUIET
@given(st.lists(st.sampled_from(BROKEN) | st.integers(0, 99), max_size=30))
@example([*BROKEN, 1])
def test_bad_json_is_found_exactly_and_good_json_kept(records: list[bytes | int]) -> None:
    columns = {"id": pl.Int64(), "day": pl.Date(), "word": pl.String()}
    lines = [
        record if isinstance(record, bytes) else json.dumps({"id": record, "more": [1]}).encode() for record in records
    ]
    decoded = decode("json", lines, columns, frozenset({"id"}))
    good = [index for index, record in enumerate(records) if isinstance(record, int)]
    assert decoded.frame["id"].to_list() == [records[index] for index in good]
    assert [index for index, _ in decoded.bad] == [index for index in range(len(records)) if index not in good]
    assert decoded.kept is None or decoded.kept.tolist() == good


@QUIET
@given(
    st.lists(
        st.sampled_from([b"", b"1", b"1,2,3", b"x,y", b'"1,2', b'1,"a"b"', b"\xff,1", b",nothing"])
        | st.integers(0, 99),
        max_size=30,
    )
)
def test_bad_csv_is_found_exactly_and_good_csv_kept(records: list[bytes | int]) -> None:
    columns = {"id": pl.Int64(), "word": pl.String()}
    lines = [record if isinstance(record, bytes) else f'{record},"a, ""b"""'.encode() for record in records]
    decoded = decode("csv", lines, columns, frozenset({"id"}), {"csv.columns": "id,word"})
    good = [index for index, record in enumerate(records) if isinstance(record, int)]
    assert decoded.frame.rows() == [(records[index], 'a, "b"') for index in good]
    assert [index for index, _ in decoded.bad] == [index for index in range(len(records)) if index not in good]


@pytest.mark.parametrize("name", ["json", "csv"])
@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-31T12:34:56.789", dt.datetime(2024, 1, 31, 12, 34, 56, 789000)),
        ("2024-01-31 12:34:56.123456", dt.datetime(2024, 1, 31, 12, 34, 56, 123456)),
        ("2024-01-31 12:34:56", dt.datetime(2024, 1, 31, 12, 34, 56)),
        ("2024-01-31T12:34", dt.datetime(2024, 1, 31, 12, 34)),
        ("2024-01-31", dt.datetime(2024, 1, 31)),
        ("2024-01-31T12:34:56Z", dt.datetime(2024, 1, 31, 12, 34, 56)),
        ("2024-01-31T12:34:56+02:00", dt.datetime(2024, 1, 31, 10, 34, 56)),
        ("2024-01-31 12:34:56.123456789", dt.datetime(2024, 1, 31, 12, 34, 56, 123456)),
    ],
)  # fmt: skip
def test_timestamps(name: str, text: str, moment: dt.datetime) -> None:
    quoted = f'"{text}"' if name == "json" else text
    assert one(name, quoted, pl.Datetime("us")) == moment
    assert one(name, quoted, pl.Datetime("us", "UTC")) == moment.replace(tzinfo=dt.UTC)


@pytest.mark.parametrize("name", ["json", "csv"])
@pytest.mark.parametrize(
    "text",
    [
        "31/01/2024",
        "01-02-2024",
        "2024-02-30 00:00:00",
        "2024-01-31 24:00:00",
        "2024-01-31 12:00:60",
        "12:00",
        "soon",
    ],
)
def test_what_is_no_timestamp_is_bad(name: str, text: str) -> None:
    reason = one(name, f'"{text}"' if name == "json" else text, pl.Datetime("us"))
    assert reason == f"'{text}' does not fit column 'c' of type TIMESTAMP"


def test_timestamps_of_many_shapes_stand_side_by_side() -> None:
    texts = ["2024-01-31T12:00:00", "2024-01-31 12:00:00Z", None, "2024-01-31", "no"]
    decoded = decode("json", [json.dumps({"t": text}).encode() for text in texts], {"t": pl.Datetime("us")})
    noon, midnight = dt.datetime(2024, 1, 31, 12), dt.datetime(2024, 1, 31)
    assert decoded.frame["t"].to_list() == [noon, noon, None, midnight]
    assert [index for index, _ in decoded.bad] == [4]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("12.345", pl.Decimal(9, 2), Decimal("12.35")),
        ("0.125", pl.Decimal(9, 2), Decimal("0.13")),
        ('"0.00499999999999999999"', pl.Decimal(9, 2), Decimal("0.00")),
        ("-0.125", pl.Decimal(9, 2), Decimal("-0.13")),
        ('"1e2"', pl.Decimal(9, 2), Decimal("100.00")),
        ("12345678901234567890.123456789", pl.Decimal(38, 9), Decimal("12345678901234567890.123456789")),
        ("1234567.891", pl.Decimal(9, 2), Decimal("1234567.89")),
        ("9999999.999", pl.Decimal(9, 2), "9999999.999 does not fit column 'c' of type DECIMAL(9, 2)"),
        ("true", pl.Decimal(9, 2), None),
        ("1", pl.Float64(), 1.0),
        ('"1"', pl.Float64(), "'1' does not fit column 'c' of type DOUBLE"),
        ("1.0", pl.Int32(), "1.0 does not fit column 'c' of type INT"),
        ("128", pl.Int8(), "128 does not fit column 'c' of type TINYINT"),
        ('"5"', pl.Int64(), "'5' does not fit column 'c' of type BIGINT"),
        ("5", pl.String(), "5"),
        ("true", pl.String(), "true"),
        ("1.50", pl.String(), "1.50"),
        ("-0", pl.String(), "-0"),
        ("1E2", pl.String(), "1E2"),
        ('"1.50"', pl.String(), "1.50"),
        ('{"a":  [1,"}\\""], "c":2}', pl.String(), '{"a":  [1,"}\\""], "c":2}'),
        ("[ ]", pl.String(), "[ ]"),
        ('{"a":{"b":1.50}}', pl.List(pl.Struct({"key": pl.String(), "value": pl.String()})), [{"key": "a", "value": '{"b":1.50}'}]),
        ('"a\\nb"', pl.String(), "a\nb"),
        ('"YQ=="', pl.Binary(), b"a"),
        ('"Y!"', pl.Binary(), "'Y!' does not fit column 'c' of type BYTES"),
        ('{"a": 1}', pl.List(pl.Struct({"key": pl.String(), "value": pl.Int8()})), [{"key": "a", "value": 1}]),
        ('{"a": 300}', pl.List(pl.Struct({"key": pl.String(), "value": pl.Int8()})),
         "{'a': 300} does not fit column 'c' of type MAP<VARCHAR, TINYINT>"),
        ('{"7": null}', pl.List(pl.Struct({"key": pl.Int64(), "value": pl.Date()})), [{"key": 7, "value": None}]),
        ("1234", pl.Binary(), "1234 does not fit column 'c' of type BYTES"),
        ("[1, 2.5]", pl.List(pl.Int64()), "[1, 2.5] does not fit column 'c' of type ARRAY<BIGINT>"),
    ],
)  # fmt: skip
def test_json_values(text: str, kind: pl.DataType, value: object) -> None:
    found = one("json", text, kind)
    if value is None:
        assert "does not fit" in str(found)
    else:
        assert (found.to_list() if isinstance(found, pl.Series) else found) == value


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("7", pl.Int32(), 7),
        ("7.0", pl.Int32(), "'7.0' does not fit column 'c' of type INT"),
        ("2147483648", pl.Int32(), "'2147483648' does not fit column 'c' of type INT"),
        ("TRUE", pl.Boolean(), True),
        ("yes", pl.Boolean(), "'yes' does not fit column 'c' of type BOOLEAN"),
        ("NULL", pl.Boolean(), None),
        ("1e3", pl.Float64(), 1000.0),
        ("-0.00499999999999999999", pl.Decimal(9, 2), Decimal("0.00")),
        ("0.005", pl.Decimal(9, 2), Decimal("0.01")),
        ('" a"', pl.String(), " a"),
    ],
)
def test_csv_values(text: str, kind: pl.DataType, value: object) -> None:
    assert one("csv", text, kind) == value


@QUIET
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional=dict.fromkeys(
                ("a", "b", "more"),
                st.recursive(
                    st.none()
                    | st.booleans()
                    | st.integers(-(2**62), 2**62)
                    | st.sampled_from(["1.50", "{", '"]', "\\"]),
                    lambda inner: (
                        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", '"b', "}"]), inner)
                    ),
                    max_leaves=6,
                ),
            ),
        ),
        max_size=8,
    ),
    st.sampled_from([(" , ", "  : "), (",", ":")]),
)
def test_a_varchar_takes_what_is_no_string_as_it_is_written(
    objects: list[dict[str, object]], separators: tuple[str, str]
) -> None:
    lines = [json.dumps(found, separators=separators).encode() for found in objects]
    decoded = decode("json", lines, {"a": pl.String(), "b": pl.String()})
    assert not decoded.bad
    for row, found in zip(decoded.frame.iter_rows(named=True), objects, strict=True):
        for name in ("a", "b"):
            value = found.get(name)
            is_text = value is None or isinstance(value, str)
            assert row[name] == (value if is_text else json.dumps(value, separators=separators))


def test_a_missing_required_value_is_a_bad_record() -> None:
    decoded = decode("json", [b'{"a": 1}', b"{}", b'{"a": null}'], {"a": pl.Int64()}, frozenset({"a"}))
    assert decoded.frame["a"].to_list() == [1]
    assert decoded.bad == [(1, "column 'a' may not be NULL"), (2, "column 'a' may not be NULL")]


def test_records_without_wanted_columns_still_count() -> None:
    assert decode("json", [b"{}", b'{"a": 1}', b"{"], {}).frame.height == 2


def test_json_numbers_that_json_lacks_are_written_as_text() -> None:
    frame = pl.DataFrame({"f": [float("nan"), float("-inf"), 1.5]})
    assert open_encoder("json", {}, frame.schema).encode(frame) == [b'{"f":"NaN"}', b'{"f":"-Infinity"}', b'{"f":1.5}']


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_json_numbers_that_json_lacks_come_back_from_inside_too(name: str) -> None:
    number = float(name)
    frame = pl.DataFrame(
        {"l": [[1.0, number], None, []], "r": [{"a": number, "b": [number]}, None, {"a": 2.0, "b": None}]}
    )
    lines = open_encoder("json", {}, frame.schema).encode(frame)
    assert_frame_equal(decode("json", lines, frame.schema).frame, frame)


def test_json_may_leave_nulls_out() -> None:
    frame = pl.DataFrame({"a": [1, None], "b": [None, "x"]})
    assert open_encoder("json", {"json.nulls": "false"}, frame.schema).encode(frame) == [b'{"a":1}', b'{"b":"x"}']


def test_raw_is_text_or_bytes() -> None:
    assert decode("raw", [b"a,b", b"\xff"], {"line": pl.String()}).bad == [(1, "it is not UTF-8 (byte 0)")]
    assert decode("raw", [b"a\nb", b"\xff"], {"line": pl.Binary()}).frame["line"].to_list() == [b"a\nb", b"\xff"]
    with pytest.raises(ConnectorError, match=r"holds one column of type VARCHAR or BYTES, not \(a, b\)"):
        decode("raw", [], {"a": pl.String(), "b": pl.String()})


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress], ids=["gzip", "zlib"])
def test_a_record_that_is_compressed_is_one_bad_record(form: str, packed: Callable[[bytes], bytes]) -> None:
    good = b'{"id": 1}' if form == "json" else b"1"
    torn = packed(good + b"\n").replace(b"\n", b"")
    decoded = decode(
        form, [torn, good, good], {"id": pl.Int64()}, options={"csv.columns": "id"} if form == "csv" else {}
    )
    assert [index for index, _ in decoded.bad] == [0]
    assert decoded.frame["id"].to_list() == [1, 1]


def test_a_json_array_is_told_from_what_is_no_json() -> None:
    decoded = decode("json", [b'[{"id": 1},', b"nonsense"], {"id": pl.Int64()})
    told = ["it begins a JSON array, and a record is one object a line", "it is not JSON at character 1, nonsense"]
    assert [reason for _, reason in decoded.bad] == told


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (b"{\r", "it is { alone, and a record is one object a line"),
        (b'  {"id": 1,', "it ends before its object does, and a record is one object a line"),
        (b'{"id": 1, "name}', "it is not JSON: the text that begins at character 11 has no closing quote"),
        (b'{"id": 1} {"id": 2}', 'it is not JSON at character 11, {"id": 2}'),
        (b"{'id': 1}", "it is not JSON at character 2, 'id': 1}"),
        (b"[" * 9_000, "it begins a JSON array, and a record is one object a line"),
        (b'{"a":' * 9_000, "it is nested too deeply"),
    ],
)
def test_what_is_no_json_is_told_in_our_words(record: bytes, told: str) -> None:
    assert decode("json", [record, b'{"id": 2}'], {"id": pl.Int64()}).bad == [(0, told)]


def test_json_over_a_file_of_csv_says_which_format_it_is() -> None:
    decoded = decode("json", [b"id,name", b"1;x", b'{"id": 1, "name"}', b'{"id": 2}'], {"id": pl.Int64()})
    csv = "it is not JSON, and looks like CSV: write 'format' = 'csv'"
    assert [reason for _, reason in decoded.bad[:2]] == [csv, csv]
    assert [(index, "CSV" in reason) for index, reason in decoded.bad[2:]] == [(2, False)]


def test_csv_refuses_nested_types() -> None:
    with pytest.raises(ConnectorError, match="'csv' cannot hold column 'a' of type ARRAY<BIGINT>; use 'json'"):
        decode("csv", [], {"a": pl.List(pl.Int64())})


@pytest.mark.parametrize("record", [b"1,a\nb", b'1,a\n2,"b"'])
def test_a_csv_record_with_a_line_end_outside_quotes_is_bad(record: bytes) -> None:
    decoded = decode("csv", [b"1,a", record, b'2,"b\n"'], {"word": pl.String()}, options={"csv.columns": "id,word"})
    assert decoded.frame["word"].to_list() == ["a", "b\n"]
    ((index, reason),) = decoded.bad
    assert (index, reason.partition(":")[0]) == (1, "column 'word' has a line end outside quotes")
