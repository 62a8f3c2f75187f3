"""A sink that adds up adds each batch once, whichever of its tasks and links are lost, and before or after what was lost was told."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random

import polars as pl
import pytest

import ouzel
from ouzel import Source, Store, monoid
from ouzel.connectors import CONNECTORS
from ouzel.connectors.base import Connector, SinkDelivery, Writers, Writes
from ouzel.connectors.keyed import (
    MERGE_OPTION,
    GatheringWriter,
    KeyedRequest,
    keyed_request,
    merge_rows,
    merged_columns,
)
from ouzel.connectors.writing import SinkRequest, SinkWriter
from ouzel.errors import NotSupported, QueryError
from ouzel.runtime.simulator.faults import SURVIVABLE, kill_in_flight
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import Job
from ouzel.spark.batch.run import batch_run
from tests.effort import seeds

WORDS = ["to", "be", "or", "not", "to", "be", "that", "is"] * 60


class Tally:
    """A server: what it keeps, and the batches that it has added."""

    def __init__(self, once: bool) -> None:
        self.rows: pl.DataFrame | None = None
        self.added: set[tuple[str, str]] = set()
        self.once = once

    def open(self, request: SinkRequest) -> SinkWriter:
        asked = keyed_request(request, request.keys)
        return GatheringWriter(lambda batches: self.merge(asked, batches), lambda: None)

    def merge(self, request: KeyedRequest, batches: Mapping[str, pl.DataFrame]) -> None:
        fresh = {
            name: rows for name, rows in batches.items() if not self.once or (request.writer, name) not in self.added
        }
        if fresh:
            self.rows = merge_rows(request, [*([] if self.rows is None else [self.rows]), *fresh.values()])
            self.added |= {(request.writer, name) for name in fresh}


@pytest.fixture
def tally(monkeypatch: pytest.MonkeyPatch) -> Tally:
    made = Tally(once=True)
    row = Connector(
        "tally", "", (MERGE_OPTION,),
        writes=Writes(
            f"{__name__}:open_tally", ("append", "upsert", "merge"), Writers.MANY, SinkDelivery.AT_LEAST_ONCE, merged=merged_columns
        ),
    )  # fmt: skip
    monkeypatch.setitem(CONNECTORS, "tally", row)
    monkeypatch.setattr(sys.modules[__name__], "OPEN", made.open)
    return made


def open_tally(request: SinkRequest) -> SinkWriter:
    """What the connector's row names."""
    return OPEN(request)


OPEN = Tally(once=True).open
"""The test's own."""


def counting(
    directory: Path,
    table: str = "PRIMARY KEY (word) NOT ENFORCED",
    merge: str = "n:sum",
    query: str = "word, 1",
    last: str = "",
) -> Job:
    pl.DataFrame({"word": WORDS}).write_parquet(directory / "words.parquet")
    return ouzel.query(
        f"""
        SET 'parallelism' = '2'; SET 'containers' = '2'; SET 'batch.rows' = '30';
        CREATE TABLE words (word VARCHAR) WITH ('connector' = 'file', 'path' = 'words.parquet', 'format' = 'parquet');
        CREATE TABLE counts (word VARCHAR, n BIGINT{", " + table if table else ""}) WITH ('connector' = 'tally', 'merge' = '{merge}');
        INSERT INTO counts SELECT {query} FROM words {last}
        """,
        directory,
    )


def counted(job: Job, directory: Path, tally: Tally, seed: int) -> Mapping[str, int]:
    faults = Random(seed).choices([*SURVIVABLE, kill_in_flight], k=4)
    tally.rows = None
    tally.added.clear()
    simulate(job.topology, job.packing, directory, seed=seed, faults=faults)
    assert tally.rows is not None
    return dict(tally.rows.rows())


def test_each_batch_is_added_once(tmp_path: Path, tally: Tally) -> None:
    job = counting(tmp_path)
    assert job.program.sinks[0].label == "Sink counts (tally, merge by (word))"
    for seed in seeds():
        assert counted(job, tmp_path, tally, seed) == Counter(WORDS), f"seed={seed}"
    tally.once = False
    assert any(counted(job, tmp_path, tally, seed) != Counter(WORDS) for seed in range(60)), "the test tests nothing"


def test_a_program_adds_to_what_its_store_has(tally: Tally) -> None:
    counts = Source.of(WORDS).map(lambda word: (word, 1)).sum_by_key(monoid.Sum(), Store.tally("counts", merge=True))
    for times in (1, 2):
        assert dict(counts.table("memory").rows()) == Counter(WORDS)
        assert tally.rows is not None
        assert dict(tally.rows.rows()) == {word: times * count for word, count in Counter(WORDS).items()}
    tally.rows = None
    some = Source.of([("a", 1), ("a", None), ("b", None)], tuple[str, int | None])
    some.sum_by_key(monoid.Count(), Store.tally("counts", merge=True, columns=["who", "often"])).run("memory")
    assert tally.rows is not None
    assert tally.rows.sort("who").rows(named=True) == [{"who": "a", "often": 1}, {"who": "b", "often": 0}]


def test_what_does_not_add_up_is_refused(tmp_path: Path, tally: Tally) -> None:
    pairs = Source.of([("a", 1)])
    store = Store.tally("counts", merge=True)
    with pytest.raises(NotSupported, match=r"the store 'counts' cannot add up Mean \(at .*\); leave out merge=True"):
        pairs.sum_by_key(monoid.Mean(), store).job()
    changing = pairs.sum_by_key(monoid.Sum()).map(lambda pair: ("all", pair[1]))
    with pytest.raises(
        NotSupported, match=r"the store 'counts' takes back nothing that it has added, and the values change"
    ):
        changing.sum_by_key(monoid.Sum(), store).job()
    with pytest.raises(
        QueryError, match=r"the connector print adds nothing to what it keeps; .* take a store of .*redis, postgres"
    ):
        Store.print("counts", merge=True)
    with pytest.raises(
        QueryError, match="counts adds up rows that have the same key, and has none; declare PRIMARY KEY"
    ):
        counting(tmp_path, table="")
    with pytest.raises(
        QueryError, match=r"the aggregate GROUP BY \(word\) changes rows .* leave 'merge' out of counts"
    ):
        counting(tmp_path, query="word, COUNT(*)", last="GROUP BY word")
    with pytest.raises(QueryError, match="nothing says how column 'n' of counts is added up; add 'n:sum' to 'merge'"):
        counting(tmp_path, merge="total:sum")
    with pytest.raises(QueryError, match="'merge' cannot hold ''; write 'column:aggregate'"):
        counting(tmp_path, merge="")
    with pytest.raises(QueryError, match="'merge' of counts adds up 'word', which is part of the key; leave it out"):
        counting(tmp_path, merge="n:sum, word:max")
    with pytest.raises(QueryError, match="SUM takes a number, not VARCHAR"):
        counting(tmp_path, table="PRIMARY KEY (n) NOT ENFORCED", merge="word:sum")
    with pytest.raises(NotSupported, match="table 'counts' adds up what it is given, and a batch job would add to it"):
        batch_run(counting(tmp_path)).text()
