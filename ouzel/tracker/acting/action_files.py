"""What is kept of actions, in OUZEL_HOME/actions: so a server that is killed, and another beside it, show the same.

A directory NUMBER.TOPOLOGY for each: `asked.json`, what was asked for and when; `said`, what its command says; `code`, its exit code, when
it has ended. Room for both is taken before the command begins, so that a disk that fills up meanwhile does not change how it ends: `said`
is followed by NULs. `held` is locked as long as the shell that runs the command lives: without that and without a code it was cut off.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ouzel.files import is_locked
from ouzel.tracker.logs.plain_text import printable_text

KEPT = 100
SAID_BYTES = 16 << 10

_ASKED, _SAID, _CODE, _FRESH_CODE, _HELD = "asked.json", "said", "code", "code.new", "held"

CUT_OFF = "its process was killed, or the machine went down; look how the topology stands, and do it again if need be"

KEEP_CODE = 'folder=$1; shift; "$@"; echo $? 1<>"$folder/code.new"; mv "$folder/code.new" "$folder/code"'
"""What a shell does with a folder and a command. It outlives the server, and the lock is its own and its command's. The code takes
the place of blanks."""


@dataclass(frozen=True)
class Carried:
    """An action that was asked for.

    Attributes:
        number: which it is in this OUZEL_HOME.
        topology, title: what was done to what.
        began_us: microseconds since 1970.
        code: the exit code of its command; None if it has not ended by itself.
        said: what the command said, as one text.
        is_held: whether the command is at work.
    """

    number: int
    topology: str
    title: str
    began_us: int
    code: int | None = None
    said: str = ""
    is_held: bool = False

    @property
    def state(self) -> str:
        """In a word."""
        if self.code is None:
            return "at work" if self.is_held else "cut off"
        return "done" if self.code == 0 else "refused"


class ActionFiles:
    """The actions of one OUZEL_HOME. Any number of processes may use them at once."""

    def __init__(self, home: Path) -> None:
        self.path = home / "actions"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside, nobody else adds an action.

        Raises:
            OSError: nothing can be kept there.
        """
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def add(self, topology: str, title: str, began_us: int) -> tuple[Path, int]:
        """The folder of a new action, and the descriptor of its lock, which its command is to inherit; of those that are over the oldest
        go. Only inside `locked`.

        Raises:
            OSError: it cannot be kept.
        """
        folders = self._folders()
        self._drop(folders[: max(0, len(folders) + 1 - KEPT)])
        number = _number(folders[-1]) + 1 if folders else 1
        fresh, folder = self.path / ".new", self.path / f"{number:08}.{topology}"
        fresh.mkdir(mode=0o700, exist_ok=True)  # of one that was killed here it is there already
        (fresh / _ASKED).write_text(json.dumps({"title": title, "began_us": began_us}))
        (fresh / _FRESH_CODE).write_text("   \n")
        with (fresh / _SAID).open("wb") as said:
            os.posix_fallocate(said.fileno(), 0, SAID_BYTES)
        descriptor = os.open(fresh / _HELD, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            fresh.rename(folder)
        except OSError:
            os.close(descriptor)
            raise
        return folder, descriptor

    def count_held(self) -> int:
        """How many commands are at work."""
        return sum(_is_at_work(folder) for folder in self._folders())

    def latest(self, topology: str, most: int) -> list[Carried]:
        """What was done to a topology, the latest first.

        Raises:
            OSError: the folder of all actions cannot be read.
        """
        found = [folder for folder in reversed(self._folders()) if _topology(folder) == topology]
        return [read_action(folder) for folder in found[:most]]

    def _folders(self) -> list[Path]:
        """The oldest first."""
        with contextlib.suppress(FileNotFoundError):
            return sorted(one for one in self.path.iterdir() if one.name.partition(".")[0].isdecimal())
        return []

    def _drop(self, folders: list[Path]) -> None:
        for folder in folders:
            if not _is_at_work(folder):
                shutil.rmtree(folder, ignore_errors=True)


def said_path(folder: Path) -> Path:
    """Where what the command of an action says goes."""
    return folder / _SAID


def read_action(folder: Path) -> Carried:
    """What is kept of an action. What cannot be read is said in its place."""
    is_held = _is_at_work(folder)  # before its code is looked for, or one that ends between the two would seem cut off
    title, began_us, problem = _read_asked(folder)
    code, said = None, ""
    try:
        code = int((folder / _CODE).read_text())
        said = _read_said(folder)
    except FileNotFoundError:
        problem = problem or ("" if is_held or code is not None else CUT_OFF)
    except (OSError, ValueError) as error:
        problem = problem or f"how it ended cannot be read in {folder}: {error}"
    told = "\n".join(text for text in (said, problem) if text)
    return Carried(_number(folder), _topology(folder), title, began_us, code, told, is_held)


def _read_asked(folder: Path) -> tuple[str, int, str]:
    """Title, when it began, and what cannot be read of that."""
    path = folder / _ASKED
    try:
        asked = json.loads(path.read_text())
        return str(asked["title"]), int(asked["began_us"]), ""
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        with contextlib.suppress(OSError):
            began_us = folder.stat().st_mtime_ns // 1000
            return "An action", began_us, f"what it was cannot be read in {path}: {type(error).__name__}: {error}"
        return "An action", 0, f"it cannot be read in {folder}: {error}"


def _read_said(folder: Path) -> str:
    """What a command said, without what only terminals need."""
    with (folder / _SAID).open("rb") as file:
        text = file.read(SAID_BYTES).rstrip(b"\0").decode(errors="replace")
    return printable_text(text).strip().removeprefix("error: ")


def _is_at_work(folder: Path) -> bool:
    """Whether the command of an action has not ended."""
    with contextlib.suppress(OSError):  # dropped meanwhile
        return is_locked(folder / _HELD)
    return False


def _number(folder: Path) -> int:
    return int(folder.name.partition(".")[0])


def _topology(folder: Path) -> str:
    return folder.name.partition(".")[2]
