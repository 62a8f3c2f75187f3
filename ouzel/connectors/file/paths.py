"""Which files a path means."""

from __future__ import annotations

import glob
import os
from pathlib import Path


def find_files(path: str, directory: Path) -> list[str]:
    """The files of a list of files, folders and globs, by name; those whose names begin with . or _ are none."""
    patterns = (part.strip() for part in path.split(","))
    return sorted({found for pattern in patterns if pattern for found in _match(pattern, directory)})


def _match(pattern: str, directory: Path) -> list[str]:
    place = str(directory / pattern)
    hits = glob.glob(os.path.join(place, "*") if os.path.isdir(place) else place, recursive=True)
    return [hit for hit in hits if os.path.isfile(hit) and not os.path.basename(hit).startswith((".", "_"))]
