"""Files that change while they are read, and lines and names that no file should have."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors import open_source
from ouzel.connectors.file import text
from ouzel.connectors.reading import ReadBatch, Reader, ReadState, SourceRequest
from ouzel.errors import ConnectorError


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
    monkeypatch.setattr("ouzel.connectors.file.content.FOLLOWED_OPEN", 5)
    for number in range(40):
        (tmp_path / f"{number:02}.json").write_text(f'{{"id": {number}}}\n')
    source = open_source("file", asked(tmp_path, "json", "id", pl.Int64(), follow="true"))
    before = len(os.listdir("/proc/self/fd"))
    readers = [source.reader(part, None) for part in source.partitions()]
    assert [batch.frame["id"].item() for reader in readers for batch in drain(reader)] == list(range(40))
    assert len(os.listdir("/proc/self/fd")) - before <= 5
    with (tmp_path / "39.json").open("a") as last:
        last.write('{"id": 40}\n')
    (tmp_path / "38.json").unlink()
    assert [batch.frame["id"].item() for reader in readers for batch in drain(reader)] == [40]
    (tmp_path / "37.json").write_text("")
    with pytest.raises(ConnectorError, match=r"37\.json became shorter \(0 bytes\)"):
        drain(readers[37])
    (tmp_path / "new").write_text('{"id": 1}\n')
    (tmp_path / "new").rename(tmp_path / "36.json")
    with pytest.raises(ConnectorError, match=r"36\.json is another file now"):
        drain(readers[36])


def test_a_followed_file_whose_name_goes_to_another_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"id": 1}\n')
    source = open_source("file", asked(tmp_path, "json", "id", pl.Int64(), follow="true"))
    reader = source.reader(source.partitions()[0], None)
    drain(reader)
    path.rename(tmp_path / "a.json.1")
    assert reader.read(10) is ReadState.WAIT
    path.write_text('{"id": 2}\n')
    with pytest.raises(ConnectorError, match=r"a\.json is another file now .* give each file a name of its own"):
        reader.read(10)


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


def test_a_file_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.json")).write_text('{"id": 1}\n')
    with pytest.raises(ConnectorError, match=r"the file .*/caf\\xe9\.json is not UTF-8; rename it"):
        open_source("file", asked(tmp_path, "json", "id", pl.Int64())).partitions()
    (tmp_path / os.fsdecode(b"caf\xe9.json")).rename(tmp_path / "café.json")
    assert len(open_source("file", asked(tmp_path, "json", "id", pl.Int64())).partitions()) == 1
