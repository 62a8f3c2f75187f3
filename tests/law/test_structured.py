"""The law, on Structured Streaming: whatever the micro-batches, the answer is the oracle's, less the rows that Spark reported late."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.law.cases import CASES, LATE, ON_TIME, Case
from tests.law.compare import difference
from tests.law.oracle import oracle_answer
from tests.law.structured import Answer, Streams, streaming_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_ONCE = 3
"""Queries that run at the same time: much of a micro-batch is waiting."""

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EPOCH = datetime(1970, 1, 1)

Answers = Mapping[Case, Future[Answer]]


def test_the_page_of_the_language_names_every_family_of_cases_and_what_streams_of_spark_take() -> None:
    page = (Path(__file__).parents[2] / "docs/sql.md").read_text().split("## What runs where")[1].split("## What is")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:2] == "| "]
    takes: dict[str, set[str]] = {}
    for _, topology, batch, streams, families in lines[1:]:
        assert (topology, batch) == ("yes", "yes")
        for family in families.split(", "):
            takes.setdefault(family, set()).add(streams)
    assert takes == {case.family: {"yes"} for case in CASES}


@pytest.fixture(scope="module")
def streams(one_partition: SparkSession, inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Streams:
    """The law's tables as streams."""
    return Streams(one_partition, inputs, tmp_path_factory.mktemp("parts"))


@pytest.fixture(scope="module")
def answers(streams: Streams, inputs: Path, request: pytest.FixtureRequest) -> Iterator[Answers]:
    """The answers of all cases that are asked for, as they come."""
    items = (item for item in request.session.items if item.path == Path(__file__))
    asked = dict.fromkeys(item.callspec.params["case"] for item in items if hasattr(item, "callspec"))
    # Planned before any thread starts: CPython 3.11 fails now and then where two of them parse (python/cpython#106905).
    queries = {case: streaming_of(case, inputs) for case in asked}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {case: pool.submit(streams.answer, query) for case, query in queries.items()}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("case", ON_TIME, ids=str)
def test_micro_batches_add_up_to_the_answer(case: Case, inputs: Path, answers: Answers) -> None:
    answer = answers[case].result()
    assert (found := difference(oracle_answer(case, inputs), answer.rows)) == "", f"{found}\n{answer.query}"
    assert answer.late == 0
    assert answer.batches > 1 or "nothing" in case.text or "single" in case.text


@pytest.mark.parametrize("case", LATE, ids=str)
def test_rows_that_were_dropped_as_late_are_missing_and_reported(
    case: Case, inputs: Path, streams: Streams, answers: Answers
) -> None:
    answer = answers[case].result()
    keys = [name for name in answer.rows.columns if name != "n"]
    *slide, size = map(int, re.findall(r"INTERVAL '(\d+)' SECONDS", case.text))
    (lateness,) = map(int, re.findall(r"LATENESS INTERVAL '(\d+)'", case.text) or [0])
    late = late_rows(streams, *slide or [size], size, lateness, 1 if answer.query.ours else 2, keys)
    assert late.height > 0, "no row is late: the test tests nothing"
    lacking = late.group_by(keys).agg(pl.len().cast(pl.Int64).alias("late"))
    kept = (
        oracle_answer(case, inputs)
        .join(lacking, on=keys, how="left")
        .with_columns(pl.col("n") - pl.col("late").fill_null(0))
    )
    assert (found := difference(kept.filter(pl.col("n") > 0).drop("late"), answer.rows)) == "", found
    assert answer.late == (late if answer.query.ours else late.unique(["batch", *keys])).height


def late_rows(streams: Streams, slide: int, size: int, lateness: int, batches: int, keys: list[str]) -> pl.DataFrame:
    """The rows of `late` in windows (in seconds) that had closed, `lateness` included, before the micro-batch came.

    Our operators have the watermark of the micro-batch before, Spark's own, as its manual says, that of two `batches` before.
    """
    marks, found = [EPOCH, EPOCH], []
    for number, part in enumerate(streams.cuts("late")):
        rows = pl.from_arrow(part).with_columns(pl.lit(number).alias("batch"))
        for back in range(0, size, slide):
            start = pl.col("ts").dt.truncate(f"{slide}s") - pl.duration(seconds=back)
            windows = rows.with_columns(window_start=start)
            found.append(
                windows.filter(pl.col("window_start") + pl.duration(seconds=size + lateness) <= marks[-batches]).select(
                    "batch", *keys
                )
            )
        marks.append(max(marks[-1], rows["ts"].max() - timedelta(seconds=5)))
    return pl.concat(found)
