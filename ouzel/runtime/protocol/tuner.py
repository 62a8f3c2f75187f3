"""The auto-tuner of how many rows a spout may have on their way: machines without I/O or clock, told of the progress of each interval.

Two tables say what comes next. The paper's: Toshniwal et al., SIGMOD 2014, section 3.3.3. Heron's: its DefaultMaxSpoutPendingTuner, which
also restores when an increase was in vain, tries a decrease as well when nothing has changed for long, and decreases on as long as that
makes things better.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from ouzel.planner.settings import PendingTuning, Settings
from ouzel.runtime.protocol.acker import Acker

FACTOR = 0.25
"""An increase is by so much of the limit, a decrease by that or more."""

SIMILAR = 0.05
"""Progress that differs by less than this share from the last is similar."""

PATIENCE = 5
"""After so many intervals of similar progress something is tried."""

MAX_FACTOR = 64
"""A tuner raises the limit to at most so many times what the settings say."""


class _Action(Enum):
    NO_CHANGE = "no change"
    INCREASE = "increase"
    DECREASE = "decrease"
    RESTORE = "restore"


class Tuner(Protocol):
    """Finds a limit: `limit` is in rows."""

    limit: int

    def tune(self, progress: int) -> None:
        """An interval is over in which so many rows came through."""


class _Limit:
    """What both tuners share: a limit between `step` and `most`, changed by a `step` at least, and what it was before the last increase."""

    def __init__(self, limit: int, step: int, most: int) -> None:
        self.limit, self._step, self._least, self._most = limit, step, min(step, limit), max(most, limit)
        self._before_increase = limit
        self._last = -1
        self._action = _Action.NO_CHANGE
        self._unchanged = 0

    def _increase(self) -> None:
        self._before_increase = self.limit
        self.limit = min(self._most, self.limit + max(self._step, round(FACTOR * self.limit)))
        self._action, self._unchanged = _Action.INCREASE, 0

    def _decrease(self, share: float) -> None:
        self.limit = max(self._least, self.limit - max(self._step, round(share * self.limit)))
        self._action, self._unchanged = _Action.DECREASE, 0

    def _drop(self, progress: int) -> float:
        """By which share there was less progress than in the interval before; never less than a step."""
        return max(FACTOR, (self._last - progress) / self._last)


class PaperTuner(_Limit):
    """By the table of the Storm paper."""

    def tune(self, progress: int) -> None:
        """An interval is over in which so many rows came through."""
        change = _compare(progress, self._last, SIMILAR) if self._last >= 0 else 1
        if change > 0:
            self._increase()
        elif change < 0 and self._action is not _Action.DECREASE:
            self._decrease(self._drop(progress))
        elif self._action is _Action.NO_CHANGE:
            self._wait()
        else:
            self._rest()
        self._last = progress

    def _wait(self) -> None:
        self._unchanged += 1
        if self._unchanged >= PATIENCE:
            self._increase()

    def _rest(self) -> None:
        """What was done last changed nothing, or made it worse: an increase is taken back."""
        if self._action is _Action.INCREASE:
            self.limit = self._before_increase
        self._action = _Action.NO_CHANGE


class HeronTuner(_Limit):
    """As Heron's code does it."""

    def __init__(self, limit: int, step: int, most: int) -> None:
        super().__init__(limit, step, most)
        self._last_before_increase = -1
        self._increases_next = True

    def tune(self, progress: int) -> None:
        """An interval is over in which so many rows came through."""
        match self._action:
            case _Action.NO_CHANGE:
                self._after_no_change(progress)
            case _Action.INCREASE:
                self._after_increase(progress)
            case _Action.DECREASE:
                self._after_decrease(progress)
            case _Action.RESTORE:
                self._rest(progress)

    def _after_no_change(self, progress: int) -> None:
        change = _compare(progress, self._last, SIMILAR) if self._last >= 0 else 1
        if change > 0:
            self._raise(progress)
        elif change < 0:
            self._lower(progress, self._drop(progress))
        else:
            self._unchanged += 1
            if self._unchanged >= PATIENCE:
                self._try(progress)

    def _try(self, progress: int) -> None:
        """Up and down in turn."""
        if self._increases_next:
            self._raise(progress)
        else:
            self._lower(progress, FACTOR)
        self._increases_next = not self._increases_next

    def _after_increase(self, progress: int) -> None:
        if _compare(progress, self._last, FACTOR - SIMILAR) > 0:
            self._raise(progress)
        elif _compare(progress, self._last, SIMILAR) < 0 and self._drop(progress) > FACTOR:
            self._lower(progress, self._drop(progress))
        else:
            self.limit, self._last = self._before_increase, self._last_before_increase
            self._action, self._unchanged = _Action.RESTORE, 0

    def _after_decrease(self, progress: int) -> None:
        if _compare(progress, self._last, SIMILAR) > 0:
            self._lower(progress, FACTOR)
        else:
            self._rest(progress)

    def _rest(self, progress: int) -> None:
        self._action, self._last = _Action.NO_CHANGE, progress

    def _raise(self, progress: int) -> None:
        self._last_before_increase, self._last = self._last, progress
        self._increase()

    def _lower(self, progress: int, share: float) -> None:
        self._last = progress
        self._decrease(share)


def _compare(progress: int, last: int, bound: float) -> int:
    """1 for more progress than the last, -1 for less, 0 where they differ by less than a share of the last."""
    if abs(progress - last) < bound * last:
        return 0
    return (progress > last) - (progress < last)


_TUNERS: dict[PendingTuning, type[PaperTuner] | type[HeronTuner]] = {
    PendingTuning.PAPER: PaperTuner,
    PendingTuning.HERON: HeronTuner,
}


class PendingLimit:
    """How many rows of a spout may be on their way: what the settings say, or what a tuner makes of that.

    An interval in which the limit never held the spout back, or nothing at all came through, says nothing of the limit: the input was
    slow, or the world behind a sink stood still.
    """

    def __init__(self, settings: Settings) -> None:
        self.rows, self._batch = settings.max_pending_rows, settings.batch_rows
        kind = _TUNERS.get(settings.max_pending_tuning)
        self._tuner: Tuner | None = kind(self.rows, self._batch, MAX_FACTOR * self.rows) if kind else None
        self._every_ms = settings.max_pending_interval_ms
        self._acked = self._until_ms = -1.0
        self._bound = False

    def has_room(self, acker: Acker) -> bool:
        """Whether one more batch may be on its way."""
        room = acker.has_room(self._batch, self.rows)
        self._bound |= not room
        return room

    def observe(self, rows_acked: int, now_ms: float) -> None:
        """So many rows have been acked so far."""
        if self._tuner is None or now_ms < self._until_ms:
            return
        progress = rows_acked - int(self._acked)
        if self._until_ms >= 0 and self._bound and progress > 0:
            self._tuner.tune(progress)
            self.rows = self._tuner.limit
        self.restart(rows_acked, now_ms)

    def restart(self, rows_acked: int, now_ms: float) -> None:
        """A new interval begins: what was seen of this one says nothing."""
        self._acked, self._until_ms, self._bound = rows_acked, now_ms + self._every_ms, False
