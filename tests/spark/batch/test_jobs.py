"""The golden jobs, those of the examples among them, run as they stand, in three ways: each gives the answer of the memory engine.

By spark-submit in a Python that has no Ouzel, on a standalone cluster whose workers have none, and in Spark Connect. Each way is one JVM.
All are submitted, and run as users run them. The others run without the code that Spark compiles, and only as many as have all that is
another there: on the cluster what executors read, write and are sent; in Spark Connect, whose API is its own, all that a job calls.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from ouzel.session import load_text
from tests.law.compare import difference
from tests.law.engines import folded, run_to_end
from tests.servers.kafka import spark_jars
from tests.spark.batch.plain import INTERPRETED, LIMIT_S
from tests.spark.batch.test_kafka import values

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker
    from tests.servers.spark import StandaloneCluster
    from tests.spark.batch.plain import PlainPython

pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(LIMIT_S)]

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "sql_examples"
JOBS = ROOT / "tests" / "golden" / "jobs"
QUERIES = {query.stem: query for query in [*EXAMPLES.glob("*.sql"), *JOBS.glob("*.sql")]}
DRIVER = Path(__file__).with_name("drive.py")

SINKS = {
    "csv_dialect": ["totals"],
    "kafka_window": ["pages"],
    "late_carriers": ["late_carriers"],
    "two_sinks": ["late_by_day", "late_by_origin"],
}
"""What INSERT INTO writes; the others show their rows."""
WRITTEN_TOPICS = {"kafka_window": "pages", "two_sinks": "late"}
WITH_WHEEL = {name for name in QUERIES if "from ouzel" in (JOBS / f"{name}.py").read_text()}
"""Jobs that read or write with Ouzel, and need its wheel."""

FIRST = "storms"
"""The one that makes the session of each way, and prints."""
USES = {
    "cluster": re.compile(r"^(?:from|import) .+|^def \w+|\b(?:spark\.read|write|F\.udf)\b[\w.]*|\bformat\(\S+\)", re.M),
    "connect": re.compile(r"\bF\.\w+|(?<!\bargs)\.[a-z]\w*"),
}
"""What of a job's code is another thing there than where it is submitted."""

SHARE = 8
"""The first of so many parts of the year is enough: six weeks in which there was a storm."""

ANNOUNCED = 256
"""One of so many announcements is enough."""


def having_all(uses: Mapping[str, Set[str]], chosen: Set[str]) -> set[str]:
    """These, and as few more as it takes to have all that any uses; of equals the first by name."""
    left = set().union(*uses.values()).difference(*(uses[name] for name in chosen))
    if not left:
        return set(chosen)
    return having_all(uses, chosen | {max(sorted(uses), key=lambda name: len(uses[name] & left))})


def run_by(way: str) -> list[str]:
    """The jobs that run so: those that need the wheel are the last, where all before have shown that they need none."""
    names = set(QUERIES)
    if way in USES:
        code = {name: (JOBS / f"{name}.py").read_text().split('"""', 2)[2] for name in names - WITH_WHEEL}
        names = having_all({name: set(USES[way].findall(text)) for name, text in code.items()}, {FIRST}) | WITH_WHEEL
    return sorted(names, key=lambda name: (name in WITH_WHEEL, name != FIRST, name))


@dataclass(frozen=True)
class Inputs:
    """What the jobs read: a folder, and a broker."""

    folder: Path
    broker: str

    def query(self, name: str) -> str:
        """The SQL over these."""
        ends = "'topic' = 'clicks', 'start' = 'earliest', 'end' = 'latest',"  # which a batch does unasked
        text = QUERIES[name].read_text().replace("'topic' = 'clicks',", ends).replace("broker:9092", self.broker)
        return text.replace("s3a://lake/claims/*.csv", "dialect.csv")

    def answer(self, name: str, table: str) -> pl.DataFrame:
        """What the memory engine says: of an INSERT INTO, what its SELECT gives."""
        text = self.query(name)
        for other in SINKS.get(name, []):
            whole = "" if other == table else ".*?;"
            text = re.sub(rf"INSERT INTO {other}\b{whole}", "", text, flags=re.S)
        job = load_text(text, self.folder, name)
        return folded(job, run_to_end(job, "memory", 200)[0])


@pytest.fixture(scope="module")
def inputs(kafka: KafkaBroker, tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """Small files, and a topic."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "data").mkdir()
    (folder / "orders").mkdir()
    real = EXAMPLES / "data"
    for name in ("flights", "weather"):
        year = pl.read_parquet(real / f"{name}.parquet").sort("ts")
        year.head(year.height // SHARE).write_parquet(folder / f"data/{name}.parquet")
    lines = (real / "announcements.txt").read_text().splitlines(keepends=True)
    (folder / "data/announcements.txt").write_text("".join(lines[::ANNOUNCED]))
    shutil.copy(EXAMPLES / "claims.csv", folder)
    random = Random(1)
    for number in range(2):
        lines = "".join(json.dumps(order(random)) + "\n" for _ in range(200))
        lines = lines.replace('"city"', '"City"').replace('"sku"', '"SKU"') if number else lines
        (folder / f"orders/{number}.json").write_text(lines)
    rows = [
        {
            "a b": random.randint(0, 9),
            "class": random.choice("xy"),
            'it\'s "x"': random.choice(["p", None]),
            "{n}": number,
        }
        for number in range(50)
    ]
    (folder / 'it\'s {here} "now".json').write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "dialect.csv").write_text(DIALECT)
    for table, frame in orders_of_customers(random).items():
        frame.write_parquet(folder / f"{table}.parquet")
    kafka.create_topic("clicks")
    click(kafka, random)
    return Inputs(folder, kafka.address)


def orders_of_customers(random: Random) -> dict[str, pl.DataFrame]:
    """Tables to join: some orders are of no customer, and some customers have none."""
    cities, placed = ["Rome", "Oslo", "Bern", None], datetime(2024, 1, 1)
    customers = [(id, f"c{id}", random.choice(cities), id % 3 == 0) for id in range(20)]
    orders = [(id, random.randrange(5, 25), placed, Decimal(random.randrange(50_000)) / 100) for id in range(200)]
    items = [(random.randrange(250), random.choice("abc"), random.randrange(4)) for _ in range(400)]
    money, time = pl.Decimal(10, 2), pl.Datetime("us")
    return {
        "customers": table(customers, id=pl.Int64, name=pl.String, city=pl.String, closed=pl.Boolean),
        "orders": table(orders, id=pl.Int64, customer=pl.Int64, placed=time, total=money),
        "items": table(items, order_id=pl.Int64, sku=pl.String, quantity=pl.Int32),
    }


def table(rows: list[tuple[Any, ...]], **columns: Any) -> pl.DataFrame:
    """Rows under these columns."""
    return pl.DataFrame(rows, schema=columns, orient="row")


DIALECT = """kind;claim;amount;filed
'wa;ter';1;10.25;2024-01-01 10:00:00
NA;2;1.00;2024-01-01 10:00:00
'wa;ter';3;NA;NA
'it''s';4;-0.10;2024-01-02 10:00:00
NA;5;2.50;2024-01-02 10:00:00
"""


def order(random: Random) -> dict[str, object]:
    """An order of which this and that is not there."""
    placed = datetime(2023, 12, 25) + timedelta(minutes=random.randrange(20_000))
    address = {"city": random.choice(["Rome", "Oslo", None]), "zip": random.choice(["10001", "2"])}
    whole: dict[str, object] = {
        "id": random.randrange(10**12),
        "customer": random.choice([{"name": "a", "address": address}, {"name": "b"}, None]),
        "items": random.choice([[item(random) for _ in range(random.randint(0, 5))], None]),
        "labels": random.choice([{"origin": "web"}, {}, None]),
        "note": random.choice([" a note", "", None]),
        "placed": f"{placed:%Y-%m-%dT%H:%M:%SZ}",
    }
    return {name: value for name, value in whole.items() if name == "id" or random.random() < 0.9}


def item(random: Random) -> dict[str, object]:
    """One thing of an order."""
    return {"sku": random.choice("abc"), "quantity": random.randint(-1, 4), "price": random.randint(1, 9_999) / 100}


def click(kafka: KafkaBroker, random: Random) -> None:
    """Clicks of some hours, in order of time."""
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": kafka.address})
    first_ms = int(time.time()) * 1_000 - 4 * 3_600_000  # a broker forgets what is a week old
    for number in range(600):
        row = json.dumps({"page": random.choice(["/", "/a", "/b"]), "visitor": random.randint(1, 40)})
        producer.produce("clicks", row, timestamp=first_ms + 20_000 * number, partition=number % 2)
    assert producer.flush(30) == 0


class Way:
    """One way of running jobs, and what they told."""

    def __init__(self, name: str, inputs: Inputs, wheel: Path, folder: Path, run: Callable[[Path], str]) -> None:
        self._name, self._inputs, self._folder = name, inputs, folder
        (folder / "jobs.json").write_text(json.dumps([self._job(job, wheel) for job in run_by(name)]))
        self.printed = run(folder / "jobs.json")
        self.told: Mapping[str, Mapping[str, Any]] = json.loads((folder / "told.json").read_text())

    def _job(self, name: str, wheel: Path) -> dict[str, object]:
        text = (JOBS / f"{name}.py").read_text().replace("broker:9092", self._inputs.broker)
        if name in WRITTEN_TOPICS:
            topic = f'"topic": "{WRITTEN_TOPICS[name]}"'
            assert topic in text
            text = text.replace(topic, f'"topic": "{self.topic(name)}"')
        path = self._folder / f"{name}.py"
        path.write_text(text)
        arguments = ["--folder", str(self._inputs.folder)] if "--folder" in text else []
        arguments += ["--claims", str(self._inputs.folder / "dialect.csv")] if name == "csv_dialect" else []
        for table in SINKS.get(name, []):
            arguments += [f"--{table}", str(self._folder / table)] if f'"--{table}"' in text else []
        shown = str(self._folder / f"{name}-shown")
        return {
            "name": name,
            "path": str(path),
            "arguments": arguments,
            "shown": shown,
            "wheel": str(wheel) if name in WITH_WHEEL else "",
        }

    def topic(self, name: str) -> str:
        """The topic that a job writes here."""
        return f"{self._name}-{WRITTEN_TOPICS[name]}"

    def rows(self, name: str, table: str, kafka: KafkaBroker) -> pl.DataFrame:
        """What a job gave."""
        if table == "result":
            return pl.read_parquet(self._folder / f"{name}-shown/*.parquet")
        if table in ("pages", "late_by_origin"):
            return pl.DataFrame([row for rows in values(kafka, self.topic(name)).values() for row in rows])
        if table == "totals":
            return pl.read_csv(self._folder / table / "*.csv", infer_schema=False).drop("op")
        return pl.read_parquet(self._folder / table / "*.parquet")


WAYS = ("submitted", "cluster", "connect")


@pytest.fixture(scope="module")
def way(
    plain: PlainPython,
    inputs: Inputs,
    kafka: KafkaBroker,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], Way]:
    """Each way, gone once."""
    jars = ("--conf", "spark.jars=" + ",".join(map(str, spark_jars())))

    @cache
    def gone(name: str) -> Way:
        for written in WRITTEN_TOPICS.values():
            kafka.create_topic(f"{name}-{written}")
        cluster: Callable[[], StandaloneCluster] = lambda: request.getfixturevalue("cluster")  # noqa: E731
        run: Mapping[str, Callable[[Path], str]] = {
            "submitted": lambda jobs: plain.submit(DRIVER, *jars, given=[str(jobs)]),
            "cluster": lambda jobs: plain.submit(DRIVER, *jars, *INTERPRETED, master=cluster().url, given=[str(jobs)]),
            "connect": lambda jobs: plain.connect(DRIVER, *jars, *INTERPRETED, given=[str(jobs)]),
        }
        return Way(name, inputs, plain.wheel, tmp_path_factory.mktemp(name), run[name])

    return gone


@pytest.fixture(scope="module")
def answer(inputs: Inputs) -> Callable[[str, str], pl.DataFrame]:
    """What the memory engine says, asked once."""
    return cache(inputs.answer)


@pytest.mark.parametrize(("by", "name"), [(by, name) for by in WAYS for name in run_by(by)])
def test_a_job_answers_as_the_memory_engine(
    by: str, name: str, way: Callable[[str], Way], answer: Callable[[str, str], pl.DataFrame], kafka: KafkaBroker
) -> None:
    told = way(by).told[name]
    if by == "connect" and name in WITH_WHEEL:
        assert (
            "Spark Connect has it elsewhere; give the job to spark-submit, or read and write files only"
            in told["error"]
        )
        return
    assert told["error"] == ""
    assert told["ouzel"] == (name in WITH_WHEEL)
    for table in SINKS.get(name, ["result"]):
        expected, found = answer(name, table), way(by).rows(name, table, kafka)
        assert expected.height > 1, "an answer that tells something"
        assert (
            difference(expected.rename(dict(zip(expected.columns, found.columns, strict=True))), typed(found, expected))
            == ""
        )


@pytest.mark.parametrize("by", WAYS)
def test_a_job_prints_its_answer(
    by: str, way: Callable[[str], Way], answer: Callable[[str, str], pl.DataFrame]
) -> None:
    lines = [line for line in way(by).printed.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    expected = answer(FIRST, "result")
    assert cells[0] == expected.columns
    shown = {(row[0], row[2], float(row[3])) for row in cells[1:]}
    assert shown <= {(str(row[0]), row[2], row[3]) for row in expected.iter_rows()}
    assert len(cells) == min(expected.height, 20) + 1


def typed(found: pl.DataFrame, expected: pl.DataFrame) -> pl.DataFrame:
    """Texts as what they stand for."""
    read = lambda name, kind: pl.col(name).str.to_datetime() if kind.is_temporal() else pl.col(name).cast(kind)  # noqa: E731
    kinds = zip(found.columns, expected.dtypes, strict=True)
    return found.with_columns(
        read(name, kind) for name, kind in kinds if found[name].dtype == pl.String and kind != pl.String
    )


@pytest.mark.parametrize("by", WAYS[:2])
def test_bad_records_are_told_and_kept(
    by: str, way: Callable[[str], Way], inputs: Inputs, answer: Callable[[str, str], pl.DataFrame]
) -> None:
    letters = inputs.folder / "data" / "bad_claims.jsonl"
    assert f"claims: 6 bad records left out; they are in {letters}" in way(by).told["claims"]["said"]
    kept = sorted(set(letters.read_text().splitlines()))
    letters.unlink()
    inputs.answer("claims", "result")
    assert sorted(letters.read_text().splitlines()) == kept, "the same dead letters as the topology's"
