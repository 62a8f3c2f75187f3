"""What a Python program does with a run: text and paths, rows as they come, what is refused, and how."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import ouzel
from ouzel.compiler.plan import WEIGHT
from ouzel.runtime.process.job import RunDescription, create_home
from ouzel.runtime.run import RunState
from ouzel.runtime.simulator import engine
from tests.process.topologies import Same, packed

NUMBERS = (
    "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen'{rows}, 'fields.n.kind' = 'sequence');\nSELECT n FROM t;"
)
TEN = NUMBERS.format(rows=", 'rows' = '10'")
ENDLESS = NUMBERS.format(rows=", 'rate' = '2000'")


class Ten(ouzel.RowSpout):
    """Emits one row."""

    fields = ("n",)

    def next_row(self) -> None:
        return None


def test_a_text_is_a_query_and_a_path_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "q.sql").write_text(TEN)
    monkeypatch.chdir(tmp_path)
    for what in (TEN, "q.sql", str(tmp_path / "q.sql"), tmp_path / "q.sql", ouzel.query(TEN)):
        assert ouzel.table(what, "memory")["n"].to_list() == list(range(10))
    assert ouzel.run(TEN, "memory").rows_in == 10


def test_rows_come_while_the_run_goes_on_and_the_context_stops_it() -> None:
    with ouzel.start(ENDLESS, "memory") as run:
        for number, row in enumerate(run):
            assert row == {"n": number}
            if number == 50:
                break
    assert run.status().state is ouzel.RunState.STOPPED
    assert run.wait()


def test_an_error_in_the_context_ends_the_run_at_once() -> None:
    run = ouzel.start(ENDLESS, "memory")
    with pytest.raises(ZeroDivisionError), run:
        print(1 / (0 if run.wait_for_results() in (True, False) else 1))
    assert any(event.kind == "dropped" for event in run.status().events)


def test_rows_end_with_the_input_and_those_taken_back_have_a_weight() -> None:
    counts = TEN.replace("SELECT n FROM t", "SELECT n % 2 AS k, COUNT(*) AS many FROM t GROUP BY n % 2 EMIT CHANGES")
    with ouzel.start(counts, "memory") as run:
        rows = list(run)
    assert sum(row["many"] * row[WEIGHT] for row in rows) == 10


def test_rows_come_asynchronously() -> None:
    async def numbers() -> list[int]:
        with ouzel.start(TEN, "memory") as run:
            return [row["n"] async for row in run]

    assert asyncio.run(numbers()) == list(range(10))


def test_a_run_that_fails_says_so_after_its_rows() -> None:
    failing = TEN.replace("SELECT n", "SELECT 10 / (n - 5) AS n")
    with pytest.raises(ouzel.TopologyError, match=r"(?i)division by zero"), ouzel.start(failing, "memory") as run:
        list(run)


def test_a_notebook_shows_queries_and_runs() -> None:
    assert "<pre>" in ouzel.query(TEN)._repr_html_()
    with ouzel.start(TEN, "memory") as run:
        list(run)
        assert "10 rows in" in run._repr_html_()


def test_a_schema_takes_types_of_python_and_of_sql() -> None:
    by_type = ouzel.schema(
        a=str, b=int, c=float, d=bool, e=bytes, f=date, g=datetime, h=timedelta, i=Decimal, j=list[int], k=dict[str, float]
    )  # fmt: skip
    by_name = ouzel.schema(
        a="STRING", b="bigint", c="DOUBLE", d="BOOLEAN", e="BYTES", f="DATE", g="TIMESTAMP", h=by_type["h"].type,
        i="DECIMAL(38, 18)", j="ARRAY<BIGINT>", k="MAP<STRING, DOUBLE>",
    )  # fmt: skip
    assert by_type == by_name
    assert str(ouzel.schema(x="ROW<a INT, b SMALLINT>")["x"].type).startswith("ROW")
    with pytest.raises(
        ouzel.PlanError, match=r"column 'x' cannot be set; write str, int, float, .*or an SQL type as text"
    ):
        ouzel.schema(x=set)
    with pytest.raises(ouzel.QueryError, match=r"(?i)no type"):
        ouzel.schema(x="NUMBR")


def wrong_parallelism(builder: ouzel.TopologyBuilder) -> None:
    builder.set_bolt("same", Same(), ouzel.schema(n=int), parallelism=0).shuffle_grouping("ten")


def missing_component(builder: ouzel.TopologyBuilder) -> None:
    builder.set_bolt("same", Same(), ouzel.schema(n=int)).shuffle_grouping("tne")


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (wrong_parallelism, "'same' cannot have a parallelism of 0; write a whole number, 1 or more"),
        (missing_component, "and there is no such component; did you mean 'ten'?"),
    ],
)
def test_what_cannot_be_built_is_refused(declare: Callable[[Any], None], said: str) -> None:
    builder = ouzel.TopologyBuilder("wrong")
    builder.set_spout("ten", Ten(), ouzel.schema(n=int))

    def build() -> None:
        declare(builder)
        builder.build()

    with pytest.raises(ouzel.PlanError, match=re.escape(said)):
        build()


def test_what_cannot_be_pickled_is_named(tmp_path: Path) -> None:
    spout = Ten()
    spout.lock = threading.Lock()  # type: ignore[attr-defined]
    builder = ouzel.TopologyBuilder("locked")
    builder.set_spout("ten", spout, ouzel.schema(n=int))
    topology = builder.build()
    job = RunDescription("locked", create_home(tmp_path), tmp_path, topology, packed(topology))
    said = r"'ten' cannot be sent to its tasks: its attribute 'lock' is a lock, which cannot be pickled; make it in open\(\)"
    with pytest.raises(ouzel.TopologyError, match=said):
        job.save()


ENTERED, RELEASED = threading.Event(), threading.Event()


def wait_for_release(number: int) -> int:
    ENTERED.set()
    RELEASED.wait()
    return number


def test_a_run_ends_though_a_function_does_not_return(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can end a thread: whoever left the run by an error, or by Ctrl-C twice, waited for ever."""
    monkeypatch.setattr(engine, "END_S", 0.01)
    run = ouzel.start(ouzel.Source.of([1]).map(wait_for_release).job(), engine="memory")
    try:
        ENTERED.wait()
        status = run.end()
        assert status.state is RunState.STOPPED
        (told,) = (event.text for event in status.events if event.kind == "note")
        assert "a call has not returned for 0.01 s" in told
        assert f"{Path(__file__).name}:" in told
        assert run.end() == run.stop() == status
    finally:
        RELEASED.set()
    assert run.wait()
