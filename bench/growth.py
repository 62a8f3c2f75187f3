"""How long results did not come while a topology was interrupted: what the benches of recovery and of rescaling have in common."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

from ouzel.session import Job, load

LOOK_S = 0.002
WORDS = """CREATE TABLE words (word VARCHAR) WITH ('connector' = 'datagen', 'fields.word.cardinality' = '{keys}',
  'fields.word.length' = '8', 'rate' = '{rate}', 'partitions' = '1');"""
"""Random words, of which so many are distinct."""


class Growth:
    """Notes the moments when a number was found to have grown by more than `least`."""

    def __init__(self, number: Callable[[], int], least: int = 0) -> None:
        self._number, self._least = number, least
        self.last = number()
        self.moments: list[float] = []

    def look(self) -> bool:
        """Whether it has grown since the last look."""
        before, self.last = self.last, self._number()
        grew = self.last > before + self._least
        if grew:
            self.moments.append(time.monotonic())
        return grew

    def wait(self, beyond: int = 0, limit_s: float = 120.0) -> None:
        """Look until it has grown, and is larger than that; for so long at most."""
        deadline = time.monotonic() + limit_s
        while not (self.look() and self.last > beyond) and time.monotonic() < deadline:
            time.sleep(LOOK_S)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Inside, a thread looks every few milliseconds."""
        ends = Event()

        def watch() -> None:
            while not ends.wait(LOOK_S):
                self.look()

        thread = Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ends.set()
            thread.join()

    @property
    def longest_gap(self) -> float:
        """The longest time in which it did not grow, in seconds."""
        return max((later - sooner for sooner, later in pairwise(self.moments)), default=0.0)


def load_words(folder: Path, query: str, **settings: str) -> Job:
    """A query of SQL, as a job in one container that has an epoch every three seconds."""
    file = folder / "words.sql"
    file.write_text(query, encoding="utf-8")
    return load(file, (("containers", "1"), ("checkpoint.interval.ms", "3000"), *settings.items()))


def figures(name: str, seconds: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile (the nearest rank) and maximum, for the JSON line."""
    ranked = sorted(seconds)
    high = ranked[math.ceil(0.95 * len(ranked)) - 1]
    found = {"_s": statistics.median(ranked), "_p95_s": high, "_max_s": ranked[-1]}
    return {f"{name}{ending}": round(value, 3) for ending, value in found.items()}
