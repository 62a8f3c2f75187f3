"""Hashes of keys: null-safe, equal for equal keys (-0.0 and 0.0, any NaN), the same in every process of one topology.

Polars hashes each column; Numba mixes the columns. The seed is the topology's, drawn at random, so that nobody can choose keys that
collide.
Two words make the 128 bits by which state knows a key: they are trusted, that is, equal hashes are taken for equal keys. With 10^12 keys
the chance that any two collide is 10^-15.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl

from ouzel.runtime.state import kernels

Words = npt.NDArray[np.uint64]

KEY_GROUPS = 1024
"""State is split and moved by key group: the top bits of the first word."""

_HIGH = 0x5851F42D4C957F2D


def row_hashes(frame: pl.DataFrame, columns: Sequence[str], seed: int) -> Words:
    """One word a row over `columns`, for groupings; the first word of `key_hashes`."""
    return _mixed(frame, columns, (seed,))[0]


def key_hashes(frame: pl.DataFrame, columns: Sequence[str], seed: int) -> tuple[Words, Words]:
    """Two independent words a row over `columns`; without columns all rows are equal."""
    low, high = _mixed(frame, columns, (seed, _other(seed)))
    return low, high


def extend_hashes(
    key: tuple[Words, Words], frame: pl.DataFrame, columns: Sequence[str], seed: int
) -> tuple[Words, Words]:
    """The hashes of (key, `columns`), given those of the key."""
    low, high = _mixed(frame, columns, (seed, _other(seed)))
    low_key, high_key = key[0].copy(), key[1].copy()
    kernels.combine(low_key, low, np.uint64(1))
    kernels.combine(high_key, high, np.uint64(2))
    return low_key, high_key


def key_groups(low: Words) -> npt.NDArray[np.int64]:
    """Which of the KEY_GROUPS each first word belongs to."""
    return (low >> np.uint64(54)).astype(np.int64)


def _other(seed: int) -> int:
    return (seed ^ _HIGH) & 0xFFFFFFFFFFFFFFFF


def _mixed(frame: pl.DataFrame, columns: Sequence[str], seeds: Sequence[int]) -> list[Words]:
    if not columns:
        return [np.full(frame.height, seed & 0xFFFFFFFFFFFFFFFF, dtype=np.uint64) for seed in seeds]
    hashed = frame.select_seq(
        _expressions(tuple(columns), tuple(seeds))
    )  # select would hand tiny work to other threads
    words = [series.to_numpy() for series in hashed.get_columns()]
    width = len(columns)
    return [_folded(words[place * width : (place + 1) * width], np.uint64(place)) for place in range(len(seeds))]


@lru_cache(256)
def _expressions(columns: tuple[str, ...], seeds: tuple[int, ...]) -> list[pl.Expr]:
    return [pl.col(name).hash(seed).alias(f"{place}:{name}") for place, seed in enumerate(seeds) for name in columns]


def _folded(words: list[Words], salt: np.uint64) -> Words:
    if len(words) == 1:
        return words[0]
    folded = words[0].copy()
    for more in words[1:]:
        kernels.combine(folded, more, salt)
    return folded
