"""A spout's time: the least of its partitions, silent ones aside; but a partition that nobody asked is not silent."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import Watermark
from ouzel.connectors.backlog import Backlog, PartitionExtent
from ouzel.connectors.reading import Committed, Partition, ReadBatch, ReadState, Unreachable
from ouzel.planner.settings import BadRecordPolicy, Settings
from ouzel.planner.topology import Task
from ouzel.runtime.operators.build import build_chain
from ouzel.runtime.protocol.groupings import OutputStream
from ouzel.runtime.protocol.messages import TimeStatus
from ouzel.runtime.protocol.messages import Watermark as WatermarkMessage
from ouzel.runtime.protocol.quarantine import MemoryNote, Quarantine
from ouzel.runtime.protocol.shell import Shell
from ouzel.runtime.protocol.task import Links, TaskSetup
from ouzel.runtime.tasks.awaited import HISTORICAL, NOTHING_YET
from ouzel.runtime.tasks.journal import MemoryJournal
from ouzel.runtime.tasks.partitions import Partitions
from ouzel.runtime.tasks.refusals import Refusals
from ouzel.runtime.tasks.source import SourceParts, SourceSpout
from ouzel.session import load_text

NOON = datetime(2024, 1, 1, 12)
WALL_ZERO_US = (NOON - datetime(1970, 1, 1)) // timedelta(microseconds=1) - 1_000_000
SQL = """CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts IDLE AFTER INTERVAL '10' SECOND) WITH ('connector' = 'datagen');
SELECT window_start, COUNT(*) FROM TUMBLE(t, ts, INTERVAL '1' MINUTE) GROUP BY window_start;"""


class Hand:
    """A source whose partitions have what the test has put there."""

    def __init__(self, *names: str) -> None:
        self.waiting: dict[str, list[datetime]] = {name: [] for name in names}
        self.away: set[str] = set()

    def partitions(self) -> list[Partition]:
        return [Partition(name, False) for name in self.waiting]

    def committed(self) -> dict[str, Committed]:
        return {}

    def commit(self, places: dict[str, Committed]) -> str:
        return ""

    def reader(self, partition: Partition, offset: int | None) -> HandReader:
        return HandReader(self, partition.id)


class HandReader:
    def __init__(self, source: Hand, name: str) -> None:
        self.waiting, self.source, self.name, self.at = source.waiting[name], source, name, 0
        self.drops = 0

    def read(self, rows: int, until: int | None = None) -> ReadBatch | ReadState | Unreachable:
        if self.name in self.source.away:
            return Unreachable("broker away")
        if not self.waiting:
            return ReadState.WAIT
        frame = pl.DataFrame({"ts": self.waiting}, schema={"ts": pl.Datetime("us")})
        self.waiting.clear()
        start, self.at = self.at, self.at + frame.height + self.drops
        return ReadBatch(frame, start, self.at)


def spout(source: Hand, delivery: str = "at-most-once", text: str = SQL, rows: int = 10) -> SourceSpout:
    """A spout that reads `source`; the wall clock shows noon when a second has gone."""
    job = load_text(text, Path(), "t")
    (watermark,) = (node for part in job.topology.components for node in part.chain if isinstance(node, Watermark))
    settings = Settings().with_values(
        [("delivery", delivery), ("batch.rows", f"{rows}"), ("max.pending.rows", f"{rows}")]
    )
    outlet = OutputStream(0, [([2], lambda frame, _id, _task: [(0, frame)])])
    refusals = Refusals(BadRecordPolicy.FAIL, Path("unused"))
    partitions = Partitions(Task(1, "t", 0), 1, source, {}, MemoryJournal(), 10_000)  # type: ignore[arg-type]
    links = Links((), {"default": outlet}, frozenset())
    chain = build_chain([watermark], settings)
    setup = TaskSetup(Task(1, "t", 0), links, settings, shell=Shell(lambda: WALL_ZERO_US))
    return SourceSpout(setup, SourceParts.of(setup, partitions), chain, (refusals, refusals), Quarantine(MemoryNote()))


def test_a_source_is_asked_no_more_when_its_partitions_have_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Hand("a")
    machine = spout(source)
    source.waiting["a"].append(NOON)
    machine.poll(1_000)
    machine.poll(1_100)
    assert not machine.is_exhausted, "more may come"
    monkeypatch.setattr(HandReader, "read", lambda *_: ReadState.END)
    monkeypatch.setattr(HandReader, "close", lambda _: None, raising=False)
    machine.poll(1_200)
    assert machine.is_exhausted
    assert machine.finished


def test_of_many_partitions_those_that_have_nothing_are_not_asked_for_each_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Thousands of followed files, each of which was asked before each batch of another, took hours."""
    quiet, asked, read = [f"quiet{number}" for number in range(400)], Counter[str](), HandReader.read
    source = Hand(*quiet, "busy")
    machine = spout(source, rows=1)
    for name in source.waiting:
        source.waiting[name].append(NOON)
    for at_ms in range(500):
        machine.poll(at_ms)

    def count_and_read(self: HandReader, rows: int, until: int | None = None) -> ReadBatch | ReadState | Unreachable:
        asked[self.name] += 1
        return read(self, rows, until)

    monkeypatch.setattr(HandReader, "read", count_and_read)
    for at_ms in range(1_000, 1_100):
        source.waiting["busy"].append(NOON + timedelta(milliseconds=at_ms))
        machine.poll(at_ms)
    assert asked.pop("busy") == 100
    assert set(asked.values()) == {3}
    source.waiting["busy"].append(NOON + timedelta(hours=1))
    source.waiting["quiet7"].append(NOON)
    for at_ms in (1_100, 1_101, 1_102):
        machine.poll(at_ms)
    assert not source.waiting["quiet7"], "when nobody else has anything all are asked"


def times(machine: SourceSpout, now_ms: float) -> tuple[datetime, TimeStatus] | None:
    """What the spout says of time now, after it has asked every partition, and again and again until then."""
    said = None
    for at_ms in range(int(machine.now_ms) + 1_000, int(now_ms), 1_000):
        machine.poll(at_ms)
    for instruction in [*machine.poll(now_ms), *machine.poll(now_ms), *machine.tick(now_ms)]:
        message = getattr(instruction, "message", None)
        if isinstance(message, WatermarkMessage) and message.time_us > 0:
            said = datetime(1970, 1, 1) + timedelta(microseconds=message.time_us), message.status
    return said


def test_a_silent_partition_stops_holding_time_back() -> None:
    source = Hand("a", "b")
    machine = spout(source)
    source.waiting["a"].append(NOON)
    assert times(machine, 1_000) is None, "b has said nothing yet"
    for second in range(2, 11):
        assert times(machine, second * 1_000) is None
    source.waiting["a"].append(NOON + timedelta(minutes=1))
    assert times(machine, 11_500) == (NOON + timedelta(minutes=1), TimeStatus.ACTIVE)


def test_when_all_are_silent_the_wall_clock_moves_time_less_the_largest_lag() -> None:
    source = Hand("a")
    machine = spout(source)
    source.waiting["a"].extend([NOON - timedelta(seconds=4), NOON])
    assert times(machine, 1_000) == (NOON, TimeStatus.ACTIVE)
    times(machine, 11_000)
    assert times(machine, 31_000) == (NOON + timedelta(seconds=26), TimeStatus.FOLLOWING)
    source.waiting["a"].append(NOON + timedelta(seconds=27))
    assert times(machine, 31_000) == (NOON + timedelta(seconds=27), TimeStatus.ACTIVE), "a row made 4 s ago is on time"


def test_the_delay_of_the_watermark_is_kept_in_silence() -> None:
    source = Hand("a")
    machine = spout(source, text=SQL.replace("AS ts IDLE", "AS ts - INTERVAL '5' SECOND IDLE"))
    source.waiting["a"].append(NOON)
    assert times(machine, 1_000) == (NOON - timedelta(seconds=5), TimeStatus.ACTIVE)
    times(machine, 11_000)
    assert times(machine, 31_000) == (NOON + timedelta(seconds=25), TimeStatus.FOLLOWING)


@pytest.mark.parametrize("years", [-4, 4])
def test_input_that_is_not_of_now_waits_for_data_or_its_end(years: int) -> None:
    source = Hand("a")
    machine = spout(source)
    then = NOON + timedelta(days=365 * years)
    source.waiting["a"].append(then)
    assert times(machine, 1_000) == (then, TimeStatus.ACTIVE)
    times(machine, 11_000)
    for hour in (1, 2, 3):
        assert times(machine, hour * 3_600_000) == (then, TimeStatus.IDLE)
    source.waiting["a"].append(then + timedelta(seconds=14))
    assert times(machine, 3 * 3_600_000 + 500) == (then + timedelta(seconds=14), TimeStatus.ACTIVE)


def test_a_silent_partition_from_the_past_does_not_keep_the_others_from_following_the_wall_clock() -> None:
    source = Hand("a", "b", "c")
    machine = spout(source)
    source.waiting["a"].append(NOON - timedelta(days=1))
    source.waiting["b"].append(NOON)
    for second in range(1, 12):
        times(machine, second * 1_000)
    assert times(machine, 12_000) == (NOON + timedelta(seconds=11), TimeStatus.FOLLOWING)


def test_a_partition_that_cannot_be_reached_holds_time_back_however_long() -> None:
    source = Hand("a", "b")
    machine = spout(source)
    for name in ("a", "b"):
        source.waiting[name].append(NOON)
    assert times(machine, 1_000) == (NOON, TimeStatus.ACTIVE)
    source.away.add("a")
    for second in range(2, 3_600, 100):
        source.waiting["b"].append(NOON + timedelta(seconds=second))
        said = times(machine, second * 1_000)
        assert said in (None, (NOON, TimeStatus.ACTIVE))
    source.away.clear()
    assert times(machine, 3_510_000) in (None, (NOON, TimeStatus.ACTIVE)), "its silence begins anew"
    source.waiting["a"].append(NOON + timedelta(seconds=5))
    assert times(machine, 3_510_500) == (NOON + timedelta(seconds=5), TimeStatus.ACTIVE), "nothing is late"


def test_while_what_has_all_partitions_is_away_the_wall_clock_closes_nothing() -> None:
    source = Hand("a")
    machine = spout(source)
    source.waiting["a"].append(NOON)
    times(machine, 1_000)
    times(machine, 11_000)
    reached = times(machine, 12_000)
    assert reached == (NOON + timedelta(seconds=11), TimeStatus.FOLLOWING)
    source.away.add("a")
    assert times(machine, 60_000) == (NOON + timedelta(seconds=11), TimeStatus.ACTIVE)
    source.away.clear()
    assert times(machine, 61_000) == (NOON + timedelta(seconds=11), TimeStatus.ACTIVE), (
        "what was kept from it may come now"
    )
    assert times(machine, 71_000) == (NOON + timedelta(seconds=70), TimeStatus.FOLLOWING), (
        "it was silent for ten seconds"
    )


def test_back_pressure_is_not_silence() -> None:
    source = Hand("a")
    machine = spout(source, "at-least-once")
    source.waiting["a"].extend([NOON] * 10)
    machine.poll(1_000)
    source.waiting["a"].append(NOON + timedelta(seconds=1))
    for second in range(2, 60):  # what was emitted stays unacked, so there is no room to read
        assert times(machine, second * 1_000) is None


def waited_for(machine: SourceSpout, now_ms: float) -> list[tuple[str, int, str, int, int]]:
    """What is told of the partitions that time waits for; seconds since the spout began."""
    times(machine, now_ms)
    machine.tick(now_ms + 500)
    zero = WALL_ZERO_US
    return [
        (
            one.partition,
            one.others,
            one.reason,
            *(max(0, us - zero) // 1_000_000 for us in (one.since_us, one.until_us)),
        )
        for one in machine.metrics().waiting
    ]


def test_the_status_names_the_silent_partition_and_when_it_becomes_idle() -> None:
    source = Hand("a", "b", "c")
    machine = spout(source)
    source.waiting["a"].append(NOON)
    assert waited_for(machine, 1_000) == [], "too short a silence"
    source.waiting["a"].append(NOON)
    assert waited_for(machine, 4_000) == [("b", 1, "silent", 1, 11)]
    source.waiting["b"].append(NOON - timedelta(seconds=1))
    source.waiting["c"].append(NOON)
    assert waited_for(machine, 5_000) == [], "rows flow"


def test_the_status_says_what_cannot_be_reached_and_that_the_past_waits() -> None:
    source = Hand("a", "b")
    machine = spout(source)
    source.away.update("ab")
    assert waited_for(machine, 3_000) == [("a", 1, "broker away", 1, 0)]
    source.away.clear()
    times(machine, 4_000)
    assert waited_for(machine, 15_000) == [("a", 1, NOTHING_YET, 0, 0)]
    source.waiting["b"].append(NOON - timedelta(days=9))
    times(machine, 16_000)
    assert waited_for(machine, 27_000) == [("b", 0, HISTORICAL, 0, 0)]
    source.waiting["a"].append(NOON + timedelta(seconds=27))
    times(machine, 28_000)
    assert waited_for(machine, 60_000) == [], "the wall clock closes what is open"
    machine.deactivate(1, 61_000)
    assert waited_for(machine, 90_000) == []


def test_the_lag_is_that_of_the_partitions_that_know_theirs() -> None:
    source = Hand("a", "b")
    machine = spout(source)
    machine.tick(1_000)
    assert machine.metrics().lag is None, "nobody knows"
    first, second = (progress.reader for progress in machine._reader.progress)
    first.lag = lambda: 5  # type: ignore[attr-defined]
    second.lag = lambda: None  # type: ignore[attr-defined]
    machine.tick(2_000)
    assert machine.metrics().lag == 5
    assert machine.metrics().backlogs == [Backlog("a", 5)]


def test_a_partition_that_lies_in_several_places_tells_what_waits_in_each() -> None:
    machine = spout(Hand("a", "b"))
    first, second = (progress.reader for progress in machine._reader.progress)
    places = [Backlog("a at one", 3, bytes=30, age_ms=2_000), Backlog("a at other", 9)]
    first.lag, first.backlogs = lambda: 14, lambda: places  # type: ignore[attr-defined]
    second.lag = lambda: 5  # type: ignore[attr-defined]
    machine.tick(1_000)
    assert machine.metrics().lag == 19, "two of the first are here already"
    assert machine.metrics().backlogs == [places[1], Backlog("b", 5), places[0]]
    assert (machine.metrics().lag_bytes, machine.metrics().lag_ms) == (30, 2_000)


def test_the_age_of_the_lag_is_that_of_the_record_that_has_waited_longest() -> None:
    machine = spout(Hand("a", "b"))
    first, second = (progress.reader for progress in machine._reader.progress)
    extents = {"a": PartitionExtent(0, 5), "b": None}
    for name, reader in (("a", first), ("b", second)):
        reader.lag, reader.extent = lambda: 5, lambda name=name: extents[name]  # type: ignore[attr-defined]
    machine.tick(1_000)
    assert machine.metrics().lag_ms == 0
    extents["b"] = PartitionExtent(0, 1)
    machine.tick(4_000)
    assert machine.metrics().lag_ms == 3_000
    extents["a"] = PartitionExtent(5, 9)
    machine.tick(6_000)
    assert machine.metrics().lag_ms == 2_000, "that of b"
    extents["b"] = PartitionExtent(1, 1)
    machine.tick(7_000)
    assert machine.metrics().lag_ms == 1_000, "what came to a since"


def test_rows_of_a_trickle_gather_while_other_partitions_are_read() -> None:
    source = Hand("a", "b")
    machine, read = spout(source, rows=100), []
    for now_ms in range(1, 60):
        for name in ("a", "b") if now_ms == 30 else ("a",):
            source.waiting[name].append(NOON)
        before = machine.counts.rows_in
        machine.poll(float(now_ms))
        read.append(machine.counts.rows_in - before)
    assert {now_ms: rows for now_ms, rows in enumerate(read, 1) if rows} == {1: 1, 2: 1, 22: 20, 30: 1, 42: 20}


def test_a_reader_that_drops_most_of_what_it_passes_is_read_on_at_once() -> None:
    """As Parquet's does for a predicate: few rows are left, and more of the file are there."""
    source = Hand("a")
    machine, read = spout(source, rows=100), []
    machine._reader.progress[0].reader.drops = 99
    for now_ms in range(1, 10):
        source.waiting["a"].append(NOON)
        before = machine.counts.rows_in
        machine.poll(float(now_ms))
        read.append(machine.counts.rows_in - before)
    assert read == 9 * [1]
