"""What is done to those who take part in a run, from a seed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.session import Job
from tests.fire.places import Place
from tests.process.topologies import pid_of

_AWAY_S, _SLOW_S, _HELD_S, _FULL_S = 1.0, 0.2, 4.0, 1.0


@dataclass
class Scene:
    """A run, and what it reads and writes; `disk` is where its job directory is, and what it writes as files."""

    job: Job
    handle: HeronHandle
    source: Place
    sink: Place
    disk: Path | None
    random: Random

    def time(self, longest_s: float) -> float:
        """For how long something lasts, in seconds."""
        return self.random.uniform(0.1, longest_s)


def kill_task(scene: Scene, component: str = "") -> None:
    """SIGKILL for an instance, of that component if one is named."""
    task = scene.random.choice([task for task in scene.job.topology.tasks() if component in ("", task.component)])
    _kill(scene, f"{scene.job.packing.container_of(task.id).id}/instance-{task.id}")


def kill_stream_manager(scene: Scene) -> None:
    """SIGKILL for the stream manager of a container."""
    _kill(scene, f"{scene.random.choice(scene.job.packing.containers).id}/stream-manager")


def _kill(scene: Scene, name: str) -> None:
    with suppress(ProcessLookupError):  # the run has ended
        os.kill(pid_of(scene.handle, name), signal.SIGKILL)


def kill_server(scene: Scene, place: Place) -> None:
    """SIGKILL for a server, which is away for a while."""
    server = scene.random.choice(place.servers)
    server.kill()
    time.sleep(scene.time(_AWAY_S))
    server.start()


def cut(scene: Scene, place: Place) -> None:
    """Reset all connections to a server, and refuse others for a while."""
    proxy = scene.random.choice(place.proxies)
    proxy.cut()
    proxy.mend(scene.time(_AWAY_S))


def delay(scene: Scene, place: Place) -> None:
    """Let everything take longer on its way to and from a server for a while."""
    proxy = scene.random.choice(place.proxies)
    proxy.delay(scene.random.uniform(_SLOW_S / 10, _SLOW_S))
    proxy.mend(scene.time(2 * _AWAY_S))


def hold_up(scene: Scene, place: Place) -> None:
    """Let nothing through to and from a server for a while, though it is there."""
    proxy = scene.random.choice(place.proxies)
    proxy.hold_up()
    proxy.mend(scene.time(_HELD_S))


def fill_disk(scene: Scene) -> None:
    """Leave no byte on the disk for a while: the run may end for it."""
    assert scene.disk is not None
    filler = scene.disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 16, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue
    scene.handle.wait(_FULL_S)
    filler.unlink()


Fault = Callable[[Scene], None]


def faults_of(source: Place, sink: Place, disk: Path | None) -> dict[str, Fault]:
    """What can be done to this pair, by name."""
    found: dict[str, Fault] = {"task": kill_task, "stream manager": kill_stream_manager}
    for role, place in (("source", source), ("sink", sink)):
        if place.servers:
            found |= {
                f"{role}'s {name}": lambda scene, act=act, place=place: act(scene, place)  # type: ignore[misc]
                for name, act in (("server", kill_server), ("connections", cut), ("delay", delay), ("stall", hold_up))
            }
    return found | ({"disk": fill_disk} if disk else {})
