"""What one run leaves to the next besides its offsets. State does not survive a run.

An offset is given to the source to keep only when every row before it lies in windows that are closed, and written. With it goes a note:
how far windows had closed, so that the next run does not answer them again, and how far this one had read, so that rows which are read
again are not taken for late ones.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ouzel.connectors.reading import Committed
from ouzel.planner.keeping import Keeps
from ouzel.planner.topology import Component, Topology
from ouzel.runtime.protocol.messages import BEGINNING_OF_TIME, END_OF_TIME

_MARKS_MAX = 4_096


@dataclass(frozen=True)
class Past:
    """What a run before has left: how far its windows had closed, and how far it had read each partition.

    `strange` are partitions whose offsets were committed by what was not this query: rows before them are in no window of it.
    """

    closed_us: int = BEGINNING_OF_TIME
    read: Mapping[str, int] = field(default_factory=dict)
    strange: tuple[str, ...] = ()


def past_of(committed: Mapping[str, Committed], keeps: Keeps) -> Past:
    """What the notes say, of all partitions: what one of them calls closed is."""
    if keeps.forever:
        return Past(strange=tuple(committed))
    if not keeps.paths:
        return Past()
    notes = {
        name: note for name, place in committed.items() if (note := _read(place.note)).get("windows") == str(keeps)
    }
    return Past(
        max((int(note["closed_us"]) for note in notes.values()), default=BEGINNING_OF_TIME),
        {name: int(note["read"]) for name, note in notes.items()},
        tuple(name for name in committed if name not in notes and committed[name].note != ENDED),
    )


def sinks_below(topology: Topology, component: Component) -> set[str]:
    """The sinks that rows of the component reach, where windows of them are kept: none if there are no such."""
    todo = [component.name] if component.keeps.paths else []
    below: set[str] = set()
    while todo:
        for reader in topology.readers_of(todo.pop()):
            if reader.name not in below:
                below.add(reader.name)
                todo.append(reader.name)
    return {name for name in below if not topology.component(name).outputs}


ENDED = "ended"
"""The note of a run whose input has ended: it has closed all its windows."""


def _read(note: str) -> dict[str, Any]:
    try:
        found = json.loads(note)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


class StatelessPrefix:
    """The prefix of one partition, from `first` on, whose rows are acked and in no window that is still open.

    It is kept as marks: offsets, with the newest event time before each.
    """

    def __init__(self, first: int | None = None) -> None:
        self._marks: deque[tuple[int, int]] = deque()
        self.offset = first

    def on_acked(self, offset: int, newest_us: int) -> None:
        """All before `offset` is acked, and no row of it is newer than `newest_us`.

        There may be very many marks while a window is open for long. Then every second one is dropped: the prefix grows in longer steps.
        """
        if self._marks and self._marks[-1][1] == newest_us:
            self._marks.pop()
        self._marks.append((offset, newest_us))
        if len(self._marks) > _MARKS_MAX:
            self._marks = deque(list(self._marks)[1::2])

    def on_answered(self, answered_us: int) -> None:
        """No open window has rows older than that time: the prefix grows over the marks before it."""
        while self._marks and self._marks[0][1] < answered_us:
            self.offset = self._marks.popleft()[0]


def describe_resumption(past: Past, keeps: Keeps, resumes: bool) -> str:
    """What the user should know of where a source that resumes goes on; '' if it is simply where it was."""
    if past.strange:
        lost = "what it counts" if keeps.forever else "of windows that were open there it"
        return f"reading goes on at offsets that another version of this query committed: {lost} lacks the rows before them"
    if keeps.forever and resumes:
        return "what this query counts does not survive a stop, so it commits no offsets: each start reads again from where the first did"
    if past.closed_us > BEGINNING_OF_TIME:
        return f"windows up to {_moment(past.closed_us)} were answered by the run before; the rows of those that were open are read again"
    return ""


def describe_open_state(keeps: Keeps) -> str:
    """What the user should know when all is handled and the run may end there; '' if nothing is left open."""
    if keeps.forever:
        return "what is counted does not survive the end of this run: the next start reads all of it again"
    if keeps.paths:
        return "windows that are open do not survive the end of this run: the next start reads their rows again"
    return ""


def _moment(time_us: int) -> str:
    return str(datetime(1970, 1, 1) + timedelta(microseconds=time_us))


def place_to_keep(marks: StatelessPrefix, acked: int, read: int, keeps: Keeps, closed_us: int) -> Committed | None:
    """What the source is to keep of a partition that is read and acked so far, when the sinks have written all up to `closed_us`."""
    if keeps.forever:
        return None
    if not keeps.paths:
        return Committed(acked)
    if closed_us == END_OF_TIME:
        return Committed(acked, ENDED)
    if closed_us > BEGINNING_OF_TIME:
        marks.on_answered(keeps.answered_before(closed_us))
    if marks.offset is None:
        return None
    return Committed(marks.offset, json.dumps({"windows": str(keeps), "closed_us": closed_us, "read": read}))
