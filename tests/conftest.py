"""What all tests share."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from ouzel.runtime import warm
from tests import halves
from tests.effort import draws_anew
from tests.servers.jvm import start_lightly
from tests.servers.warm import WarmServers
from tests.servers.workers import WarmWorkers

start_lightly()

# What is drawn at random has no limit of time: on a busy machine the shortest example took longer than Hypothesis allows.
# What it draws is the same in each run of `make test`; `make test-all` and `make law` draw anew.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not draws_anew()
)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` writes expected plans anew; look at the difference before you commit it. `--function` is for who adds one."""
    parser.addoption(
        "--update-golden", action="store_true", help="write golden files anew instead of comparing with them"
    )
    parser.addoption(
        "--function", metavar="NAME", help="compare with Spark what this function of the registry answers, and no other"
    )


NEEDS = {"spark": "spark", "plain": "server", "kafka": "server", "redis": "server", "postgres": "server"}
"""The marker of whoever has such a fixture."""


@cache
def may_bear(marker: str, path: Path) -> bool:
    """Whether some test in the file can bear the marker: the file, or a conftest.py beside or above it, names what brings it."""
    if marker == "alone" and halves.holds_alone(path.relative_to(Path(__file__).parents[1]).as_posix()):
        return True
    names = "|".join({marker} | {fixture for fixture, brought in NEEDS.items() if brought == marker})
    folders = path.relative_to(Path(__file__).parent).parents[:-1]
    beside = [Path(__file__).parent / folder / "conftest.py" for folder in folders]
    texts = (file.read_text(encoding="utf-8") for file in (path, *beside) if file.exists())
    return any(re.search(rf"\b({names})\b", text) for text in texts)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m "server and not spark"` files are left unread that have no such test: reading all takes longer than many tests."""
    asked = str(config.option.markexpr)
    markers = re.findall(r"(?<!not )\b(?:server|spark|alone)\b", asked) if " or " not in asked else []
    is_test = collection_path.match("test_*.py")
    return True if is_test and not all(may_bear(marker, collection_path) for marker in markers) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs servers or a JVM, so that nobody forgets it, and refuse ids that no other process gives."""
    if unstable := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"test ids hold an address, so that xdist's workers collect other tests: {unstable}")
    for item in items:
        for marker in halves.markers_of(item.nodeid):
            item.add_marker(marker)
        for fixture in NEEDS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(NEEDS[fixture])
        for marker in {"alone", *NEEDS.values()}:
            if item.get_closest_marker(marker) and not may_bear(marker, item.path):
                raise pytest.UsageError(f"{item.nodeid} bears {marker}, and its file does not say so: -m would miss it")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """No garbage is sought while tests are collected, for hardly any of that goes: a quarter of the time went into it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Garbage is sought less often, and not among what has been collected, which stays: an eighth of the time went into that."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_sessionfinish() -> None:
    """At the end all goes, or libraries report what was left over."""
    gc.unfreeze()


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written anew."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def warm_servers() -> Iterator[WarmServers]:
    """What topologies of tests are forked from."""
    servers = WarmServers()
    yield servers
    servers.close()


@pytest.fixture(scope="session", autouse=True)
def _own_home() -> Iterator[None]:
    """What a command keeps in OUZEL_HOME it does not keep in that of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory(prefix="oz") as home:
        patch.setenv("OUZEL_HOME", home)
        yield


@pytest.fixture(autouse=True)
def _forked_servers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Topologies that a test starts in this process start warm."""
    if request.node.get_closest_marker("server"):
        monkeypatch.setattr(warm, "_start", request.getfixturevalue("warm_servers").start)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One warm Spark session: ANSI, UTC, two threads."""
    from tests.servers.session import start_session

    workers = WarmWorkers()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = str(workers.python)
    session = start_session()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable  # for what tests start
    yield session
    session.stop()
    workers.close()


@pytest.fixture(scope="module")
def one_partition(spark: Any) -> Iterator[Any]:
    """Spark that shuffles into one partition: tables of tests are too small for two."""
    partitions = "spark.sql.shuffle.partitions"
    before = spark.conf.get(partitions)
    spark.conf.set(partitions, "1")
    yield spark
    spark.conf.set(partitions, before)
