"""What files of checkpoints are called. Epochs are whole numbers of any size, whose names sort as the numbers do."""

from __future__ import annotations

import hashlib
import re

EPOCHS, TASKS, STAGED, LEADERS = "epochs", "tasks", "staged", "leaders"
"""The folders of manifests, of tasks' files, of rows that are to be published, and of who has led the topology."""

_DIGITS, _COUNT_DIGITS = 20, 4
_LONGER = "x"
"""Begins the name of a number that has more digits than others are padded to, and sorts behind every digit; so many it has stand next."""

_COMPONENT_CHARACTERS = 80
_EPOCH = rf"{_LONGER}?\d+"
_TASK_FILE = re.compile(rf"{TASKS}/(?P<epoch>{_EPOCH})\.[\w.~-]*\.\d+\.[0-9a-f]{{32}}\.task", re.ASCII)
_PARTIAL = re.compile(rf"\.(?P<epoch>{_EPOCH})\.[0-9a-f]+\.partial", re.ASCII)


def epoch_name(epoch: int) -> str:
    """The number in a name: names sort as numbers do, whatever their size."""
    digits = str(epoch)
    if len(digits) <= _DIGITS:
        return digits.zfill(_DIGITS)
    return f"{_LONGER}{len(digits):0{_COUNT_DIGITS}}{digits}"


def epoch_of(name: str) -> int | None:
    """The number that has this name; None if none has."""
    digits = name[1 + _COUNT_DIGITS :] if name.startswith(_LONGER) else name
    if not (digits.isascii() and digits.isdecimal()):
        return None
    epoch = int(digits)
    return epoch if epoch_name(epoch) == name else None


def task_file_name(epoch: int, component: str, index: int, digest: str) -> str:
    """Where a task's file of an epoch is, relative to the folder."""
    return f"{TASKS}/{epoch_name(epoch)}.{_in_names(component)}.{index}.{digest}.task"


def epoch_of_task_file(name: str) -> int | None:
    """The epoch that a task's file was written in; None if no task's file has such a name."""
    found = _TASK_FILE.fullmatch(name)
    return epoch_of(found["epoch"]) if found else None


def staged_name(component: str, index: int) -> str:
    """The folder of a sink's task in that of staged rows."""
    return f"{_in_names(component)}.{index}"


def partial_name(epoch: int, token: str) -> str:
    """What a file is called while it is written."""
    return f".{epoch_name(epoch)}.{token}.partial"


def epoch_of_partial(name: str) -> int | None:
    """The epoch of a file that is being written, or whose writer died; None if the name is no such file's."""
    found = _PARTIAL.fullmatch(name)
    return epoch_of(found["epoch"]) if found else None


def _in_names(component: str) -> str:
    """A component in the names of its files; one whose name a file cannot have is told apart by a digest."""
    kept = re.sub(r"[^\w.-]", "_", component[:_COMPONENT_CHARACTERS], flags=re.ASCII)
    if kept == component:
        return kept
    return f"{kept}~{hashlib.blake2b(component.encode(errors='surrogatepass'), digest_size=8).hexdigest()}"
