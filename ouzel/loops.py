"""Loops compiled by Numba, and where what is compiled is kept: beside the source, or where whoever runs us may write.

So it is where this package is an archive that Spark was given: in the user's cache.

Numba takes the first folder of its own that it can write to, and ends with an error where there is none: in a container without a home,
say, or for `nobody`. What was compiled when the package was installed lies beside it, and is linked to from wherever we can write.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import _CacheLocator
from numba.misc.appdirs import AppDirs

KEPT = ("*.nbi", "*.nbc")
"""What Numba calls the files that it keeps."""


def loop(*signature: Any, keep: bool = True, **options: Any) -> Callable[[Any], Any]:
    """`numba.njit`, whose result is kept, if there is any place for it and unless `keep` forbids it."""

    def decorate(function: Any) -> Any:
        if keep:
            with suppress(OSError, RuntimeError), _out_of_archive(function):  # there is no room for what is compiled
                source = Path(function.__code__.co_filename)
                with _kept_in(_folder_for(source)):
                    return numba.njit(*signature, **options, cache=True)(function)
        return numba.njit(*signature, **options)(function)

    return decorate


@contextmanager
def _out_of_archive(function: Any) -> Iterator[None]:
    """Inside, a function of an archive is said to be of a copy of its source; meanwhile nobody else compiles it, but finds it there.

    Numba keeps what it compiles by the path of the source, and an archive has another in each session of Spark: the copy's path goes by
    what the archive holds.

    Raises:
        OSError: there is no place for the copy.
    """
    archive, source = _archive(), Path(function.__code__.co_filename)
    if archive is None or not source.is_relative_to(archive):
        yield
        return
    copy = kept_of(archive) / source.relative_to(archive)
    _copy(function, copy)
    with copy.with_name(f"{copy.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        function.__code__ = function.__code__.replace(co_filename=str(copy))
        yield


def _copy(function: Any, copy: Path) -> None:
    """Write the source of a function there, if it is not there yet."""
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        unfinished = copy.with_name(f"{copy.name}.{os.getpid()}")  # others copy it too
        unfinished.write_bytes(function.__globals__["__loader__"].get_data(function.__globals__["__file__"]))
        unfinished.replace(copy)


@cache
def _archive() -> Path | None:
    """The archive that this file is in, if it is."""
    return next((folder for folder in Path(__file__).parents if folder.is_file()), None)


@cache
def kept_of(archive: Path) -> Path:
    """Where copies of an archive's sources are, and beside them what is compiled of them.

    Raises:
        OSError: there is no place for them.
    """
    place = own_folder()
    if place is None:
        raise FileNotFoundError("no folder for what is compiled can be written to")
    with archive.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return place / f"ouzel-{digest[:16]}"


@contextmanager
def _kept_in(folder: Path | None) -> Iterator[None]:
    """Inside, Numba keeps what it compiles there; loops of users stay where Numba puts them."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder) if folder else before
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


@cache
def _folder_for(source: Path) -> Path | None:
    """Where loops of this file are kept; None for the folder beside it, or the one that NUMBA_CACHE_DIR names."""
    beside = source.parent / "__pycache__"
    if is_writable(Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else beside):
        return None
    place = own_folder()
    if place is not None:
        with suppress(OSError):
            _link(beside, place / _CacheLocator.get_suitable_cache_subpath(str(source)), source.stem)
    return place


def _link(beside: Path, place: Path, module: str) -> None:
    """Link the cache files beside a source into `place`; when Numba writes a file again, it replaces the link."""
    place.mkdir(parents=True, exist_ok=True)
    for pattern in KEPT:
        for compiled in beside.glob(f"{module}.{pattern}"):
            with suppress(FileExistsError):
                (place / compiled.name).symlink_to(compiled)


@cache
def own_folder() -> Path | None:
    """A folder of this user's for what is compiled: the usual one, or one in the directory for temporary files; None if there is none."""
    usual = Path(AppDirs("numba", False).user_cache_dir)
    if is_writable(usual):
        return usual
    private = Path(tempfile.gettempdir()) / f"ouzel-loops-{os.geteuid()}"
    return private if is_writable(private, 0o700) and _is_ours(private) else None


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can write there: what lies there is run."""
    found = folder.lstat()
    return found.st_uid == os.geteuid() and not folder.is_symlink() and not found.st_mode & 0o022


def is_writable(folder: Path, mode: int = 0o777) -> bool:
    """Whether files can be made in the folder, which is made if need be."""
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
