"""How much tests try: what is drawn at random by seeds, and of long families of cases another fifth each day.

`make test` tries two seeds, `make test-all` ten, `make law` hundreds, others every day.
"""

from __future__ import annotations

import os
import zlib
from datetime import date

SEEDS_VARIABLE = "LAW_SEEDS"
USUAL = 10

ANEW_VARIABLE = "TEST_ANEW"

DAY_VARIABLE = "TEST_DAY"
SHARES = 5
"""A case of a long family is in `make test` on one day of so many."""


def seeds() -> tuple[int, ...]:
    """The seeds to run: ten, or those that the environment names: some, separated by commas, or `first:last`."""
    chosen = os.environ.get(SEEDS_VARIABLE, f"0:{USUAL - 1}")
    first, _, last = chosen.partition(":")
    return tuple(range(int(first), int(last) + 1)) if last else tuple(map(int, chosen.split(",")))


def few_seeds() -> tuple[int, ...]:
    """Four of them at most: for hundreds of cases, each of which runs a cluster under each seed."""
    return seeds()[:4]


def examples(usual: int) -> int:
    """How many examples Hypothesis draws where ten seeds go with `usual`: fewer or more, as there are seeds."""
    return max(1, usual * len(seeds()) // USUAL)


def draws_anew() -> bool:
    """Whether what is drawn at random is another in each run."""
    return bool(os.environ.get(ANEW_VARIABLE))


def today() -> int:
    """The number of the day: of the calendar, or what the environment says, to try a day again."""
    return int(os.environ.get(DAY_VARIABLE) or date.today().toordinal())


def is_due(name: str, day: int) -> bool:
    """Whether the case of a long family has its turn; the name alone decides, so that a new case moves no other."""
    return zlib.crc32(name.encode()) % SHARES == day % SHARES
