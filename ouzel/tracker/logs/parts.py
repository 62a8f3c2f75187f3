"""Logs as pages show them: a part of a file, what is searched for, and what comes. However large a file or a line is, little is read.

Positions are bytes. Parts begin and end where lines do, if the lines are not longer than a part.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ouzel.tracker.logs.files import FileRefused, container_folder, list_files, open_given_file
from ouzel.tracker.logs.plain_text import printable_text
from ouzel.tracker.topologies.snapshot import TopologySnapshot

PART_BYTES = 64 << 10
"""How much of a file a page shows at once."""

SEARCHED_BYTES = 64 << 20
"""How much of a file one request searches."""

FOUND_MAX = 200
SHOWN_BYTES = 2_000
"""Most of a line that was found that is shown: what surrounds the words."""

CHUNK_BYTES = 1 << 20
SKIPPED_BYTES = 1 << 20
"""Who follows a log and is behind by more than that goes on near its end."""

SERVER, SERVER_LOG = "server", "server.log"
"""The place of the log of a topology's server, which is in no container, and its name."""


@dataclass(frozen=True)
class LogEntry:
    """A log that can be read.

    Attributes:
        place: the container's number, or SERVER.
        file: the name.
        title: whose it is.
        size: in bytes.
    """

    place: str
    file: str
    title: str
    size: int


def list_logs(snapshot: TopologySnapshot) -> list[LogEntry]:
    """All logs of a topology: its server's, then those of each container."""
    found = []
    server = snapshot.home / SERVER_LOG
    if server.is_file() and not server.is_symlink():
        found.append(LogEntry(SERVER, SERVER_LOG, "server", server.stat().st_size))
    titles = {f"instance-{task.id}.log": f"{task.component}[{task.index}]" for task in snapshot.job.topology.tasks()}
    for number in snapshot.job.containers:
        folder = snapshot.home / f"container-{number}"
        for name in list_files(folder):
            if name.endswith(".log"):
                size = (folder / name).stat().st_size
                found.append(LogEntry(str(number), name, titles.get(name, name.removesuffix(".log")), size))
    return found


def open_log_file(snapshot: TopologySnapshot, place: str, name: str) -> BinaryIO:
    """A log, opened.

    Raises:
        FileRefused: there is none.
    """
    if not name.endswith(".log") or "/" in name:
        raise FileRefused(f"'{name}' is no log; the list of logs shows all that there are")
    if place == SERVER:
        if name != SERVER_LOG:
            raise FileRefused(f"the server has no log '{name}'; it has {SERVER_LOG}")
        return open_given_file(snapshot.home, name)
    return open_given_file(container_folder(snapshot, place), name)


@dataclass(frozen=True)
class LogPart:
    """A part of a log.

    Attributes:
        text: what stands there, as it can be shown.
        begin, end: where it begins and ends.
        size: of the whole file.
    """

    text: str
    begin: int
    end: int
    size: int

    @property
    def has_before(self) -> bool:
        """Whether there is anything before it."""
        return self.begin > 0

    @property
    def has_after(self) -> bool:
        """Whether there is anything after it."""
        return self.end < self.size


def read_log(file: BinaryIO, offset: int) -> LogPart:
    """The part of a log that begins there."""
    size = _size_of(file)
    begin = min(max(0, offset), size)
    text = os.pread(file.fileno(), PART_BYTES, begin)
    return _part(text if begin + len(text) >= size else _whole_lines(text), begin, size)


def read_log_before(file: BinaryIO, end: int | None = None) -> LogPart:
    """The part of a log that ends there, or at its end."""
    size = _size_of(file)
    end = size if end is None else min(max(0, end), size)
    begin = max(0, end - PART_BYTES)
    text = os.pread(file.fileno(), end - begin, begin)
    half = text.find(b"\n") + 1
    if begin and half < len(text) and os.pread(file.fileno(), 1, begin - 1) != b"\n":
        begin, text = begin + half, text[half:]
    return _part(text, begin, size)


def _part(text: bytes, begin: int, size: int) -> LogPart:
    return LogPart(printable_text(text.decode(errors="replace")), begin, begin + len(text), size)


def _whole_lines(text: bytes) -> bytes:
    """The text up to its last line break; all of it if it has none."""
    return text[: text.rfind(b"\n") + 1] or text


def _size_of(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


@dataclass(frozen=True)
class FoundLine:
    """A line with what was searched for, or what surrounds that in a long line; and where it is."""

    offset: int
    text: str


@dataclass(frozen=True)
class Search:
    """What a search has found.

    Attributes:
        lines: in the order of the file.
        begin, end: which part of the file was searched.
    """

    lines: tuple[FoundLine, ...]
    begin: int
    end: int


def search_log(file: BinaryIO, words: str, end: int | None = None) -> Search:
    """The lines with these words, of the last SEARCHED_BYTES before `end`: the last FOUND_MAX of them. Case of a to z does not matter."""
    size = _size_of(file)
    end = size if end is None else min(max(0, end), size)
    begin = max(0, end - SEARCHED_BYTES)
    places: list[int] = []
    for place in _places(file, words.encode().lower(), begin, end):
        places.append(place)
        if len(places) > 2 * FOUND_MAX:
            del places[:FOUND_MAX]
    is_cut = len(places) > FOUND_MAX
    places = places[-FOUND_MAX:]
    lines = tuple(_line_at(file, place) for place in places)
    return Search(lines, places[0] if is_cut else begin, end)


def _places(file: BinaryIO, wanted: bytes, begin: int, end: int) -> Iterator[int]:
    """Where the words stand first in each line. Chunks overlap, so that no word is cut."""
    offset, in_found_line = begin, False
    while wanted and offset < end:
        chunk = os.pread(file.fileno(), min(CHUNK_BYTES, end - offset), offset).lower()
        place = -1 if in_found_line else 0
        while chunk:
            if in_found_line:
                place = chunk.find(b"\n", max(0, place))
                if place < 0:
                    break
                in_found_line = False
            place = chunk.find(wanted, place)
            if place < 0:
                break
            in_found_line = True
            yield offset + place
        if not chunk or offset + len(chunk) >= end:
            return
        offset += max(1, len(chunk) - len(wanted) + 1)


def _line_at(file: BinaryIO, place: int) -> FoundLine:
    """The line around a place, at most SHOWN_BYTES of it."""
    before = os.pread(file.fileno(), min(SHOWN_BYTES // 2, place), max(0, place - SHOWN_BYTES // 2))
    start = before.rfind(b"\n") + 1
    begin = place - len(before) + start
    text = os.pread(file.fileno(), SHOWN_BYTES, begin).partition(b"\n")[0]
    return FoundLine(begin, printable_text(text.decode(errors="replace")))


@dataclass(frozen=True)
class News:
    """What has come to a log: its text, where it ends, and how many bytes before it are left out."""

    text: str
    end: int
    skipped: int = 0


def read_news(file: BinaryIO, offset: int) -> News | None:
    """What has come since that offset, in whole lines; None if nothing has. A log that is shorter now has begun anew."""
    size = _size_of(file)
    begin = offset if offset <= size else 0
    skipped = max(0, size - PART_BYTES - begin) if size - begin > SKIPPED_BYTES else 0
    text = os.pread(file.fileno(), PART_BYTES, begin + skipped)
    if skipped and (half := text.find(b"\n") + 1) < len(text):
        skipped, text = skipped + half, text[half:]
    if len(text) < PART_BYTES and b"\n" not in text:
        return None  # a line of which the end is still to come
    text = _whole_lines(text)
    return News(printable_text(text.decode(errors="replace")), begin + skipped + len(text), skipped) if text else None
