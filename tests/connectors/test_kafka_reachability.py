"""What librdkafka's statistics say of a broker that is away, and of one that does not answer."""

from __future__ import annotations

import json

import pytest

from ouzel.connectors.kafka.reachability import Reachability


def statistics(leader: int = 1, state: str = "UP", rxidle: int = 20_000) -> str:
    """Statistics of a client with one partition, `bids[0]`, and two brokers, the second of which is well."""
    brokers = {
        "one:9092/1": {"nodeid": 1, "nodename": "one:9092", "state": state, "rxidle": rxidle},
        "two:9092/2": {"nodeid": 2, "nodename": "two:9092", "state": "UP", "rxidle": 1},
        "GroupCoordinator": {"nodeid": -1, "nodename": "", "state": "INIT", "rxidle": -1},
    }
    return json.dumps({"brokers": brokers, "topics": {"bids": {"partitions": {"0": {"leader": leader}}}}})


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (statistics(), ""),
        (statistics(rxidle=-1), ""),
        (statistics(leader=2, state="DOWN"), ""),
        (statistics(state="TRY_CONNECT"), "broker one:9092 away"),
        (statistics(rxidle=3_100_000), "broker one:9092 does not answer"),
        (statistics(leader=-1), "no broker leads it"),
    ],
)
def test_a_partition_is_away_with_its_leader(told: str, reason: str) -> None:
    reachability = Reachability("one:9092,two:9092")
    reachability.note(told)
    assert reachability.away(("bids", 0)) == reason
    assert reachability.away(("unheard of", 0)) == ""


def test_when_all_brokers_are_down_all_partitions_are_away_until_statistics_say_otherwise() -> None:
    reachability = Reachability("one:9092")
    assert reachability.away(("bids", 0)) == ""
    reachability.on_lost()
    assert reachability.away(("bids", 0)) == "broker one:9092 away"
    reachability.note(statistics())
    assert reachability.away(("bids", 0)) == ""
    reachability.note('{"brokers": {"one:9092/bootstrap": {"nodeid": -1, "state": "INIT"}}, "topics": {}}')
    assert reachability.away(("bids", 0)) == "broker one:9092 away"


def test_before_the_first_connection_nothing_is_said() -> None:
    """Opening the source asks for the topics, and fails in words of its own when no broker answers."""
    assert Reachability("one:9092").away(("bids", 0)) == ""
