"""Equal multisets of rows cancel, whatever they hold; whatever differs is left. By Spark's own grouping, row by row, and by checksums."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from ouzel.compiler.functions.spark_types import to_spark_type
from ouzel.compiler.types import BIGINT, DOUBLE, ArrayType, DataType, Field, RowType, Schema, VarcharType
from ouzel.reconcile.comparing.checksums import BUCKET, BUCKETS, HASHES, with_hashes
from ouzel.reconcile.comparing.comparison import compare
from ouzel.reconcile.comparing.lineage import Lineage
from ouzel.reconcile.comparing.pairs import names_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark]

TEXT = VarcharType()
TEXTS = ArrayType(TEXT)
PAIR = RowType((("a", BIGINT), ("b", BIGINT)))


def table(spark: SparkSession, rows: list[tuple[Any, ...]], kinds: tuple[DataType, ...]) -> DataFrame:
    return spark.createDataFrame(rows, ", ".join(f"x{n} {to_spark_type(kind)}" for n, kind in enumerate(kinds)))


def facts(kinds: tuple[DataType, ...], keys: tuple[str, ...] = ()) -> Lineage:
    return Lineage(Schema(tuple(Field(f"x{n}", kind) for n, kind in enumerate(kinds))), keys)


@pytest.mark.parametrize(
    ("kinds", "ours", "theirs"),
    [
        ((BIGINT, BIGINT), (1, None), (None, 1)),
        ((TEXT, TEXT), ("ab", "c"), ("a", "bc")),
        ((TEXT, TEXT), ("", None), (None, "")),
        ((TEXTS, TEXTS), (["a"], ["b"]), (["a", "b"], [])),
        ((TEXTS,), ([],), (None,)),
        ((TEXTS,), (["a", None],), ([None, "a"],)),
        ((ArrayType(TEXTS),), ([["a"], ["b"]],), ([["a", "b"], []],)),
        ((PAIR,), ((1, None),), ((None, 1),)),
        ((PAIR,), ((None, None),), (None,)),
        ((ArrayType(PAIR),), ([(1, None)],), ([(None, 1)],)),
        ((DOUBLE,), (float("nan"),), (None,)),
    ],
)  # fmt: skip
def test_what_differs_hashes_differently(
    kinds: tuple[DataType, ...], ours: tuple[Any, ...], theirs: tuple[Any, ...], spark: SparkSession
) -> None:
    hashed = with_hashes(
        table(spark, [ours, theirs], kinds), [f"x{n}" for n in range(len(kinds))], facts(kinds).columns
    )
    a, b = hashed.select(*HASHES, BUCKET).collect()
    assert a[0] != b[0]
    assert a[1] != b[1]
    assert 0 <= a[2] < BUCKETS


@pytest.mark.parametrize("kind", [DOUBLE, ArrayType(DOUBLE), RowType((("x", DOUBLE),))])
def test_zero_is_zero_and_nan_is_nan(kind: DataType, spark: SparkSession) -> None:
    def rows(*values: float) -> DataFrame:
        shaped = {DOUBLE: lambda x: x, ArrayType(DOUBLE): lambda x: [x]}.get(kind, lambda x: (x,))
        return table(spark, [(shaped(value),) for value in values], (kind,))

    found = compare(rows(0.0, float("nan")), rows(-0.0, float("nan")), facts((kind,)), 0.0)
    assert (found.matched, found.differences.count()) == (2, 0)


def test_a_zero_has_no_sign_as_a_key_or_beside_what_differs_and_has_one_as_text(spark: SparkSession) -> None:
    kinds = (DOUBLE, TEXT, DOUBLE)
    ours, theirs = [(0.0, "a", -0.0), (-0.0, "b", 1.0)], [(-0.0, "a", 0.0), (0.0, "c", 1.0)]
    for keys, differing in [(("x0",), ["x1"]), ((), [])]:
        found = compare(table(spark, ours, kinds), table(spark, theirs, kinds), facts(kinds, keys), 0.0)
        assert found.matched == 1
        assert found.differences.select("differing").first() == (differing,)
    texts = [table(spark, [(text,)], (TEXT,)) for text in ("-0.0", "0.0")]
    assert compare(texts[0], texts[1], facts((TEXT,)), 0.0).matched == 0


@pytest.mark.parametrize("keyed", [False, True])
def test_multisets_are_counted_exactly(keyed: bool, spark: SparkSession) -> None:
    """Few values, so that rows meet often: what is matched, and each row that is left with its side, is as Python counts it."""
    random, kinds = Random(4), (BIGINT, TEXT)
    ours, theirs = ([(random.randint(0, 300), random.choice(["a", "b", None])) for _ in range(2_000)] for _ in "ab")
    said = facts(kinds, ("x0",) if keyed else ())
    found = compare(table(spark, ours, kinds), table(spark, theirs, kinds), said, 0.0)
    a, b = Counter(ours), Counter(theirs)
    assert (found.stream_rows, found.batch_rows, found.matched) == (2_000, 2_000, (a & b).total())
    rows = found.differences.select("stream", "batch").collect()
    left = [
        [tuple(row[side][name] for name in names_of(said)) for row in rows if row[side]] for side in ("stream", "batch")
    ]
    assert [Counter(side) for side in left] == [a - b, b - a]


def test_a_thing_twice_for_another_twice_is_no_match(spark: SparkSession) -> None:
    """Their exclusive or would be the same."""
    kinds = (BIGINT,)
    found = compare(table(spark, [(1,), (1,)], kinds), table(spark, [(2,), (2,)], kinds), facts(kinds), 0.0)
    assert (found.matched, found.differences.count()) == (0, 4)


def test_nothing_and_nothing_are_equal(spark: SparkSession) -> None:
    kinds = (BIGINT,)
    found = compare(table(spark, [], kinds), table(spark, [], kinds), facts(kinds), 0.0)
    assert (found.matched, found.stream_rows, found.batch_rows, found.first_us) == (0, 0, 0, None)


@pytest.mark.parametrize("keys", [(), ("x0",)])
def test_what_equal_answers_leave_is_known_without_a_job(keys: tuple[str, ...], spark: SparkSession) -> None:
    kinds, jobs = (BIGINT, TEXT), spark.sparkContext.statusTracker().getJobIdsForGroup
    rows = [(1, "a"), (2, "b"), (2, "c"), (None, None)]
    found = compare(table(spark, rows, kinds), table(spark, rows[::-1], kinds), facts(kinds, keys), 0.0)
    before = jobs(None)
    assert (found.equal, found.matched, found.differences.collect()) == (True, 4, [])
    assert jobs(None) == before


def test_rows_of_one_key_are_paired_whether_it_has_one_row_or_several(spark: SparkSession) -> None:
    kinds = (BIGINT, BIGINT, TEXT)
    ours = [(1, 10, "a"), (2, None, None), (None, 5, "n"), (4, 1, ""), (6, 7, "x"), (9, 1, "p"), (9, 2, "q")]
    theirs = [(1, 10, "a"), (2, 3, None), (None, 5, "m"), (5, 1, ""), (6, 7, "x"), (9, 2, "q"), (9, 3, "p")]
    found = compare(table(spark, ours, kinds), table(spark, theirs, kinds), facts(kinds, ("x0",)), 0.0)
    assert (found.matched, found.stream_rows, found.batch_rows) == (3, 7, 7)
    rows = [
        tuple(side and tuple(side[:3]) for side in (row["stream"], row["batch"])) + tuple(row[2:])
        for row in found.differences.select("stream", "batch", "differing", "stream_rows", "batch_rows").collect()
    ]
    assert sorted(rows, key=str) == sorted(
        [
            ((2, None, None), (2, 3, None), ["x1"], 1, 0),
            ((None, 5, "n"), (None, 5, "m"), ["x2"], 1, 0),
            ((4, 1, ""), None, [], 1, 0),
            (None, (5, 1, ""), [], 0, 1),
            ((9, 1, "p"), (9, 3, "p"), ["x1"], 1, 0),
        ],
        key=str,
    )


def test_rows_that_floats_alone_tell_apart_are_paired_in_their_order(spark: SparkSession) -> None:
    """What docs/reconcile.md says of a row that is missing among them: those behind it are paired with their neighbours."""
    kinds = (TEXT, DOUBLE)
    theirs = [("x", float(number)) for number in range(1, 6)]
    whole = [(text, value * (1 + 2.0**-51)) for text, value in theirs]
    lacking = [row for number, row in enumerate(whole, 1) if number != 3]
    found = [
        compare(table(spark, ours, kinds), table(spark, theirs, kinds), facts(kinds), 1e-9) for ours in (whole, lacking)
    ]
    told = [
        [(len(row.near), len(row.differing), row.stream is None) for row in each.differences.collect()]
        for each in found
    ]
    assert Counter(told[0]) == {(1, 0, False): 5}
    assert Counter(told[1]) == {(1, 0, False): 2, (0, 1, False): 2, (0, 0, True): 1}
