"""Loops over bytes, compiled by Numba, and kept so: beside this file, or in the user's cache if this is an archive that Spark was given."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ouzel.loops import loop, own_folder


def compiled(*signature: Any, inline: bool = False) -> Callable[[Any], Any]:
    """`numba.njit` of a function that makes no array, which lets other threads run and counts no references to the arrays it is given.

    Args:
        signature: the types to compile for at once.
        inline: for a function that is only called by compiled ones: it becomes part of them, as a call hands over seven words and more for
            each array.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "forceinline": inline}
    options |= {"no_cpython_wrapper": inline, "no_cfunc_wrapper": True}

    def decorate(function: Any) -> Any:
        with _place(function, inline) as kept:
            return loop(*signature, keep=kept, **options)(function)

    return decorate


@contextmanager
def _place(function: Any, inline: bool) -> Iterator[bool]:
    """Whether there is a place for what is compiled; meanwhile nobody else compiles the same, but finds it there.

    Numba keeps it by the path of the source, and an archive has another in each session of Spark: then the function is said to be of a copy
    of its source, whose path goes by what the archive holds.
    """
    archive = _archive()
    if archive is None or inline:
        yield not inline
        return
    try:
        copy = _copied(function, archive)
        lock = copy.with_name(f"{copy.name}.lock").open("w")
    except OSError:  # Numba itself finds out that it cannot write only when it does
        yield False
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        function.__code__ = function.__code__.replace(co_filename=str(copy))
        yield True


def _copied(function: Any, archive: Path) -> Path:
    """A copy of its source, which is in an archive.

    Raises:
        OSError: there is no place for it.
    """
    source = function.__globals__["__file__"]
    copy = kept_of(archive) / Path(source).relative_to(archive)
    if not copy.exists():
        copy.parent.mkdir(parents=True, exist_ok=True)
        unfinished = copy.with_name(f"{copy.name}.{os.getpid()}")  # others copy it too
        unfinished.write_bytes(function.__globals__["__loader__"].get_data(source))
        unfinished.replace(copy)
    return copy


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
