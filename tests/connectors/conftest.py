"""What the connectors' tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.connectors.lives import Lives
    from tests.servers.kafka import KafkaBroker


@pytest.fixture
def kafka(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> KafkaBroker:
    """The broker of the session, whose tests make topics of their own."""
    from tests.servers.kafka import shared_broker

    return shared_broker(pytestconfig, tmp_path_factory)


@pytest.fixture(scope="session")
def lives() -> Iterator[Lives]:
    """Starts tasks that publish."""
    from tests.connectors.lives import Lives

    started = Lives()
    yield started
    started.close()
