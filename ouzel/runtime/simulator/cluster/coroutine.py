"""Blocking code that others interrupt: a thread that has the turn, or waits for it. One runs at a time, as the seed says."""

from __future__ import annotations

from collections.abc import Callable
from threading import Semaphore, Thread, current_thread

from ouzel.exits import Death


class Coroutine(Thread):
    """Work that gives up its turn at each `pause`, and goes on at the next `go_on`."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__(name="coroutine", daemon=True)
        self._work = work
        self._turn, self._given = Semaphore(0), Semaphore(0)
        self._is_killed = False
        self._error: BaseException | None = None
        self.has_ended = False

    def run(self) -> None:
        """The thread's work."""
        try:
            self._turn.acquire()
            if not self._is_killed:
                self._work()
        except Death:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self.has_ended = True
            self._given.release()

    def go_on(self) -> None:
        """Let it work until it pauses or ends.

        Raises:
            BaseException: what its work has raised.
        """
        if self.has_ended:
            return
        if self.ident is None:
            self.start()
        self._turn.release()
        self._given.acquire()
        error, self._error = self._error, None
        if error is not None:
            raise error

    @property
    def is_running(self) -> bool:
        """Whether it is this thread that asks."""
        return current_thread() is self

    def pause(self) -> None:
        """Let others run; the work ends here if it is killed meanwhile."""
        if self._is_killed:
            raise Death
        self._given.release()
        self._turn.acquire()
        if self._is_killed:
            raise Death

    def kill(self) -> None:
        """End it where it is."""
        if self.ident is not None and not self.has_ended:
            self._is_killed = True
            self.go_on()
            self.join()
