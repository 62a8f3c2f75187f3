"""The page of a topology is sent in parts: what stands on top does not wait for the rest, and what fails says so where it would be."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bs4 import BeautifulSoup
from fastapi import Request
from fastapi.testclient import TestClient

from ouzel.errors import SubmissionError
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.app import create_app
from ouzel.tracker.pages import topology_pages
from ouzel.tracker.topologies.snapshot import TopologySnapshot
from tests.tracker.pictured import PicturedWatcher
from tests.tracker.snapshots import EVIL

ONE = "payments"
NOBODY_ACTS = cast(Request, SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(runner=None))))


@pytest.fixture
def watcher(tmp_path: Path) -> PicturedWatcher:
    """Of topologies that never change."""
    return PicturedWatcher(Registry(tmp_path))


def fails(*_args: Any, **_named: Any) -> Any:
    raise ValueError(EVIL)


def test_what_stands_on_top_does_not_wait_for_the_rest(
    watcher: PicturedWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = topology_pages._make_page(NOBODY_ACTS, watcher, watcher.snapshot(ONE))
    with monkeypatch.context() as patch:
        patch.setattr(watcher, "snapshot", fails)
        patch.setattr(watcher, "history", fails)
        head = BeautifulSoup(next(parts), "html.parser")
    assert (head.h1.text, head.select("dl.facts")) == (ONE, [])  # type: ignore[union-attr]
    with monkeypatch.context() as patch:
        patch.setattr(topology_pages, "describe_rest", fails)
        top = BeautifulSoup(next(parts), "html.parser")
    assert top.select_one("dl.facts .state").text == "running"  # type: ignore[union-attr]
    rest = BeautifulSoup("".join(parts), "html.parser")
    assert rest.select("#components tbody tr")
    assert rest.select("#query li")


def test_the_parts_are_the_whole_page(watcher: PicturedWatcher) -> None:
    app = create_app(watcher.registry)
    app.state.watcher = watcher
    with TestClient(app, base_url="http://localhost") as client:
        page = BeautifulSoup(client.get(f"/topology/{ONE}").text, "html.parser")
        live = BeautifulSoup(client.get(f"/pages/topology/{ONE}").text, "html.parser")
    place = page.select_one("main > [data-live]")
    assert place is not None
    assert [one.get("aria-labelledby") for one in place.select("section")] == [
        one.get("aria-labelledby") for one in live.select("section")
    ]
    assert [one.name for one in place.find_all(recursive=False)] == [one.name for one in live.find_all(recursive=False)]
    assert topology_pages.STANDING not in str(page)


def test_a_part_that_cannot_be_made_says_why_and_the_page_ends_as_it_should(
    watcher: PicturedWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topology_pages, "describe_rest", fails)
    parts, sent = topology_pages._make_page(NOBODY_ACTS, watcher, watcher.snapshot(ONE)), []
    with pytest.raises(ValueError, match="script"):
        sent.extend(parts)
    page = BeautifulSoup("".join(sent), "html.parser")
    (told,) = page.select("p.trouble")
    assert told.text == f"What follows cannot be shown: ValueError: {EVIL}"
    assert page.select("#query li")
    assert sent[-1].rstrip().endswith("</html>")


def test_one_that_is_removed_meanwhile_is_told_of(watcher: PicturedWatcher, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_gone(name: str, *, with_processes: bool = True) -> TopologySnapshot:
        raise SubmissionError(f"there is no submitted topology '{name}'")

    parts = topology_pages._make_page(NOBODY_ACTS, watcher, watcher.snapshot(ONE))
    monkeypatch.setattr(watcher, "snapshot", is_gone)
    page = BeautifulSoup("".join(parts), "html.parser")
    (told,) = page.select("p.trouble")
    assert told.text == f"What follows cannot be shown: there is no submitted topology '{ONE}'"
    assert page.select("#query li")
