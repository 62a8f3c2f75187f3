"""What the tests of batches share: queries as jobs, and what a reader reads without a JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ouzel.session import Job, load_text
from ouzel.spark.batch.run import BatchRun, batch_run

if TYPE_CHECKING:
    from tests.servers.kafka import KafkaBroker
    from tests.servers.spark import StandaloneCluster
    from tests.spark.batch.plain import PlainPython


@pytest.fixture
def job(tmp_path: Path) -> Callable[[str], Job]:
    """Compiles SQL whose paths start in the test's folder."""
    return lambda text: load_text(text, tmp_path, "query")


@pytest.fixture
def made(job: Callable[[str], Job]) -> Callable[..., BatchRun]:
    """The batch of some SQL, over everything or over given offsets."""
    return lambda text, offsets=None: batch_run(job(text), offsets)


@pytest.fixture(scope="module")
def kafka(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> KafkaBroker:
    """The broker of the session, whose tests make topics of their own."""
    from tests.servers.kafka import shared_broker

    return shared_broker(pytestconfig, tmp_path_factory)


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainPython]:
    """A Python that knows Spark and not Ouzel, and the wheel."""
    from tests.spark.batch.plain import plain_python

    made = plain_python(tmp_path_factory.mktemp("plain"))
    yield made
    made.workers.close()


@pytest.fixture(scope="session")
def cluster(plain: PlainPython, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    """A standalone cluster whose workers run that Python."""
    from tests.servers.spark import StandaloneCluster

    started = StandaloneCluster(tmp_path_factory.mktemp("cluster"), plain.environment())
    yield started
    started.stop()
