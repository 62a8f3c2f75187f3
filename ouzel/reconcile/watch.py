"""A run compared again and again while it goes on: windows as they close, each once; what has no windows, all of it each time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ouzel.reconcile.accumulation import add_round
from ouzel.reconcile.comparing.answers import choose_sink, stream_answer
from ouzel.reconcile.comparing.cut import Cut, rows_within
from ouzel.reconcile.comparing.extent import extent
from ouzel.reconcile.comparing.horizon import Frontier
from ouzel.reconcile.reconciliation import TOLERANCE, Reconciliation, RoundFindings, reconcile
from ouzel.reconcile.recording.record import RunRecord
from ouzel.reconcile.recording.recorder import record_in
from ouzel.reconcile.recording.standing import Say, Standing, standing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ouzel.job import Job


ROUNDS = 200
"""The last so many rounds are kept for the report."""


@dataclass(frozen=True)
class Round:
    """One comparison of a run that goes on.

    Attributes:
        found: what was compared; None if no window had closed since the last look.
        windows: how many windows with rows that was.
        seconds: how long it took.
        over: the run had ended: there is nothing left to look at.
        closed_us: the watermark up to which its windows had closed; None if the input had ended.
    """

    found: Reconciliation | None
    windows: int
    seconds: float
    over: bool
    closed_us: int | None


class Watch:
    """Compares the run recorded in `home` round by round, in one Spark session; `total` is what all rounds have found.

    The arguments are those of `reconcile`. Of `total` the differences are those of the last round alone.
    """

    def __init__(
        self,
        job: Job,
        home: Path,
        spark: SparkSession,
        *,
        table: str = "",
        tolerance: float = TOLERANCE,
        cut: Cut = Cut(),
        say: Say = lambda text: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._job, self._home, self._spark, self._tolerance = job, home, spark, tolerance
        self._sink, self._cut, self._say, self._clock = choose_sink(job.program, table), cut, say, clock
        found = extent(self._sink)
        self._horizon = Frontier(self._sink, cut) if found is not None and found.windows else None
        self._told = False
        self.total: Reconciliation | None = None
        self.windows = 0

    @property
    def by_windows(self) -> bool:
        """Whether each round compares only the windows that have closed since, and leaves the run alone."""
        return self._horizon is not None

    def round(self) -> Round:
        """Compare what there is to compare now.

        Raises:
            OuzelError: the run cannot be asked, or Spark fails.
        """
        began = self._clock()
        with standing(self._home, self._sink, self.by_windows, self._say) as run:
            record = record_in(run.home)
            part = self._cut if self._horizon is None else self._horizon.following(record)
            found = None if part is None else self._compare_part(run, record, part)
            windows = self._windows(run, part) if part is not None and self.by_windows else 0
        if self._horizon is not None and part is not None:
            self._horizon.on_compared(record, part)  # only now: of a round that fails the windows are compared again
        seconds = self._clock() - began
        if found is not None:
            look = RoundFindings(datetime.now(UTC), record.closed_us, windows, found.matched, found.counts, seconds)
            before = self.total.rounds if self.total else ()
            total = found if self.total is None or not self.by_windows else add_round(self.total, found)
            self.total = replace(total, rounds=(*before, look)[-ROUNDS:])
            self.windows += windows
        return Round(found, windows, seconds, not run.live, record.closed_us)

    def _compare_part(self, run: Standing, record: RunRecord, part: Cut) -> Reconciliation:
        ranges = record.ranges
        if self._horizon is not None:
            ranges = self._horizon.starts(record, part)
            self._tell(self._horizon.why_from_the_start(record), run.live)
        narrow = replace(record, ranges=ranges)
        return reconcile(
            self._job, run.home, self._spark, table=self._sink.table, tolerance=self._tolerance, cut=part, record=narrow, live=run.live
        )  # fmt: skip

    def _tell(self, why: str, live: bool) -> None:
        if why and live and not self._told:
            self._say(f"each round reads its input from the start: {why}")
            self._told = True

    def _windows(self, run: Standing, part: Cut) -> int:
        """How many windows of this part the stream has rows of."""
        found = extent(self._sink)
        assert found is not None
        rows = rows_within(stream_answer(self._job, self._sink, run.home, self._spark), self._sink, part)
        columns = self._sink.columns or self._sink.input.schema
        return int(rows.select(f"`{rows.columns[columns.names.index(found.column)]}`").distinct().count())
