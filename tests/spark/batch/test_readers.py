"""Files of text read by the stream and by Spark's own readers: what both take is the same, and what Spark takes besides is known."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest

from ouzel.session import Job, load_text
from tests.connectors.test_json_names import NAMED
from tests.fuzz.hunt import judge, plain_answer, spark_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ZONED = [
    "2024-01-31 10:11:12", "2024-01-31T10:11:12", "2024-01-31T10:11:12Z", "2024-01-31T10:11:12+02:00", "2024-01-31T10:11:12-0130",
    "2024-01-31", "2024-01-31 10:11", "2024-01-31 10:11:12.1", "2024-01-31T10:11:12.123456Z", "2024-01-31 10:11:12.1234567",
    "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999",
]  # fmt: skip
DATES = ["2024-01-31", "0001-01-01", "9999-12-31"]
TAKEN = {
    "csv": {
        "INT": ["1", "+1", "-0", "00012", '"5"', "", '""', "-2147483648"],
        "BIGINT": ["9223372036854775807"],
        "DOUBLE": ["1", "1.5", "1e5", "NaN", "Infinity", "-Infinity", ".5", "5.", "1e400", "+1.5"],
        "FLOAT": ["1.1", "16777217", "1e39"],
        "BOOLEAN": ["true", "TRUE", "falSe", ""],
        "VARCHAR": ["a", " a ", '"a,b"', '"a""b"', 'a"b', '""', '" "', "null", "é", "\\n", "a\\", "'q'", '""""', "# none", ""],
        "DATE": DATES,
        "TIMESTAMP(3)": ZONED,
        "TIMESTAMP_LTZ(3)": ZONED,
        "DECIMAL(5, 2)": ["1", "1.005", "1.015", "-1.235", "999.99", "1e2", "1.", "+.5", "1e-3", "0.00499999999999999999"],
        "BYTES": ["YWJj", "YQ=="],
    },
    "json": {
        "INT": ["1", "null", "-0", "2147483647"],
        "BIGINT": ["9223372036854775807"],
        "DOUBLE": ["1", "1.5", "1e5", "-0.0", "9007199254740993", "9223372036854775808", '"NaN"', '"Infinity"', '"-Infinity"',
                   "1e400", "-1e400", "NaN", "Infinity", "-Infinity", '"+INF"', '"-INF"', '"+Infinity"'],
        "FLOAT": ["1.1", "16777217", '"NaN"', "NaN", "1e39", "1e400"],
        "ARRAY<DOUBLE>": ['[1, "NaN"]', '["-Infinity", null]', "[1e400, NaN]"],
        "BOOLEAN": ["true", "false", "null"],
        "VARCHAR": ['"a"', '""', '"\\u00e9"', '"\\ud83d\\ude00"', "1", "-0", "1.50", "1e2", "12345678901234567890", "true", "null",
                    "[1, 2]", "[1,2]", "[ ]", '{"a":1}', '{"a" : [1.50, "}\\""]}', "NaN"],
        "DATE": [f'"{text}"' for text in DATES],
        "TIMESTAMP(3)": [f'"{text}"' for text in ZONED],
        "TIMESTAMP_LTZ(3)": [f'"{text}"' for text in ZONED],
        "DECIMAL(5, 2)": ["1", "1.005", '"1.5"', "-1.235", "1e2", "1e-3"],
        "DECIMAL(30, 10)": ["12345678901234567890.123", '"1e2"', "1.00000000005"],
        "BYTES": ['"YWJj"', '""'],
        "ARRAY<INT>": ["[1,2]", "[]", "[null]", "null"],
        "ARRAY<TIMESTAMP(3)>": ['["2024-01-31T10:11:12+02:00", null]'],
        "ARRAY<VARCHAR>": ['["a", 1, true, null]', '[1.50, -0, {"a":  [1 , 2]}, "\\u00e9"]'],
        "ARRAY<DECIMAL(5, 2)>": ['[1.005, "1e2", null]'],
        "ROW<a DATE, b BYTES>": ['{"a":"2024-01-31","b":"YWJj"}'],
        "MAP<VARCHAR, VARCHAR>": ['{"a":1.50,"b":{"c":  [1]}}', "{}", "null"],
        "ROW<a INT, at TIMESTAMP_LTZ(3)>": ['{"a":1,"at":"2024-01-31T10:11:12+02:00"}', "{}", '{"b":2}', "null"],
    },
}  # fmt: skip
"""What a field may be, by format and type."""

REFUSED = [
    ("csv", "INT", "1.0"), ("csv", "INT", "2147483648"), ("csv", "INT", "1_0"), ("csv", "DOUBLE", "1_0.5"), ("csv", "DATE", "2024-02-30"),
    ("csv", "TIMESTAMP(3)", "2024-01-31 24:00:00"), ("csv", "TIMESTAMP(3)", "1706695872"), ("csv", "DECIMAL(5, 2)", "999.995"),
    ("csv", "BYTES", "!!"), ("csv", "BOOLEAN", "on"), ("csv", "VARCHAR", '"x"y'), ("csv", "VARCHAR", '"x\n1,y"z'),
    ("json", "INT", "1.0"), ("json", "INT", '"1"'), ("json", "INT", "true"), ("json", "DOUBLE", '"1"'),
    ("json", "BOOLEAN", '"true"'), ("json", "DATE", "19000"), ("json", "TIMESTAMP(3)", "1706695872"),
    ("json", "TIMESTAMP_LTZ(3)", "1706695872"), ("json", "TIMESTAMP(3)", '"soon"'), ("json", "DECIMAL(5, 2)", "1000"),
    ("json", "BYTES", "1234"), ("json", "ARRAY<BYTES>", "[1234]"), ("json", "DECIMAL(5, 2)", "NaN"), ("json", "INT", "NaN"),
    ("json", "ARRAY<DATE>", "[19000]"), ("json", "ARRAY<INT>", "1"), ("json", "INT", "1,}"),
]  # fmt: skip

TAKEN_BY_SPARK = [
    ("csv", "INT", " 1", 1), ("csv", "DOUBLE", "1d", 1.0), ("csv", "BOOLEAN", "yes", True),
    ("csv", "BYTES", "YQ", b"a"), ("csv", "DATE", "2024-01", date(2024, 1, 1)),
    ("json", "INT", '1}{"v":2', 1),
]  # fmt: skip
"""Fields that fail a stream, and what Spark's readers make of them."""


FILES = [
    ("raw", b"a\n\nb\n"), ("raw", b"a\r\nb\r\n\r\n c "), ("raw", b"a\rb\r\r\nc\r"), ("raw", b"\xef\xbb\xbfa\n"), ("raw", b""),
    ("csv", b"v,w\na,1\n\nb,2"), ("csv", b"v,w\r\na,1\r\nb,2\r\n"), ("csv", b'v,w\n"a\nb, ""c""",1\n'), ("csv", b"\xef\xbb\xbfv,w\na,1\n"),
    ("csv", b"w,v,x\n1,#a,\n"), ("csv", b"v\na\n\n  \n"),
    ("csv", b'v,w\n"a,\n""b\n",1\n"c",d"\n'), ("csv", b'v,w\r\na"b,"1\r\n"\r\n"",""\r\n'), ("csv", b'w,v\n1,"\n"\n2,"a"""'),
    ("csv", b'v,w\n1,"\n2,"\n3"",a"\n'),
    ("csv", b"v,w\na\rb,1\n"), ("csv", b'v,w\n"a\rb",1\n'), ("csv", b'v,w\na"b,1\nc"",""\n'),
    ("json", b'{"v":"a"}\n\n{"v":"b"}'), ("json", b'{"v":"a"}\r\n{}\r\n'), ("json", b'\xef\xbb\xbf{"v":"a"}\n'), ("json", b'{"V":"a"}\n'),
    ("json", b""), ("json", b'{"V":"a","v":"b"}\n{"v":"c","V":"d"}\n{"V":"e"}\n'), ("json", b'{"x":1e400,"v":"a"}\n{"x":NaN,"v":"b"}\n'),
]  # fmt: skip
"""Whole files with a field `v`."""


def table(directory: Path, shape: str, kind: str, texts: list[str]) -> Job:
    """A job that reads a file in which each record has a number `n` and a field `v`."""
    lines = [f"{n},{text}" if shape == "csv" else f'{{"n": {n}, "v": {text}}}' for n, text in enumerate(texts)]
    content = "\n".join(["n,v", *lines] if shape == "csv" else lines) + "\n"
    return whole(directory, shape, content.encode(), f"n INT, v {kind}")


def whole(directory: Path, shape: str, content: bytes, columns: str = "v VARCHAR") -> Job:
    """A job that reads a file of this content."""
    (directory / f"t.{shape}").write_bytes(content)
    given = f"('connector' = 'file', 'path' = 't.{shape}', 'format' = '{shape}')"
    return load_text(f"CREATE TABLE t ({columns}) WITH {given};\nSELECT * FROM t;", directory, "reader")


@pytest.mark.parametrize(("shape", "kind"), [(shape, kind) for shape, of in TAKEN.items() for kind in of])
def test_both_read_the_same(spark: SparkSession, tmp_path: Path, shape: str, kind: str) -> None:
    texts = TAKEN[shape][kind]
    job = table(tmp_path, shape, kind, texts)
    found = judge(0, "", plain_answer(job), spark_answer(job, spark))
    assert found.kind == "same", f"{found.kind}: {found.detail}\n" + "\n".join(f"{n}: {t}" for n, t in enumerate(texts))


HEADERS = [
    {
        "a.csv": b"v,w\na,1\n",
        "b.csv": b"w,v\n2,b\n",
        "c.csv": b"w,x,V\n3,x,c\n",
        "d.csv": b"",
        "e f.csv": b"v,w\ne,5\n",
    },
    {"a.csv": b"x,v,x,w\n0,a,0,1\n"},
    {"a.csv": b"", "b.csv": b""},
    {"a.csv": b"v,w\na,1\n", "b.csv": b"v\nb\n"},
    {"a.csv": b"v,V,w\na,b,1\n"},
]
"""Files of one table whose headers are not the same."""


@pytest.mark.parametrize("files", HEADERS, ids=["order", "twice unasked", "empty", "lacking", "twice"])
def test_both_go_by_the_names_in_each_header(spark: SparkSession, tmp_path: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    given = "('connector' = 'file', 'path' = '*.csv', 'format' = 'csv')"
    job = load_text(f"CREATE TABLE t (v VARCHAR, w INT) WITH {given};\nSELECT * FROM t;", tmp_path, "reader")
    found = judge(0, "", plain_answer(job), spark_answer(job, spark))
    assert found.kind == ("both fail" if b"v\nb\n" in files.values() or b"V" in files["a.csv"] else "same"), found


NULLS = [
    ("", "v VARCHAR, w VARCHAR", b'"",1\n,2\na,\nb,""\n\\N,3\n'),
    ("", "v VARCHAR, w INT", b'"",1\n,2\na,\nb,""\n'),
    ("", "w INT", b'"",1\na,\nb,""\n'),
    ("'csv.quote' = ''", "v VARCHAR, w INT", b"a,1\n,2\nb,\n"),
    ("'csv.null' = '\\N'", "v VARCHAR, w VARCHAR", b'"",1\n,2\na,\nb,""\n\\N,\\N\n"\\N","\\N"\n'),
    ("'csv.null' = '\\N'", "v VARCHAR, w INT", b'"",1\n,2\na,\nb,""\n\\N,\\N\n"\\N","\\N"\n'),
    ("'csv.null' = '\\N'", "w INT", b'a,\nb,""\n\\N,\\N\n"\\N","\\N"\n'),
    ("'csv.null' = '\\N', 'csv.quote' = ''", "v VARCHAR, w INT", b"a,1\n,2\nb,\n\\N,\\N\n"),
]
"""Options, columns, and records of a file with the fields `v` and `w`."""


@pytest.mark.parametrize(("options", "columns", "records"), NULLS)
def test_both_tell_null_from_an_empty_text(
    spark: SparkSession, tmp_path: Path, options: str, columns: str, records: bytes
) -> None:
    (tmp_path / "t.csv").write_bytes(b"v,w\n" + records)
    given = ", ".join(("'connector' = 'file'", "'path' = 't.csv'", "'format' = 'csv'", *([options] if options else [])))
    job = load_text(f"CREATE TABLE t ({columns}) WITH ({given});\nSELECT * FROM t;", tmp_path, "reader")
    found = judge(0, "", plain_answer(job), spark_answer(job, spark))
    assert found.kind == "same", found


@pytest.mark.parametrize(("shape", "content"), FILES)
def test_both_read_the_same_lines(spark: SparkSession, tmp_path: Path, shape: str, content: bytes) -> None:
    job = whole(tmp_path, shape, content)
    found = judge(0, "", plain_answer(job), spark_answer(job, spark))
    assert found.kind == "same", found


@pytest.mark.parametrize(("columns", "record", "row"), NAMED)
def test_both_find_the_same_fields(
    spark: SparkSession, tmp_path: Path, columns: str, record: str, row: list[object] | str
) -> None:
    job = whole(tmp_path, "json", f'{{"x": 1}}\n\n{record}\n'.encode(), columns)
    found = judge(0, "", plain_answer(job), spark_answer(job, spark))
    assert found.kind == ("both fail" if isinstance(row, str) else "same"), found


INSIDE = [
    ("v VARCHAR", '{"V": "a", "x": {"V": "b"}}'),
    ("m MAP<VARCHAR, ROW<v INT>>", '{"M": {"V": {"V": 1}, "v": {"v": 2}, "M": null}}'),
    ("r ROW<v VARCHAR, w ARRAY<VARCHAR>>", r'{"R": {"V": "a, \"V\": {", "W": ["\\", "{", "\"V\":"]}}'),
    ("r ROW<vol INT>", r'{"r": {"V\u006fl": 1}}'),
    ("""r ROW<"vol" INT>""", r'{"R": {"v\u006fl": 1, "Vol": 2}}'),
    ('"V" INT, r ROW<v INT>', '{"r": {"V": 1}, "v": 2}'),
    ("r ROW<d DECIMAL(30, 10), f DOUBLE, i BIGINT>", '{"r": {"D": 12345678901234567890.123, "F": 1e400, "I": 9223372036854775807}}'),
    ("r ROW<f DOUBLE, t TIMESTAMP(3)>", '{"r": {"F": NaN, "T": "2024-01-31T10:11:12+02:00"}}'),
    ("r ROW<v INT>", '{"R": [1]}'), ("r ARRAY<ROW<v INT>>", '{"R": {"V": 1}}'), ("r ROW<v INT>", '{"R": null}'),
    ("r ROW<v INT>", '{"R": {"V": 1}'),
]  # fmt: skip
"""Columns of a table, and a record whose fields are in another case where they are inside others, or look so and are not."""


@pytest.mark.parametrize(("columns", "record"), INSIDE)
def test_both_find_the_same_fields_inside_others(
    spark: SparkSession, tmp_path: Path, columns: str, record: str
) -> None:
    job = whole(tmp_path, "json", f"{record}\n".encode(), columns)
    plain = plain_answer(job)
    found = judge(0, "", plain, spark_answer(job, spark))
    assert found.kind == ("both fail" if plain.error else "same"), found


def test_spark_writes_anew_what_is_no_text_in_a_record_of_another_case(spark: SparkSession, tmp_path: Path) -> None:
    job = whole(tmp_path, "json", b'{"V": 1.50}\n')
    assert plain_answer(job).rows.rows() == [("1.50",)]
    assert spark_answer(job, spark).rows.rows() == [("1.5",)]


UNCLOSED = {
    "at the end": (b'v,w\na,"x', 'a,"x'),
    "with lines behind it": (b'v,w\n"a\nb,1\nc,2\n', '"a'),
    "and nothing else": (b'v,w\na,"\n', 'a,"'),
    "behind a doubled one": (b'v,w\n"a ""b"",1\n', '"a ""b"",1'),
    "behind one in a bare field": (b'v,w\na"b,"c\n', 'a"b,"c'),
    "behind one that several lines close": (b'v,w\n"a\n""\nb","c\n1\n', 'b","c'),
    "in lines that end with CR LF": (b'v,w\r\n"a\r\nb",1\r\n"c,2\r\n', '"c,2\r'),
    "that a line opens or closes": (b'v,w\n1,"\n2,"\n3,"\n4\n', '3,"'),
    "in the header": (b'v,"w\n1,2\n', 'v,"w'),
}
"""Files that were cut, or that nobody has quoted well, and the line in which the quote opens."""


@pytest.mark.parametrize("name", UNCLOSED)
@pytest.mark.parametrize("marks", ['",', "';"])
@pytest.mark.parametrize("headed", [True, False])
def test_both_refuse_a_quote_that_nothing_closes(
    spark: SparkSession, tmp_path: Path, name: str, marks: str, headed: bool
) -> None:
    content, line = UNCLOSED[name]
    (tmp_path / "a.csv").write_bytes(b"v,w\n" if marks == "';" else b'v,w\n"a ""b""\n",1\n')
    (tmp_path / "b c.csv").write_bytes(content.translate(bytes.maketrans(b'",', marks.encode())))
    quote, delimiter = marks.replace("'", "''")[:-1], marks[-1]
    given = f"'connector' = 'file', 'path' = '*.csv', 'format' = 'csv', 'csv.quote' = '{quote}', 'csv.delimiter' = '{delimiter}'"
    given += "" if headed else ", 'csv.header' = 'false', 'csv.columns' = 'v, w'"
    job = load_text(f"CREATE TABLE t (v VARCHAR, w VARCHAR) WITH ({given});\nSELECT v FROM t;", tmp_path, "reader")
    theirs = spark_answer(job, spark)
    found = judge(0, "", plain_answer(job), theirs)
    assert found.kind == "both fail", found
    opens = line.translate(str.maketrans('",', marks))
    assert theirs.error.endswith(f"b c.csv ends inside a quote that nothing closes, which opens in the line {opens!r}")


@pytest.mark.parametrize(("shape", "kind", "text"), REFUSED)
def test_both_refuse(spark: SparkSession, tmp_path: Path, shape: str, kind: str, text: str) -> None:
    job = table(tmp_path, shape, kind, [text])
    found = judge(0, "", plain_answer(job), spark_answer(job, spark))
    assert found.kind == "both fail", found


@pytest.mark.parametrize(("shape", "kind", "text", "value"), TAKEN_BY_SPARK)
def test_spark_takes_what_fails_a_stream(
    spark: SparkSession, tmp_path: Path, shape: str, kind: str, text: str, value: object
) -> None:
    job = table(tmp_path, shape, kind, [text])
    assert plain_answer(job).error
    rows = spark_answer(job, spark).rows
    assert isinstance(rows, pl.DataFrame)
    assert rows["v"].to_list() == [value]


def test_spark_puts_a_mark_for_what_is_no_utf_8(spark: SparkSession, tmp_path: Path) -> None:
    job = whole(tmp_path, "csv", b"v\n\xe9\n")
    assert "is not UTF-8" in plain_answer(job).error
    assert spark_answer(job, spark).rows.rows() == [("\ufffd",)]


def test_spark_makes_one_letter_of_a_line_end_of_two_inside_quotes(spark: SparkSession, tmp_path: Path) -> None:
    job = whole(tmp_path, "csv", b'v\r\n"a\r\nb"\r\n')
    assert plain_answer(job).rows.rows() == [("a\r\nb",)]
    assert spark_answer(job, spark).rows.rows() == [("a\nb",)]


def test_of_a_json_field_that_comes_twice_spark_takes_the_last(spark: SparkSession, tmp_path: Path) -> None:
    job = whole(tmp_path, "json", b'{"v": "a", "v": "b"}\n')
    assert plain_answer(job).rows.rows() in ([("a",)], [("b",)])
    assert spark_answer(job, spark).rows.rows() == [("b",)]


PACKED = {"gz": lambda data: gzip.compress(data, mtime=0), "zst": lambda data: pa.compress(data, "zstd", asbytes=True)}


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize(
    ("shape", "parts"),
    [
        ("csv", (b'v,w\n"a\nb",', b"1\nc,\n")),
        ("json", (b'{"v":"a"}\n{"V"', b':"b"}\n')),
        ("raw", (b"a\r", b"\nb")),
    ],
)
def test_both_unpack_the_same(
    spark: SparkSession, tmp_path: Path, shape: str, parts: tuple[bytes, ...], ending: str
) -> None:
    (tmp_path / f"t.{shape}.{ending}").write_bytes(b"".join(map(PACKED[ending], parts)))
    given = f"('connector' = 'file', 'path' = 't.{shape}.{ending}', 'format' = '{shape}')"
    job = load_text(f"CREATE TABLE t (v VARCHAR) WITH {given};\nSELECT * FROM t;", tmp_path, "reader")
    found = judge(0, "", plain_answer(job), spark_answer(job, spark))
    assert found.kind == "same", found
