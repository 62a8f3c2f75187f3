"""Reading tables of Iceberg: snapshots, those that follow, columns that changed, and what is refused."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.io.pyarrow import _dataframe_to_data_files
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestContent, ManifestWriterV2
from pyiceberg.table import Table
from pyiceberg.types import LongType, StringType

from ouzel.compiler.plan import Scan, walk
from ouzel.connectors import open_sink, open_source
from ouzel.connectors.reading import ReadBatch
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError, OuzelError, QueryError
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import load_text
from tests.connectors.iceberg_tables import (
    AT,
    catalog,
    content,
    ids,
    made,
    newest,
    opened,
    planned_text,
    request,
    written,
)
from tests.connectors.versioned_tables import TYPES, numbers, read, rows
from tests.effort import examples
from tests.law.engines import folded


def test_a_snapshot_is_read_as_it_was(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1, 2, 3), rows(4))
    table.overwrite(rows(9))
    first, second, *_, last = ids(table)
    assert numbers(read(opened(tmp_path, snapshot_id="0"))) == []
    assert numbers(read(opened(tmp_path, snapshot_id=first))) == [1, 2, 3]
    assert numbers(read(opened(tmp_path, snapshot_id=second))) == [1, 2, 3, 4]
    assert numbers(read(opened(tmp_path, snapshot_id=last))) == [9]


def test_a_replay_reads_the_same_rows_from_an_offset_on(tmp_path: Path) -> None:
    (number,) = ids(written(tmp_path, rows(*range(10))))
    first = opened(tmp_path, snapshot_id=number)
    (partition,) = first.partitions()
    written(tmp_path, rows(77))
    again = opened(tmp_path, snapshot_id=number)
    assert [one.id for one in again.partitions()] == [partition.id]
    whole = first.reader(partition, None).read(10)
    rest = again.reader(partition, 4).read(10)
    assert isinstance(whole, ReadBatch)
    assert isinstance(rest, ReadBatch)
    assert (rest.start, rest.end) == (4, 10)
    assert rest.frame.equals(whole.frame[4:])
    assert first.reach(partition, 4, 3).end == 7


def test_a_time_says_the_snapshot(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1), rows(2))
    told = [datetime.fromtimestamp(entry.timestamp_ms / 1000, UTC) for entry in table.history()]
    assert numbers(read(opened(tmp_path, timestamp=told[1].isoformat()))) == [1, 2]
    assert numbers(read(opened(tmp_path, timestamp=told[0].replace(tzinfo=None).isoformat(" ")))) == [1]
    with pytest.raises(ConnectorError, match=rf"behind the last commit of .*; write 'snapshot.id' = '{ids(table)[1]}'"):
        opened(tmp_path, timestamp=(told[1] + timedelta(days=1)).isoformat())
    with pytest.raises(ConnectorError, match=r"has no snapshot of 'timestamp'"):
        opened(tmp_path, timestamp=(told[0] - timedelta(days=1)).isoformat())


def test_snapshots_follow(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1), rows(2))
    source, seen = opened(tmp_path, snapshot_id=ids(table)[0], follow="true"), set[str]()
    assert numbers(read(source, seen)) == [1, 2]
    assert numbers(read(source, seen)) == []
    table = written(tmp_path, rows(3), rows(4, 5))
    assert numbers(read(source, seen)) == [3, 4, 5]
    assert [name.partition(":")[0] for name in (one.id for one in source.partitions())] == ids(table)
    assert not any(partition.bounded for partition in source.partitions())
    until_now = opened(tmp_path, snapshot_id="0", follow="true", end="latest")
    assert numbers(read(until_now)) == [1, 2, 3, 4, 5]
    written(tmp_path, rows(6))
    assert numbers(read(until_now)) == [1, 2, 3, 4, 5]
    assert all(partition.bounded for partition in until_now.partitions())


def test_manifests_that_are_merged_are_not_read_again(tmp_path: Path) -> None:
    merging = {"commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2"}
    table = made(tmp_path, rows(1).schema, **merging)
    source, seen = opened(tmp_path, snapshot_id="0", follow="true"), set[str]()
    for number in range(4):
        table.append(rows(number))
        assert numbers(read(source, seen)) == [number]
    assert len(table.inspect.manifests()) == 1, "they were merged"


def test_a_snapshot_that_only_moves_rows_is_passed_over(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1), rows(2))
    source, seen = opened(tmp_path, snapshot_id=ids(table)[0], follow="true"), set[str]()
    assert numbers(read(source, seen)) == [1, 2]
    with table.transaction() as moving, moving.update_snapshot().overwrite() as compacted:
        for task in table.scan().plan_files():
            compacted.delete_data_file(task.file)
        for file in _dataframe_to_data_files(table.metadata, table.scan().to_arrow(), table.io):
            compacted.append_data_file(file)
    assert len(list(table.scan().plan_files())) == 1
    metadata = Path(str(table.metadata_location))  # rewrite_data_files says replace, which the library cannot
    metadata.write_text(metadata.read_text().replace('"operation":"overwrite"', '"operation":"replace"'))
    written(tmp_path, rows(3))
    assert numbers(read(source, seen)) == [3]


def test_a_snapshot_that_deletes_rows_ends_the_following(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1, 2))
    source = opened(tmp_path, snapshot_id=ids(table)[0], follow="true")
    table.delete("n = 1")
    last = ids(table)[-1]
    with pytest.raises(ConnectorError, match=rf"snapshot {last} of .* deletes or rewrites rows, .*= '{last}'"):
        source.partitions()
    assert numbers(read(opened(tmp_path, snapshot_id=last, follow="true"))) == [2]


def test_snapshots_that_have_expired_are_told(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1))
    first = ids(table)[0]
    source = opened(tmp_path, snapshot_id=first, follow="true")
    source.partitions()
    written(tmp_path, rows(2), rows(3))
    table = catalog(tmp_path).load_table("ns.t")
    table.maintenance.expire_snapshots().by_ids([int(first), int(ids(table)[1])]).commit()
    with pytest.raises(
        ConnectorError, match=r"snapshots of .* have expired that were not read yet, or 'main' was rolled"
    ):
        source.partitions()
    with pytest.raises(
        ConnectorError, match=rf"has no snapshot {first}: it never had, or it has expired; its newest is"
    ):
        opened(tmp_path, snapshot_id=first)


def test_partitions_are_columns_and_a_filter_leaves_out_files(tmp_path: Path) -> None:
    held = pa.table({"n": pa.array([1, 2, 3, 4, 5], pa.int64()), "word": ["a b/ü", "%20", None, "c", ""]})
    table = written(tmp_path, held, partition_by=("word",))
    assert sorted(read(opened(tmp_path, snapshot_id=newest(tmp_path))).rows()) == sorted(pl.DataFrame(held).rows())
    asked = request(tmp_path, snapshot_id=newest(tmp_path))
    asked = replace(asked, predicate=(pl.col("word") == "c") & (pl.col("n") > 1))
    source = open_source("iceberg", asked)
    for partition in source.partitions():
        batch = source.reader(partition, None).read(10)
        assert isinstance(batch, ReadBatch)
        assert batch.frame.rows() == ([(4, "c")] if "word=c" in partition.id else [])
    for path in Path(table.location()).rglob("*.parquet"):
        if "word=c" not in str(path):
            path.write_bytes(b"nobody looks into it")
    assert read(open_source("iceberg", asked)).rows() == [(4, "c")]


def test_columns_are_found_by_their_ids(tmp_path: Path) -> None:
    """`word` was renamed, another `word` came, `n` became wider, and `gone` went, whose name a later column has."""
    table = written(tmp_path, pa.table({"n": pa.array([1], pa.int32()), "word": ["old"], "gone": ["x"]}))
    with table.update_schema() as change:
        change.rename_column("word", "term")
        change.delete_column("gone")
    with table.update_schema() as change:
        change.add_column("word", StringType())
        change.add_column("gone", StringType())
        change.update_column("n", LongType())
    table.append(pa.table({"n": pa.array([2**40], pa.int64()), "term": ["t"], "word": ["w"], "gone": ["g"]}))
    columns = {"n": pl.Int64(), "word": pl.String(), "term": pl.String(), "gone": pl.String()}
    found = read(opened(tmp_path, columns, snapshot_id=newest(tmp_path)))
    assert sorted(found.rows()) == [(1, None, "old", None), (2**40, "w", "t", "g")]
    assert found.sort("n").equals(pl.DataFrame(table.scan().to_arrow()).select(list(columns)).sort("n"))
    first = opened(tmp_path, {"n": pl.Int32(), "word": pl.String(), "gone": pl.String()}, snapshot_id=ids(table)[0])
    assert read(first).rows() == [(1, "old", "x")]
    with pytest.raises(ConnectorError, match=r"snapshot .* has no column 'term'; it has n, word, gone"):
        opened(tmp_path, {"term": pl.String()}, snapshot_id=ids(table)[0]).partitions()


def test_parts_of_columns_that_were_renamed_are_refused(tmp_path: Path) -> None:
    held = pa.table({"at": pa.array([[{"x": 1, "y": 2}]], pa.list_(pa.struct([("x", pa.int64()), ("y", pa.int64())])))})
    table = written(tmp_path, held)
    columns = {"at": pl.List(pl.Struct({"x": pl.Int64(), "y": pl.Int64()}))}
    assert read(opened(tmp_path, columns, snapshot_id=newest(tmp_path))).rows() == [([{"x": 1, "y": 2}],)]
    with table.update_schema() as change:
        change.rename_column("at.element.y", "z")
    renamed = {"at": pl.List(pl.Struct({"x": pl.Int64(), "z": pl.Int64()}))}
    asked = {"snapshot_id": newest(tmp_path), "schema_id": str(table.schema().schema_id)}
    with pytest.raises(
        ConnectorError, match=r"before field 'z' of column 'at' was added or renamed, .* rewrite the table"
    ):
        read(opened(tmp_path, renamed, **asked))
    fewer = {"at": pl.List(pl.Struct({"x": pl.Int64()}))}
    with pytest.raises(ConnectorError, match=r"before field 'z'"):
        read(opened(tmp_path, fewer, **asked))


def test_a_rename_alone_makes_no_snapshot_and_is_found(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1))
    with table.update_schema() as change:
        change.rename_column("word", "term")
    job = load_text(planned_text("SELECT term FROM t"), tmp_path, "q")
    frame = folded(job, simulate(job.topology, job.packing, tmp_path, seed=1).frames.values())
    assert frame.rows() == [("b",)]


def test_files_of_others_are_read_by_the_mapping_of_names(tmp_path: Path) -> None:
    pq.write_table(rows(5), tmp_path / "theirs.parquet")
    table = written(tmp_path, rows(1))
    table.add_files([str(tmp_path / "theirs.parquet")])
    assert content(tmp_path) == [1, 5]
    with table.transaction() as change:
        change.remove_properties("schema.name-mapping.default")
    with pytest.raises(ConnectorError, match=r"the columns of .*theirs.parquet cannot be matched with the table's"):
        content(tmp_path)


def test_partitions_that_only_metadata_knows(tmp_path: Path) -> None:
    """As files of Hive's that were added, which have no column that their table is partitioned by."""
    columns = {"n": pl.Int64(), "day": pl.Date(), "money": pl.Decimal(9, 2)}
    money = pa.array([Decimal("1.50")], pa.decimal128(9, 2))
    held = pa.table({"n": pa.array([1], pa.int64()), "day": [date(2013, 1, 1)], "money": money})
    table = written(tmp_path, held, partition_by=("day", "money"))
    (task,) = table.scan().plan_files()
    file = pq.read_table(task.file.file_path, partitioning=None)
    pq.write_table(file.drop(["day"]), task.file.file_path)
    at = newest(tmp_path)
    assert read(opened(tmp_path, columns, snapshot_id=at)).rows() == [(1, date(2013, 1, 1), Decimal("1.50"))]
    pq.write_table(file.drop(["money"]), task.file.file_path)
    with pytest.raises(ConnectorError, match=r"has no column 'money', by which the table is partitioned"):
        read(opened(tmp_path, columns, snapshot_id=at))


def with_deleted_row(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot with a delete file, as other engines write it; the library itself cannot."""
    (task,) = table.scan().plan_files()
    path = Path(table.location()) / "deletes.parquet"
    pq.write_table(pa.table({"file_path": [task.file.file_path], "pos": pa.array([0], pa.int64())}), path)
    file = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES, file_path=str(path), file_format=FileFormat.PARQUET, partition=task.file.partition,
        record_count=1, file_size_in_bytes=path.stat().st_size, spec_id=0, _table_format_version=2,
    )  # fmt: skip
    monkeypatch.setattr(ManifestWriterV2, "content", lambda self: ManifestContent.DELETES)
    with table.transaction() as change, change.update_snapshot().fast_append() as append:
        append.append_data_file(file)


def test_delete_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = written(tmp_path, rows(1, 2))
    source = opened(tmp_path, snapshot_id=newest(tmp_path), follow="true")
    source.partitions()
    with_deleted_row(table, monkeypatch)
    assert table.scan().to_arrow()["n"].to_pylist() == [2]
    with pytest.raises(ConnectorError, match=r"snapshot .* has delete files, .* rewrite them first"):
        content(tmp_path)
    with pytest.raises(ConnectorError, match=r"deletes or rewrites rows"):
        source.partitions()


def test_a_folder_is_read_by_its_hint_or_by_one_of_its_files(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1))
    first, metadata = newest(tmp_path), Path(table.location()) / "metadata"
    file = str(table.metadata_location)
    written(tmp_path, rows(2))
    assert numbers(read(opened(tmp_path, path=file, snapshot_id=first))) == [1]
    with pytest.raises(ConnectorError, match=rf"has no snapshot {newest(tmp_path)}"):
        opened(tmp_path, path=file, snapshot_id=newest(tmp_path))
    with pytest.raises(ConnectorError, match=r"ns/t has no metadata/version-hint.text, so only its catalog knows"):
        opened(tmp_path, path="ns/t", snapshot_id=first)
    shutil.copy(file, metadata / "v1.metadata.json")
    (metadata / "version-hint.text").write_text("1")
    source, seen = opened(tmp_path, path="ns/t", snapshot_id=first, follow="true"), set[str]()
    assert numbers(read(source, seen)) == [1]
    shutil.copy(str(catalog(tmp_path).load_table("ns.t").metadata_location), metadata / "v2.metadata.json")
    (metadata / "version-hint.text").write_text("2")
    assert numbers(read(source, seen)) == [2]


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1))
    at = newest(tmp_path)
    for options, told in (
        ({"catalog_uri": "sqlite:///no.db"}, r"there is no catalog .*no\.db"),
        ({"table": "ns.u"}, r"c\.db has no table 'ns\.u' in its catalog 'default'"),
        ({"catalog_name": "x"}, r"has no table 'ns\.t' in its catalog 'x'"),
        ({"snapshot_id": "7"}, rf"has no snapshot 7: it never had, or it has expired; its newest is {at}"),
        ({"schema_id": "9"}, r"has no schema 9; it has 0"),
        ({"path": "nowhere"}, r"there is no folder|nowhere has no metadata"),
        ({"path": "x.metadata.json"}, r"there is no .*x\.metadata\.json"),
    ):
        with pytest.raises(ConnectorError, match=told):
            opened(tmp_path, **{"snapshot_id": at, **options})
    with pytest.raises(ConnectorError, match=rf"two tasks .* write 'snapshot.id' = '{at}', or declare no columns"):
        opened(tmp_path)
    (tmp_path / "bad.metadata.json").write_text("{")
    with pytest.raises(ConnectorError, match=r"bad.metadata.json cannot be read"):
        opened(tmp_path, path="bad.metadata.json", snapshot_id=at)
    text = Path(str(table.metadata_location)).read_text().replace(table.location(), "s3://bucket/t")
    (tmp_path / "far.metadata.json").write_text(text)
    with pytest.raises(ConnectorError, match=r"s3://bucket/t is not on this machine"):
        opened(tmp_path, path="far.metadata.json", snapshot_id=at)


def test_a_file_that_was_removed_is_told(tmp_path: Path) -> None:
    table = written(tmp_path, rows(1))
    source = opened(tmp_path, snapshot_id=newest(tmp_path))
    (partition,) = source.partitions()
    for path in Path(table.location()).rglob("*.parquet"):
        path.unlink()
    with pytest.raises(ConnectorError, match=r"is gone, which snapshot .* expire_snapshots has removed it"):
        source.reader(partition, None)


def test_columns_and_snapshot_are_found_when_the_query_is_planned(tmp_path: Path) -> None:
    written(tmp_path, rows(1), rows(2))
    job = load_text(planned_text("SELECT n FROM t"), tmp_path, "q")
    (scan,) = [node for node in walk(job.program.sinks[-1]) if isinstance(node, Scan)]
    assert dict(scan.options)["snapshot.id"] == newest(tmp_path)
    assert scan.columns.names == ("n", "word")


@pytest.mark.parametrize("columns", ["(*)", "(n BIGINT)"])
def test_a_lacking_package_is_told_with_the_extra_that_brings_it(
    columns: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.startswith("ouzel.connectors.iceberg.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyiceberg", None)
    monkeypatch.setitem(sys.modules, "pyiceberg.catalog.sql", None)
    with pytest.raises(
        OuzelError, match=r"needs the package 'pyiceberg.*'; install it with: pip install \"ouzel\[iceberg\]\""
    ):
        load_text(planned_text("SELECT n FROM t", ", 'snapshot.id' = '1'", columns), tmp_path, "q")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("'snapshot.id' = '1'", r"is named by 'path', or by 'catalog.uri' and 'table', and here neither is"),
        ("'path' = 't', 'catalog.uri' = 'sqlite:///c.db'", r"here both are"),
        ("'path' = 't', 'table' = 'ns.t'", r"'table' is of a table in a catalog"),
        ("'path' = 's3://bucket/t'", r"in folders of this machine"),
        ("'path' = 'v1.metadata.json', 'follow' = 'true'", r"says for ever what the table was"),
        ("'catalog.uri' = 'https://catalog', 'table' = 'ns.t'", r"only SQL ones in a file of SQLite are supported"),
        ("'catalog.uri' = 'sqlite:///c.db', 'table' = 't'", r"'table' says which .*, and is 't'"),
        ("'catalog.uri' = 'sqlite:///c.db'", r"'table' says which"),
        ("'path' = 't', 'snapshot.id' = '1', 'timestamp' = '2013-01-01 00:00:00'", r"both say which version"),
        ("'path' = 't', 'snapshot.id' = '1', 'end' = 'latest'", r"'end' is for a table that is followed"),
        ("'path' = 't', 'schema.id' = '1'", r"'schema.id' is of the snapshot that is read, and none is named"),
    ],
)
def test_what_makes_no_sense_is_refused(options: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match=told):
        load_text(
            f"CREATE TABLE t (n BIGINT) WITH ('connector' = 'iceberg', {options}); SELECT n FROM t;", tmp_path, "q"
        )


def test_a_folder_is_not_written(tmp_path: Path) -> None:
    text = "CREATE TABLE o (n BIGINT) WITH ('connector' = 'iceberg', 'path' = 'o'); INSERT INTO o SELECT 1 AS n;"
    with pytest.raises(QueryError, match=r"nobody who decides between two that commit to it at once"):
        load_text(text, tmp_path, "q")


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
    written(folder, pa.table(columns))
    found = read(opened(folder, kinds, snapshot_id=newest(folder)))
    assert found.schema == kinds
    assert found.rows() == pl.DataFrame(pa.table(columns)).rows()
    sink = open_sink("iceberg", SinkRequest("t", {**AT, "table": "ns.copy"}, kinds, "append", folder))
    sink.write(0, found)
    sink.flush()
    (copy,) = ids(catalog(folder).load_table("ns.copy"))
    assert read(opened(folder, kinds, table="ns.copy", snapshot_id=copy)).sort("n").equals(found)


@settings(max_examples=examples(20), deadline=None)
@given(st.data())
def test_each_type_partitions(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    kind, declared, values = TYPES[data.draw(st.sampled_from(["int", "big", "flag", "text", "day", "money", "local"]))]
    folder = tmp_path_factory.mktemp("parts")
    value = data.draw(st.none() | values)
    held = pa.table({"n": pa.array([1], pa.int64()), "p": pa.array([value], kind)})
    written(folder, held, held, partition_by=("p",))
    columns = {"n": pl.Int64(), "p": declared}
    first = ids(catalog(folder).load_table("ns.t"))[0]
    whole = opened(folder, columns, snapshot_id=newest(folder))
    followed = opened(folder, columns, snapshot_id=first, follow="true")
    for source in (whole, followed):
        assert read(source).rows() == [*pl.DataFrame(held).rows(), *pl.DataFrame(held).rows()]


QUERY = "SELECT word, COUNT(*) AS many, SUM(n) AS total FROM t WHERE n <> 5 GROUP BY word"


@pytest.mark.parametrize("more", ["", ", 'snapshot.id' = '0', 'follow' = 'true', 'end' = 'latest'"])
def test_a_topology_reads_it(more: str, tmp_path: Path) -> None:
    written(tmp_path, rows(1, 2, 3), rows(4, 5, 6), partition_by=("word",))
    job = load_text(planned_text(QUERY, more, "(*)"), tmp_path, "q")
    topology = folded(job, simulate(job.topology, job.packing, tmp_path, seed=1).frames.values())
    assert sorted(topology.rows()) == [("a", 3, 12), ("b", 2, 4)]
