"""A topology that follows a file says how much of it waits to be read, and for how long, though its rows have no event time."""

from __future__ import annotations

import time

import pytest

from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.tracker.alerts.conditions import parse_condition
from ouzel.tracker.alerts.facts import find_facts
from ouzel.tracker.topologies.watching import TopologyWatcher
from tests.cli.test_submitted import Place, place
from tests.servers.waiting import wait_until

__all__ = ["place"]
pytestmark = pytest.mark.server


def test_what_a_followed_file_has_left_is_lag_and_an_alert_holds(place: Place) -> None:
    place.append(*range(10, 20))
    place.told("submit", place.root / "followed.sql")
    wait_until(lambda: len(place.twice()) == 10)
    watcher = TopologyWatcher(Registry(place.home))
    condition = parse_condition("lag > 2 s for 1 min")

    def holds() -> bool | None:
        facts = find_facts(watcher, time.time())["followed"]
        return facts and condition.holds(facts)

    try:
        wait_until(lambda: holds() is False)
        place.told("pause", "followed")
        place.append(*range(20, 40))
        wait_until(lambda: f"lag of lines {place.lines}: 20 records, 200 bytes\n" in place.told("status", "followed"))
        wait_until(lambda: "a record has waited to be read for " in place.told("status", "followed"))
        wait_until(lambda: holds() is True)
        place.told("resume", "followed")
        wait_until(lambda: len(place.twice()) == 30 and holds() is False)
        assert "lag of" not in place.told("status", "followed")
    finally:
        watcher.close()
