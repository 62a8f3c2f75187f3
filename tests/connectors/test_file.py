"""Files: whole, cut, followed, broken, and written."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from ouzel.connectors import CONNECTORS, check_options, open_sink, open_source
from ouzel.connectors.dead_letters import RefusedRecord
from ouzel.connectors.file import text
from ouzel.connectors.formats.csv.format import Dialect
from ouzel.connectors.formats.csv.records import find_ends
from ouzel.connectors.reading import BadRow, ReadBatch, Reader, ReadState, SourceRequest
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError, QueryError
from tests.effort import examples

COLUMNS: dict[str, pl.DataType] = {"id": pl.Int64(), "word": pl.String()}
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "parquet": lambda frame, path: frame.write_parquet(path, row_group_size=1_000),
    "csv": lambda frame, path: frame.write_csv(path),
    "json": lambda frame, path: frame.write_ndjson(path),
}


def rows_of(count: int, first: int = 0) -> pl.DataFrame:
    numbers = range(first, first + count)
    words = [f'w, "{number}"\nx' if number % 7 == 0 else f"w{number}" for number in numbers]
    return pl.DataFrame({"id": numbers, "word": words}, schema=COLUMNS)


def asked(directory: Path, form: str, columns: Mapping[str, pl.DataType] = COLUMNS, **more: str) -> SourceRequest:
    options = {"path": f"*.{form}", "format": form, **{name.replace("_", "."): value for name, value in more.items()}}
    return SourceRequest("t", options, columns, directory)


def drain(reader: Reader, rows: int = 1_000) -> list[ReadBatch]:
    batches = []
    while isinstance(batch := reader.read(rows), ReadBatch):
        batches.append(batch)
    return batches


def read(request: SourceRequest, rows: int = 1_000) -> tuple[pl.DataFrame, list[BadRow]]:
    source = open_source("file", request)
    batches = [batch for part in source.partitions() for batch in drain(source.reader(part, None), rows)]
    return pl.concat([batch.frame for batch in batches]), [row for batch in batches for row in batch.bad]


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("rows", [1, 999, 100_000])
def test_all_rows_arrive_in_order(tmp_path: Path, form: str, rows: int) -> None:
    count = 50 if rows == 1 else 5_000
    WRITERS[form](rows_of(count), tmp_path / f"a.{form}")
    WRITERS[form](rows_of(count, count), tmp_path / f"b.{form}")
    frame, bad = read(asked(tmp_path, form), rows)
    assert not bad
    assert_frame_equal(frame, rows_of(2 * count))


@pytest.mark.parametrize("form", WRITERS)
def test_the_same_offset_gives_the_same_batch(tmp_path: Path, form: str) -> None:
    WRITERS[form](rows_of(3_000), tmp_path / f"a.{form}")
    source = open_source("file", asked(tmp_path, form))
    part = source.partitions()[0]
    for first in drain(source.reader(part, None), 700):
        again = source.reader(part, first.start).read(700)
        assert isinstance(again, ReadBatch)
        assert (again.start, again.end) == (first.start, first.end)
        assert_frame_equal(again.frame, first.frame)


@pytest.mark.parametrize("form", WRITERS)
def test_a_batch_that_is_read_until_where_it_ended_is_the_same(tmp_path: Path, form: str) -> None:
    WRITERS[form](rows_of(3_000), tmp_path / f"a.{form}")
    source = open_source("file", asked(tmp_path, form))
    part = source.partitions()[0]
    cuts = drain(source.reader(part, None), 70)
    for begin in (0, 17):
        reader = source.reader(part, cuts[begin].start)
        for cut in cuts[begin:]:
            again = reader.read(1_000_000, cut.end)
            assert isinstance(again, ReadBatch)
            assert (again.start, again.end) == (cut.start, cut.end)
            assert_frame_equal(again.frame, cut.frame)
        assert reader.read(1) is ReadState.END


@settings(deadline=None, max_examples=examples(60))
@given(st.data())
def test_no_block_border_shows(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(["1,a", '2,"b\nc"', "", '3,"d ""e"" f"', "4,g\r"]), max_size=20))
    ended = data.draw(st.booleans())
    path = tmp_path_factory.mktemp("blocks") / "a.csv"
    path.write_text("id,word\n" + "\n".join(lines) + ("\n" if ended else ""), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK_BYTES", data.draw(st.integers(1, 20)))
        source = open_source("file", asked(path.parent, "csv"))
        batches = drain(source.reader(source.partitions()[0], None), data.draw(st.integers(1, 5)))
    expected = {"1,a": "a", '2,"b\nc"': "b\nc", '3,"d ""e"" f"': 'd "e" f', "4,g\r": "g"}
    assert [word for batch in batches for word in batch.frame["word"]] == [expected[line] for line in lines if line]
    assert not any(batch.bad for batch in batches)
    assert all(before.end == after.start for before, after in pairwise(batches))


@settings(deadline=None, max_examples=examples(60))
@given(st.data())
def test_raw_lines_end_as_those_of_hadoop(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    pieces = data.draw(st.lists(st.sampled_from(["a", " b", "\n", "\r", "\r\n", ""]), max_size=20))
    mark, text_ = data.draw(st.sampled_from(["", "\ufeff"])), "".join(pieces)
    path = tmp_path_factory.mktemp("raw") / "a.raw"
    path.write_text(mark + text_, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK_BYTES", data.draw(st.integers(1, 20)))
        options = {"path": "a.raw", "format": "raw"}
        source = open_source("file", SourceRequest("t", options, {"line": pl.String()}, path.parent))
        batches = drain(source.reader(source.partitions()[0], None), data.draw(st.integers(1, 5)))
    expected = re.split("\r\n|\n|\r", text_)
    assert [line for batch in batches for line in batch.frame["line"]] == (expected if expected[-1] else expected[:-1])
    assert all(before.end == after.start for before, after in pairwise(batches))


def test_row_groups_are_shared_out(tmp_path: Path) -> None:
    WRITERS["parquet"](rows_of(5_500), tmp_path / "a.parquet")
    request = SourceRequest("t", asked(tmp_path, "parquet").options, COLUMNS, tmp_path, tasks=2)
    source = open_source("file", request)
    parts = source.partitions()
    assert [part.id.rpartition("#")[2] for part in parts] == ["0-3000", "3000-5500"]
    frames = [batch.frame for part in parts for batch in drain(source.reader(part, None))]
    assert_frame_equal(pl.concat(frames), rows_of(5_500))


@pytest.mark.parametrize("form", WRITERS)
def test_the_predicate_and_only_it_is_applied(tmp_path: Path, form: str) -> None:
    WRITERS[form](rows_of(4_000), tmp_path / f"a.{form}")
    columns = {"word": pl.String(), "line": pl.Int64(), "id": pl.Decimal(20, 0)}
    request = SourceRequest(
        "t",
        asked(tmp_path, form).options,
        columns,
        tmp_path,
        {"line": "row"},
        predicate=pl.col("id").is_between(5, 2_500),
    )
    frame, _ = read(request)
    assert frame["id"].to_list() == list(range(5, 2_501))
    assert frame.schema == columns


def test_row_groups_outside_the_predicate_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows_of(200_000).write_parquet(path, row_group_size=50_000, compression="uncompressed")
    raw = bytearray(path.read_bytes())
    raw[1_000:400_000] = b"\xff" * 399_000  # ruin the first row group
    path.write_bytes(raw)
    request = SourceRequest(
        "t", asked(tmp_path, "parquet").options, {"id": pl.Int64()}, tmp_path, predicate=pl.col("id") >= 150_000
    )
    frame, _ = read(request, 10_000)
    assert frame["id"].to_list() == list(range(150_000, 200_000))


def test_file_and_line_are_columns(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1}\n\n{"id": 2}\n')
    columns = {"line": pl.Int64(), "id": pl.Int64(), "name": pl.String()}
    options = asked(tmp_path, "json").options
    frame, _ = read(SourceRequest("t", options, columns, tmp_path, {"line": "row", "name": "file"}))
    assert frame.rows() == [(1, 1, str(tmp_path / "a.json")), (3, 2, str(tmp_path / "a.json"))]


def test_bad_lines_are_named_and_the_others_kept(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1}\n{"id": \n\n{"id": 3}\n[]')
    frame, bad = read(asked(tmp_path, "json", {"id": pl.Int64()}))
    assert frame["id"].to_list() == [1, 3]
    assert [(row.where, row.raw) for row in bad] == [
        (f"{tmp_path}/a.json:2", b'{"id": '),
        (f"{tmp_path}/a.json:5", b"[]"),
    ]


def test_no_row_comes_out_of_a_quoted_field_of_a_bad_record(tmp_path: Path) -> None:
    record = b'x,"first\n7,second\nthird"'
    (tmp_path / "a.csv").write_bytes(b"id,word\n1,a\n" + record + b"\n2,b\n")
    frame, bad = read(asked(tmp_path, "csv"))
    assert frame.rows() == [(1, "a"), (2, "b")]
    reason = "'x' does not fit column 'id' of type BIGINT (a record of lines 3 to 5)"
    assert bad == [BadRow(f"{tmp_path}/a.csv:3", reason, record)]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b'2,"b\n3,c\n4,"d"', "column 'word' has text behind its closing quote: '\"b\\n3,c\\n4,\"d\"' (a record of lines 3 to 5)"),
        (b'2,"b\n3,c', "the quote that opens column 'word' is not closed: '\"b\\n3,c' (a record of lines 3 to 4)"),
        (b"2,b,c", "it has 3 fields instead of 2"),
        (b"2,\xe9", "column 'word' is not UTF-8: '\ufffd'"),
    ],
)  # fmt: skip
def test_a_record_that_is_no_csv_names_its_column_and_value(tmp_path: Path, record: bytes, reason: str) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,word\n1,a\n" + record)
    frame, bad = read(asked(tmp_path, "csv"))
    assert frame.rows() == [(1, "a")]
    assert [(row.where, row.reason, row.raw) for row in bad] == [(f"{tmp_path}/a.csv:3", reason, record)]


def test_a_dead_letter_has_the_records_own_bytes() -> None:
    plain = RefusedRecord.of(BadRow("a.csv:3", "why", '2,"é\n'.encode()))
    assert json.loads(plain.line()) == {"where": "a.csv:3", "reason": "why", "raw": '2,"é\n'}
    other = json.loads(RefusedRecord.of(BadRow("a.csv:3", "why", b"2,\xe9")).line())
    assert base64.b64decode(other.pop("raw_base64")) == b"2,\xe9"
    assert other == {"where": "a.csv:3", "reason": "why"}


def test_a_quote_that_nothing_closes_takes_so_much_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_RECORD_BYTES_MAX", 10)
    (tmp_path / "a.csv").write_text('id,word\n1,a\n2,"b\n3,c\n4,d\n5,e\n')
    frame, bad = read(asked(tmp_path, "csv"))
    assert frame.rows() == [(1, "a"), (5, "e")]
    assert [(row.where, row.raw) for row in bad] == [(f"{tmp_path}/a.csv:3", b'2,"b\n3,c\n4,d')]
    assert "is not closed" in bad[0].reason
    assert "lines 3 to 5" in bad[0].reason


@given(content=st.text(alphabet='a",\n', max_size=40))
def test_records_end_where_pythons_own_csv_says(content: str) -> None:
    content += "\n"
    rows = csv.reader(io.StringIO(content, newline=""))
    lines = [rows.line_num for _ in rows]
    data = np.frombuffer(content.encode(), np.uint8)
    ends, found = find_ends(data, ord('"'), ord(","), 1 << 20)
    assert found.tolist() == lines[: len(found)]
    assert len(lines) - len(found) in (0, 1), "but for one that is not closed"
    assert all(data[end] == ord("\n") for end in ends)


@given(
    fields=st.lists(st.text(alphabet='a",\n\r', max_size=5), min_size=1, max_size=4),
    bare=st.text(alphabet='a",', max_size=12),
)
def test_fields_are_those_of_pythons_own_csv(fields: list[str], bare: str) -> None:
    written = ",".join('"' + field.replace('"', '""') + '"' for field in fields)
    assert Dialect({}).fields(written.encode()) == fields
    try:
        assert Dialect({}).fields(bare.encode()) == (next(csv.reader([bare]), []) or [""])
    except ValueError:
        with pytest.raises(csv.Error):
            next(csv.reader([bare], strict=True))


def test_values_of_parquet_that_do_not_fit_are_bad_records(tmp_path: Path) -> None:
    at = pl.Series([1_000, 1_001, None, None]).cast(pl.Datetime("ns"))
    rows = pl.DataFrame(
        {"id": [1, 2, 3, None], "at": at, "row": pl.DataFrame({"at": at.gather([0, 0, 1, 0])}).to_struct()}
    )
    rows.write_parquet(tmp_path / "a.parquet")
    moment = pl.Datetime("us")
    request = SourceRequest(
        "t",
        asked(tmp_path, "parquet").options,
        {"id": pl.Int64(), "at": moment, "row": pl.Struct({"at": moment})},
        tmp_path,
        required=frozenset({"id"}),
    )
    frame, bad = read(request)
    assert frame["id"].to_list() == [1]
    assert [(row.where.rpartition("/")[2], row.reason.partition("' of type")[0]) for row in bad] == [
        ("a.parquet:2", "datetime.datetime(1970, 1, 1, 0, 0, 0, 1) does not fit column 'at"),
        ("a.parquet:3", "{'at': datetime.datetime(1970, 1, 1, 0, 0, 0, 1)} does not fit column 'row"),
        ("a.parquet:4", "column 'id' may not be NULL"),
    ]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_growing_file_is_followed(tmp_path: Path, form: str) -> None:
    lines = {"csv": "id,word\n1,a\n2,b\n3,", "json": '{"id":1,"word":"a"}\n{"id":2,"word":"b"}\n{"id":3,'}[form]
    more = {"csv": "c\n4,d\n", "json": '"word":"c"}\n{"id":4,"word":"d"}\n'}[form]
    (tmp_path / f"a.{form}").write_text(lines)
    source = open_source("file", asked(tmp_path, form, follow="true"))
    (part,) = source.partitions()
    assert not part.bounded
    reader = source.reader(part, None)
    assert [row for batch in drain(reader) for row in batch.frame.rows()] == [(1, "a"), (2, "b")]
    assert reader.read(10) is ReadState.WAIT
    with (tmp_path / f"a.{form}").open("a") as file:
        file.write(more)
    grown = drain(reader)
    assert [row for batch in grown for row in batch.frame.rows()] == [(3, "c"), (4, "d")]
    assert drain(source.reader(part, grown[0].start))[0].frame.rows() == [(3, "c"), (4, "d")]
    WRITERS[form](rows_of(1), tmp_path / f"0-earlier.{form}")
    names = [part.id.rpartition("/")[2].partition("#")[0] for part in source.partitions()]
    assert names == [f"a.{form}", f"0-earlier.{form}"]


def test_a_followed_file_that_shrinks_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"id": 1}\n{"id": 2}\n')
    source = open_source("file", asked(tmp_path, "json", follow="true"))
    reader = source.reader(source.partitions()[0], None)
    drain(reader)
    path.write_text('{"id": 1}\n')
    with pytest.raises(ConnectorError, match=r"a\.json became shorter"):
        reader.read(10)


@pytest.mark.parametrize(
    ("name", "content", "form", "message"),
    [
        ("x.json", b"", "csv", r"table 't' finds no file at \*\.csv"),
        (
            "a.csv",
            b"id,words\n1,a\n",
            "csv",
            r"a\.csv has no column 'word'; its header names id, words; did you mean words\?",
        ),
        ("a.parquet", b"not parquet", "parquet", r"a\.parquet cannot be read as Parquet: "),
        (
            "a.csv",
            b"id,word,id\n1,a,2\n",
            "csv",
            r"the header of .*a\.csv names 'id' twice; give .* 'csv.columns' = 'a, b, c'",
        ),
        ("a.csv", b"\xffid,word\n1,a\n", "csv", r"the header of .*a\.csv cannot be read: field 1 is not UTF-8"),
        (
            "a.json",
            gzip.compress(b'{"id": 1}\n' * 99, mtime=0),
            "json",
            r"a\.json is compressed, and its name does not say how; end it with .gz or .zst, or unpack it first",
        ),
        (
            "a.csv",
            gzip.compress(b"id,word\n1,a\n", mtime=0),
            "csv",
            r"a\.csv is compressed, and its name does not say how",
        ),
    ],
)
def test_what_cannot_be_read_is_one_sentence(
    tmp_path: Path, name: str, content: bytes, form: str, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConnectorError, match=message) as refused:
        read(asked(tmp_path, form))
    assert "\n" not in str(refused.value)


def test_a_path_that_is_almost_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "flights.csv").write_bytes(b"id,word\n1,a\n")
    request = asked(tmp_path, "csv", path="flight.csv")
    with pytest.raises(ConnectorError, match=r"finds no file at flight\.csv .*; did you mean flights\.csv\?"):
        read(request)


def test_a_lacking_parquet_column_is_named(tmp_path: Path) -> None:
    pl.DataFrame({"id": [1], "wort": ["a"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ConnectorError, match=r"a\.parquet has no column 'word'; it has id, wort"):
        read(asked(tmp_path, "parquet"))


def sink_for(directory: Path, form: str, mode: str = "append", **more: str) -> SinkRequest:
    options = {"path": "out", "format": form, **{name.replace("_", "."): value for name, value in more.items()}}
    return SinkRequest("t", options, COLUMNS, mode, directory, task=3)


@pytest.mark.parametrize("form", WRITERS)
def test_what_is_written_is_read_back_and_a_batch_that_comes_again_replaces_itself(tmp_path: Path, form: str) -> None:
    for _ in range(2):
        sink = open_sink("file", sink_for(tmp_path, form))
        for batch in range(3):
            sink.write(batch - 1, rows_of(100, batch * 100))
        sink.flush()
        sink.close()
    source = open_source("file", SourceRequest("t", {"path": "out", "format": form}, COLUMNS, tmp_path))
    frames = [batch.frame for part in source.partitions() for batch in drain(source.reader(part, None))]
    assert_frame_equal(pl.concat(frames).sort("id"), rows_of(300))


def test_runs_that_write_to_one_directory_leave_each_other_alone(tmp_path: Path) -> None:
    one, other = (replace(sink_for(tmp_path, "json"), run=run) for run in ("0a", "0b"))
    (tmp_path / "out").mkdir()
    half = tmp_path / "out" / ".part-0a-00003-left.json"
    for request in (one, other):
        half.write_text("{")
        sink = open_sink("file", request)
        assert half.exists() is (request is other)
        sink.write(1, rows_of(1))
        sink.flush()
    names = sorted(path.name for path in (tmp_path / "out").glob("part-*"))
    assert names == [f"part-0a-00003-{1:016x}.json", f"part-0b-00003-{1:016x}.json"]


def test_nothing_is_there_before_the_flush_and_leavings_of_a_crash_go(tmp_path: Path) -> None:
    sink = open_sink("file", sink_for(tmp_path, "json"))
    sink.write(1, rows_of(1))
    assert not list((tmp_path / "out").iterdir())
    (tmp_path / "out" / ".part-00003-left.json").write_text("{")
    open_sink("file", sink_for(tmp_path, "json"))
    assert not list((tmp_path / "out").iterdir())


def test_a_changelog_has_an_op_column(tmp_path: Path) -> None:
    with pytest.raises(ConnectorError, match="add 'changelog' = 'true'"):
        open_sink("file", sink_for(tmp_path, "csv", "retract"))
    sink = open_sink("file", sink_for(tmp_path, "csv", "retract", changelog="true"))
    sink.write(1, pl.DataFrame({"id": [1, 1], "word": ["a", "b"], "$weight": [-1, 1]}))
    sink.flush()
    (part,) = (tmp_path / "out").iterdir()
    assert part.read_text() == "id,word,op\n1,a,-1\n1,b,1\n"


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ConnectorError, match=r"table 't' cannot be written to .*/out: "):
        open_sink("file", sink_for(tmp_path, "json"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("form", WRITERS)
def test_a_full_disk_is_one_sentence(tmp_path: Path, form: str) -> None:
    sink = open_sink("file", sink_for(tmp_path, form))
    sink.write(7, rows_of(10))
    os.symlink("/dev/full", tmp_path / "out" / f".part-00003-{7:016x}.{form}.new")
    with pytest.raises(ConnectorError, match=r"table 't' cannot be written to .*/out: .*[Nn]o space left") as refused:
        sink.flush()
    assert "\n" not in str(refused.value)
    assert not list((tmp_path / "out").iterdir()), "nothing half is left"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "json"}, "the connector 'file' needs 'path'"),
        (
            {"path": "a", "format": "jsn"},
            "'format' cannot be 'jsn'; write 'json'",
        ),
        ({"path": "a", "format": "parquet", "follow": "true"}, "cannot be followed"),
        ({"path": "a", "format": "csv", "csv.header": "false"}, "nothing says which CSV field is which column"),
        ({"path": "a", "format": "csv", "csv.columns": "a, b, a"}, "'csv.columns' names 'a' twice"),
        ({"path": "a", "format": "csv", "csv.header": "no"}, "'csv.header' cannot be 'no'; write 'true' or 'false'"),
        ({"path": "a", "format": "json", "csv.header": "true"}, "no option 'csv.header'"),
        ({"path": "a", "format": "json", "folow": "true"}, "no option 'folow'; did you mean 'follow'?"),
        ({"path": "a", "format": "json", "bad.record": "no"}, "'bad.record' cannot be 'no'; write 'fail' or 'skip' or 'dead-letter'"),
        ({"path": "a", "format": "json", "bad.record": "dead-letter"}, "needs 'dead-letter.path'"),
        ({"path": "a", "format": "parquet", "partitions": "two"}, "'partitions' cannot be 'two'; write a whole number"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused_when_the_query_is_planned(options: dict[str, str], message: str) -> None:
    with pytest.raises(QueryError) as refused:
        check_options(CONNECTORS["file"], options)
    assert message in str(refused.value)


def test_more_files_than_a_process_may_open_are_read(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.json").write_text('{"id": 1, "word": "a"}\n')
    source = open_source("file", asked(tmp_path, "json"))
    before = len(os.listdir("/proc/self/fd"))
    readers = [source.reader(partition, None) for partition in source.partitions()]
    assert all(isinstance(reader.read(10), ReadBatch) for reader in readers)
    assert len(os.listdir("/proc/self/fd")) == before
    assert all(reader.read(10) is ReadState.END for reader in readers)
