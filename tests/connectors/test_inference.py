"""Tables that declare no columns: what is found in which file, and that it stands in the query's text from then on."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ouzel
from ouzel import entry, traits
from ouzel.compiler.plan import Scan, walk
from ouzel.errors import BadRecord, QueryError, TopologyError
from ouzel.session import Job, load_text

PARQUET = pa.table(
    {
        "id": pa.array([1], pa.int32()),
        "many": pa.array([1], pa.uint64()),
        "price": pa.array(["1.50"]).cast(pa.decimal128(9, 2)),
        "at": pa.array([datetime(2013, 1, 1)], pa.timestamp("ms", "UTC")),
        "tags": pa.array([["a"]]),
        "sizes": pa.array([[("s", 1)]], pa.map_(pa.string(), pa.int64())),
        "place": pa.array([{"X": 1.0}]),
        "word": pa.array(["a"]).dictionary_encode(),
        "select": pa.array([None], pa.null()),
    }
)
FILES = {
    "kinds.csv": b"i,f,b,d,t,z,s,zip,e\n1,1,true,2013-01-01,2013-01-01 05:00,2013-01-01T05:00:00Z,a,01234,\n"
    b",2.5,FALSE,2013-01-02,2013-01-01T06:00:00.5,2013-01-01T05:00:00+02:00,1,00345,\n",
    "half.csv": b'a;"b;c"\n1;2\n',
    "tabs.tsv": b"a\tb\n1\tx\n",
    "header.csv": b"a,b\n",
    "big.csv": b"n\n9223372036854775807\n9223372036854775808\n",
    "mixed.csv": b"v,w\n2013-01-01,2013-01-01T00:00Z\n1,2013-01-01\n",
    "bad.csv": b"a,b\n1,2\n3\n4,5\n",
    "nested.json": b'{"id": 1, "who": {"Name": "x", "ages": [1, 2.5]}, "at": "2013-01-01T05:00:00"}\n'
    b'{"id": 2, "who": null, "more": [{"day": "2013-01-01"}], "none": null}\n',
    "odd.json": b'{"a": 1, "b": true, "c": {"x": 1}, "d": 99999999999999999999, "e": {}}\n{"a": "x", "b": 1, "c": 5}\nno JSON\n',
    "case.jsonl": b'{"ID": 1}\n{"id": 2}\n',
    "words.txt": b"ouzel\n",
}
COLUMNS = {
    "kinds.csv": "i BIGINT, f DOUBLE, b BOOLEAN, d DATE, t TIMESTAMP(6), z TIMESTAMP_LTZ(6), s VARCHAR, zip VARCHAR, e VARCHAR",
    "half.csv": "a BIGINT, b;c BIGINT",
    "tabs.tsv": "a BIGINT, b VARCHAR",
    "header.csv": "a VARCHAR, b VARCHAR",
    "big.csv": "n DOUBLE",
    "mixed.csv": "v VARCHAR, w TIMESTAMP(6)",
    "bad.csv": "a BIGINT, b BIGINT",
    "nested.json": "id BIGINT, who ROW<Name VARCHAR, ages ARRAY<DOUBLE>>, at TIMESTAMP(6), more ARRAY<ROW<day DATE>>, none VARCHAR",
    "odd.json": "a VARCHAR, b VARCHAR, c VARCHAR, d VARCHAR, e VARCHAR",
    "case.jsonl": "ID BIGINT, id BIGINT",
    "words.txt": "line VARCHAR",
    "all.parquet": "id INT, many DECIMAL(20, 0), price DECIMAL(9, 2), at TIMESTAMP_LTZ(6), tags ARRAY<VARCHAR>, "
    "sizes MAP<VARCHAR, BIGINT>, place ROW<X DOUBLE>, word VARCHAR, select VARCHAR",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with all the files."""
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    pq.write_table(PARQUET, tmp_path / "all.parquet")
    return tmp_path


def planned(text: str, folder: Path) -> Job:
    """The query."""
    return load_text(text, folder, "q")


def scan(job: Job) -> Scan:
    """The first table that it reads."""
    return next(node for sink in job.program.sinks for node in walk(sink) if isinstance(node, Scan))


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_found(folder: Path, name: str) -> None:
    job = planned(f"SELECT * FROM '{name}'", folder)
    assert str(scan(job).schema) == COLUMNS[name]
    for path in folder.iterdir():
        path.unlink()
    again = planned(job.text, folder)  # whoever runs the text later finds nothing anew
    assert (again.text, again.program.sinks) == (job.text, job.program.sinks)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT i, t FROM 'kinds.csv' WHERE f > 2", [(None, datetime(2013, 1, 1, 6, 0, 0, 500_000))]),
        ("SELECT x.who.ages[2], x.more[1].day FROM 'nested.json' AS x WHERE id > 0",
         [(2.5, None), (None, date(2013, 1, 1))]),
        ("SELECT tabs.a, half.a FROM 'tabs.tsv', 'half.csv'", [(1, 1)]),
        ("SELECT a.b FROM 'tabs.tsv' a JOIN 'tabs.tsv' b ON a.a = b.a", [("x",)]),
        ("WITH tabs AS (SELECT 2 AS a), b AS (SELECT tabs.a FROM 'tabs.tsv') SELECT a FROM b", [(1,)]),
        ("SELECT a FROM 'half.csv' AS h WHERE EXISTS (SELECT 1 FROM 'big.csv' AS b WHERE b.n > h.a) "
         "AND a = (SELECT MAX(k.i) FROM read_csv('kinds.csv') AS k WHERE k.i = h.a)", [(1,)]),
        ("SELECT h.a, x.n FROM 'half.csv' AS h, LATERAL (SELECT COUNT(*) AS n FROM 'kinds.csv' AS k WHERE k.i = h.a) AS x", [(1, 1)]),
        ("SELECT column1 FROM read_csv('header.csv', header => false)", [("b",)]),
        ("SELECT n FROM read_csv('big.csv', nullstr => '9223372036854775808')", [(2**63 - 1,), (None,)]),
        ("SELECT a FROM read_csv('bad.csv', bad_record => 'skip')", [(1,), (4,)]),
        ("SELECT id, line FROM read_json('nested.json') CROSS JOIN read_text('words.txt')", [(1, "ouzel"), (2, "ouzel")]),
        ("SELECT sizes['s'], \"select\" FROM read_parquet('all.parquet')", [(1, None)]),
        ('SELECT "ID", "id" FROM \'case.jsonl\'', [(1, None), (None, 2)]),
        ("CREATE TABLE t WITH ('connector' = 'file', 'path' = 'half.csv', 'format' = 'csv'); SELECT \"b;c\" FROM t", [(2,)]),
        ("CREATE TABLE t (twice AS i * 2, WATERMARK FOR t AS t - INTERVAL '1' SECOND) WITH ('connector' = 'file', 'path' = 'kinds.csv', "
         "'format' = 'csv'); SELECT twice, COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(t), INTERVAL '1' DAY) GROUP BY window_start, twice",
         [(2, 1), (None, 1)]),
        ("CREATE TABLE t (file STRING METADATA, *, zip INT) WITH ('connector' = 'file', 'path' = 'kinds.csv', 'format' = 'csv'); "
         "SELECT zip, file LIKE '%.csv' FROM t", [(1234, True), (345, True)]),
        ("CREATE VIEW v AS SELECT a FROM 'tabs.tsv'; SELECT * FROM v", [(1,)]),
    ],
    ids=str,
)  # fmt: skip
def test_what_it_answers(folder: Path, query: str, rows: list[tuple[object, ...]]) -> None:
    answer = entry.table(planned(query, folder), "memory").rows()
    assert sorted(answer, key=str) == sorted(rows, key=str)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * FROM 'none.csv'", "line 1, column 15: the columns of none cannot be found: there is no file at none.csv"),
        ("SELECT * FROM 'none'", "the name 'none' does not say what is in it; end it with one of .csv, .tsv, "),
        ("SELECT * FROM 'empty.csv'", "empty.csv is empty, so it says no columns; declare them"),
        ("SELECT * FROM read_csv('empty.csv')", "declare them: CREATE TABLE empty (id BIGINT, name VARCHAR) "
         "WITH ('connector' = 'file', 'path' = 'empty.csv', 'format' = 'csv'), with its own columns"),
        ("SELECT * FROM 'empty.json'", "empty.json holds no JSON object, so it says no columns; declare them"),
        ("SELECT * FROM 'gap.csv'", "gap.csv leaves a field without a name; name them all: 'csv.columns' = 'a, b, c'"),
        ("SELECT * FROM 'wide.csv'", "wide.csv is UTF-16; convert it to UTF-8, as by iconv"),
        ("SELECT * FROM 'latin.csv'", "latin.csv cannot be read: field 2 is not UTF-8: "),
        ("SELECT * FROM 'latin.csv'", "latin.utf8.csv` makes one of UTF-8"),
        ("SELECT * FROM read_csv('latin.csv', header => false)", "latin.csv cannot be read: field 2 is not UTF-8: "),
        ("SELECT * FROM read_csv('half.csv', delim => '||')", "'csv.delimiter' is one ASCII character, and '||' is none"),
        ("SELECT * FROM read_csv('half.csv', quote => 'é')", "'csv.quote' is one ASCII character, and 'é' is none"),
        ("SELECT * FROM read_csv('half.csv', delim => '\"')", "'csv.delimiter' and 'csv.quote' are the same character"),
        ("CREATE TABLE t (a INT) WITH ('connector' = 'file', 'path' = 'half.csv', 'format' = 'csv', 'csv.delimiter' = '\n'); VALUES (1)",
         "'csv.delimiter' and 'csv.quote' are no end of a line"),
        ("SELECT * FROM 'late.csv'", "late.csv is empty, where a header names the columns"),
        ("SELECT * FROM kinds.csv", "tables have no database or catalog; the path of a file stands in single quotes: 'kinds.csv'"),
        ('SELECT * FROM "kinds.csv"', "there is no table kinds.csv; the path of a file stands in single quotes: 'kinds.csv'"),
        ("SELECT * FROM 'twice.csv'", "twice.csv names 'A' twice; give the fields names of your own"),
        ("SELECT * FROM 'time.parquet'", "column 't' is of type time64[us], which SQL has not; declare the other columns"),
        ("SELECT * FROM '*.pq'", "two.pq holds column 'a' as VARCHAR, and a file before it as BIGINT; declare the columns"),
        ("SELECT * FROM 'words.txt' WHERE word = 'a'", "there is no column word in words; there is line"),
        ("SELECT * FROM read_csv(1)", "read_csv reads a path; write read_csv('path')"),
        ("SELECT * FROM read_csv('tabs.tsv', ',')", "this is not a named argument; write name => 'value'"),
        ("SELECT * FROM read_csv('tabs.tsv', deliim => ',')", "has no option 'deliim'"),
        ("SELECT * FROM read_cvs('tabs.tsv')", "READ_CVS is not a table function; did you mean read_csv or read_json?"),
        ("SELECT * FROM TUMBLE(TABLE 'kinds.csv', DESCRIPTOR(t), INTERVAL '1' DAY)",
         "CREATE TABLE kinds (WATERMARK FOR t AS t - INTERVAL '5' SECOND) WITH (...)"),
        ("CREATE TABLE t (*, a INT) WITH ('connector' = 'datagen'); SELECT * FROM t",
         "the connector cannot say which columns the * stands for; declare them"),
        ("CREATE TABLE t WITH ('connector' = 'datagen'); SELECT * FROM t", "the table t has no column to read; declare one with its type"),
        ("CREATE TABLE t WITH ('connector' = 'file', 'path' = 'tabs.tsv'); SELECT * FROM t", "the connector 'file' needs 'format'"),
        ("CREATE TABLE t (*, line STRING) WITH ('connector' = 'file', 'path' = 'words.txt', 'format' = 'raw'); SELECT 1",
         "the * stands for no column, for all that are found are declared; remove it"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_found_is_said(folder: Path, query: str, said: str) -> None:
    (folder / "empty.csv").touch()
    (folder / "empty.json").write_text("\n[1]\n")
    (folder / "gap.csv").write_text("a,,c\n")
    (folder / "latin.csv").write_bytes(b"a,caf\xe9\n")
    (folder / "wide.csv").write_text("a,b\n", "utf-16")
    (folder / "late.csv").write_text("\n\na,b\n1,2\n")
    (folder / "twice.csv").write_text("a,A\n")
    pq.write_table(pa.table({"t": pa.array([0], pa.time64("us"))}), folder / "time.parquet")
    pl.DataFrame({"a": [1]}).write_parquet(folder / "one.pq")
    pl.DataFrame({"a": ["x"]}).write_parquet(folder / "two.pq")
    with pytest.raises(QueryError) as caught:
        planned(query, folder)
    assert said in str(caught.value)
    assert caught.value.at >= 0


def test_files_may_add_columns_and_widen_them(folder: Path) -> None:
    pl.DataFrame({"a": [1]}, schema={"a": pl.Int32}).write_parquet(folder / "one.pq")
    pl.DataFrame({"A": [2], "b": ["x"]}).write_parquet(folder / "two.pq")
    assert str(scan(planned("SELECT * FROM '*.pq'", folder)).schema) == "a BIGINT, b VARCHAR"


def test_a_word_for_null_is_told_of(folder: Path) -> None:
    (folder / "na.csv").write_text("a,b\n1,x\nNA,NA\n")
    said = "'NA' makes a VARCHAR: 1 of 2 values, first in line 3 of .*na.csv; if it stands for NULL, say so: 'csv.null' = 'NA'"
    with pytest.warns(UserWarning, match=said):
        planned("SELECT * FROM 'na.csv'", folder)


def test_a_value_among_others_of_a_type_is_told_of_with_its_line(folder: Path) -> None:
    rows = [f'{n},"a\n{n}"' for n in range(3_000)]
    rows[1_201] = 'zwölf,"x"'
    (folder / "dirty.csv").write_text("\n".join(["a,b", *rows, ""]))
    said = "1 of 3,000 values of a is no BIGINT, and it is VARCHAR for that: line 2,404 of .*: 'zwölf'; write 'csv.null' = 'zwölf'"
    with pytest.warns(UserWarning, match=said), pytest.raises(QueryError, match="SUM takes a number, not VARCHAR"):
        planned("SELECT SUM(a) AS s FROM 'dirty.csv'", folder)
    job = planned("SELECT COUNT(*) AS n, SUM(a) AS s FROM read_csv('dirty.csv', bad_record => 'skip')", folder)
    assert entry.table(job, "memory").rows() == [(2_999, sum(range(3_000)) - 1_201)]


def test_what_is_text_is_not_held_against_numbers(folder: Path, recwarn: pytest.WarningsRecorder) -> None:
    (folder / "zip.csv").write_text(
        "zip,few,many\n" + "".join(f"{10_000 + n},{n},x{n % 9}\n" for n in range(99)) + "02134,,7\n"
    )
    assert str(scan(planned("SELECT * FROM 'zip.csv'", folder)).schema) == "zip VARCHAR, few BIGINT, many VARCHAR"
    assert not recwarn.list


def test_numbers_in_a_header_are_told_of(folder: Path, recwarn: pytest.WarningsRecorder) -> None:
    (folder / "rows.csv").write_text("1,a,nan\n2,b,x\n")
    told = "the first line names the columns, 1 among them; if it is a row, say so: 'csv.header' = 'false'"
    planned("SELECT * FROM 'rows.csv'", folder)
    table = (
        "CREATE TABLE rows WITH ('connector' = 'file', 'path' = 'rows.csv', 'format' = 'csv', 'csv.header' = 'false')"
    )
    assert any(f"{told}, as in {table}, and read FROM rows" in str(one.message) for one in recwarn)
    recwarn.clear()
    assert len(entry.table(planned(f"{table}; SELECT * FROM rows", folder), "memory")) == 2
    assert not recwarn.list
    planned("SELECT * FROM read_csv('rows.csv', header => false)", folder)
    assert not recwarn.list


def test_a_value_that_does_not_fit_later_is_a_bad_record(folder: Path) -> None:
    (folder / "later.csv").write_text("a\n1\n")
    job = planned("SELECT * FROM 'later.csv'", folder)
    (folder / "later.csv").write_text("a\n1\nx\n")
    with pytest.raises((BadRecord, TopologyError), match="'x' does not fit column 'a' of type BIGINT"):
        entry.table(job, "memory")


def test_the_look_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ouzel.connectors.file.inference.SAMPLE_BYTES", 64)
    (folder / "long.csv").write_text("a\n" + "1\n" * 40 + "x\n")
    (folder / "long.json").write_text("".join(json.dumps({"a": 1 if n < 7 else "x"}) + "\n" for n in range(9)))
    (folder / "wide.csv").write_text(",".join(f"column{n}" for n in range(20)) + "\n")
    assert str(scan(planned("SELECT * FROM 'long.csv'", folder)).schema) == "a BIGINT"
    assert str(scan(planned("SELECT * FROM 'long.json'", folder)).schema) == "a BIGINT"
    with pytest.raises(
        QueryError, match=r"the first record of .*wide\.csv is longer than 64 bytes; declare the columns"
    ):
        planned("SELECT * FROM 'wide.csv'", folder)


def test_an_error_at_run_points_at_what_was_typed(folder: Path) -> None:
    job = planned("SELECT\n  a,\n  10 / (a - 1) AS b\nFROM 'tabs.tsv'", folder)
    assert job.text.startswith("CREATE TABLE")
    with pytest.raises(TopologyError, match="line 3, column 3") as caught:
        ouzel.table(job, engine="memory")
    assert "10 / (a - 1)" in str(caught.value)


def test_a_connector_is_asked_once_for_what_a_table_holds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[object]()
    infer = traits.find_table
    monkeypatch.setattr(traits, "find_table", lambda *given: asked.append(given[-1]) or infer(*given))
    planned(
        "CREATE TABLE t WITH ('connector' = 'file', 'path' = 'kinds.csv', 'format' = 'csv'); SELECT * FROM t, 'tabs.tsv'",
        folder,
    )
    assert len(asked) == 2
