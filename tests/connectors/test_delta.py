"""Tables of Delta Lake, made by Delta's own library: versions, commits that follow, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.compiler.plan import Scan, walk
from ouzel.connectors import open_publisher, open_sink, open_source
from ouzel.connectors.reading import ReadBatch, Source, SourceRequest
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError, OuzelError, QueryError
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import load_text
from tests.connectors import versioned_tables
from tests.connectors.versioned_tables import COLUMNS, frame, numbers, read, rows
from tests.effort import examples
from tests.law.engines import folded


def written(folder: Path, *commits: pa.Table, **how: Any) -> Path:
    for commit in commits:
        write_deltalake(folder, commit, mode="append", **how)
    return folder


def request(folder: Path, columns: Mapping[str, pl.DataType] | None = None, **options: str) -> SourceRequest:
    return SourceRequest("t", {"path": str(folder), **options}, columns or COLUMNS, Path("/"))


def opened(folder: Path, columns: Mapping[str, pl.DataType] | None = None, **options: str) -> Source:
    return open_source("delta", request(folder, columns, **options))


def test_a_version_is_read_as_it_was(tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(1, 2, 3), rows(4))
    write_deltalake(table, rows(9), mode="overwrite")
    assert numbers(read(opened(table, version="0"))) == [1, 2, 3]
    assert numbers(read(opened(table, version="1"))) == [1, 2, 3, 4]
    assert numbers(read(opened(table, version="2"))) == [9]


def test_a_replay_reads_the_same_rows_from_an_offset_on(tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(*range(10)))
    first = opened(table, version="0")
    (partition,) = first.partitions()
    written(table, rows(77))
    again = opened(table, version="0")
    assert [one.id for one in again.partitions()] == [partition.id]
    whole = first.reader(partition, None).read(10)
    rest = again.reader(partition, 4).read(10)
    assert isinstance(whole, ReadBatch)
    assert isinstance(rest, ReadBatch)
    assert (rest.start, rest.end) == (4, 10)
    assert rest.frame.equals(whole.frame[4:])
    assert first.reach(partition, 4, 3).end == 7


def test_a_time_says_the_version(tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(1), rows(2))
    log = sorted((table / "_delta_log").glob("*.json"))
    told = [datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in log]
    assert numbers(read(opened(table, timestamp=told[1].isoformat()))) == [1, 2]
    later = (told[1] + timedelta(days=1)).isoformat()
    with pytest.raises(ConnectorError, match=r"behind the last commit of .*; write 'version' = '1'"):
        opened(table, timestamp=later)


def test_commits_follow(tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(1), rows(2))
    source, seen = opened(table, version="0", follow="true"), set[str]()
    assert numbers(read(source, seen)) == [1, 2]
    assert numbers(read(source, seen)) == []
    written(table, rows(3), rows(4, 5))
    assert numbers(read(source, seen)) == [3, 4, 5]
    assert [name.partition(":")[0] for name in (one.id for one in source.partitions())] == ["0", "1", "2", "3"]
    assert not any(partition.bounded for partition in source.partitions())
    until_now = opened(table, version="0", follow="true", end="latest")
    assert numbers(read(until_now)) == [1, 2, 3, 4, 5]
    written(table, rows(6))
    assert numbers(read(until_now)) == [1, 2, 3, 4, 5]
    assert all(partition.bounded for partition in until_now.partitions())


def test_a_commit_that_only_moves_rows_is_passed_over(tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(1), rows(2))
    source, seen = opened(table, version="0", follow="true"), set[str]()
    assert numbers(read(source, seen)) == [1, 2]
    DeltaTable(table).optimize.compact()
    written(table, rows(3))
    assert numbers(read(source, seen)) == [3]


def test_a_commit_that_deletes_rows_ends_the_following(tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(1, 2))
    source = opened(table, version="0", follow="true")
    DeltaTable(table).delete("n = 1")
    with pytest.raises(ConnectorError, match=r"version 1 of .* deletes or rewrites rows, .* 'version' = '1'"):
        source.partitions()
    assert numbers(read(opened(table, version="1", follow="true"))) == [2]


def test_partitions_are_columns_and_a_filter_leaves_out_files(tmp_path: Path) -> None:
    held = pa.table({"n": pa.array([1, 2, 3, 4], pa.int64()), "word": ["a b/ü", "%20", None, "c"]})
    table = written(tmp_path / "t", held, partition_by=["word"])
    assert sorted(read(opened(table, version="0")).rows()) == sorted(pl.DataFrame(held).rows())
    asked = replace(request(table, version="0"), predicate=(pl.col("word") == "c") & (pl.col("n") > 1))
    for path in table.rglob("*.parquet"):
        if "word=c" not in str(path):
            path.write_bytes(b"nobody looks into it")
    assert read(open_source("delta", asked)).rows() == [(4, "c")]


def test_columns_that_came_later_are_null_in_older_files(tmp_path: Path) -> None:
    table = written(tmp_path / "t", pa.table({"n": pa.array([1], pa.int64())}))
    written(table, rows(2), schema_mode="merge")
    assert sorted(read(opened(table, version="1")).rows()) == [(1, None), (2, "a")]
    with pytest.raises(ConnectorError, match=r"version 0 of .* has no column 'word'; it has n"):
        opened(table, version="0").partitions()


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(1))
    (tmp_path / "plain").mkdir()
    with pytest.raises(ConnectorError, match=r"there is no folder .*nowhere"):
        opened(tmp_path / "nowhere", version="0").partitions()
    with pytest.raises(ConnectorError, match=r"plain holds no table of Delta Lake"):
        opened(tmp_path / "plain", version="0").partitions()
    with pytest.raises(ConnectorError, match=r"has no version 7; its newest is 0"):
        opened(table, version="7").partitions()
    with pytest.raises(ConnectorError, match=r"between two tasks .* write 'version' = '0', or declare no columns"):
        opened(table)


def test_a_file_that_was_vacuumed_is_told(tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(1))
    write_deltalake(table, rows(2), mode="overwrite")
    source = opened(table, version="0")
    (partition,) = source.partitions()
    DeltaTable(table).vacuum(0, dry_run=False, enforce_retention_duration=False)
    with pytest.raises(ConnectorError, match=r"is gone, which version .* VACUUM has removed it"):
        source.reader(partition, None)


def test_a_log_that_was_cleaned_is_told(tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(1))
    source = opened(table, version="0", follow="true")
    source.partitions()
    written(table, rows(2), rows(3))
    (table / "_delta_log" / f"{1:020}.json").unlink()
    with pytest.raises(ConnectorError, match=r"cleaned of version 1, which was not read yet"):
        source.partitions()


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (
            '{"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["typeWidening"]}}',
            "typeWidening",
        ),
        ('{"metaData": {"configuration": {"delta.columnMapping.mode": "name"}}}', "maps its columns to other names"),
        ('{"add": {"path": "x", "dataChange": true, "deletionVector": {"storageType": "u"}}}', "has deletion vectors"),
    ],
)
def test_a_commit_that_changes_what_files_mean_is_refused(action: str, told: str, tmp_path: Path) -> None:
    table = written(tmp_path / "t", rows(1))
    source = opened(table, version="0", follow="true")
    source.partitions()
    (table / "_delta_log" / f"{1:020}.json").write_text(action)
    with pytest.raises(ConnectorError, match=told):
        source.partitions()


def test_columns_and_version_are_found_when_the_query_is_planned(tmp_path: Path) -> None:
    written(tmp_path / "t", rows(1), rows(2))
    job = load_text("CREATE TABLE t WITH ('connector' = 'delta', 'path' = 't'); SELECT n FROM t;", tmp_path, "q")
    (scan,) = [node for node in walk(job.program.sinks[-1]) if isinstance(node, Scan)]
    assert dict(scan.options)["version"] == "1"
    assert scan.columns.names == ("n", "word")


@pytest.mark.parametrize("columns", ["(*)", "(n BIGINT)"])
def test_a_lacking_package_is_told_with_the_extra_that_brings_it(
    columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("log", "source", "sink", "publisher"):
        monkeypatch.delitem(sys.modules, f"ouzel.connectors.delta.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "deltalake", None)
    text = f"CREATE TABLE t {columns} WITH ('connector' = 'delta', 'path' = 't', 'version' = '0'); SELECT n FROM t;"
    with pytest.raises(
        OuzelError, match=r"needs the package 'deltalake'; install it with: pip install \"ouzel\[delta\]\""
    ):
        load_text(text, tmp_path, "q")


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    def planned(more: str, path: str = "t") -> None:
        load_text(
            f"CREATE TABLE t (n BIGINT) WITH ('connector' = 'delta', 'path' = '{path}', {more}); SELECT n FROM t;",
            tmp_path,
            "q",
        )

    with pytest.raises(QueryError, match=r"both say which version"):
        planned("'version' = '1', 'timestamp' = '2013-01-01 00:00:00'")
    with pytest.raises(QueryError, match=r"'end' is for a table that is followed"):
        planned("'version' = '1', 'end' = 'latest'")
    with pytest.raises(QueryError, match=r"in folders of this machine"):
        planned("'version' = '1'", "s3://bucket/t")


TYPES: dict[str, tuple[pa.DataType, pl.DataType, st.SearchStrategy[Any]]] = {
    "tiny": (pa.int8(), pl.Int8(), st.integers(-128, 127)),
    "small": (pa.int16(), pl.Int16(), st.integers(-(2**15), 2**15 - 1)),
    **versioned_tables.TYPES,
}


@settings(max_examples=examples(20), deadline=None)
@given(st.data())
def test_each_type_is_read_as_what_was_written(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("types")
    count = data.draw(st.integers(1, 4))
    columns = {
        name: pa.array(data.draw(st.lists(st.none() | values, min_size=count, max_size=count)), kind)
        for name, (kind, _, values) in TYPES.items()
    }
    columns["n"] = pa.array(range(count), pa.int64())
    kinds = {name: kind for name, (_, kind, _) in TYPES.items()} | {"n": pl.Int64()}
    write_deltalake(folder / "t", pa.table(columns), mode="append")
    found = read(opened(folder / "t", kinds, version="0"))
    assert found.schema == kinds
    assert found.rows() == pl.DataFrame(pa.table(columns)).rows()
    sink = open_sink("delta", SinkRequest("t", {"path": "copy"}, kinds, "append", folder))
    sink.write(0, found)
    sink.flush()
    copied = read(opened(folder / "copy", kinds, version="1"))
    assert copied.sort("n").equals(found)


@settings(max_examples=examples(20), deadline=None)
@given(st.data())
def test_each_type_partitions(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    kind, declared, values = TYPES[data.draw(st.sampled_from(["tiny", "big", "flag", "text", "day", "money"]))]
    folder = tmp_path_factory.mktemp("parts") / "t"
    value = data.draw(st.none() | (values.map(abs) if kind == pa.decimal128(9, 2) else values))
    held = pa.table({"n": pa.array([1], pa.int64()), "p": pa.array([value], kind)})
    write_deltalake(folder, held, partition_by=["p"])
    write_deltalake(folder, held, mode="append")
    columns = {"n": pl.Int64(), "p": declared}
    expected = pl.DataFrame(held).with_columns(
        pl.col("p").replace("", None) if declared == pl.String() else pl.col("p")
    )
    whole, followed = opened(folder, columns, version="1"), opened(folder, columns, version="0", follow="true")
    for source in (whole, followed):
        assert read(source).rows() == [*expected.rows(), *expected.rows()]


def sink_request(folder: Path, **options: str) -> SinkRequest:
    return SinkRequest("t", {"path": "t", **options}, COLUMNS, "append", folder, run="0a", component="out")


def test_a_sink_appends_each_flush_as_a_commit(tmp_path: Path) -> None:
    sinks = [
        open_sink("delta", replace(sink_request(tmp_path, **{"partition.by": "word"}), task=task)) for task in (0, 1)
    ]
    for number, sink in enumerate(sinks):
        sink.write(number, pl.DataFrame({"n": [number], "word": ["a"]}))
        sink.write(number, pl.DataFrame({"n": [number + 2], "word": [None]}, schema=COLUMNS))
        assert DeltaTable(tmp_path / "t").version() == number
        sink.flush()
        sink.flush()
    table = DeltaTable(tmp_path / "t")
    assert table.metadata().partition_columns == ["word"]
    assert numbers(read(opened(tmp_path / "t", version="2"))) == [0, 1, 2, 3]


def test_a_table_with_other_columns_or_a_folder_with_other_files_is_not_written(tmp_path: Path) -> None:
    written(tmp_path / "t", pa.table({"n": pa.array([1], pa.int32()), "word": ["a"]}))
    with pytest.raises(ConnectorError, match=r"writes 'n' as BIGINT, and .* has INT; CAST it"):
        open_sink("delta", sink_request(tmp_path))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.parquet").touch()
    with pytest.raises(ConnectorError, match=r"which holds x.parquet and no log"):
        open_sink("delta", replace(sink_request(tmp_path), options={"path": "other"}))


def test_tasks_that_make_a_table_at_once_make_one(tmp_path: Path) -> None:
    def write(task: int) -> None:
        with_task = replace(sink_request(tmp_path), task=task)
        sink = open_sink("delta", with_task)
        sink.write(0, frame(task))
        sink.flush()

    with ThreadPoolExecutor(8) as tasks:
        list(tasks.map(write, range(8)))
    assert content(tmp_path / "t") == list(range(8))
    assert not list((tmp_path / "t").glob("_made-*"))
    made = [path for path in (tmp_path / "t" / "_delta_log").glob("*.json") if "metaData" in path.read_text()]
    assert [path.stem for path in made] == [f"{0:020}"]


def test_a_table_partitioned_by_decimals_is_not_written(tmp_path: Path) -> None:
    """Delta's library would make a log that it cannot read itself."""
    held = pa.table({"n": pa.array([1], pa.int64()), "word": pa.array([Decimal("-3.65")], pa.decimal128(9, 2))})
    table, columns = tmp_path / "t", {"n": pl.Int64(), "word": pl.Decimal(9, 2)}
    with pytest.raises(DeltaError, match=r"'-3\.-65'"):
        written(table, held, partition_by=["word"])
    with pytest.raises(ConnectorError, match=r"the log of .*t cannot be read: .*-3\.-65"):
        opened(table, columns, version="0").partitions()
    written(tmp_path / "other", held.slice(0, 0), partition_by=["word"])
    with pytest.raises(ConnectorError, match=r"partitioned by 'word', a DECIMAL, .* negative values wrongly"):
        open_sink("delta", replace(sink_request(tmp_path), columns=columns, options={"path": "other"}))


QUERY = """
CREATE TABLE words (*) WITH ('connector' = 'delta', 'path' = 'words'{more});
SELECT word, COUNT(*) AS many, SUM(n) AS total FROM words WHERE n <> 5 GROUP BY word;
"""


@pytest.mark.parametrize("more", ["", ", 'version' = '0', 'follow' = 'true', 'end' = 'latest'"])
def test_a_topology_reads_it(more: str, tmp_path: Path) -> None:
    written(tmp_path / "words", rows(1, 2, 3), rows(4, 5, 6), partition_by=["word"])
    job = load_text(QUERY.format(more=more), tmp_path, "q")
    topology = folded(job, simulate(job.topology, job.packing, tmp_path, seed=1).frames.values())
    assert sorted(topology.rows()) == [("a", 3, 12), ("b", 2, 4)]


def content(folder: Path) -> list[int]:
    return numbers(read(opened(folder, version=str(DeltaTable(folder).version()))))


def test_an_epoch_is_a_commit_and_is_visible_once(tmp_path: Path) -> None:
    first = open_publisher("delta", sink_request(tmp_path))
    assert first.last_published() == 0
    first.publish(1, [frame(1), frame(2)])
    first.publish(1, [frame(1), frame(2)])
    first.publish(3, [])
    other = open_publisher("delta", replace(sink_request(tmp_path), task=1))
    assert other.last_published() == 0, "each task has epochs of its own"
    other.publish(1, [frame(10)])
    heir = open_publisher("delta", sink_request(tmp_path))
    assert heir.last_published() == 3
    heir.publish(4, [frame(4)])
    assert content(tmp_path / "t") == [1, 2, 4, 10]


def test_a_publisher_that_was_taken_over_from_commits_no_more(tmp_path: Path) -> None:
    first = open_publisher("delta", sink_request(tmp_path))
    first.last_published()
    heir = open_publisher("delta", sink_request(tmp_path))

    def taken_over_meanwhile() -> Any:
        """The first has looked, and sleeps; then it goes on to commit."""
        yield frame(1)
        with ThreadPoolExecutor() as others:  # Delta's library calls this from a thread of its own
            others.submit(heir.last_published).result()
        yield frame(2)

    with pytest.raises(ConnectorError, match=r"another writer has changed the table"):
        first.publish(1, taken_over_meanwhile())
    with pytest.raises(ConnectorError, match=r"another task has taken over from 'ouzel-0a-out-0'"):
        first.publish(1, [frame(1)])
    heir.publish(1, [frame(7)])
    assert content(tmp_path / "t") == [7]


def test_an_epoch_is_published_while_others_append(tmp_path: Path) -> None:
    first = open_publisher("delta", sink_request(tmp_path))
    first.last_published()

    def others_append() -> Any:
        yield frame(1)
        ids = CommitProperties(app_transactions=[Transaction("another", 1)])
        with ThreadPoolExecutor() as others:
            others.submit(written, tmp_path / "t", rows(50)).result()
            others.submit(written, tmp_path / "t", rows(51), commit_properties=ids).result()

    first.publish(1, others_append())
    assert content(tmp_path / "t") == [1, 50, 51]
