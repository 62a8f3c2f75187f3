"""The client's side of a topology that runs in processes: results over a socket, status from the topology master."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterable
from dataclasses import replace
from threading import Condition, Thread
from typing import Protocol

import grpc
import polars as pl

from ouzel.runtime.process.job import Job
from ouzel.runtime.process.master_client import MasterFinder
from ouzel.runtime.process.results import ResultReader
from ouzel.runtime.process.topology_master import STATUS_FILE
from ouzel.runtime.protocol.messages import Event
from ouzel.runtime.run import RunState, Status
from ouzel.runtime.wire import wire_pb2
from ouzel.runtime.wire.wire_pb2_grpc import TopologyMasterStub

_ENDED = (RunState.FINISHED, RunState.FAILED, RunState.STOPPED)
_RETRY_S = 0.05
_LOOK_FOR_MASTER_S = 0.2
STOP_S = 60.0
"""A stop that takes longer than this is made short: what is on its way is dropped."""


class ServedScheduler(Protocol):
    """A scheduler whose containers end when it ends."""

    def on_kill(self) -> None:
        """End everything."""

    def has_ended(self) -> bool:
        """Whether everything is gone."""


class HeronHandle:
    """A topology in processes (see run.Handle)."""

    def __init__(self, job: Job, scheduler: ServedScheduler) -> None:
        self._job, self._scheduler = job, scheduler
        self._finder = MasterFinder(job)
        self._frames: list[pl.DataFrame] = []
        self._rows = 0
        self._status = Status(RunState.STARTING)
        self._stopping = False
        self._news = Condition()
        self._reader = ResultReader(job.home, self._take)
        self._thread = Thread(target=self._follow, name="status", daemon=True)
        self._thread.start()

    @property
    def job(self) -> Job:
        """What runs."""
        return self._job

    def results(self) -> list[pl.DataFrame]:
        """See run.Handle."""
        with self._news:
            frames, self._frames = self._frames, []
        return frames

    def status(self) -> Status:
        """See run.Handle."""
        return self._status

    def wait(self, timeout_s: float) -> bool:
        """See run.Handle."""
        with self._news:
            self._news.wait_for(lambda: self._frames or self._has_ended, timeout_s)
            return self._has_ended

    def stop(self) -> Status:
        """See run.Handle."""
        self._stopping = True
        deadline = time.monotonic() + STOP_S
        while not self._has_ended and not self._ask_to_stop() and time.monotonic() < deadline:
            time.sleep(_RETRY_S)
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._thread.is_alive():
            self._scheduler.on_kill()
            self._thread.join()
        return self._status

    @property
    def _has_ended(self) -> bool:
        return self._status.state in _ENDED

    def _take(self, frame: pl.DataFrame) -> None:
        with self._news:
            self._frames.append(frame)
            self._news.notify_all()

    def _ask_to_stop(self) -> bool:
        address = self._finder.find(_LOOK_FOR_MASTER_S)
        if address is None:
            return False
        with grpc.insecure_channel(address) as channel:
            try:
                TopologyMasterStub(channel).Stop(wire_pb2.StopRequest(), timeout=2.0)
            except grpc.RpcError:
                return False
        return True

    def _follow(self) -> None:
        """The status thread's work: until the topology has ended, and everything is cleared away."""
        last: Status | None = None
        while last is None or last.state not in _ENDED:
            if self._scheduler.has_ended():
                last = self._last_words(last)
                break
            last = self._watch() or last
        self._scheduler.on_kill()
        self._reader.close()
        self._finder.close()
        last = self._clear_away(last)
        with self._news:
            self._status = last
            self._news.notify_all()

    def _watch(self) -> Status | None:
        """Follow one topology master; the last it said."""
        address = self._finder.find(_LOOK_FOR_MASTER_S)
        last = None
        if address is not None:
            with grpc.insecure_channel(address) as channel, contextlib.suppress(grpc.RpcError):
                for message in TopologyMasterStub(channel).Watch(wire_pb2.WatchRequest()):
                    last = _status_of(message)
                    if last.state not in _ENDED:  # the end is told when everything is cleared away
                        self._status = last
        return last

    def _last_words(self, last: Status | None) -> Status:
        """All processes are gone: how it ended, if the topology master could still say it."""
        try:
            return _status_of(wire_pb2.TopologyStatus.FromString((self._job.home / STATUS_FILE).read_bytes()))
        except FileNotFoundError:
            state = RunState.STOPPED if self._stopping else RunState.FAILED
            reason = "" if self._stopping else "the processes of the topology were ended from outside"
            return replace(last or self._status, state=state, reason=reason)

    def _clear_away(self, last: Status) -> Status:
        """Remove the job directory; the logs of a failed run stay, and are named."""
        home = self._job.home
        logs = [log for log in home.glob("container-*/*.log") if log.stat().st_size]
        if last.state is not RunState.FAILED or not logs:
            shutil.rmtree(home, ignore_errors=True)
            return last
        kept = home.with_name(f"{home.name}-logs")
        kept.mkdir(mode=0o700)
        for log in logs:
            log.rename(kept / f"{log.parent.name}-{log.name}")
        shutil.rmtree(home, ignore_errors=True)
        return replace(last, events=(*last.events, Event("note", f"the logs are in {kept}")))


def _status_of(message: wire_pb2.TopologyStatus) -> Status:
    return Status(
        state=RunState(message.state),
        rows_in=message.rows_in,
        rows_acked=message.rows_acked,
        rows_failed=message.rows_failed,
        rows_out=message.rows_out,
        rows_late=message.rows_late,
        rows_bad=message.rows_bad,
        watermark_us=message.watermark_us if message.HasField("watermark_us") else None,
        p50_ms=message.p50_ms if message.HasField("p50_ms") else None,
        p99_ms=message.p99_ms if message.HasField("p99_ms") else None,
        restarts=message.restarts,
        back_pressure=message.back_pressure,
        reason=message.reason,
        events=tuple(Event(event.kind, event.text, event.count) for event in message.events),
        ranges=_ranges_of(message.ranges),
    )


def _ranges_of(messages: Iterable[wire_pb2.Range]) -> dict[str, dict[str, tuple[int, int]]]:
    ranges: dict[str, dict[str, tuple[int, int]]] = {}
    for message in messages:
        ranges.setdefault(message.component, {})[message.partition] = (message.start, message.end)
    return ranges
