"""Files that change while they are read, and lines and names that no file should have."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors import open_source
from ouzel.connectors.file import followed, text
from ouzel.connectors.file.whole import are_whole_files
from ouzel.connectors.reading import Partition, ReadBatch, Reader, ReadState, SourceRequest
from ouzel.errors import ConnectorError, QueryError
from ouzel.job import load_text
from ouzel.spark.streaming.offsets import Position, Surveyor


def asked(directory: Path, form: str, column: str, kind: pl.DataType, **more: str) -> SourceRequest:
    return SourceRequest("t", {"path": f"*.{form}", "format": form, **more}, {column: kind}, directory)


def drain(reader: Reader, rows: int = 1_000) -> list[ReadBatch]:
    batches = []
    while isinstance(batch := reader.read(rows), ReadBatch):
        batches.append(batch)
    return batches


def test_long_lines_are_not_gathered_until_there_are_as_many_as_asked_for(tmp_path: Path) -> None:
    line = "x" * (1 << 20)
    (tmp_path / "a.raw").write_text(f"{line}\n" * 40)
    source = open_source("file", asked(tmp_path, "raw", "line", pl.String()))
    batches = drain(source.reader(source.partitions()[0], None), 10_000)
    assert sum(batch.frame.height for batch in batches) == 40
    assert max(batch.frame.height for batch in batches) < 24
    assert all(before.end == after.start for before, after in pairwise(batches))


def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_BLOCK_BYTES", 16)
    monkeypatch.setattr(text, "_LINE_BYTES_MAX", 1 << 20)
    (tmp_path / "a.json").write_text('{"id": 1, "word": "a"}\n' + "x" * (5 << 20))
    source = open_source("file", asked(tmp_path, "json", "id", pl.Int64()))
    reader = source.reader(source.partitions()[0], None)
    assert reader.read(1) != ReadState.END
    with pytest.raises(ConnectorError, match=r"a\.json: line 2 is longer than 1 MB; is this a file of lines"):
        reader.read(1)


def test_many_files_are_followed_with_few_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed, "open_limit", lambda: 5)
    for number in range(40):
        (tmp_path / f"{number:02}.json").write_text(f'{{"id": {number}}}\n')
        os.utime(tmp_path / f"{number:02}.json", (1, 1))
    source = open_source("file", asked(tmp_path, "json", "id", pl.Int64(), follow="true"))
    before = len(os.listdir("/proc/self/fd"))
    readers = [source.reader(part, None) for part in source.partitions()]
    assert [batch.frame["id"].item() for reader in readers for batch in drain(reader)] == list(range(40))
    assert len(os.listdir("/proc/self/fd")) - before <= 5
    with (tmp_path / "39.json").open("a") as last:
        last.write('{"id": 40}\n')
    assert [batch.frame["id"].item() for reader in readers for batch in drain(reader)] == [40]
    (tmp_path / "37.json").write_text("")
    with pytest.raises(ConnectorError, match=r"37\.json became shorter \(0 bytes\)"):
        drain(readers[37])
    known = {part.id for part in source.partitions()}
    (tmp_path / "36.json").rename(tmp_path / "36.json.1")
    (tmp_path / "36.json").write_text('{"id": 41}\n')
    (fresh,) = [source.reader(part, None) for part in source.partitions() if part.id not in known]
    with (tmp_path / "36.json.1").open("a") as rotated:
        rotated.write('{"id": 42}\n')
    read = [batch.frame["id"].item() for reader in (readers[36], fresh) for batch in drain(reader)]
    assert read == [42, 41], "found again under its new name; and the new file from its beginning"
    (tmp_path / "38.json").unlink()
    assert not drain(readers[38]), "its inode may go to another file from here on"
    source.close()


def lines(reader: Reader) -> list[int]:
    return [number for batch in drain(reader) for number in batch.frame["id"].to_list()]


def test_rotation_by_renaming_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"id": 1}\n')
    source = open_source("file", asked(tmp_path, "json", "id", pl.Int64(), follow="true"))
    (first,) = source.partitions()
    old = source.reader(first, None)
    assert lines(old) == [1]
    with path.open("a") as writer:
        path.rename(tmp_path / "a.json.1")
        path.write_text('{"id": 3}\n')
        writer.write('{"id": 2}\n')
    assert lines(old) == [2], "an old file is read to its end under whatever name"
    again, second = source.partitions()
    assert again == first
    new = source.reader(second, None)
    assert lines(new) == [3]
    path.unlink()
    path.write_text('{"id": 4}\n')
    (tmp_path / "fresh").write_text('{"id": 5}\n')
    third = source.partitions()[-1]
    assert lines(source.reader(third, None)) == [4]
    (tmp_path / "fresh").rename(path)
    assert lines(source.reader(source.partitions()[-1], None)) == [5]
    source.close()


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_a_file_without_records_is_wholly_read_though_no_range_speaks_of_it(kind: str, tmp_path: Path) -> None:
    columns = {"id": pl.Int64()}
    request = SourceRequest("t", {"path": f"*.{kind}", "format": kind}, columns, tmp_path)
    empty, full = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    nothing, something = pl.DataFrame(schema=columns), pl.DataFrame({"id": [1]})
    for path, rows in ((empty, nothing), (full, something)):
        {"csv": rows.write_csv, "json": rows.write_ndjson, "parquet": rows.write_parquet}[kind](path)
    (part,) = (one for one in open_source("file", request).partitions() if str(full) in one.id)
    start = 1 if kind == "csv" else 0
    assert are_whole_files(request, {part.id: (start, start + 1)})
    assert not are_whole_files(request, {})
    full.unlink()
    assert are_whole_files(request, {})


def test_a_batch_reads_of_rotated_files_what_was_followed(tmp_path: Path) -> None:
    path, columns = tmp_path / "a.json", {"id": pl.Int64(), "name": pl.String()}
    options = {"path": "a.json", "format": "json", "follow": "true"}
    request = SourceRequest("t", options, columns, tmp_path, {"name": "file"})
    followed_source = open_source("file", request)
    path.write_text('{"id": 1}\n{"id": 2}\n')
    parts = [part.id for part in followed_source.partitions()]
    whole = replace(request, options={"path": "a.json", "format": "json"})
    assert are_whole_files(whole, {parts[0]: (0, 2)})
    assert not are_whole_files(whole, {parts[0]: (0, 1)})
    first = drain(followed_source.reader(followed_source.partitions()[0], None))
    path.rename(tmp_path / "a.json.1")
    path.write_text('{"id": 3}\n')
    second = drain(followed_source.reader(followed_source.partitions()[1], None))
    parts = [part.id for part in followed_source.partitions()]
    assert not are_whole_files(whole, {parts[0]: (0, 2), parts[1]: (0, 1)})
    batch = open_source("file", whole)
    again = [frame for part in parts for frame in drain(batch.reader(Partition(part, True), 0))]
    assert [one.frame.rows() for one in again] == [one.frame.rows() for one in (*first, *second)]
    assert again[0].frame["name"].to_list() == [str(path)] * 2, "a row's file is called as when it was met"
    (tmp_path / "a.json.1").unlink()
    assert not are_whole_files(whole, {parts[0]: (0, 2)})
    with pytest.raises(
        ConnectorError, match=r"a\.json \(inode \d+\) is found nowhere in .*, so a batch cannot read what"
    ):
        drain(batch.reader(Partition(parts[0], True), 0))
    followed_source.close()


def test_a_file_that_is_cut_and_has_grown_again_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"id": 1}\n')
    source = open_source("file", asked(tmp_path, "json", "id", pl.Int64(), follow="true"))
    reader = source.reader(source.partitions()[0], None)
    assert lines(reader) == [1]
    path.write_text('{"id": 2}\n{"id": 3}\n')
    with pytest.raises(ConnectorError, match=r"a\.json was written over: .* not those that were read.* by renaming"):
        reader.read(10)
    source.close()


def test_links_to_one_file_are_one_and_a_link_that_is_turned_is_another(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(f'{{"id": {len(name)}, "name": "{name}"}}\n')
    (tmp_path / "now.json").symlink_to("one")
    (tmp_path / "also.json").hardlink_to(tmp_path / "one")
    source = open_source("file", asked(tmp_path, "json", "name", pl.String(), follow="true"))
    (part,) = source.partitions()
    reader = source.reader(part, None)
    assert [batch.frame["name"].item() for batch in drain(reader)] == ["one"]
    (tmp_path / "new").symlink_to("two")
    (tmp_path / "new").rename(tmp_path / "now.json")
    with (tmp_path / "one").open("a") as first:
        first.write('{"name": "more"}\n')
    assert [batch.frame["name"].item() for batch in drain(reader)] == ["more"]
    fresh = source.reader(source.partitions()[1], None)
    assert [batch.frame["name"].item() for batch in drain(fresh)] == ["two"]
    source.close()


@pytest.mark.parametrize("rows", [150_000, 400_000])
def test_a_parquet_file_that_is_replaced_while_it_is_read_is_an_error(tmp_path: Path, rows: int) -> None:
    pl.DataFrame({"id": range(400_000)}).write_parquet(tmp_path / "a.parquet", compression="uncompressed")
    source = open_source("file", asked(tmp_path, "parquet", "id", pl.Int64()))
    reader = source.reader(source.partitions()[0], None)
    assert isinstance(reader.read(1_000), ReadBatch)
    pl.DataFrame({"id": range(rows, 2 * rows)}).write_parquet(tmp_path / "fresh", compression="uncompressed")
    (tmp_path / "fresh").rename(tmp_path / "a.parquet")
    with pytest.raises(ConnectorError, match=r"a\.parquet was replaced or changed while it was read; start .* again"):
        drain(reader)


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def columnar(data: bytes) -> bytes:
    pl.read_ndjson(data).write_parquet(made := BytesIO())
    return made.getvalue()


@pytest.mark.parametrize(("end", "made"), [("json", bytes), ("json.gz", packed), ("parquet", columnar)])
@pytest.mark.parametrize("same", [True, False])
def test_a_whole_file_that_is_replaced_while_its_task_is_down_is_an_error(
    tmp_path: Path, end: str, made: Callable[[bytes], bytes], same: bool
) -> None:
    path = tmp_path / f"a.{end}"
    path.write_bytes(made(b'{"id": 1}\n{"id": 2}\n'))
    form = end.removesuffix(".gz")
    request = SourceRequest(
        "t", {"path": path.name, "format": form}, {"id": pl.Int64()}, tmp_path, notes=tmp_path / "n"
    )
    source = open_source("file", request)
    assert isinstance(source.reader(source.partitions()[0], None).read(1), ReadBatch)
    if not same:
        (tmp_path / "new").write_bytes(made(b'{"id": 3}\n{"id": 4}\n{"id": 5}\n'))
        (tmp_path / "new").rename(path)
    elif end == "json":
        with path.open("ab") as file:
            file.write(b'{"id": 3}\n')
    again = open_source("file", request)
    (part,) = again.partitions()
    if same:
        assert isinstance(again.reader(part, 1).read(1), ReadBatch)
    else:
        with pytest.raises(ConnectorError, match=rf"a\.{end} was replaced or changed while its task was down .* again"):
            again.reader(part, 1)


def test_tasks_that_look_at_different_times_share_out_rotated_files(tmp_path: Path) -> None:
    request = asked(tmp_path, "json", "id", pl.Int64(), path="a.json*", follow="true")
    tasks = [open_source("file", request) for _ in range(3)]
    opened: dict[int, list[str]] = {task: [] for task in range(3)}
    numbers = iter(range(1_000))
    for look in range(8):
        path = tmp_path / "a.json"
        if path.exists():
            path.rename(tmp_path / f"a.json.{look}")
        path.write_text(f'{{"id": {next(numbers)}}}\n')
        for task in [look % 3] if look < 7 else range(3):
            parts = [part for part in tasks[task].partitions() if part.turn is not None and part.turn % 3 == task]
            fresh = [part for part in parts if part.id not in opened[task]]
            opened[task] += [part.id for part in fresh]
    read = [
        number
        for task in range(3)
        for name in opened[task]
        for number in lines(tasks[task].reader(Partition(name, False), None))
    ]
    assert sorted(read) == list(range(8))


def test_a_stream_of_spark_that_starts_anew_knows_rotated_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"id": 1}\n{"id": 2}\n')
    request = asked(tmp_path, "json", "id", pl.Int64(), follow="true")
    before = Surveyor(open_source("file", request), True, True).advance(Position("t"), 100)
    path.rename(tmp_path / "a.json.1")
    with (tmp_path / "a.json.1").open("a") as file:
        file.write('{"id": 3}\n')
    path.write_text('{"id": 4}\n')
    after = Surveyor(open_source("file", request), True, True).advance(before, 100)
    assert sorted(after.parts.values()) == [(0, 1), (0, 3)]
    assert before.parts.keys() < after.parts.keys()


@pytest.mark.parametrize("path", ["pipe", "a.csv, pipe", "/dev/stdin", "/dev/fd/63", "/dev/zero"])
def test_what_cannot_be_read_again_is_refused_when_the_query_is_planned(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.csv").write_text("1\n")
    told = r"(pipe is a pipe|/dev/\S+ is (of this process alone|a device)) and no file: .*; write what it gives to a file first"
    table = f"CREATE TABLE t (n INT) WITH ('connector' = 'file', 'path' = '{path}', 'format' = 'csv'); SELECT n FROM t"
    for query in (table, table.replace("(n INT) ", "")):
        with pytest.raises(QueryError, match=told):
            load_text(query, tmp_path, "pipes")
    with pytest.raises(ConnectorError, match=told):
        open_source(
            "file", SourceRequest("t", {"path": path, "format": "csv"}, {"n": pl.Int32()}, tmp_path)
        ).partitions()


def test_a_folder_whose_name_is_no_text_is_refused_when_the_query_is_planned(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "a.csv").write_text("1\n")
    text = "CREATE TABLE t (n INT) WITH ('connector' = 'file', 'path' = 'a.csv', 'format' = 'csv'); SELECT n FROM t"
    with pytest.raises(
        QueryError, match=r"table 't': the path of the file .*/caf\\xe9/a\.csv is not UTF-8; rename it or the folder"
    ):
        load_text(text, folder, "folders")


def test_a_pipe_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    (tmp_path / "b.json").write_text('{"id": 1}\n')
    found = open_source("file", asked(tmp_path, "json", "id", pl.Int64())).partitions()
    assert [partition.id for partition in found] == [str(tmp_path / "b.json")]


def test_a_file_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.json")).write_text('{"id": 1}\n')
    with pytest.raises(ConnectorError, match=r"the file .*/caf\\xe9\.json is not UTF-8; rename it"):
        open_source("file", asked(tmp_path, "json", "id", pl.Int64())).partitions()
    (tmp_path / os.fsdecode(b"caf\xe9.json")).rename(tmp_path / "café.json")
    assert len(open_source("file", asked(tmp_path, "json", "id", pl.Int64())).partitions()) == 1
