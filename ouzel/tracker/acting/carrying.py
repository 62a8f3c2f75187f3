"""Carries actions out: each is a command in a process of its own, and what it said is kept for the page (action_files.py)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

from ouzel.tracker.acting.action_files import (
    KEEP_CODE,
    ActionFiles,
    Carried,
    read_action,
    said_path,
)
from ouzel.tracker.acting.actions import ActionRefused

AT_ONCE = 8

COMMAND = (sys.executable, "-m", "ouzel")
"""The command line."""


class ActionRunner:
    """Runs commands over the topologies of one OUZEL_HOME. Its methods may be called from any thread.

    Args:
        home: OUZEL_HOME of the commands.
        command: what runs the command line.
    """

    def __init__(self, home: Path, command: Sequence[str] = COMMAND) -> None:
        self._home, self._command = home, tuple(command)
        self._files = ActionFiles(home)

    def start(self, topology: str, title: str, arguments: Sequence[str]) -> None:
        """Begin a command, and do not wait for it.

        Raises:
            ActionRefused: too many are at work, or it cannot be started.
        """
        _, process = self._begin(topology, title, arguments)
        Thread(target=process.wait, daemon=True).start()

    def run(self, topology: str, title: str, arguments: Sequence[str]) -> Carried:
        """Carry a command out, and wait for its end.

        Raises:
            ActionRefused: too many are at work, or it cannot be started.
        """
        folder, process = self._begin(topology, title, arguments)
        process.wait()
        return read_action(folder)

    def latest(self, topology: str, most: int = 5) -> list[Carried]:
        """What was done to a topology, by whatever server, the latest first.

        Raises:
            ActionRefused: that cannot be read.
        """
        try:
            return self._files.latest(topology, most)
        except OSError as error:
            raise ActionRefused(f"what was done cannot be read in {self._files.path}: {error.strerror}") from error

    def _begin(self, topology: str, title: str, arguments: Sequence[str]) -> tuple[Path, subprocess.Popen[bytes]]:
        try:
            with self._files.locked():
                if self._files.count_held() >= AT_ONCE:
                    raise ActionRefused(f"{AT_ONCE} actions are at work; ask again when one of them is done")
                folder, held = self._files.add(topology, title, time.time_ns() // 1000)
            try:
                return folder, self._open(folder, held, arguments)
            finally:
                os.close(held)
        except OSError as error:
            told = f"the action cannot be started, or not be kept in {self._files.path}: {error.strerror}"
            raise ActionRefused(f"{told}; look there, or use `ouzel` in a terminal") from error

    def _open(self, folder: Path, held: int, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        with said_path(folder).open("r+b") as said:
            return subprocess.Popen(
                ["/bin/sh", "-c", KEEP_CODE, "sh", str(folder), *self._command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                env=self._environment(),
                pass_fds=(held,),
                start_new_session=True,  # it goes on when the server is interrupted, or killed
            )

    def _environment(self) -> dict[str, str]:
        plainly = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "1000", "OUZEL_HOME": str(self._home)}
        return {**{name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}, **plainly}
