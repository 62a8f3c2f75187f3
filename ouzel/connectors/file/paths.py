"""Which files a path means."""

from __future__ import annotations

import glob
import os
from pathlib import Path

from ouzel.errors import ConnectorError


def find_files(path: str, directory: Path) -> list[str]:
    """The files of a list of files, folders and globs, by name; those whose names begin with . or _ are none.

    Raises:
        ConnectorError: a name is no text, which neither messages nor Spark can hold.
    """
    patterns = (part.strip() for part in path.split(","))
    files = sorted({found for pattern in patterns if pattern for found in _match(pattern, directory)})
    for file in files:
        if not file.isascii() and any("\udc80" <= sign <= "\udcff" for sign in file):
            shown = os.fsencode(file).decode(errors="backslashreplace")
            raise ConnectorError(f"the name of the file {shown} is not UTF-8; rename it, or leave it out of 'path'")
    return files


def _match(pattern: str, directory: Path) -> list[str]:
    place = str(directory / pattern)
    hits = glob.glob(os.path.join(place, "*") if os.path.isdir(place) else place, recursive=True)
    return [hit for hit in hits if os.path.isfile(hit) and not os.path.basename(hit).startswith((".", "_"))]
