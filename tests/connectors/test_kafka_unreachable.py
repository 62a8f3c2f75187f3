"""A broker that nobody can connect to is told of at once; one that was there before is waited for."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ouzel.connectors import open_sink, open_source
from ouzel.connectors.kafka.client import refuse_unreachable
from ouzel.connectors.kafka.source import _list
from ouzel.connectors.writing import SinkRequest
from ouzel.errors import ConnectorError
from tests.connectors.test_kafka import request_for
from tests.servers.process import free_port

LONG_MS = "600000"
"""A wait that no test outlives."""


@pytest.fixture
def closed() -> str:
    """An address where nothing listens."""
    return f"127.0.0.1:{free_port()}"


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def test_a_source_says_at_once_that_nothing_listens(closed: str) -> None:
    source = open_source("kafka", request_for(closed, "events", connect_timeout_ms=LONG_MS))
    with pytest.raises(
        ConnectorError, match=rf"no Kafka broker can be reached \({closed}: Connection refused\); is it"
    ):
        source.partitions()
    source.close()


def test_a_sink_says_it_too(closed: str) -> None:
    given = request_for(closed, "events", connect_timeout_ms=LONG_MS)
    with pytest.raises(ConnectorError, match=rf"no Kafka broker can be reached \({closed}: Connection refused\)"):
        open_sink("kafka", SinkRequest("events", given.options, given.columns, "append", given.directory))


def test_a_name_without_an_address_is_told_of_at_once() -> None:
    with pytest.raises(
        ConnectorError, match=r"no Kafka broker can be reached \(nowhere\.invalid:9092: .+\); is it running"
    ):
        refuse_unreachable("SSL://nowhere.invalid", 600)


def test_one_broker_that_listens_is_enough(closed: str, silent: str) -> None:
    refuse_unreachable(f"{closed}, PLAINTEXT://{silent}", 600)


def test_a_port_that_is_none_is_told() -> None:
    with pytest.raises(ConnectorError, match=r"'bootstrap\.servers' cannot hold 'here:there'; write host:port"):
        refuse_unreachable("here:there", 600)


def test_who_takes_connections_and_is_silent_is_waited_for(silent: str) -> None:
    source = open_source("kafka", request_for(silent, "events", connect_timeout_ms="300"))
    with pytest.raises(ConnectorError, match=rf"no Kafka broker answers at {silent} within 0\.3 s"):
        source.partitions()
    source.close()


def test_a_task_that_is_started_again_waits_for_its_broker(closed: str) -> None:
    source = open_source("kafka", replace(request_for(closed, "events", connect_timeout_ms="300"), again=True))
    with pytest.raises(ConnectorError, match=rf"no Kafka broker answers at {closed} within 0\.3 s"):
        source.partitions()
    source.close()


def test_topics_are_listed_where_none_is_near() -> None:
    assert _list(["__consumer_offsets", "clicks", "bids"]) == "there are bids, clicks"
    assert _list(["__consumer_offsets"]) == "there are no topics yet"
    assert _list([f"t{number}" for number in range(11)]).endswith("t5, t6 and 3 more")
