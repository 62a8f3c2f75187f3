"""The acker of one task: the batches it holds until everything that came of them has been handled.

XOR bookkeeping as in Storm (Toshniwal et al., SIGMOD 2014, section 2.3.1), a whole batch at a time, in the task that holds the batch:
so a stream manager that dies takes no bookkeeping with it. Knows no sockets and no clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ouzel.runtime.protocol.messages import Ack, Data, Root

EVERYTHING = 0
"""The sequence in a Fail that means all that is held."""

RESEND_PAUSE_MS = 50
"""Several tasks that come up together ask for the same batches: wait so long, then send once."""


DOUBLINGS_MAX = 5
"""The timeout is doubled each time that it passes in vain, so often."""

STALL_HOLDS_MS = 300.0
"""A stall that is told of holds for so long; who is stalled says so again before."""


class RunningTime:
    """Time that runs against batches: it stands still while a sink waits for what it writes to, or who counts it has no core."""

    def __init__(self) -> None:
        self._seen_ms = self._stood_ms = self._counted_ms = 0.0
        self._stalled_until_ms = -math.inf

    def on_starved(self, waited_ms: float, now_ms: float) -> None:
        """Of the time since it was last told, whoever counts it had to wait so long for a core; it does not run backwards for that."""
        running_ms = self.at(now_ms)
        self._stood_ms += max(0.0, min(waited_ms, running_ms - self._counted_ms))
        self._counted_ms = self.at(now_ms)

    def on_stall(self, now_ms: float) -> None:
        """A sink waits, now."""
        self.at(now_ms)
        self._stalled_until_ms = now_ms + STALL_HOLDS_MS

    def at(self, now_ms: float) -> float:
        """The running time at a time that is no earlier than that of any call before."""
        self._stood_ms += max(0.0, min(now_ms, self._stalled_until_ms) - self._seen_ms)
        self._seen_ms = now_ms
        return now_ms - self._stood_ms


@dataclass(slots=True)
class PendingBatch:
    """One batch on its way, and how far its acks are.

    Attributes:
        sequence: the number of its root.
        messages: what was sent, to be sent again; empty if nothing was.
        rows: how many rows it counts for in `max.pending.rows`.
        token: the holder's own.
        attempt: how often it was sent again; acks of earlier attempts are void.
        xor: the ids of all messages below the root that are not acked, by exclusive or; 0 when the tree is done.
        emitted_ms: when it was first sent.
        sent_ms: when it was last sent, in running time.
        timeouts: how often it timed out; each doubles the next timeout.
    """

    sequence: int
    messages: Sequence[Data]
    rows: int
    token: object
    attempt: int
    xor: int
    emitted_ms: float
    sent_ms: float
    timeouts: int = 0


class Acker:
    """Holds what one task emitted as roots. Sequences carry the incarnation (how often the task was started) in their upper half."""

    def __init__(
        self, task: int, incarnation: int, timeout_ms: float, tracked: bool = True, commits: bool = False
    ) -> None:
        self.task, self.timeout_ms, self.tracked = task, timeout_ms, tracked
        self.newest = incarnation << 32
        self.pending: dict[int, PendingBatch] = {}
        self.pending_rows = 0
        self._committed: int | None = self.settled if commits else None
        self._time = RunningTime()
        self._progress_ms = self._tried_ms = 0.0
        self._through_ms = -math.inf
        self._silences = 0
        self._resend_at: float | None = None

    @property
    def settled(self) -> int:
        """Every sequence below this one is wholly acked."""
        return next(iter(self.pending), self.newest + 1)

    @property
    def forgettable(self) -> int:
        """What roots tell receivers: below it nothing comes again, not even after a crash of this task.

        Of a holder that commits this waits for `on_committed`: what it has acked but not committed its successor would read once more.
        """
        return self.settled if self._committed is None else min(self.settled, self._committed)

    def on_committed(self, below: int) -> None:
        """All batches below this sequence are committed: nothing of them is read again."""
        self._committed = below

    def has_room(self, rows: int, most: int) -> bool:
        """Whether `rows` more may be on their way when at most `most` may; one batch always may."""
        return not self.pending_rows or self.pending_rows + rows <= most

    def is_behind(self, now_ms: float) -> bool:
        """Whether acks come in, but so late that what is emitted now would be replayed before it is handled."""
        oldest = next(iter(self.pending.values()), None)
        moves = self._time.at(now_ms) - self._progress_ms < self.timeout_ms / 2
        return moves and oldest is not None and now_ms - oldest.emitted_ms >= self.timeout_ms / 2

    def next_root(self) -> Root:
        """The root of the batch that is emitted next."""
        settled = self.forgettable  # before this batch is counted: it is not settled itself
        self.newest += 1
        return Root(self.task, self.newest, 0, settled)

    def hold(
        self, root: Root, messages: Sequence[Data], rows: int, token: object, now_ms: float
    ) -> PendingBatch | None:
        """Hold what was emitted under `root`; gives it back at once when there is nothing to wait for."""
        xor = 0
        for message in messages:
            xor ^= message.id
        sent_ms = self._time.at(now_ms)
        held = PendingBatch(root.sequence, messages, rows, token, 0, xor, now_ms, sent_ms)
        if not self.tracked or not messages:
            return held
        if not self.pending:
            self._progress_ms = sent_ms
        self.pending[root.sequence] = held
        self.pending_rows += rows
        return None

    def on_ack(self, ack: Ack, now_ms: float) -> PendingBatch | None:
        """Fold in one ack; the batch, once its whole tree is done. An ack of an earlier attempt is void."""
        held = self.pending.get(ack.root.sequence)
        if held is None or held.attempt != ack.root.attempt:
            return None
        held.xor ^= ack.xor
        self._progress_ms, self._silences = self._time.at(now_ms), 0
        if held.xor:
            return None
        self._through_ms = max(self._through_ms, held.sent_ms)
        self.pending_rows -= held.rows
        return self.pending.pop(ack.root.sequence)

    def hold_here(self, rows: int, token: object, now_ms: float) -> PendingBatch:
        """Hold a batch that the holder itself handles: no message of it travels, so none is sent again. `on_handled` lets it go."""
        self.newest += 1
        held = PendingBatch(self.newest, (), rows, token, 0, 0, now_ms, self._time.at(now_ms))
        self.pending[held.sequence] = held
        self.pending_rows += rows
        return held

    def on_handled(self, held: PendingBatch) -> PendingBatch:
        """A batch that was held here is done."""
        self.pending_rows -= self.pending.pop(held.sequence).rows
        return held

    def abandon(self, held: PendingBatch) -> None:
        """Hold this batch no more, nor send it again: its rows come another way. Acks of it are void."""
        self.pending_rows -= self.pending.pop(held.sequence).rows

    def on_stall(self, now_ms: float) -> None:
        """A sink waits for what it writes to, or a task handles some of it: meanwhile no time runs against what is pending."""
        self._time.on_stall(now_ms)

    def on_starved(self, waited_ms: float, now_ms: float) -> None:
        """The holder waited so long for a core since it last said so: where it has none, those who are to ack have none either."""
        self._time.on_starved(waited_ms, now_ms)

    def on_fail(self, root: Root, now_ms: float) -> list[PendingBatch]:
        """What to send again at once; a Fail of everything is only noted, and `take_overdue` gives it a moment later."""
        if root.sequence == EVERYTHING:
            if self.pending and self._resend_at is None:
                self._resend_at = now_ms + RESEND_PAUSE_MS
            return []
        held = self.pending.get(root.sequence)
        if held is None or held.attempt != root.attempt:
            return []
        return [self._again(held, now_ms)]

    def take_overdue(self, now_ms: float) -> list[PendingBatch]:
        """What to send again now.

        Time runs against a batch only while others are acked: one that is still pending a whole timeout after it was sent, although
        later ones came through, is lost; when nothing at all has come through for so long, all of it is tried once more. Either is done
        later and later: what takes long is not helped by more of it.
        """
        if self._resend_at is not None and now_ms >= self._resend_at:
            self._resend_at = None
            return [self._again(held, now_ms) for held in self.pending.values()]
        running_ms = self._time.at(now_ms)
        if running_ms - self._progress_ms < self.timeout_ms:
            late = [held for held in self.pending.values() if held.sent_ms < self._through_ms]
            late = [held for held in late if running_ms - held.sent_ms >= self._patience(held.timeouts)]
            for held in late:
                held.timeouts += 1
        elif running_ms - max(self._progress_ms, self._tried_ms) >= self._patience(self._silences):
            late = [held for held in self.pending.values() if running_ms - held.sent_ms >= self.timeout_ms]
            if late:
                self._silences, self._tried_ms = self._silences + 1, running_ms
        else:
            late = []
        return [self._again(held, now_ms) for held in late]

    def _patience(self, timeouts: int) -> float:
        return self.timeout_ms * 2.0 ** min(timeouts, DOUBLINGS_MAX)

    def _again(self, held: PendingBatch, now_ms: float) -> PendingBatch:
        held.attempt += 1
        held.sent_ms = self._time.at(now_ms)
        root = Root(self.task, held.sequence, held.attempt, self.forgettable)
        held.messages = [replace(message, roots=(root,)) for message in held.messages]
        held.xor = 0
        for message in held.messages:
            held.xor ^= message.id
        return held
