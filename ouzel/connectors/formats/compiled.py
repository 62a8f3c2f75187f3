"""Loops over bytes, compiled by Numba, and kept so: beside this file, or in the user's cache if this is an archive that Spark was given."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.misc.appdirs import AppDirs


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
        try:
            return numba.njit(*signature, **options, cache=not inline and _can_keep())(function)
        except RuntimeError:  # a Numba that keeps nothing of an archive
            return numba.njit(*signature, **options)(function)

    return decorate


@cache
def _can_keep() -> bool:
    """Whether there is a place for what is compiled; Numba finds out only when it writes there."""
    if Path(__file__).is_file():
        return True
    place = Path(AppDirs("numba", False).user_cache_dir)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(place, os.W_OK)
