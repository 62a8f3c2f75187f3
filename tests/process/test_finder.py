"""Processes find the topology master that leads, though the state manager is away for a while or keeps them waiting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import cast

import pytest

from ouzel.planner.settings import Settings
from ouzel.runtime.cluster.state.local import LocalState
from ouzel.runtime.process.job import MASTERS, RunDescription
from ouzel.runtime.process.leading import MasterNote, leader_path
from ouzel.runtime.process.master_client import MasterFinder
from tests.servers.waiting import wait_until

PATH = leader_path("t")


def note(address: str) -> bytes:
    return MasterNote.of_this_process(MASTERS[1], address).data()


def found_by(home: Path, *, standby: bool) -> MasterFinder:
    settings = Settings(topology_master_standby=standby)
    job = SimpleNamespace(id="t", home=home, topology=SimpleNamespace(settings=settings))
    return MasterFinder(cast(RunDescription, job))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[LocalState]:
    opened = LocalState(tmp_path / "state")
    yield opened
    opened.close()


def test_who_leads_is_found_and_who_led_is_not(tmp_path: Path, state: LocalState) -> None:
    finder = found_by(tmp_path, standby=False)
    assert finder.find(0.05) is None
    first = LocalState(tmp_path / "state")
    first.lead(PATH, note("unix:first"))
    assert finder.find(None) == "unix:first"
    assert finder.process == MASTERS[1]
    first.close()
    assert finder.find(0.05) is None
    state.lead(PATH, note("unix:second"))
    assert finder.find(None) == "unix:second"
    finder.close()


def test_with_a_standby_it_is_noticed_that_another_leads_though_the_first_one_lives(
    tmp_path: Path, state: LocalState
) -> None:
    finder, moved = found_by(tmp_path, standby=True), Event()
    finder.on_moved = moved.set
    first = LocalState(tmp_path / "state")
    first.lead(PATH, note("unix:first"))
    assert finder.find(None) == "unix:first"
    assert not finder.has_moved("unix:first")
    state.lead(PATH, note("unix:second"), deposing=1)
    assert moved.wait(60)
    assert finder.has_moved("unix:first")
    assert not finder.has_moved("unix:second")
    first.close()
    finder.close()


def test_a_state_manager_that_is_away_is_waited_for(tmp_path: Path, state: LocalState) -> None:
    state.lead(PATH, note("unix:first"))
    away = (tmp_path / "state").rename(tmp_path / "away")
    (tmp_path / "state").write_text("no folder")
    finder = found_by(tmp_path, standby=False)
    assert finder.find(0.05) is None
    (tmp_path / "state").unlink()
    away.rename(tmp_path / "state")
    wait_until(lambda: finder.find(0.05) == "unix:first")
    finder.close()
