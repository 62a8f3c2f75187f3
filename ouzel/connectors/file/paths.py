"""Which files a path means."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from ouzel.connectors.file.partition_folders import files_below, partition_names, values_of
from ouzel.errors import ConnectorError
from ouzel.lists import split_list

_OWN = ("/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/", "/proc/thread-self/")
_KINDS = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


def find_files(path: str, directory: Path) -> list[str]:
    """The files of a list of files, folders and globs, by name; those whose names begin with . or _ are none.

    Those of a folder are what it holds, and what the folders in it hold that are named by values of columns.

    Raises:
        ConnectorError: a name is no text, which neither messages nor Spark can hold; or it is that of a pipe or a device.
    """
    files = sorted({found for pattern in split_list(path) for found in _match(pattern, directory)})
    if problem := next(filter(None, map(_is_no_text, files)), ""):
        raise ConnectorError(problem)
    return files


def near_files(path: str, directory: Path) -> str:
    """Advice for a path that no file is found at: the name beside it that is most like it, or that it is an empty folder; or empty."""
    wanted = directory / path
    if wanted.is_dir():
        return "; the folder is there and holds no rows yet"
    try:
        beside = [found.name for found in wanted.parent.iterdir()]
    except OSError:
        return ""
    near = get_close_matches(wanted.name, beside, 1)
    return f"; did you mean {Path(path).parent / near[0]}?" if near else ""


def refuse_input(options: Mapping[str, str], directory: Path) -> str:
    """Why a table's `path` is no input: the first of its names that is none. Empty if all are."""
    paths = [str(directory / pattern) for pattern in split_list(options["path"])]
    told = (check(path) for path in paths for check in (_is_no_text, _cannot_be_read_again))
    return next(filter(None, told), "") or _refuse_folders(paths, partition_names(options))


def _refuse_folders(paths: list[str], names: tuple[str, ...]) -> str:
    """Why files lie in other folders than those of the table; empty if none does."""
    try:
        for path in filter(os.path.isdir, paths):
            for file in _files_of(path):
                values_of(file, path, names)
    except ConnectorError as error:
        return str(error)
    return ""


def _files_of(folder: str) -> list[str]:
    """The files of a folder and of those in it that are named by values of columns."""
    try:
        return list(files_below(folder))
    except PermissionError as error:
        raise _make_closed(str(error.filename)) from None


def _is_no_text(path: str) -> str:
    if path.isascii() or not any("\udc80" <= sign <= "\udcff" for sign in path):
        return ""
    shown = os.fsencode(path).decode(errors="backslashreplace")
    return (
        f"the path of the file {shown} is not UTF-8; rename it or the folder that it is in, or leave it out of 'path'"
    )


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
    _refuse_closed(os.path.join(place, "*") if os.path.isdir(place) else place)
    if os.path.isdir(place):
        return _files_of(place)
    hits = glob.glob(place, recursive=True)
    return [hit for hit in hits if os.path.isfile(hit) and not os.path.basename(hit).startswith((".", "_"))]


def _refuse_closed(wanted: str) -> None:
    """`glob` passes over a folder that this user may not look into, and the rows of its files would be missing in silence."""
    if not glob.has_magic(wanted):
        _is_there(wanted)
    for folder in filter(_is_there, _listed(wanted)):
        if not os.access(folder, os.R_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
            raise _make_closed(folder)


def _listed(wanted: str) -> Iterator[str]:
    """The folders whose names are held against a part of a pattern, from the top on."""
    parts = wanted.split(os.sep)
    for depth, part in enumerate(parts):
        above = os.sep.join(parts[:depth])
        if part == "**":
            yield from glob.iglob(os.path.join(above, "**", ""), recursive=True)
        elif glob.has_magic(part):
            yield from (
                glob.iglob(os.path.join(above, ""), recursive=True) if glob.has_magic(above) else [above or os.sep]
            )


def _is_there(path: str) -> bool:
    try:
        os.stat(path)
    except PermissionError:
        raise _make_closed(os.path.dirname(path)) from None
    except OSError:
        return False
    return True


def _make_closed(folder: str) -> ConnectorError:
    return ConnectorError(
        f"the folder {folder.rstrip(os.sep)} cannot be looked into: Permission denied; what lies there would be left out; "
        "`chmod a+rx` it or the folders above it, or leave it out of 'path'"
    )
