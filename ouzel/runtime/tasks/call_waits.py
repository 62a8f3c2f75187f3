"""What a task says while one of its calls waits: what for, and that nothing is lost meanwhile."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from ouzel.runtime.protocol.messages import Send, Stalled, Waiting
from ouzel.runtime.protocol.task import TaskSetup


class WaitListener(Protocol):
    """Who is told that a call waits."""

    component: str

    def outside(self) -> AbstractContextManager[object]:
        """Inside, the task waits for something outside the process."""

    def tell(self, *waiting: Waiting) -> None:
        """This is waited for, or nothing any more."""


class CallWaits:
    """Tells whoever shows the state of the run, and the tasks upstream, that a call waits.

    Tasks upstream hold what waits behind the call. Unless they are told again and again their timeouts run, they send it again, and a
    table that is asked again may answer otherwise.
    """

    def __init__(self, setup: TaskSetup) -> None:
        self._setup = setup
        self.component = setup.task.component

    def outside(self) -> AbstractContextManager[object]:
        """Inside, the task waits for something outside the process."""
        return self._setup.shell.outside()

    def tell(self, *waiting: Waiting) -> None:
        """This is waited for, or nothing any more."""
        setup = self._setup
        setup.counts.waiting = waiting
        holders = sorted(setup.links.upstream) if waiting and setup.tracked else ()
        setup.shell.interject([Send(Stalled(setup.task.id, holder)) for holder in holders])
