"""A handle on a submitted topology: any number of programs may have one, and the topology runs on when they are gone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

from ouzel.errors import OuzelError, SubmissionError
from ouzel.runtime.cluster.client import Deliver, HasRoom, HeronHandle, ResultSource, ServedScheduler
from ouzel.runtime.cluster.submitted.control import tell_server
from ouzel.runtime.cluster.submitted.registry import Registry
from ouzel.runtime.process.kept_results import KeptResults
from ouzel.runtime.process.limits import start_thread
from ouzel.runtime.protocol.cluster.submitted import Condition, Submitted
from ouzel.runtime.run import RunState, Status

_LOOK_S = 0.05
END_S = 30.0
"""How long the end of a topology's processes is waited for."""

_STATES = {
    Condition.STOPPED: RunState.STOPPED,
    Condition.FINISHED: RunState.FINISHED,
    Condition.FAILED: RunState.FAILED,
    Condition.INTERRUPTED: RunState.FAILED,
}


class KeptScheduler(ServedScheduler):
    """The processes of a submitted topology, as a handle sees them: it ends none of them."""

    def __init__(self, registry: Registry, name: str) -> None:
        self._registry, self._name = registry, name

    def on_kill(self) -> None:
        """Nothing: the server ends by itself."""

    def has_ended(self) -> bool:
        return not self._registry.is_alive(self._name)

    def last_words(self) -> str:
        record = self._registry.find(self._name)
        return record.reason if record else f"topology '{self._name}' was removed"


class ResultFollower(ResultSource):
    """Reads kept results as they come, in a thread of its own."""

    def __init__(self, folder: Path, columns: Sequence[str], deliver: Deliver, has_room: HasRoom) -> None:
        self._results, self._deliver, self._has_room = KeptResults(folder, columns), deliver, has_room
        self._ending, self._asked = False, Event()
        self._rounds = 0
        self.failure = ""
        self._thread = Thread(target=self._run, name="results", daemon=True)
        start_thread(self._thread)

    def catch_up(self, timeout_s: float) -> None:
        wanted = self._rounds + 2  # the round that is under way may have passed it by
        deadline = time.monotonic() + timeout_s
        while self._rounds < wanted and not self.failure and time.monotonic() < deadline and self._thread.is_alive():
            self._asked.set()
            time.sleep(_LOOK_S / 10)

    def resume(self) -> None:
        self._asked.set()

    def close(self) -> None:
        self._ending = True
        self._asked.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while True:
                is_last = self._ending
                for frame in self._results.read():
                    self._deliver(frame)
                    while not self._has_room() and not self._ending:
                        self._rest()
                self._rounds += 1
                if is_last:
                    return
                self._rest()
        except Exception as error:
            self.failure = str(error) or type(error).__name__

    def _rest(self) -> None:
        self._asked.wait(_LOOK_S)
        self._asked.clear()


class NoResults(ResultSource):
    """Of a handle that only asks and tells."""

    failure = ""

    def catch_up(self, timeout_s: float) -> None:
        pass

    def resume(self) -> None:
        pass

    def close(self) -> None:
        pass


class AttachedHandle(HeronHandle):
    """A submitted topology (see run.Handle). `results` gives all that is kept of its answer, from the beginning.

    A `with` block lets go of it at the end, and the topology runs on; `stop` and `end` stop it for everyone.
    """

    def __init__(
        self, registry: Registry, record: Submitted, *, takes_results: bool = True, every_s: float = 0.0
    ) -> None:
        self._registry, self._record = registry, record
        folder = registry.folder(record.name)

        def open_results(home: Path, deliver: Deliver, has_room: HasRoom) -> ResultSource:
            shape = folder.about().shape if takes_results else None
            if not takes_results:
                return NoResults()
            return ResultFollower(folder.results, shape.schema.names if shape else (), deliver, has_room)

        scheduler = KeptScheduler(registry, record.name)
        super().__init__(folder.load(record.run), scheduler, open_results, every_s=every_s)

    @property
    def name(self) -> str:
        """The name by which it was submitted."""
        return self._record.name

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.let_go()

    def let_go(self) -> None:
        """Hear no more of it. It runs on."""
        self._lets_go = True
        self._thread.join()

    def _cut(self) -> Status:
        with suppress(SubmissionError):
            tell_server(self._job.home, self._job.token(), do="end")
        wait_for_processes(self._registry, self._record.name)
        return super()._cut()

    def _last_words(self, last: Status | None) -> Status:
        """All processes are gone: what their server has recorded, with what the topology master could still say."""
        try:
            record = self._registry.find(self._record.name)
        except OuzelError as error:
            return self._make_failed(str(error))
        if record is None:
            return self._make_failed(f"topology '{self._record.name}' was removed")
        condition = self._registry.condition(record)
        if record.is_updating:
            return self._make_failed("it is started again with an update; attach to it anew")
        if condition is Condition.INTERRUPTED:
            return self._make_failed(f"its processes are gone; bring it back with `ouzel start {record.name}`")
        if condition not in _STATES:
            return self._make_failed("it was started again meanwhile; attach to it anew")
        known = super()._last_words(last)
        return replace(known, state=_STATES[condition], reason=record.reason)

    def _clear_away(self, last: Status) -> Status:
        """Everything stays, for whoever looks later. An end is told when it is recorded, and the next command finds it."""
        if not self._lets_go:
            wait_for_processes(self._registry, self._record.name)
        return last


def wait_for_processes(registry: Registry, name: str, timeout_s: float = END_S) -> bool:
    """Return when all processes of a topology have ended, True, or after so long."""
    deadline = time.monotonic() + timeout_s
    while registry.is_alive(name):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOOK_S)
    return True
