"""A source may be a changelog: its rows are taken back through every operator, and who cannot take them refuses them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from ouzel.compiler.plan import WEIGHT
from ouzel.connectors import CONNECTORS
from ouzel.connectors.base import never
from ouzel.errors import NotSupported, QueryError
from ouzel.runtime.simulator.faults import SURVIVABLE
from ouzel.runtime.simulator.simulation import simulate
from ouzel.session import Job, load_text
from ouzel.spark.lowering import spark_job
from ouzel.spark.lowering.streaming import streaming_queries
from tests.extending import toy_changelog
from tests.law.engines import folded

ROWS = 200
ORDERS = f"CREATE TABLE orders (customer BIGINT, amount BIGINT) WITH ('connector' = 'changes', 'rows' = '{ROWS}');\n"
ALL = "SELECT customer, amount * 2 AS twice FROM orders WHERE amount > -5;"
GROUPED = """SELECT customer, COUNT(*) AS n, SUM(amount) AS total, MIN(amount) AS least, MAX(amount) AS most,
  COUNT(DISTINCT amount) AS kinds FROM orders GROUP BY customer;"""


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONNECTORS, "changes", toy_changelog.CONNECTOR)


def there() -> list[tuple[int, int]]:
    """The orders that are not cancelled, counted up in plain Python."""
    left: Counter[tuple[int, int]] = Counter()
    for partition in range(2):
        for customer, amount, weight in toy_changelog.changes(partition, ROWS).rows():
            left[customer, amount] += weight
    return sorted(left.elements())


def grouped() -> list[tuple[int, ...]]:
    of: dict[int, list[int]] = {}
    for customer, amount in there():
        of.setdefault(customer, []).append(amount)
    return [(key, len(v), sum(v), min(v), max(v), len(set(v))) for key, v in sorted(of.items())]


def answer(query: str, directory: Path, seed: int) -> list[tuple[int, ...]]:
    random = Random(seed)
    pairs = [
        ("parallelism", str(random.randint(1, 3))),
        ("containers", str(random.randint(1, 2))),
        ("batch.rows", "17"),
    ]
    job = load_text(ORDERS + query, directory, "orders", pairs)
    faults = random.choices(SURVIVABLE, k=random.randint(0, 4))
    run = simulate(job.topology, job.packing, directory, seed=seed, faults=faults)
    return sorted(folded(job, run.frames.values()).rows())


@pytest.mark.parametrize("seed", range(20))
def test_what_is_taken_back_is_in_no_answer(tmp_path: Path, seed: int) -> None:
    assert answer(ALL, tmp_path, seed) == [(customer, 2 * amount) for customer, amount in there() if amount > -5]
    assert answer(GROUPED, tmp_path, seed) == grouped()


def test_a_sink_that_only_appends_refuses_it(tmp_path: Path) -> None:
    into = "CREATE TABLE out (customer BIGINT, amount BIGINT) WITH ('connector' = 'kafka', 'bootstrap.servers' = 'b:1',"
    into += " 'topic' = 't', 'format' = 'json');\n"
    with pytest.raises(QueryError, match=r"out \(kafka\) only takes new rows, and orders takes rows back") as refused:
        load_text(f"{ORDERS}{into}INSERT INTO out SELECT customer, amount FROM orders;", tmp_path, "q")
    assert "INSERT INTO out SELECT customer, amount FROM orders;\n              ^^^" in str(refused.value)


def test_a_stream_of_spark_reads_it_with_weights_and_a_batch_what_is_left(tmp_path: Path) -> None:
    job: Job = load_text(ORDERS + ALL, tmp_path, "orders")
    assert "orders = read_table(" in spark_job(job.program, tmp_path)
    (query,) = streaming_queries(job.program, tmp_path, "orders")
    assert "orders = read_stream(" in query.text
    assert WEIGHT in query.text


def test_a_batch_refuses_rows_that_spark_cannot_compare(tmp_path: Path) -> None:
    job = load_text(
        f"{ORDERS.replace('amount BIGINT', 'amount ROW<m MAP<INT, INT>>')}SELECT * FROM orders;", tmp_path, "q"
    )
    with pytest.raises(
        NotSupported,
        match=r"Spark cannot tell which, for it does not compare maps \(amount\); declare the column VARCHAR",
    ):
        spark_job(job.program, tmp_path)


def test_a_source_that_does_not_do_what_its_row_says_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert toy_changelog.CONNECTOR.reads
    wrong = replace(toy_changelog.CONNECTOR, reads=replace(toy_changelog.CONNECTOR.reads, changelog=never))
    monkeypatch.setitem(CONNECTORS, "changes", wrong)
    with pytest.raises(Exception, match="rows have weights, and the connector's row says that they have none"):
        answer(ALL, tmp_path, 0)
