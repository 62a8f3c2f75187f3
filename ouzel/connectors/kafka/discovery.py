"""Which partitions the topics have now: asked in the background, for a broker may take its time, and a task must not wait for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Thread

from ouzel.errors import ConnectorError

AGAIN_S = 1.0
"""A later question waits so long at most: whoever closes waits for it."""


class Discovery:
    """Partitions as they become known. One that has been there stays, whatever a later answer says: its reader tells what became of it.

    Args:
        ask: what is there now; it is given how many seconds it may take, and whether it is asked for the first time.
        first_s: how many seconds the first answer may take.
        every_s: how often it is asked again; 0 is never.
    """

    def __init__(self, ask: Callable[[float, bool], Sequence[str]], first_s: float, every_s: float) -> None:
        self._ask, self._first_s, self._every_s = ask, first_s, every_s
        self._names: dict[str, None] = {}
        self._first: frozenset[str] = frozenset()
        self._stopped = Event()
        self._thread: Thread | None = None

    def names(self) -> tuple[str, ...]:
        """All known so far, those that came later last. The first call asks, and later ones never wait.

        Raises:
            ConnectorError: the first time, where there is no answer, or no such topic.
        """
        if self._thread is None:
            self._names = dict.fromkeys(self._ask(self._first_s, True))
            self._first = frozenset(self._names)
            self._thread = Thread(target=self._watch, name="kafka-discovery", daemon=True)
            if self._every_s:
                self._thread.start()
        return tuple(self._names)

    def is_new(self, name: str) -> bool:
        """Whether it was not there when the first answer came."""
        return bool(self._first) and name not in self._first

    def _watch(self) -> None:
        while not self._stopped.wait(self._every_s):
            self.look()

    def look(self) -> None:
        """Ask again. Where there is no answer the broker is away, or the topic is: its reader says so."""
        with suppress(ConnectorError):
            self._names = {**self._names, **dict.fromkeys(self._ask(AGAIN_S, False))}

    def close(self) -> None:
        """Ask no more."""
        self._stopped.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()
