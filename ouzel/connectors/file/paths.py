"""Which files a path means."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from ouzel.errors import ConnectorError

_OWN = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/", "/proc/thread-self/")
_KINDS = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


def find_files(path: str, directory: Path) -> list[str]:
    """The files of a list of files, folders and globs, by name; those whose names begin with . or _ are none.

    Raises:
        ConnectorError: a name is no text, which neither messages nor Spark can hold; or it is that of a pipe or a device.
    """
    files = sorted({found for pattern in _patterns(path) for found in _match(pattern, directory)})
    if problem := next(filter(None, map(_is_no_text, files)), ""):
        raise ConnectorError(problem)
    return files


def refuse_input(options: Mapping[str, str], directory: Path) -> str:
    """Why a table's `path` is no input: the first of its names that is none. Empty if all are."""
    paths = [str(directory / pattern) for pattern in _patterns(options["path"])]
    return next(filter(None, (check(path) for path in paths for check in (_is_no_text, _cannot_be_read_again))), "")


def _is_no_text(path: str) -> str:
    if path.isascii() or not any("\udc80" <= sign <= "\udcff" for sign in path):
        return ""
    shown = os.fsencode(path).decode(errors="backslashreplace")
    return (
        f"the path of the file {shown} is not UTF-8; rename it or the folder that it is in, or leave it out of 'path'"
    )


def _patterns(path: str) -> list[str]:
    return [part.strip() for part in path.split(",") if part.strip()]


def _cannot_be_read_again(path: str) -> str:
    """Why what is there is no input, with what to write instead; empty for files, folders, globs and what is not there.

    Each process has its own /dev/stdin, so that its name says nothing to the task that would read it.
    """
    kind = "of this process alone" if path.startswith(_OWN) else _kind_of(path)
    if not kind:
        return ""
    return (
        f"{path} is {kind} and no file: a task that starts again after a crash could not read it again, nor could a batch job; "
        "write what it gives to a file first, `cat > rows.csv`, and name that, with 'follow' = 'true' while it grows"
    )


def _kind_of(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    return next((word for is_it, word in _KINDS.items() if is_it(mode)), "")


def _match(pattern: str, directory: Path) -> list[str]:
    place = str(directory / pattern)
    if problem := _cannot_be_read_again(place):
        raise ConnectorError(problem)
    hits = glob.glob(os.path.join(place, "*") if os.path.isdir(place) else place, recursive=True)
    return [hit for hit in hits if os.path.isfile(hit) and not os.path.basename(hit).startswith((".", "_"))]
