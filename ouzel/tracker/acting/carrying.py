"""Carries actions out: each is a command in a process of its own, and what it said is kept for the page."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock, Thread
from typing import BinaryIO

from ouzel.tracker.acting.actions import ActionRefused
from ouzel.tracker.logs.plain_text import printable_text

KEPT = 100
AT_ONCE = 8
SAID_BYTES = 16 << 10

COMMAND = (sys.executable, "-m", "ouzel")
"""The command line."""


@dataclass(frozen=True)
class Carried:
    """An action that was asked for.

    Attributes:
        number: which it is since the server began.
        topology, title: what was done to what.
        began_us: microseconds since 1970.
        code: the exit code of its command; None while it is at work.
        said: what the command said, as one text.
    """

    number: int
    topology: str
    title: str
    began_us: int
    code: int | None = None
    said: str = ""

    @property
    def state(self) -> str:
        """In a word."""
        return "at work" if self.code is None else "done" if self.code == 0 else "refused"


class ActionRunner:
    """Runs commands over the topologies of one OUZEL_HOME. Its methods may be called from any thread.

    Args:
        home: OUZEL_HOME of the commands.
        command: what runs the command line.
    """

    def __init__(self, home: Path, command: Sequence[str] = COMMAND) -> None:
        self._home, self._command = home, tuple(command)
        self._lock = Lock()
        self._numbers = itertools.count(1)
        self._kept: deque[Carried] = deque(maxlen=KEPT)

    def start(self, topology: str, title: str, arguments: Sequence[str]) -> Carried:
        """Begin a command, and do not wait for it.

        Raises:
            ActionRefused: too many are at work, or it cannot be started.
        """
        carried, process, said = self._begin(topology, title, arguments)
        Thread(target=self._finish, args=(carried, process, said), daemon=True).start()
        return carried

    def run(self, topology: str, title: str, arguments: Sequence[str]) -> Carried:
        """Carry a command out, and wait for its end.

        Raises:
            ActionRefused: too many are at work, or it cannot be started.
        """
        return self._finish(*self._begin(topology, title, arguments))

    def latest(self, topology: str, most: int = 5) -> list[Carried]:
        """What was done to a topology, the latest first."""
        with self._lock:
            return [one for one in reversed(self._kept) if one.topology == topology][:most]

    def _begin(
        self, topology: str, title: str, arguments: Sequence[str]
    ) -> tuple[Carried, subprocess.Popen[bytes], BinaryIO]:
        with self._lock:
            if sum(one.code is None for one in self._kept) >= AT_ONCE:
                raise ActionRefused(f"{AT_ONCE} actions are at work; ask again when one of them is done")
            said = tempfile.TemporaryFile()  # noqa: SIM115  # it is closed when the command has ended
            try:
                process = subprocess.Popen(
                    [*self._command, *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    env=self._environment(),
                    start_new_session=True,  # it goes on when the server is interrupted
                )
            except OSError as error:
                said.close()
                raise ActionRefused(f"the action cannot be started: {error.strerror}") from error
            carried = Carried(next(self._numbers), topology, title, time.time_ns() // 1000)
            self._kept.append(carried)
        return carried, process, said

    def _finish(self, carried: Carried, process: subprocess.Popen[bytes], said: BinaryIO) -> Carried:
        with said:
            code = process.wait()
            said.seek(0)
            text = said.read(SAID_BYTES).decode(errors="replace")
        done = replace(carried, code=code, said=_sentence(text))
        with self._lock:
            if carried in self._kept:
                self._kept[self._kept.index(carried)] = done
        return done

    def _environment(self) -> dict[str, str]:
        plainly = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "1000", "OUZEL_HOME": str(self._home)}
        return {**{name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}, **plainly}


def _sentence(text: str) -> str:
    """What a command said, without what only terminals need."""
    return printable_text(text).strip().removeprefix("error: ")
