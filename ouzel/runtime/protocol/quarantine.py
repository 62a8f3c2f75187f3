"""Finds poison records: rows that end the process of whichever task handles them.

The batch of such a row is replayed to the task that is started in the dead one's place, and ends that one too, for ever. So a task notes
which rows are in flight (being handled now), and its successor reads the note. A batch that was in flight at a death is handled by itself,
then in ever smaller parts, until its poison records are known. They are not handled any more.

Invariant: while rows are handled, the note names exactly these rows. It is cleared only when they have been handled without an error. A
note that names other rows blames innocent ones, and the poison record goes on killing. This module does no I/O: the shell keeps the note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Protocol

DEATHS = 3
"""A batch is put down to a poison record only after so many deaths."""

DEATHS_ALONE = 2
"""At so many of these the row was in flight alone: any process may be killed once from outside, whatever it handles."""

PARTS = 100
"""Number of parts into which the suspected rows are cut after each death."""

IN_FLIGHT_MAX = 512
"""Most batches that are handled together."""

VERDICTS_KEPT = 256
"""Number of batches, the latest ones, whose poison records are remembered."""


class InFlight(NamedTuple):
    """Batches that are being handled, by the ids of their frames; of a single one the rows [start, end)."""

    ids: tuple[int, ...] = ()
    start: int = 0
    end: int = 0


@dataclass
class PoisonSearch:
    """The search for the poison records of one batch.

    Attributes:
        deaths: deaths since the last record was found.
        start, end: the rows that were in flight at the last death; `end` is None until a death has named rows.
        alone: how many deaths in a row had exactly this one row in flight.
        poison: the poison records found, by row number, each with the number of deaths that it took.
    """

    deaths: int = 0
    start: int = 0
    end: int | None = None
    alone: int = 0
    poison: dict[int, int] = field(default_factory=dict)

    def on_death(self, start: int, end: int) -> None:
        """The task died while these rows were in flight."""
        known = self.alone if (start, end) == (self.start, self.end) else 0
        self.alone = known + 1 if end - start == 1 else 0
        self.deaths, self.start, self.end = self.deaths + 1, start, end
        if self.deaths >= DEATHS and self.alone >= DEATHS_ALONE:
            self.poison[start] = self.deaths
            self.reset()

    def reset(self) -> None:
        """Forget the suspected rows; records already found to be poison stay known."""
        self.deaths, self.start, self.end, self.alone = 0, 0, None, 0

    def parts(self, rows: int) -> Iterator[tuple[int, int]]:
        """All rows but the poison records, cut into parts [start, end): small ones where the last death was."""
        end = rows if self.end is None else min(self.end, rows)
        start = min(self.start, end)
        size = max(1, -(-(end - start) // PARTS))
        fine = range(start, end, size) if self.deaths else ()
        cuts = sorted({0, rows, start, end, *fine, *self.poison, *(row + 1 for row in self.poison)})
        yield from (part for part in pairwise(cuts) if part[0] not in self.poison)


class InFlightNote(Protocol):
    """Keeps, across the deaths of a task, what it is handling and its searches for poison records."""

    def read(self) -> InFlight:
        """What was in flight when the process before this one ended; nothing if it ended between two batches."""

    def write(self, ids: Sequence[int], start: int, end: int) -> None:
        """These are in flight from now on. The rows of several batches do not matter."""

    def clear(self) -> None:
        """Nothing is in flight."""

    def searches(self) -> dict[int, PoisonSearch]:
        """The searches that were last kept, by batch."""

    def keep(self, searches: dict[int, PoisonSearch]) -> None:
        """Keep these for the next process."""


class MemoryNote(InFlightNote):
    """A note for the simulator, which keeps it over the tasks that it kills."""

    def __init__(self) -> None:
        self._in_flight, self._searches = InFlight(), dict[int, PoisonSearch]()

    def read(self) -> InFlight:
        return self._in_flight

    def write(self, ids: Sequence[int], start: int, end: int) -> None:
        self._in_flight = InFlight(tuple(ids), start, end)

    def clear(self) -> None:
        self._in_flight = InFlight()

    def searches(self) -> dict[int, PoisonSearch]:
        return deepcopy(self._searches)

    def keep(self, searches: dict[int, PoisonSearch]) -> None:
        self._searches = deepcopy(searches)


class Quarantine:
    """What one task must not handle as it comes: suspected batches, and poison records."""

    def __init__(self, note: InFlightNote) -> None:
        self._note = note
        self._searches = note.searches()
        left = note.read()
        for batch in left.ids:
            search = self._searches.setdefault(batch, PoisonSearch())
            if len(left.ids) == 1:
                search.on_death(left.start, left.end)
            else:
                search.deaths += 1
        if left.ids:
            self._keep()
            note.clear()

    def is_suspected(self, batch: int) -> bool:
        """Whether the batch must be handled by itself."""
        return batch in self._searches

    def poison_of(self, batch: int) -> dict[int, int]:
        """The poison records of the batch, by row number, each with the number of deaths that it took to find it."""
        search = self._searches.get(batch)
        return search.poison if search else {}

    def parts(self, batch: int, rows: int) -> list[tuple[int, int]]:
        """The rows of a batch that may be handled, as parts [start, end). Handle each inside `in_flight`, then call `on_handled`."""
        search = self._searches.get(batch)
        return list(search.parts(rows)) if search else [(0, rows)]

    @contextmanager
    def in_flight(self, batches: Sequence[int], start: int = 0, end: int = 0) -> Iterator[None]:
        """Handle inside: the rows [start, end) of one batch, or several batches together, none of them suspected.

        An exception leaves the note as it is, for it ends the task: the simulator's deaths are exceptions, and a real death runs no code.
        """
        self._note.write(batches, start, end)
        yield
        self._note.clear()

    def on_handled(self, batch: int) -> None:
        """All parts of the batch were handled, and the task is alive: no other row of it is suspected."""
        search = self._searches.get(batch)
        if search is None:
            return
        search.reset()
        if not search.poison:
            del self._searches[batch]
        if all(one.poison and not one.deaths for one in self._searches.values()):
            self._keep()

    def _keep(self) -> None:
        verdicts = [batch for batch, search in self._searches.items() if search.poison]
        for batch in verdicts[:-VERDICTS_KEPT]:
            del self._searches[batch]
        self._note.keep(self._searches)
