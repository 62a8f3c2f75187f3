"""Pages of reconciliations: what they tell, that a report stays in its frame, and that alerts hear of what nothing explains."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from bs4 import BeautifulSoup
from fastapi.testclient import TestClient

from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.observe.reconciled import KeptReconciliations
from ouzel.tracker.alerts.conditions import TopologyFacts, parse_condition
from ouzel.tracker.alerts.facts import count_unexplained, find_facts
from ouzel.tracker.app import create_app
from ouzel.tracker.topologies.watching import TopologyWatcher, Unreadable
from tests.observe.test_reconciled import summary
from tests.tracker.snapshots import EVIL


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    """A tracker without topologies."""
    return TestClient(create_app(Registry(tmp_path)), base_url="http://localhost")


def soup(client: TestClient, path: str) -> BeautifulSoup:
    """A page."""
    return BeautifulSoup(client.get(path).text, "html.parser")


def test_the_page_lists_them_with_verdict_and_counts(client: TestClient, tmp_path: Path) -> None:
    assert "None is kept" in soup(client, "/reconciliations").text
    kept = KeptReconciliations(tmp_path)
    bad = {"is_explained": False, "matched": 1_234, "explained": 5, "unexplained": 6, "is_live": True, "rounds": 2}
    kept.keep(summary(1_700_000_000_000_000, EVIL, table=EVIL, verdict=EVIL, **bad), "")
    kept.keep(summary(1_700_000_001_000_000), "")
    for path in ("/reconciliations", "/pages/reconciliations"):
        page = soup(client, path)
        cells = [[cell.text for cell in row.select("th, td")] for row in page.select(".reconciled tbody tr")]
        assert cells[0][:4] == ["2023-11-14 22:13:21", "words", "result", "they agree"]
        assert cells[1] == [
            "2023-11-14 22:13:20", EVIL, EVIL, EVIL, "1,234", "5", "6", "2 rounds of a run that went on",
        ]  # fmt: skip
        assert [one["class"] for one in page.select(".state")] == [["state", "done"], ["state", "failed"]]
        assert all(script.has_attr("src") for script in page.select("script"))


def test_a_report_is_shown_in_a_frame_that_it_cannot_leave(client: TestClient, tmp_path: Path) -> None:
    one, before = summary(2, EVIL, verdict=EVIL, changed=(EVIL,)), summary(1, EVIL)
    for each in (one, before, summary(3)):
        KeptReconciliations(tmp_path).keep(each, EVIL)
    page = soup(client, f"/reconciliations/{one.id}")
    assert EVIL in page.select_one("h1").text  # type: ignore[union-attr]
    assert [each.text for each in page.select(".trouble")] == [EVIL]
    frame = page.select_one("iframe")
    assert frame is not None
    assert (frame["sandbox"], frame["src"]) == ([], f"/reconciliations/{one.id}/report")
    assert f"/reconciliations/{before.id}" in [link["href"] for link in page.select("a")]
    report = client.get(str(frame["src"]))
    policy = report.headers["content-security-policy"]
    assert report.text == EVIL
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    assert report.headers["x-content-type-options"] == "nosniff"
    outer = client.get(f"/reconciliations/{one.id}").headers["content-security-policy"]
    assert "frame-src 'self'" in outer
    assert "frame-ancestors 'none'" in outer


@pytest.mark.parametrize("name", ["none", "..%2Fstate", f"{1:016d}-1-00000000"])
@pytest.mark.parametrize("part", ["", "/report"])
def test_what_is_not_kept_is_not_found(client: TestClient, name: str, part: str) -> None:
    assert client.get(f"/reconciliations/{name}{part}", headers={"accept": "text/html"}).status_code == 404


def test_programs_read_the_same(client: TestClient, tmp_path: Path) -> None:
    kept = KeptReconciliations(tmp_path)
    for number, query in enumerate(["words", "lines", "words"]):
        kept.keep(summary(number, query), "")
    path = "/topologies/reconciliations"
    assert [one["query"] for one in client.get(path).json()] == ["words", "lines", "words"]
    (one,) = client.get(path, params={"topology": "lines"}).json()
    assert (one["matched"], one["report"]) == (7, f"/reconciliations/{one['id']}/report")


def test_alerts_hear_of_the_newest_of_each_table(tmp_path: Path) -> None:
    kept = KeptReconciliations(tmp_path)
    condition = parse_condition("unexplained > 0")

    def holds() -> bool | None:
        facts = find_facts(TopologyWatcher(Registry(tmp_path)), 0.0).get("words", TopologyFacts("running"))
        assert facts is not None
        return condition.holds(facts)

    assert holds() is None
    kept.keep(summary(1, unexplained=3, table="a"), "")
    kept.keep(summary(2, changed=("part-1 is gone",), table="b"), "")
    kept.keep(summary(3, "others"), "")
    assert count_unexplained(kept) == {"words": 4.0, "others": 0.0}
    assert holds() is True
    kept.keep(summary(4, table="a"), "")
    kept.keep(summary(5, table="b"), "")
    assert holds() is False


def test_of_a_topology_that_cannot_be_read_nothing_begins_or_ends(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    KeptReconciliations(tmp_path).keep(summary(1, "words"), "")
    unread = cast(TopologyWatcher, SimpleNamespace(registry=_Names(registry), snapshots=lambda: iter(())))
    assert find_facts(unread, 0.0) == {"words": None}
    with_state = SimpleNamespace(record=SimpleNamespace(name="words"), condition=SimpleNamespace(value="failed"))
    unreadable = Unreadable(with_state.record, with_state.condition, "")  # type: ignore[arg-type]  # all that is asked of them
    read = cast(TopologyWatcher, SimpleNamespace(registry=_Names(registry), snapshots=lambda: [unreadable]))
    assert find_facts(read, 0.0)["words"] == TopologyFacts("failed", figures={"unexplained": 0.0})


class _Names:
    """A registry that knows one name more than has a record."""

    def __init__(self, registry: Registry) -> None:
        self.home = registry.home

    def names(self) -> list[str]:
        return ["words"]
