"""How many files, processes and threads this user may have: checked before a topology starts, and named where one is refused."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from ouzel.descriptors import allow_files
from ouzel.errors import TopologyError

if TYPE_CHECKING:
    from ouzel.planner.packing.plan import PackingPlan

_FILES = 40
"""What a process has open besides its connections to the others of its container and to the other containers."""

_THREADS, _THREADS_OF_CONTAINER, _THREADS_OF_TASK = 25, 20, 4
"""What the topology master, and the client and server beyond what they have, need; the managers of a container; a task."""

_MANY = 10_000
"""So many threads are enough for any topology of one machine; they are not counted."""

RAISE_LIMIT = "raise the limit that `ulimit -u` shows, or run fewer tasks"


def check_limits(packing: PackingPlan) -> None:
    """Check that the topology's processes may have what they need.

    Raises:
        TopologyError: they may not.
    """
    files = files_needed(packing)
    allowed = allow_files(files)
    if allowed < files:
        raise TopologyError(
            f"a process may have {allowed} files open here, and this topology needs {files}; write `ulimit -n 1024` before it"
        )
    most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if os.geteuid() == 0 or most == resource.RLIM_INFINITY or most > _MANY:
        return
    needed, there = threads_needed(packing), _threads_of(os.geteuid())
    if there + needed > most:
        raise TopologyError(
            f"this user may have {most} processes and threads and has {there}, and this topology needs {needed} more; {RAISE_LIMIT}"
        )


def files_needed(packing: PackingPlan) -> int:
    """How many files the process that has most of them needs: a stream manager."""
    return _FILES + max(len(container.tasks) for container in packing.containers) + len(packing.containers)


def threads_needed(packing: PackingPlan) -> int:
    """How many processes and threads the topology needs, the client's among them."""
    tasks = sum(len(container.tasks) for container in packing.containers)
    return _THREADS + _THREADS_OF_CONTAINER * len(packing.containers) + _THREADS_OF_TASK * tasks


def _threads_of(user: int) -> int:
    """How many threads a user's processes have, as far as they can be seen from here."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if process.stat().st_uid == user:
                found += len(os.listdir(process / "task"))
    return found


def fork() -> int:
    """As `os.fork`.

    Raises:
        TopologyError: no process can be started.
    """
    try:
        return os.fork()
    except OSError as error:
        raise TopologyError(f"no more processes can be started: {error.strerror}; {RAISE_LIMIT}") from error


def start_thread(thread: Thread) -> None:
    """Start it.

    Raises:
        TopologyError: no thread can be started.
    """
    try:
        thread.start()
    except RuntimeError as error:
        raise TopologyError(
            f"no more threads can be started; {RAISE_LIMIT}, or allow more memory (`ulimit -v`)"
        ) from error
