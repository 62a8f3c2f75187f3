"""Which partitions a client can ask for: librdkafka's statistics say of each broker whether it is connected, and when it last answered.

An empty queue alone does not tell "nothing there" from "could not ask": librdkafka reconnects for ever, and in silence.
"""

from __future__ import annotations

import json
from typing import Any

INTERVAL_MS = 1_000
"""How often librdkafka tells its statistics."""

UNANSWERED_US = 3_000_000
"""A broker answers every fetch, at the latest after `fetch.wait.max.ms`; one that has not for so long is away."""

_CONNECTED = frozenset({"UP", "UPDATE", "REAUTH"})


class Reachability:
    """What the last statistics said. Between two of them librdkafka's own word counts, that all brokers are down."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._lost = False
        self._away: dict[tuple[str, int], str] = {}

    def on_lost(self) -> None:
        """All brokers are down."""
        self._lost = True

    def note(self, statistics: str) -> None:
        """librdkafka's callback: its statistics as JSON."""
        told = json.loads(statistics)
        brokers = {broker["nodeid"]: broker for broker in told["brokers"].values() if broker["nodeid"] >= 0}
        self._lost = not any(broker["state"] in _CONNECTED for broker in brokers.values())
        self._away = {
            (topic, int(number)): reason
            for topic, entry in told["topics"].items()
            for number, partition in entry["partitions"].items()
            if (reason := _away(brokers.get(partition["leader"])))
        }

    def away(self, place: tuple[str, int]) -> str:
        """Why a partition cannot be asked, or empty."""
        return f"broker {self._servers} away" if self._lost else self._away.get(place, "")


def _away(leader: dict[str, Any] | None) -> str:
    """Why a partition with that leader cannot be asked, or empty."""
    if leader is None:
        return "no broker leads it"
    if leader["state"] not in _CONNECTED:
        return f"broker {leader['nodename']} away"
    return f"broker {leader['nodename']} does not answer" if leader["rxidle"] > UNANSWERED_US else ""
