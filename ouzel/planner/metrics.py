"""Counters of the user's own: what their spouts, bolts and functions count, by names that they give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from operator import index

from ouzel.compiler.user_code import sayable
from ouzel.errors import OuzelError

MAX_COUNTERS = 1_000
"""So many counters one task has: a name made of each record would be a counter for each."""

MAX_COUNT = 2**53
"""So far one task counts: those of a thousand tasks still add up to what a message holds."""

_counted: ContextVar[dict[str, int] | None] = ContextVar("counted", default=None)


@dataclass(frozen=True)
class Counter:
    """One of the user's counters, in one task; `ouzel run` shows it added up over all tasks of the component."""

    name: str
    counts: dict[str, int]

    def add(self, amount: int = 1) -> None:
        """Count on.

        Raises:
            OuzelError: the task has too many counters; or the amount is no whole number, or too large, or the name no text.
        """
        if self.name not in self.counts and len(self.counts) >= MAX_COUNTERS:
            raise OuzelError(
                f"a task has at most {MAX_COUNTERS:,} counters; '{self.name}' would be one more: count fewer names"
            )
        self.counts[self.name] = _sum(self.name, self.counts.get(self.name, 0), amount)


def _sum(name: str, count: int, amount: int) -> int:
    if not isinstance(name, str) or sayable(name) != name:
        raise OuzelError(f"a counter's name is a text, not {name!a}")
    try:
        total = count + index(amount)
    except TypeError:
        raise OuzelError(f"the counter '{name}' was told to add a {type(amount).__name__}; add whole numbers") from None
    if abs(total) > MAX_COUNT:
        raise OuzelError(f"the counter '{name}' would come to {total:,}; a task counts to {MAX_COUNT:,} at most")
    return total


@dataclass(frozen=True)
class UserMetrics:
    """What a task's spout or bolt counts: `context.metrics.counter("misread").add()`."""

    counts: dict[str, int] = field(default_factory=dict)

    def counter(self, name: str) -> Counter:
        """The counter of this name, which begins at 0."""
        return Counter(name, self.counts)


def counter(name: str) -> Counter:
    """The counter of this name, in the task that calls this function: for functions of a program in Python.

    Where no task runs, as in `memory()` or on Spark's workers, nobody reads it.
    """
    counts = _counted.get()
    return Counter(name, {} if counts is None else counts)


@contextmanager
def counting(counts: dict[str, int]) -> Iterator[None]:
    """What functions count in here goes there."""
    token = _counted.set(counts)
    try:
        yield
    finally:
        _counted.reset(token)
