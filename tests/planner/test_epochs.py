"""What epochs and effectively once ask of a query, said when it is planned."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ouzel.connectors import BUILT_IN, CONNECTORS
from ouzel.errors import NotSupported, OuzelError
from ouzel.planner.epochs import INTERVAL_MS
from ouzel.planner.settings import UNSET, Delivery
from ouzel.planner.topology import Topology
from ouzel.session import load_text, start

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


@pytest.mark.parametrize("engine", ["memory", "spark"])
def test_only_topologies_of_processes_keep_it(engine: str) -> None:
    job = load_text(f"{TICKS} SELECT COUNT(*) AS n FROM ticks", Path(), "ticks", (ONCE,))
    assert job.settings.delivery is Delivery.EFFECTIVELY_ONCE
    with pytest.raises(OuzelError, match=f"is kept by topologies of processes, and not by --engine {engine}"):
        start(job, engine)
