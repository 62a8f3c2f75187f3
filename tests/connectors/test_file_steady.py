"""Files that are read whole while somebody writes to them: no row is lost, doubled or made up without a word."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from ouzel.connectors import open_source
from ouzel.connectors.file import text
from ouzel.connectors.reading import ReadBatch, Reader, SourceRequest
from ouzel.errors import ConnectorError

Makes = Callable[[range], bytes]
Writes = Callable[[Path, bytes, bytes], None]

MANY = range(10_000, 30_000)


def lines(numbers: range) -> bytes:
    return b"".join(b'{"id": %d}\n' % number for number in numbers)


def fields(numbers: range) -> bytes:
    return b"id\n" + b"".join(b"%d\n" % number for number in numbers)


def elements(numbers: range) -> bytes:
    return b"[" + b",".join(b'{"id": %d}' % number for number in numbers) + b"]"


def frames(numbers: range) -> bytes:
    """Frames that each have their own beginning: another may stand in the place of any."""
    codec = pa.Codec("zstd")
    return b"".join(codec.compress(lines(numbers[at : at + 2]), asbytes=True) for at in range(0, len(numbers), 2))


FORMS = {"json": lines, "csv": fields, "array.json": elements, "json.zst": frames}


def reader(directory: Path, path: str, **more: str) -> Reader:
    form = "csv" if "csv" in path else "json"
    if path.startswith("array"):
        more["json.array"] = "true"
    request = SourceRequest("t", {"path": path, "format": form, **more}, {"id": pl.Int64()}, directory)
    source = open_source("file", request)
    return source.reader(source.partitions()[0], None)


def numbers(read: Reader) -> tuple[list[int], list[str]]:
    found: list[int] = []
    notes: list[str] = []
    while isinstance(batch := read.read(1_000), ReadBatch):
        found += batch.frame["id"].to_list()
        notes += batch.notes
        assert not batch.bad
    return found, notes


def write_over(path: Path, old: bytes, new: bytes) -> None:
    with path.open("r+b") as file:
        file.write(new)


def write_over_the_middle(path: Path, old: bytes, new: bytes) -> None:
    """One sign, and the time of writing set back; a rest of other bytes is before and behind it."""
    told = path.stat()
    at = 5_000 + old[5_000:].index(b"19")
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"18")
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))


def cut(path: Path, old: bytes, new: bytes) -> None:
    os.truncate(path, len(old) - 7)


def cut_and_fill(path: Path, old: bytes, new: bytes) -> None:
    path.write_bytes(new + new)


@pytest.fixture(autouse=True)
def _blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_BLOCK_BYTES", 1 << 15)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("change", [write_over, cut, cut_and_fill])
def test_what_was_read_of_a_file_and_is_not_there_any_more_is_an_error(
    tmp_path: Path, name: str, change: Writes
) -> None:
    path, make = tmp_path / name, FORMS[name]
    path.write_bytes(make(MANY))
    read = reader(tmp_path, name)
    assert isinstance(read.read(10), ReadBatch)
    change(path, make(MANY), make(range(40_000, 60_000)))
    with pytest.raises(
        ConnectorError, match=f"{name} was {'cut' if change is cut else 'written over'} while it was read"
    ):
        numbers(read)


def test_one_sign_that_changed_in_the_middle_is_noticed_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(lines(MANY))
    os.utime(path, (1, 1))
    read = reader(tmp_path, "a.json")
    for _ in range(10):
        read.read(1_500)
    write_over_the_middle(path, lines(MANY), b"")
    with pytest.raises(ConnectorError, match="written over while it was read"):
        numbers(read)


def add(path: Path) -> None:
    with path.open("ab") as file:
        file.write(lines(range(7)))


def rename(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.write_bytes(b"rubbish")


@pytest.mark.parametrize(
    ("change", "more"), [(add, 7), (rename, 0), (Path.touch, 0), (Path.unlink, 0), (lambda path: path.chmod(0o600), 0)]
)
def test_what_takes_nothing_away_is_no_error(tmp_path: Path, change: Callable[[Path], None], more: int) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(lines(MANY))
    read = reader(tmp_path, "a.json")
    assert isinstance(read.read(10), ReadBatch)
    change(path)
    assert numbers(read) == ([*MANY[10:], *range(more)], [])


def test_members_that_are_added_to_a_packed_file_are_read_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(lines(MANY)))
    read = reader(tmp_path, "a.json.gz")
    assert isinstance(read.read(10), ReadBatch)
    with path.open("ab") as file:
        file.write(gzip.compress(lines(range(7))))
    assert numbers(read)[0] == [*MANY[10:], *range(7)]


@pytest.mark.parametrize("half", [b"123", b"\r", b'"12\n3'])
def test_half_a_line_of_a_file_that_grows_is_no_row(tmp_path: Path, half: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(fields(MANY))
    read = reader(tmp_path, "a.csv")
    assert isinstance(read.read(10), ReadBatch)
    with path.open("ab") as file:
        file.write(fields(range(4))[3:] + half)
    found, notes = numbers(read)
    assert found == [*MANY[10:], *range(4)]
    assert [note.removeprefix(str(path)) for note in notes] == [
        " grew while it was read, and its last line, which has no end yet, is left out; start again when it is written, or go on with it: "
        "'follow' = 'true'"
    ]


def test_half_a_line_that_stands_alone_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(lines(range(4)))
    read = reader(tmp_path, "a.json")
    text._BLOCK_BYTES = path.stat().st_size
    assert isinstance(read.read(4), ReadBatch)
    with path.open("ab") as file:
        file.write(b'{"id": 1')
    with pytest.raises(ConnectorError, match="its last line, which has no end yet, is left out"):
        read.read(1)


def test_a_last_line_without_its_end_is_a_row_of_a_file_that_nobody_writes_to(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"id\n1\n23")
    assert numbers(reader(tmp_path, "a.csv")) == ([1, 23], [])


@pytest.mark.parametrize("name", ["a.json.gz", "a.json.zst"])
def test_a_packed_file_that_is_not_whole_says_what_to_do(tmp_path: Path, name: str) -> None:
    whole = gzip.compress(lines(MANY)) if name.endswith("gz") else frames(MANY)
    (tmp_path / name).write_bytes(whole[:-3])
    with pytest.raises(
        ConnectorError, match=r"cannot be unpacked: .*not whole; if it is still being written start again"
    ):
        numbers(reader(tmp_path, name))
