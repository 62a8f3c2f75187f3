"""Distinct random words, as many as asked for, the same in every process."""

from __future__ import annotations

import numpy as np
import polars as pl

LETTERS = np.frombuffer(b"etaoinshrdlucmfwypvbgkjqxz", dtype=np.uint8)
"""English letters, the frequent ones first."""

SHORTEST, LONGEST, MEAN, SPREAD = 3, 14, 8.0, 2.5


def distinct_words(count: int, seed: int = 15) -> pl.Series:
    """`count` different words of 3 to 14 letters, 8 on average."""
    random = np.random.default_rng(seed)
    weights = np.arange(len(LETTERS), 0, -1, dtype=np.float64)
    drawn = count + count // 2
    sizes = np.clip(np.round(random.normal(MEAN, SPREAD, drawn)), SHORTEST, LONGEST).astype(np.int64)
    letters = random.choice(LETTERS, (drawn, LONGEST), p=weights / weights.sum())
    text = letters.tobytes().decode()
    words = pl.Series("word", [text[row * LONGEST : row * LONGEST + size] for row, size in enumerate(sizes.tolist())])
    return words.unique(maintain_order=True).head(count)
