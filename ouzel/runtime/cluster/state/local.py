"""The state manager on local files: a node is a directory with a file `data`; a held node is one whose file `holder` is locked.

A lock (flock) goes with the process that took it, however it ends; a held node without its lock does not exist.

Each leadership of a node is a file of its own, whose name is its number; its leader holds the lock. The file is locked and written before
it gets its name, by a link, which fails if there is one of this name. So of two that begin the same leadership one does.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
import time
from pathlib import Path
from threading import Event, Lock, Thread

from ouzel.files import is_locked, put_bytes, suffix_of_process
from ouzel.runtime.cluster.state.manager import Leadership, Watcher

_DATA, _HOLDER, _LED = "=data", "=holder", "=led"
_LOOK_S = 0.05
_LOCK_TRIES, _LOCK_PAUSE_S = 20, 0.001


class LocalState:
    """The tree below one directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._held: dict[str, int] = {}
        self._led: dict[str, int] = {}
        self._watched: list[tuple[str, Watcher]] = []
        self._seen: dict[int, bytes | None] = {}
        self._closing, self._lock = Event(), Lock()
        self._thread: Thread | None = None
        root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def get(self, path: str) -> bytes | None:
        node = self._node(path)
        if path not in self._held and self._is_abandoned(node):
            return None
        try:
            return (node / _DATA).read_bytes()
        except FileNotFoundError:
            return None

    def put(self, path: str, data: bytes) -> None:
        node = self._node(path)
        node.mkdir(parents=True, exist_ok=True)
        put_bytes(node / _DATA, data, beside=suffix_of_process())

    def hold(self, path: str, data: bytes) -> bool:
        node = self._node(path)
        node.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(node / _HOLDER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        for _ in range(_LOCK_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # someone holds it, or only looks whether someone does
                time.sleep(_LOCK_PAUSE_S)
                continue
            self._held[path] = descriptor
            self.put(path, data)
            return True
        os.close(descriptor)
        return False

    def lead(self, path: str, data: bytes, deposing: int = 0) -> int | None:
        folder = self._node(path) / _LED
        folder.mkdir(parents=True, exist_ok=True)
        before = self.leadership(path)
        if before is not None and before.is_held and before.number != deposing:
            return None
        number = before.number + 1 if before is not None else 1
        fresh = folder / f".{secrets.token_hex(8)}"
        descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.write(descriptor, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(fresh))
            os.fsync(descriptor)
            os.link(fresh, folder / str(number))
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, FileExistsError):
                return None
            raise
        finally:
            fresh.unlink(missing_ok=True)
        self._led[path] = descriptor
        for former in (one for one in _leaderships(folder) if one < number):
            (folder / str(former)).unlink(missing_ok=True)
        return number

    def leadership(self, path: str) -> Leadership | None:
        folder = self._node(path) / _LED
        while numbers := _leaderships(folder):
            newest = folder / str(numbers[-1])
            with contextlib.suppress(FileNotFoundError):  # the next leader has removed it
                return Leadership(numbers[-1], newest.read_bytes(), is_held=is_locked(newest))
        return None

    def delete(self, path: str) -> None:
        shutil.rmtree(self._node(path), ignore_errors=True)
        for held in [one for one in self._held if one == path or one.startswith(f"{path}/")]:
            os.close(self._held.pop(held))

    def children(self, path: str) -> list[str]:
        try:
            names = sorted(os.listdir(self._node(path)))
        except FileNotFoundError:
            return []
        return [name for name in names if not name.startswith("=") and self._exists(f"{path.rstrip('/')}/{name}")]

    def watch(self, path: str, watcher: Watcher) -> None:
        with self._lock:
            self._watched.append((path, watcher))
            number = len(self._watched) - 1
            self._seen[number] = data = self.get(path)
        watcher(data)
        if self._thread is None:
            self._thread = Thread(target=self._look, name="state", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        for path in list(self._held):
            with contextlib.suppress(FileNotFoundError):
                (self._node(path) / _DATA).unlink()
            os.close(self._held.pop(path))
        for path in list(self._led):
            os.close(self._led.pop(path))

    def _look(self) -> None:
        while not self._closing.wait(_LOOK_S):
            with self._lock:
                watched = list(enumerate(self._watched))
            for number, (path, watcher) in watched:
                data = self.get(path)
                if data != self._seen[number]:
                    self._seen[number] = data
                    watcher(data)

    def _exists(self, path: str) -> bool:
        node = self._node(path)
        return path in self._held or not self._is_abandoned(node)

    def _node(self, path: str) -> Path:
        return self._root / path.strip("/")

    @staticmethod
    def _is_abandoned(node: Path) -> bool:
        """Whether the node was held by a process that is gone."""
        try:
            return not is_locked(node / _HOLDER)
        except FileNotFoundError:
            return False


def _leaderships(folder: Path) -> list[int]:
    """The numbers of the leaderships whose files are there, oldest first."""
    try:
        return sorted(int(name) for name in os.listdir(folder) if name.isdecimal())
    except FileNotFoundError:
        return []
