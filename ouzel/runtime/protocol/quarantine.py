"""Which batch kills its task: it is replayed to whoever comes up in the task's place, and kills that one too, for ever.

A task notes what it has in hand, and its successor reads what it died of. A batch that may have been the cause is handled by itself,
then in ever smaller parts, until the rows that kill are known; they are handled no more. Without I/O: the shell keeps the note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Protocol

DEATHS = 3
"""So many deaths over a batch make it one that kills."""

DEATHS_ALONE = 2
"""So many of these over that row alone, for any process may be killed once, whatever it has in hand."""

PARTS = 100
"""Into so many parts a batch is cut at each death."""

MOST_IN_HAND = 512
"""Batches that are handled together, at most."""

VERDICTS_KEPT = 256
"""Batches of which it is remembered which rows kill: those that came last."""


class InHand(NamedTuple):
    """Batches that are being handled, by the ids of their frames; of a single one the rows [start, end)."""

    ids: tuple[int, ...] = ()
    start: int = 0
    end: int = 0


@dataclass
class Suspect:
    """A batch that was in hand at `deaths` deaths, at the last of them the rows [start, end), at `alone` of them one row alone.

    The rows in `killers` have been found to kill, each with the number of deaths that it took.
    """

    deaths: int = 0
    start: int = 0
    end: int | None = None
    alone: int = 0
    killers: dict[int, int] = field(default_factory=dict)

    def blame(self, start: int, end: int) -> None:
        """The task died with these rows of it in hand."""
        known = self.alone if (start, end) == (self.start, self.end) else 0
        self.alone = known + 1 if end - start == 1 else 0
        self.deaths, self.start, self.end = self.deaths + 1, start, end
        if self.deaths >= DEATHS and self.alone >= DEATHS_ALONE:
            self.killers[start] = self.deaths
            self.clear()

    def clear(self) -> None:
        """The rest of the batch has been handled, or will be examined again."""
        self.deaths, self.start, self.end, self.alone = 0, 0, None, 0

    def parts(self, rows: int) -> Iterator[tuple[int, int]]:
        """The rows that are handled, cut into parts: small ones where the last death was."""
        end = rows if self.end is None else min(self.end, rows)
        start = min(self.start, end)
        size = max(1, -(-(end - start) // PARTS))
        fine = range(start, end, size) if self.deaths else ()
        cuts = sorted({0, rows, start, end, *fine, *self.killers, *(row + 1 for row in self.killers)})
        yield from (part for part in pairwise(cuts) if part[0] not in self.killers)


class Note(Protocol):
    """Keeps, across the deaths of a task, which batch it is handling and which batches are suspected."""

    def left(self) -> InHand:
        """What the process before had in hand when it ended; nothing if it ended otherwise."""

    def take(self, ids: Sequence[int], start: int, end: int) -> None:
        """This is in hand now; of several batches the rows do not matter."""

    def done(self) -> None:
        """Nothing is in hand."""

    def suspects(self) -> dict[int, Suspect]:
        """What was last kept."""

    def keep(self, suspects: dict[int, Suspect]) -> None:
        """Keep this for the next process."""


class MemoryNote:
    """A note for the simulator, which keeps it over the tasks it kills."""

    def __init__(self) -> None:
        self._hand, self._suspects = InHand(), dict[int, Suspect]()

    def left(self) -> InHand:
        """See Note."""
        return self._hand

    def take(self, ids: Sequence[int], start: int, end: int) -> None:
        """See Note."""
        self._hand = InHand(tuple(ids), start, end)

    def done(self) -> None:
        """See Note."""
        self._hand = InHand()

    def suspects(self) -> dict[int, Suspect]:
        """See Note."""
        return deepcopy(self._suspects)

    def keep(self, suspects: dict[int, Suspect]) -> None:
        """See Note."""
        self._suspects = deepcopy(suspects)


class Quarantine:
    """What one task must not handle as it comes: batches under suspicion, and rows that kill."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._suspects = note.suspects()
        left = note.left()
        for one in left.ids:
            suspect = self._suspects.setdefault(one, Suspect())
            if len(left.ids) == 1:
                suspect.blame(left.start, left.end)
            else:
                suspect.deaths += 1
        if left.ids:
            self._keep()
            note.done()

    def __contains__(self, batch: int) -> bool:
        """Whether the batch is to be handled by itself."""
        return batch in self._suspects

    def killers(self, batch: int) -> dict[int, int]:
        """The rows of the batch that kill the task, each with the number of deaths that told."""
        suspect = self._suspects.get(batch)
        return suspect.killers if suspect else {}

    def parts(self, batch: int, rows: int) -> Iterator[tuple[int, int]]:
        """The rows of one batch that may be handled, in parts [start, end); each is in hand until the next is asked for."""
        suspect = self._suspects.get(batch)
        for start, end in suspect.parts(rows) if suspect else ((0, rows),):
            self._note.take((batch,), start, end)
            yield start, end
        self._note.done()
        if suspect:
            self._on_survival(batch, suspect)

    @contextmanager
    def together(self, batches: Sequence[int]) -> Iterator[None]:
        """Inside, several batches are handled as one, none of them under suspicion."""
        self._note.take(batches, 0, 0)
        yield
        self._note.done()

    def _on_survival(self, batch: int, suspect: Suspect) -> None:
        suspect.clear()
        if not suspect.killers:
            del self._suspects[batch]
        if all(one.killers and not one.deaths for one in self._suspects.values()):
            self._keep()

    def _keep(self) -> None:
        verdicts = [one for one, suspect in self._suspects.items() if suspect.killers]
        for one in verdicts[:-VERDICTS_KEPT]:
            del self._suspects[one]
        self._note.keep(self._suspects)
