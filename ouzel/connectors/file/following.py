"""The files of a table that is followed: found under whatever name, known again after a crash, and missed when they are gone too soon."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ouzel.connectors.file import followed
from ouzel.connectors.file.disk import DISK, Disk, Told, read_head
from ouzel.connectors.file.followed import GONE_S, Followed
from ouzel.connectors.file.identity import (
    HEAD_BYTES,
    ROTATE,
    FileId,
    FileKey,
    Register,
    Seen,
    hash_bytes,
    head_of,
    parse_id,
)
from ouzel.connectors.reading import Partition
from ouzel.errors import ConnectorError
from ouzel.files import put_bytes


class Following:
    """The files that a table's path means, and those that it meant before.

    Args:
        path: files, folders and globs, as the table has them.
        directory: where relative ones start.
        notes: a file that outlives the task, in which it is kept how far each file was read and what was there; None if nothing does.
        disk: the file system.
        given_to: the offset before which all records of a partition were given out; None while some of its bytes wait to be.
        wanted: whether rows of the file of that name are asked for; another is not opened.
    """

    def __init__(
        self, path: str, directory: Path, notes: Path | None = None, disk: Disk = DISK,
        given_to: Callable[[str], int | None] = lambda _: 0, wanted: Callable[[str], bool] = lambda _: True,
    ) -> None:  # fmt: skip
        self._path, self._directory, self._notes, self._disk = path, directory, notes, disk
        self._register = Register()
        self._contents: dict[str, Followed] = {}
        self._parts: dict[FileKey, Partition] = {}
        self._keys: dict[str, FileKey] = {}
        self._fresh: set[FileKey] = set()
        self._left: dict[FileKey, tuple[float, int]] = {}
        self._kept: dict[str, list[Any]] = _read_notes(notes)
        self._told: set[str] = set()
        self._given_to, self._wanted = given_to, wanted
        self._read_again: set[FileId] = set()

    def recall(self, partitions: Mapping[str, int]) -> None:
        """A task before this one has read these: they are known again under whatever name, as are those that it had met.

        One that is over is needed all the same if it was read further than to where reading goes on now, as it may where all go back.
        """
        known = [file for name in {**partitions, **self._kept} if (file := parse_id(name))]
        ended = [file for file in known if self._state(file) == OVER]
        self._read_again = {
            file for file in known if self._state(file) and partitions.get(str(file), 0) < self._kept[str(file)][4]
        }
        self._register.recall([file for file in known if file not in ended], ended)

    def partitions(self) -> list[Partition]:
        """All files found so far that are not over: those that are new come last.

        Raises:
            ConnectorError: one cannot be read, has taken the place of another, or is gone and may have held more.
        """
        self._keep()
        self._register.begin()
        for content in self._contents.values():
            self._let_go(content)
        for path in filter(self._wanted, self._disk.find(self._path, self._directory)):
            self._meet(path)
        self._search()
        self._check_recalled()
        self._fresh = self._register.files.keys() - self._parts.keys()
        for key in [key for key in self._register.files if key in self._fresh]:
            file = self._register.files[key]
            part = self._parts[key] = Partition(str(file), False, _turn(key), file.path)
            self._keys[part.id] = key
        return list(self._parts.values())

    def content(self, partition: str) -> Followed:
        """The bytes of a file from its beginning; how far a task before this one had read it is checked now.

        Raises:
            ConnectorError: it is gone, or is not what was read any more.
        """
        key = self._keys[partition]
        file = self._register.files[key]
        made = self._contents[partition] = Followed(file, key, self._disk, self._register.names.get)
        if not made.open():
            self._search()
            if not made.open():
                if key not in self._fresh or partition in self._kept:
                    raise self._lost(file)
                made.is_over = True  # as if it had been gone before anybody looked
        elif partition in self._kept:
            self._check_kept(made)
        return made

    def note(self) -> str:
        """Keep how far each file was read, for a task after this one; what the user is told of files that are gone, once, else ''."""
        return self._describe_gone([name for name in self._keep() if self._is_gone_unread(name)])

    def _keep(self) -> list[str]:
        """Keep how far files were read; those of which there was more to say."""
        changed = [name for name, content in self._contents.items() if self._has_news(name, content)]
        for name in changed:
            content = self._contents[name]
            self._kept[name] = self._note_of(content)
            if self._kept[name][3] == OVER:
                self._let_go(content)
                del self._contents[name]
        if self._notes is not None and changed:
            with contextlib.suppress(OSError):  # what was kept before says less, and nothing that is wrong
                put_bytes(self._notes, json.dumps(self._kept).encode())
        return changed

    def _is_gone_unread(self, name: str) -> bool:
        """Whether a file was closed for want of room, and has left meanwhile, so that nobody knows what was last written to it."""
        content = self._contents.get(name)
        return (
            str(self._kept[name][3]) == LEFT and content is not None and not content.is_open and name not in self._told
        )

    def _describe_gone(self, names: list[str]) -> str:
        self._told.update(names)
        if not names:
            return ""
        file = self._contents[names[0]].file
        others = f" and {len(names) - 1:,} others" if names[1:] else ""
        return (
            f"{file.path}{others} went while closed, as more files are followed than half of what a process may open "
            f"({followed.open_limit():,}): what was written to it just before is lost, if anything was; follow fewer files, or raise "
            "ulimit -n"
        )

    def close(self) -> None:
        """Close all files."""
        for content in self._contents.values():
            content.close()

    def _has_news(self, name: str, content: Followed) -> bool:
        """Whether there is more to say of a file than is kept."""
        kept = self._kept.get(name)
        same = kept is not None and kept[0] >= content.read_so_far.at and content.key in self._register.names
        return content.is_over or not same or (kept is not None and kept[3] == LEFT)

    def _let_go(self, content: Followed) -> None:
        """If a file is over its inode may have gone to another."""
        if content.is_over and self._register.files.get(content.key) == content.file:
            self._register.end(content.key)
            self._parts.pop(content.key, None)

    def _note_of(self, content: Followed) -> list[Any]:
        at, _, last = content.read_so_far
        former = self._kept.get(str(content.file), [0, 0, "", "", 0])
        given_to = self._given_to(str(content.file))
        if at < former[0]:  # it is read again up to where it was
            at, length, print_of = former[:3]
        else:
            length, print_of = len(last), hash_bytes(last)
        state = "" if given_to is None else OVER if content.is_over else LEFT if self._has_left(content) else ""
        return [at, length, print_of, state, max(former[4], given_to or 0)]

    def _has_left(self, content: Followed) -> bool:
        """Whether the file has had no name where it could be looked for, and nothing new, for so long that no more is expected."""
        if content.key in self._register.names:
            self._left.pop(content.key, None)
            return False
        since, at = self._left.get(content.key, (0.0, -1))
        if at != content.read_so_far.at:
            since, at = self._left[content.key] = self._disk.now(), content.read_so_far.at
        return self._disk.now() - since >= GONE_S

    def _state(self, file: FileId) -> str:
        return str(self._kept[str(file)][3]) if str(file) in self._kept else ""

    def _meet(self, path: str) -> None:
        """Look at what a name stands for."""
        told = self._disk.stat(path)
        if told is None or self._register.knows(path, told.key):
            return
        seen = self._look_at(path, told)
        if seen is not None:
            self._register.take(seen)

    def _look_at(self, path: str, told: Told) -> Seen | None:
        """The first bytes of a file; None if the name has gone from it meanwhile, and is looked at another time."""
        handle = self._disk.open(path)
        if handle is None:
            return None
        try:
            head = head_of(read_head(self._disk, path, handle, HEAD_BYTES))
            born = self._disk.born(path)
            return Seen(path, told.key, born, head) if self._disk.fstat(handle).key == told.key else None
        finally:
            self._disk.close(handle)

    def _search(self) -> None:
        """Look for files that have no name any more among those of the table: beside where they were."""
        wanted: dict[str, list[tuple[FileKey | None, FileId]]] = {}
        missing = [(key, file) for key, file in self._register.missing if not self._is_given_up(key, file)]
        for key, file in (*missing, *((None, file) for file in self._register.recalled)):
            for folder in {os.path.dirname(file.path), os.path.dirname(os.path.realpath(file.path))}:
                wanted.setdefault(folder, []).append((key, file))
        for folder, files in wanted.items():
            there = self._disk.names_in(folder)
            for key, file in files:
                for path in there.get(file.ino, ()):
                    self._recognize(path, key, file)

    def _recognize(self, path: str, key: FileKey | None, file: FileId) -> None:
        """Whether the name stands for this file now."""
        told = self._disk.stat(path)
        if told is None or told.key != (key or told.key) or self._register.knows(path, told.key):
            return
        seen = self._look_at(path, told)
        if seen is not None and file.fits(seen):
            self._register.take(seen)

    def _is_given_up(self, key: FileKey, file: FileId) -> bool:
        since, at = self._left.get(key, (0.0, -1))
        return at >= 0 and str(file) in self._contents and self._disk.now() - since >= GONE_S

    def _check_recalled(self) -> None:
        """See that no file was lost while its task was down.

        Raises:
            ConnectorError: one is gone that was being read.
        """
        recalled = self._register.recalled if self._notes is not None else []
        for file in recalled:
            if self._state(file) != LEFT or file in self._read_again:
                raise self._lost(file)
        for file in self._read_again:
            if self._state(file) == OVER:
                raise self._lost(file)
        self._read_again = set()

    def _lost(self, file: FileId) -> ConnectorError:
        return ConnectorError(
            f"{file.path} (inode {file.ino}) was followed and is found nowhere in {os.path.dirname(file.path)} now, under no name: "
            "what had not been read of it is lost; keep rotated files in their folder until they are read, bring it back, and start the "
            "topology again"
        )

    def _check_kept(self, content: Followed) -> None:
        at, length, print_of = self._kept[str(content.file)][:3]
        if content.size < at or hash_bytes(content.peek(at - length, length)) != print_of:
            raise ConnectorError(
                f"{content.called} was cut or written over while its task was down: its first {at} bytes are not those that were read; "
                f"{ROTATE}, and start the topology again"
            )


OVER, LEFT = "over", "left"
"""A file that was deleted and read to its end; one that was moved away and had nothing more to give."""


def _turn(key: FileKey) -> int:
    """Which task reads a file follows from what it is: tasks that look at different times see it under different names."""
    return key.dev * 7919 + key.ino


def _read_notes(notes: Path | None) -> dict[str, list[Any]]:
    if notes is None or not notes.exists():
        return {}
    found: dict[str, list[Any]] = json.loads(notes.read_text())
    return {name: [*kept, 0][:5] for name, kept in found.items()}


def locate(partition: str, disk: Disk = DISK) -> str:
    """Where the file of a partition is now; a partition that is named by its path alone is there.

    Raises:
        ConnectorError: it is nowhere near where it was.
    """
    file = parse_id(partition)
    if file is None:
        return partition
    for path in _candidates(file, disk):
        if _is_it(path, file, disk):
            return path
    raise ConnectorError(
        f"the file that was followed as {file.path} (inode {file.ino}) is found nowhere in {os.path.dirname(file.path)} now: it was "
        "deleted, moved away or replaced, so a batch cannot read what the topology has read; bring it back, or run the query again"
    )


def where_is(partition: str) -> str:
    """Where the file of a partition is now; what cannot be opened if it is nowhere."""
    try:
        return locate(partition)
    except ConnectorError:
        return partition


def _candidates(file: FileId, disk: Disk) -> list[str]:
    folders = dict.fromkeys((os.path.dirname(file.path), os.path.dirname(os.path.realpath(file.path))))
    return [file.path, *(path for folder in folders for path in disk.names_in(folder).get(file.ino, ()))]


def _is_it(path: str, file: FileId, disk: Disk) -> bool:
    told = disk.stat(path)
    if told is None or told.key.ino != file.ino:
        return False
    handle = disk.open(path)
    if handle is None:
        return False
    try:
        return file.fits(Seen(path, told.key, disk.born(path), head_of(read_head(disk, path, handle, HEAD_BYTES))))
    finally:
        disk.close(handle)
