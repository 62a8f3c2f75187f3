"""The state manager is away for a while: rows flow, epochs are kept, and no process is killed for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.process.test_epochs import Run, exact, run
from tests.process.topologies import pid_of
from tests.servers.waiting import wait_until
from tests.servers.zookeeper import ZooKeeper

pytestmark = pytest.mark.server

LENGTHS = [2, pytest.param(400, marks=pytest.mark.whole)]
"""An outage lasts until so many epochs, ten a second at most, were kept in it, and rows have flowed."""


@contextmanager
def local_outage(made: Run) -> Iterator[None]:
    """Inside, there is a file where the folder of the state manager was: nothing below can be read, written or listed."""
    state = made.handle.job.home / "state"
    away = state.rename(state.with_name("away"))
    while not state.is_file():
        shutil.rmtree(state, ignore_errors=True)  # a process that wrote just then has made a new one
        with suppress(IsADirectoryError):
            state.write_text("no folder")
    try:
        yield
    finally:
        state.unlink()
        away.rename(state)


@contextmanager
def zookeeper_outage(ensemble: ZooKeeper) -> Iterator[None]:
    """Inside, no ZooKeeper answers."""
    ensemble.kill(0)
    try:
        yield
    finally:
        ensemble.start(0)


def rows_flow(made: Run, epochs: int) -> None:
    """Wait until they have, over so many epochs."""
    rows = made.handle.status().rows_acked
    for _ in range(epochs):
        made.wait_for_epochs(1)
    wait_until(lambda: made.handle.status().rows_acked > rows + 1_000, told=made.handle.status)


@pytest.mark.parametrize("epochs", LENGTHS)
def test_rows_flow_while_the_folder_of_the_state_manager_is_away(tmp_path: Path, epochs: int) -> None:
    made = run(tmp_path, 100, ("topology.master.standby", "true"))
    try:
        made.wait_for_epochs(1)
        with local_outage(made):
            rows_flow(made, epochs)
        made.wait_for_epochs(1)
        assert exact(made).restarts == 0
    finally:
        made.handle._scheduler.on_kill()


@pytest.mark.parametrize("epochs", LENGTHS)
def test_rows_flow_while_zookeeper_is_away(tmp_path: Path, epochs: int) -> None:
    with ZooKeeper(tmp_path) as ensemble:
        made = run(tmp_path, 100, ("topology.master.standby", "true"), ("state.manager", ensemble.setting))
        try:
            made.wait_for_epochs(1)
            with zookeeper_outage(ensemble):
                rows_flow(made, epochs)
            made.wait_for_epochs(1)
            assert exact(made).restarts == 0
        finally:
            made.handle._scheduler.on_kill()


@pytest.mark.parametrize("victim", ["0/topology-master", "ticks", "aggregate"])
def test_what_dies_while_the_state_manager_is_away_waits_for_it(tmp_path: Path, victim: str) -> None:
    """A task that was started again died at once, thirteen times in half a minute; then the topology failed."""
    made = run(tmp_path, 100)
    try:
        made.wait_for_epochs(1)
        with local_outage(made):
            name = victim if "/" in victim else made.instances(victim)[0]
            made.kill(name)
            container, _, process = name.partition("/")
            log = made.handle.job.container(int(container)) / f"{process}.log"
            wait_until(lambda: "the state manager is tried again" in log.read_text(), told=made.handle.status)
            waits = pid_of(made.handle, name)
        made.wait_for_epochs(1)
        assert pid_of(made.handle, name) == waits, "it died for want of the state manager"
        assert exact(made).restarts == 1
    finally:
        made.handle._scheduler.on_kill()
