"""OVER: a value computed of each row and of the rows around it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from ouzel.compiler.expressions import SourceLocation
from ouzel.compiler.functions.aggregate_function import AggregateFunction
from ouzel.compiler.plan.aggregates import AggregateCall
from ouzel.compiler.plan.base import UNBOUNDED, Names, Node
from ouzel.compiler.plan.late import DropsLate
from ouzel.compiler.plan.ordered import Ordered
from ouzel.compiler.plan.rows import APPENDS, WEIGHTED, Changelog
from ouzel.compiler.types import DataType, Field, Schema


class FrameKind(Enum):
    """What a frame's bounds count: rows, the distance of the order's value, or groups of rows that the order holds for equal."""

    ROWS = "ROWS"
    RANGE = "RANGE"
    GROUPS = "GROUPS"


@dataclass(frozen=True)
class WindowFrame:
    """The rows around a row that a call sees: from `start` to `end`, both with it; 0 is the row itself, negative is before it.

    None is the beginning or the end of the partition. Of a RANGE the bounds are in units of the order's value: microseconds of a time.
    """

    kind: FrameKind
    start: int | None
    end: int | None

    def __str__(self) -> str:
        return f"{self.kind.value} BETWEEN {_describe_bound(self.start, 'PRECEDING')} AND {_describe_bound(self.end, 'FOLLOWING')}"


def _describe_bound(amount: int | None, unbounded: str) -> str:
    if amount is None:
        return f"UNBOUNDED {unbounded}"
    if amount == 0:
        return "CURRENT ROW"
    return f"{abs(amount)} {'PRECEDING' if amount < 0 else 'FOLLOWING'}"


WHOLE = WindowFrame(FrameKind.ROWS, None, None)
"""The whole partition: what a call without ORDER BY sees."""

UP_TO_PEERS = WindowFrame(FrameKind.RANGE, None, 0)
"""From the beginning to the row and those equal to it: what a call with ORDER BY sees unless it says otherwise."""

PEERS_ALIKE = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})
"""Functions that give equal results to rows that are equal in the order."""

RANKS = PEERS_ALIKE | {"row_number", "ntile"}
"""Functions of a row's place, which take no value."""

SHIFTS = frozenset({"lag", "lead"})
PICKS = frozenset({"first_value", "last_value", "nth_value"})
FUNCTIONS = RANKS | SHIFTS | PICKS
"""What OVER computes beside aggregates."""

LIFE = "life"
"""When the life of a row's key began, of rows in the order of event time: a key that has had no row for `number` microseconds begins
another life with its next. No query calls it; STATE_TTL does.
"""


@dataclass(frozen=True)
class OverCall:
    """One call over columns of the input, which a Project below has already computed.

    Attributes:
        name: the column that the result becomes.
        function: one of FUNCTIONS, or the canonical name of an aggregate.
        argument: the column that it reads; None if it reads none.
        type: the type of the result.
        frame: the rows around a row that it reads.
        number: how far LAG and LEAD look, which row NTH_VALUE takes, how many buckets NTILE makes.
        default: the column that LAG and LEAD give where there is no such row.
        filter: the BOOLEAN column that says which rows count; None: all do.
        nullable: the result may be NULL.
        written: where the call was written; no part of what it is.
        row: the aggregate itself, where it is the user's and not in the registry.
    """

    name: str
    function: str
    argument: str | None
    type: DataType
    frame: WindowFrame
    number: int = 0
    default: str | None = None
    filter: str | None = None
    nullable: bool = True
    written: SourceLocation | None = field(default=None, compare=False, repr=False)
    row: AggregateFunction | None = field(default=None, compare=False, repr=False)

    @property
    def aggregate(self) -> AggregateCall | None:
        """The call as GROUP BY has it, if it is of an aggregate."""
        if self.function in FUNCTIONS or self.function == LIFE:
            return None
        return AggregateCall(
            self.name, self.function, self.argument, self.type, False, self.filter, self.written, self.row
        )

    @property
    def reads(self) -> Names:
        """The columns that it reads beside those of the window."""
        return frozenset(name for name in (self.argument, self.default, self.filter) if name)

    @property
    def needs_ties_broken(self) -> bool:
        """Whether the order among rows that ORDER BY holds for equal can be seen in its results."""
        if self.function in RANKS or self.function == LIFE:
            return self.function not in PEERS_ALIKE | {LIFE}
        if self.function in FUNCTIONS:
            return True
        return self.frame.kind is FrameKind.ROWS and self.frame != WHOLE

    def __str__(self) -> str:
        inner = [self.argument or ("*" if self.function == "count" else "")]
        if self.number and (self.function != "lag" or self.number != 1):
            inner.append(str(self.number))
        if self.default:
            inner.append(self.default)
        condition = f" FILTER (WHERE {self.filter})" if self.filter else ""
        framed = "" if self.function in RANKS | SHIFTS or self.frame in (WHOLE, UP_TO_PEERS) else f" {self.frame}"
        return f"{self.function}({', '.join(filter(None, inner))}){condition}{framed} AS {self.name}"


@dataclass(frozen=True)
class Over(Ordered, DropsLate):
    """The columns of the input, and of each row what `calls` compute of it and the rows around it in its partition.

    With `closes` rows leave once, and nothing is taken back, when the watermark has passed the time in
    this column: it is the first column of an ascending order, and frames look only back; or it is the end of the window that the partition
    is of. Without it changes leave at once.
    """

    calls: tuple[OverCall, ...]
    closes: str | None = None

    @property
    def schema(self) -> Schema:
        return Schema((*self.input.schema, *(Field(call.name, call.type, call.nullable) for call in self.calls)))

    @property
    def in_time_order(self) -> bool:
        """Whether rows are final one after the other as time passes, and not with their whole partition."""
        return self.closes is not None and self.closes not in self.partition

    @property
    def leaves_at(self) -> str | None:
        return self.closes if self.in_time_order else None

    @property
    def meets_other_rows(self) -> str:
        """Nothing where its partitions are of one window each, for these are whole."""
        return "OVER" if self.closes is None or self.in_time_order else ""

    @property
    def reads(self) -> Names:
        """What it reads of its input."""
        closes = {self.closes} if self.closes else set()
        return self.ordered_by.union(closes, *(call.reads for call in self.calls))

    def needs(self, wanted: Names) -> tuple[Names, ...]:
        made = self._with_calls_of(wanted)
        return (made.reads | (wanted & frozenset(self.input.schema.names)),)

    def prune(self, wanted: Names, inputs: tuple[Node, ...]) -> Node:
        made = self._with_calls_of(wanted)
        return replace(made, input=inputs[0]) if made.calls or self.closes else inputs[0]

    def _with_calls_of(self, wanted: Names) -> Over:
        return replace(self, calls=tuple(call for call in self.calls if call.name in wanted))

    @property
    def waits(self) -> tuple[bool, ...]:
        return (self.drops_late or self.lifetime is not None,)

    @property
    def drops_late(self) -> bool:
        return self.closes is not None

    @property
    def time_column(self) -> str | None:
        return self.input.time_column if self.closes else None

    @property
    def accepts(self) -> tuple[frozenset[Changelog], ...]:
        return (APPENDS if self.closes else WEIGHTED,)

    @property
    def changelog(self) -> Changelog:
        return Changelog.APPEND if self.closes else Changelog.RETRACT

    @property
    def unique_keys(self) -> frozenset[Names]:
        numbers = {call.name for call in self.calls if call.function == "row_number"}
        return self.input.unique_keys | {frozenset({*self.partition, name}) for name in numbers}

    @property
    def state_bound(self) -> str:
        if self.closes is None:
            return f"all rows of a partition, {self.lifetime}" if self.lifetime else f"{UNBOUNDED}: all rows"
        if not self.in_time_order:
            return "rows of open windows"
        kept = " and ".join(("rows the watermark has not passed", *self._lookback()))
        return f"{kept}, {self.lifetime}" if self.lifetime else kept

    def _lookback(self) -> list[str]:
        """What is kept of rows that have left."""
        rows, span_us = self.rows_back, self.range_back
        kept = [f"the last {rows} of each partition"] if rows else []
        kept += [f"the last {span_us / 1e6:g} s of each partition"] if span_us else []
        kept += [f"the first {self.rows_ahead} of each partition"] if self.rows_ahead else []
        return [*kept, "one row per partition"] if self.remembers else kept

    @property
    def remembers(self) -> bool:
        """Whether something is counted from the beginning of each partition."""
        return any(
            call.function in RANKS or call.function == LIFE or (call.aggregate and call.frame.start is None)
            for call in self.calls
        )

    @property
    def rows_back(self) -> int:
        """How many rows before a row its calls see."""
        counts = [call.number for call in self.calls if call.function == "lag"]
        return max([*counts, *self._starts(FrameKind.ROWS)], default=0)

    @property
    def rows_ahead(self) -> int:
        """How many rows from the beginning of a partition its calls see at any time."""
        picks = [call for call in self.calls if call.function in PICKS and call.frame.start is None]
        return max((call.number or 1 for call in picks if call.function != "last_value"), default=0)

    @property
    def range_back(self) -> int:
        """How far before a row, in microseconds, its calls see."""
        return max(self._starts(FrameKind.RANGE), default=0)

    def _starts(self, kind: FrameKind) -> list[int]:
        frames = [call.frame for call in self.calls if call.function not in RANKS | SHIFTS | {LIFE}]
        return [-frame.start for frame in frames if frame.kind is kind and frame.start is not None]

    @property
    def component_name(self) -> str:
        name = self.make_name("over")
        return "over_all" if name == "over" else name

    @property
    def label(self) -> str:
        closes = f"; emit AFTER WATERMARK passes {self.closes}" if self.closes else ""
        return f"Over ({self.order_label}): {', '.join(map(str, self.calls))}{closes}"

    @property
    def identity(self) -> tuple[object, ...]:
        return (*self.order_identity, self.input.column_ids[self.closes] if self.closes else None)

    def definition(self, column: str) -> tuple[object, ...]:
        call = next(call for call in self.calls if call.name == column)
        ids = self.input.column_ids
        reads = tuple(name and ids[name] for name in (call.argument, call.default, call.filter))
        frame = (call.frame.kind, call.frame.start, call.frame.end)
        return ("over", self.rows_id, call.function, call.type, call.number, frame, *reads)


def looks_only_back(call: OverCall) -> bool:
    """Whether a call can be answered once all rows up to a time are there, from a bounded number of earlier rows."""
    if call.function in ("row_number", "rank", "dense_rank", "lag"):
        return True
    frame = call.frame
    if call.function in FUNCTIONS and call.function not in PICKS:
        return False
    if frame.end is None or frame.end > 0 or frame.kind is FrameKind.GROUPS:
        return False
    return frame.start is not None or frame.end == 0
