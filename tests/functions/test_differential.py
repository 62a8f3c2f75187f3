"""Both lowerings of every registry entry give the same answers, and fail the same rows, on edge and random values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from ouzel.compiler.functions import all_functions
from ouzel.compiler.functions.kernel import evaluate, lower
from ouzel.compiler.functions.spark import to_spark
from ouzel.compiler.types import TIMESTAMP, MapType
from tests.functions.registry_cases import TYPES, Case, cast_cases, column, composite_cases, function_cases, table

pytestmark = pytest.mark.spark
CHUNK = 150
ELIMINATION = "spark.sql.subexpressionElimination.enabled"
"""It would evaluate outside of try."""
COMPILER = "spark.sql.codegen.factoryMode"


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return table(seed=7)


@pytest.fixture(scope="module")
def spark_rows(spark: Any, rows: pl.DataFrame) -> Iterator[Any]:
    """The same table in Spark, with maps as maps."""
    from pyspark.sql import functions as F

    spark.conf.set(ELIMINATION, "false")
    frame = spark.createDataFrame(rows.to_arrow(compat_level=pl.CompatLevel.oldest())).coalesce(1)
    zoneless = {column(TIMESTAMP, 0).name.split("_")[0]}
    maps = {column(kind, 0).name.split("_")[0] for kind in TYPES if isinstance(kind, MapType)}
    for name in rows.columns:
        if name.split("_")[0] in maps:
            frame = frame.withColumn(name, F.map_from_entries(name))
        if name.split("_")[0] in zoneless:  # Spark takes Arrow's for a TIMESTAMP_LTZ
            frame = frame.withColumn(name, F.col(name).cast("timestamp_ntz"))
    yield frame.cache()
    spark.conf.unset(ELIMINATION)


def tried(spark: Any, column: Any) -> Any:
    """A struct of the column's value, NULL where evaluating it fails: Spark's own TryEval, which PySpark does not export."""
    from pyspark.sql import functions as F
    from pyspark.sql.classic.column import Column

    anything = F.col("c0_0").isNull() | F.col("c0_0").isNotNull()  # makes the field nullable, for Arrow's sake
    jvm = spark._jvm
    bridge = jvm.org.apache.spark.sql.classic.ExpressionUtils
    inner = bridge.expression(F.struct(F.when(anything, column).alias("v"))._jc)
    return Column(bridge.column(jvm.org.apache.spark.sql.catalyst.expressions.TryEval(inner)))


def in_spark(spark: Any, frame: Any, cases: list[Case]) -> pl.DataFrame:
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    scope = {"F": F, "T": T}
    columns = [tried(spark, eval(to_spark(case.expression), scope)).alias(str(n)) for n, case in enumerate(cases)]
    answer: pa.Table = frame.select(*columns).toArrow()
    return pl.DataFrame(pl.from_arrow(answer))


def differences(case: Case, rows: pl.DataFrame, expected: pl.Series) -> str:
    """What the kernel answers otherwise than Spark, or an empty text."""
    out, failed = evaluate(rows, [("v", lower(case.expression))])
    spark_failed = expected.is_null()
    mine = failed if failed is not None else pl.repeat(False, rows.height, eager=True)
    value, wanted = out["v"], expected.struct.field("v")
    if wanted.dtype == pl.Map:
        wanted = wanted.map.entries()
    if not _same_type(value.dtype, wanted.dtype):
        return f"type {value.dtype}, Spark has {wanted.dtype}"
    both_ok = ~mine & ~spark_failed
    wrong = (mine != spark_failed) | (both_ok & ~_same(value, wanted.cast(value.dtype), case))
    if not wrong.any():
        return ""
    shown = rows.select(sorted(set(re.findall(r"c\d+_\d", str(case.expression)))))
    shown = shown.with_columns(kernel=value, spark=wanted, kernel_fails=mine, spark_fails=spark_failed).filter(wrong)
    shown = shown.with_columns(pl.selectors.temporal().to_physical())
    return f"{wrong.sum()} rows\n" + "\n".join(map(repr, shown.head(3).rows(named=True)))


def _same_type(mine: pl.DataType, spark: pl.DataType) -> bool:
    return (
        re.sub("'[a-z0-9]+'", "''", str(mine)).lower() == re.sub("'[a-z0-9]+'", "''", str(spark)).lower()
        or mine == spark
    )


def _same(mine: pl.Series, spark: pl.Series, case: Case) -> pl.Series:
    equal = mine.eq_missing(spark)
    if mine.dtype.is_float():
        single = mine.dtype == pl.Float32
        a, b = mine.cast(pl.Float64), spark.cast(pl.Float64)
        near = ((a - b).abs() <= b.abs() * (1e-6 if single else 1e-12)).fill_null(False)
        return equal | near
    if mine.dtype == pl.String and case.name in ("cast", "try_cast"):
        # Java before 19 may print one digit more than the shortest
        a, b = mine.cast(pl.Float64, strict=False), spark.cast(pl.Float64, strict=False)
        return equal | ((a == b) & mine.str.contains(r"[.E]")).fill_null(False)
    return equal


def run(spark: Any, spark_rows: Any, rows: pl.DataFrame, cases: list[Case]) -> list[str]:
    problems = []
    for start in range(0, len(cases), CHUNK):
        chunk = cases[start : start + CHUNK]
        answers = in_spark(spark, spark_rows, chunk)
        for number, case in enumerate(chunk):
            difference = differences(case, rows, answers[str(number)])
            if difference:
                problems.append(f"{case.name}: {case.expression} [{to_spark(case.expression)}]: {difference}")
    return problems


def test_every_function_answers_as_spark(
    spark: Any, spark_rows: Any, rows: pl.DataFrame, request: pytest.FixtureRequest
) -> None:
    only = request.config.getoption("--function")
    cases = [case for case in function_cases() if only in (None, case.name)]
    assert cases, f"the registry has no function {only}"
    problems = run(spark, spark_rows, rows, cases)
    assert not problems, "\n".join(problems)


def test_every_cast_answers_as_spark(spark: Any, spark_rows: Any, rows: pl.DataFrame) -> None:
    # compiled, as in production: Spark's interpreter casts a few extremes otherwise than its compiled code
    before = spark.conf.get(COMPILER)
    spark.conf.set(COMPILER, "FALLBACK")
    problems = run(spark, spark_rows, rows, cast_cases())
    spark.conf.set(COMPILER, before)
    assert not problems, "\n".join(problems)


def test_calls_in_calls_answer_as_spark(spark: Any, spark_rows: Any, rows: pl.DataFrame) -> None:
    problems = run(spark, spark_rows, rows, composite_cases())
    assert not problems, "\n".join(problems)


def test_every_function_has_a_case() -> None:
    tried = {case.name for case in function_cases()}
    assert {function.name for function in all_functions()} == tried
