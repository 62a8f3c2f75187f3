"""A pair of connectors under fire: numbered events go from one to the other while all who take part are killed, cut off and delayed."""

from __future__ import annotations

import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import RunState, Status
from ouzel.session import load_text, start
from tests.fire.faults import Fault, Scene, faults_of
from tests.fire.places import PLACES, Place, close
from tests.servers.waiting import wait_until

QUERY = """
SET 'delivery' = '{delivery}';
CREATE TABLE numbers (n BIGINT) WITH ({source}, 'format' = 'json');
CREATE TABLE out (n BIGINT) WITH ({sink}, 'format' = 'json');
INSERT INTO out SELECT n FROM numbers;
"""
SETTINGS = (("parallelism", "2"), ("containers", "2"), ("ack.timeout.ms", "5000"))
STALL_S = 120
DISK = "64m"
FULL = "No space left on device"

_USUAL = tempfile.gettempdir()
"""Servers of a second set of places must not lie on the small disk of the first, which is where temporary files are made meanwhile."""


@dataclass(frozen=True)
class Outcome:
    """What became of the events; `faults` are those that there were, in order."""

    events: int
    faults: Sequence[str]
    lost: int
    twice: int

    def __str__(self) -> str:
        return f"{self.events:,} events, {len(self.faults)} faults, {self.lost:,} lost, {self.twice:,} twice: {dict(Counter(self.faults))}"


class Grounds:
    """The places of pairs under `directory`, each made when it is first asked for."""

    def __init__(self, directory: Path, disk: Path) -> None:
        self.disk = disk
        self._directory, self._places, self._names = directory, dict[str, Place](), 0

    def place(self, kind: str) -> Place:
        """The servers of that kind."""
        if kind not in self._places:
            self._places[kind] = PLACES[kind](self.disk if kind == "files" else self._directory)
        return self._places[kind]

    def name(self) -> str:
        """A name that no other pair has."""
        self._names += 1
        return f"pair{self._names}"

    def close(self) -> None:
        """End all servers."""
        for place in self._places.values():
            close(place)


@contextmanager
def grounds() -> Iterator[Grounds]:
    """Places for any number of pairs; job directories and files are on a disk that can be filled, where we may mount one."""
    with (
        tempfile.TemporaryDirectory(prefix="fire-", dir=_USUAL) as name,
        tempfile.TemporaryDirectory(prefix="fire-disk-", dir=_USUAL) as disk,
    ):
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", disk]
        mounted = not subprocess.run(mount, capture_output=True, check=False).returncode
        made = Grounds(Path(name), Path(disk))
        usual, tempfile.tempdir = tempfile.tempdir, disk if mounted else tempfile.tempdir
        try:
            yield made
        finally:
            tempfile.tempdir = usual
            made.close()
            if mounted:
                subprocess.run(["umount", "-l", disk], check=True)


@dataclass
class Battle:
    """Runs of one pair, until one has read everything. `plan` are the faults to come, `story` those that there were."""

    grounds: Grounds
    text: str
    name: str
    events: int
    faults: Mapping[str, Fault]
    plan: list[str]
    story: list[str] = field(default_factory=list)

    def fight(self, places: tuple[Place, Place], disk: Path | None, random: Random) -> None:
        """Run, again whenever a full disk has ended a run.

        Raises:
            AssertionError: one has ended otherwise, or stalls.
        """
        while True:
            job = load_text(self.text, self.grounds.disk, self.name, (*SETTINGS, *self._pace()))
            handle = start(job)
            assert isinstance(handle, HeronHandle)
            try:
                status = self._attack(Scene(job, handle, *places, disk, random))
            finally:
                handle._scheduler.on_kill()
            if (status.state, status.reason) == (RunState.FINISHED, ""):
                return
            assert "disk" in self.story, (status, self.story)
            assert FULL in status.reason, (status, self.story)
            for place in places:
                for proxy in place.proxies:
                    proxy.mend()  # a run has to find its servers when it starts

    def _pace(self) -> tuple[tuple[str, str], ...]:
        """So few events on their way that they last for all faults."""
        pending = max(100, self.events // 400)
        return ("batch.rows", str(pending // 4)), ("max.pending.rows", str(pending))

    def _attack(self, scene: Scene) -> Status:
        """One run's last status."""
        handle, acked = scene.handle, self.events // 10  # by then all tasks have started
        step = self.events // 2 // (len(self.plan) + len(self.story))
        try:
            while self.plan:
                wait_until(lambda: handle.status().rows_acked >= acked + step or handle.wait(0), STALL_S)  # noqa: B023
                if handle.wait(0):
                    break
                acked = handle.status().rows_acked
                self.story.append(self.plan.pop(0))
                self.faults[self.story[-1]](scene)
            wait_until(lambda: handle.wait(0.1), STALL_S)
        except AssertionError as error:
            raise AssertionError(f"it stalls after {self.story}: {handle.status()}") from error
        return handle.status()


def run_pair(grounds: Grounds, pair: tuple[str, str], seed: int, events: int, rounds: int = 1) -> Outcome:
    """Run it to its end, with each fault that there is for the pair `rounds` times.

    Raises:
        AssertionError: it ended otherwise than it should have, or stalled.
    """
    source, sink = (grounds.place(kind) for kind in pair)
    name, random = grounds.name(), Random(f"{pair} {seed}")
    disk = grounds.disk if grounds.disk.is_mount() and pair[0] != "files" else None  # a second run reads files anew
    faults = faults_of(source, sink, disk)
    plan = [fault for _ in range(rounds) for fault in random.sample([*faults], len(faults))]
    source.fill(f"{name}in", events)
    options = {"source": source.options(f"{name}in", True), "sink": sink.options(f"{name}out", False)}
    battle = Battle(grounds, QUERY.format(**options, delivery="at-least-once"), name, events, faults, plan)
    battle.fight((source, sink), disk, random)
    source.check(f"{name}in", events)
    found = sink.found(f"{name}out")
    different = np.unique(found)
    assert different.size == 0 or (different[0] >= 0 and different[-1] < events), (
        "there are events that nobody has made"
    )
    return Outcome(events, battle.story, events - different.size, found.size - different.size)
