"""AssignSession: rows are kept by key until their session has ended, which is when no row can come any more that belongs to it.

A session that has ended is remembered for as long as a row may come that would have belonged to it and is not late by its own time: such
a row is late as well, for what was told of the session stays. So the sessions told are those of all rows that were not dropped.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from ouzel.compiler.plan import WEIGHT, AssignSession
from ouzel.runtime.operators.base import Operator
from ouzel.runtime.operators.buffers import Ints, Mask, numbers, valid_rows
from ouzel.runtime.operators.consolidate import consolidate
from ouzel.runtime.operators.keyed.groups import row_weights
from ouzel.runtime.operators.rowwise.rows import refuse_rows, us_of
from ouzel.runtime.operators.rowwise.windows import describe_missing_time, with_window
from ouzel.runtime.state.context import StateContext
from ouzel.runtime.state.index import Slots
from ouzel.runtime.state.positions import take_rows

_FAR = 1 << 61
"""Later than all times. What is kept of a moment is how much earlier it is, so that 0, with which a slot begins, is never."""


class Sessions:
    """Rows of some keys, each once, key by key and in the order of their times, with start and end of their sessions."""

    def __init__(self, rows: Slots, owners: Slots, times: Ints, gap_us: int) -> None:
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = (owners[1:] != owners[:-1]) | (times[1:] - times[:-1] > gap_us)
        first = np.flatnonzero(begins)
        last = np.append(first, len(rows))[1:] - 1
        number = np.cumsum(begins) - 1
        self.rows, self.owners = rows, owners
        self.starts, self.ends = times[first][number], times[last][number] + gap_us
        self.first = first


class SessionAssignment(Operator):
    """The operator of AssignSession."""

    stateful = True
    delay_us = 1
    """A row that comes just at a session's end goes on with it, so what closes windows behind this must not close it a moment before."""

    def __init__(self, node: AssignSession, seed: int) -> None:
        super().__init__()
        self._node, self._seed, self._gap_us = node, seed, node.gap_us
        row, kind = node.input.schema.polars(), node.input.schema[node.column].type
        self._names, self._kind = list(row), kind
        self.state = StateContext(node.stable_id, seed, node.keys)
        self._table = self.state.table("keys", {key: row[key] for key in node.keys})
        self._due = self._table.columns("due", {"before": np.int64})
        self._rows = self.state.bag("rows", self._table, row, node.column)
        self._ended = self.state.bag("ended", self._table, {"start": pl.Int64(), "end": pl.Int64()})
        self._time_us = self.state.value("time_us", -_FAR)
        self._next_us = _FAR

    def fresh(self) -> Operator:
        return SessionAssignment(self._node, self._seed)

    def on_restored(self) -> None:
        """Find the first moment at which something ends."""
        self._find_next()

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """Keep the rows that are in time; with `changes`, what they change."""
        missing = valid_rows(frame[self._node.column])
        if missing is not None:
            refuse_rows(self, frame, ~missing, *describe_missing_time(self._node))
            frame = frame.filter(missing)
        if not frame.height:
            return None
        weights, frame = row_weights(frame), frame.select(self._names)
        key, owners, _, touched = self._table.enter(frame, self._node.keys)
        late = self._is_late(owners, touched, self._times(frame))
        if late.any():
            dropped = frame.filter(late)
            if self._node.input.retracts:
                dropped = dropped.with_columns(pl.Series(WEIGHT, weights[late]))
            self.drop_late(dropped, int(np.abs(weights[late]).sum()))
            kept = np.flatnonzero(~late)
            frame, weights, owners, key = (
                take_rows(frame, kept),
                weights[kept],
                owners[kept],
                (key[0][kept], key[1][kept]),
            )
        before = self._say(touched, -1) if self._node.changes else None
        self._add(frame, weights, owners, key)
        changes = None if before is None else consolidate(pl.concat([before, self._say(touched, 1)]))
        self._table.release(touched)
        return changes if changes is not None and changes.height else None

    def advance(self, watermark_us: int) -> pl.DataFrame | None:
        """Let go of the sessions that have ended; without `changes` this is when their rows are given."""
        self._time_us.value = max(self._time_us.value, min(watermark_us, _FAR))
        if self._time_us.value < self._next_us:
            return None
        slots = self._table.index.slots()
        due = slots[self._due["before"][slots] >= _FAR - self._time_us.value]
        out = self._end(due)
        self._table.release(due)
        self._find_next()
        return out

    def _times(self, rows: pl.DataFrame) -> Ints:
        return numbers(rows[self._node.column]) * us_of(self._kind)

    def _is_late(self, owners: Slots, touched: Slots, times: Ints) -> Mask:
        """Which rows have ended by themselves, or belong to a session that has."""
        late: Mask = times + self._gap_us <= self._time_us.value
        ended = self._ended.of(touched)
        if ended.size:
            spans = self._ended.frame(ended).with_columns(pl.Series("owner", self._ended.owners(ended)))
            rows = pl.DataFrame({"owner": owners, "at": times, "row": np.arange(len(times))})
            near = (pl.col("at") <= pl.col("end")) & (pl.col("at") + self._gap_us >= pl.col("start"))
            late[rows.join(spans, on="owner").filter(near)["row"].to_numpy()] = True
        return late

    def _add(self, frame: pl.DataFrame, weights: Ints, owners: Slots, key: tuple[np.ndarray, np.ndarray]) -> None:
        if not frame.height:
            return
        slots = self._rows.find_or_put(key, owners, frame)
        self._rows.add(slots, weights)
        self._rows.sweep(slots)
        self._let_come(owners, self._times(frame) + self._gap_us)

    def _let_come(self, owners: Slots, at_us: Ints) -> None:
        """Look at each owner when its time has come, if that is before it would be looked at."""
        np.maximum.at(self._due["before"], owners, _FAR - at_us)
        self._next_us = min(self._next_us, int(at_us.min())) if at_us.size else self._next_us

    def _find_next(self) -> None:
        before = self._due["before"][self._table.index.slots()]
        self._next_us = _FAR - int(before.max()) if before.size else _FAR

    def _sessions(self, owners: Slots) -> Sessions:
        rows = self._rows.of(owners)
        return Sessions(rows, self._rows.owners(rows), self._times(self._rows.frame(rows)), self._gap_us)

    def _give(self, found: Sessions, chosen: Ints) -> pl.DataFrame:
        """Those rows with their sessions, each as often as it weighs."""
        chosen = np.repeat(chosen, self._rows.weights[found.rows[chosen]])
        frame = self._rows.frame(found.rows[chosen])
        return with_window(frame, self._node.names, self._kind, found.starts[chosen], found.ends[chosen])

    def _say(self, owners: Slots, weight: int) -> pl.DataFrame:
        found = self._sessions(owners)
        rows = self._give(found, np.arange(len(found.rows)))
        return rows.with_columns(pl.lit(weight, pl.Int64).alias(WEIGHT))

    def _end(self, owners: Slots) -> pl.DataFrame | None:
        """The rows of the sessions of these keys that have ended, which are kept no more; of the others, when they may end."""
        now_us, found = self._time_us.value, self._sessions(owners)
        over = found.ends <= now_us
        out = None if self._node.changes else self._give(found, np.flatnonzero(over))
        self._table.mark_changed(owners)
        self._due["before"][owners] = 0
        self._remember(owners, found, found.first[over[found.first]])
        going = found.first[~over[found.first]]
        self._let_come(found.owners[going], found.ends[going])
        rows = self._rows.of_any_weight(owners)
        stale = self._times(self._rows.frame(rows)) + self._gap_us <= now_us
        unmatched = rows[stale & (self._rows.weights[rows] <= 0)]
        self._rows.remove(np.union1d(found.rows[over], unmatched))
        return out if out is not None and out.height else None

    def _remember(self, owners: Slots, found: Sessions, first: Ints) -> None:
        """These sessions have ended; forget those of which no row can come any more that is not late by itself."""
        if len(first):
            key = self._table.index.hashes(found.owners[first])
            spans = pl.DataFrame({"start": found.starts[first], "end": found.ends[first]})
            slots = self._ended.find_or_put(key, found.owners[first], spans)
            self._ended.weights[slots] = 1
        kept = self._ended.of(owners)
        until_us = self._ended.frame(kept)["end"].to_numpy() + self._gap_us
        old = until_us <= self._time_us.value
        self._let_come(self._ended.owners(kept[~old]), until_us[~old])
        self._ended.remove(kept[old])
