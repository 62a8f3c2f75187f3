"""The manifest of an epoch: which files hold what each task kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ouzel.errors import StateError
from ouzel.runtime.checkpoints.names import EPOCHS, epoch_name, epoch_of_task_file
from ouzel.runtime.checkpoints.objects import ObjectStore
from ouzel.runtime.checkpoints.sealed import seal, unseal

BEFORE_FIRST = -1
"""The revision of an epoch that a topology has begun with, and that is another's."""

MANIFEST_VERSION = 1
"""Raised when a manifest of another make is written."""


@dataclass(frozen=True)
class TaskFile:
    """One file of one task and epoch.

    Attributes:
        name: relative to the folder of the checkpoints.
        size: in bytes.
        digest: of its content, in hexadecimal digits.
    """

    name: str
    size: int
    digest: str


@dataclass(frozen=True)
class PartTimes:
    """How long one task's part of an epoch took, in milliseconds.

    Attributes:
        aligned_ms: from when the task heard of the epoch until it had come to rest.
        copied_ms: from then until its state was copied. Rows flow again when all tasks have done so.
        written_ms: from then until its files were written; that includes what its sink had to flush before.
    """

    aligned_ms: float
    copied_ms: float
    written_ms: float

    @property
    def total_ms(self) -> float:
        """All of it."""
        return self.aligned_ms + self.copied_ms + self.written_ms

    def __str__(self) -> str:
        return f"aligned {self.aligned_ms:,.0f} ms, copied {self.copied_ms:,.0f} ms, written {self.written_ms:,.0f} ms"


@dataclass(frozen=True)
class TaskFiles:
    """What is needed to restore one task.

    Attributes:
        component: of which component it is a task.
        index: its place in its component.
        files: a whole snapshot, then the changes after it, oldest first.
        took: how long its part of the epoch took; None if nobody noted that.
        keys: how many keys its operators keep in tables; None if nobody has counted them.
    """

    component: str
    index: int
    files: tuple[TaskFile, ...]
    took: PartTimes | None = None
    keys: int | None = None

    def __str__(self) -> str:
        return f"{self.component}[{self.index}]"


@dataclass(frozen=True)
class Manifest:
    """A complete epoch.

    Attributes:
        epoch: its number, from 1.
        topology: the name of the topology that it is of.
        seed: of the hash of keys.
        made_us: when all was written, in microseconds since 1970, UTC.
        tasks: every task of the topology.
        revision: how often the topology had been updated, or BEFORE_FIRST.
        leadership: of the topology master that has completed it; 0 if none has.
    """

    epoch: int
    topology: str
    seed: int
    made_us: int
    tasks: tuple[TaskFiles, ...]
    revision: int = 0
    leadership: int = 0

    @property
    def files(self) -> list[TaskFile]:
        """All files, in the order of the tasks."""
        return [file for task in self.tasks for file in task.files]

    def find_slowest(self) -> tuple[TaskFiles, PartTimes] | None:
        """The task whose part came last, and how long that took; None if nobody noted that.

        All tasks hear of an epoch at one time, so the last part is the one that took longest.
        """
        parts = [(task, task.took) for task in self.tasks if task.took is not None]
        return max(parts, key=lambda part: part[1].total_ms, default=None)


def manifest_bytes(manifest: Manifest, folder: str) -> bytes:
    """The manifest as a file of the folder that has this id."""
    return seal(MANIFEST_VERSION, {"folder": folder, "manifest": asdict(manifest)})


def manifest_name(epoch: int) -> str:
    """The file of an epoch's manifest."""
    return f"{EPOCHS}/{epoch_name(epoch)}"


def read_manifest(store: ObjectStore, epoch: int) -> tuple[Manifest, str]:
    """The manifest of an epoch, and the id of the folder that it was written into.

    Raises:
        MissingFile: there is none.
        StateError: it is torn, damaged, of another version or of another epoch.
        OSError: the store does not answer.
    """
    where = store.where(manifest_name(epoch))
    fields = unseal(store, manifest_name(epoch), MANIFEST_VERSION)
    try:
        manifest = _manifest(fields["manifest"])
        folder = str(fields["folder"])
    except (TypeError, KeyError, AttributeError):
        raise StateError(f"{where} is no manifest of a checkpoint") from None
    if manifest.epoch != epoch:
        raise StateError(f"{where} is the manifest of epoch {manifest.epoch}, not of epoch {epoch}")
    for file in manifest.files:
        written = epoch_of_task_file(file.name)
        if written is None or written > epoch:
            raise StateError(f"{where} names {file.name}, which is no file of a task in that epoch or before")
    return manifest, folder


def _manifest(fields: dict[str, Any]) -> Manifest:
    tasks = tuple(_task_files(task) for task in fields.pop("tasks"))
    return Manifest(**fields, tasks=tasks)


def _task_files(fields: dict[str, Any]) -> TaskFiles:
    took = fields.get("took")  # an epoch of a former version has none
    files = tuple(TaskFile(**file) for file in fields["files"])
    times = PartTimes(**took) if took else None
    return TaskFiles(fields["component"], fields["index"], files, times, fields.get("keys"))
