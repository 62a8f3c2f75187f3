"""Loops over bytes, compiled by Numba, and kept so where this package lies in a folder: a wheel given to Spark has no place for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba


def compiled(*signature: Any) -> Callable[[Any], Any]:
    """`numba.njit` that lets other threads run."""
    decorate: Callable[[Any], Any] = numba.njit(*signature, cache=Path(__file__).is_file(), nogil=True)
    return decorate
