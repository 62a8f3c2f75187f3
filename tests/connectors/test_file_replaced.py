"""What stands in the place of a file later: a folder, a pipe, another file of the same size and time, less of it, nothing at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ouzel.connectors import open_source
from ouzel.connectors.file import followed, parquet, text
from ouzel.connectors.file.disk import RealDisk
from ouzel.connectors.reading import ReadBatch, Reader, ReadState, RecallingSource, Source, SourceRequest
from ouzel.errors import ConnectorError
from ouzel.spark.io.source import TaskRange, _batches

COLUMNS = {"id": pl.Int64()}


def asked(directory: Path, form: str, **more: str) -> Source:
    """A source whose notes outlive it."""
    options = {"path": f"*.{form}", "format": form, **more}
    return open_source("file", SourceRequest("t", options, COLUMNS, directory, notes=directory / "notes"))


def opened(source: Source, offset: int | None = None) -> Reader:
    (partition,) = source.partitions()
    return source.reader(partition, offset)


def drain(reader: Reader, rows: int = 7) -> tuple[list[int], int]:
    """What is read, and the offset behind it."""
    found: list[int] = []
    end = 0
    while isinstance(batch := reader.read(rows), ReadBatch):
        found, end = found + batch.frame["id"].to_list(), batch.end
    return found, end


def lines(first: int, end: int) -> str:
    return "".join(json.dumps({"id": number}) + "\n" for number in range(first, end))


def put(path: Path, kind: str) -> None:
    """Something else in the place of a file."""
    path.unlink()
    os.mkfifo(path) if kind == "pipe" else path.mkdir()


KINDS = pytest.mark.parametrize("kind", ["folder", "pipe"])


@KINDS
@pytest.mark.parametrize("form", ["json", "parquet"])
@pytest.mark.parametrize("when", ["before it is looked at", "before it is read"])
def test_what_took_a_files_place_after_it_was_found_is_an_error_that_names_it(
    tmp_path: Path, kind: str, form: str, when: str
) -> None:
    """A pipe held the task for ever."""
    path = tmp_path / f"a.{form}"
    path.write_text(lines(0, 3)) if form == "json" else pl.DataFrame({"id": [1]}).write_parquet(path)
    source = asked(tmp_path, form)
    (partition,) = source.partitions()
    if when == "before it is read":
        read = source.reader(partition, None).read
    else:

        def read(rows: int) -> object:
            return source.reader(partition, None).read(rows)

    put(path, kind)
    with pytest.raises(ConnectorError, match=rf"a\.{form} (cannot be read: it was a file|was replaced)"):
        read(1)


@KINDS
def test_what_took_a_followed_files_place_while_it_was_looked_for_is_no_file(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended the run with an error that named nothing."""
    path, find = tmp_path / "a.json", RealDisk.find
    path.write_text(lines(0, 3))
    source = asked(tmp_path, "json", follow="true")

    def find_and_replace(disk: RealDisk, pattern: str, directory: Path) -> list[str]:
        found = find(disk, pattern, directory)
        put(path, kind)
        return found

    monkeypatch.setattr(RealDisk, "find", find_and_replace)
    assert not source.partitions()
    monkeypatch.setattr(RealDisk, "find", find)
    assert not source.partitions()


def test_a_disk_that_fails_while_a_followed_file_is_looked_at_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(disk: RealDisk, file: int, size: int, at: int) -> bytes:
        raise OSError(5, "Input/output error")

    (tmp_path / "a.json").write_text(lines(0, 3))
    monkeypatch.setattr(RealDisk, "pread", fail)
    with pytest.raises(ConnectorError, match=r"a\.json cannot be read: Input/output error"):
        asked(tmp_path, "json", follow="true").partitions()


def shrink(path: Path) -> None:
    os.truncate(path, len(lines(0, 100)))


def fill_again(path: Path) -> None:
    path_bytes = path.read_bytes()[: len(lines(0, 100))]
    with path.open("r+b") as file:
        file.truncate(len(path_bytes))
        file.seek(0, os.SEEK_END)
        file.write(lines(1_000, 1_080).encode())


@pytest.mark.parametrize("change", [shrink, fill_again])
def test_what_was_added_while_a_file_was_read_is_held_against_it_too(
    tmp_path: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A topology that goes back to an epoch read other rows in their place, or none."""
    monkeypatch.setattr(text, "_BLOCK_BYTES", 256)
    path = tmp_path / "a.json"
    path.write_text(lines(0, 100))
    source = asked(tmp_path, "json")
    reader = opened(source)
    first = reader.read(10)
    assert isinstance(first, ReadBatch)
    with path.open("a") as file:
        file.write(lines(100, 150))
    found, end = drain(reader)
    assert (found, end) == (list(range(10, 150)), 150)
    assert drain(opened(asked(tmp_path, "json"), 120)) == (list(range(120, 150)), 150)
    change(path)
    with pytest.raises(ConnectorError, match=r"a\.json was replaced or changed while its task was down \(\d+ bytes"):
        opened(asked(tmp_path, "json"), 120)


def test_reading_on_behind_the_end_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(lines(0, 100))
    source = asked(tmp_path, "json")
    assert opened(source, 100).read(1) is ReadState.END
    with pytest.raises(ConnectorError, match=r"a\.json has 100 lines now, and 120 were read of it"):
        opened(source, 120).read(1)


def test_a_batch_job_that_finds_less_than_was_there_is_told(tmp_path: Path) -> None:
    """A task of it ended where the file did, and the rows behind were missing in silence."""
    (tmp_path / "a.json").write_text(lines(0, 100))
    source = asked(tmp_path, "json")
    (partition,) = source.partitions()
    assert sum(batch.frame.height for batch in _batches(source, TaskRange(partition.id, 0, 100))) == 100
    with pytest.raises(ConnectorError, match=r"a\.json ends at offset 100, and offsets up to 150 were found in it"):
        list(_batches(source, TaskRange(partition.id, 0, 150)))


def test_a_parquet_file_of_the_same_size_and_time_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy keeps the time of its original, and there are disks that tell it by the second."""
    monkeypatch.setattr(parquet, "_PIECE_ROWS", 1_000)
    path, other = tmp_path / "a.parquet", tmp_path / "other"
    for where, first in ((path, 0), (other, 50_000)):
        numbers = pl.DataFrame({"id": range(first, first + 10_000)})
        numbers.write_parquet(where, compression="uncompressed", row_group_size=1_000, statistics=False)
    told = path.stat()
    assert other.stat().st_size == told.st_size
    os.utime(other, ns=(told.st_atime_ns, told.st_mtime_ns))
    reader = opened(asked(tmp_path, "parquet"))
    assert isinstance(reader.read(1_000), ReadBatch)
    other.rename(path)
    with pytest.raises(ConnectorError, match=r"a\.parquet was replaced or changed while it was read"):
        drain(reader, 1_000)


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.parent.parent / "moved.json")


@pytest.mark.parametrize("leave", [delete, move])
def test_who_goes_back_to_before_the_end_of_a_file_that_is_gone_is_told(
    tmp_path: Path, leave: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was noted as read to its end, and what came after the epoch was lost without a word."""
    monkeypatch.setattr(followed, "GONE_S", 0.0)
    monkeypatch.setattr("ouzel.connectors.file.following.GONE_S", 0.0)
    (tmp_path / "logs").mkdir()
    path = tmp_path / "logs" / "a.json"
    path.write_text(lines(0, 100))
    source = asked(tmp_path / "logs", "json", follow="true")
    (partition,) = source.partitions()
    reader = source.reader(partition, None)
    assert drain(reader) == (list(range(100)), 100)
    leave(path)
    for _ in range(3):
        source.partitions()
        assert reader.read(1) in (ReadState.WAIT, ReadState.END)
        source.commit({})
    for offset in (100, 60):
        again = asked(tmp_path / "logs", "json", follow="true")
        assert isinstance(again, RecallingSource)
        again.recall({partition.id: offset})
        if offset == 100:
            assert not again.partitions(), "all of it is in the epoch"
            continue
        with pytest.raises(ConnectorError, match=r"logs/a\.json \(inode \d+\) was followed and is found nowhere"):
            again.partitions()


def test_how_far_a_followed_file_was_read_is_kept_before_there_is_an_epoch(tmp_path: Path) -> None:
    """Until then nothing is committed. A file that went meanwhile was missing in silence when all went back to the beginning."""
    path = tmp_path / "a.json"
    path.write_text(lines(0, 100))
    source = asked(tmp_path, "json", follow="true")
    (partition,) = source.partitions()
    assert drain(source.reader(partition, None)) == (list(range(100)), 100)
    source.partitions()
    path.unlink()
    again = asked(tmp_path, "json", follow="true")
    assert isinstance(again, RecallingSource)
    again.recall({})
    with pytest.raises(ConnectorError, match=r"a\.json \(inode \d+\) was followed and is found nowhere"):
        again.partitions()


def test_a_file_without_a_size_cannot_be_followed() -> None:
    """It gave no row, and no error."""
    options = {"path": "/proc/cpuinfo", "format": "raw", "follow": "true"}
    source = open_source("file", SourceRequest("t", options, {"line": pl.String()}, Path("/")))
    with pytest.raises(ConnectorError, match="/proc/cpuinfo does not say how long it is"):
        opened(source).read(1)
