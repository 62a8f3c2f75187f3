"""A store in a folder holds what the store in memory holds, and whatever breaks, the version before counts."""

from __future__ import annotations

import errno
import fcntl
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import ouzel
from ouzel.errors import ConnectorError, OuzelError, QueryError
from ouzel.stores import BatchID, BatchRange, ClientStore, FixedBatcher, FolderStore, MemoryBatches, stored_stream
from ouzel.stores import folder as folders
from ouzel.stores.columns import StoreColumns, stored_columns
from tests.effort import seeds

TABLE = """
CREATE TABLE flights (ts TIMESTAMP(3), origin VARCHAR, gate INT, delay DOUBLE, cost DECIMAL(10, 2), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'flights.parquet', 'format' = 'parquet');
"""
WINDOWS = "FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(ts), INTERVAL '6' HOUR))"
GROUPS = "GROUP BY window_start, window_end"
QUERY = f"""
SELECT window_start AS at, origin, COUNT(*) AS flights, SUM(delay) AS delay, MAX(gate) AS gate, SUM(cost) AS cost, BOOL_OR(gate > 3) AS far
{WINDOWS} {GROUPS}, origin
"""
DAYS = FixedBatcher(timedelta(days=1))
FIRST = DAYS.batch_of(datetime(2024, 5, 1))


def columns_of(query: str) -> StoreColumns:
    sink = ouzel.query(TABLE + query).program.result
    assert sink is not None
    return stored_columns(sink)


COLUMNS = columns_of(QUERY)


def drawn(dice: Random, batches: BatchRange) -> pl.DataFrame:
    """Sums of six hours of some airports, some of which have no values."""
    rows = [
        (DAYS.earliest_time_of(batch) + timedelta(hours=6 * dice.randrange(4)), dice.choice(["EWR", "JFK", None]), dice.randint(1, 9),
         dice.choice([None, 0.5, -3.0]), dice.choice([None, 1, 5]), None, dice.choice([None, True, False]))
        for batch in batches if dice.random() < 0.8
        for _ in range(dice.randint(1, 5))
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=COLUMNS.sums.polars(), orient="row")


def totals(frames: list[pl.DataFrame]) -> dict[Any, Any]:
    found = folders.added_up(pl.concat(frames), COLUMNS)
    return {key: COLUMNS.monoid.present(total) for key, total in found.items()}


def read(store: FolderStore) -> dict[Any, Any]:
    found = store.version().get_many(["EWR", "JFK", None, "LGA"])
    return {key: store.monoid.present(total) for key, total in found.items()}


@pytest.mark.parametrize("seed", seeds()[:5])
def test_it_holds_what_memory_holds(seed: int, tmp_path: Path) -> None:
    dice, store = Random(seed), FolderStore(tmp_path / "totals")
    memory: MemoryBatches[Any, Any] = MemoryBatches(DAYS, COLUMNS.monoid, folders.KEPT)
    end = FIRST
    for _ in range(4):
        begin = end - dice.randint(0, min(2, end - FIRST))
        batches = BatchRange(begin, max(end, begin + dice.randint(1, 3)))
        frame = drawn(dice, batches)
        version = store.put(DAYS, COLUMNS, batches, frame)
        days = [(batch, DAYS.interval_of(batch)) for batch in batches]
        parts = {batch: frame.filter(pl.col("at").is_between(*days, closed="left")) for batch, days in days}
        memory.put({batch: folders.added_up(part, COLUMNS) for batch, part in parts.items()})
        end = max(end, batches.end)
        assert version.batches == memory.version().batches == BatchRange(FIRST, end)
        assert read(store) == {key: COLUMNS.monoid.present(one) for key, one in memory.version().totals.items()}
        assert all(store.sums(batch) == memory.sums(batch) for batch in batches)
    assert store.sums(end) is None
    assert FolderStore(store.path).page == store.page
    on_disk = {str(path.relative_to(store.path)) for path in store.path.glob("*/*")}
    assert on_disk == store.page.files, "what no version needs is gone"


@pytest.mark.parametrize("broken", range(8))
def test_whatever_breaks_the_version_before_counts(
    broken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash at each step that leaves something on disk; then the same again."""
    dice, store = Random(7), FolderStore(tmp_path / "totals")
    first, second = BatchRange(FIRST, FIRST + 2), BatchRange(FIRST.next, FIRST + 3)
    frames = [drawn(dice, first), drawn(dice, second)]
    store.put(DAYS, COLUMNS, first, frames[0])
    before, steps = read(store), iter(range(100))

    def crash(step: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*arguments: Any) -> Any:
            if next(steps) == broken:
                raise KeyboardInterrupt
            return step(*arguments)

        return taken

    with monkeypatch.context() as patched:
        for name in ("name_synced", "sync"):
            patched.setattr(folders, name, crash(getattr(folders, name)))
        with pytest.raises(KeyboardInterrupt):
            store.put(DAYS, COLUMNS, second, frames[1])
    assert read(store) == before
    for _ in range(2):
        store.put(DAYS, COLUMNS, second, frames[1])
        kept = frames[0].filter(pl.col("at") < DAYS.earliest_time_of(second.start))
        assert read(store) == totals([kept, frames[1]])
    assert {str(path.relative_to(store.path)) for path in store.path.rglob("*.parquet")} == store.page.files
    assert not list(store.path.glob(".*.new"))


def test_a_version_stays_whatever_becomes_of_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day is computed again between the moment that a reader has the page, or a version, and that in which it reads the file."""
    dice, store, days = Random(5), FolderStore(tmp_path / "totals"), BatchRange(FIRST, FIRST + 2)
    frames = [drawn(dice, days), drawn(dice, days)]
    store.put(DAYS, COLUMNS, days, frames[0])
    version, before = store.version(), read(store)
    store.put(DAYS, COLUMNS, days, frames[1])
    found = version.get_many(["EWR", "JFK", None, "LGA"])
    assert {key: store.monoid.present(total) for key, total in found.items()} == before
    check, again = FolderStore._check_file, iter(list[Callable[[], Any]]())

    def meanwhile(self: FolderStore, file: Any) -> Path:
        for change in again:
            change()
        return check(self, file)

    for look in (read, lambda store: [store.sums(batch) for batch in days]):
        store.put(DAYS, COLUMNS, days, frames[0])
        wanted = look(store)
        store.put(DAYS, COLUMNS, days, frames[1])
        again = iter([lambda: store.put(DAYS, COLUMNS, days, frames[0])])
        with monkeypatch.context() as patched:
            patched.setattr(FolderStore, "_check_file", meanwhile)
            assert look(store) == wanted


def test_a_full_disk_is_told_and_the_version_before_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, days = FolderStore(tmp_path / "totals"), BatchRange(FIRST, FIRST + 2)
    frame = drawn(Random(5), days)
    store.put(DAYS, COLUMNS, days, frame)
    before = read(store)

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for step in ("sync", "name_synced"):
        with monkeypatch.context() as patched:
            patched.setattr(folders, step, full)
            with pytest.raises(ConnectorError, match=r"the store .*totals cannot be written: No space left on device"):
                store.put(DAYS, COLUMNS, days, frame)
        assert read(store) == before


def test_a_stream_beside_it_gives_both_answers_and_the_wrong_batch(tmp_path: Path) -> None:
    dice, store, days = Random(3), FolderStore(tmp_path / "totals"), BatchRange(FIRST, FIRST + 3)
    whole = drawn(dice, days)
    while whole["at"].dt.date().n_unique() < 3:
        whole = drawn(dice, days)
    (tmp_path / "sums").mkdir()
    whole.write_parquet(tmp_path / "sums/part-1.parquet")
    half = whole.filter(pl.col("at") >= DAYS.earliest_time_of(FIRST.next))
    store.put(DAYS, COLUMNS, days[:2], half)
    client = ClientStore(store, stored_stream(store, tmp_path / "sums"), store.monoid)
    assert {one.batch for one in client.disagreements()} == {FIRST}
    store.put(DAYS, COLUMNS, days[:1], whole)
    client = ClientStore(store, stored_stream(store, tmp_path / "sums"), store.monoid)
    assert not client.disagreements()
    found = client.get_many(["EWR", "JFK", None])
    assert dict(found.values) == totals([whole])
    assert (found.boundary, found.holes) == (datetime(2024, 5, 3), ())


def test_a_sum_that_does_not_fit_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    columns, store = (
        columns_of(f"SELECT window_start, SUM(gate) AS g {WINDOWS} {GROUPS}"),
        FolderStore(tmp_path),
    )
    rows = pl.DataFrame(
        [(datetime(2024, 5, 1), 2**62), (datetime(2024, 5, 1, 6), 2**62)], schema=columns.sums.polars(), orient="row"
    )
    with pytest.raises(OuzelError, match="leaves BIGINT"):
        store.put(DAYS, columns, BatchRange(FIRST, FIRST.next), rows)
    assert not store.exists
    store.put(DAYS, columns, BatchRange(FIRST, FIRST.next), rows[:1])
    assert store.version().get_many([()]) == {(): store.monoid.prepare((2**62,))}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT origin, COUNT(*) AS n FROM flights GROUP BY origin",
         "a store keeps sums by windows of time, and the query's last step is none"),
        (f"SELECT window_start, AVG(delay) AS d {WINDOWS} {GROUPS}",
         r"column 'd' is AVG\(…\), and that of two parts does not say that of both; keep SUM and COUNT, and divide"),
        (f"SELECT window_start, COUNT(DISTINCT gate) AS d {WINDOWS} {GROUPS}",
         r"COUNT\(DISTINCT …\).*keep one of COUNT"),
        (f"SELECT window_start, SUM(delay) / COUNT(*) AS d {WINDOWS} {GROUPS}", "column 'd' is computed of sums as"),
        (f"SELECT origin, COUNT(*) AS n {WINDOWS} {GROUPS}, origin", "needs to know when each window began; select"),
        (f"SELECT window_start, COUNT(*) AS n {WINDOWS} {GROUPS}, origin", "groups by origin and does not select it"),
        (QUERY.replace("TUMBLE(", "HOP(").replace("'6' HOUR", "'6' HOUR, INTERVAL '12' HOUR"), "windows of HOP overlap"),
        (QUERY.replace("'6' HOUR", "'1' DAY, 'Europe/Berlin'"), "days of 'Europe/Berlin' are longer and shorter ones; leave"),
        (QUERY + "HAVING COUNT(*) > 2", "the query's last step is none"),
    ],
)  # fmt: skip
def test_a_query_whose_rows_do_not_add_up_is_refused(query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        columns_of(query)


def test_what_a_store_cannot_take_is_refused(tmp_path: Path) -> None:
    store, one, frame = (
        FolderStore(tmp_path / "s"),
        BatchRange(FIRST, FIRST.next),
        drawn(Random(1), BatchRange(FIRST, FIRST.next)),
    )
    with pytest.raises(
        QueryError, match=r"there is no store of totals in .*; compute its first batch: ouzel batch QUERY.sql --advance"
    ):
        store.version()
    hours = FixedBatcher(timedelta(hours=3))
    with pytest.raises(
        QueryError,
        match=r"the window of 6:00:00 from .* reaches into the batch that begins at .*; take windows that fit",
    ):
        store.put(hours, COLUMNS, hours.whole_in(datetime(2024, 5, 1), datetime(2024, 5, 2)), frame)
    for place in ("postgresql://host/totals", Path("redis://host")):
        with pytest.raises(
            QueryError, match=r"a batch store is a folder of this machine .*; give the path of a folder"
        ):
            FolderStore(place)
    store.put(DAYS, COLUMNS, one, frame)
    with pytest.raises(QueryError, match="cuts time by '1 day', not by '12 hours'; take another folder"):
        store.put(FixedBatcher(timedelta(hours=12)), COLUMNS, one, frame)
    with pytest.raises(QueryError, match="holds what another query computes; take another folder"):
        store.put(DAYS, columns_of(QUERY.replace("COUNT(*)", "COUNT(gate)")), one, frame)
    with pytest.raises(QueryError, match="so it cannot go on with that of"):
        store.put(DAYS, COLUMNS, BatchRange(BatchID(FIRST.number + 5), BatchID(FIRST.number + 6)), frame)
    with (store.path / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ConnectorError, match="another process is writing to the store"):
            store.put(DAYS, COLUMNS, one, frame)
    file = store.path / store.page.versions[-1].file.name
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(ConnectorError, match=r"was written with \d+ bytes and has \d+ bytes; compute its batch again"):
        store.version()
    store.put(DAYS, COLUMNS, one, frame)
    assert read(store) == totals([frame])
    (store.path / folders.PAGE).write_text("{")
    with pytest.raises(ConnectorError, match="is no page of a store of totals"):
        store.version()
