"""Loops over bytes, compiled by Numba, and kept so where this package lies in a folder: a wheel given to Spark has no place for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba


def compiled(*signature: Any, inline: str = "never") -> Callable[[Any], Any]:
    """`numba.njit` that lets other threads run.

    Args:
        signature: the types to compile for at once.
        inline: "always" where a call costs more than what it does: it hands over seven words and more for each array.
    """
    decorate: Callable[[Any], Any] = numba.njit(*signature, cache=Path(__file__).is_file(), nogil=True, inline=inline)
    return decorate
