"""Several topology masters that elect a leader and keep epochs, with the real files of state manager and checkpoints, from one seed.

Each runs its own code in a thread. One runs at a time, and the turn may change before each call of the file system. So any of them may be
stopped, killed or woken up between any two of these calls. Their orders reach tasks late, in order, or not at all.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Semaphore, Thread, current_thread
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.store import CheckpointStore
from ouzel.runtime.cluster.state.fenced import check_leads, read_fenced, take_over, write_fenced
from ouzel.runtime.cluster.state.local import LocalState
from ouzel.runtime.process.epoch_keeper import EpochKeeper
from ouzel.runtime.process.epochs import generation_path
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.leading import leader_path
from ouzel.runtime.protocol.cluster.epochs import Generation
from ouzel.runtime.protocol.cluster.leadership import Candidate, Deposed, Fence, Leader

CALLS = ("open", "link", "listdir", "rename", "unlink", "mkdir")
"""The turn may change before each of these functions of `os`."""

STEP_MS, HANG_MS = 50.0, 2_000.0
_REQUESTS = "/executionstate/t"


class _Killed(BaseException):
    """Ends the thread of a master that is killed."""


@dataclass(frozen=True)
class Order:
    """What a plan says."""

    leadership: int
    generation: Generation
    kept: int


@dataclass
class Receiver:
    """A task, as far as orders go."""

    fence: Fence = field(default_factory=Fence)
    obeyed: list[Order] = field(default_factory=list)


class Master(Thread):
    """A topology master; `world` gives it the turn."""

    def __init__(self, world: World, number: int) -> None:
        super().__init__(name=f"master-{number}", daemon=True)
        self.world, self.number = world, number
        self.turn, self.done = Semaphore(0), Semaphore(0)
        self.is_stopped = self.is_killed = False
        self.beat_ms = 0.0
        self.leadership, self.kept, self.newest = 0, 0, 0
        self.generation = Generation()
        self.ended = ""
        self.error: BaseException | None = None

    def run(self) -> None:
        """Until it is killed or deposed."""
        state: LocalState | None = None
        try:
            self.pause()
            state = self._patiently(lambda: LocalState(self.world.folder / "state"))
            self._live(state)
        except _Killed:
            self.ended = "killed"
        except Deposed:
            self.ended = "deposed"
        except BaseException as error:
            self.error, self.ended = error, "failed"
        finally:
            self.is_killed = True  # what follows is what a kernel does
            if state is not None:
                state.close()
            self.world.masters.remove(self)
            self.done.release()

    def pause(self) -> None:
        """Let others run."""
        if self.ended or self.is_killed:
            return
        self.done.release()
        self.turn.acquire()
        if self.is_killed:
            raise _Killed
        self.beat_ms = self.world.now_ms

    def _live(self, state: LocalState) -> None:
        self.leadership = self._campaign(state)
        keeper = EpochKeeper(self.world.job, state, self.leadership)
        self.generation, self.kept = self._patiently(keeper.take_over)
        asked = self._patiently(lambda: take_over(state, _REQUESTS, self.leadership)) or b"0"
        self._patiently(lambda: check_leads(state, leader_path("t"), self.leadership))
        self.world.check_request(int(asked))
        self.newest = max(self.kept, self.world.taken)
        self._announce()
        while True:
            self.pause()
            match self.world.random.randrange(4):
                case 0:
                    self.newest += 1
                    self._patiently(lambda: keeper._keep(self, self.newest, {}))
                case 1:
                    self._patiently(lambda: keeper._go_back(self, self.generation.number + 1))
                case 2:
                    self._patiently(lambda: self._store_request(state))
                case _:
                    self._announce()

    def _campaign(self, state: LocalState) -> int:
        candidate, path = Candidate(HANG_MS), leader_path("t")
        while True:
            self.pause()
            with suppress(OSError):
                newest = state.leadership(path)
                leader = Leader()
                if newest is not None:
                    other = self.world.find(int(newest.data))
                    leader = Leader(newest.number, newest.is_held, other is not None, other.beat_ms if other else 0.0)
                campaign = candidate.on_look(leader, self.world.now_ms)
                if campaign is not None:
                    number = state.lead(path, b"%d" % self.number, campaign.deposing)
                    if number is not None:
                        return number

    def _store_request(self, state: LocalState) -> None:
        """A client asks something, and is answered when that is stored."""
        request = self.world.requests = self.world.requests + 1
        write_fenced(state, _REQUESTS, b"%d" % request, self.leadership)
        check_leads(state, leader_path("t"), self.leadership)
        self.world.answered = max(self.world.answered, request)

    def _patiently(self, work: Callable[[], Any]) -> Any:
        while True:
            try:
                return work()
            except (OSError, StateError):  # of a file that another leader has removed just then; see EpochKeeper._run
                self.pause()

    def _announce(self) -> None:
        self.world.send(self, Order(self.leadership, self.generation, self.kept))

    # What the keeper of epochs says

    def tick(self) -> None:
        """Nothing is due by itself."""

    def on_epoch_kept(self, epoch: int) -> None:
        self.kept = epoch
        self._announce()

    def on_epoch_lost(self, epoch: int, reason: str) -> None:
        """The next one has another number."""

    def on_gone_back(self, generation: Generation, problems: list[str]) -> None:
        assert not problems, problems
        self.generation, self.kept = generation, generation.restore
        self._announce()

    def on_nothing_to_go_back_to(self, problems: list[str]) -> None:
        raise AssertionError(problems)


class World:
    """The masters, the tasks, and what holds."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.random = folder, Random(seed)
        topology = SimpleNamespace(name="t", settings=SimpleNamespace(seed=1), tasks=lambda: ())
        self.job = cast(
            RunDescription,
            SimpleNamespace(
                id="t", checkpoints=folder / "checkpoints", topology=topology, revision=0, leaves_epochs=True
            ),
        )
        self.now_ms = 0.0
        self.is_away = False
        self.masters: list[Master] = []
        self.began = self.taken = self.requests = self.answered = 0
        self.receivers = [Receiver() for _ in range(3)]
        self.restores: dict[int, int] = {}
        self.published = 0
        self.leaderships: set[int] = set()
        self.deposed = 0
        self._mail: dict[tuple[Master, int], deque[Order]] = {}

    def find(self, number: int) -> Master | None:
        """The master of that number, if it is there."""
        return next((one for one in self.masters if one.number == number), None)

    def start(self) -> None:
        """One more master."""
        self.began += 1
        master = Master(self, self.began)
        self.masters.append(master)
        master.start()
        master.done.acquire()

    def step(self) -> None:
        """Something happens."""
        self.now_ms += STEP_MS
        chance = self.random.random()
        if len(self.masters) < 2 or (chance < 0.005 and len(self.masters) < 4):
            self.start()
        elif chance < 0.008:
            self._run(self.random.choice(self.masters), kills=True)
        elif chance < 0.02:
            master = self.random.choice(self.masters)
            master.is_stopped = not master.is_stopped
        elif chance < 0.025:
            self.is_away = not self.is_away
        elif chance < 0.2:
            self._deliver()
        elif awake := [one for one in self.masters if not one.is_stopped]:
            self._run(self.random.choice(awake))

    def end(self) -> None:
        """No master is left."""
        self.is_away = False
        while self.masters:
            with suppress(Exception):
                self._run(self.masters[0], kills=True)

    def send(self, master: Master, order: Order) -> None:
        """It is on its way to all tasks."""
        for receiver in range(len(self.receivers)):
            self._mail.setdefault((master, receiver), deque()).append(order)

    def check_request(self, found: int) -> None:
        """A new leader has found this request: nothing that was answered is forgotten."""
        assert found >= self.answered, (
            f"request {self.answered} was answered, and {found} is what the next leader found"
        )

    def _run(self, master: Master, *, kills: bool = False) -> None:
        master.is_killed |= kills
        master.turn.release()
        master.done.acquire()
        if master.error is not None:
            raise master.error
        self.deposed += master.ended == "deposed"

    def _deliver(self) -> None:
        full = [key for key, mail in self._mail.items() if mail]
        if full:
            key = self.random.choice(full)
            self._obey(self.receivers[key[1]], self._mail[key].popleft())

    def _obey(self, receiver: Receiver, order: Order) -> None:
        if not receiver.fence.admit(order.leadership):
            return
        before = receiver.obeyed[-1] if receiver.obeyed else Order(0, Generation(), 0)
        assert order.leadership >= before.leadership, f"{order} was obeyed after {before}"
        receiver.obeyed.append(order)
        self.leaderships.add(order.leadership)
        number, restore = order.generation
        if number > before.generation.number:
            is_first = (
                number not in self.restores
            )  # a task may hear late of a generation in which another has published
            assert self.restores.setdefault(number, restore) == restore, f"two leaders gave generation {number}"
            assert not is_first or restore >= self.published, f"{self.published} is published, all go back to {restore}"
        if order.kept > self.published:
            store = CheckpointStore(self.job.checkpoints)
            assert not store._is_void(order.kept), f"epoch {order.kept} is published, and does not count"
            self.published = order.kept
        self.taken = max(self.taken, order.kept)


@contextmanager
def taking_turns(world: World) -> Iterator[None]:
    """While this lasts, masters give up their turn before each call of the file system."""

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            me = current_thread()
            if isinstance(me, Master) and me.world is world and not me.is_killed:
                me.pause()
                if world.is_away and str(arguments[0]).startswith(str(world.folder / "state")):
                    raise PermissionError(13, "away")
            return real(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, wrapped(getattr(os, name)))
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def play(folder: Path, seed: int, steps: int = 4_000) -> World:
    """A world that has run from this seed, in which all that is to hold did."""
    world = World(folder, seed)
    with taking_turns(world):
        try:
            for _ in range(steps):
                world.step()
        finally:
            world.end()
    stored = read_fenced(LocalState(folder / "state"), generation_path("t"))
    assert stored is not None or not world.restores
    return world
