"""What a stateful task remembers of the frames it has handled, so that a replay changes nothing twice.

An entry is kept until all roots of its frame are settled, for until then the frame may come again. What was emitted for it is kept
too: a replay may be due to just that having been lost. The idea is MillWheel's (Akidau et al., VLDB 2013, section 5.1), a batch at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from ouzel.runtime.protocol.messages import Data, Root

EPOCH_MEMORY = 4_096
"""After a root's holder has come up anew, what it emitted before is remembered for so many of its new batches."""

LOOKED_AT = 64
"""So many old entries are looked at for each note, and two more for each frame in it: forgetting keeps pace with what is added."""


class Entry:
    """One handled frame: what was emitted for it, and the newest roots it came under."""

    __slots__ = ("outputs", "roots")

    def __init__(self, roots: Iterable[Root], outputs: Sequence[Data]) -> None:
        self.roots = {root.task: root.sequence for root in roots}
        self.outputs = outputs


class Ledger:
    """Frames handled and not yet settled, by id."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}
        self._settled: dict[int, int] = {}
        self._order: deque[int] = deque()

    def __len__(self) -> int:
        return len(self._entries)

    def recall(self, frame: Data) -> Entry | None:
        """The entry of a frame that was handled before; its roots become those of the new attempt."""
        entry = self._entries.get(frame.id)
        if entry is not None:
            for root in frame.roots:
                entry.roots[root.task] = max(root.sequence, entry.roots.get(root.task, 0))
        return entry

    def note(self, frames: Iterable[Data], outputs: Sequence[Data]) -> None:
        """These frames have been handled together, and that is what was emitted for them."""
        before = len(self._order)
        for frame in frames:
            self._entries[frame.id] = Entry(frame.roots, outputs)
            self._order.append(frame.id)
            for root in frame.roots:
                if root.settled > self._settled.get(root.task, 0):
                    self._settled[root.task] = root.settled
        self._forget(LOOKED_AT + 2 * (len(self._order) - before))

    def _forget(self, most: int) -> None:
        """Drop settled ones of the `most` oldest entries; one that is not settled goes to the young end, so that it stops nothing."""
        for _ in range(min(len(self._order), most)):
            frame_id = self._order[0]
            entry = self._entries.get(frame_id)
            if entry is not None and not all(
                self._is_settled(task, sequence) for task, sequence in entry.roots.items()
            ):
                if len(self._order) <= LOOKED_AT:
                    return
                self._order.rotate(-1)
                continue
            self._order.popleft()
            self._entries.pop(frame_id, None)

    def _is_settled(self, task: int, sequence: int) -> bool:
        settled = self._settled.get(task, 0)
        if settled >> 32 == sequence >> 32:
            return sequence < settled
        return sequence < settled and settled & 0xFFFFFFFF > EPOCH_MEMORY
