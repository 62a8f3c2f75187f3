"""What stands before the sinks, so that a run can pause, stop, and wait for whoever takes its results, between two micro-batches."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ouzel.errors import TopologyError

RESULTS_BYTES_MAX = 16 << 20
"""With more than this in results that nobody has taken, the next micro-batch waits."""


class MicroBatchGate:
    """Lets micro-batches through to their sinks, or holds the next ones back."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._shut = self._stopped = False
        self._inside = self._bytes = self._unlimited = 0

    @contextmanager
    def passing(self, hands: bool = False) -> Iterator[None]:
        """Inside, a micro-batch is written; one that `hands` its rows over waits until enough of those before it are taken.

        Raises:
            TopologyError: the run stops; the micro-batch comes again after a restart.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not (self._shut or (hands and self._is_full)))
            if self._stopped:
                raise TopologyError("the run stops")
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @property
    def _is_full(self) -> bool:
        return self._bytes > RESULTS_BYTES_MAX and not self._unlimited

    @contextmanager
    def without_limit(self) -> Iterator[None]:
        """Inside, results that nobody takes hold nothing back."""
        self._let_all(1)
        try:
            yield
        finally:
            self._let_all(-1)

    def _let_all(self, more: int) -> None:
        with self._changed:
            self._unlimited += more
            self._changed.notify_all()

    def add(self, size: int) -> None:
        """So many bytes more of results wait to be taken; fewer, if it is negative."""
        with self._changed:
            self._bytes += size
            self._changed.notify_all()

    def shut(self, timeout_s: float) -> bool:
        """Let nothing more through; whether those inside have left in time."""
        with self._changed:
            self._shut = True
            return self._changed.wait_for(lambda: not self._inside, timeout_s)

    def open(self) -> None:
        """Let them through again."""
        with self._changed:
            self._shut = False
            self._changed.notify_all()

    def stop(self) -> None:
        """Nothing passes any more, and nobody waits."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
