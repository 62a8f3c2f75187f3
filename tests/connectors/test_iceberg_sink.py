"""Writing tables of Iceberg: commits, epochs, and writers that others have taken over from."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from sqlalchemy.exc import OperationalError

import ouzel
from ouzel.connectors import open_publisher, open_sink
from ouzel.errors import ConnectorError
from tests.connectors.iceberg_tables import (
    catalog,
    content,
    ids,
    made,
    newest,
    opened,
    sink_request,
    written,
)
from tests.connectors.versioned_tables import COLUMNS, frame, read, rows
from tests.law.engines import run_to_end
from tests.sql.shown import ROOT
from tests.sql.shown import examples as shown


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
from tests.connectors.iceberg_tables import sink_request
from tests.connectors.versioned_tables import frame
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
