"""How a topology master comes to lead, and learns that it leads no more; see `protocol/cluster/leadership.py`."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from threading import Thread
from typing import NamedTuple, NoReturn

from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.cluster.state.fenced import check_leads
from ouzel.runtime.cluster.state.manager import Leadership
from ouzel.runtime.process.job import MASTER_CONTAINER, MASTERS, RunDescription
from ouzel.runtime.process.life import Heartbeats, now_ms, start_time
from ouzel.runtime.process.patience import when_it_answers
from ouzel.runtime.process.usage import read_usage
from ouzel.runtime.protocol.cluster.leadership import Candidate, Deposed, Leader
from ouzel.runtime.protocol.cluster.starvation import Usage

_LOOK_S = 0.1
_SUCCESSOR_S = 0.2


class MasterNote(NamedTuple):
    """What a topology master says of itself: its process, and where it listens."""

    name: str
    pid: int
    started: int
    address: str

    @classmethod
    def of_this_process(cls, name: str, address: str) -> MasterNote:
        """That of this process."""
        return cls(name, os.getpid(), start_time(os.getpid()), address)

    @classmethod
    def parse(cls, data: bytes) -> MasterNote:
        """As it stands in the state manager."""
        return cls(*json.loads(data))

    def data(self) -> bytes:
        """For the state manager."""
        return json.dumps(self).encode()

    @property
    def runs(self) -> bool:
        """Whether its process is there: all containers of a topology are on one host."""
        return start_time(self.pid) == self.started


def leader_path(job: str) -> str:
    """Where the leadership of a topology stands in the state manager."""
    return f"/tmanagers/{job}"


class Campaigner:
    """Waits until this process leads. The leader's own signs of life say whether it hangs."""

    def __init__(self, job: RunDescription, state: StateManager, note: MasterNote) -> None:
        self._state, self._note, self._path = state, note, leader_path(job.id)
        self._candidate = Candidate(job.topology.settings.hang_timeout_ms)
        self._has_standby = job.topology.settings.topology_master_standby
        self._heartbeats = Heartbeats(job.container(MASTER_CONTAINER) / "heartbeats")

    def campaign(self) -> int:
        """The number of the leadership, when it has begun."""
        while (number := when_it_answers(self._try_to_lead, "to lead")) is None:
            time.sleep(_LOOK_S)
        print(f"leadership {number} begins", file=sys.stderr)
        return number

    def _try_to_lead(self) -> int | None:
        data = self._note.data()
        return try_to_lead(self._state, self._path, data, self._candidate, self._describe, _read_usage, now_ms())

    def _describe(self, newest: Leadership) -> Leader:
        note = MasterNote.parse(newest.data)
        beat_ms, _ = self._heartbeats.last(MASTERS.index(note.name))
        had_standby = self._has_standby and note.name == self._note.name
        return Leader(newest.number, newest.is_held, note.runs, beat_ms, had_standby)


def try_to_lead(
    state: StateManager,
    path: str,
    data: bytes,
    candidate: Candidate,
    describe: Callable[[Leadership], Leader],
    find_usage: Callable[[Leadership], Usage | None],
    now_ms: float,
) -> int | None:
    """The number of the leadership that begins now; None if the candidate waits, or another was faster.

    Args:
        state: the state manager.
        path: where the leadership stands.
        data: what the candidate says of itself.
        candidate: decides.
        describe: what the candidate sees of who leads.
        find_usage: what the leader had of the CPU.
        now_ms: milliseconds.

    Raises:
        OSError: the state manager is away.
    """
    newest = state.leadership(path)
    campaign = candidate.on_look(Leader() if newest is None else describe(newest), now_ms)
    if newest is not None and candidate.asks_for_usage:
        candidate.on_usage(find_usage(newest))
    return None if campaign is None else state.lead(path, data, campaign.deposing)


def _read_usage(newest: Leadership) -> Usage | None:
    return read_usage(MasterNote.parse(newest.data).pid)


def end_deposed(error: Deposed) -> NoReturn:
    """End this process, which leads no more; its executor starts it again, and then it is the one that waits."""
    print(error, file=sys.stderr)
    sys.stderr.flush()
    os._exit(1)


def watch_successors(state: StateManager, job: str, leadership: int) -> None:
    """Have this process end when another begins to lead."""

    def look() -> None:
        while True:
            time.sleep(_SUCCESSOR_S)
            with contextlib.suppress(Exception):  # what is away says nothing
                try:
                    check_leads(state, leader_path(job), leadership)
                except Deposed as error:
                    end_deposed(error)

    Thread(target=look, name="successors", daemon=True).start()
