"""Offsets of a source task, kept in the state manager beside the rows that flow."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from queue import SimpleQueue
from threading import Thread
from typing import Protocol

from ouzel.runtime.cluster.state import StateManager
from ouzel.runtime.process.patience import when_it_answers
from ouzel.runtime.protocol.messages import Commit, Place

_LAST_OFFSETS_S = 0.5
_AGAIN_S = 0.5


class Offsets(Protocol):
    """A source task's offsets, kept in the state manager for whoever comes up in its place.

    Attributes:
        known: what is kept, and what was noted since.
        kept: gives the numbers of the commits that are written.
        problems: gives what went wrong, once each time.
    """

    known: dict[str, Place]
    kept: SimpleQueue[int]
    problems: SimpleQueue[str]

    def begin_with(self, places: Mapping[str, Place]) -> None:
        """These are where the task begins: they are kept when this returns, however long that takes."""

    def note(self, commit: Commit) -> None:
        """These are to be kept."""

    def close(self) -> None:
        """Write what is left, if that can be done quickly."""


class OffsetWriter(Thread):
    """A source task's offsets in the state manager, for whoever comes up in its place.

    A thread of its own writes them, again and again until it has succeeded: rows flow on while a state manager is slow or away. `kept`
    gives the numbers of the commits that are written, `problems` what went wrong, once each time.
    """

    def __init__(self, state: StateManager, path: str) -> None:
        super().__init__(name="offsets", daemon=True)
        self._state, self._path = state, path
        self._noted: SimpleQueue[Commit | None] = SimpleQueue()
        self.kept: SimpleQueue[int] = SimpleQueue()
        self.problems: SimpleQueue[str] = SimpleQueue()
        kept = when_it_answers(lambda: state.get(path), "to read offsets")
        self.known = {name: Place(*place) for name, place in json.loads(kept or "{}").items()}

    def begin_with(self, places: Mapping[str, Place]) -> None:
        self.known.update(places)
        self._write()

    def note(self, commit: Commit) -> None:
        if not self.is_alive():
            self.start()
        self._noted.put(commit)

    def run(self) -> None:
        """The thread's work."""
        while (commit := self._noted.get()) is not None:
            self.known.update(commit.places)
            self._write()
            self.kept.put(commit.number)

    def _write(self) -> None:
        told = False
        while True:
            try:
                return self._state.put(self._path, json.dumps(self.known).encode())
            except Exception as error:  # a full disk, a session that is lost for good
                if not told:
                    self.problems.put(f"offsets cannot be kept, and are tried again: {error}")
                told = True
                time.sleep(_AGAIN_S)

    def close(self) -> None:
        if self.is_alive():
            self._noted.put(None)
            self.join(_LAST_OFFSETS_S)
