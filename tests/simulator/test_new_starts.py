"""A topology over a source that goes on where it was committed is stopped, or dies as a whole, and is started anew: no count is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.connectors import CONNECTORS, memory
from ouzel.connectors.base import always
from ouzel.connectors.reading import Committed, SourceRequest
from ouzel.runtime.simulator.faults import kill_stateless_task, kill_stream_manager, lose_link, stall_task
from ouzel.runtime.simulator.world import World
from ouzel.session import Job, load_text
from tests.effort import seeds
from tests.simulator.test_pauses import rest, walk

ROWS = 6_000
BEGIN = datetime(2020, 1, 1)
WINDOW_S = 5
TICKS = """
CREATE TABLE ticks (n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'memory', 'name' = 'kept', 'partitions' = '3');
"""
WINDOWS = (
    TICKS
    + f"""
SELECT window_start, COUNT(*) AS many FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '{WINDOW_S}' SECOND))
GROUP BY window_start, window_end;"""
)
HOPS = WINDOWS.replace("TUMBLE(", "HOP(").replace("INTERVAL '5'", "INTERVAL '1' SECOND, INTERVAL '5'")
TABLES = ("ticks", "others")
BOTH = (
    TICKS
    + TICKS.replace("ticks", "others").replace("'kept', 'partitions' = '3'", "'others', 'partitions' = '2'")
    + "CREATE VIEW both AS SELECT ts FROM ticks UNION ALL SELECT ts FROM others;"
    + WINDOWS.removeprefix(TICKS).replace("ticks", "both")
)
COUNTS = TICKS + "SELECT n % 7 AS k, COUNT(*) AS many FROM ticks GROUP BY n % 7 EMIT CHANGES;"
ROWWISE = TICKS + "SELECT n FROM ticks WHERE n % 3 = 0;"
SETTINGS = (
    ("parallelism", "2"),
    ("containers", "2"),
    ("batch.rows", "100"),
    ("max.pending.rows", "300"),
    ("ack.timeout.ms", "2000"),
)
FAULTS = (lose_link, kill_stream_manager, kill_stateless_task, stall_task)


class KeepingSource(memory.MemorySource):
    """Keeps what is committed over the runs of a test, as a consumer group does."""

    kept: ClassVar[dict[tuple[str, str], Committed]] = {}

    def __init__(self, request: SourceRequest) -> None:
        super().__init__(request)
        self.table = request.table

    def commit(self, places: Mapping[str, Committed]) -> str:
        KeepingSource.kept |= {(self.table, partition): place for partition, place in places.items()}
        return ""

    def committed(self) -> Mapping[str, Committed]:
        return {partition: place for (table, partition), place in KeepingSource.kept.items() if table == self.table}


@pytest.fixture(autouse=True)
def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [BEGIN + timedelta(milliseconds=20 * n - 37 * (n % 11)) for n in range(ROWS)]
    rows = pl.DataFrame({"n": range(ROWS), "ts": times}, schema={"n": pl.Int64, "ts": pl.Datetime("us")})
    monkeypatch.setattr(memory, "MemorySource", KeepingSource)
    assert memory.CONNECTOR.reads
    resuming = replace(memory.CONNECTOR.reads, resumes=always)
    monkeypatch.setitem(CONNECTORS, memory.CONNECTOR.name, replace(memory.CONNECTOR, reads=resuming))
    monkeypatch.setitem(memory.TABLES, "kept", memory.MemoryTable(rows))
    monkeypatch.setitem(memory.TABLES, "others", memory.MemoryTable(rows.gather_every(3)))


def started(job: Job, seed: int) -> World:
    world = World(job.topology, job.packing, Path(), seed)
    world.delay_ms, world.commit_ms = world.random.choice([0.0, 5.0, 50.0]), world.random.choice([0.0, 2_000.0])
    return world


def job_of(text: str, seed: int) -> Job:
    KeepingSource.kept = {}
    return load_text(text, Path(), "ticks", (*SETTINGS, ("seed", str(seed + 1))))


def slowed(world: World, steps: int) -> None:
    """Let the run go on; time passes, so that offsets are committed in between, and things go wrong."""
    for number in range(steps):
        if number % 97 == 50:
            world.random.choice(FAULTS)(world)
        walk(world, 1)
        world.now_ms += 40 * world.random.random()


def end(world: World) -> None:
    for _ in range(50_000):
        if world.done:
            break
        walk(world, 1)
    assert not world.failed, world.failed
    assert world.done


def stop(world: World) -> None:
    """A clean stop: what is on its way is handled, and all have heard so."""
    rest(world)
    close(world)


def close(world: World) -> None:
    for host in world.hosts.values():
        host.machine.close()


def answers(world: World) -> list[tuple[datetime, int]]:
    return [row for frame in world.frames.values() for row in frame.select("window_start", "many").rows()]


def exact(slide_s: int = WINDOW_S, name: str = "kept") -> dict[datetime, int]:
    rows = memory.TABLES[name].rows
    assert rows is not None
    starts = rows["ts"].dt.truncate(f"{slide_s}s")
    every = (start - timedelta(seconds=back) for start in starts for back in range(0, WINDOW_S, slide_s))
    return dict(Counter(every))


def late(world: World) -> int:
    return sum(host.machine.metrics().rows_late for host in world.hosts.values())


def test_after_a_clean_stop_each_window_is_answered_once_and_wholly() -> None:
    again = 0
    for seed in seeds():
        job = job_of(WINDOWS, seed)
        first = started(job, seed)
        slowed(first, first.random.randint(40, 400))
        if first.done:
            continue
        stop(first)
        second = started(job, seed + 1_000)
        slowed(second, 100)
        end(second)
        assert sorted(answers(first) + answers(second)) == sorted(exact().items()), f"seed={seed}: {first.happened}"
        assert late(second) == 0, f"seed={seed}"
        again += sum(event.count for event in second.events if event.kind == "answered")
        close(second)
    assert again, "no row of an answered window was read again: the test tests nothing"


def test_each_of_two_tables_goes_on_where_it_was_whatever_the_other_has_read() -> None:
    ahead = 0
    for seed in (*seeds(), 21):  # under 21 one table ends and the other goes on
        job = job_of(BOTH, seed)
        first = started(job, seed)
        slowed(first, first.random.randint(40, 500))
        if first.done:
            continue
        stop(first)
        read = {
            table: sum(place.offset for (of, _), place in KeepingSource.kept.items() if of == table) for table in TABLES
        }
        ahead += read["ticks"] != 3 * read["others"]
        second = started(job, seed + 1_000)
        slowed(second, 100)
        end(second)
        right = Counter(exact())
        right.update(exact(name="others"))
        assert sorted(answers(first) + answers(second)) == sorted(right.items()), f"seed={seed}: {first.happened}"
        assert late(second) == 0, f"seed={seed}"
        close(second)
    assert ahead, "neither table was ahead of the other: the test tests nothing"


@pytest.mark.parametrize(
    ("text", "slide_s", "tables"),
    [(WINDOWS, WINDOW_S, ["kept"]), (HOPS, 1, ["kept"]), (BOTH, WINDOW_S, ["kept", "others"])],
    ids=["tumble", "hop", "two tables"],
)
def test_after_a_crash_of_everything_no_window_is_answered_with_less_than_all(
    text: str, slide_s: int, tables: list[str]
) -> None:
    crashes, right = 0, Counter[datetime]()
    for table in tables:
        right.update(exact(slide_s, table))
    for seed in seeds():
        job = job_of(text, seed)
        worlds = [started(job, seed)]
        for steps in (300, 150, 150):
            slowed(worlds[-1], worlds[-1].random.randint(40, steps))
            if any(host.finished for host in worlds[-1].hosts.values()):
                break  # the input has ended, so that its last windows are answered as they stand
            crashes += 1
            worlds.append(started(job, seed + 1_000 * len(worlds)))
        end(worlds[-1])
        assert {row for world in worlds for row in answers(world)} == set(right.items()), f"seed={seed}"
    assert crashes > len(seeds()) // 2


def test_a_count_that_never_ends_begins_again() -> None:
    job = job_of(COUNTS, 0)
    first = started(job, 0)
    slowed(first, 300)
    stop(first)
    assert KeepingSource.kept == {}
    second = started(job, 1)
    end(second)
    frame = (
        pl.concat(second.frames.values()).group_by("k", "many").agg(pl.col(WEIGHT).sum()).filter(pl.col(WEIGHT) != 0)
    )
    assert frame["many"].sum() == ROWS
    assert [event.kind for event in second.events if "does not survive a stop" in event.text] == ["resumed"] * 2


def test_without_state_reading_goes_on_where_it_was() -> None:
    job = job_of(ROWWISE, 0)
    first = started(job, 0)
    walk(first, 200)
    stop(first)
    second = started(job, 1)
    end(second)
    found = [n for world in (first, second) for frame in world.frames.values() for n in frame["n"]]
    assert sorted(found) == list(range(0, ROWS, 3))
    assert not [event for event in (*first.events, *second.events) if event.kind in ("resumed", "open")]


def test_other_windows_do_not_take_the_answers_of_these_for_theirs() -> None:
    first = started(job_of(WINDOWS, 0), 0)
    slowed(first, 300)
    stop(first)
    kept = dict(KeepingSource.kept)
    other = job_of(WINDOWS.replace(f"'{WINDOW_S}' SECOND", "'7' SECOND"), 0)
    KeepingSource.kept = kept
    second = started(other, 1)
    end(second)
    assert "lacks the rows before" in " ".join(event.text for event in second.events if event.kind == "resumed")
    assert not [event for event in second.events if event.kind == "answered"]
    assert late(second) == 0
