"""The process of one instance: what is opened before the task's machine runs, and its heartbeat."""

from __future__ import annotations

import os
import sys
import threading
import time

from ouzel.exits import leave
from ouzel.runtime.observe.trace_files import TraceWriter
from ouzel.runtime.process.asks import TaskAsks
from ouzel.runtime.process.collector import watch_collector
from ouzel.runtime.process.epochs import TaskEpochs
from ouzel.runtime.process.gateway import Gateway
from ouzel.runtime.process.instance import Instance
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.life import Life, now_ms, stop_at_sigterm
from ouzel.runtime.process.pasts import Pasts
from ouzel.runtime.process.patience import await_state, keep_alive
from ouzel.runtime.process.report_stream import ReportSender
from ouzel.runtime.process.reporter import Reporter
from ouzel.runtime.process.usage import read_usage
from ouzel.runtime.wire import wire_pb2

_SWITCH_S = 0.0005


def run_instance(job: RunDescription, container: int, task_id: int, incarnation: int, life: Life) -> None:
    """The main function of an instance's process."""
    sys.setswitchinterval(_SWITCH_S)
    here, settings = job.container(container), job.topology.settings
    task = next(one for one in job.topology.tasks() if one.id == task_id)
    beat_s = settings.heartbeat_ms / 2e3
    state = keep_alive(life, beat_s, lambda: await_state(job))
    epochs = keep_alive(life, beat_s, lambda: TaskEpochs(job, container, task, state)) if settings.has_epochs else None
    pasts = Pasts(job, container, task, state, epochs)
    hello = wire_pb2.Hello(task=task.id, incarnation=os.getpid(), token=job.token())

    def beat(arriving: bool) -> bool:
        now, cpu_ms = now_ms(), 1e3 * (time.process_time() - time.thread_time())
        suspect = instance.watchdog.is_suspect(now)
        usage = read_usage(os.getpid(), without=threading.get_native_id()) if suspect else None
        hangs = instance.watchdog.is_hanging(now, cpu_ms, usage)
        life.beat(hangs)
        if instance.start_watch.is_late(now):
            reporter.report(None)
        return not hangs and instance.tell_if_busy(now, arriving)

    path = here / "stream-manager.sock"
    gateway = Gateway(path, hello, beat, settings.heartbeat_ms, settings.low_watermark_bytes, time.monotonic)
    reporter = Reporter(ReportSender(here), task, incarnation + pasts.generation, watch_collector())
    reporter.epochs = epochs
    instance = Instance(job, task, gateway, reporter, pasts, incarnation)
    instance.asks = TaskAsks(here, task)
    if settings.trace_sample:
        instance.traces = TraceWriter(here, task)
    stop_at_sigterm(instance.stop)
    gateway.start()
    instance.run()
    instance.close()
    state.close()
    leave(0)
