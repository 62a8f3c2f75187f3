"""What source and sink share: how a client is configured, and what its errors mean."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from confluent_kafka import KafkaError, KafkaException

from ouzel.connectors.options import TableOptions, resolve_secrets
from ouzel.errors import ConnectorError
from ouzel.lists import split_list

LOG = logging.getLogger("ouzel.kafka")
LOG.addHandler(logging.NullHandler())  # librdkafka repeats itself on stderr otherwise; what matters comes as an error

_AGAIN_S, _PATIENCE_S = 0.1, 2.0
_PORT = 9092
_Answer = TypeVar("_Answer")

FINAL = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError._AUTO_OFFSET_RESET,
        KafkaError._SSL,
        KafkaError._UNKNOWN_PARTITION,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.OFFSET_OUT_OF_RANGE,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    }
)
"""Errors that no retry of librdkafka's mends."""

_NO_ANSWER = frozenset({KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN})

PRODUCER: Mapping[str, Any] = {
    "partitioner": "murmur2_random",  # a key is where producers of Java put it
    "linger.ms": 5,
    "batch.size": 262_144,
    "topic.metadata.propagation.max.ms": 5_000,
    "queue.buffering.max.messages": 500_000,
}
"""What whoever produces has by default."""

PRODUCER_FIXED: Mapping[str, Any] = {"acks": "all", "enable.idempotence": True, "delivery.report.only.error": True}
"""What nobody may change: without these a record could be lost, or be there twice."""

_NEW_TOPIC = frozenset({KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART})


def configuration(options: TableOptions, defaults: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """librdkafka's settings: `defaults`, then the user's `properties.*`, then what the connector relies on."""
    own = {
        name.removeprefix("properties."): resolve_secrets(name, value)
        for name, value in options.given.items()
        if name.startswith("properties.")
    }
    servers = {"bootstrap.servers": options.text("bootstrap.servers")}
    return {**servers, **defaults, **own, **fixed}


def open_client(
    make: Callable[..., Any], table: str, options: TableOptions, defaults: Mapping[str, Any], fixed: Mapping[str, Any]
) -> Any:
    """A producer, consumer or admin client with these settings; see `configuration`.

    Raises:
        ConnectorError: librdkafka refuses one.
    """
    try:
        return make(configuration(options, defaults, fixed), logger=LOG)
    except (KafkaException, ValueError) as error:
        reason = error.args[0].str() if isinstance(error, KafkaException) else str(error)
        raise ConnectorError(f"table '{table}': librdkafka refuses its properties: {reason}") from None


class Failure:
    """The first final error that a client met in the background."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self._error: KafkaError | None = None

    def note(self, error: KafkaError) -> None:
        """librdkafka's error callback."""
        if error.fatal() or error.code() in FINAL:
            self._error = self._error or error

    def raise_if_any(self) -> None:
        """Tell of it.

        Raises:
            ConnectorError: there is one.
        """
        if self._error:
            raise self.sentence(self._error)

    def sentence(self, error: KafkaError, what: str = "") -> ConnectorError:
        """The error in words, with the broker's address."""
        subject = f"{what} on " if what else ""
        return ConnectorError(f"{subject}Kafka at {self.servers}: {error.str().rstrip('.')}")


def refuse_unreachable(servers: str, timeout_s: float) -> None:
    """See that one of the brokers can be connected to: librdkafka goes on trying where nothing listens, until the timeout.

    Raises:
        ConnectorError: each of them refuses the connection or has no address; says which, and why.
    """
    reasons = []
    for server in split_list(servers):
        host, port = _address(server)
        try:
            socket.create_connection((host, port), timeout_s).close()
        except TimeoutError:
            return  # it may answer librdkafka, which has the same time
        except (OSError, OverflowError) as error:
            reasons.append(f"{host}:{port}: {getattr(error, 'strerror', None) or error}")
        else:
            return
    if reasons:
        raise ConnectorError(
            f"no Kafka broker can be reached ({'; '.join(reasons)}); is it running, and is 'bootstrap.servers' right?"
        )


def _address(server: str) -> tuple[str, int]:
    """Host and port of `host`, `host:port`, `[::1]:port` or `SSL://host:port`."""
    parts = urlsplit(server if "://" in server else f"//{server}")
    try:
        return parts.hostname or "", parts.port or _PORT
    except ValueError:
        raise ConnectorError(
            f"'bootstrap.servers' cannot hold '{server}'; write host:port, separated by commas"
        ) from None


def topics_of(client: Any, failure: Failure, timeout_s: float, alone: bool = True) -> dict[str, Any]:
    """All topics of the cluster by name. Who is `alone` with a client that reads nothing yet hears why a broker refuses it.

    Raises:
        ConnectorError: no broker answers in time, or one refuses us.
    """
    deadline = time.monotonic() + timeout_s
    try:
        while True:
            left_s = deadline - time.monotonic()
            try:
                return dict(client.list_topics(timeout=max(0.1, min(left_s, _PATIENCE_S) if alone else left_s)).topics)
            except KafkaException as error:
                if alone:
                    client.poll(
                        0
                    )  # this calls back with the reason; with partitions assigned it might take a record as well
                failure.raise_if_any()
                if time.monotonic() >= deadline or error.args[0].code() not in _NO_ANSWER:
                    raise
    except KafkaException as error:
        if error.args[0].code() in _NO_ANSWER:
            raise ConnectorError(
                f"no Kafka broker answers at {failure.servers} within {timeout_s:g} s; is it running, and is 'bootstrap.servers' right?"
            ) from None
        raise failure.sentence(error.args[0]) from None


def patiently(ask: Callable[[float], _Answer], failure: Failure, what: str, timeout_s: float) -> _Answer:
    """What `ask(seconds left)` answers; asked again while a broker is busy, becomes leader or loads the group.

    Raises:
        ConnectorError: an error that does not pass, or no answer in time.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return ask(max(0.1, deadline - time.monotonic()))
        except KafkaException as error:
            if error.args[0].code() in FINAL - _NEW_TOPIC or time.monotonic() >= deadline:
                raise failure.sentence(error.args[0], what) from None
            time.sleep(_AGAIN_S)
