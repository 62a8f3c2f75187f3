"""Tables of Iceberg, made by Iceberg's own library: snapshots, those that follow, and what is refused."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.io.pyarrow import _dataframe_to_data_files
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestContent, ManifestWriterV2
from pyiceberg.table import Table
from pyiceberg.types import LongType, StringType
from sqlalchemy.exc import OperationalError

import ouzel
from ouzel.compiler.plan import Scan, walk
from ouzel.connectors import open_publisher, open_sink, open_source
from ouzel.connectors.reading import ReadBatch, ReadState, Source, SourceRequest
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError, OuzelError, QueryError
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import load_text
from tests.effort import examples
from tests.law.engines import folded, run_to_end
from tests.sql.shown import ROOT
from tests.sql.shown import examples as shown

COLUMNS: dict[str, pl.DataType] = {"n": pl.Int64(), "word": pl.String()}
AT = {"catalog.uri": "sqlite:///c.db", "table": "ns.t"}


def rows(*numbers: int, words: str = "ab") -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64()), "word": [words[number % len(words)] for number in numbers]})


def catalog(folder: Path) -> SqlCatalog:
    return SqlCatalog("default", uri=f"sqlite:///{folder}/c.db", warehouse=str(folder))


def made(folder: Path, schema: pa.Schema, *partition_by: str, name: str = "ns.t", **properties: str) -> Table:
    there = catalog(folder)
    there.create_namespace_if_not_exists("ns")
    with there.create_table_transaction(name, schema, properties=properties) as table, table.update_spec() as spec:
        for column in partition_by:
            spec.add_identity(column)
    return there.load_table(name)


def written(folder: Path, *commits: pa.Table, partition_by: tuple[str, ...] = ()) -> Table:
    """The table, with a snapshot for each."""
    there = catalog(folder)
    table = there.load_table("ns.t") if there.table_exists("ns.t") else made(folder, commits[0].schema, *partition_by)
    for commit in commits:
        table.append(commit)
    return table


def newest(folder: Path) -> str:
    current = catalog(folder).load_table("ns.t").current_snapshot()
    return str(current.snapshot_id) if current else "0"


def ids(table: Table) -> list[str]:
    """The ids of its snapshots, the oldest first."""
    return [str(entry.snapshot_id) for entry in table.history()]


def request(folder: Path, columns: Mapping[str, pl.DataType] | None = None, **options: str) -> SourceRequest:
    named = {key.replace("_", "."): value for key, value in options.items()}
    at = {} if "path" in named else AT
    return SourceRequest("t", {**at, **named}, columns or COLUMNS, folder)


def opened(folder: Path, columns: Mapping[str, pl.DataType] | None = None, **options: str) -> Source:
    return open_source("iceberg", request(folder, columns, **options))


def read(source: Source, seen: set[str] | None = None) -> pl.DataFrame:
    """All that the source has now, but what lies in the partitions `seen`, which are added to."""
    frames, seen = [], set() if seen is None else seen
    for partition in source.partitions():
        if partition.id in seen:
            continue
        seen.add(partition.id)
        reader = source.reader(partition, None)
        while isinstance(batch := reader.read(2), ReadBatch):
            frames.append(batch.frame)
        assert batch is ReadState.END
    return pl.concat(frames) if frames else pl.DataFrame(schema=COLUMNS)


def numbers(frame: pl.DataFrame) -> list[int]:
    return sorted(frame["n"].to_list())


def content(folder: Path) -> list[int]:
    return numbers(read(opened(folder, snapshot_id=newest(folder))))


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


def planned_text(query: str, more: str = "", columns: str = "") -> str:
    at = ", ".join(f"'{key}' = '{value}'" for key, value in AT.items())
    return f"CREATE TABLE t {columns} WITH ('connector' = 'iceberg', {at}{more}); {query};"


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


TYPES: dict[str, tuple[pa.DataType, pl.DataType, st.SearchStrategy[Any]]] = {
    "int": (pa.int32(), pl.Int32(), st.integers(-(2**31), 2**31 - 1)),
    "big": (pa.int64(), pl.Int64(), st.integers(-(2**63), 2**63 - 1)),
    "single": (pa.float32(), pl.Float32(), st.floats(width=32, allow_nan=False)),
    "double": (pa.float64(), pl.Float64(), st.floats(allow_nan=False)),
    "flag": (pa.bool_(), pl.Boolean(), st.booleans()),
    "text": (pa.string(), pl.String(), st.text(st.characters(exclude_categories=["Cs"]), max_size=9)),
    "bytes": (pa.binary(), pl.Binary(), st.binary(max_size=9)),
    "day": (pa.date32(), pl.Date(), st.dates(date(1, 1, 1), date(9999, 12, 31))),
    "local": (pa.timestamp("us"), pl.Datetime("us"), st.datetimes(datetime(1600, 1, 1), datetime(9999, 12, 31))),
    "moment": (
        pa.timestamp("us", "UTC"),
        pl.Datetime("us", "UTC"),
        st.datetimes(datetime(1600, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)),
    ),
    "money": (
        pa.decimal128(9, 2),
        pl.Decimal(9, 2),
        st.integers(-(10**9) + 1, 10**9 - 1).map(lambda n: Decimal(n).scaleb(-2)),
    ),
    "many": (pa.list_(pa.int64()), pl.List(pl.Int64()), st.lists(st.integers(-9, 9), max_size=3)),
    "row": (
        pa.struct([("a", pa.int64())]),
        pl.Struct({"a": pl.Int64()}),
        st.fixed_dictionaries({"a": st.none() | st.integers(-9, 9)}),
    ),
}
"""As Arrow has a type, as docs/connectors.md says that a column of it is read, and values."""


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


def sink_request(folder: Path, **options: str) -> SinkRequest:
    return SinkRequest("t", {**AT, **options}, COLUMNS, "append", folder, run="0a", component="out")


def test_a_sink_appends_each_flush_as_a_snapshot(tmp_path: Path) -> None:
    sinks = [
        open_sink("iceberg", replace(sink_request(tmp_path, **{"partition.by": "word"}), task=task)) for task in (0, 1)
    ]
    for number, sink in enumerate(sinks):
        sink.write(number, pl.DataFrame({"n": [number], "word": ["a"]}))
        sink.write(number, pl.DataFrame({"n": [number + 2], "word": [None]}, schema=COLUMNS))
        assert len(ids(catalog(tmp_path).load_table("ns.t"))) == number
        sink.flush()
        sink.flush()
    table = catalog(tmp_path).load_table("ns.t")
    assert [field.name for field in table.spec().fields] == ["word"]
    assert Path(table.location()) == tmp_path / "ns" / "t"
    assert content(tmp_path) == [0, 1, 2, 3]


def test_a_warehouse_says_where_a_table_is_made(tmp_path: Path) -> None:
    open_sink("iceberg", sink_request(tmp_path, **{"catalog.warehouse": "w h"}))
    assert Path(catalog(tmp_path).load_table("ns.t").location()) == tmp_path / "w h" / "ns" / "t"


def test_a_table_with_other_columns_is_not_written(tmp_path: Path) -> None:
    written(tmp_path, pa.table({"n": pa.array([1], pa.int32()), "word": ["a"]}))
    with pytest.raises(ConnectorError, match=r"writes 'n' as BIGINT, and table 'ns.t' of .* has INT; CAST it"):
        open_sink("iceberg", sink_request(tmp_path))
    made(tmp_path, pa.schema([pa.field("n", pa.int64(), False), pa.field("word", pa.string())]), name="ns.u")
    with pytest.raises(ConnectorError, match=r"column 'n' of .* is required, and a query's columns may be NULL"):
        open_sink("iceberg", sink_request(tmp_path, table="ns.u"))
    with pytest.raises(ConnectorError, match=r"has no column 'x', by which 'partition.by' partitions it"):
        open_sink("iceberg", sink_request(tmp_path, **{"table": "ns.v", "partition.by": "x"}))


def test_small_integers_are_stored_as_iceberg_has_them(tmp_path: Path) -> None:
    columns = {"s": pl.Int16(), "many": pl.List(pl.Int8())}
    sink = open_sink("iceberg", replace(sink_request(tmp_path), columns=columns))
    sink.write(0, pl.DataFrame({"s": [-5], "many": [[1, None]]}, schema=columns))
    sink.flush()
    wider = {"s": pl.Int32(), "many": pl.List(pl.Int32())}
    assert read(opened(tmp_path, wider, snapshot_id=newest(tmp_path))).rows() == [(-5, [1, None])]


def test_tasks_that_make_a_table_at_once_make_one(tmp_path: Path) -> None:
    def write(task: int) -> None:
        with_task = replace(sink_request(tmp_path), task=task)
        sink = open_sink("iceberg", with_task)
        sink.write(0, frame(task))
        sink.flush()

    with ThreadPoolExecutor(8) as tasks:
        list(tasks.map(write, range(8)))
    assert content(tmp_path) == list(range(8))
    assert len(ids(catalog(tmp_path).load_table("ns.t"))) == 8


QUERY = "SELECT word, COUNT(*) AS many, SUM(n) AS total FROM t WHERE n <> 5 GROUP BY word"


@pytest.mark.parametrize("more", ["", ", 'snapshot.id' = '0', 'follow' = 'true', 'end' = 'latest'"])
def test_a_topology_reads_it(more: str, tmp_path: Path) -> None:
    written(tmp_path, rows(1, 2, 3), rows(4, 5, 6), partition_by=("word",))
    job = load_text(planned_text(QUERY, more, "(*)"), tmp_path, "q")
    topology = folded(job, simulate(job.topology, job.packing, tmp_path, seed=1).frames.values())
    assert sorted(topology.rows()) == [("a", 3, 12), ("b", 2, 4)]


def frame(*numbers: int) -> pl.DataFrame:
    return pl.DataFrame({"n": list(numbers), "word": ["w"] * len(numbers)}, schema=COLUMNS)


def test_an_epoch_is_a_snapshot_and_is_visible_once(tmp_path: Path) -> None:
    first = open_publisher("iceberg", sink_request(tmp_path))
    assert first.last_published() == 0
    first.publish(1, [frame(1), frame(2)])
    first.publish(1, [frame(1), frame(2)])
    first.publish(3, [])
    other = open_publisher("iceberg", replace(sink_request(tmp_path), task=1))
    assert other.last_published() == 0, "each task has epochs of its own"
    other.publish(1, [frame(10)])
    heir = open_publisher("iceberg", sink_request(tmp_path))
    assert heir.last_published() == 3
    heir.publish(4, [frame(4)])
    assert content(tmp_path) == [1, 2, 4, 10]
    last = catalog(tmp_path).load_table("ns.t").current_snapshot()
    assert last is not None
    assert last.summary is not None
    assert (last.summary["ouzel.publisher"], last.summary["ouzel.epoch"]) == ("0a-out-0", "4")


def test_epochs_are_known_when_their_snapshots_have_expired(tmp_path: Path) -> None:
    first = open_publisher("iceberg", sink_request(tmp_path))
    first.last_published()
    first.publish(1, [frame(1)])
    written(tmp_path, rows(2))
    table = catalog(tmp_path).load_table("ns.t")
    table.maintenance.expire_snapshots().by_ids([int(number) for number in ids(table)[:-1]]).commit()
    assert open_publisher("iceberg", sink_request(tmp_path)).last_published() == 1
    assert content(tmp_path) == [1, 2]


def test_a_publisher_that_was_taken_over_from_commits_no_more(tmp_path: Path) -> None:
    first = open_publisher("iceberg", sink_request(tmp_path))
    first.last_published()
    heir = open_publisher("iceberg", sink_request(tmp_path))

    def taken_over_meanwhile() -> Iterator[pl.DataFrame]:
        """The first has looked, and sleeps; then it goes on to commit."""
        yield frame(1)
        heir.last_published()
        yield frame(2)

    for frames in (taken_over_meanwhile(), iter([frame(1)])):
        with pytest.raises(ConnectorError, match=r"another task has taken over from '0a-out-0'"):
            first.publish(1, frames)
    heir.publish(1, [frame(7)])
    assert content(tmp_path) == [7]


def test_a_takeover_in_the_moment_of_a_commit_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its table was read, its files are written, and the catalog is asked: there the others come first."""
    first = open_publisher("iceberg", sink_request(tmp_path))
    first.last_published()
    heir = open_publisher("iceberg", sink_request(tmp_path))
    honest = SqlCatalog.commit_table

    def late(self: SqlCatalog, *how: Any) -> Any:
        monkeypatch.setattr(SqlCatalog, "commit_table", honest)
        heir.last_published()
        return honest(self, *how)

    monkeypatch.setattr(SqlCatalog, "commit_table", late)
    with pytest.raises(ConnectorError, match=r"another task has taken over from '0a-out-0'"):
        first.publish(1, [frame(1)])
    assert content(tmp_path) == []


def test_an_epoch_is_published_while_others_append(tmp_path: Path) -> None:
    first = open_publisher("iceberg", sink_request(tmp_path))
    first.last_published()

    def others_append() -> Iterator[pl.DataFrame]:
        yield frame(1)
        written(tmp_path, rows(50), rows(51))

    first.publish(1, others_append())
    assert content(tmp_path) == [1, 50, 51]


@pytest.mark.parametrize("error", [CommitFailedException("lost"), OperationalError("COMMIT", {}, Exception("locked"))])
@pytest.mark.parametrize("landed", [False, True])
def test_a_commit_without_an_answer_is_made_once(
    landed: bool, error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if landed and isinstance(error, CommitFailedException):
        pytest.skip("the catalog says it only of what did not become visible")
    first = open_publisher("iceberg", sink_request(tmp_path))
    first.last_published()
    honest = SqlCatalog.commit_table

    def answerless(self: SqlCatalog, *how: Any) -> Any:
        monkeypatch.setattr(SqlCatalog, "commit_table", honest)
        if landed:
            honest(self, *how)
        raise error

    monkeypatch.setattr(SqlCatalog, "commit_table", answerless)
    first.publish(1, [frame(1)])
    first.publish(2, [frame(2)])
    assert content(tmp_path) == [1, 2]


def test_tables_made_anew_or_partitioned_otherwise_meanwhile_are_not_committed_to(tmp_path: Path) -> None:
    first = open_publisher("iceberg", sink_request(tmp_path))
    first.last_published()

    def partitioned_meanwhile() -> Iterator[pl.DataFrame]:
        yield frame(1)
        with catalog(tmp_path).load_table("ns.t").update_spec() as spec:
            spec.add_identity("word")
        written(tmp_path, rows(5))

    with pytest.raises(ConnectorError, match=r"was partitioned otherwise, or made anew, while rows were written to it"):
        first.publish(1, partitioned_meanwhile())
    assert content(tmp_path) == [5]
    first.publish(1, [frame(1)])
    assert content(tmp_path) == [1, 5]


def test_the_page_shows_what_is_written_and_read(tmp_path: Path, update_golden: bool) -> None:
    (tmp_path / "sql_examples").symlink_to(ROOT / "sql_examples")
    (example,) = shown("iceberg.md")
    (written_by, _) = re.findall(r"^```sql\n(.*?)^```", example.page.read_text(), re.M | re.S)
    run_to_end(ouzel.query(written_by, tmp_path), "memory")
    _, answer = example.run(tmp_path)
    if update_golden:
        example.write(answer)
    else:
        assert answer == example.answer


EPOCHS = 6
CHILD = """
import sys
from pathlib import Path
from tests.connectors.test_iceberg import frame, sink_request
from ouzel.connectors import open_publisher
publisher = open_publisher("iceberg", sink_request(Path(sys.argv[1])))
for epoch in range(publisher.last_published() + 1, int(sys.argv[2]) + 1):
    print(epoch, flush=True)
    publisher.publish(epoch, [frame(epoch)])
"""


@pytest.mark.server
@pytest.mark.slow
def test_a_publisher_that_is_killed_again_and_again_publishes_each_epoch_once(tmp_path: Path) -> None:
    for _ in range(EPOCHS):
        with subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path), str(EPOCHS)], stdout=subprocess.PIPE
        ) as child:
            assert child.stdout
            begun = child.stdout.readline(), child.stdout.readline()
            child.kill()  # in the middle of its second epoch
        if not all(begun):
            break
    assert content(tmp_path) == list(range(1, EPOCHS + 1))
