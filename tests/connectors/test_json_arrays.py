"""JSON files that are one array: their elements are records, whatever their line ends, blanks and blocks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel import entry
from ouzel.connectors import open_source
from ouzel.connectors.file import text
from ouzel.connectors.reading import ReadBatch, SourceRequest
from ouzel.errors import ConnectorError, QueryError
from ouzel.session import load_text
from ouzel.spark.batch.run import batch_run
from tests.effort import examples

OPTIONS = {"path": "a.json", "format": "json", "json.array": "true"}
VALUES = st.recursive(
    st.none() | st.integers(-5, 5) | st.text('a"\\[]{},: \n', max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["x", ",", "]"]), inner, max_size=2),
    max_leaves=5,
)


def batches(folder: Path, rows: int, offset: int | None = None) -> list[ReadBatch]:
    """What a reading of the file gives."""
    source = open_source("file", SourceRequest("t", OPTIONS, {"v": pl.String()}, folder))
    (partition,) = source.partitions()
    reader, found = source.reader(partition, offset), []
    while isinstance(batch := reader.read(rows), ReadBatch):
        found.append(batch)
    return found


@settings(deadline=None, max_examples=examples(80))
@given(st.data())
def test_each_element_is_a_record(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    values = data.draw(st.lists(VALUES, max_size=8))
    folder, mark = tmp_path_factory.mktemp("array"), data.draw(st.sampled_from(["", "\ufeff", " \r\n"]))
    array = json.dumps([{"v": value} for value in values], indent=data.draw(st.sampled_from([None, 0, 2])))
    (folder / "a.json").write_text(mark + array + data.draw(st.sampled_from(["", "\n", " \r\n"])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK_BYTES", data.draw(st.integers(1, 20)))
        rows = data.draw(st.integers(1, 3))
        found = batches(folder, rows)
        again = [batches(folder, rows, batch.start)[0] for batch in found]
    assert not any(batch.bad for batch in found)
    held = [v for batch in found for v in batch.frame["v"]]
    texts = [v if v is None or isinstance(value, str) else json.loads(v) for v, value in zip(held, values, strict=True)]
    assert texts == values
    assert [batch.frame.rows() for batch in again] == [batch.frame.rows() for batch in found]


@pytest.mark.parametrize(
    ("content", "good", "bad"),
    [
        (b'[{"v":"a"},,{"v":"b"}]', ["a"], [',{"v":"b"}']),
        (b'[{"v":"a"},]', ["a"], ["]"]),
        (b'[{"v":"a"}] [{"v":"b"}]', ["a"], ['[{"v":"b"}]']),
        (b'[{"v":"a"}}, {"v":"b"}]', ["b"], ['{"v":"a"}}']),
        (b'[{"v":"a"}, 1, {"v":"b"}]', ["a", "b"], ["1"]),
        (b'[{"v":"a\nb"}, {"v":"b"}]', ["b"], ['{"v":"a', 'b"}']),
        (b"[]", [], []), (b"", [], []), (b" \n", [], []),
    ],
)  # fmt: skip
def test_what_is_no_element_is_a_bad_record(tmp_path: Path, content: bytes, good: list[str], bad: list[str]) -> None:
    (tmp_path / "a.json").write_bytes(content)
    found = batches(tmp_path, 100)
    assert [v for batch in found for v in batch.frame["v"]] == good
    assert [row.raw.decode().strip() for batch in found for row in batch.bad] == bad


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'[{"v":"a"}, {"v":', r"the array in .*a\.json is not closed behind its element 2: the file is not whole"),
        (b'{"v":"a"}\n', r"a\.json is no JSON array; leave out 'json\.array'"),
    ],
)
def test_what_is_no_whole_array_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(ConnectorError, match=said):
        batches(tmp_path, 100)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_an_array_is_found(tmp_path: Path, name: str) -> None:
    content = json.dumps([{"id": 1, "who": {"n": [1]}}, {"id": 2}], indent=2).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    table = f"CREATE TABLE t WITH ('connector' = 'file', 'path' = '{name}', 'format' = 'json'); SELECT id, t.who.n[1] FROM t"
    for query in (
        f"SELECT id, a.who.n[1] FROM '{name}' a",
        f"SELECT id, who.n[1] FROM read_json('{name}', array => true)",
        table,
    ):
        job = load_text(query, tmp_path, "q")
        assert "'json.array' = 'true'" in job.text
        assert sorted(entry.table(job, "memory").rows(), key=str) == [(1, 1), (2, None)]
    assert "read_table(" in batch_run(job).text()


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    def table(**more: str) -> str:
        options = {"connector": "file", "path": "a", "format": "json", "json.array": "true", **more}
        given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
        return f"CREATE TABLE t (v INT) WITH ({given});"

    for wrong in ({"follow": "true"}, {"format": "csv"}):
        with pytest.raises(QueryError, match=r"'json\.array' is for JSON files that do not grow"):
            load_text(f"{table(**wrong)} SELECT * FROM t", tmp_path, "q")
    with pytest.raises(QueryError, match="a file that is one JSON array can only be read"):
        load_text(f"{table()} INSERT INTO t SELECT 1", tmp_path, "q")
    (tmp_path / "a.json").write_text("[]")
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(QueryError, match="some of the files are JSON arrays and some are not; read them as two tables"):
        load_text("SELECT * FROM '*.json'", tmp_path, "q")
