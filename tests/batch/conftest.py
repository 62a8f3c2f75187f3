"""What the tests of batches share: queries as jobs, and what a reader reads without a JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ouzel.batch.run import Batch, batch
from ouzel.session import Job, load_text

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker


@pytest.fixture
def job(tmp_path: Path) -> Callable[[str], Job]:
    """Compiles SQL whose paths start in the test's folder."""
    return lambda text: load_text(text, tmp_path, "query")


@pytest.fixture
def made(job: Callable[[str], Job]) -> Callable[..., Batch]:
    """The batch of some SQL, over everything or over given offsets."""
    return lambda text, offsets=None: batch(job(text), offsets)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    """A broker for the session; tests make topics of their own."""
    from tests.servers.kafka import KafkaBroker

    broker = KafkaBroker(tmp_path_factory.mktemp("kafka"))
    yield broker
    broker.kill()
