"""What `streaming_queries` lets through, Spark's own check of streaming plans lets through too: of the documented and of random queries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ouzel.errors import NotSupported
from ouzel.session import load_text
from ouzel.spark.lowering.streaming import OutputMode, StreamingQuery, streaming_queries
from tests.fuzz.hunt import question

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCUMENTED = Path(__file__).parents[3] / "doc_sources/batch_streamed.sql"
SEEDS = range(40)


def documented() -> Iterator[str]:
    tables, *parts = re.split(r"^-- query: .+\n", DOCUMENTED.read_text(), flags=re.MULTILINE)
    return (tables + part for part in parts)


def random_queries(directory: Path) -> Iterator[str]:
    for seed in SEEDS:
        yield "\n".join(question(seed, directory))


def let_through(text: str, directory: Path) -> tuple[StreamingQuery, ...]:
    program = load_text(text, directory, "asked").program
    try:
        return streaming_queries(program, directory, "asked")
    except NotSupported:
        return ()


def check(query: StreamingQuery, spark: SparkSession, nothing: Path) -> OutputMode:
    """Let Spark check the plan as it does when a query starts, and analyse what is left for each micro-batch."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    from ouzel.spark.io.bucket_numbers import choose_buckets
    from ouzel.spark.io.in_state import in_state

    def read_stream(_: Any, __: str, columns: str, *___: Any, end_mark: str = "", **____: Any) -> Any:
        mark = f", `{end_mark}` boolean" if end_mark else ""
        return spark.readStream.schema(columns.replace(" NOT NULL", "") + mark).parquet(str(nothing))

    names: dict[str, Any] = {"spark": spark, "F": F, "T": T, "read_stream": read_stream}
    names["in_state"] = partial(in_state, buckets=choose_buckets(2))
    exec(query.functions, names)
    exec(query.text, names)
    exec(query.after, names)
    frame, jvm = names[query.frame], spark._jvm
    mode = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, query.mode.name.capitalize())()
    checker = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
    checker.checkForStreaming(frame._jdf.queryExecution().analyzed(), mode)
    finished = names["finish"](spark.createDataFrame([], frame.schema)) if query.after else frame
    assert set(query.keys) <= set(finished.columns)
    return query.mode


@pytest.mark.spark
@pytest.mark.slow
def test_spark_refuses_nothing_that_was_let_through(spark: SparkSession, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    texts = [*documented(), *random_queries(tmp_path)]
    modes = [check(query, spark, nothing) for text in texts for query in let_through(text, tmp_path)]
    assert set(modes) == set(OutputMode)
    assert len(modes) > 0.8 * len(texts)
