"""What the server of a submitted topology does besides: it holds the name, hears commands, and records how the topology ended.

It runs no threads, as the server does not.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ouzel.errors import OuzelError, TopologyError
from ouzel.runtime.cluster.submitted.control import ControlSocket
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.process.job import RunDescription
from ouzel.runtime.process.life import start_time
from ouzel.runtime.process.process_table import ProcessTable
from ouzel.runtime.protocol.cluster.submitted import Condition
from ouzel.runtime.run import RunState

LOG = "server.log"

LINK_AGE_S = 3_600.0
"""An older link is made young again; temporary directories are swept of what is some days old."""


class Keeper:
    """Of one topology, in its server.

    Args:
        asked: `home` of the registry and `name` of the topology.
        job: what runs; its `home` is a link.

    Raises:
        TopologyError: another server keeps it.
    """

    def __init__(self, asked: Mapping[str, str], job: RunDescription) -> None:
        self._job, self._name = job, asked["name"]
        self._registry = Registry(Path(asked["home"]))
        self._directory = self._registry.folder(self._name).run(job.id)
        self._control = ControlSocket(job.home, job.token())
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        with contextlib.suppress(OSError):
            os.chdir(job.directory)  # not where the command was written, which may go
        if not self._registry.keep(self._name):
            raise TopologyError(f"topology '{self._name}' has a server already")
        self._write_to_log()

    def look_after(self, end: Callable[[], None], restart: Callable[[int], None]) -> None:
        """Carry out commands that have come, and keep the link young: what is old is swept out of temporary directories.

        Raises:
            TopologyError: the link was removed all the same, or what it leads to; who has looked for a file meanwhile has not found it.
        """
        link = self._job.home
        try:
            if time.time() - link.lstat().st_mtime > LINK_AGE_S:
                os.utime(link, follow_symlinks=False)
        except FileNotFoundError:
            raise TopologyError(f"the link {link} was removed while the topology ran; start it again") from None
        if not self._directory.exists():  # no command would ever find it again
            raise TopologyError(f"the folder {self._directory} was removed while the topology ran; submit it again")
        self._control.serve(lambda asked: self._carry_out(asked, end, restart))

    def on_ended(self, reason: str, *, was_told: bool) -> None:
        """All processes are gone: record how the topology ended, and why if it was not meant to."""
        from ouzel.runtime.process.topology_master import STATUS_FILE
        from ouzel.runtime.wire import wire_pb2

        condition = Condition.STOPPED if was_told else Condition.FAILED
        with contextlib.suppress(OSError):
            status = wire_pb2.TopologyStatus.FromString((self._directory / STATUS_FILE).read_bytes())
            condition, reason = _END[RunState(status.state)], status.reason
        with contextlib.suppress(OSError, OuzelError):  # then it counts as interrupted
            record = self._registry.find(self._name)
            if record is not None and record.run == self._job.id:
                why = reason if condition is Condition.FAILED else ""
                self._registry.put(record, condition=condition, reason=why)
        with contextlib.suppress(OSError):  # the last line of the logs: of a disk that is full, they lack it
            now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
            print(
                f"{now} UTC: topology '{self._name}' has {_HOW[condition]}{': ' * bool(reason)}{reason}",
                file=sys.stderr,
                flush=True,
            )
        if self._job.home.is_symlink():
            with contextlib.suppress(OSError):
                self._job.home.unlink()
        else:  # what processes have written there since it was removed
            shutil.rmtree(self._job.home, ignore_errors=True)

    def _carry_out(self, asked: dict[str, Any], end: Callable[[], None], restart: Callable[[int], None]) -> str:
        match asked:
            case {"do": "end"}:
                end()
            case {"do": "restart", "container": int(container), "process": str(process)}:
                return self._restart(container, process)
            case {"do": "restart", "container": int(container)}:
                restart(container)
            case _:
                return f"the server does not know the command {asked}"
        return ""

    def _restart(self, container: int, process: str) -> str:
        """End one process; its executor starts it again."""
        table = ProcessTable(self._job.container(container))
        table.read()
        pidfd = table.find_running(process)
        if pidfd is None:
            return f"{process} of container {container} does not run now: it is starting"
        with contextlib.suppress(ProcessLookupError):
            if start_time(table.entries[process].pid) == table.entries[process].started:  # the pidfd is no other's
                signal.pidfd_send_signal(pidfd, signal.SIGTERM)
        os.close(pidfd)
        return ""

    def _write_to_log(self) -> None:
        """The terminal may go, and whoever reads the pipes: they hear by the name's being held that all is well."""
        log = os.open(self._directory / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)


_HOW = {Condition.FINISHED: "finished", Condition.STOPPED: "been stopped", Condition.FAILED: "failed"}
_END = {
    RunState.FINISHED: Condition.FINISHED,
    RunState.STOPPED: Condition.STOPPED,
    RunState.FAILED: Condition.FAILED,
}
