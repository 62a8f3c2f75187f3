"""Which topologies are submitted on this machine, who keeps each, and who changes it: nodes of a state manager on files.

/submitted/NAME    the record
/keepers/NAME      held by all processes of the topology: it lives as long as one of them does
/changing/NAME     held by the command that changes it

A held node goes with whoever holds it, however that ends; no process is known by its id.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ouzel.errors import SubmissionError
from ouzel.runtime.cluster.state.local import LocalState
from ouzel.runtime.cluster.submitted.folder import TopologyFolder
from ouzel.runtime.protocol.cluster.submitted import (
    Condition,
    RefuseCommand,
    Submitted,
    Verb,
    check_name,
    decide,
)

HOME = "OUZEL_HOME"


def find_ouzel_home() -> Path:
    """OUZEL_HOME, or .ouzel in the home directory: the same place from a terminal, from cron and from systemd."""
    return Path(os.environ.get(HOME) or Path.home() / ".ouzel").absolute()


class Registry:
    """The submitted topologies below one folder.

    Raises:
        SubmissionError: nothing can be kept there.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.home = home or find_ouzel_home()
        try:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._state = LocalState(self.home / "state")
        except OSError as error:
            raise SubmissionError(
                f"submitted topologies cannot be kept in {self.home}: {error.strerror}; set {HOME} to another folder"
            ) from error

    def names(self) -> list[str]:
        """All names, sorted."""
        return self._state.children("/submitted")

    def find(self, name: str) -> Submitted | None:
        """The record of that name; None if there is none.

        Raises:
            SubmissionError: it cannot be read.
        """
        path = f"/submitted/{check_name(name)}"
        try:
            text = self._state.get(path)
            return None if text is None else Submitted.from_bytes(text)
        except (OSError, SubmissionError) as error:
            told = error.strerror if isinstance(error, OSError) else error
            raise SubmissionError(
                f"the record of '{name}' cannot be read in {self.home / 'state'}{path}: {told}; `ouzel` of another version may have "
                "written it; its files are as they were"
            ) from error

    def find_damaged(self) -> dict[str, str]:
        """Of each topology whose record cannot be read, by name, what is wrong with it, as a sentence."""
        told = {}
        for name in self.names():
            try:
                self.find(name)
            except SubmissionError as error:
                told[name] = str(error)
        return told

    def put(self, record: Submitted, **changes: Any) -> Submitted:
        """Keep a record, with these changes, and since now; it as it is kept."""
        record = replace(record, since_us=time.time_ns() // 1000, **changes)
        self._state.put(f"/submitted/{record.name}", record.to_bytes())
        return record

    def remove(self, name: str) -> None:
        """Forget a topology whose processes are gone."""
        self._state.delete(f"/submitted/{name}")
        self._state.delete(f"/keepers/{name}")

    def keep(self, name: str) -> bool:
        """Hold a topology, until this process and all that it forks from now on have ended; False if another holds it."""
        return self._state.hold(f"/keepers/{name}", b"")

    def is_alive(self, name: str) -> bool:
        """Whether any process of the topology lives."""
        return self._state.get(f"/keepers/{name}") is not None

    def folder(self, name: str) -> TopologyFolder:
        """Where the files of a topology are."""
        return TopologyFolder(self.home / "topologies" / name)

    def condition(self, record: Submitted) -> Condition:
        """How a topology stands."""
        is_alive = self.is_alive(record.name)
        execution = self.folder(record.name).execution_state(record.run) if is_alive else None
        return record.find_condition(is_alive=is_alive, execution=execution)

    def find_standing(self, record: Submitted) -> tuple[Submitted, Condition]:
        """The record as people are shown it, and how its topology stands: one that was interrupted is so since it was last seen."""
        condition = self.condition(record)
        if condition is Condition.INTERRUPTED:
            seen_us = self.folder(record.name).last_seen_us(record.run)
            record = replace(record, since_us=seen_us or record.since_us)
        return record, condition

    def look_up(self, verb: Verb, name: str) -> tuple[Submitted, Condition]:
        """The record for a command that changes nothing, and how its topology stands.

        Raises:
            SubmissionError: there is none of that name.
        """
        record, condition = self.find(name), None
        if record is not None:
            record, condition = self.find_standing(record)
        _refuse_unless_fit(verb, name, condition)
        assert record is not None
        assert condition is not None
        return record, condition

    @contextmanager
    def changing(self, verb: Verb, name: str) -> Iterator[Submitted | None]:
        """Inside, nobody else changes the topology; its record, None if there is none.

        Raises:
            SubmissionError: the command does not fit how the topology stands, or another command changes it.
        """
        lock = LocalState(self.home / "state")
        try:
            is_mine = lock.hold(f"/changing/{check_name(name)}", b"")
            record = self.find(name)
            condition = None if record is None else self.condition(record)
            _refuse_unless_fit(verb, name, condition, is_changing=not is_mine)
            yield record
        finally:
            lock.close()


def _refuse_unless_fit(verb: Verb, name: str, condition: Condition | None, *, is_changing: bool = False) -> None:
    decision = decide(verb, name, condition, is_changing=is_changing)
    if isinstance(decision, RefuseCommand):
        raise SubmissionError(decision.reason)
