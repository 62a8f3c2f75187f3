"""A Python function and an aggregate of the user's own are rows in one file: every engine computes them, or refuses them and says why."""

from __future__ import annotations

from functools import reduce
from operator import xor
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import ouzel
from ouzel.compiler.types import VARCHAR
from ouzel.errors import NotSupported, OuzelError, QueryError
from ouzel.session import Job, load_text
from ouzel.spark.lowering import run_job, spark_job
from tests.extending.toy_aggregate import XOR
from tests.extending.toy_functions import halved, shout
from tests.law.engines import folded, run_to_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWN = (shout, halved, XOR)
WORDS = "CREATE TABLE words (n BIGINT, word VARCHAR) WITH ('connector' = 'file', 'path' = 'words.json', 'format' = 'json');\n"
SHOUTED = "SELECT n, SHOUT(word, n) AS loud, Halved(n * 2) + 1 AS next FROM words WHERE SHOUT(word, 0) <> 'B';"
GROUPED = "SELECT word, TOY_XOR(n) AS bits, COUNT(*) AS rows, TOY_XOR(n) FILTER (WHERE n > 2) AS large FROM words GROUP BY word;"
ROWS = [(1, "a"), (2, "b"), (3, None), (4, "c"), (5, "a"), (None, "a"), (7, "c")]


@pytest.fixture(autouse=True)
def _words(tmp_path: Path) -> None:
    pl.DataFrame(ROWS, schema={"n": pl.Int64, "word": pl.String}, orient="row").write_ndjson(tmp_path / "words.json")


def job(query: str, directory: Path, *pairs: tuple[str, str]) -> Job:
    return load_text(WORDS + query, directory, "own", pairs, OWN)


def shouted() -> list[tuple[object, ...]]:
    rows = [(n, word, n) for n, word in ROWS if word is not None and word != "b"]
    return in_order(
        (n, None if n is None else word.upper() + "!" * n, None if n is None else n + 1) for n, word, _ in rows
    )


def grouped() -> list[tuple[object, ...]]:
    of: dict[str | None, list[int | None]] = {}
    for n, word in ROWS:
        of.setdefault(word, []).append(n)
    some = {word: [n for n in values if n is not None] for word, values in of.items()}

    def bits(values: list[int]) -> int | None:
        return reduce(xor, values) if values else None

    return in_order((word, bits(some[word]), len(of[word]), bits([n for n in some[word] if n > 2])) for word in of)


def in_order(rows: object) -> list[tuple[object, ...]]:
    return sorted(rows, key=repr)  # type: ignore[call-overload, no-any-return]


CASES = pytest.mark.parametrize(
    ("query", "expected"), [(SHOUTED, shouted()), (GROUPED, grouped())], ids=["function", "aggregate"]
)


@CASES
@pytest.mark.parametrize("engine", ["memory", pytest.param("heron", marks=pytest.mark.server)])
def test_streams_compute_them(tmp_path: Path, query: str, expected: list[tuple[object, ...]], engine: str) -> None:
    made = job(query, tmp_path, ("parallelism", "2"), ("batch.rows", "3"))
    frames, _ = run_to_end(made, engine)
    assert in_order(folded(made, frames).rows()) == expected


@pytest.mark.spark
@CASES
def test_a_batch_job_computes_them(
    tmp_path: Path, spark: SparkSession, query: str, expected: list[tuple[object, ...]]
) -> None:
    text = spark_job(job(query, tmp_path).program, tmp_path)
    assert in_order(tuple(row) for row in run_job(text, spark).collect()) == expected


@pytest.mark.spark
@CASES
def test_structured_streaming_computes_them(
    tmp_path: Path, spark: SparkSession, query: str, expected: list[tuple[object, ...]]
) -> None:
    from tests.spark.streaming.conftest import answer

    rows, _ = answer(job(query, tmp_path), spark)
    assert in_order(rows.rows()) == expected


def test_a_row_whose_function_raises_is_refused_as_others_are(tmp_path: Path) -> None:
    query = "SELECT Halved(n) AS half FROM words;"
    made = job(query, tmp_path, ("error.policy", "skip"))
    frames, status = run_to_end(made, "memory")
    assert sorted(row for (row,) in folded(made, frames).rows() if row is not None) == [1, 2]
    assert status.rows_bad == 4
    with pytest.raises(OuzelError, match="halved"):
        run_to_end(job(query, tmp_path), "memory")


def test_a_function_that_gives_too_little_says_so(tmp_path: Path) -> None:
    few = ouzel.function(("VARCHAR",), "VARCHAR", name="few")(lambda text: text.head(1))
    made = load_text(WORDS + "SELECT FEW(word) AS w FROM words;", tmp_path, "few", (), (few,))
    with pytest.raises(OuzelError, match="gave a series of 1 for 7 rows; return a Polars series of as many values"):
        run_to_end(made, "memory")


@pytest.mark.parametrize(
    ("query", "own", "message"),
    [
        ("SELECT SHOUT(word) AS w FROM words;", OWN, "SHOUT does not take VARCHAR; write SHOUT(VARCHAR, BIGINT)"),
        ("SELECT SHOUT(word, 1) AS w FROM words;", (), "there is no function SHOUT"),
        ("SELECT word FROM words;", (ouzel.function((VARCHAR,), VARCHAR, name="upper")(str),), "there is a function UPPER already"),
        (
            "SELECT TOY_XOR(c) AS x FROM (SELECT word, COUNT(*) AS c FROM words GROUP BY word) AS t;",
            OWN,
            "TOY_XOR cannot take back what it has added, and the query's rows change",
        ),
        ("SELECT TOY_XOR(word) AS x FROM words;", OWN, "TOY_XOR takes a whole number, not VARCHAR"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(
    tmp_path: Path, query: str, own: tuple[ouzel.function, ...], message: str
) -> None:
    with pytest.raises(QueryError) as refused:
        load_text(WORDS + query, tmp_path, "own", (), own)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("query", "own", "message"),
    [
        ("SELECT LAMBDA(word) AS w FROM words;", (ouzel.function((VARCHAR,), VARCHAR, name="lambda")(lambda text: text),), "imported"),
        ("SELECT TOY_XOR(DISTINCT n) AS x FROM words;", OWN, "TOY_XOR(DISTINCT ...) has no Spark form"),
    ],
)  # fmt: skip
def test_what_spark_cannot_do_is_refused(
    tmp_path: Path, query: str, own: tuple[ouzel.function, ...], message: str
) -> None:
    made = load_text(WORDS + query, tmp_path, "own", (), own)
    with pytest.raises(NotSupported) as refused:
        spark_job(made.program, tmp_path)
    assert message in str(refused.value)
