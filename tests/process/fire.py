"""Killing those who take part in a run, from a seed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from random import Random
from typing import Protocol

from ouzel.runtime.cluster.client import HeronHandle
from ouzel.runtime.run import Status
from ouzel.session import Job, start
from tests.process.topologies import pid_of, wait_until


class Killable(Protocol):
    """A server of a test."""

    def kill(self) -> None:
        """kill -9."""

    def start(self) -> None:
        """Start it again with the same data and port."""


def shoot(random: Random, job: Job, handle: HeronHandle, servers: Sequence[Killable]) -> str:
    """Kill one of those who take part."""
    tasks = [f"{job.packing.container_of(task.id).id}/instance-{task.id}" for task in job.topology.tasks()]
    victim = random.choice([*tasks, "1/stream-manager", "2/stream-manager", *range(len(servers))])
    if isinstance(victim, int):
        servers[victim].kill()
        time.sleep(random.random())
        servers[victim].start()
        return f"server {victim}"
    os.kill(pid_of(handle, victim), signal.SIGKILL)
    return victim


def run_under_fire(
    job: Job, servers: Sequence[Killable], random: Random, items: int, kills: int
) -> tuple[Status, list[str]]:
    """The run's last status, and who was killed; `items` is how many it reads."""
    handle = start(job)
    assert isinstance(handle, HeronHandle)
    story: list[str] = []
    try:
        for kill in range(kills):
            wait_until(lambda: handle.status().rows_acked >= (kill + 1) * items // (kills + 4) or handle.wait(0), 60)  # noqa: B023
            if handle.wait(0):
                break
            story.append(shoot(random, job, handle, servers))
        wait_until(lambda: handle.wait(0.1), 90)
        return handle.status(), story
    finally:
        handle._scheduler.on_kill()
