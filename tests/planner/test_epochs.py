"""What epochs and effectively once ask of a query, said when it is planned."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ouzel.compiler.plan import Program
from ouzel.connectors import BUILT_IN, CONNECTORS
from ouzel.errors import NotSupported, OuzelError
from ouzel.explain import explain, explain_json
from ouzel.planner.api import BasicBolt, TopologyBuilder
from ouzel.planner.epochs import INTERVAL_MS, needs_epochs, why_without_epochs, with_epochs_of_run
from ouzel.planner.packing import pack
from ouzel.planner.schemas import schema
from ouzel.planner.settings import UNSET, Delivery, Settings
from ouzel.planner.topology import Topology
from ouzel.runtime.operators.build import build_chain
from ouzel.session import load, load_text, start
from tests.planner.test_golden import EXAMPLES
from tests.process.topologies import Numbers

TICKS = "CREATE TABLE ticks (n BIGINT) WITH ('connector' = 'datagen', 'rate' = '10', 'partitions' = '1');"
ONCE = ("delivery", "effectively-once")


def planned(insert: str, *settings: tuple[str, str]) -> Topology:
    return load_text(f"{TICKS} {insert}", Path(), "ticks", settings).topology


def test_effectively_once_has_epochs_unless_somebody_says_how_often() -> None:
    select = "SELECT COUNT(*) AS n FROM ticks"
    assert planned(select).settings.checkpoint_interval_ms == UNSET
    assert planned(select, ONCE).settings.checkpoint_interval_ms == INTERVAL_MS
    assert planned(select, ONCE, ("checkpoint.interval.ms", "500")).settings.checkpoint_interval_ms == 500
    with pytest.raises(
        NotSupported,
        match=re.escape("'checkpoint.interval.ms' = '0' turns epochs off, and 'effectively-once' publishes"),
    ):
        planned(select, ONCE, ("checkpoint.interval.ms", "0"))


COUNTED = "SELECT COUNT(*) AS n FROM ticks"


def test_a_run_that_keeps_state_has_epochs_though_nobody_has_said_so() -> None:
    made = planned(COUNTED)
    assert needs_epochs(made)
    assert with_epochs_of_run(made).settings.checkpoint_interval_ms == INTERVAL_MS
    assert why_without_epochs(made) == ""


@pytest.mark.parametrize("select", ["SELECT n FROM ticks", "SELECT n + 1 AS m FROM ticks WHERE n > 3"])
def test_a_run_that_keeps_nothing_has_none(select: str) -> None:
    made = planned(select)
    assert not needs_epochs(made)
    assert with_epochs_of_run(made) is made
    assert why_without_epochs(made) == ""


@pytest.mark.parametrize("interval", ["0", "500"])
def test_what_somebody_has_said_of_a_run_stands(interval: str) -> None:
    made = planned(COUNTED, ("checkpoint.interval.ms", interval), ("checkpoint.path", "kept"))
    assert with_epochs_of_run(made) is made


def test_the_epochs_of_a_run_are_in_its_job_directory() -> None:
    """A folder of epochs is of one run, so a second one with the same query would be refused."""
    made = with_epochs_of_run(planned(COUNTED, ("checkpoint.path", "s3://bucket/of-spark")))
    assert (made.settings.has_epochs, made.settings.checkpoint_path) == (True, "")


@pytest.mark.parametrize(
    "select",
    [
        "SELECT COUNT(*) AS n FROM ticks",
        "SELECT n % 7 AS k, SUM(n) AS s FROM ticks GROUP BY n % 7",
        "SELECT n FROM ticks",
    ],
)
def test_rows_that_wait_for_long_do_not_leave_sooner_for_an_epoch(select: str) -> None:
    made = planned(f"{select} EMIT AFTER DELAY INTERVAL '1' MINUTE")
    assert with_epochs_of_run(made).settings.checkpoint_interval_ms == 60_000


QUEUE = """CREATE TABLE items (n BIGINT) WITH ('connector' = 'kestrel', 'servers' = 'localhost:22133', 'queue' = 'q', 'format' = 'json');
SELECT COUNT(*) AS n FROM items"""


class Sums(BasicBolt):
    """Keeps something, and says nothing of it."""

    def process(self, frame: pl.DataFrame) -> list[pl.DataFrame]:
        return []


def by_hand() -> Topology:
    builder = TopologyBuilder("sums", Settings())
    builder.set_spout("numbers", Numbers(1, Path()), schema(n=int))
    builder.set_bolt("sums", Sums(), None).global_grouping("numbers")
    return builder.build()


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: planned(COUNTED, ("delivery", "at-most-once")), "'delivery' = 'at-most-once' promises nothing"),
        (lambda: planned(COUNTED, ("checkpoint.interval.ms", "0")), "'checkpoint.interval.ms' is 0"),
        (lambda: planned(QUEUE), "table 'items' (kestrel) cannot be read again from an epoch on"),
    ],
    ids=["at-most-once", "off", "a queue"],
)
def test_a_run_that_cannot_have_epochs_goes_on_without_and_explain_says_why(
    made: Callable[[], Topology], why: str
) -> None:
    topology = made()
    assert with_epochs_of_run(topology) is topology
    assert why_without_epochs(topology).startswith(why)
    shown = explain(Program(()), topology, pack(topology), ("topology",), width=300)
    assert f"A task that dies loses its state, for there are no epochs: {why}" in shown
    assert explain_json(Program(()), topology, pack(topology), ("topology",))["topology"]["epochs"] == {
        "interval_ms": 0,
        "why_none": why_without_epochs(topology),
    }


def test_what_is_written_by_hand_and_does_not_say_what_it_keeps_has_none() -> None:
    topology = by_hand()
    assert with_epochs_of_run(topology) is topology
    assert "does not say what it keeps in memory" in why_without_epochs(topology)


@pytest.mark.parametrize("query", EXAMPLES, ids=lambda query: query.stem)
def test_a_run_has_epochs_if_and_only_if_a_task_of_it_keeps_something(query: Path) -> None:
    """What plans say of state is what operators do."""
    topology = load(query).topology
    chains = [build_chain(one.chain, topology.settings, outputs=one.outputs) for one in topology.components]
    assert needs_epochs(topology) is any(chain.stateful for chain in chains)


def test_a_table_that_cannot_show_an_epoch_at_once_is_refused_by_name() -> None:
    out = "CREATE TABLE out (n BIGINT) WITH ('connector' = 'print'); INSERT INTO out SELECT n FROM ticks;"
    with pytest.raises(
        NotSupported, match=re.escape("table 'out' (print) cannot show the rows of an epoch all at once")
    ) as caught:
        planned(out, ONCE)
    assert "SET 'delivery' = 'at-least-once'" in str(caught.value)
    planned(out)


def test_the_page_names_each_table_that_can() -> None:
    page = (Path(__file__).parents[2] / "docs" / "delivery.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \|", page.partition("## Effectively once")[2].partition("\n## ")[0], re.M)
    can = {name for name in BUILT_IN if (writes := CONNECTORS[name].writes) is not None and writes.publisher}
    assert set(rows) == can


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("memory", "is kept by processes and by Spark, and not by --engine memory"),
        ("spark", r"SET 'checkpoint\.path' to a folder"),
    ],
)
def test_who_does_not_keep_it_says_so(engine: str, said: str) -> None:
    job = load_text(f"{TICKS} SELECT COUNT(*) AS n FROM ticks", Path(), "ticks", (ONCE,))
    assert job.settings.delivery is Delivery.EFFECTIVELY_ONCE
    with pytest.raises(OuzelError, match=said):
        start(job, engine)
