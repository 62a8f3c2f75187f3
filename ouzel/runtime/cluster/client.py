"""The client's side of a topology that runs in processes: results over a socket, status from the topology master."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Condition
from typing import Protocol, cast

import polars as pl

from ouzel.connectors.backlog import Backlog
from ouzel.errors import TopologyError
from ouzel.interrupts import AwaitedThread
from ouzel.runtime.cluster.calls import ANSWER_S, ask, watch
from ouzel.runtime.observe.counts import RUN_COUNTS
from ouzel.runtime.process.job import MASTER_CONTAINER, RunDescription, remove_home
from ouzel.runtime.process.life import now_ms
from ouzel.runtime.process.limits import start_thread
from ouzel.runtime.process.master_client import MasterFinder
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.process.results import ResultReader
from ouzel.runtime.process.topology_master import STATUS_FILE
from ouzel.runtime.process.usage import read_usage
from ouzel.runtime.protocol.cluster.executor import SEE_LOG
from ouzel.runtime.protocol.cluster.starvation import Usage
from ouzel.runtime.protocol.messages import Event, Waiting
from ouzel.runtime.protocol.standstill import Standstill
from ouzel.runtime.protocol.unheard import Unheard
from ouzel.runtime.run import ENDED, RowIteration, RunState, Status, make_dropped_event, make_rest_error
from ouzel.runtime.wire import wire_pb2

_RETRY_S = 0.05
_ROOM_FOR_WORDS = 1 << 16
_LOOK_FOR_MASTER_S = 0.2
ASK_S = 60.0
"""How long a client retries to reach the topology master, in seconds."""

RESULTS_BYTES_MAX = 16 << 20
"""With more than this in results that nobody has taken, no more are read from the topology."""

LOGS_KEPT = 20
"""Failed runs whose logs stay."""

SILENCE_S = 120.0
"""A topology master that says nothing for so long, while it is listened to and has a core, is not heard of any more."""

STOP_S = 30.0
"""A stop that has handled nothing for so long is cut short: what is on its way is dropped."""


class ServedScheduler(Protocol):
    """A scheduler whose containers end when it ends."""

    def on_kill(self) -> None:
        """End everything."""

    def has_ended(self) -> bool:
        """Whether everything is gone."""

    def last_words(self) -> str:
        """When everything is gone: why, if that was not meant to be; empty if nothing is known."""


class ResultSource(Protocol):
    """Where a handle's results come from: a socket, or files. `failure` says why no more come, once that is so."""

    failure: str

    def catch_up(self, timeout_s: float) -> None:
        """Return when whatever was handed over before the call has been delivered, or after `timeout_s`."""

    def resume(self) -> None:
        """There is room again."""

    def close(self) -> None:
        """Deliver what is left, then stop."""


Deliver = Callable[[pl.DataFrame], None]
"""Takes each frame of a result."""

HasRoom = Callable[[], bool]
"""Whether there is room for more frames."""

OpenResults = Callable[[Path, Deliver, HasRoom], ResultSource]
"""Opens the results of a job directory."""


class HeronHandle(RowIteration):
    """A topology in processes (see run.Handle). What was answered `before` it began is the first of its results.

    Its topology master says how it stands no more often than `every_s`, but for a change of the state.
    """

    def __init__(
        self,
        job: RunDescription,
        scheduler: ServedScheduler,
        open_results: OpenResults = ResultReader,
        before: Iterable[pl.DataFrame] = (),
        every_s: float = 0.0,
    ) -> None:
        self._job, self._scheduler, self._every_s = job, scheduler, every_s
        self._finder, self._credentials = MasterFinder(job), job.credentials
        self._frames = list(before)
        self._bytes = self._unlimited = 0
        self._rows = 0
        self._status = Status(RunState.STARTING)
        self._heard, self._heard_at = 0, time.monotonic()
        self._stopping = self._cut_short = self._lets_go = False
        self._unheard = Unheard(1e3 * SILENCE_S)
        self._stop = Standstill(0.0, 0.0)
        self._news = Condition()
        self._reader = open_results(job.home, self._take, self._has_room)
        self._thread = AwaitedThread(self._follow, "status")
        start_thread(self._thread)

    @property
    def job(self) -> RunDescription:
        """What runs."""
        return self._job

    def results(self) -> list[pl.DataFrame]:
        with self._news:
            was_full, self._bytes = not self._has_room(), 0
            frames, self._frames = self._frames, []
        if was_full:
            self._reader.resume()
        return frames

    def status(self) -> Status:
        return self._status

    @property
    def silence_s(self) -> float:
        """Seconds since the topology master was heard of, or since it was first looked for."""
        return time.monotonic() - self._heard_at

    def wait(self, timeout_s: float | None = None) -> bool:
        with self._taking_all(), self._news:
            self._news.wait_for(lambda: self._has_ended, timeout_s)
            return self._has_ended

    def wait_for_results(self, timeout_s: float | None = None) -> bool:
        with self._news:
            self._news.wait_for(lambda: self._frames or self._has_ended, timeout_s)
            return self._has_ended

    def fresh_status(self, timeout_s: float) -> Status:
        return self._rest_after("Look", timeout_s, lambda: True, _no_answer)

    def pause(self, timeout_s: float) -> Status:
        try:
            return self._rest_after(
                "Deactivate", timeout_s, lambda: self._status.state is RunState.PAUSED, make_rest_error
            )
        except TopologyError:
            self.resume()
            raise

    def resume(self) -> None:
        self._ask("Activate", time.monotonic() + ASK_S)
        with self._news:
            self._news.wait_for(lambda: self._status.state is not RunState.PAUSED, ASK_S)

    def drain(self) -> None:
        self._stop = Standstill(1e3 * STOP_S, now_ms())
        self._stopping = True
        self._ask("Stop", time.monotonic() + STOP_S)

    def stop(self) -> Status:
        if not self._stopping:
            self.drain()
        with self._taking_all():
            self._thread.join()
        return self._status

    def end(self) -> Status:
        self._stopping = self._cut_short = True
        self._thread.join()
        return self._status

    @property
    def _has_ended(self) -> bool:
        return self._status.state in ENDED

    def _take(self, frame: pl.DataFrame) -> None:
        with self._news:
            self._frames.append(frame)
            self._bytes += int(frame.estimated_size())
            self._news.notify_all()

    def _has_room(self) -> bool:
        return bool(self._unlimited) or self._bytes < RESULTS_BYTES_MAX

    @contextlib.contextmanager
    def _taking_all(self) -> Iterator[None]:
        """Inside, results are taken without a limit: whoever waits for the topology to rest does not wait for whoever reads them."""
        self._unlimited += 1
        self._reader.resume()
        try:
            yield
        finally:
            self._unlimited -= 1

    def _rest_after(
        self, call: str, timeout_s: float, reached: Callable[[], bool], refusal: Callable[[float], TopologyError]
    ) -> Status:
        """Call the topology master; the status when every task has heard of it and `reached` holds, or the run has ended."""
        deadline = time.monotonic() + timeout_s
        version = self._ask(call, deadline)
        with self._taking_all(), self._news:
            in_time = self._news.wait_for(
                lambda: self._has_ended or (version is not None and self._heard >= version and reached()),
                deadline - time.monotonic(),
            )
            status = self._status
        if not in_time:
            raise refusal(timeout_s)
        self._reader.catch_up(max(0.0, deadline - time.monotonic()))
        return status

    def _ask(self, call: str, deadline: float) -> int | None:
        """Call the topology master, whichever is there; the version of the plan that says so, None if there is none in time."""
        patience_s = ANSWER_S
        while not self._has_ended and time.monotonic() < deadline:
            address = self._finder.find(_LOOK_FOR_MASTER_S)
            version = None if address is None else ask(address, self._credentials, call, patience_s)
            if version is not None:
                return version
            if address is not None:
                patience_s *= 2  # each call asks all tasks: what has much to do is not to have more
            time.sleep(_RETRY_S)
        return None

    def _follow(self) -> None:
        """The status thread's work: until the topology has ended, and everything is cleared away.

        Whatever goes wrong here ends the run: whoever waits for its end would wait for ever.
        """
        last = self._status
        try:
            last = self._follow_to_the_end()
            self._scheduler.on_kill()
            self._reader.close()
            self._finder.close()
            last = self._clear_away(last)
        except Exception as error:
            last = self._make_failed(f"the run cannot be followed any more: {error or type(error).__name__}")
            with contextlib.suppress(Exception):
                self._scheduler.on_kill()
        finally:
            with self._news:
                self._status = last
                self._news.notify_all()

    def _follow_to_the_end(self) -> Status:
        """How the run ended."""
        last: Status | None = None
        while last is None or last.state not in ENDED:
            if self._lets_go:
                return self._status
            if self._scheduler.has_ended():
                last = self._last_words(last)
            elif self._is_cut_short():
                last = self._cut()
            elif self._reader.failure:
                last = self._make_failed(f"results cannot be taken any more: {self._reader.failure}")
            elif self._unheard.is_over:
                last = self._make_failed(f"the topology master was not heard of for {SILENCE_S:.0f} s")
            else:
                last = self._watch() or last
        return last

    def _make_failed(self, reason: str) -> Status:
        return replace(self._status, state=RunState.FAILED, reason=reason)

    def _watch(self) -> Status | None:
        """Follow one topology master; the last it said."""
        address = self._finder.find(_LOOK_FOR_MASTER_S)
        last, heard = None, Heard()
        for message in () if address is None else watch(address, self._credentials, self._every_s):
            if message is None:
                if self._unheard.look(now_ms()):
                    self._unheard.see(self._master_usage())
                if self._is_lookup_due() or (address is not None and self._finder.has_moved(address)):
                    break
                continue
            self._unheard.on_heard()
            if (told := heard.status(message)) is None:
                continue
            last = told
            if last.state not in ENDED:  # the end is told when everything is cleared away
                self._on_status(last, message.plan)
                if self._is_cut_short() or self._reader.failure or self._lets_go:
                    break
        return last

    def _is_lookup_due(self) -> bool:
        """Whether there is an end to the run that a topology master which says nothing would not tell."""
        is_over = self._lets_go or bool(self._reader.failure) or self._scheduler.has_ended()
        return self._unheard.is_over or is_over or self._is_cut_short()

    def _master_usage(self) -> Usage | None:
        """What the topology master had of the CPU; None if it does not run."""
        table = ProcessTable(self._job.container(MASTER_CONTAINER))
        with contextlib.suppress(OSError):
            table.read()
            name = self._finder.process
            if (pidfd := table.find_running(name)) is not None:
                os.close(pidfd)
                return read_usage(table.entries[name].pid)
        return None

    def _is_cut_short(self) -> bool:
        """Whether the run is to end at once: because that was asked for, or because a stop goes nowhere."""
        if self._stopping and not self._cut_short:
            reached = (self._status.rows_acked, self._status.rows_out, self._status.watermark_us)
            self._cut_short = self._stop.look(reached, now_ms())
        return self._cut_short

    def _on_status(self, status: Status, heard: int) -> None:
        with self._news:
            self._status, self._heard, self._heard_at = status, heard, time.monotonic()
            self._news.notify_all()

    def _cut(self) -> Status:
        """How the run stands that ends at once."""
        known = self._status
        events = (*known.events, make_dropped_event(known, self._job.topology))
        return replace(known, state=RunState.STOPPED, events=events)

    def _last_words(self, last: Status | None) -> Status:
        """All processes are gone: how it ended, if the topology master could still say it."""
        try:
            told = wire_pb2.TopologyStatus.FromString((self._job.home / STATUS_FILE).read_bytes())
            return cast(Status, Heard().status(told))
        except FileNotFoundError:
            state = RunState.STOPPED if self._stopping else RunState.FAILED
            reason = "" if self._stopping else self._reason()
            return replace(last or self._status, state=state, reason=reason)

    def _reason(self) -> str:
        """Why all processes have ended. Without their directory each may have said something else, or nothing."""
        home = self._job.home
        if not home.is_dir():
            return f"the job directory {home} was removed while the topology ran"
        return self._scheduler.last_words() or guess_reason(home)

    def _clear_away(self, last: Status) -> Status:
        """Remove the job directory; the logs of a failed run stay, and are named."""
        home = self._job.home
        logs = [log for log in home.glob("container-*/*.log") if log.stat().st_size]
        if last.state is not RunState.FAILED or not logs:
            remove_home(home)
            return replace(last, reason=name_log(last.reason, {}))
        kept = home.with_name(f"{home.name}-logs")
        new = {str(log): kept / f"{log.parent.name}-{log.name}" for log in logs}
        try:
            kept.mkdir(mode=0o700)
            for log in logs:
                log.rename(new[str(log)])
            note = f"the logs are in {kept}"
            with contextlib.suppress(FileNotFoundError):  # another run forgets them too
                _forget_old_logs(home.parent)
        except OSError as error:
            note, new = f"the logs could not be kept: {error}", {}
        remove_home(home)
        return replace(last, reason=name_log(last.reason, new), events=(*last.events, Event("note", note)))


def name_log(reason: str, new: Mapping[str, Path]) -> str:
    """A reason that names a log, with the name by which that is kept; without one if it is not kept, as one that is empty."""
    told, see, log = reason.partition(SEE_LOG)
    return told + (f"{see}{new[log]}" if log in new else "")


def guess_reason(home: Path) -> str:
    """Why processes may have ended that have said nothing: on a full disk they cannot."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(home).free < _ROOM_FOR_WORDS:
            return f"the processes of the topology have ended: {os.strerror(errno.ENOSPC)}: '{home}'"
    return "the processes of the topology were ended from outside"


class Heard:
    """What one topology master has told: ranges and events that it has told once are not told again."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._ranges: dict[str, dict[str, tuple[int, int]]] = {}
        self._times: dict[str, dict[str, int]] = {}
        self._began: dict[str, int] = {}

    def status(self, message: wire_pb2.TopologyStatus) -> Status | None:
        """How the topology stands; None if the message is not the whole of it."""
        self._events += map(_event_of, message.events)
        for span in message.ranges:
            self._ranges.setdefault(span.component, {})[span.partition] = span.start, span.end
            if span.HasField("began_us"):
                self._began[span.component] = span.began_us
            if span.HasField("time_us"):
                self._times.setdefault(span.component, {})[span.partition] = span.time_us
        return None if message.partial else self._status(message)

    def _status(self, message: wire_pb2.TopologyStatus) -> Status:
        return Status(
            state=RunState(message.state),
            **{name: getattr(message, name) for name in RUN_COUNTS},
            watermark_us=message.watermark_us if message.HasField("watermark_us") else None,
            lag=message.lag if message.HasField("lag") else None,
            lag_bytes=message.lag_bytes if message.HasField("lag_bytes") else None,
            lag_ms=message.lag_ms if message.HasField("lag_ms") else None,
            p50_ms=message.p50_ms if message.HasField("p50_ms") else None,
            p99_ms=message.p99_ms if message.HasField("p99_ms") else None,
            restarts=message.restarts,
            back_pressure=message.back_pressure,
            reason=message.reason,
            events=(*self._events, *(Event("restarted", death) for death in message.deaths)),
            ranges={component: dict(sorted(spans.items())) for component, spans in self._ranges.items()},
            times={component: dict(sorted(times.items())) for component, times in self._times.items()},
            watermarks=dict(sorted(message.watermarks.items())),
            waiting=tuple(map(_waiting_of, message.waiting)),
            began=dict(self._began),
            counters=dict(sorted(message.counters.items())),
            backlogs=_backlogs_of(message.backlogs),
        )


def _waiting_of(told: wire_pb2.Waiting) -> Waiting:
    return Waiting(told.component, told.partition, told.others, told.reason, told.since_us, told.until_us)


def _backlogs_of(told: Iterable[wire_pb2.Backlog]) -> dict[str, tuple[Backlog, ...]]:
    found: dict[str, tuple[Backlog, ...]] = {}
    for each in told:
        known = {name: getattr(each, name) for name in ("bytes", "age_ms", "journal_bytes") if each.HasField(name)}
        found[each.component] = (*found.get(each.component, ()), Backlog(each.place, each.records, **known))
    return dict(sorted(found.items()))


def _forget_old_logs(parent: Path) -> None:
    """Keep the logs of the last failed runs of this user."""
    kept = [logs for logs in parent.glob("ouzel-*-logs") if logs.stat().st_uid == os.geteuid()]
    for logs in sorted(kept, key=lambda logs: logs.stat().st_mtime_ns)[:-LOGS_KEPT]:
        shutil.rmtree(logs, ignore_errors=True)


def _event_of(event: wire_pb2.Event) -> Event:
    since_us = event.since_us if event.HasField("since_us") else None
    return Event(event.kind, event.text, event.count, event.task or None, since_us, event.at_us or None)


def _no_answer(timeout_s: float) -> TopologyError:
    return TopologyError(f"some task has not said within {timeout_s:g} s how it stands; it may be starting again")
