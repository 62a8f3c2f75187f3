"""A Python function and an aggregate of the user's own are rows in one file: every engine computes them, or refuses them and says why."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from operator import xor
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import ouzel
from ouzel import monoid
from ouzel.compiler.functions.python import FAILED, call_columns, call_rows
from ouzel.compiler.types import VARCHAR
from ouzel.errors import NotSupported, OuzelError, QueryError
from ouzel.session import Job, load_text
from ouzel.spark.lowering import run_job, spark_job
from tests.extending.toy_aggregate import XOR
from tests.extending.toy_functions import halved, leave, shout, strict
from tests.law.engines import folded, run_to_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONGEST = monoid.UserDefined("longest", "", partial(max, key=lambda text: (len(text), text)), VARCHAR, commutative=True)
EACH = monoid.TupleOf((monoid.Sum(), monoid.TopK(2)))
OWN = (shout, halved, strict, XOR, monoid.as_function(LONGEST), monoid.as_function(EACH, "each"))
WORDS = "CREATE TABLE words (n BIGINT, word VARCHAR) WITH ('connector' = 'file', 'path' = 'words.json', 'format' = 'json');\n"
SHOUTED = "SELECT n, SHOUT(word, n) AS loud, Halved(n * 2) + 1 AS next FROM words WHERE SHOUT(word, 0) <> 'B';"
GROUPED = "SELECT word, TOY_XOR(n) AS bits, COUNT(*) AS rows, TOY_XOR(n) FILTER (WHERE n > 2) AS large FROM words GROUP BY word;"
ADDED = (
    "SELECT n < 4 AS small, LONGEST(word) AS longest, LONGEST(word) FILTER (WHERE n > 9) AS none, EACH(ROW(n, word)) AS each "
    "FROM words GROUP BY n < 4;"
)
GUARDED = (
    "SELECT SUM(HALVED(n)) FILTER (WHERE n % 2 = 0) AS halves, COUNT_IF(n % 2 = 1 OR HALVED(n) > 1) AS some, "
    "SUM(CASE n % 2 WHEN 0 THEN HALVED(n) + 1 END) AS more FROM words;"
)
ONCE = "SELECT n < 4 AS small, EACH(DISTINCT ROW(n / 3, word)) AS once FROM words GROUP BY n < 4;"
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


def each(rows: Iterable[tuple[int | None, str | None]]) -> tuple[object, ...]:
    rows = list(rows)
    numbers = [n for n, _ in rows if n is not None]
    return sum(numbers) if numbers else None, sorted((word for _, word in rows if word), reverse=True)[:2]


def small(wanted: bool | None) -> list[tuple[int | None, str | None]]:
    return [(n, word) for n, word in ROWS if (None if n is None else n < 4) is wanted]


def added() -> list[tuple[object, ...]]:
    return in_order(
        (way, max(word or "" for _, word in small(way)), "", each(small(way))) for way in (True, False, None)
    )


def once() -> list[tuple[object, ...]]:
    return in_order(
        (way, each({(n if n is None else n // 3, word) for n, word in small(way)})) for way in (True, False, None)
    )


def in_order(rows: object) -> list[tuple[object, ...]]:
    return sorted((tuple(map(plain, row)) for row in rows), key=repr)  # type: ignore[attr-defined]


def plain(value: object) -> object:
    """A ROW as the tuple of its fields, however an engine gives it."""
    return tuple(value.values()) if isinstance(value, dict) else tuple(value) if isinstance(value, tuple) else value


CASES = pytest.mark.parametrize(
    ("query", "expected"),
    [(SHOUTED, shouted()), (GROUPED, grouped()), (ADDED, added()), (GUARDED, [(3, 5, 5)])],
    ids=["function", "aggregate", "monoid", "guarded"],
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


LINES = r"\(at \S*toy_functions\.py:\d+\)"


def test_a_stream_says_what_a_function_raised_and_where(tmp_path: Path) -> None:
    """Of each row its own: the reason was 'halved raised', and of a function of columns an expression of Polars'."""
    dead = (("error.policy", "dead-letter"), ("dead-letter.path", str(tmp_path / "dead")))
    run_to_end(job("SELECT HALVED(n) AS half FROM words;", tmp_path, *dead), "memory")
    told = sorted(str(json.loads(line)) for line in (tmp_path / "dead").read_text().splitlines())
    assert len(told) == 4
    for number, text in zip((1, 3, 5, 7), told, strict=True):
        assert re.search(rf"halved raised ValueError: {number} is odd {LINES} in HALVED\(n\)", text)
    with pytest.raises(OuzelError, match=rf"the function strict raised ValueError: none of these {LINES}"):
        run_to_end(job("SELECT STRICT(n) AS n FROM words;", tmp_path), "memory")


def test_a_function_that_ends_its_process_refuses_its_row_in_whichever_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polars calls in threads of its own, and Spark in workers of its own: os._exit ended them."""
    monkeypatch.setattr(os, "_exit", lambda status: None)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(call_rows, leave.python, pl.Int64(), [pl.Series([1, 2])]).result()
        raised = threads.submit(call_columns, leave.python, pl.Int64(), [pl.Series([1])]).exception()
    assert re.fullmatch(rf"raised SystemExit: os\._exit\(3\) {LINES}", answer.struct.field(FAILED)[0])
    assert re.fullmatch(rf"the function leave raised SystemExit: os\._exit\(3\) {LINES}", str(raised))


@pytest.mark.spark
def test_a_batch_job_says_what_a_function_raised(tmp_path: Path, spark: SparkSession) -> None:
    text = spark_job(job("SELECT HALVED(n) AS half FROM words;", tmp_path).program, tmp_path)
    with pytest.raises(
        Exception, match=r"the function tests\.extending\.toy_functions:halved raised ValueError: 1 is odd"
    ):
        run_job(text, spark).collect()


@pytest.mark.spark
def test_distinct_values_add_up_in_python(tmp_path: Path, spark: SparkSession) -> None:
    made = job(ONCE, tmp_path)
    frames, _ = run_to_end(made, "memory")
    assert in_order(folded(made, frames).rows()) == once()
    assert in_order(run_job(spark_job(made.program, tmp_path), spark).collect()) == once()


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
