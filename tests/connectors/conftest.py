"""What the connectors' tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker


@pytest.fixture(scope="session")
def _broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    from tests.servers.kafka import KafkaBroker

    broker = KafkaBroker(tmp_path_factory.mktemp("kafka"))
    yield broker
    broker.kill()


@pytest.fixture
def kafka(_broker: KafkaBroker) -> KafkaBroker:
    """A broker for the session, started again if a test before has left it dead; tests make topics of their own."""
    if _broker.process is None:
        _broker.start()
    return _broker
