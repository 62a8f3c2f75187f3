"""Loops over bytes, compiled by Numba, and kept so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ouzel.loops import loop


def compiled(*signature: Any, inline: bool = False) -> Callable[[Any], Any]:
    """`numba.njit` of a function that makes no array, which lets other threads run and counts no references to the arrays it is given.

    Args:
        signature: the types to compile for at once.
        inline: for a function that is only called by compiled ones: it becomes part of them, as a call hands over seven words and more for
            each array.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "forceinline": inline}
    options |= {"no_cpython_wrapper": inline, "no_cfunc_wrapper": True}

    return loop(*signature, keep=not inline, **options)
