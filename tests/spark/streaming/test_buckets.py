"""One bucket of an operator in Spark's state, without Spark: however often its state becomes bytes between calls, the changes add up."""

from __future__ import annotations

from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from ouzel.compiler.plan import WEIGHT, Node
from ouzel.errors import OuzelError
from ouzel.session import load_text
from ouzel.spark.io.bucket_numbers import choose_buckets, spark_hash
from ouzel.spark.io.buckets import END_MS, Bucket, deal_rows, pack_rows, read_operator, unpack_rows
from ouzel.spark.lowering.held import HeldOperator
from ouzel.spark.lowering.streaming import streaming_queries
from ouzel.spark.streaming.checkpoint import LocalHome, settle_buckets
from tests.law.compare import plain_fold

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = """
CREATE TABLE events (k VARCHAR, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'file', 'path' = 'events.parquet', 'format' = 'parquet');
"""
BUCKETS = (3, 5, 8, 9)
LARGE = 2**62 + 1
"""A number that no DOUBLE holds."""


def operator_of(text: str) -> HeldOperator:
    """The one operator of ours in a query."""
    (query,) = streaming_queries(load_text(TABLE + text, Path("/data"), "asked").program, Path("/data"), "asked")
    names: dict[str, dict[str, str]] = {}
    exec(query.functions, {}, names)
    (text,) = names["OPERATORS"].values()
    assert b64decode(text)
    return read_operator(text)


def rows_of(node: Node, rows: list[tuple[object, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=node.inputs[0].schema.polars(), orient="row")


def changes(held: HeldOperator, calls: list[tuple[pl.DataFrame, int]]) -> Iterator[pl.DataFrame]:
    """What the calls give, each with an operator of its own that goes on from the bytes of the one before."""
    kept: bytes | None = None
    for rows, watermark_ms in calls:
        bucket = Bucket(held, kept)
        made = bucket.handle([(0, pack_rows(rows))], watermark_ms)
        kept = bucket.keep()
        if made is not None:
            yield made


def test_first_rows_of_two_calls_are_those_of_all_rows() -> None:
    held = operator_of("SELECT k, v FROM events ORDER BY v DESC LIMIT 2")
    calls = [
        rows_of(held.operator, [("a", LARGE), ("b", None), ("c", 3)]),
        rows_of(held.operator, [("d", LARGE + 1), ("e", 5)]),
    ]
    made = list(changes(held, [(rows, 0) for rows in calls]))
    assert len(made) == 2
    assert all(frame.columns[-1] == WEIGHT for frame in made)
    left = plain_fold(made, made[0].columns[:-1])
    assert sorted(left["v"].to_list()) == [LARGE, LARGE + 1]


def test_a_session_leaves_when_the_watermark_says_so_and_the_last_at_the_end() -> None:
    text = (
        "SELECT k, v, window_end FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    )
    held = operator_of(text)
    at = pl.Series([0, 5_000, 60_000]).cast(pl.Datetime("ms")).to_list()
    given = {"k": ["a"] * 3, "v": [1, 2, 3], "ts": at}
    kinds = held.operator.inputs[0].schema.polars()
    frame = pl.DataFrame(given).select(list(kinds)).cast(dict(kinds))
    nothing = frame.clear()
    made = list(changes(held, [(frame, 0), (nothing, 14_999), (nothing, 15_001), (nothing, END_MS)]))
    assert [sorted(rows["v"].to_list()) for rows in made] == [[1, 2], [3]]


def test_equal_keys_meet_in_one_bucket_and_empty_frames_reach_what_is_one_row() -> None:
    node = operator_of("SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM events").operator
    given = pl.DataFrame({"k": [f"key {number % 100}" for number in range(1000)], "v": range(1000)})
    kinds = node.inputs[0].schema.polars()
    frame = given.with_columns(pl.lit(None).alias("ts")).select(list(kinds)).cast(dict(kinds))
    dealt = list(deal_rows(frame, node, 0, BUCKETS))
    keys = [set(part["k"].to_list()) for _, part in dealt]
    assert sum(map(len, keys)) == len(set().union(*keys)) == 100
    assert {bucket for bucket, _ in dealt} == set(BUCKETS)
    single = operator_of("SELECT k, v FROM events ORDER BY v LIMIT 2").operator
    assert [bucket for bucket, _ in deal_rows(rows_of(single, []), single, 0, BUCKETS)] == [3]


@pytest.mark.parametrize(("partitions", "buckets"), [(1, 8), (2, 16), (3, 24), (16, 64), (200, 200), (2000, 1024)])
def test_every_shuffle_partition_has_as_many_buckets_as_the_others(partitions: int, buckets: int) -> None:
    numbers = choose_buckets(partitions)
    assert len(numbers) == len(set(numbers)) == buckets
    each = Counter(spark_hash(number) % partitions for number in numbers)
    assert set(each.values()) == {max(1, buckets // partitions)}


def test_buckets_are_settled_when_a_query_first_begins(tmp_path: Path) -> None:
    home = LocalHome(tmp_path)
    assert len(settle_buckets(home, "t", 2)) == 16
    begun = settle_buckets(home, "t", 4)
    assert len(begun) == 32, "nothing has been read yet"
    (tmp_path / "t" / "offsets").mkdir(parents=True)
    (tmp_path / "t" / "offsets" / "0").touch()
    assert settle_buckets(home, "t", 2) == begun


def test_a_checkpoint_that_says_nothing_of_buckets_has_those_of_before(tmp_path: Path) -> None:
    (tmp_path / "t" / "offsets" / "0").mkdir(parents=True)
    assert settle_buckets(LocalHome(tmp_path), "t", 2) == range(64)


@pytest.mark.spark
def test_the_hash_by_which_buckets_are_chosen_is_sparks(spark: SparkSession) -> None:
    rows = spark.range(100).selectExpr("hash(CAST(id AS INT)) AS hashed").collect()
    assert [row.hashed for row in rows] == [spark_hash(number) for number in range(100)]


def test_what_is_packed_comes_back_as_it_was() -> None:
    frame = pl.DataFrame(
        {"n": [LARGE, None], "t": [["ü", None], None], "d": pl.Series(["1.50", None]).cast(pl.Decimal(38, 2))}
    )
    assert unpack_rows(pack_rows(frame)).equals(frame)


def test_a_row_that_cannot_be_computed_fails_the_call_and_says_which() -> None:
    held = operator_of(
        "SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY v ROWS UNBOUNDED PRECEDING) AS s FROM events EMIT CHANGES"
    )
    rows = rows_of(held.operator, [("a", 2**63 - 1, datetime(2026, 1, 1)), ("a", 2**63 - 1, datetime(2026, 1, 1))])
    with pytest.raises(OuzelError, match=r"leaves BIGINT.*9223372036854775807"):
        Bucket(held, None).handle([(0, pack_rows(rows))], 0)


def test_a_bucket_that_is_new_knows_what_is_late_and_counts_it() -> None:
    held = operator_of(
        "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECONDS)) "
        "GROUP BY window_start, window_end EMIT AFTER WATERMARK WITH LATENESS INTERVAL '5' SECOND"
    )
    kinds = held.operator.inputs[0].schema.polars()
    starts = [0, 10_000]
    given = {
        "ts": [start + 4_000 for start in starts],
        "window_start": starts,
        "window_end": [start + 10_000 for start in starts],
    }
    frame = pl.DataFrame({name: pl.Series(given[name]).cast(pl.Datetime("ms")) for name in kinds}).cast(dict(kinds))
    bucket = Bucket(held, None)
    made = bucket.handle([(0, pack_rows(frame))], 20_000)
    assert made is not None
    assert made["n"].to_list() == [1], "of the second window, which has closed, and takes rows until 25 s"
    assert bucket.late == 1
