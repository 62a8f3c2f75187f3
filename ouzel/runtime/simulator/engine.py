"""The memory engine: the simulator without faults, on the real clock, behind the Handle of a run."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from ouzel.compiler.user_code import describe_raised, users_line_in
from ouzel.connectors.backlog import Backlog, largest
from ouzel.descriptors import open_standard_descriptors
from ouzel.errors import OuzelError, TopologyError
from ouzel.exits import in_user_code
from ouzel.interrupts import AwaitedThread
from ouzel.planner.packing.plan import PackingPlan
from ouzel.planner.topology import Topology
from ouzel.runtime.observe.counts import add_up_counts
from ouzel.runtime.observe.histogram import Histogram
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME, Event
from ouzel.runtime.protocol.task import TaskMetrics
from ouzel.runtime.run import RowIteration, RunState, Status, make_dropped_event, make_rest_error
from ouzel.runtime.simulator.world import World

END_S = 10.0
"""A call that does not return so long after the run was to end is left behind."""

IDLE_S = 0.001
"""Pause when there is nothing to do."""

RESULTS_BYTES_MAX = 16 << 20
"""With more than this in results that nobody has taken, the topology waits."""

T = TypeVar("T")


class MemoryHandle(RowIteration):
    """A topology that runs in a thread of this process."""

    def __init__(self, topology: Topology, packing: PackingPlan, directory: Path) -> None:
        self._world = World(topology, packing, directory, topology.settings.seed, self._take, _now_ms)
        self._frames: deque[pl.DataFrame] = deque()
        self._rows_out = self._came = self._taken = self._unlimited = 0
        self._state = RunState.RUNNING
        self._reason = ""
        self._cut_short = self._over = self._left = False
        self._watermark_us: int | None = None
        self._asked: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._rest = threading.Event()
        self._news = threading.Event()
        self._thread = AwaitedThread(self._run, "simulator")
        self._thread.start()

    def results(self) -> list[pl.DataFrame]:
        """Frames of the result sink since the last call."""
        frames = [self._frames.popleft() for _ in range(len(self._frames))]
        self._taken += sum(int(frame.estimated_size()) for frame in frames)
        return frames

    def status(self) -> Status:
        """Totals over all tasks."""
        counts = [host.machine.metrics() for host in list(self._world.hosts.values())]
        spouts = [host.machine.metrics() for host in list(self._world.hosts.values()) if host.machine.is_spout]
        latency = Histogram()
        for count in spouts:
            latency.merge(dict(count.latency_us))
        p50, p99 = latency.quantile(0.5), latency.quantile(0.99)
        return Status(
            self._state,
            **add_up_counts(spouts, (), counts) | {"rows_out": self._rows_out},
            watermark_us=self._watermark(),
            p50_ms=None if p50 is None else p50 / 1000,
            p99_ms=None if p99 is None else p99 / 1000,
            reason=self._reason,
            events=tuple(self._world.events),
            ranges=self._by_spout(lambda counts: counts.ranges),
            times=self._by_spout(lambda counts: counts.times),
            watermarks=self._spout_watermarks(),
            waiting=tuple(waiting for count in counts for waiting in count.waiting),
            began=self._began(),
            counters=self._counters(),
            lag=sum(lags) if (lags := [count.lag for count in spouts if count.lag is not None]) else None,
            lag_bytes=sum(sizes) if (sizes := [one.lag_bytes for one in spouts if one.lag_bytes is not None]) else None,
            lag_ms=max((count.lag_ms for count in spouts if count.lag_ms is not None), default=None),
            backlogs=self._backlogs(),
        )

    def _backlogs(self) -> dict[str, Sequence[Backlog]]:
        found: dict[str, list[Backlog]] = {}
        for host in list(self._world.hosts.values()):
            if backlogs := host.machine.metrics().backlogs:
                found.setdefault(host.task.component, []).extend(backlogs)
        return {component: largest(backlogs) for component, backlogs in sorted(found.items())}

    def _counters(self) -> dict[str, int]:
        found = Counter[str]()
        for host in list(self._world.hosts.values()):
            machine = host.machine
            found.update({f"{machine.task.component}.{name}": n for name, n in machine.metrics().counters.items()})
        return dict(sorted(found.items()))

    def _watermark(self) -> int | None:
        """The lowest of the sinks, once all have one; it stays where it was when time has ended."""
        times = [self._world.hosts[task].machine.metrics().watermark_us for task in self._world.sinks]
        known = [time_us for time_us in times if time_us is not None]
        if known and len(known) == len(times) and BEGINNING_OF_TIME < min(known) < END_OF_TIME:
            self._watermark_us = min(known)
        return self._watermark_us

    def _spout_watermarks(self) -> dict[str, int]:
        """The least of each spout's tasks'."""
        found: dict[str, int] = {}
        for host in list(self._world.hosts.values()):
            if host.machine.is_spout:
                time_us = host.machine.metrics().watermark_us
                time_us = BEGINNING_OF_TIME if time_us is None else time_us
                found[host.task.component] = min(time_us, found.get(host.task.component, END_OF_TIME))
        return found

    def _began(self) -> dict[str, int]:
        hosts = list(self._world.hosts.values())
        began = ((host.task.component, host.machine.metrics().began_us) for host in hosts)
        return {component: time_us for component, time_us in began if time_us is not None}

    def _by_spout(self, what: Callable[[TaskMetrics], dict[str, T]]) -> dict[str, dict[str, T]]:
        found: dict[str, dict[str, T]] = {}
        for host in list(self._world.hosts.values()):
            if host.machine.is_spout:
                found.setdefault(host.task.component, {}).update(what(host.machine.metrics()))
        return found

    def wait(self, timeout_s: float | None = None) -> bool:
        self._unlimited += 1
        try:
            self._thread.join(timeout_s)
        finally:
            self._unlimited -= 1
        return self._over

    def wait_for_results(self, timeout_s: float | None = None) -> bool:
        if not (self._over or self._frames):
            self._news.wait(timeout_s)
            self._news.clear()
        return self._over

    def fresh_status(self, timeout_s: float) -> Status:
        return self._ask(self.status, timeout_s)

    def pause(self, timeout_s: float) -> Status:
        self._ask(self._deactivate, timeout_s)
        if not self._rest.wait(timeout_s):
            self.resume()
            raise make_rest_error(timeout_s)
        return self._ask(self.status, timeout_s)

    def resume(self) -> None:
        self._ask(self._activate, None)

    def drain(self) -> None:
        self._ask(self._world.stop, None)

    def stop(self) -> Status:
        if not self._left:
            self.drain()
            self._thread.join()
        return self.status()

    def end(self) -> Status:
        self._cut_short = True
        self._thread.join(END_S)
        if self._thread.is_alive() and not self._left:
            self._leave()
        return self.status()

    def _leave(self) -> None:
        """End the run without its thread, which no other can end: it is in a call that does not return."""
        self._left = True
        frame = sys._current_frames().get(self._thread.ident or 0)
        where = users_line_in(traceback.extract_stack(frame)) if frame else ""
        told = f"a call has not returned for {END_S:g} s since the run was to end{f' (at {where})' if where else ''}"
        self._world.events.append(make_dropped_event(self.status(), self._world.topology))
        self._world.events.append(Event("note", f"{told}; its thread is left behind in this process"))
        self._end(RunState.STOPPED, "")

    def _run(self) -> None:
        try:
            with in_user_code():
                self._work()
        except OuzelError as error:
            self._end(RunState.FAILED, str(error))
        except BaseException as error:  # a bug, or an engineer's code, be it by exit(): the run fails, not the caller
            self._end(RunState.FAILED, describe_raised(error))
        finally:
            for host in self._world.hosts.values():
                with contextlib.suppress(Exception):
                    host.close(self._world.now_ms)
            self._over = True
            self._answer()
            self._rest.set()
            self._news.set()

    def _work(self) -> None:
        while not (self._world.done or self._cut_short):
            self._world.now_ms = _now_ms()
            self._world.wall_zero_us = int((time.time() - time.monotonic()) * 1e6)
            idle = self._is_full or not self._world.step()
            self._answer()
            if idle:
                time.sleep(IDLE_S)
        if not self._world.done:
            self._world.events.append(make_dropped_event(self.status(), self._world.topology))
        self._end(RunState.FAILED if self._world.failed else self._ended, self._world.failed)

    def _ask(self, what: Callable[[], T], timeout_s: float | None) -> T:
        """Have the topology's thread do something between two steps."""
        future: Future[T] = Future()
        self._asked.append((what, future))
        if self._over:
            self._answer()
        try:
            return future.result(timeout_s)
        except TimeoutError:
            raise TopologyError(f"a task has been busy for {timeout_s:g} s, and does not answer") from None

    def _answer(self) -> None:
        """Do what was asked, and say when a pause has come to rest."""
        while self._asked:
            what, future = self._asked.popleft()
            future.set_result(what())
        if self._state is RunState.RUNNING and self._world.at_rest:
            self._state = RunState.PAUSED
            self._rest.set()

    def _deactivate(self) -> None:
        if not self._over:
            self._world.deactivate()

    def _activate(self) -> None:
        if not self._over:
            self._rest.clear()
            self._world.activate()
            self._state = RunState.RUNNING

    def _take(self, batch_id: int, frame: pl.DataFrame) -> None:
        self._frames.append(frame)
        self._came += int(frame.estimated_size())
        self._rows_out += frame.height
        self._news.set()

    @property
    def _is_full(self) -> bool:
        """Whether too much of the result waits to be taken, by somebody who does not wait for the topology to rest."""
        return self._came - self._taken > RESULTS_BYTES_MAX and not (self._world.pause or self._unlimited)

    @property
    def _ended(self) -> RunState:
        return RunState.FINISHED if self._world.has_finished else RunState.STOPPED

    def _end(self, state: RunState, reason: str) -> None:
        self._state, self._reason = state, reason


def _now_ms() -> float:
    return time.monotonic() * 1000


def start_memory(topology: Topology, packing: PackingPlan, directory: Path) -> MemoryHandle:
    """Run a topology in this process."""
    open_standard_descriptors()
    return MemoryHandle(topology, packing, directory)
