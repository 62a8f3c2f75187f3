"""Follows the topology masters of all topologies that run, so that a page asks nobody and waits for nobody."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from ouzel.compiler.written import WrittenQuery
from ouzel.errors import OuzelError, SubmissionError
from ouzel.runtime.cluster.submitted.attached import AttachedHandle
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.cluster.submitted.verbs import find_status
from ouzel.runtime.process.job import DESCRIPTION, RunDescription, load_description
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.runtime.run import RunState, Status
from ouzel.tracker.metrics.history import History, RunHistory
from ouzel.tracker.topologies.snapshot import TopologySnapshot, take_snapshot

FIRST_WORD_S = 1.0
"""How long the first status of a topology that is seen for the first time is waited for."""

STATUS_S = 1.0
"""How often a topology master says how its topology stands: pages ask every three seconds. A change of its state is told at once."""

LOOK_S = 0.02


@dataclass(frozen=True)
class Unreadable:
    """A topology of which only the record can be read, and why."""

    record: Submitted
    condition: Condition
    problem: str


class DescriptionReader:
    """Reads descriptions of runs, each again only when its file is another one: to check its signature takes a millisecond."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int, int], RunDescription]] = {}

    def read(self, home: Path) -> RunDescription:
        """The description in a job directory.

        Raises:
            TopologyError: it is gone, or not what was submitted.
        """
        with suppress(OSError):
            stat = (home / DESCRIPTION).stat()
            mark = stat.st_mtime_ns, stat.st_ino, stat.st_size
            known = self._known.get(home)
            if known is None or known[0] != mark:
                known = self._known[home] = mark, load_description(home)
            return known[1]
        return load_description(home)

    def forget_gone(self) -> None:
        """Forget job directories that are no more."""
        for home in [home for home in list(self._known) if not home.exists()]:
            self._known.pop(home, None)


class TopologyWatcher:
    """All submitted topologies of a registry. Its methods may be called from any thread."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._lock = Lock()
        self._handles: dict[tuple[str, str, int], AttachedHandle] = {}
        self._histories: dict[tuple[str, str], RunHistory] = {}
        self._written: dict[tuple[str, str], WrittenQuery | None] = {}
        self._descriptions = DescriptionReader()

    def snapshots(self, *, with_processes: bool = True) -> Iterator[TopologySnapshot | Unreadable]:
        """All topologies, by name; which of their processes run only if that is wanted."""
        names = self.registry.names()
        self._forget_others(names)
        self._follow_all(names)
        for name in names:
            with suppress(SubmissionError):  # it was removed, or its record is of another version
                if (record := self.registry.find(name)) is not None:
                    yield self._take(record, with_processes=with_processes)

    def snapshot(self, name: str, *, with_processes: bool = True) -> TopologySnapshot:
        """One topology; which of its processes run only if that is wanted.

        Raises:
            SubmissionError: there is none of that name.
            OuzelError: its files cannot be read.
        """
        record = self.registry.find(name)
        if record is None:
            raise SubmissionError(f"there is no submitted topology '{name}'; /topologies shows all that there are")
        status, read = self._status(record), self._descriptions.read
        return take_snapshot(self.registry, record, *status, read=read, with_processes=with_processes)

    def history(self, snapshot: TopologySnapshot) -> History:
        """The metrics of its run up to now."""
        key = (snapshot.name, f"{snapshot.job.id} {snapshot.job.revision}")
        with self._lock:
            known = self._histories.get(key)
            if known is None:
                for former in [run for run in self._histories if run[0] == snapshot.name]:
                    del self._histories[former]
                containers = [one.id for one in snapshot.job.packing.containers]
                known = self._histories[key] = RunHistory(snapshot.home, containers)
            return known.read(int(time.time()))

    def read_written(self, snapshot: TopologySnapshot) -> WrittenQuery | None:
        """Its query, and which operators its components have; None where that is not known."""
        key = (snapshot.name, f"{snapshot.record.run} {snapshot.job.revision}")
        if key not in self._written:
            for former in [known for known in list(self._written) if known[0] == snapshot.name]:
                self._written.pop(former, None)
            with suppress(OuzelError, OSError):
                self._written[key] = self.registry.folder(snapshot.name).about().written
        return self._written.get(key)

    def close(self) -> None:
        """Hear no more of them. They run on."""
        with self._lock:
            for handle in self._handles.values():
                handle.let_go()
            self._handles.clear()

    def _take(self, record: Submitted, *, with_processes: bool) -> TopologySnapshot | Unreadable:
        try:
            status, read = self._status(record), self._descriptions.read
            return take_snapshot(self.registry, record, *status, read=read, with_processes=with_processes)
        except OuzelError as error:
            return Unreadable(record, self.registry.condition(record), str(error))

    def _status(self, record: Submitted) -> tuple[Status | None, float | None]:
        """The last that its topology master said and how many seconds ago, or what it said at its end."""
        if not self.registry.is_alive(record.name):
            return find_status(self.registry, record), None
        handle, is_new = self._handle(record)
        deadline = time.monotonic() + FIRST_WORD_S
        while is_new and handle.status().state is RunState.STARTING and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        return handle.status(), handle.silence_s

    def _follow_all(self, names: list[str]) -> None:
        """Begin to follow all that run, and wait for the first word of all at once: of many that are silent each would cost its time."""
        fresh = []
        for name in names:
            with suppress(OuzelError):
                record = self.registry.find(name)
                if record is not None and self.registry.is_alive(name):
                    handle, is_new = self._handle(record)
                    fresh += [handle] if is_new else []
        deadline = time.monotonic() + FIRST_WORD_S
        while any(one.status().state is RunState.STARTING for one in fresh) and time.monotonic() < deadline:
            time.sleep(LOOK_S)

    def _handle(self, record: Submitted) -> tuple[AttachedHandle, bool]:
        """What follows this start of a topology, and whether it is new. The lock is held so that nobody follows it twice."""
        key = (record.name, record.run, record.starts)
        with self._lock:
            known = self._handles.get(key)
            if known is not None and (known.status().state is not RunState.FAILED):
                return known, False
            for former in [one for one in self._handles if one[0] == record.name]:
                self._handles.pop(former).let_go()
            self._handles[key] = AttachedHandle(self.registry, record, takes_results=False, every_s=STATUS_S)
            return self._handles[key], True

    def _forget_others(self, names: list[str]) -> None:
        """Let go of what is no more: a handle ends by itself when its topology does."""
        there = {name for name in names if self.registry.is_alive(name)}
        with self._lock:
            for key in [key for key in self._handles if key[0] not in there]:
                self._handles.pop(key).let_go()
            for run in [run for run in self._histories if run[0] not in names]:
                del self._histories[run]
        for query in [query for query in list(self._written) if query[0] not in names]:
            self._written.pop(query, None)
        self._descriptions.forget_gone()
