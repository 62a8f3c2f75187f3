"""How often tests try what is drawn at random: two seeds in `make quick`, ten in `make test`, hundreds in `make law`."""

from __future__ import annotations

import os

SEEDS_VARIABLE = "LAW_SEEDS"
USUAL = 10


def seeds() -> tuple[int, ...]:
    """The seeds to run: ten, or those that the environment names: some, separated by commas, or `first:last`."""
    chosen = os.environ.get(SEEDS_VARIABLE, f"0:{USUAL - 1}")
    first, _, last = chosen.partition(":")
    return tuple(range(int(first), int(last) + 1)) if last else tuple(map(int, chosen.split(",")))


def examples(usual: int) -> int:
    """How many examples Hypothesis draws where ten seeds go with `usual`: fewer or more, as there are seeds."""
    return max(1, usual * len(seeds()) // USUAL)
