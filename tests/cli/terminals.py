"""Runs commands whose standard streams are terminals or not, many in one process: how each ended, and what each stream was given.

Run as a program it reads a list of `Case`s as JSON from a file, and writes their `Outcome`s to another. Each command has its terminal of a
given width; where both outputs are terminals they are the same one, as on a desk.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Thread
from typing import Any

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
HEIGHT = 24


@dataclass(frozen=True)
class Case:
    """A command, its streams that are terminals (a part of "012"), and how wide those are."""

    arguments: tuple[str, ...]
    terminals: str
    width: int


@dataclass(frozen=True)
class Outcome:
    """How a command ended. What went to the terminal is `screen`; what went elsewhere `out` and `err`."""

    code: int
    screen: str
    out: str
    err: str

    @property
    def shown(self) -> str:
        """The screen without control sequences, its lines as they were written, also those that were drawn over."""
        return CONTROL.sub("", self.screen).replace("\r\n", "\n").replace("\r", "\n")


def run_all(cases: Sequence[Case], place: Path, environment: Mapping[str, str] | None = None) -> list[Outcome]:
    """Run all, one after the other, in a process of their own."""
    asked, told = place / "cases.json", place / "outcomes.json"
    asked.write_text(json.dumps([asdict(case) for case in cases]))
    kept = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
    }
    command = [sys.executable, "-m", "tests.cli.terminals", str(asked), str(told)]
    ended = subprocess.run(
        command,
        env={**kept, "TERM": "xterm-256color", **(environment or {})},
        timeout=240,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return [Outcome(**outcome) for outcome in json.loads(told.read_text())]


class Terminal:
    """A pseudo-terminal, and what is written to it."""

    def __init__(self, width: int) -> None:
        self._ours, self.theirs = os.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, width, 0, 0))
        self._parts: list[bytes] = []
        self._reader = Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while part := os.read(self._ours, 65_536):
                self._parts.append(part)
        except OSError:  # nobody has it open any more
            return

    def close(self) -> str:
        """Nobody writes any more; all that was written."""
        os.close(self.theirs)
        self._reader.join()
        os.close(self._ours)
        return b"".join(self._parts).decode()


@contextmanager
def _standing_in(files: Sequence[int]) -> Iterator[None]:
    """Inside, 0, 1 and 2 are these files, and Python's streams are anew above them."""
    kept, streams = [os.dup(number) for number in range(3)], (sys.stdin, sys.stdout, sys.stderr)
    for number, file in enumerate(files):
        os.dup2(file, number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 (closed below, by the streams that replace them)
        for number, mode in enumerate("rww")
    )
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, file in enumerate(kept):
            os.dup2(file, number)
            os.close(file)


def _run(arguments: Sequence[str]) -> int:
    from ouzel.cli.main import app

    try:
        app([*arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _outcome(case: Case, place: Path) -> Outcome:
    terminal = Terminal(case.width)
    paths = [Path(os.devnull), place / "out", place / "err"]
    flags = (os.O_RDONLY, os.O_RDWR | os.O_CREAT | os.O_TRUNC, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    files = [os.open(path, flag, 0o600) for path, flag in zip(paths, flags, strict=True)]
    chosen = [terminal.theirs if str(number) in case.terminals else file for number, file in enumerate(files)]
    with _standing_in(chosen):
        code = _run(case.arguments)
    for file in files:
        os.close(file)
    return Outcome(code, terminal.close(), paths[1].read_text(), paths[2].read_text())


def _main(asked: Path, told: Path) -> None:
    cases: list[dict[str, Any]] = json.loads(asked.read_text())
    outcomes = [_outcome(Case(tuple(case.pop("arguments")), **case), asked.parent) for case in cases]
    told.write_text(json.dumps([asdict(outcome) for outcome in outcomes]))


if __name__ == "__main__":
    _main(Path(sys.argv[1]), Path(sys.argv[2]))
