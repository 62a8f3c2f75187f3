"""Operators that look at each row by itself: Project, Filter, Watermark, Unnest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import cast

import numpy as np
import polars as pl

from ouzel.compiler.coercion import is_numeric
from ouzel.compiler.expressions import Call, Column, Expression, Literal, columns_of, walk_expression
from ouzel.compiler.functions.kernel import lower
from ouzel.compiler.plan import OWN_NAMES, WEIGHT, Project, Unnest, Watermark
from ouzel.compiler.types import BOOLEAN, DataType, DateType, MapType, RowType, TimestampType
from ouzel.connectors.dead_letters import rows_as_json
from ouzel.runtime.operators.base import Operator, RefusedRow
from ouzel.runtime.operators.buffers import Ints, Mask, keep_rows
from ouzel.runtime.operators.culprits import culprits, describe_culprit, reasons_of
from ouzel.runtime.operators.rowwise.odd_times import find_short_delay, find_thousandths
from ouzel.runtime.operators.rowwise.tried_casts import TriedCasts
from ouzel.runtime.operators.sharing import Shared, share_parts
from ouzel.runtime.protocol.lag import Sight

_ERROR = "$error"
_OWN_NAME = re.compile(rf"\$(?:column|key|value|result|{'|'.join(sorted(OWN_NAMES))})(?:_end|_time)?\d*")
"""What stands beside a user's row, and is no part of what he is shown of it: columns of a subquery, and those without a name, too."""


def weight_of(frame: pl.DataFrame) -> list[str]:
    """The name of the weight column, if the frame has one."""
    return [WEIGHT] if frame.columns[-1:] == [WEIGHT] else []


def refuse_rows(
    operator: Operator, frame: pl.DataFrame, bad: Mask, reason: str | Sequence[str], detail: str = ""
) -> None:
    """Put the rows of `frame` where `bad` on the operator's list, all for one reason or each for its own."""
    rows = frame.filter(bad)
    own = [name for name in rows.columns if _OWN_NAME.fullmatch(name)]
    shown = rows_as_json(rows.drop(own)) if len(own) < rows.width else ["{}"] * rows.height
    reasons = [reason] * rows.height if isinstance(reason, str) else reason
    operator.counters.refused += rows.height
    operator.refused += [RefusedRow(why, row, detail) for why, row in zip(reasons, shown, strict=True)]


class Computing(Operator):
    """Base: evaluates expressions and refuses the rows that fail."""

    def __init__(self, items: Sequence[tuple[str, Expression]]) -> None:
        super().__init__()
        self._items = tuple(items)
        self._handed: list[str] = []
        self._tried = TriedCasts(expression for _, expression in items)
        lowered = [lower(expression) for _, expression in items]
        self._failing = [
            expression for (_, expression), one in zip(items, lowered, strict=True) if one.error is not None
        ]
        self._compute_as(share_parts([expression for _, expression in items], self._failing))

    def _compute_as(self, shared: Shared) -> None:
        """Compute the items so; `_failing` stays what the user wrote."""
        lowered = [lower(expression) for expression in shared.expressions]
        self._steps = shared.columns()
        self._values = [one.value.alias(name) for one, (name, _) in zip(lowered, self._items, strict=True)]
        self._errors = [one.error for one in lowered if one.error is not None]
        self._repeats = _repeat_work(shared.expressions)

    def compute(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The frame without the rows that fail, and beside it the computed columns.

        Constants alone give one row. So does, in Polars 2.1, a constant compared with a column that repeats one value and is held as that
        value, or it is an error. Then the columns are written out, and the values put beside them.
        """
        if self._tried:
            self.notes += self._tried.look(frame)
        try:
            kept, computed = self._beside(frame) if self._failing else (frame, self._select(frame))
            if kept.height == computed.height:
                return kept, computed
        except (pl.exceptions.ShapeError, pl.exceptions.InvalidOperationError):
            pass
        return self._beside(pl.DataFrame(frame.get_columns()))

    def _with_shared(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame after the columns that several values are computed of."""
        for step in self._steps:
            frame = frame.select_seq([*step, pl.all()])
        return frame

    def _select(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The values alone. Only a lazy frame computes once what two functions do alike, and making one takes longer than small sums."""
        return self._pick(self._with_shared(frame))

    def _pick(self, wide: pl.DataFrame) -> pl.DataFrame:
        return wide.lazy().select(self._values).collect() if self._repeats else wide.select_seq(self._values)

    def _beside(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The same, with the values computed as columns of the frame, and the rows that fail refused."""
        wanted = [*self._values, *(error.alias(f"{_ERROR}{number}") for number, error in enumerate(self._errors))]
        wide = self._with_shared(frame)
        computed = wide.lazy().with_columns(wanted).collect() if self._repeats else wide.with_columns_seq(wanted)
        masks = [computed[f"{_ERROR}{number}"] for number in range(len(self._errors))]
        good = self._refuse(frame, masks)
        computed = computed[[name for name, _ in self._items]]
        return (frame, computed) if good is None else (frame.filter(good), computed.filter(good))

    def _refuse(self, frame: pl.DataFrame, masks: list[pl.Series]) -> Mask | None:
        """Refuse each failing row once, for the first of its reasons; the mask of the good ones, None if all are."""
        bad: Mask | None = None
        for expression, series in zip(self._failing, masks, strict=True):
            if series.any():
                mask = series.to_numpy()
                fresh = mask if bad is None else mask & ~bad
                for part, rows in culprits(expression, frame, fresh):
                    failing = frame.filter(rows)
                    why = reasons_of(part, failing)
                    refuse_rows(self, frame.drop(self._handed), rows, why, describe_culprit(part, failing))
                bad = mask if bad is None else mask | bad
        return None if bad is None else ~bad


def _repeat_work(expressions: Sequence[Expression]) -> bool:
    """Whether one function of a text, a time or an array is called twice for the same one, as SPLIT_INDEX is for two pieces of a text.

    Of numbers, and where the answer is a BOOLEAN, computing it again takes less time than making a lazy frame.
    """
    calls = Counter(
        (part.function, part.arguments[0])
        for one in expressions
        for part in walk_expression(one)
        if isinstance(part, Call) and part.arguments and part.type != BOOLEAN and not is_numeric(part.arguments[0].type)
    )
    return max(calls.values(), default=0) > 1


class Passing(Operator):
    """Scan, Sink: what the task itself does."""

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The rows as they are."""
        return frame


class Projection(Computing):
    """Project: computes the output's columns."""

    def __init__(self, node: Project) -> None:
        super().__init__(node.items)
        self._names = [name for name, _ in node.items]
        plain = all(isinstance(expression, Column) for _, expression in node.items)
        self._sources = (
            [expression.name for _, expression in node.items if isinstance(expression, Column)] if plain else None
        )

    def share_with(self, predicate: Expression) -> Shared:
        """What stands in the predicate and in what is computed here; the predicate is the first of the expressions."""
        return share_parts((predicate, *(expression for _, expression in self._items)), self._failing, within=predicate)

    def take(self, given: Sequence[str], expressions: Sequence[Expression]) -> None:
        """Compute the items as these expressions, which read the columns `given` besides."""
        self._handed = list(given)
        failing = [one for one, (_, item) in zip(expressions, self._items, strict=True) if item in self._failing]
        self._compute_as(share_parts(expressions, failing))

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The computed columns, with the weight if there is one."""
        weight = weight_of(frame)
        if self._sources is not None:
            columns = [frame[source].alias(name) for source, name in zip(self._sources, self._names, strict=True)]
            return pl.DataFrame([*columns, *(frame[name] for name in weight)])
        kept, computed = self.compute(frame)
        return computed.hstack([kept[WEIGHT]]) if weight else computed


class Selection(Computing):
    """Filter: keeps the rows whose predicate is TRUE."""

    def __init__(self, predicate: Expression) -> None:
        super().__init__([("$keep", predicate)])
        self._given: list[str] = []

    def hand_on(self, projection: Projection) -> None:
        """Compute what the predicate and the projection that alone reads these rows have alike once, and hand it on as columns.

        Not of a predicate that may fail: its rows are looked at again as they came.
        """
        ((_, predicate),) = self._items
        shared = projection.share_with(predicate)
        if shared.parts and not self._failing:
            first, *rest = shared.expressions
            read = frozenset[str]().union(*map(columns_of, rest))
            self._given = [name for name in shared.names if name in read]
            own = share_parts((first,))
            self._compute_as(Shared((*shared.parts, *own.parts), own.expressions))
            projection.take(self._given, rest)

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame:
        """Only the rows that pass."""
        if not self._failing:
            wide = self._with_shared(frame)
            kept, mask = wide[[*self._given, *frame.columns]] if self._steps else frame, self._mask_of(wide)
            return kept.filter(self._values[0]) if mask is None else keep_rows(kept, mask)
        kept, computed = self.compute(frame)
        return kept.filter(computed.to_series())

    def _mask_of(self, wide: pl.DataFrame) -> pl.Series | None:
        """The predicate's values; None where they do not come as such, see `compute`."""
        try:
            mask = self._pick(wide).to_series()
        except (pl.exceptions.ShapeError, pl.exceptions.InvalidOperationError):
            return None
        return mask if len(mask) == wide.height else None


class WatermarkAssigner(Computing):
    """Watermark: passes rows on and notes in `sight` what the batch shows of event time, None if all is NULL."""

    is_timed = True

    def __init__(self, node: Watermark) -> None:
        super().__init__([("$time", node.expression)])
        self._column = node.column
        self._delay_us = _fixed_delay(node)
        self._us = us_of(node.expression.type)
        self.answered_us: int | None = None
        self.read_before = False
        self._has_looked = False

    def leave_out(self, before_us: int, read_before: bool) -> None:
        """Count such rows as answered or late from now on, and pass none of them on."""
        self.answered_us, self.read_before = before_us, read_before

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The rows whose watermark could be computed, unchanged."""
        kept = frame if self._see_all(frame) else self._see_each(frame)
        if not self._has_looked:
            self._look_at_first(frame)
        return kept if self.answered_us is None else self._fresh(kept, self.answered_us)

    def _look_at_first(self, frame: pl.DataFrame) -> None:
        """Note what the times of the first batch show of a mistaken unit."""
        times = _numbers_of(frame[self._column].drop_nulls()).to_numpy() * self._us
        self._has_looked = len(times) > 0
        same = (name for name in frame.columns if not name.startswith("$") and frame[name].equals(frame[self._column]))
        delay_us = (
            self._delay_us or 0 if self._column.startswith("$") else 0
        )  # SQL, whose columns have names, says the unit of an INTERVAL
        found = (find_thousandths(times, next(same, "")), find_short_delay(times, delay_us))
        self.notes += filter(None, found)

    def _see_all(self, frame: pl.DataFrame) -> bool:
        """Look at the least and the greatest time; False if that is not enough, for the watermark is behind by more than a fixed time."""
        if self._delay_us is None:
            return False
        times = _numbers_of(frame[self._column])
        least, greatest = cast(int | None, times.min()), cast(int | None, times.max())
        if least is None or greatest is None:
            self.sight = None
            return True
        if not _is_int64(least - self._delay_us) or not _is_int64(greatest - self._delay_us):
            return False
        self.sight = Sight(least, greatest, greatest - self._delay_us)
        return True

    def _see_each(self, frame: pl.DataFrame) -> pl.DataFrame:
        kept, computed = self.compute(frame)
        largest, times = _numbers_of(computed.to_series()).max(), _numbers_of(kept[self._column])
        bounds = [largest if bound is None else bound for bound in (times.min(), times.max(), largest)]
        self.sight = None if largest is None else Sight(*(int(bound) * self._us for bound in bounds))  # type: ignore[arg-type]
        return kept

    def _fresh(self, frame: pl.DataFrame, answered_us: int) -> pl.DataFrame:
        times = _numbers_of(frame[self._column])
        fresh = frame.filter((times >= -(-answered_us // self._us)).fill_null(True))
        if self.read_before:
            self.counters.answered += frame.height - fresh.height
        else:
            self.counters.late += frame.height - fresh.height
        return fresh


def _fixed_delay(node: Watermark) -> int | None:
    """How far the watermark is behind the greatest time, in microseconds, if that is all there is to it."""
    match node.expression:
        case Column(name=node.column, type=TimestampType()):
            return 0
        case Call(
            function="subtract",
            arguments=(Column(name=node.column, type=TimestampType()), Literal(value=timedelta() as delay)),
        ):
            return delay // timedelta(microseconds=1)
    return None


def _numbers_of(times: pl.Series) -> pl.Series:
    """Microseconds or days; not by Series.to_physical, which makes a lazy frame and takes twenty times as long."""
    return times.cast(pl.Int64)


def _is_int64(time_us: int) -> bool:
    return -(1 << 63) <= time_us < 1 << 63


def us_of(kind: DataType) -> int:
    """How many microseconds one unit of a time column is."""
    return 86_400_000_000 if isinstance(kind, DateType) else 1


class Unnesting(Computing):
    """Unnest: a row for each element of an array."""

    def __init__(self, node: Unnest) -> None:
        super().__init__([("$array", node.array)])
        names = [name for name, _ in node.names]
        self._ordinal = names.pop() if node.ordinality else None
        self._names, self._outer = names, node.outer
        element = getattr(node.array.type, "element", None)
        self._fields: list[str] | None = None
        if isinstance(node.array.type, MapType):
            self._fields = ["key", "value"]
        elif isinstance(element, RowType) and len(names) == len(element.fields):
            self._fields = [name for name, _ in element.fields]

    def process(self, frame: pl.DataFrame, port: int = 0) -> pl.DataFrame | None:
        """The rows, repeated, with the elements' columns before the weight."""
        return self.unnest(frame)[1]

    def unnest(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows that do not fail, and these repeated."""
        kept, computed = self.compute(frame)
        arrays = computed.to_series()
        sizes = np.asarray(arrays.list.len().fill_null(0).to_numpy(), dtype=np.int64)
        elements = arrays.explode(empty_as_null=self._outer, keep_nulls=self._outer)
        repeats = np.maximum(sizes, 1) if self._outer else sizes
        repeated = kept[np.repeat(np.arange(kept.height), repeats)]
        columns = self._columns(elements)
        if self._ordinal:
            columns.append(_ordinals(self._ordinal, sizes, repeats))
        weight = weight_of(repeated)
        rest = repeated.drop(weight)
        return kept, rest.hstack([*columns, *(repeated[name] for name in weight)])

    def _columns(self, elements: pl.Series) -> list[pl.Series]:
        if self._fields is None:
            return [elements.alias(self._names[0])]
        return [elements.struct.field(field).alias(name) for field, name in zip(self._fields, self._names, strict=True)]


def _ordinals(name: str, sizes: Ints, repeats: Ints) -> pl.Series:
    starts = np.cumsum(repeats) - repeats
    ordinals = np.arange(int(repeats.sum())) - np.repeat(starts, repeats) + 1
    series = pl.Series(name, ordinals, dtype=pl.Int64)
    empty = np.repeat(sizes == 0, repeats)
    return (
        series.to_frame().select(pl.when(pl.Series(~empty)).then(pl.col(name)).alias(name)).to_series()
        if empty.any()
        else series
    )
