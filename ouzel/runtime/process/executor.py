"""An executor: starts the processes of one container by fork, and starts them again when they die or hang, each by itself.

It runs no threads and touches neither Polars, Arrow nor gRPC, so that its children are forked from a quiet process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from functools import partial

from ouzel.errors import OuzelError, TopologyError
from ouzel.runtime.process.job import MASTER_CONTAINER, MASTERS, RunDescription
from ouzel.runtime.process.life import Heartbeats, Life, become, end_with, has_ended, now_ms, start_time, watch_process
from ouzel.runtime.process.limits import fork
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.process.starting import CRASHES, STACK_SIGNAL, parse_place, write_stack_when_asked
from ouzel.runtime.process.usage import read_usage
from ouzel.runtime.protocol.cluster.executor import ExecutorInstruction, ExecutorMachine, FailContainer, StoreProcesses
from ouzel.runtime.protocol.cluster.processes import ProcessEntry
from ouzel.runtime.protocol.cluster.supervision import Kill, Start

Main = Callable[[RunDescription, int, int, Life], None]
"""What a process runs: (job, container, incarnation, life)."""

EXECUTOR_SLOT = 1023
"""Where an executor beats, for the server to see."""

TICK_MS = 50.0
_FAREWELL_S = 1.0
_TELLS_S = 0.2
_LAST_WORDS, _LAST_LINE = 10_000, 300
_TOPOLOGY_ENDED = 3


def mains(job: RunDescription, container: int) -> dict[str, Main]:
    """The processes of a container, by name. Their order is the order of their slots in the heartbeats."""
    if container == MASTER_CONTAINER:
        masters = MASTERS if job.topology.settings.topology_master_standby else MASTERS[:1]
        return {name: partial(_topology_master, name) for name in masters}
    return {
        "stream-manager": _stream_manager,
        "metrics-manager": _metrics_manager,
        **{f"instance-{task.id}": partial(_instance, task.id) for task in job.tasks_in(container)},
    }


def _topology_master(name: str, job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    from ouzel.runtime.process.topology_master import run_topology_master

    run_topology_master(name, job, container, incarnation, life)


def _stream_manager(job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    from ouzel.runtime.process.stream_manager import run_stream_manager

    run_stream_manager(job, container, incarnation, life)


def _metrics_manager(job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    from ouzel.runtime.process.metrics_manager import run_metrics_manager

    run_metrics_manager(job, container, incarnation, life)


def _instance(task: int, job: RunDescription, container: int, incarnation: int, life: Life) -> None:
    from ouzel.runtime.process.instance_process import run_instance

    run_instance(job, container, task, incarnation, life)


class Executor:
    """Carries out what its machine says: forks, watches, kills and reaps."""

    def __init__(self, job: RunDescription, container: int, server: int, lifeline: int) -> None:
        self._job, self._container, self._server, self._lifeline = job, container, server, lifeline
        self._directory = job.container(container)
        self._mains = mains(job, container)
        self._slots = {name: slot for slot, name in enumerate(self._mains)}
        self._heartbeats = Heartbeats(self._directory / "heartbeats")
        self._server_gone = watch_process(server)
        self._table = ProcessTable(self._directory)
        components = {f"instance-{task.id}": task.component for task in job.tasks_in(container)}
        limit_ms = job.topology.settings.hang_timeout_ms
        logs = str(self._directory)
        self._machine = ExecutorMachine(container, self._mains, components, limit_ms, logs, self._table)
        self._pidfds: dict[str, int] = {}
        self._ending = False

    def run(self) -> int:
        """Until told to end (SIGTERM), or the topology has ended, which gives the exit code TOPOLOGY_ENDED.

        Raises:
            TopologyError: the container cannot be looked after any more; its processes have been ended.
        """
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "_ending", True))
        try:
            self._adopt()
            ended = self._supervise()
        finally:
            self._end_all()
        return _TOPOLOGY_ENDED if ended else 0

    def _supervise(self) -> bool:
        """Whether the topology has ended by itself."""
        ended = False
        while not (self._ending or ended or self._server_gone is None or has_ended(self._server_gone)):
            now = now_ms()
            self._heartbeats.beat(EXECUTOR_SLOT)
            for name in self._mains:
                self._look_after(name, now)
            self._carry_out(self._machine.on_tick(now))
            due = self._machine.next_ms()
            self._wait(TICK_MS if due is None else min(TICK_MS, max(0.0, due - now_ms())))
            ended = self._reap()
        return ended

    def _adopt(self) -> None:
        """Take over what a former executor left running."""
        self._table.read()
        for name in self._table.entries:
            pidfd = self._table.find_running(name)
            if pidfd is not None:
                self._pidfds[name] = pidfd
        self._carry_out(self._machine.on_adopted(self._pidfds, now_ms()))

    def _look_after(self, name: str, now: float) -> None:
        spoke_ms, hangs = self._heartbeats.last(self._slots[name])
        if self._machine.is_suspect(name, now - spoke_ms, now):
            usage = read_usage(self._table.entries[name].pid)
            self._carry_out(self._machine.on_silence(name, now - spoke_ms, now, usage, hangs))

    def _carry_out(self, instructions: Iterable[ExecutorInstruction]) -> None:
        for instruction in instructions:
            match instruction:
                case Start(name, incarnation):
                    self._start(name, incarnation)
                case Kill(name, why):
                    self._kill(name, why)
                case StoreProcesses():
                    self._table.write()
                case FailContainer(reason):
                    raise TopologyError(reason)

    def _kill(self, name: str, why: str) -> None:
        self._machine.on_killing(name, why, self._ask_where_it_is(name))
        print(f"{name} has shown no life for too long: {why}", file=sys.stderr)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfds[name], signal.SIGKILL)

    def _ask_where_it_is(self, name: str) -> str:
        """Where in its code a process is: it writes that when it gets a signal, whatever it is doing, unless it is stopped."""
        log, told = self._directory / f"{name}.log", b""
        with contextlib.suppress(OSError):
            before = log.stat().st_size
            signal.pidfd_send_signal(self._pidfds[name], STACK_SIGNAL)
            deadline = time.monotonic() + _TELLS_S
            while not told.count(b"\n", len(told) // 2) and time.monotonic() < deadline:
                time.sleep(_TELLS_S / 10)
                told = log.read_bytes()[before:]
        return parse_place(told.decode(errors="replace"))

    def _start(self, name: str, incarnation: int) -> None:
        self._heartbeats.beat(self._slots[name])
        self._heartbeats.beat(EXECUTOR_SLOT)  # dozens of starts in turn take long, and a silent executor is killed
        noted, note = os.pipe2(os.O_CLOEXEC)
        pid = fork()
        if pid == 0:
            os.close(note)
            self._be(name, incarnation, noted)
        os.close(noted)
        self._pidfds[name] = os.pidfd_open(pid)
        try:
            self._carry_out(self._machine.on_started(name, ProcessEntry(pid, start_time(pid), incarnation)))
            with contextlib.suppress(BrokenPipeError):  # it has ended already
                os.write(note, b"!")
        finally:
            os.close(note)

    def _be(self, name: str, incarnation: int, noted: int) -> None:
        """What the child does once it is `noted` in the process table: never returns.

        An executor that dies before that leaves nothing behind, for the one after it starts what it does not find there.
        """
        try:
            os.setpgid(0, 0)
            end_with(self._lifeline)
            become(name, self._job.title(self._container, name), self._directory / f"{name}.log")
            if not os.read(noted, 1):
                os._exit(1)
            os.close(noted)
            gc.enable()
            write_stack_when_asked()
            life = Life(self._directory / "heartbeats", self._slots[name], self._server)
            self._mains[name](self._job, self._container, incarnation, life)
        except OuzelError as error:
            print(error, file=sys.stderr)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(1)

    def _wait(self, wait_ms: float) -> None:
        """Until a process ends, at most so long."""
        poller = select.poll()
        for pidfd in self._pidfds.values():
            poller.register(pidfd, select.POLLIN)
        poller.poll(wait_ms)

    def _reap(self) -> bool:
        """Note who has ended; True if the topology has."""
        ended = False
        for name, pidfd in list(self._pidfds.items()):
            if has_ended(pidfd):
                self._end_children(name)
                result = _result(pidfd)
                is_over = name in MASTERS and result == (os.CLD_EXITED, _TOPOLOGY_ENDED)
                ended |= is_over
                if not self._ending:
                    said = "the topology has come to its end" if is_over else f"{name} ended: {_in_words(result)}"
                    print(said, file=sys.stderr)
                    self._machine.on_exited(name, self._last_words(name, result), now_ms())
                os.close(self._pidfds.pop(name))
        return ended

    def _end_children(self, name: str) -> None:
        """Kill what a process that has ended leaves behind: while it is not reaped yet, no other has its number."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._table.entries[name].pid, signal.SIGKILL)

    def _last_words(self, name: str, result: tuple[int, int] | None) -> str:
        """How a process ended, with the end of its log."""
        text = b""
        with contextlib.suppress(OSError), (self._directory / f"{name}.log").open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _LAST_WORDS))
            text = log.read()
        return describe_end(result, text.decode(errors="replace"))

    def _end_all(self) -> None:
        """Ask all processes to end; kill those that have not after a moment."""
        for number, patience in ((signal.SIGTERM, _FAREWELL_S), (signal.SIGKILL, _FAREWELL_S)):
            for pidfd in self._pidfds.values():
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, number)
            deadline = time.monotonic() + patience
            while self._pidfds and time.monotonic() < deadline:
                self._wait(TICK_MS)  # not until the next start: nobody is started again any more
                self._reap()


def _result(pidfd: int) -> tuple[int, int] | None:
    """How a process ended: (CLD_EXITED, exit code) or (CLD_KILLED or CLD_DUMPED, signal); None if it was adopted."""
    try:
        result = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG)
    except ChildProcessError:
        return None
    return None if result is None else (result.si_code, result.si_status)


def describe_end(result: tuple[int, int] | None, log: str) -> str:
    """How a process ended: one that ended by itself with the last line of its log, one that crashed with the line that it was in."""
    told = ""
    if result is not None and result[0] == os.CLD_EXITED:
        told = next((f", {line[-_LAST_LINE:]}" for line in log.strip().splitlines()[-1:]), "")
    elif result is not None and result[1] in CRASHES and (where := parse_place(log)):
        told = f", {where}"
    return _in_words(result) + told


def _in_words(result: tuple[int, int] | None) -> str:
    if result is None:
        return "it was another executor's child"
    return f"exit code {result[1]}" if result[0] == os.CLD_EXITED else f"signal {result[1]}"
