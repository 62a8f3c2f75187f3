"""Text that is compressed: the same rows at the same offsets as of what is in it, and a word for every file that is not whole."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from ouzel import entry
from ouzel.connectors import open_source
from ouzel.connectors.file import text
from ouzel.connectors.reading import ReadBatch, Reader, SourceRequest
from ouzel.errors import ConnectorError, QueryError
from ouzel.session import load_text
from tests.effort import examples


def zstd(data: bytes) -> bytes:
    """One frame."""
    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": lambda data: gzip.compress(data, mtime=0), ".zst": zstd}
CONTENT = {
    "csv": b"\xef\xbb\xbfid,word\n" + b"".join(b'%d,"a\nb"\n' % n for n in range(500)),
    "json": b"".join(b'{"id": %d, "word": "x"}\n\n' % n for n in range(500)),
    "raw": b"a\r\nb\rc\n" * 300,
}


def batches(folder: Path, name: str, form: str, rows: int, offset: int | None = None) -> list[ReadBatch]:
    """What a reading of the file gives."""
    columns = {"word": pl.String()} if form == "raw" else {"id": pl.Int64(), "word": pl.String()}
    source = open_source("file", SourceRequest("t", {"path": name, "format": form}, columns, folder))
    (partition,) = source.partitions()
    return drained(source.reader(partition, offset), rows)


def drained(reader: Reader, rows: int) -> list[ReadBatch]:
    """All batches up to the end."""
    found = []
    while isinstance(batch := reader.read(rows), ReadBatch):
        found.append(batch)
    reader.close()
    return found


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("form", CONTENT)
def test_rows_and_offsets_are_those_of_what_is_in_it(tmp_path: Path, form: str, ending: str) -> None:
    (tmp_path / "a").write_bytes(CONTENT[form])
    half = len(CONTENT[form]) // 2
    parts = CONTENT[form][:half], CONTENT[form][half:]  # two members, as `cat a.gz b.gz` makes them
    (tmp_path / f"a{ending}").write_bytes(b"".join(map(PACKERS[ending], parts)))
    plain, packed = (batches(tmp_path, name, form, 70) for name in ("a", f"a{ending}"))
    assert len(packed) > 3
    for one, other in zip(plain, packed, strict=True):
        assert (one.start, one.end) == (other.start, other.end)
        assert_frame_equal(one.frame, other.frame)
        again = batches(tmp_path, f"a{ending}", form, 70, offset=one.start)[0]  # as after a crash
        assert (again.start, again.end) == (one.start, one.end)
        assert_frame_equal(again.frame, one.frame)


@settings(deadline=None, max_examples=examples(40))
@given(st.data())
def test_no_block_border_shows(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(["1", '2,"b\nc"', "", "ouzel\r"]), max_size=20))
    ending = data.draw(st.sampled_from([*PACKERS]))
    folder = tmp_path_factory.mktemp("blocks")
    content = "\n".join(lines).encode()
    (folder / "a").write_bytes(content)
    (folder / f"a{ending}").write_bytes(PACKERS[ending](content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK_BYTES", data.draw(st.integers(1, 20)))
        plain, packed = (batches(folder, name, "raw", 3) for name in ("a", f"a{ending}"))
    assert [batch.frame.rows() for batch in packed] == [batch.frame.rows() for batch in plain]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cut.gz", PACKERS[".gz"](CONTENT["raw"])[:-9], r"cut\.gz cannot be unpacked: Truncated compressed stream \(behind 0 bytes\)"),
        ("cut.zst", PACKERS[".zst"](CONTENT["raw"])[:-9], r"cut\.zst cannot be unpacked: Truncated"),
        ("plain.gz", CONTENT["raw"], r"plain\.gz cannot be unpacked: zlib inflate failed: incorrect header check"),
        ("plain.zst", CONTENT["raw"], r"plain\.zst cannot be unpacked: ZSTD decompress failed"),
        ("zstd.gz", PACKERS[".zst"](CONTENT["raw"]), r"zstd\.gz cannot be unpacked"),
        ("more.gz", PACKERS[".gz"](b"a\n") + b"garbage", r"more\.gz cannot be unpacked"),
        ("none", PACKERS[".gz"](b"a\n"), r"none is compressed, and its name does not say how; end it with \.gz or \.zst, or unpack it"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_not_whole_is_said(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConnectorError, match=message):
        batches(tmp_path, name, "raw", 10)


def test_an_empty_one_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "a.gz").touch()
    (tmp_path / "b.gz").write_bytes(PACKERS[".gz"](b""))
    assert batches(tmp_path, "a.gz", "raw", 10) == batches(tmp_path, "b.gz", "raw", 10) == []


@pytest.mark.parametrize("path", ["a.csv.gz", "b.csv, c.csv.zst"])
def test_none_is_followed(tmp_path: Path, path: str) -> None:
    table = (
        f"CREATE TABLE t (id INT) WITH ('connector' = 'file', 'path' = '{path}', 'format' = 'csv', 'follow' = 'true');"
    )
    with pytest.raises(QueryError, match="a compressed file is written once and cannot be followed"):
        load_text(f"{table} SELECT * FROM t", tmp_path, "q")


def test_one_that_appears_while_a_folder_is_followed_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(PACKERS[".gz"](b"a\n"))
    request = SourceRequest("t", {"path": ".", "format": "raw", "follow": "true"}, {"line": pl.String()}, tmp_path)
    source = open_source("file", request)
    with pytest.raises(
        ConnectorError, match=r"a\.gz is compressed, and such a file cannot be followed; leave it out of 'path', or"
    ):
        source.reader(source.partitions()[0], None)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst"])
def test_its_columns_are_found(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(PACKERS[Path(name).suffix](b"id;word\n1;x\n2;\n"))
    job = load_text(f"SELECT a.id + 1 AS next, word FROM '{name}'", tmp_path, "q")
    assert sorted(entry.table(job, "memory").rows()) == [(2, "x"), (3, None)]
