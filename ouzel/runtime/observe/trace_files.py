"""The spans of a task as files that outlive its process: the task writes them, whoever wants reads them.

`traces-TASK-N.jsonl` in the container's directory, a line a span. A file that is full is followed by the next, and two are kept. A line
that a killed process left half is skipped.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ouzel.planner.topology import Task
from ouzel.runtime.observe.line_files import list_line_files, parse_lines, read_whole_lines
from ouzel.runtime.protocol.trace_span import TraceSpan

FILE_BYTES = 1 << 20
"""A file of this size is followed by another; two are kept of each task."""

LAST_BYTES = 1 << 16
"""So much of the newest file of a task is looked at by who wants the last spans alone."""

SPANS_WAITING = 1_000
"""So many spans are kept of what a task does in WRITE_MS; of those that come after, none."""

WRITE_MS = 1_000.0
"""How often they are written."""

_NAME = re.compile(r"traces-(\d+)-(\d+)\.jsonl")


class TaskSpan(NamedTuple):
    """A span, and which task did that."""

    component: str
    task: int
    operators: tuple[str, ...]
    span: TraceSpan


@dataclass
class TraceWriter:
    """Gathers the spans of one task, and writes them now and then."""

    folder: Path
    task: Task
    file_bytes: int = FILE_BYTES

    def __post_init__(self) -> None:
        self._waiting: list[TraceSpan] = []
        self._due_ms = 0.0
        self._start = b"\n"  # ends a line that a killed process, or a full disk, has left half

    def note(self, span: TraceSpan) -> None:
        """Something was done."""
        if len(self._waiting) < SPANS_WAITING:
            self._waiting.append(span)

    def on_tick(self, operators: Sequence[str], now_ms: float) -> None:
        """Some time has passed: write, if it is time."""
        if now_ms >= self._due_ms:
            self._due_ms = now_ms + WRITE_MS
            self.write(operators)

    def write(self, operators: Sequence[str]) -> None:
        """Write what waits. Where there is no room for it, it is lost."""
        if not self._waiting:
            return
        spans, self._waiting = self._waiting, []
        lines = [_to_line(TaskSpan(self.task.component, self.task.id, tuple(operators), span)) for span in spans]
        text, self._start = self._start + b"".join(lines), b"\n"
        try:
            with self._choose_file().open("ab") as file:
                file.write(text)
            self._start = b""
        except OSError:
            return

    def _choose_file(self) -> Path:
        files = _list_files(self.folder, self.task.id)
        number = files[-1][0] if files else 0
        if files and files[-1][1].stat().st_size >= self.file_bytes:
            for _, path in files[:-1]:
                path.unlink(missing_ok=True)
            number += 1
        return self.folder / f"traces-{self.task.id}-{number}.jsonl"


def _list_files(folder: Path, task: int) -> list[tuple[int, Path]]:
    """The files of a task with their numbers, oldest first."""
    return list_line_files(folder, f"traces-{task}")


class TraceReader:
    """Reads the spans of one container, and then what comes to them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = {}

    def read(self) -> Iterator[TaskSpan]:
        """The spans that have come since the last call, of each task in order."""
        paths = [path for path in self._folder.glob("traces-*.jsonl") if _NAME.fullmatch(path.name)]
        for path in sorted(paths):
            yield from self._read_file(path)
        self._read = {path: offset for path, offset in self._read.items() if path in paths}

    def _read_file(self, path: Path) -> Iterator[TaskSpan]:
        offset = self._read.get(path, 0)
        whole = read_whole_lines(path, offset)
        if whole is not None:
            self._read[path] = offset + len(whole)
            yield from parse_lines(whole, _of_fields)


def read_last_spans(folder: Path, task: int) -> list[TaskSpan]:
    """The last spans of a task, of LAST_BYTES at most; none if there are none."""
    files = _list_files(folder, task)
    try:
        with files[-1][1].open("rb") as file:
            begin = max(0, file.seek(0, os.SEEK_END) - LAST_BYTES)
            file.seek(begin)
            text = file.read(LAST_BYTES)
    except (IndexError, OSError):
        return []
    return list(parse_lines(text.partition(b"\n")[2] if begin else text, _of_fields))


def _to_line(of_task: TaskSpan) -> bytes:
    fields = {**of_task._asdict(), "span": asdict(of_task.span)}
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def _of_fields(fields: dict[str, Any]) -> TaskSpan:
    span = fields["span"]
    return TaskSpan(
        str(fields["component"]),
        int(fields["task"]),
        tuple(map(str, fields["operators"])),
        TraceSpan(**{**span, "parents": tuple(span["parents"])}),
    )
